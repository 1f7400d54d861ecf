// How long injected failures last. The campaigns of faults run with both modes.
#pragma once

#include <cstdint>

#include "tests/campaign/amount.h"

namespace cfile::testing_support {

enum class FaultMode {
  kOnce,
  kFromThenOn,  // all later calls fail too: a disk that is full or gone
};
inline constexpr FaultMode kFaultModes[] = {FaultMode::kOnce, FaultMode::kFromThenOn};

// The distance between the calls that are made to fail. It is 1, but `few` in a build's tests with
// kFromThenOn.
inline int64_t FaultStep(FaultMode mode, int64_t few) {
  return mode == FaultMode::kOnce || campaign::Full() ? 1 : few;
}

}  // namespace cfile::testing_support
