#include "encodings/hybrid/validity.h"
#include "encodings/kernels/count_ones.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "encodings/core/physical_type.h"
#include "gtest/gtest.h"
#include "guarded_bytes.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::validity_test {

using Bytes = std::vector<uint8_t>;

// Returns rows of which `percent` percent are null, in runs of up to `longest_run` rows.
std::vector<bool> RandomRows(std::mt19937_64& random, size_t count, uint64_t percent,
                             size_t longest_run) {
  std::vector<bool> rows;
  while (rows.size() < count) {
    rows.insert(rows.end(), std::min(1 + random() % longest_run, count - rows.size()),
                random() % 100 >= percent);
  }
  return rows;
}

// Returns bits in a heap block of their exact size, so that AddressSanitizer detects any access
// outside of the block.
std::unique_ptr<uint8_t[]> BitsOf(const std::vector<bool>& rows) {
  const size_t size = (rows.size() + 7) / 8;
  std::unique_ptr<uint8_t[]> bits(new uint8_t[size]());
  for (size_t i = 0; i < rows.size(); ++i) bits[i / 8] |= static_cast<uint8_t>(rows[i] << (i % 8));
  return bits;
}

Bytes Finish(ValidityEncoder& encoder) {
  ByteWriter out;
  encoder.Finish(out);
  return {out.span().begin(), out.span().end()};
}

Bytes Encode(const std::vector<bool>& rows, bool kudu_exact) {
  ValidityEncoder encoder(kudu_exact);
  for (const bool row : rows) encoder.AddRun(row, 1);
  return Finish(encoder);
}

TEST(ValidityTest, TheDesignsExample) {  // 4 rows; the first and the last are null
  ValidityEncoder encoder(true);
  encoder.AddRun(false, 1);
  encoder.AddRun(true, 2);
  encoder.AddRun(false, 1);
  EXPECT_EQ(encoder.count(), 4u);
  EXPECT_EQ(Finish(encoder), (Bytes{0x03, 0x06}));
  EXPECT_EQ(encoder.count(), 0u);
}

TEST(ValidityTest, ReadsAndSeeks) {
  std::mt19937_64 random(1);
  for (const uint64_t percent : {0, 1, 10, 50, 90, 100}) {
    for (const size_t longest_run : {1, 5, 300}) {
      for (const bool kudu_exact : {false, true}) {
        const std::vector<bool> rows =
            RandomRows(random, 20000 + random() % 10, percent, longest_run);
        std::vector<uint32_t> valid_before(rows.size() + 1);
        for (size_t i = 0; i < rows.size(); ++i) valid_before[i + 1] = valid_before[i] + rows[i];
        const Bytes bitmap = Encode(rows, kudu_exact);

        ValidityEncoder by_bits(kudu_exact);
        const size_t half = rows.size() / 3;
        by_bits.AddBits(BitsOf(rows).get(), 0, half);
        by_bits.AddBits(BitsOf(rows).get(), half, rows.size() - half);
        EXPECT_EQ(by_bits.count(), rows.size());
        EXPECT_EQ(Finish(by_bits), bitmap);

        ValidityDecoder decoder;
        ASSERT_TRUE(decoder.Open(bitmap, static_cast<uint32_t>(rows.size())).ok());
        for (int read = 0; read < 100; ++read) {
          const uint32_t left = decoder.count() - decoder.position();
          const uint32_t begin = decoder.position();
          const uint32_t taken = static_cast<uint32_t>(std::min<uint64_t>(random() % 2000, left));
          const std::unique_ptr<uint8_t[]> bits(new uint8_t[(taken + 7) / 8]);
          const absl::StatusOr<uint32_t> valid = decoder.Read(taken, bits.get());
          ASSERT_TRUE(valid.ok());
          ASSERT_EQ(*valid, valid_before[begin + taken] - valid_before[begin]);
          const std::vector<bool> expected(rows.begin() + begin, rows.begin() + begin + taken);
          ASSERT_EQ(std::memcmp(bits.get(), BitsOf(expected).get(), (taken + 7) / 8), 0);
          if (read % 3 == 2 || taken == left) {
            if (read % 2 == 0) {
              std::vector<uint32_t> wanted(random() % 300);
              const uint64_t range = random() % 2 == 0 ? rows.size() : 1 + random() % 2000;
              for (uint32_t& row : wanted)
                row = static_cast<uint32_t>(rows.size() - 1 - random() % range);
              std::sort(wanted.begin(), wanted.end());
              std::vector<uint32_t> found(wanted.size());
              ASSERT_TRUE(decoder.FindValues(wanted, found.data()).ok());
              for (size_t i = 0; i < wanted.size(); ++i) {
                ASSERT_EQ(found[i],
                          rows[wanted[i]] ? valid_before[wanted[i]] : ValidityDecoder::kNull)
                    << "row " << wanted[i];
              }
            }
            const uint32_t position = static_cast<uint32_t>(random() % (rows.size() + 1));
            ASSERT_EQ(*decoder.SeekTo(position), valid_before[position]);
          }
        }
      }
    }
  }
}

TEST(ValidityTest, CountsAndFindsBits) {
  std::mt19937_64 random(3);
  const std::vector<bool> rows = RandomRows(random, 1000, 70, 90);
  const auto bits = BitsOf(rows);
  for (int round = 0; round < 1000; ++round) {
    const size_t begin = random() % rows.size();
    const size_t end = begin + random() % (rows.size() - begin + 1);
    std::vector<size_t> ones;
    for (size_t i = begin; i < end; ++i) {
      if (rows[i]) ones.push_back(i);
    }
    ASSERT_EQ(CountOnes({bits.get(), (end + 7) / 8}, begin, end - begin), ones.size());
    if (ones.empty()) continue;
    const size_t rank = random() % ones.size();
    ASSERT_EQ(PositionOfOne(bits.get(), begin, rank), ones[rank]);
  }
}

TEST(ValidityTest, TooShortBitmapIsDamage) {
  const std::vector<bool> rows = [] {
    std::mt19937_64 random(2);
    return RandomRows(random, 1000, 30, 20);
  }();
  const Bytes bitmap = Encode(rows, true);
  for (size_t size = 0; size < bitmap.size(); ++size) {
    ValidityDecoder decoder;
    const absl::Status opened = decoder.Open(std::span(bitmap).first(size), 1000);
    EXPECT_EQ(opened.ok(), size > 0);
    if (!opened.ok()) continue;
    uint8_t bits[125];
    EXPECT_EQ(decoder.Read(1000, bits).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(decoder.position(), 0u);
    EXPECT_EQ(decoder.SeekTo(1000).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(decoder.position(), 0u);
    const uint32_t wanted[] = {0, 10, 999};
    uint32_t found[3];
    EXPECT_EQ(decoder.FindValues(wanted, found).code(), absl::StatusCode::kDataLoss);
  }
}

TEST(ValidityTest, ABillionNullsAreNothing) {
  ValidityEncoder encoder(false);
  encoder.AddRun(false, 1000000000);
  encoder.AddRun(true, 1);
  const Bytes bitmap = Finish(encoder);
  EXPECT_LT(bitmap.size(), 16u);
  ValidityDecoder decoder;
  ASSERT_TRUE(decoder.Open(bitmap, 1000000001).ok());
  EXPECT_EQ(*decoder.SeekTo(999999999), 0u);
  uint8_t bits = 0;
  EXPECT_EQ(*decoder.Read(2, &bits), 1u);
  EXPECT_EQ(bits, 2);
}

TEST(ValidityTest, AllTargetsSpreadBits) {
  std::mt19937_64 random(5);
  GuardedBytes room(1000);
  WithEachTarget([&] {
    for (const uint64_t percent : {0, 1, 10, 50, 90, 99, 100}) {
      for (size_t count : {0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 200, 1000, 5000}) {
        const std::vector<bool> rows =
            RandomRows(random, count, percent, random() % 2 == 0 ? 1 : 100);
        const size_t valid = static_cast<size_t>(std::count(rows.begin(), rows.end(), true));
        const size_t size = (count + 7) / 8;
        const auto bits = room.Last<uint8_t>(size);
        for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
        std::vector<bool> expected(count);
        size_t next = 0;
        for (size_t i = 0; i < count; ++i) {
          if (!rows[i]) continue;
          expected[i] = (bits[next / 8] >> next % 8 & 1) != 0;
          ++next;
        }
        const std::unique_ptr<uint8_t[]> rows_bits = BitsOf(rows);
        if (count % 8 != 0)
          rows_bits[count / 8] |= static_cast<uint8_t>(0xff << (count % 8));  // after the last row
        SpreadBits(bits.data(), rows_bits.get(), count, valid);
        ASSERT_EQ(std::memcmp(bits.data(), BitsOf(expected).get(), size), 0)
            << count << " rows, " << percent << " % nulls";
      }
    }
  });
}

template <typename T>
class SpreadValuesTest : public testing::Test {};
using Types = testing::Types<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                             uint64_t, int128_t, Int96, float, double, std::string_view>;
TYPED_TEST_SUITE(SpreadValuesTest, Types);

template <typename T>
T ValueOf(uint64_t number) {
  static const std::string letters(256, 'x');
  if constexpr (kIsBytes<T>) {
    return std::string_view(letters).substr(number % 50, 1 + number % 100);
  } else if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else {
    return static_cast<T>(number % 120 + 1);  // not 0, so that a null is noticed
  }
}

TYPED_TEST(SpreadValuesTest, AllTargetsDoAsTheNaiveWay) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  GuardedBytes room(5000 * sizeof(T)), room_of_present(5000 * sizeof(T));
  WithEachTarget([&] {
    for (const uint64_t percent : {0, 1, 10, 50, 90, 99, 100}) {
      for (size_t count : {0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 200, 1000, 5000}) {
        const std::vector<bool> rows =
            RandomRows(random, count, percent, random() % 2 == 0 ? 1 : 100);
        const size_t valid = static_cast<size_t>(std::count(rows.begin(), rows.end(), true));
        const auto present = room_of_present.Last<T>(valid);
        for (T& value : present) value = ValueOf<T>(random());
        const std::unique_ptr<uint8_t[]> bits = BitsOf(rows);
        if (count % 8 != 0)
          bits[count / 8] |= static_cast<uint8_t>(0xff << (count % 8));  // bits after the last row

        const auto out = room.Last<T>(count);
        std::fill_n(out.data(), count, ValueOf<T>(1));
        SpreadValues(LaneOf<T>(), present.data(), bits.get(), count, out.data());
        size_t next = 0;
        for (size_t i = 0; i < count; ++i) {
          const T expected = rows[i] ? present[next++] : T{};
          ASSERT_TRUE(out[i] == expected) << "row " << i << " of " << count;
        }
      }
    }
  });
}

TYPED_TEST(SpreadValuesTest, PackingIsTheOtherWay) {
  using T = TypeParam;
  std::mt19937_64 random(4);
  GuardedBytes room(1000 * sizeof(T)), room_of_present(1000 * sizeof(T));
  WithEachTarget([&] {
    for (const uint64_t percent : {0, 10, 50, 90, 100}) {
      for (size_t count : {0, 1, 7, 63, 64, 65, 127, 128, 200, 1000}) {
        const size_t first = random() % 20;
        const std::vector<bool> rows =
            RandomRows(random, first + count, percent, random() % 2 == 0 ? 1 : 100);
        const auto values = room.Last<T>(count);
        for (T& value : values) value = ValueOf<T>(random());
        const auto present = room_of_present.Last<T>(count);
        const size_t packed = PackValues(LaneOf<T>(), values.data(), BitsOf(rows).get(), first,
                                         count, present.data());
        size_t next = 0;
        for (size_t i = 0; i < count; ++i) {
          if (!rows[first + i]) continue;
          ASSERT_LT(next, packed);
          ASSERT_TRUE(present[next++] == values[i]) << "row " << i << " of " << count;
        }
        ASSERT_EQ(next, packed);
      }
    }
  });
}

}  // namespace cfile::encodings::validity_test
