// How long a call that is made to fail does so: the campaigns of faults go through both.
#pragma once

#include <cstdint>

#include "tests/campaign/amount.h"

namespace cfile::testing_support {

enum class FaultMode {
  kOnce,
  kFromThenOn,  // every later call too: a disk that is full, or gone
};
inline constexpr FaultMode kFaultModes[] = {FaultMode::kOnce, FaultMode::kFromThenOn};

// Which calls have their turn: each, but in a build's tests, of those from which on all fail, the
// first of each `few`.
inline int64_t FaultStep(FaultMode mode, int64_t few) {
  return mode == FaultMode::kOnce || campaign::Full() ? 1 : few;
}

}  // namespace cfile::testing_support
