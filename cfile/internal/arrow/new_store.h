// Chooses the store for the values of an Arrow array.
// A store is an object that keeps the values of one column until the array is made.
#pragma once

#include <cstddef>
#include <memory>

#include "cfile/internal/arrow/arrow_type.h"
#include "cfile/internal/arrow/value_store.h"
#include "cfile/types.h"

namespace cfile::internal {

// `capacity`: the number of values for which the store reserves memory.
// The memory is reserved when the store gets its first value.
std::unique_ptr<ValueStore> NewStore(const ColumnType& type, ArrowLayout layout, size_t capacity);

}  // namespace cfile::internal
