// Stores the strings of an Arrow array, as offsets and bytes or as views.
#pragma once

#include <memory>
#include <string_view>

#include "cfile/internal/arrow/value_store.h"

namespace cfile::internal {

// Makes a store for the Arrow types "u" and "z".
std::unique_ptr<TypedStore<std::string_view>> NewPackedStore();
// Makes a store for the Arrow types "vu" and "vz".
// If a string lies in the memory of a source, its view points into this memory.
std::unique_ptr<TypedStore<std::string_view>> NewViewStore();

}  // namespace cfile::internal
