// How much a campaign does: in a build's tests some seconds' worth, all of it under
// tests/campaign/run, which sets CFILE_CAMPAIGN=full and prints what was done as a row of its
// table.
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

// `few` in a build's tests, there fewer still under a sanitizer that is slow; `all` in the
// campaign.
inline uint64_t Amount(uint64_t few, uint64_t all) {
  if (Full()) return all;
  return few < kThinning ? few : few / kThinning;
}

// For the running test's row: `what`, lower-case words with underscores ("bit_flips"), was done
// `amount` times more.
inline void Done(const std::string& what, uint64_t amount) {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  for (int i = 0; i < test->result()->test_property_count(); ++i) {
    const testing::TestProperty& property = test->result()->GetTestProperty(i);
    if (property.key() == what) amount += std::strtoull(property.value(), nullptr, 10);
  }
  testing::Test::RecordProperty(what, std::to_string(amount));
}

}  // namespace cfile::campaign
