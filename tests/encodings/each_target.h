// Runs tests with each instruction set of this machine.
#pragma once

#include <gtest/gtest.h>

#include "hwy/targets.h"

namespace cfile::encodings {

// The presets scalar and emu128 compile only one instruction set, without vectors.
#if defined(HWY_COMPILE_ONLY_SCALAR) || defined(HWY_COMPILE_ONLY_EMU128)
inline constexpr bool kOneTarget = true;
#else
inline constexpr bool kOneTarget = false;
#endif

// Calls check() once with each instruction set. EXPECTs that x86 processors have more than one,
// unless only one is compiled.
template <typename Check>
void WithEachTarget(Check check) {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  constexpr size_t kLeast = HWY_ARCH_X86 && !kOneTarget ? 2 : 1;
  EXPECT_GE(targets.size(), kLeast);
  for (const int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    check();
    if (testing::Test::HasFatalFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace cfile::encodings
