// The footer's incompatible feature bits (cfile/FORMAT.md, File, Feature bits).
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace cfile::internal {

// kUnimplemented: `incompatible_features` has a bit that this library does not know. The message
// names each of them and begins with "the file needs".
absl::Status CheckFeatures(uint32_t incompatible_features);

}  // namespace cfile::internal
