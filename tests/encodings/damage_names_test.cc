// Decoders name the damage that they find: where it is, and what was expected.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "encodings/kernels/fsst.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/alp_rd_layout.h"
#include "encodings/own/compact_layout.h"
#include "encodings/own/for_layout.h"
#include "encodings/own/fsst_layout.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/encodings/blocks.h"
#include "tests/encodings/fsst_testing.h"

namespace cfile::encodings::damage_names_test {

using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

struct Damage {
  std::function<void(Block&)> apply;
  std::string message;  // a part of the error
};
// Overwrites bytes from `offset` on.
Damage At(size_t offset, const Bytes& bytes, const std::string& message) {
  return {[=](Block& block) {
            ASSERT_LE(offset + bytes.size(), block.bytes.size());
            std::copy(bytes.begin(), bytes.end(),
                      block.bytes.begin() + static_cast<ptrdiff_t>(offset));
          },
          message};
}
Damage Size(size_t size, const std::string& message) {
  return {[=](Block& block) { block.bytes.resize(size); }, message};
}
Damage Count(uint32_t count, const std::string& message) {
  return {[=](Block& block) { block.count = count; }, message};
}
Damage Whole(const Bytes& bytes, const std::string& message) {
  return {[=](Block& block) { block.bytes = bytes; }, message};
}

// Reads all values of `block`, which is of `type`, and returns the first error.
std::string ErrorOf(const Block& block, PhysicalType type, uint32_t type_length) {
  std::string error;
  VisitPhysicalType(type, [&](auto t) {
    using T = typename decltype(t)::type;
    DecoderOptions options(type_length);
    options.dictionary = block.dictionary;
    const auto decoder = MakeDecoder<T>(block.encoding, type, options).value();
    absl::Status status = decoder->Open(GuardedView(block));
    const bool is_open = status.ok();
    const auto out = std::make_unique<T[]>(kMaxBatchValues);
    while (status.ok() && decoder->position() < decoder->count())
      status = decoder->Read({out.get(), kMaxBatchValues}).status();
    error = status.ToString();
    if constexpr (std::is_same_v<T, std::string_view>) {
      // Another way to read finds the same damage.
      if (!is_open || !decoder->Open(GuardedView(block)).ok()) return;
      PackedStrings packed;
      absl::StatusOr<size_t> read = 1;
      while (read.value_or(0) > 0) {
        packed.Clear();
        read = decoder->ReadPacked(1000, packed);
      }
      EXPECT_EQ(read.status().ToString(), error);
    }
  });
  return error;
}

// EXPECTs that `sound` is read without an error, and that each of the damages is named.
void ExpectNamed(const Block& sound, PhysicalType type, const std::vector<Damage>& damages,
                 uint32_t type_length = 0) {
  SCOPED_TRACE(std::string(EncodingName(sound.encoding)));
  EXPECT_EQ(ErrorOf(sound, type, type_length), "OK");
  for (const Damage& damage : damages) {
    Block damaged = sound;
    damage.apply(damaged);
    EXPECT_THAT(ErrorOf(damaged, type, type_length), HasSubstr(damage.message));
  }
}

template <typename T>
Block Sound(const Pair& pair, const std::vector<T>& values) {
  std::vector<Block> blocks = Encode<T>(pair, values, {.block_size_bytes = size_t{1} << 24});
  EXPECT_EQ(blocks.size(), 1u);
  return std::move(blocks.front());
}

// A block of an encoding that writes the number of values into the block.
Block BlockOf(Encoding encoding, const Bytes& bytes) {
  Block block;
  block.encoding = encoding;
  block.bytes = bytes;
  return block;
}

TEST(DamageIsNamed, For) {
  std::mt19937_64 random(5);
  std::vector<int64_t> values(2 * kVectorValues + 5);
  for (int64_t& value : values) value = static_cast<int64_t>(1000 + random() % 2048);
  values[0] = 1000, values[1] = 3047;
  values[3] = values[9] = std::numeric_limits<int64_t>::max();
  constexpr size_t kTable = 3 * ForEntry<int64_t>::kBytes;
  const size_t positions = kTable + InterleavedBytes(11) + sizeof(int64_t);
  ExpectNamed(
      Sound({Encoding::kFor, PhysicalType::kInt64}, values), PhysicalType::kInt64,
      {
          At(0, {73}, "vector 0, at byte 0: it lies at bytes 73 to 1508 of "),
          At(24, {0}, "vector 0, at byte 0: it lies at bytes 72 to "),
          At(24 + 3, {0xff}, "expected 1436 bytes from 72 on"),
          At(4, {65}, "at byte 4: a width of 65 bits, expected at most 64"),
          At(28, {12}, "vector 1, at byte 28: a width of 12 bits, expected 11"),
          At(5, {2}, "at byte 5: form 2 of 1024 values and 2 exceptions"),
          At(5, {1}, "at byte 5: form 1 of 1024 values and 2 exceptions"),
          At(53, {1}, "at byte 53: form 1 of 5 values and 0 exceptions"),
          At(6, {0, 4}, "at byte 6: 1024 exceptions among 1024 values"),
          At(54, {5}, "at byte 54: 5 exceptions among 5 values"),
          At(23, {0xff}, "at byte 8: the minimum or the maximum"),
          At(positions, {9}, "vector 0: exception 1 of 2 is at value 9, expected 10 to 1023"),
          At(positions + 2, {0, 4}, "is at value 1024, expected 4 to 1023"),
          {[](Block& block) { block.bytes.push_back(0); }, "vector 2, at byte 48"},
          Size(71, "the table of 3 vectors takes 72 bytes, found 71"),
          {[](Block& block) { block.bytes.resize(71), block.count = 0; },
           "a block without values has 71 bytes, expected 0"},
      });
}

TEST(DamageIsNamed, Compact) {
  // Two pages, decimals with exceptions, codes, and bins of different widths.
  std::mt19937_64 random(7);
  std::vector<double> values(1500);
  for (double& value : values) {
    const uint64_t r = random();
    value = static_cast<double>(r % 64 < 60 ? r % 4 : r % 100'000) / 10;
  }
  values[3] = values[9] = std::numeric_limits<double>::quiet_NaN();
  const Block sound = Sound({Encoding::kCompact, PhysicalType::kDouble}, values);
  ASSERT_EQ(sound.bytes[0], 16);  // decimals
  const size_t bins = sound.bytes[2] + 1u;
  ASSERT_GT(bins, 1u);
  const size_t pages = kCompactHeadBytes + bins * 11;
  const size_t page = pages + 8;
  ExpectNamed(sound, PhysicalType::kDouble,
              {
                  At(0, {32}, "byte 0: 32 is no transformation of this type"),
                  At(0, {5}, "byte 0: 5 is no transformation of this type"),
                  At(1, {13}, "bins and 2^13 states, expected 2^4 to 2^12 states"),
                  At(2, {0}, "byte 1: 1 bins and 2^"),
                  At(3, {23}, "byte 3: 23 decimals, expected at most 22"),
                  At(12, {65}, "bin 0 has a width of 65 bits, expected at most 64"),
                  At(13, {0, 0}, "bin 0 has the weight 0"),
                  At(14, {0x77}, "the weights of the bins add up to "),
                  At(pages, {1}, "page 0 at byte "),
                  At(pages + 7, {1}, "page 0 at byte "),
                  At(page, {1, 4}, "1025 exceptions among 1024 values"),
                  At(page + 2, {0xff, 0xff}, "its codes are cut off"),
                  At(page + 2, {9, 0}, "its 9 bytes are not the codes of 1024 values"),
                  At(page, {3}, "its offsets take "),
                  {[](Block& block) { block.bytes.push_back(0); }, "page 1 at byte"},
                  Size(pages + 7, "the offsets of 2 pages take 8 bytes, found 7"),
                  Size(20, "the block ends before its pages"),
                  {[](Block& block) { block.bytes.resize(20), block.count = 0; },
                   "a block without values has 20 bytes, expected 0"},
              });
}

TEST(DamageIsNamed, AlpRd) {
  std::mt19937_64 random(7);
  std::vector<double> values(2 * kVectorValues + 5);
  for (double& value : values) value = 1 + std::ldexp(static_cast<double>(random() >> 11), -55);
  values[3] = values[9] = std::numeric_limits<double>::infinity();
  const Block sound = Sound({Encoding::kAlpRd, PhysicalType::kDouble}, values);
  const AlpRdEntry entry = AlpRdEntry::Load(sound.bytes.data());
  ASSERT_EQ(entry.exceptions, 2);
  const size_t positions =
      3 * AlpRdEntry::kBytes + entry.form().bases() * 8 + InterleavedBytes(entry.form().width());
  ExpectNamed(
      sound, PhysicalType::kDouble,
      {
          At(0, {28}, "vector 0, at byte 0: it lies at bytes 28 to "),
          At(9, {0, 0}, "vector 0, at byte 0: it lies at bytes 27 to 0 of "),
          At(12, {0xff}, "bytes from 27 on"),
          At(4, {4}, "vector 0, at byte 4: codes of 4 bits, offsets of "),
          At(5, {65}, "offsets of 65 bits, and a shift of 0 bits do not fit"),
          At(6, {63}, "and a shift of 63 bits do not fit in 64 bits"),
          At(4, {0, 0, 64}, "and a shift of 64 bits do not fit in 64 bits"),
          At(4, {1, 60, 4}, "do not fit in 64 bits"),
          At(7, {1, 4}, "at byte 7: 1025 exceptions among 1024 values, expected at most 1024"),
          At(4, {0, 60, 4}, "2 exceptions among 1024 values, expected at most 0"),
          At(positions, {9}, "vector 0: exception 1 of 2 is at value 9, expected 10 to 1023"),
          At(positions + 2, {0, 4}, "is at value 1024, expected 4 to 1023"),
          {[](Block& block) { block.bytes.push_back(0); }, "vector 2, at byte 18"},
          Size(26, "the table of 3 vectors takes 27 bytes, found 26"),
          {[](Block& block) { block.bytes.resize(26), block.count = 0; },
           "a block without values has 26 bytes, expected 0"},
      });
}

const char kBadCode[] =
    "group 3, of 8 values from value 192 on: a code is not in the symbol table, or the last code "
    "is an escape code";
const char kBadOffset[] = "group 0, of 64 values from value 0 on: its offset, or the offset after";
const Damage kNoDictionary = {[](Block& block) { block.dictionary = nullptr; },
                              "200 codes, but there is no dictionary"};

TEST(DamageIsNamed, Fsst) {
  const Block sound = EncodeOne(Urls(200));
  FsstHeader header;
  ASSERT_TRUE(ParseFsstHeader(sound.bytes, sound.count, header).ok());
  const size_t group = header.groups_begin;
  ExpectNamed(sound, PhysicalType::kBytes,
              {
                  At(0, {3}, "fsst: form 3, expected 1 or 2"),
                  At(1, {255, 255, 3}, "the common prefix is cut off in a block of "),
                  At(header.offsets_begin, {1}, "the first group is at byte "),
                  At(header.offsets_begin + 4, {0, 0, 0, 0}, kBadOffset),
                  At(group, {0x80 | 33}, "a width is more than 32 bits"),
                  At(group + 3, {100}, "a value shares more bytes than the value b"),
                  At(group + 2, {100}, "its codes do not stand for "),
                  At(group + 4, {127}, "bytes of text cannot have as many"),
                  At(sound.bytes.size() - 1, {kEscapeCode}, kBadCode),
                  Count(100'000, "the offsets of 1563 groups take 6252"),
                  Count(0, "a block without values has "),
                  kNoDictionary,
              });
}

TEST(DamageIsNamed, FsstOfSeparateValues) {
  const Block sound = EncodeOne(RandomUrls(200));
  FsstHeader header;
  ASSERT_TRUE(ParseFsstHeader(sound.bytes, sound.count, header).ok());
  const size_t group = header.groups_begin;
  ASSERT_NE(sound.bytes[group] & kFsstCodes, 0);
  ASSERT_GT(sound.bytes[group + 1], 0);
  ExpectNamed(sound, PhysicalType::kBytes,
              {
                  At(header.offsets_begin, {1}, "the first group is at byte "),
                  At(header.offsets_begin + 4, {0, 0, 0, 0}, kBadOffset),
                  At(group, {0x80 | 33}, "a width is more than 32 bits"),
                  At(group + 1, {0}, "bytes of text"),
                  At(group + 1, {100}, "bytes of text"),
                  At(group + 1, {255, 255, 255, 255, 15}, "bytes of text"),
                  At(sound.bytes.size() - 1, {kEscapeCode}, kBadCode),
                  kNoDictionary,
              });
}

// A PREFIX block whose header has numbers of one byte. `entries` also holds the restart offsets and
// their count.
Damage Prefix(uint8_t count, uint8_t restart_interval, const Bytes& entries,
              const std::string& message) {
  Bytes bytes = {0x00, count, 0, restart_interval, 0};
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  return Whole(bytes, message);
}

TEST(DamageIsNamed, Prefix) {
  const char kPast[] = "value 0 at byte 5: its lengths or its bytes run past";
  const char kNoEntry[] = "value 1 at byte 9: its restart offset does not point to an entry";
  ExpectNamed(
      BlockOf(Encoding::kPrefix, {0x00, 1, 0, 16, 0, 0, 1, 'a', 0, 0, 0, 0}), PhysicalType::kBytes,
      {
          Whole({}, "too short for its header"),
          Whole({0x00, 1, 0}, "too short for its header"),
          Prefix(1, 16, {0}, "no restart count"),
          Prefix(1, 0, {0, 0, 0, 0, 0, 0}, "the restart interval is 0"),
          Prefix(2, 1, {0, 0, 0, 0, 0, 0, 0, 0},
                 "expected 1 restart offsets for 2 values with a restart interval of 1, found a "
                 "count of 0"),
          Prefix(3, 1, {2, 0, 0, 0}, "do not fit"),
          Prefix(3, 16, {0, 0, 0, 0, 0, 0, 0, 0, 0}, "5 bytes cannot hold the entries of 3 values"),
          Prefix(0, 16, {0, 0, 0, 0, 0}, "1 bytes cannot hold the entries of 0 values"),
          Prefix(1, 16, {0, 1, 0, 0, 0, 0}, kPast),
          Prefix(1, 16, {0x80, 0x80, 0, 0, 0, 0}, kPast),
          Prefix(1, 16, {1, 0, 0, 0, 0, 0},
                 "value 0 at byte 5: it shares 1 bytes with a value of 0"),
          Prefix(2, 16, {0, 1, 'a', 2, 1, 'b', 0, 0, 0, 0},
                 "value 1 at byte 8: it shares 2 bytes with a value of 1"),
          Prefix(1, 16, {0, 0, 0, 0, 0, 0, 0}, "1 bytes follow the last value"),
          Prefix(2, 1, {0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0},
                 "value 1 at byte 7: its restart offset says byte 6"),
          Prefix(2, 1, {0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0}, kNoEntry),
          Prefix(2, 1, {0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0}, kNoEntry),
          Prefix(2, 1, {0, 1, 'a', 1, 0, 8, 0, 0, 0, 1, 0, 0, 0},
                 "value 1 at byte 8: it shares 1 bytes with a value of 0"),
      });
}

TEST(DamageIsNamed, Plain) {
  ExpectNamed(BlockOf(Encoding::kPlain, {1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9}), PhysicalType::kInt32,
              {
                  Size(7, "7 bytes has no room for its header of 8"),
                  Size(11, "found 3 bytes"),
                  // 2^30 values of 4 bytes: a 32-bit product would be 0.
                  Whole({0, 0, 0, 64, 0, 0, 0, 0}, "1073741824 values take 4294967296 bytes"),
              });
  ExpectNamed(BlockOf(Encoding::kPlain, {1, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'}),
              PhysicalType::kFixedBytes, {Size(11, "found 3")}, /*type_length=*/2);
  ExpectNamed(BlockOf(Encoding::kPlain, {8, 0, 0, 0, 0, 0, 0, 0, 1}), PhysicalType::kBool,
              {At(0, {9}, "9 values take 2 bytes")});
}

TEST(DamageIsNamed, PlainOfBytes) {
  const auto plain = [](uint8_t count, uint8_t offsets_position, const Bytes& rest) {
    Bytes bytes = {0, 0, 0, 0, count, 0, 0, 0, offsets_position, 0, 0, 0};
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
  };
  ExpectNamed(
      BlockOf(Encoding::kPlain, plain(2, 14, {'a', 'b', 0, 12, 13, 0, 0})), PhysicalType::kBytes,
      {
          Whole(plain(1, 11, {}), "offsets at byte 11, expected 12 to 12"),
          Whole(plain(1, 13, {}), "offsets at byte 13, expected 12 to 12"),
          Whole(plain(5, 12, {0, 12, 12, 12, 12, 0, 12, 0, 0}),
                "the offsets of 5 values do not fit"),
          Whole(plain(4, 12, {1, 12, 12, 12, 12}), "ends within the 4 offsets"),
          Whole(plain(1, 12, {0, 12, 0, 0, 0, 0}), "1 bytes after the 1 offsets"),
          Whole(plain(0, 12, {0}), "1 bytes after the header"),
          Whole(plain(1, 13, {'a', 0, 11, 0, 0, 0}), "first value begins at byte 11, expected 12"),
          Whole(plain(2, 13, {'a', 0, 12, 14, 0, 0}), "value 1 begins at byte 14 and ends at 13"),
          Whole(plain(3, 14, {'a', 'b', 0, 12, 13, 12, 0}),
                "value 1 begins at byte 13 and ends at 12"),
      });
}

TEST(DamageIsNamed, GroupVarint) {
  ExpectNamed(BlockOf(Encoding::kGroupVarint, {0, 1, 5, 0, 0, 0, 1, 0, 0, 0}),
              PhysicalType::kUint32,
              {
                  Size(3, "too short for its header"),
                  At(1, {5}, "5 values expected at byte 5, found 5 bytes"),
                  At(5, {0x40}, "ends within its 1 values"),
                  Size(11, "1 bytes after the 1 values, at byte 10"),
                  // The sum 5 + (2^32 - 1) overflows.
                  Whole({0, 1, 5, 0, 0, 0xc0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0}, "exceeds 32 bits"),
              });
}

}  // namespace cfile::encodings::damage_names_test
