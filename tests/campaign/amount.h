// Functions that choose how much work a campaign does, and that count this work. As a test of a
// build, a campaign takes a few seconds. tests/campaign/nightly sets CFILE_CAMPAIGN=full; the
// campaign then does all of its work, and prints the amounts as a row of the results table.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/sanitizers.h"

namespace cfile::campaign {

inline bool Full() {
  const char* amount = std::getenv("CFILE_CAMPAIGN");
  return amount != nullptr && std::string_view(amount) == "full";
}

// Returns `all` in the full campaign. In a test of a build, returns `few`, or less than `few` under
// a slow sanitizer.
inline uint64_t Amount(uint64_t few, uint64_t all) {
  if (Full()) return all;
  return few < kThinning ? few : few / kThinning;
}

// Adds `amount` to the number named `what` in the running test's row of the results table. `what`
// consists of lower-case words and underscores ("bit_flips").
inline void Done(const std::string& what, uint64_t amount) {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  for (int i = 0; i < test->result()->test_property_count(); ++i) {
    const testing::TestProperty& property = test->result()->GetTestProperty(i);
    if (property.key() == what) amount += std::strtoull(property.value(), nullptr, 10);
  }
  testing::Test::RecordProperty(what, std::to_string(amount));
}

}  // namespace cfile::campaign
