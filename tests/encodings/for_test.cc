// What is special about FOR: exceptions, the ends of blocks, and values at the ends of a type's
// range. (registry_test.cc tests the properties that all encodings share, damage_names_test.cc what
// a decoder says about damaged fields.)
#include "encodings/own/for.h"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "blocks.h"
#include "encodings/own/for_layout.h"

namespace cfile::encodings::for_test {

using testing::HasSubstr;

template <typename T>
constexpr PhysicalType TypeOf() {
  return std::is_signed_v<T> ? sizeof(T) == 8   ? PhysicalType::kInt64
                               : sizeof(T) == 4 ? PhysicalType::kInt32
                                                : PhysicalType::kInt8
                             : PhysicalType::kUint64;
}

template <typename T>
std::vector<Block> EncodeAll(const std::vector<T>& values, size_t block_size_bytes = 256 * 1024) {
  return Encode<T>({Encoding::kFor, TypeOf<T>()}, values, {.block_size_bytes = block_size_bytes});
}
template <typename T>
Block EncodeOne(const std::vector<T>& values) {
  std::vector<Block> blocks = EncodeAll(values);
  EXPECT_EQ(blocks.size(), 1u);
  return std::move(blocks.front());
}
template <typename T>
ForEntry<T> EntryOf(const Block& block, size_t index = 0) {
  return ForEntry<T>::Load(block.bytes.data() + index * ForEntry<T>::kBytes);
}

template <typename T>
absl::StatusOr<std::vector<T>> Decode(const Block& block) {
  const auto decoder = MakeDecoder<T>(Encoding::kFor, TypeOf<T>(), {}).value();
  CFILE_RETURN_IF_ERROR(decoder->Open(block.view()));
  std::vector<T> values(block.count);
  CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read(values));
  EXPECT_EQ(read, values.size());
  return values;
}

// Returns `count` random values from `least` to least + 2^width - 1. The values have these two ends
// at least once.
template <typename T>
std::vector<T> Range(T least, int width, size_t count = kVectorValues) {
  using U = ForLane<T>;
  std::mt19937_64 random(5);
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(static_cast<U>(static_cast<U>(least) + (random() & LowBits(width))));
  values[count / 2] = least;
  values[count / 3] =
      static_cast<T>(static_cast<U>(static_cast<U>(least) + static_cast<U>(LowBits(width))));
  return values;
}

// Each width has the size that the format says, for whole vectors and for short ones.
TEST(For, TakesTheWidthOfTheRange) {
  for (int width = 0; width <= 64; ++width) {
    for (const size_t count : {kVectorValues, kVectorValues - 1, size_t{900}}) {
      SCOPED_TRACE(testing::Message() << width << " bits, " << count << " values");
      const auto values = Range<int64_t>(std::numeric_limits<int64_t>::min(), width, count);
      const Block block = EncodeOne(values);
      EXPECT_EQ(int{EntryOf<int64_t>(block).width}, width);
      EXPECT_EQ(EntryOf<int64_t>(block).exceptions, 0u);
      EXPECT_EQ(block.bytes.size(), 24 + (count * static_cast<size_t>(width) + 7) / 8);
      EXPECT_EQ(Decode<int64_t>(block).value(), values);
    }
  }
}

TEST(For, SmallBlocksAreSmall) {
  EXPECT_EQ(EncodeOne(std::vector<int32_t>()).bytes.size(), 0u);
  EXPECT_EQ(EncodeOne(std::vector<int32_t>{-7}).bytes.size(), 16u);
  EXPECT_EQ(EncodeOne(std::vector<int32_t>{1, 2, 3, 4, 5}).bytes.size(), 18u);
  // A block ends before a further vector could make it much larger than the target size.
  for (const size_t size : {100u, 1000u, 5000u}) {
    for (const Block& block : EncodeAll(Range<int64_t>(0, 64, 3000), size))
      EXPECT_LE(block.bytes.size(), 2 * size);
  }
  // All blocks but the last one hold whole vectors.
  std::vector<Block> blocks = EncodeAll(Range<int64_t>(0, 40, 200'000));
  ASSERT_GT(blocks.size(), 2u);
  blocks.pop_back();
  for (const Block& block : blocks) EXPECT_EQ(block.count % kVectorValues, 0u);
}

// Values that are far from the others become exceptions, so the other values keep their width. The
// exceptions are below or above the range of the others, or differences wrap around.
TEST(For, StoresExceptionsWhereTheyPay) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const struct {
    int64_t least;
    std::vector<int64_t> exceptions;
  } cases[] = {{1000, {kMost}},
               {1000, {kLeast}},
               {1000, {kLeast, kMost, 0, 5000}},
               {kLeast, {kMost}},
               {kLeast, {0, kMost, -1}},
               {kMost - 2047, {kLeast}},
               {0, {-5000, -6000, 90'000}},
               {kMost - 2047, {0, kLeast}}};
  for (const auto& each : cases) {
    for (const size_t count : {kVectorValues, size_t{1000}}) {
      SCOPED_TRACE(testing::Message() << each.least << ", " << each.exceptions.size()
                                      << " exceptions, " << count << " values");
      std::vector<int64_t> values = Range<int64_t>(each.least, 11, count);
      for (size_t i = 0; i < each.exceptions.size(); ++i) values[i * 300 + 7] = each.exceptions[i];
      const Block block = EncodeOne(values);
      EXPECT_EQ(EntryOf<int64_t>(block).exceptions, each.exceptions.size());
      EXPECT_EQ(int{EntryOf<int64_t>(block).width}, 11);
      EXPECT_EQ(static_cast<int64_t>(EntryOf<int64_t>(block).min),
                *std::min_element(values.begin(), values.end()));
      EXPECT_EQ(static_cast<int64_t>(EntryOf<int64_t>(block).max),
                *std::max_element(values.begin(), values.end()));
      EXPECT_EQ(block.bytes.size(), 24 + count * 11 / 8 + 8 + 10 * each.exceptions.size());
      EXPECT_EQ(Decode<int64_t>(block).value(), values);
      std::vector<uint32_t> positions(count);
      std::iota(positions.begin(), positions.end(), 0u);
      std::vector<int64_t> gathered(count);
      const auto decoder = MakeDecoder<int64_t>(Encoding::kFor, PhysicalType::kInt64, {}).value();
      ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
      ASSERT_TRUE(decoder->Gather(positions, gathered).ok());
      EXPECT_EQ(gathered, values);
    }
  }
}

// A vector never takes more bytes than without exceptions.
TEST(For, ExceptionsCostNothingWhereTheyDoNotPay) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> values = Range<int64_t>(100, 1 + round % 40);
    for (uint64_t i = random() % 200; i > 0; --i)
      values[random() % values.size()] = static_cast<int64_t>(random() >> random() % 60);
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const int width = ForWidth(static_cast<uint64_t>(*max) - static_cast<uint64_t>(*min));
    const Block block = EncodeOne(values);
    EXPECT_LE(block.bytes.size(), 24 + InterleavedBytes(width));
    EXPECT_EQ(Decode<int64_t>(block).value(), values);
  }
}

// A short interval that wraps around has all of these values. It must not be used: the reference of
// a vector without exceptions is the minimum.
TEST(For, WithoutExceptionsTheReferenceIsTheMinimum) {
  std::vector<uint64_t> values(1000);
  std::mt19937_64 random(6);
  for (uint64_t& value : values) value = random() % 64 - 32;
  const Block block = EncodeOne(values);
  EXPECT_EQ(Decode<uint64_t>(block).value(), values);
  EXPECT_TRUE(EntryOf<uint64_t>(block).exceptions > 0 || EntryOf<uint64_t>(block).width == 64);
}

// Sorted values are packed as differences between neighbours, even if they pass the end of the
// range of the type.
TEST(For, StoresDeltasWhereTheyPay) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0} - 5000}) {
    for (const int64_t step : {int64_t{1}, int64_t{1000}, int64_t{-3}}) {
      std::mt19937_64 random(4);
      std::vector<uint64_t> values(3 * kVectorValues + 10, first);
      for (size_t i = 1; i < values.size(); ++i)
        values[i] = values[i - 1] + static_cast<uint64_t>(step) + random() % 8;
      const Block block = EncodeOne(values);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(EntryOf<uint64_t>(block, i).form, static_cast<uint8_t>(ForForm::kDelta));
        EXPECT_EQ(int{EntryOf<uint64_t>(block, i).width}, 3);
      }
      EXPECT_EQ(EntryOf<uint64_t>(block, 3).form, static_cast<uint8_t>(ForForm::kFrame));
      EXPECT_EQ(Decode<uint64_t>(block).value(), values);
      std::vector<uint32_t> positions(values.size());
      std::iota(positions.begin(), positions.end(), 0u);
      std::vector<uint64_t> gathered(values.size());
      const auto decoder = MakeDecoder<uint64_t>(Encoding::kFor, PhysicalType::kUint64, {}).value();
      ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
      ASSERT_TRUE(decoder->Gather(positions, gathered).ok());
      EXPECT_EQ(gathered, values);
    }
  }
}

// ReadMatches is right at any position: if it compares packed numbers, if the minimum and the
// maximum of a vector are enough, and for exceptions.
TEST(For, ComparesWithoutDecoding) {
  std::vector<int32_t> values = Range<int32_t>(-500, 10, 5 * kVectorValues + 77);
  for (size_t i = 0; i < kVectorValues; ++i) values[2 * kVectorValues + i] = 7;
  values[5] = std::numeric_limits<int32_t>::max();
  values[3 * kVectorValues + 9] = std::numeric_limits<int32_t>::min();
  const Block block = EncodeOne(values);
  ASSERT_EQ(EntryOf<int32_t>(block).exceptions, 1u);
  const auto decoder = MakeDecoder<int32_t>(Encoding::kFor, PhysicalType::kInt32, {}).value();
  ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
  std::mt19937_64 random(9);
  for (int round = 0; round < 500; ++round) {
    const auto begin = static_cast<uint32_t>(random() % (values.size() + 1));
    const size_t count = random() % (values.size() - begin + 1);
    const auto constant = [&] {
      return random() % 8 == 0 ? values[random() % 2 == 0 ? 5 : 3 * kVectorValues + 9]
                               : values[random() % values.size()];
    };
    const int32_t low = constant();
    const int32_t high = round % 3 == 0 ? low : constant();
    std::vector<uint8_t> bits((count + 7) / 8 + 1, 0xee);
    ASSERT_TRUE(decoder->SeekTo(begin).ok());
    ASSERT_TRUE(decoder->ReadMatches(low, high, count, bits.data()).value());
    ASSERT_EQ(decoder->position(), begin + count);
    ASSERT_EQ(bits.back(), 0xee);
    for (size_t i = 0; i < count; ++i) {
      const int32_t value = values[begin + i];
      ASSERT_EQ(bits[i / 8] >> i % 8 & 1, low <= value && value <= high ? 1 : 0) << begin + i;
    }
    std::vector<int32_t> list(1 + random() % decoder->kMostMatches);
    for (int32_t& each : list) each = constant();
    ASSERT_TRUE(decoder->SeekTo(begin).ok());
    ASSERT_TRUE(decoder->ReadMatchesOfAny(list, count, bits.data()).value());
    for (size_t i = 0; i < count; ++i) {
      const bool in = std::find(list.begin(), list.end(), values[begin + i]) != list.end();
      ASSERT_EQ(bits[i / 8] >> i % 8 & 1, in ? 1 : 0) << begin + i;
    }
  }
}

// ReadMatches also finds positions of exceptions that do not ascend. Reading a single value does
// not check the positions; it returns some value.
TEST(For, PredicatesNameDamageToo) {
  std::vector<int64_t> values = Range<int64_t>(1000, 11);
  values[3] = values[9] = std::numeric_limits<int64_t>::max();
  Block block = EncodeOne(values);
  block.bytes[24 + InterleavedBytes(11) + 8] = 9;
  const auto decoder = MakeDecoder<int64_t>(Encoding::kFor, PhysicalType::kInt64, {}).value();
  ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
  uint8_t bits[kVectorValues / 8];
  EXPECT_THAT(decoder->ReadMatches(1000, 1001, kVectorValues, bits).status().ToString(),
              HasSubstr("exception 1 of 2 is at value 9"));
  int64_t value;
  ASSERT_TRUE(decoder->SeekTo(9).ok());
  ASSERT_TRUE(decoder->Read({&value, 1}).ok());
}

}  // namespace cfile::encodings::for_test
