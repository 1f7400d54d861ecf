// The columns of arrow_comparison and file_comparison. Each has `count` values, which are the same
// in every run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cfile::encodings {

template <typename T, typename Value>
std::vector<T> MakeValues(Value value, size_t count) {
  std::mt19937_64 random(1);
  std::vector<T> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<T>(value(i, random)));
  return values;
}

// Returns ascending numbers with random distances, like times of events.
template <typename T>
std::vector<T> SequentialInts(size_t count) {
  constexpr uint64_t kFirst = sizeof(T) == 8 ? 1'600'000'000'000'000 : 0;
  constexpr uint64_t kStep = sizeof(T) == 8 ? 1000 : 100;
  return MakeValues<T>([](size_t i, auto& random) { return kFirst + i * kStep + random() % kStep; },
                       count);
}
template <typename T>
std::vector<T> SmallInts(size_t count) {
  return MakeValues<T>([](size_t, auto& random) { return random() % 1001; }, count);
}
template <typename T>
std::vector<T> RandomInts(size_t count) {
  return MakeValues<T>([](size_t, auto& random) { return random(); }, count);
}
// Returns a random walk. Each step is the sum of six uniform numbers, which is approximately
// normally distributed.
inline std::vector<double> WalkDoubles(size_t count) {
  double at = 100;
  return MakeValues<double>(
      [&at](size_t, auto& random) {
        double sum = 0;
        for (int i = 0; i < 6; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
        return at += (sum - 3) * 0.01;
      },
      count);
}
// Returns the values of WalkDoubles, rounded to two decimals.
inline std::vector<double> Prices(size_t count) {
  std::vector<double> values = WalkDoubles(count);
  for (double& value : values) value = std::round(value * 100) / 100;
  return values;
}
inline std::vector<uint8_t> RandomBools(size_t count) {
  return MakeValues<uint8_t>([](size_t, auto& random) { return random() % 2; }, count);
}
inline std::vector<uint8_t> RunBools(size_t count) {
  uint64_t left = 0;
  uint8_t value = 0;
  return MakeValues<uint8_t>(
      [&](size_t, auto& random) {
        if (left == 0) {
          left = 1 + random() % 200;
          value ^= 1;
        }
        --left;
        return value;
      },
      count);
}

// Strings whose bytes are adjacent in memory.
struct StringColumn {
  std::string text;
  std::vector<int32_t> offsets;
  std::vector<std::string_view> values;
};
inline StringColumn MakeStrings(const std::vector<std::string>& strings) {
  StringColumn column;
  for (const std::string& string : strings) {
    column.offsets.push_back(static_cast<int32_t>(column.text.size()));
    column.text += string;
  }
  column.offsets.push_back(static_cast<int32_t>(column.text.size()));
  for (size_t i = 0; i < strings.size(); ++i) {
    column.values.push_back(std::string_view(column.text)
                                .substr(static_cast<size_t>(column.offsets[i]), strings[i].size()));
  }
  return column;
}

inline std::string SortedKey(size_t i) {
  return "key-" + std::to_string(1'000'000'000'000 + i * 7 + 12345).substr(1);
}
inline StringColumn SortedKeys(size_t count) {
  return MakeStrings(MakeValues<std::string>([](size_t i, auto&) { return SortedKey(i); }, count));
}
inline std::vector<std::string> Vocabulary(size_t count, size_t shortest, size_t lengths) {
  std::mt19937_64 random(2);
  std::vector<std::string> words(count);
  for (std::string& word : words) {
    word.resize(shortest + random() % lengths);
    for (char& c : word) c = static_cast<char>('a' + random() % 26);
  }
  return words;
}
inline StringColumn Words(size_t count) {
  const auto words = Vocabulary(10'000, 4, 9);
  return MakeStrings(MakeValues<std::string>(
      [&](size_t, auto& random) { return words[random() % words.size()]; }, count));
}
inline StringColumn SortedUrls(size_t count) {
  const auto words = Vocabulary(2000, 3, 8);
  auto urls = MakeValues<std::string>(
      [&](size_t, auto& random) {
        return "https://www." + words[random() % 200] + ".com/" + words[random() % words.size()] +
               "/" + words[random() % words.size()] + "?id=" + std::to_string(random() % 1'000'000);
      },
      count);
  std::sort(urls.begin(), urls.end());
  return MakeStrings(urls);
}

}  // namespace cfile::encodings
