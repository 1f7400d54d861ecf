// The footer's incompatible feature bits (cfile/FORMAT.md, File).
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace cfile::internal {

// kUnimplemented if `incompatible_features` has bits that this library does not know. The message
// begins with "the file needs" and names the unknown bits.
absl::Status CheckFeatures(uint32_t incompatible_features);

}  // namespace cfile::internal
