// Searches with KeyHeads give the positions of a binary search over the keys themselves.
#include "encodings/core/key_heads.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace cfile::encodings::key_heads_test {

// Returns sorted keys. Some share a prefix, some are equal, some have zero bytes, and some are the
// beginning of other keys.
std::vector<std::string> Keys(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> parts = {
      "a", "b", std::string(1, '\0'), "shop.example/", "shop.example/apples", "\xff\xff"};
  std::vector<std::string> keys(count);
  for (std::string& key : keys) {
    key = "https://";
    for (size_t i = random() % 8; i > 0; --i) key += parts[random() % parts.size()];
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(KeyHeads, FindsThePositionOfEachKey) {
  for (const size_t count : {0u, 1u, 2u, 15u, 16u, 17u, 1000u}) {
    for (const size_t more_numbers : {0u, 20u, 5000u}) {
      const std::vector<std::string> keys = Keys(count, count);
      const auto key = [&](uint32_t i) -> std::string_view { return keys[i]; };
      const KeyHeads heads(static_cast<uint32_t>(count), key, more_numbers);
      std::vector<std::string> wanted = Keys(300, 99);
      wanted.insert(wanted.end(), {"", "https:/", "https:0", "\xff"});
      for (const std::string& each : keys) {
        wanted.push_back(each);
        wanted.push_back(each + '\0');
        wanted.push_back(each.substr(0, each.size() - 1));
      }
      for (const std::string& each : wanted) {
        const auto expected = std::lower_bound(keys.begin(), keys.end(), each);
        ASSERT_EQ(heads.CountKeysLess(each, key), expected - keys.begin())
            << each << " among " << count << " keys";
        const uint32_t estimate = heads.EstimateKeysLess(each);
        ASSERT_LE(estimate, count);
        if (estimate == expected - keys.begin()) continue;
        // Only a head that is equal to that of the wanted key can hide the position.
        const size_t prefix = CommonPrefix(keys.front(), keys.back());
        const std::string& other = keys[std::min<size_t>(estimate, count - 1)];
        ASSERT_EQ(BytesHead(std::string_view(other).substr(prefix)),
                  BytesHead(std::string_view(each).substr(prefix)))
            << each << " near " << other;
      }
      EXPECT_LE(heads.memory_usage_bytes(), KeyHeads::MostBytesOfHeads(count) + 8 * more_numbers +
                                                (keys.empty() ? 0 : keys.front().size()));
    }
  }
}

TEST(KeyHeads, MoreHeadsReplaceComparisonsOfKeys) {
  std::vector<std::string> keys;
  for (const char* host : {"www.apple", "www.bread"}) {
    for (const char* path : {"/documents/first", "/documents/second"}) {
      for (int i = 100; i < 150; ++i) keys.push_back(host + std::string(path) + std::to_string(i));
    }
  }
  int compared = 0;
  const auto key = [&](uint32_t i) -> std::string_view {
    ++compared;
    return keys[i];
  };
  for (const size_t more_numbers : {0u, 1000u}) {
    const KeyHeads heads(static_cast<uint32_t>(keys.size()), key, more_numbers);
    compared = 0;
    for (size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(heads.CountKeysLess(keys[i], key), i);
    if (more_numbers == 0) {
      EXPECT_GT(compared, 5 * 200);
    } else {
      EXPECT_LE(compared, 200);  // only with an equal key
    }
  }
}

TEST(KeyHeads, KeysThatDoNotAscendAreHarmless) {
  std::vector<std::string> keys = Keys(500, 5);
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(6));
  const auto key = [&](uint32_t i) -> std::string_view { return keys[i]; };
  const KeyHeads heads(500, key, 10'000);
  for (const std::string& each : keys) EXPECT_LE(heads.CountKeysLess(each, key), 500u);
}

// Each key has the start of the key before it and 8 bytes more, so that runs nest deeply.
TEST(KeyHeads, NestedRunsReadFewBytes) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < 500; ++i) keys.push_back(std::string(8 * i, 'P') + "aaaaaaaa");
  std::sort(keys.begin(), keys.end());
  size_t all = 0, bytes = 0;
  for (const std::string& each : keys) all += each.size();
  const auto key = [&](uint32_t i) -> std::string_view {
    bytes += keys[i].size();
    return keys[i];
  };
  const KeyHeads heads(500, key, 1'000'000);
  EXPECT_LE(bytes, 12 * all);
  for (uint32_t i = 0; i < 500; ++i) ASSERT_EQ(heads.CountKeysLess(keys[i], key), i);
}

TEST(KeyHeads, EqualHeadsThatDoNotAscendAreHarmless) {
  std::mt19937_64 random(7);
  for (uint32_t count = 1; count < 120; ++count) {
    std::vector<std::string> keys(count);
    for (std::string& each : keys) each = std::string(1, static_cast<char>('a' + random() % 4));
    const auto key = [&](uint32_t i) -> std::string_view { return keys[i]; };
    const KeyHeads heads(count, key, random() % 2 * 1000);
    for (const char* wanted : {"", "a", "b", "c", "d", "dd"}) {
      ASSERT_LE(heads.CountKeysLess(wanted, key), count);
      ASSERT_LE(heads.EstimateKeysLess(wanted), count);
    }
  }
}

}  // namespace cfile::encodings::key_heads_test
