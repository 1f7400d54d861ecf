#include "tests/encodings/columns.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>
#include <limits>
#include <random>
#include <string_view>
#include <utility>

#include "encodings/core/key_order.h"

namespace cfile::encodings {

std::vector<Pair> AllPairs() {
  std::vector<Pair> pairs;
  for (const EncodingRow& row : Encodings()) {
    for (int type = 0; type < kNumPhysicalTypes; ++type) {
      const auto physical = static_cast<PhysicalType>(type);
      if (row.Supports(physical)) pairs.push_back({row.encoding, physical});
    }
  }
  return pairs;
}

std::string PairName(const testing::TestParamInfo<Pair>& info) {
  std::string name =
      std::string(info.param.row().name) + "_" + std::string(PhysicalTypeName(info.param.type));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

namespace {

template <typename T>
T NumberOf(uint64_t number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number % 2 != 0;
  } else {
    return static_cast<T>(number);
  }
}

template <typename T>
T RandomBits(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(random()));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(random());
  } else if constexpr (sizeof(T) > 8) {
    return static_cast<T>(uint128_t{random()} << 64 | random());
  } else {
    return NumberOf<T>(random());
  }
}

template <typename T>
T Extreme(uint64_t i) {
  using Limits = std::numeric_limits<T>;
  if constexpr (kIsFloat<T>) {
    const T values[] = {
        Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T{-0.0}, T{0.0},
        Limits::max(),       Limits::lowest(),   Limits::denorm_min()};
    return values[i % std::size(values)];
  } else if constexpr (std::is_same_v<T, int128_t>) {
    const auto top = static_cast<int128_t>(uint128_t{1} << 127);
    const T values[] = {top, ~top, 0, -1, 1};
    return values[i % std::size(values)];
  } else {
    const T values[] = {Limits::min(), Limits::max(), T{0}, T{1}, static_cast<T>(~uint64_t{0})};
    return values[i % std::size(values)];
  }
}

std::string Text(Shape shape, uint64_t i, std::mt19937_64& random) {
  const auto random_bytes = [&](size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 3 == 0 ? 0 : random());
    return bytes;
  };
  const std::string number = std::to_string(1'000'000'000'000 + i);
  switch (shape) {
    case Shape::kConstant:
      return "one and the same";
    case Shape::kSorted:
      return "key-" + number.substr(1);
    case Shape::kRandom:
      return random_bytes(random() % 24);
    case Shape::kSmallRange:
      return std::string(random() % 4, 'x');
    case Shape::kRuns:
      return std::string(i / 50 % 90, 'r') + number.substr(6);
    case Shape::kExtremes:
      return i % 3 == 0 ? "" : std::string(i % 200, i % 2 == 0 ? '\xff' : '\0');
    case Shape::kLong:
      return std::string(i % 97 == 5 ? 70'000 : i % 150, 'l') + random_bytes(i % 5);
  }
  return "";
}

}  // namespace

template <typename T>
Column<T> MakeColumn(Shape shape, size_t size, uint32_t type_length, uint64_t seed) {
  std::mt19937_64 random(seed);
  Column<T> column{std::make_unique<T[]>(size), size, {}};
  for (size_t i = 0; i < size; ++i) {
    T& value = column.values[i];
    if constexpr (kIsBytes<T>) {
      std::string text = Text(shape, i, random);
      if (type_length > 0) text.insert(0, type_length, '.').erase(0, text.size() - type_length);
      value = column.texts.emplace_back(std::move(text));
    } else {
      switch (shape) {
        case Shape::kConstant:
          value = NumberOf<T>(37);
          break;
        case Shape::kSorted:
          value = NumberOf<T>(std::is_same_v<T, bool> ? 2 * i / (size + 1) : i / 2 * 3);
          break;
        case Shape::kRandom:
          value = RandomBits<T>(random);
          break;
        case Shape::kSmallRange:
          value = NumberOf<T>(100 + random() % 5);
          break;
        case Shape::kRuns:
          value = NumberOf<T>((i >> (4 + i / 256 % 4)) * 7);
          break;
        case Shape::kExtremes:
          value = Extreme<T>(random());
          break;
        case Shape::kLong:
          value = NumberOf<T>(i < size / 2 ? 0 : random() % 300);
          break;
      }
    }
  }
  return column;
}

template <typename T>
void SortKeys(Column<T>& column) {
  T* end = std::remove_if(column.values.get(), column.values.get() + column.size,
                          [](const T& value) { return !IsKey(value); });
  column.size = static_cast<size_t>(end - column.values.get());
  std::sort(column.values.get(), end, KeyLess<T>);
}

template <typename T>
testing::AssertionResult SameValues(std::span<const T> found, std::span<const T> expected) {
  if (found.size() != expected.size()) {
    return testing::AssertionFailure() << found.size() << " values, expected " << expected.size();
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!KeyEqual(found[i], expected[i]))
      return testing::AssertionFailure() << "value " << i << " differs";
  }
  return testing::AssertionSuccess();
}

#define CFILE_INSTANTIATE(T)                                           \
  template Column<T> MakeColumn<T>(Shape, size_t, uint32_t, uint64_t); \
  template void SortKeys<T>(Column<T>&);                               \
  template testing::AssertionResult SameValues<T>(std::span<const T>, std::span<const T>);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
