// Kernels only change the speed of an encoding. These tests check that bytes and values are the
// same on every processor, and wherever the values lie in memory.
#include <gtest/gtest.h>

#include <random>

#include "blocks.h"
#include "encodings/core/packed_strings.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/parquet/delta_byte_array.h"
#include "encodings/parquet/delta_length_byte_array.h"
#include "encodings/parquet/parquet_dictionary.h"
#include "encodings/parquet/parquet_plain.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::kernels_test {

class EveryTarget : public testing::TestWithParam<Pair> {};
INSTANTIATE_TEST_SUITE_P(Registry, EveryTarget, testing::ValuesIn(AllPairs()), PairName);

TEST_P(EveryTarget, EncodesAndDecodesAlike) {
  const Pair pair = GetParam();
  VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    const uint32_t length = pair.type == PhysicalType::kFixedBytes ? 12 : 0;
    Decoders<T> decoders(pair.type, length);
    auto out = std::make_unique<T[]>(kMaxBatchValues);
    for (const Shape shape : kShapes) {
      const auto column = MakeColumn<T>(shape, 2500, length, 21);
      std::vector<Block> expected;
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
      WithEachTarget([&] {
        const auto blocks = Encode<T>(pair, column.span(), {.type_length = length});
        if (expected.empty()) expected = blocks;
        ASSERT_TRUE(blocks == expected);
        std::span<const T> values = column.span();
        for (const Block& block : blocks) {
          BlockDecoder<T>& decoder = decoders.For(block);
          ASSERT_TRUE(decoder.Open(block.view()).ok());
          for (size_t done = 0; done < block.count;) {
            const auto n = decoder.Read({out.get(), kMaxBatchValues});
            ASSERT_TRUE(n.ok() && *n > 0) << n.status();
            ASSERT_TRUE(SameValues<T>({out.get(), *n}, values.subspan(done, *n)));
            done += *n;
          }
          if constexpr (kIsBytes<T>) {
            PackedStrings packed;
            ASSERT_TRUE(decoder.SeekTo(0).ok());
            while (decoder.position() < block.count)
              ASSERT_GT(decoder.ReadPacked(kMaxBatchValues, packed).value(), 0u);
            for (size_t i = 0; i < block.count; ++i) ASSERT_EQ(packed[i], values[i]);
          }
          values = values.subspan(block.count);
        }
      });
      if (HasFatalFailure()) return;
    }
  });
}

TEST(UnpackIndexes, AsPackedOnEveryTarget) {
  std::mt19937_64 random(23);
  WithEachTarget([&] {
    for (int width = 0; width <= 32; ++width) {
      for (int round = 0; round < 100; ++round) {
        std::vector<uint32_t> values(8 * (1 + random() % 150));
        for (uint32_t& value : values) value = static_cast<uint32_t>(random() & LowBits(width));
        ByteWriter packed;
        PackBits(std::span<const uint32_t>(values), width, packed);
        // The bytes are in a buffer of their exact size, so that AddressSanitizer detects reads
        // past its end.
        const std::vector<uint8_t> bytes(packed.span().begin(), packed.span().end());
        const size_t first = round % 2 == 0 ? random() % values.size() : 0;
        const size_t count = std::min<size_t>(1024, values.size() - first);
        std::vector<uint32_t> out(count);
        const uint32_t largest = UnpackIndexes(bytes, width, first, out.data(), count);
        const std::vector<uint32_t> expected(
            values.begin() + static_cast<ptrdiff_t>(first),
            values.begin() + static_cast<ptrdiff_t>(first + count));
        ASSERT_EQ(out, expected) << "width " << width;
        ASSERT_EQ(largest, *std::max_element(out.begin(), out.end())) << "width " << width;
      }
    }
  });
}

// An encoder may copy and compare adjacent values together with their neighbours. It must not do so
// with scattered values, each in a buffer of its exact size.
TEST(ByteArrays, EncodeAlikeWhereverTheyLie) {
  const auto encoders = [] {
    std::vector<std::unique_ptr<PageEncoder<std::string_view>>> made;
    made.push_back(ParquetPlainCodec::MakePageEncoder<std::string_view>());
    made.push_back(DeltaLengthByteArrayCodec::MakePageEncoder<std::string_view>());
    made.push_back(DeltaByteArrayCodec::MakePageEncoder<std::string_view>());
    made.push_back(ParquetDictionaryCodec::MakePageEncoder<std::string_view>());
    return made;
  };
  for (const Shape shape : kShapes) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape));
    const auto column = MakeColumn<std::string_view>(shape, 1500, 0, 22);
    std::string text;
    std::vector<std::vector<char>> copies;
    for (const std::string_view value : column.span()) {
      text += value;
      copies.emplace_back(value.begin(), value.end());
    }
    std::vector<std::string_view> together, scattered, half;
    size_t begin = 0;
    for (size_t i = 0; i < copies.size(); ++i) {
      together.push_back(std::string_view(text).substr(begin, copies[i].size()));
      scattered.emplace_back(copies[i].data(), copies[i].size());
      half.push_back(i % 7 < 5 ? together.back() : scattered.back());
      begin += copies[i].size();
    }
    EncodedBlock expected, found;
    for (const auto* values : {&scattered, &half}) {
      const auto first = encoders();
      const auto second = encoders();
      for (size_t i = 0; i < first.size(); ++i) {
        expected.Clear();
        found.Clear();
        first[i]->Encode(together, expected);
        second[i]->Encode(*values, found);
        ASSERT_EQ(found.bytes.view(), expected.bytes.view()) << "encoder " << i;
        ASSERT_EQ(found.skip_table.view(), expected.skip_table.view()) << "encoder " << i;
      }
    }
  }
}

}  // namespace cfile::encodings::kernels_test
