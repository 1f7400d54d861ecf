#include "encodings/kernels/bit_packing.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::bit_packing_test {

using Bytes = std::vector<uint8_t>;

// Bytes in a heap block of their exact size, so that AddressSanitizer detects any read outside of
// the block.
struct Exact {
  explicit Exact(std::span<const uint8_t> bytes) : size(bytes.size()), data(new uint8_t[size]) {
    std::copy(bytes.begin(), bytes.end(), data.get());
  }
  std::span<const uint8_t> span() const { return {data.get(), size}; }

  size_t size;
  std::unique_ptr<uint8_t[]> data;
};

// Packs bit by bit, as the format document describes.
template <typename T>
Bytes PackNaively(const std::vector<T>& values, int width) {
  Bytes bytes(PackedBytes(values.size(), width));
  for (uint64_t i = 0; i < values.size() * static_cast<uint64_t>(width); ++i) {
    const uint64_t value = values[i / static_cast<uint64_t>(width)];
    if ((value >> (i % static_cast<uint64_t>(width)) & 1) != 0)
      bytes[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
  }
  return bytes;
}

TEST(BitPackingTest, ZeroToSevenInThreeBits) {  // the example of Parquet's document
  const std::vector<uint32_t> values = {0, 1, 2, 3, 4, 5, 6, 7};
  ByteWriter out;
  PackBits<uint32_t>(values, 3, out);
  EXPECT_EQ(Bytes(out.span().begin(), out.span().end()),
            (Bytes{0b10001000, 0b11000110, 0b11111010}));
}

template <typename T>
class BitPackingTypedTest : public testing::Test {};
using Types = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(BitPackingTypedTest, Types);

TYPED_TEST(BitPackingTypedTest, EveryWidthCountAndStart) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (int width = 0; width <= static_cast<int>(8 * sizeof(T)); ++width) {
    for (size_t size = 0; size <= 70; ++size) {
      std::vector<T> values(size);
      for (T& value : values) value = static_cast<T>(random() & LowBits(width));
      ByteWriter out;
      out.PutFixed(uint8_t{0x5a});  // must not change
      PackBits<T>(values, width, out);
      EXPECT_EQ(out.data()[0], 0x5a);
      const Exact packed(out.span().subspan(1));
      ASSERT_EQ(Bytes(packed.span().begin(), packed.span().end()), PackNaively(values, width));

      for (const size_t first : {size_t{0}, size / 3, size / 2, size}) {
        for (const size_t count : {size_t{0}, (size - first) / 2, size - first}) {
          const std::unique_ptr<T[]> unpacked(new T[count]);
          UnpackBits<T>(packed.span(), width, first, unpacked.get(), count);
          ASSERT_TRUE(std::equal(unpacked.get(), unpacked.get() + count,
                                 values.begin() + static_cast<ptrdiff_t>(first)))
              << "width " << width << " first " << first << " count " << count << " of " << size;
        }
      }
      for (size_t i = 0; i < size; ++i) ASSERT_EQ(UnpackOne(packed.span(), width, i), values[i]);
    }
  }
}

TYPED_TEST(BitPackingTypedTest, UnpacksAlikeOnEveryTarget) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (int width = 0; width <= static_cast<int>(8 * sizeof(T)); ++width) {
    for (const size_t size : {64, 65, 100, 127, 300}) {
      std::vector<T> values(size);
      for (T& value : values) value = static_cast<T>(random() & LowBits(width));
      const Exact packed(PackNaively(values, width));
      for (const size_t first : {size_t{0}, size_t{1}, size_t{16}}) {
        const auto begin = values.begin() + static_cast<ptrdiff_t>(first);
        WithEachTarget([&] {
          for (const size_t count : {size - first, size / 2}) {
            const std::unique_ptr<T[]> unpacked(new T[count]);
            UnpackBits<T>(packed.span(), width, first, unpacked.get(), count);
            ASSERT_TRUE(std::equal(unpacked.get(), unpacked.get() + count, begin))
                << "width " << width << " first " << first << " count " << count << " of " << size;
          }
        });
      }
    }
  }
}

TYPED_TEST(BitPackingTypedTest, PacksAlikeOnEveryTarget) {
  using T = TypeParam;
  WithEachTarget([] {
    std::mt19937_64 random(3);
    for (int width = 0; width <= static_cast<int>(8 * sizeof(T)); ++width) {
      for (const size_t size : {1, 8, 100, 256, 257, 600}) {
        std::vector<T> values(size);
        for (T& value : values) value = static_cast<T>(random() & LowBits(width));
        ByteWriter out;
        PackBits<T>(values, width, out);
        ASSERT_EQ(Bytes(out.span().begin(), out.span().end()), PackNaively(values, width))
            << "width " << width << ", " << size << " values";
      }
    }
  });
}

TEST(BitPackingTest, UnpackedValuesEndWhereTheBytesEnd) {
  // The group has only 3 of its 8 values: it ends at the last byte that these values need.
  const std::vector<uint64_t> values = {(uint64_t{1} << 61) - 1, 5, uint64_t{1} << 60};
  ByteWriter out;
  PackBits<uint64_t>(values, 61, out);
  EXPECT_EQ(out.size(), 23u);
  const Exact packed(out.span());
  uint64_t unpacked[3];
  UnpackBits<uint64_t>(packed.span(), 61, 0, unpacked, 3);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), unpacked));
}

TEST(BitPackingTest, LoadBits) {
  std::mt19937_64 random(2);
  Bytes bytes(20);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  const Exact packed(bytes);
  for (uint64_t first = 0; first < 160; ++first) {
    for (int count = 1; count <= kMaxBitsPerLoad && first + static_cast<uint64_t>(count) <= 160;
         ++count) {
      uint64_t expected = 0;
      for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
        expected |= static_cast<uint64_t>(bytes[(first + i) / 8] >> ((first + i) % 8) & 1) << i;
      }
      ASSERT_EQ(LoadBits(packed.span(), first, count), expected);
    }
  }
}

}  // namespace cfile::encodings::bit_packing_test
