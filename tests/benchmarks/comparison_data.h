// The columns of arrow_comparison: 8 pages of 65,536 values each, the same in every run; few enough
// to stay in the processor's caches, so that codecs are measured and not the memory.
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

inline constexpr size_t kColumnValues = 8 * 65536;

template <typename T, typename Value>
std::vector<T> MakeValues(Value value) {
  std::mt19937_64 random(1);
  std::vector<T> values;
  for (size_t i = 0; i < kColumnValues; ++i) values.push_back(static_cast<T>(value(i, random)));
  return values;
}

// Ascending with jitter, as times of events are.
template <typename T>
std::vector<T> SequentialInts() {
  constexpr uint64_t kFirst = sizeof(T) == 8 ? 1'600'000'000'000'000 : 0;
  constexpr uint64_t kStep = sizeof(T) == 8 ? 1000 : 100;
  return MakeValues<T>(
      [](size_t i, auto& random) { return kFirst + i * kStep + random() % kStep; });
}
template <typename T>
std::vector<T> SmallInts() {
  return MakeValues<T>([](size_t, auto& random) { return random() % 1001; });
}
template <typename T>
std::vector<T> RandomInts() {
  return MakeValues<T>([](size_t, auto& random) { return random(); });
}
inline std::vector<double> WalkDoubles() {
  double at = 100;
  return MakeValues<double>([&at](size_t, auto& random) {
    return at += (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 0.02;
  });
}
// The same with two decimals.
inline std::vector<double> Prices() {
  std::vector<double> values = WalkDoubles();
  for (double& value : values) value = std::round(value * 100) / 100;
  return values;
}
inline std::vector<uint8_t> RandomBools() {
  return MakeValues<uint8_t>([](size_t, auto& random) { return random() % 2; });
}
inline std::vector<uint8_t> RunBools() {
  uint64_t left = 0;
  uint8_t value = 0;
  return MakeValues<uint8_t>([&](size_t, auto& random) {
    if (left == 0) {
      left = 1 + random() % 200;
      value ^= 1;
    }
    --left;
    return value;
  });
}

// Values back to back.
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

inline StringColumn SortedKeys() {
  return MakeStrings(MakeValues<std::string>([](size_t i, auto&) {
    const std::string number = std::to_string(1'000'000'000'000 + i * 7 + 12345);
    return "key-" + number.substr(1);
  }));
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
inline StringColumn Words() {
  const auto words = Vocabulary(10'000, 4, 9);
  return MakeStrings(MakeValues<std::string>(
      [&](size_t, auto& random) { return words[random() % words.size()]; }));
}
inline StringColumn SortedUrls() {
  const auto words = Vocabulary(2000, 3, 8);
  auto urls = MakeValues<std::string>([&](size_t, auto& random) {
    return "https://www." + words[random() % 200] + ".com/" + words[random() % words.size()] + "/" +
           words[random() % words.size()] + "?id=" + std::to_string(random() % 1'000'000);
  });
  std::sort(urls.begin(), urls.end());
  return MakeStrings(urls);
}

}  // namespace cfile::encodings
