// How much work a campaign does. In a build's tests a campaign takes some seconds. Under
// tests/campaign/run, which sets CFILE_CAMPAIGN=full, it does all of its work. It prints the
// amounts as a row of the results table.
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

// `few` in a build's tests, and less under a slow sanitizer; `all` in the full campaign.
inline uint64_t Amount(uint64_t few, uint64_t all) {
  if (Full()) return all;
  return few < kThinning ? few : few / kThinning;
}

// Adds `amount` to the number named `what` in the running test's row. `what` is lower-case words
// with underscores ("bit_flips").
inline void Done(const std::string& what, uint64_t amount) {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  for (int i = 0; i < test->result()->test_property_count(); ++i) {
    const testing::TestProperty& property = test->result()->GetTestProperty(i);
    if (property.key() == what) amount += std::strtoull(property.value(), nullptr, 10);
  }
  testing::Test::RecordProperty(what, std::to_string(amount));
}

}  // namespace cfile::campaign
