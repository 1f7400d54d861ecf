// The strings of an Arrow array as int32 indexes into a dictionary.
#pragma once

#include <memory>
#include <string_view>

#include "cfile/internal/arrow/value_store.h"

namespace cfile::internal {

std::unique_ptr<TypedStore<std::string_view>> NewDictionaryStore();

}  // namespace cfile::internal
