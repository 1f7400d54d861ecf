#include "encodings/kernels/group_varint.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::group_varint_test {

using Bytes = std::vector<uint8_t>;

Bytes BytesOf(const ByteWriter& out) { return {out.span().begin(), out.span().end()}; }

// Returns random values of all byte lengths.
template <typename T>
std::vector<T> RandomValues(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random() >> (random() % 64));
  return values;
}

// Form32 and Form64 give the 32-bit and the 64-bit functions the same interface, so that the same
// tests check both.
struct Form32 {
  using T = uint32_t;
  static constexpr size_t kValues = kGroupVarint32Values;
  static void Put(std::span<const T> values, ByteWriter& out) { PutGroupVarint32(values, out); }
  static bool Read(ByteReader& reader, size_t groups, T* out) {
    return ReadGroupVarint32(reader, groups, out);
  }
  static bool Skip(ByteReader& reader, size_t groups) { return SkipGroupVarint32(reader, groups); }
};
struct Form64 {
  using T = uint64_t;
  static constexpr size_t kValues = kGroupVarint64Values;
  static void Put(std::span<const T> values, ByteWriter& out) { PutGroupVarint64(values, out); }
  static bool Read(ByteReader& reader, size_t groups, T* out) {
    return ReadGroupVarint64(reader, groups, out);
  }
  static bool Skip(ByteReader& reader, size_t groups) { return SkipGroupVarint64(reader, groups); }
};

TEST(GroupVarintTest, TheDocumentsGroup) {
  // 0b00101101: lengths 1, 3, 4, 2; 11 bytes in total.
  ByteWriter out;
  PutGroupVarint32(std::vector<uint32_t>{0xff, 0x030201, 0x07060504, 0x0908}, out);
  EXPECT_EQ(BytesOf(out), (Bytes{0b00101101, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(GroupVarintTest, LastGroupIsFilledWithZeros) {
  ByteWriter out;
  PutGroupVarint32(std::vector<uint32_t>{1, 2, 3, 4, 5}, out);
  EXPECT_EQ(BytesOf(out), (Bytes{0, 1, 2, 3, 4, 0, 5, 0, 0, 0}));
}

TEST(GroupVarintTest, SelectorOf64Bits) {
  // Lengths 1, 2, 8, 3, 1: 000 001 111 010 000, little-endian.
  ByteWriter out;
  PutGroupVarint64(std::vector<uint64_t>{1, 0x0203, 0x0b0a090807060504, 0x0e0d0c, 15}, out);
  EXPECT_EQ(BytesOf(out),
            (Bytes{0b11010000, 0b00000011, 1, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST(GroupVarintTest, UnusedSelectorBitIsIgnored) {
  const Bytes bytes = {0, 0x80, 1, 2, 3, 4, 5};
  ByteReader reader(bytes);
  uint64_t values[5];
  ASSERT_TRUE(ReadGroupVarint64(reader, 1, values));
  EXPECT_EQ(std::vector<uint64_t>(values, values + 5), (std::vector<uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(reader.empty());
}

template <typename Form>
class GroupVarintTypedTest : public testing::Test {};
using Forms = testing::Types<Form32, Form64>;
TYPED_TEST_SUITE(GroupVarintTypedTest, Forms);

TYPED_TEST(GroupVarintTypedTest, AllTargetsReadWhatWasPut) {
  using T = typename TypeParam::T;
  WithEachTarget([&] {
    for (size_t groups = 0; groups <= 200; ++groups) {
      const std::vector<T> values = RandomValues<T>(groups * TypeParam::kValues, groups);
      ByteWriter out;
      TypeParam::Put(values, out);
      const std::unique_ptr<uint8_t[]> bytes(new uint8_t[out.size()]);
      std::copy(out.span().begin(), out.span().end(), bytes.get());

      ByteReader reader({bytes.get(), out.size()});
      const std::unique_ptr<T[]> read(new T[values.size()]);
      ASSERT_TRUE(TypeParam::Read(reader, groups, read.get()));
      EXPECT_TRUE(reader.empty());
      ASSERT_TRUE(std::equal(values.begin(), values.end(), read.get()));
    }
  });
}

// Returns the values of `groups` groups. They form runs of 1 to 40 groups that have the same
// selector. The selectors are random.
template <typename Form>
std::vector<typename Form::T> RepeatedSelectors(size_t groups, uint64_t seed) {
  using T = typename Form::T;
  std::mt19937_64 random(seed);
  std::vector<T> values;
  while (values.size() < groups * Form::kValues) {
    T longest[Form::kValues];
    for (T& value : longest) value = static_cast<T>(~uint64_t{0}) >> 8 * (random() % sizeof(T));
    for (size_t run = 1 + random() % 40; run > 0; --run) {
      // The most significant byte of each value is not 0, so the value has as many bytes as in the
      // other groups of the run.
      for (const T value : longest)
        values.push_back(static_cast<T>(random() & value) | (value ^ value >> 1));
    }
  }
  values.resize(groups * Form::kValues);
  return values;
}

TYPED_TEST(GroupVarintTypedTest, AllTargetsReadRepeatedSelectors) {
  using T = typename TypeParam::T;
  WithEachTarget([&] {
    for (size_t groups = 0; groups <= 200; ++groups) {
      const std::vector<T> values = RepeatedSelectors<TypeParam>(groups, groups);
      ByteWriter out;
      TypeParam::Put(values, out);
      // The buffers have exactly the needed sizes, so that AddressSanitizer finds reads and writes
      // outside of them.
      for (const size_t missing : {size_t{0}, std::min<size_t>(out.size(), 1 + groups % 20)}) {
        const size_t size = out.size() - missing;
        const std::unique_ptr<uint8_t[]> bytes(new uint8_t[size]);
        std::copy(out.data(), out.data() + size, bytes.get());
        ByteReader reader({bytes.get(), size});
        const std::unique_ptr<T[]> read(new T[values.size()]);
        const bool whole = TypeParam::Read(reader, groups, read.get());
        ASSERT_EQ(whole, missing == 0);
        EXPECT_EQ(reader.remaining(), whole ? 0 : size);
        ASSERT_TRUE(!whole || std::equal(values.begin(), values.end(), read.get()));
      }
    }
  });
}

TYPED_TEST(GroupVarintTypedTest, EachTargetPutsTheSameBytes) {
  using T = typename TypeParam::T;
  for (size_t count = 0; count <= 100; ++count) {
    const std::vector<T> values = RandomValues<T>(count, count);
    Bytes expected;
    WithEachTarget([&] {
      ByteWriter out;
      out.PutFixed(uint8_t{1});
      TypeParam::Put(values, out);
      if (expected.empty()) expected = BytesOf(out);
      ASSERT_EQ(BytesOf(out), expected);
    });
  }
}

TYPED_TEST(GroupVarintTypedTest, EveryPrefixIsRefusedAndConsumesNothing) {
  using T = typename TypeParam::T;
  const std::vector<T> values = RandomValues<T>(8 * TypeParam::kValues, 7);
  ByteWriter out;
  TypeParam::Put(values, out);
  for (size_t size = 0; size < out.size(); ++size) {
    const std::unique_ptr<uint8_t[]> bytes(new uint8_t[size]);
    std::copy(out.data(), out.data() + size, bytes.get());
    ByteReader reader({bytes.get(), size});
    std::vector<T> read(values.size());
    EXPECT_FALSE(TypeParam::Read(reader, 8, read.data()));
    EXPECT_FALSE(TypeParam::Skip(reader, 8));
    EXPECT_EQ(reader.remaining(), size);
  }
}

TYPED_TEST(GroupVarintTypedTest, SkipEndsWhereReadEnds) {
  using T = typename TypeParam::T;
  const std::vector<T> values = RandomValues<T>(20 * TypeParam::kValues, 8);
  ByteWriter out;
  TypeParam::Put(values, out);
  for (size_t groups = 0; groups <= 20; ++groups) {
    ByteReader reading(out.span());
    ByteReader skipping(out.span());
    std::vector<T> read(values.size());
    ASSERT_TRUE(TypeParam::Read(reading, groups, read.data()));
    ASSERT_TRUE(TypeParam::Skip(skipping, groups));
    EXPECT_EQ(reading.offset(), skipping.offset());
  }
}

}  // namespace cfile::encodings::group_varint_test
