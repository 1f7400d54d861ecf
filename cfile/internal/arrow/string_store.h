// The strings of an Arrow array: as offsets and bytes, or as views.
#pragma once

#include <memory>
#include <string_view>

#include "cfile/internal/arrow/value_store.h"

namespace cfile::internal {

// For the types "u" and "z".
std::unique_ptr<TypedStore<std::string_view>> NewPackedStore();
// For the types "vu" and "vz". Views point to strings that lie in the memory of a source.
std::unique_ptr<TypedStore<std::string_view>> NewViewStore();

}  // namespace cfile::internal
