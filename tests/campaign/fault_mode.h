// Says how long injected failures last. The campaigns of faults run with both modes.
#pragma once

#include <cstdint>

#include "tests/campaign/amount.h"

namespace cfile::testing_support {

enum class FaultMode {
  kOnce,
  kFromThenOn,  // all later calls fail, too, as on a full or lost disk
};
inline constexpr FaultMode kFaultModes[] = {FaultMode::kOnce, FaultMode::kFromThenOn};

// Returns the distance between the numbers of the calls that fail. The distance is 1, except in a
// test of a build with kFromThenOn: there it is `few`.
inline int64_t FaultStep(FaultMode mode, int64_t few) {
  return mode == FaultMode::kOnce || campaign::Full() ? 1 : few;
}

}  // namespace cfile::testing_support
