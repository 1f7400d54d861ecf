// Stores the strings of an Arrow array: as offsets and bytes, or as views (view_store.cc).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "cfile/parts/arrow/value_store.h"

namespace cfile::internal {

// Makes a store for the Arrow types "u" and "z".
std::unique_ptr<TypedStore<std::string_view>> NewPackedStore();

// Makes a store for the Arrow types "vu" and "vz".
// `capacity`: the usual number of rows of an array.
// If a string lies in the memory of a source or in a dictionary, its view points into this memory.
std::unique_ptr<TypedStore<std::string_view>> NewViewStore(size_t capacity);

// Returns how many of the first values have at most `room` bytes in total.
size_t Fitting(std::span<const std::string_view> values, size_t room);

}  // namespace cfile::internal
