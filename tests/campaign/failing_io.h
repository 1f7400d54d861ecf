// Makes each call of a source or a sink fail in turn.
#pragma once

#include <cstdint>

#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/fault_mode.h"
#include "tests/cfile/scripted_io.h"

namespace cfile::testing_support {

// Makes the `number`-th call from now on fail; with kFromThenOn, also all later calls.
inline void Arm(Fault& fault, int64_t number, FaultMode mode) {
  const auto n = static_cast<uint64_t>(number);
  mode == FaultMode::kOnce ? fault.FailOnce(n) : fault.FailFrom(n);
}

// Calls `attempt`(number, mode) for number 1, 2, ... in each mode, until no call fails. `number` is
// the number of the call to fail. EXPECTs that more than `least` calls failed. `what` names the
// number of failed calls in the test's row of the results table.
template <typename Attempt>
void FailEachCall(Fault& fault, const char* what, uint64_t least, const Attempt& attempt) {
  for (const FaultMode mode : kFaultModes) {
    const int64_t step = FaultStep(mode, 20);
    uint64_t done = 0;
    for (int64_t number = 1;; number += step, ++done) {
      ASSERT_LT(number, 100'000);
      attempt(number, mode);
      if (testing::Test::HasFailure()) {
        FAIL() << what << ": call " << number << (mode == FaultMode::kOnce ? "" : " and all later");
      }
      if (!fault.fired()) break;  // fewer than `number` calls were made
    }
    fault.Disarm();
    if (step == 1) {
      EXPECT_GT(done, least);
    }
    campaign::Done(what, done);
  }
}

}  // namespace cfile::testing_support
