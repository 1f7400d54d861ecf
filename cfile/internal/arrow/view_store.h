// Stores the strings of an Arrow array as views.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "cfile/internal/arrow/value_store.h"

namespace cfile::internal {

// Makes a store for the Arrow types "vu" and "vz". `capacity`: the usual number of rows of an array.
// If a string lies in the memory of a source or in a dictionary, its view points into this memory.
std::unique_ptr<TypedStore<std::string_view>> NewViewStore(size_t capacity);

}  // namespace cfile::internal
