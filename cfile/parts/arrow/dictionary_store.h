// Stores the strings of an Arrow array as int32 indexes into a dictionary.
#pragma once

#include <memory>
#include <string_view>

#include "cfile/parts/arrow/value_store.h"

namespace cfile::internal {

// `capacity`: the number of indexes for which the store reserves memory.
std::unique_ptr<TypedStore<std::string_view>> NewDictionaryStore(size_t capacity);

}  // namespace cfile::internal
