// Runs tests with each instruction set of this machine.
#pragma once

#include <gtest/gtest.h>

#include "hwy/targets.h"

namespace cfile::encodings {

// Calls check() once with each instruction set. EXPECTs that x86 processors have more than one.
template <typename Check>
void WithEachTarget(Check check) {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  EXPECT_GT(targets.size(), HWY_ARCH_X86 ? 1u : 0u);
  for (const int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    check();
    if (testing::Test::HasFatalFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace cfile::encodings
