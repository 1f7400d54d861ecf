#include "encodings/core/bytes.h"

#include <gmock/gmock.h>

#include <limits>
#include <utility>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/packed_strings.h"

namespace cfile::encodings::bytes_test {

using testing::ElementsAre;

using Bytes = std::vector<uint8_t>;

Bytes Written(const ByteWriter& writer) { return {writer.span().begin(), writer.span().end()}; }

TEST(ByteWriter, WritesLittleEndianAndVints) {
  ByteWriter writer;
  writer.PutFixed(uint16_t{0x0102});
  writer.PutFixed(uint32_t{0x0a0b0c0d});
  writer.PutVint(0);
  writer.PutVint(0x7f);
  writer.PutVint(0x80);
  writer.PutVint(300);
  EXPECT_THAT(Written(writer),
              ElementsAre(0x02, 0x01, 0x0d, 0x0c, 0x0b, 0x0a, 0x00, 0x7f, 0x80, 0x01, 0xac, 0x02));
  writer.Truncate(2);
  writer.PutZeros(2);
  writer.PutLengthPrefixed(AsBytes("ab"));
  EXPECT_THAT(Written(writer), ElementsAre(0x02, 0x01, 0, 0, 2, 'a', 'b'));
}

TEST(PackedBudget, IsUsedUpToItsLastByte) {
  const PackedStrings out;
  PackedBudget one(out);
  EXPECT_TRUE(one.Take(out.room()));
  EXPECT_FALSE(one.Take(1));
  PackedBudget two(out);
  EXPECT_TRUE(two.Take(1));
  EXPECT_FALSE(two.Take(PackedBudget::kMaxBytes));
  EXPECT_TRUE(two.Take(PackedBudget::kMaxBytes - 1));
  EXPECT_EQ(two.left(), 0u);
  EXPECT_FALSE(two.Take(1));
}

// Clear resets every field: a field that an encoder sets for some blocks only must not stay set for
// the next block.
TEST(EncodedBlock, IsANewOneOnceCleared) {
  EncodedBlock block{
      .count = 1, .encoding = Encoding::kPlain, .aligned_values_offset = 8, .compressible = false};
  block.bytes.PutVint(1);
  block.skip_table.PutVint(2);
  block.Clear();
  const EncodedBlock fresh;
  EXPECT_EQ(block.bytes.size(), 0u);
  EXPECT_EQ(block.skip_table.size(), 0u);
  EXPECT_EQ(block.count, fresh.count);
  EXPECT_EQ(block.encoding, fresh.encoding);
  EXPECT_EQ(block.aligned_values_offset, fresh.aligned_values_offset);
  EXPECT_EQ(block.compressible, fresh.compressible);
}

TEST(ByteWriter, KeepsItsBytesAsItGrowsAndMoves) {
  ByteWriter writer;
  for (uint32_t i = 0; i < 100'000; ++i) writer.PutFixed(i);
  ByteWriter moved = std::move(writer);
  ASSERT_EQ(moved.size(), 400'000u);
  for (uint32_t i = 0; i < 100'000; ++i)
    ASSERT_EQ(LoadLittleEndian<uint32_t>(moved.data() + size_t{4} * i), i);
  const size_t capacity = moved.capacity();
  moved.Clear();
  EXPECT_TRUE(moved.empty());
  EXPECT_EQ(moved.capacity(), capacity);
}

TEST(ByteReader, ReadsWhatWasWrittenAndNoFurther) {
  ByteWriter writer;
  writer.PutFixed(uint64_t{7});
  writer.PutLengthPrefixed(AsBytes("abc"));
  writer.PutBytes("de");
  ByteReader reader(writer.span());
  uint64_t number;
  std::span<const uint8_t> bytes;
  ASSERT_TRUE(reader.ReadFixed(number));
  EXPECT_EQ(number, 7u);
  ASSERT_TRUE(reader.ReadLengthPrefixed(bytes));
  EXPECT_EQ(AsString(bytes), "abc");
  EXPECT_EQ(reader.offset(), 12u);
  EXPECT_FALSE(reader.ReadBytes(3, bytes));
  EXPECT_FALSE(reader.ReadBytes(std::numeric_limits<uint64_t>::max(), bytes));
  EXPECT_FALSE(reader.ReadFixed(number));
  EXPECT_EQ(reader.offset(), 12u);
  ASSERT_TRUE(reader.Skip(2));
  EXPECT_TRUE(reader.empty());
  EXPECT_FALSE(reader.Skip(1));
  uint8_t byte;
  EXPECT_FALSE(reader.ReadFixed(byte));
}

TEST(ByteReader, ALengthBeyondTheEndConsumesNothing) {
  const Bytes bytes = {3, 'a', 'b'};
  ByteReader reader(bytes);
  std::span<const uint8_t> read;
  EXPECT_FALSE(reader.ReadLengthPrefixed(read));
  EXPECT_EQ(reader.offset(), 0u);
}

TEST(ByteReader, VintsOfAllLengthsComeBackAndTheirPrefixesDoNot) {
  for (int bits = 0; bits <= 64; ++bits) {
    const uint64_t top = bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits);
    for (const uint64_t value : {top, top / 2 + 1}) {
      ByteWriter writer;
      writer.PutVint(value);
      ASSERT_LE(writer.size(), kMaxVint64Bytes);
      for (size_t size = 0; size <= writer.size(); ++size) {
        const Bytes bytes(writer.data(), writer.data() + size);
        ByteReader reader(bytes);
        uint64_t read;
        ASSERT_EQ(reader.ReadVint64(read), size == writer.size());
        ASSERT_EQ(reader.offset(), size == writer.size() ? size : 0);
        if (size == writer.size()) {
          ASSERT_EQ(read, value);
        }
        uint32_t small;
        ByteReader small_reader(bytes);
        ASSERT_EQ(small_reader.ReadVint32(small), size == writer.size() && value <= UINT32_MAX);
      }
    }
  }
}

TEST(ByteReader, VintsThatDoNotFitAreRefused) {
  const auto reads32 = [](const Bytes& bytes) {
    ByteReader reader(bytes);
    uint32_t value;
    return reader.ReadVint32(value);
  };
  const auto reads64 = [](const Bytes& bytes) {
    ByteReader reader(bytes);
    uint64_t value;
    return reader.ReadVint64(value);
  };
  EXPECT_TRUE(reads32({0xff, 0xff, 0xff, 0xff, 0x0f}));
  EXPECT_FALSE(reads32({0xff, 0xff, 0xff, 0xff, 0x10}));        // 33 bits
  EXPECT_FALSE(reads32({0x80, 0x80, 0x80, 0x80, 0x80, 0x00}));  // six bytes
  EXPECT_TRUE(reads32({0x80, 0x00}));                           // longer than necessary
  EXPECT_TRUE(reads64({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));
  EXPECT_FALSE(reads64({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}));  // 65 bits
  EXPECT_FALSE(reads64({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}));
}

TEST(ZigZag, PutsSmallMagnitudesFirst) {
  EXPECT_EQ(ZigZagEncode(0), 0u);
  EXPECT_EQ(ZigZagEncode(-1), 1u);
  EXPECT_EQ(ZigZagEncode(1), 2u);
  EXPECT_EQ(ZigZagEncode(-2), 3u);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ZigZagEncode(kMax), ~uint64_t{0} - 1);
  EXPECT_EQ(ZigZagEncode(kMin), ~uint64_t{0});
  for (const int64_t value : {kMin, kMin + 1, int64_t{-3}, int64_t{0}, int64_t{77}, kMax}) {
    EXPECT_EQ(ZigZagDecode(ZigZagEncode(value)), value);
  }
}

TEST(PackedStrings, MovesAllAndIsGoodForMore) {
  const std::vector<std::string_view> words = {"one", "two", "", "three"};
  PackedStrings from;
  from.Append(words);
  PackedStrings to = std::move(from);
  ASSERT_EQ(to.size(), 4u);
  EXPECT_EQ(to[3], "three");
  EXPECT_EQ(from.size(), 0u);  // NOLINT: a moved-from object may be used
  EXPECT_THAT(from.offsets(), ElementsAre(0));
  from.Append(words);
  EXPECT_EQ(from[1], "two");
  from = std::move(to);
  to.Clear();  // NOLINT
  to.Append(words);
  EXPECT_EQ(from[0], "one");
  EXPECT_EQ(to[0], "one");
}

}  // namespace cfile::encodings::bytes_test
