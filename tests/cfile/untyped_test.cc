// Keys and rows without their C++ type behave as those with a type.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cfile/concatenate.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/io.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/core/key_order.h"
#include "encodings/core/lane.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal::untyped_test {

using encodings::Int96;
using encodings::PhysicalType;
using encodings::uint128_t;

// Values in ascending order, with equal ones, the least and the greatest.
template <typename T>
std::vector<T> Ascending() {
  if constexpr (encodings::kIsBytes<T>) {
    return {"", std::string_view("\0", 1), "a", "a", "a long string that no view holds", "\xff"};
  } else if constexpr (encodings::kIsFloat<T>) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return {-kInfinity, T{-1.5}, -T{}, T{}, T{1.5}, T{1.5}, kInfinity};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {false, false, true};
  } else if constexpr (std::is_same_v<T, Int96>) {
    return {Int96(0), Int96(7), Int96(uint128_t{1} << 95)};
  } else {
    constexpr bool kSigned = static_cast<T>(-1) < T{0};
    constexpr auto kLeast = kSigned ? static_cast<T>(uint128_t{1} << (8 * sizeof(T) - 1)) : T{0};
    return {kLeast, T{3}, T{3}, T{100}, static_cast<T>(~kLeast)};
  }
}

template <typename Visit>
void ForEachType(const Visit& visit) {
  for (int i = 0; i < encodings::kNumPhysicalTypes; ++i) {
    const auto type = static_cast<PhysicalType>(i);
    SCOPED_TRACE(i);
    encodings::VisitPhysicalType(type,
                                 [&]<typename T>(std::type_identity<T> t) { visit(type, t); });
  }
}

// Not a std::vector, because std::vector<bool> stores bits.
template <typename T>
std::unique_ptr<T[]> ArrayOf(const std::vector<T>& values) {
  auto array = std::make_unique<T[]>(values.size());
  std::copy(values.begin(), values.end(), array.get());
  return array;
}

TEST(UntypedKeys, AgreeWithTypedKeys) {
  ForEachType([]<typename T>(PhysicalType type, std::type_identity<T>) {
    const std::vector<T> values = Ascending<T>();
    const LessFunction less = KeyLessOf(type);
    for (const T a : values) {
      const KeyRef key{&a, type};
      EXPECT_TRUE(IsKey(key));
      std::string typed, untyped, first;
      AppendKey<T>(a, typed);
      AppendKey(key, untyped);
      EXPECT_EQ(untyped, typed);
      typed.clear();
      AppendKey<T>(encodings::FirstEqualKey(a), typed);
      AppendKey(KeyRef{FirstEqualKey(key), type}, first);
      EXPECT_EQ(first, typed);
      for (const T b : values) EXPECT_EQ(less(&a, &b), encodings::KeyLess<T>(a, b));
      OwnedKey set, parsed;
      set.Set(key);
      ASSERT_TRUE(parsed.Parse(untyped, type));
      for (OwnedKey* owned : {&set, &parsed}) {
        const OwnedKey moved = std::move(*owned);
        EXPECT_FALSE(less(moved.value(), &a) || less(&a, moved.value()));
      }
    }
  });
}

TEST(UntypedKeys, ZerosHaveTwoEnds) {
  for (const double zero : {0.0, -0.0}) {
    const KeyRef key{&zero, PhysicalType::kDouble};
    EXPECT_TRUE(std::signbit(*static_cast<const double*>(FirstEqualKey(key))));
    EXPECT_FALSE(std::signbit(*static_cast<const double*>(LastEqualKey(key))));
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(IsKey({&nan, PhysicalType::kFloat}));
  OwnedKey key;
  EXPECT_FALSE(key.Parse("abc", PhysicalType::kFloat));
}

TEST(UntypedKeys, FaultsOfOrderAreFound) {
  ForEachType([]<typename T>(PhysicalType type, std::type_identity<T>) {
    std::vector<T> values = Ascending<T>();
    const size_t count = values.size();
    auto array = ArrayOf(values);
    EXPECT_FALSE(FindOrderFault({array.get(), count}, type, nullptr));
    EXPECT_FALSE(FindOrderFault({array.get(), count}, type, array.get()));
    // The value before the first one is greater.
    auto fault = FindOrderFault({array.get(), count}, type, &array[count - 1]);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->index, 0u);
    EXPECT_TRUE(fault->is_key);
    std::swap(array[count - 1], array[0]);
    fault = FindOrderFault({array.get(), count}, type, nullptr);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->index, 1u);
    EXPECT_TRUE(fault->is_key);
  });
  const double values[] = {1, std::numeric_limits<double>::quiet_NaN()};
  const auto fault = FindOrderFault({values, 2}, PhysicalType::kDouble, nullptr);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->index, 1u);
  EXPECT_FALSE(fault->is_key);
}

TEST(UntypedKeys, LanesHaveTheWidthOfTheirTypes) {
  ForEachType([]<typename T>(PhysicalType type, std::type_identity<T>) {
    EXPECT_EQ(encodings::WidthOf(encodings::LaneOf(type)), sizeof(T));
    encodings::VisitWidth(encodings::LaneOf<T>(), [](auto width) { EXPECT_EQ(width, sizeof(T)); });
  });
}

// A file may have blocks with levels although the maxima of its levels are 0.
TEST(UntypedRows, FilesWithLevelsOfZeroAreConcatenated) {
  std::vector<uint8_t> bytes, together;
  auto writer = LevelWriter<int32_t>::Create(NewMemorySink(&bytes), ColumnType::Int32(), {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const int32_t values[] = {1, 2, 3};
  ASSERT_EQ(writer->Append({}, {}, values), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const Reader reader = *Reader::Open(NewMemoryViewSource(bytes));
  const Reader files[] = {reader, reader};
  ASSERT_TRUE(Concatenate(files, NewMemorySink(&together)).ok());
  EXPECT_EQ(Reader::Open(NewMemoryViewSource(together))->num_rows(), 6u);
}

// The key of a search may lie in the batch that the cursor returned last.
TEST(UntypedRows, KeysMayLieInTheLastBatch) {
  std::vector<uint8_t> bytes;
  auto writer = Writer<int64_t>::Create(
      NewMemorySink(&bytes), ColumnType::Int64(),
      {.encoding = Encoding::kBitShuffle, .value_index = true, .max_values_per_block = 100});
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(writer->Append(std::span<const int64_t>(&i, 1)), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  auto cursor = *Reader::Open(NewMemoryViewSource(bytes))->NewCursor<int64_t>();
  ASSERT_EQ(cursor.SeekToOrdinal(550), absl::OkStatus());
  const Batch<int64_t> batch = *cursor.Next(10);
  // The values of the last batch, in another block.
  auto* const value = const_cast<int64_t*>(batch.values.data());
  *value = 120;
  const auto found = cursor.SeekToKey(*value);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ordinal, 120u);
  EXPECT_TRUE(found->exact);
}

}  // namespace cfile::internal::untyped_test
