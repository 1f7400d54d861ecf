// Adds a number to the description of a block. Internal to the encodings of this project.
#pragma once

#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

// Reads a number of type V, and adds it as a field.
template <typename V>
absl::Status AddNumber(BlockDescription& description, std::string_view name) {
  V value;
  if (!description.reader().ReadFixed(value)) return DataLoss("the ", name, " is cut off");
  description.Add(name, StrCat(+value));
  return absl::OkStatus();
}

}  // namespace cfile::encodings
