// Chooses the store of the values of an Arrow array.
#pragma once

#include <cstddef>
#include <memory>

#include "cfile/internal/arrow/arrow_type.h"
#include "cfile/internal/arrow/value_store.h"
#include "cfile/types.h"

namespace cfile::internal {

// `capacity`: values for which a store reserves memory with the first value.
template <typename T>
std::unique_ptr<TypedStore<T>> NewStore(const ColumnType& type, ArrowLayout layout,
                                        size_t capacity);

}  // namespace cfile::internal
