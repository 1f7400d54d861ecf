// Kernels give the same results on every instruction set of this machine. All encodings run with
// all instruction sets; the kernels of byte_streams.h and bool_bits.h are also compared with a
// plain loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "blocks.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/kernels/byte_streams.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings {
namespace {

class EncodingTargets : public testing::TestWithParam<Pair> {};
INSTANTIATE_TEST_SUITE_P(Registry, EncodingTargets, testing::ValuesIn(AllPairs()), PairName);

TEST_P(EncodingTargets, SameBytesSameValues) {
  const Pair pair = GetParam();
  VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    for (const Shape shape : kShapes) {
      for (const size_t size : {3, 70, 2500}) {
        SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", " << size);
        const uint32_t type_length = pair.type == PhysicalType::kFixedBytes ? 4 << size % 3 : 0;
        const auto column = MakeColumn<T>(shape, size, type_length, size);
        const std::span<const T> values = column.span();
        const EncoderOptions options{.block_size_bytes = 20'000, .type_length = type_length};
        std::vector<Block> first;
        WithEachTarget([&] {
          const std::vector<Block> blocks = Encode<T>(pair, values, options);
          if (first.empty()) first = blocks;
          ASSERT_TRUE(blocks == first) << "other bytes than the first target's";
          Decoders<T> decoders(pair.type, type_length);
          const auto out = std::make_unique<T[]>(size);
          for (const Block& block : blocks) {
            BlockDecoder<T>& decoder = decoders.For(block);
            ASSERT_TRUE(decoder.Open(block.view()).ok());
            for (const uint32_t begin : {0u, 1u, 13u, 1030u}) {
              if (begin > block.count) continue;
              ASSERT_TRUE(decoder.SeekTo(begin).ok());
              for (uint32_t at = begin; at < block.count;) {
                const size_t read = decoder.Read({out.get(), size}).value();
                ASSERT_GT(read, 0u);
                ASSERT_TRUE(SameValues<T>({out.get(), read},
                                          values.subspan(block.first_ordinal + at, read)));
                at += static_cast<uint32_t>(read);
              }
            }
          }
        });
        if (HasFatalFailure()) return;
      }
    }
  });
}

TEST(Targets, TestsRunWithTheOldestOnes) {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  const auto runs = [&](int64_t target) {
    return std::find(targets.begin(), targets.end(), target) != targets.end();
  };
  if (HWY_ARCH_X86) {
    EXPECT_TRUE(runs(HWY_SCALAR) || runs(HWY_EMU128));
    EXPECT_TRUE(runs(HWY_SSSE3));
  }
  if (HWY_ARCH_ARM_A64) {
    EXPECT_TRUE(runs(HWY_NEON));
  }
}

TEST(ByteStreamsTargets, AsThePlainLoop) {
  std::mt19937_64 random(1);
  WithEachTarget([&] {
    for (const size_t width : {1, 2, 3, 4, 5, 8, 12, 16, 17}) {
      for (const size_t count : {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 100, 300, 1000}) {
        SCOPED_TRACE(testing::Message() << count << " values of " << width << " bytes");
        const size_t stride = width == 1 ? count : count + random() % 3;
        std::vector<uint8_t> values(count * width);
        for (uint8_t& byte : values) byte = static_cast<uint8_t>(random());
        // Bytes between the streams must not change.
        std::vector<uint8_t> expected(width * stride, 0xee);
        for (size_t i = 0; i < values.size(); ++i)
          expected[i % width * stride + i / width] = values[i];
        std::vector<uint8_t> streams(expected.size(), 0xee);
        SplitByteStreams(values.data(), count, width, streams.data(), stride);
        ASSERT_EQ(streams, expected);
        std::vector<uint8_t> joined(values.size() + 1, 0xee);
        JoinByteStreams(streams.data(), stride, count, width, joined.data());
        ASSERT_EQ(joined.back(), 0xee);
        joined.pop_back();
        ASSERT_EQ(joined, values);
      }
    }
  });
}

TEST(BoolBitsTargets, AsThePlainLoop) {
  std::mt19937_64 random(2);
  WithEachTarget([&] {
    for (size_t count = 0; count < 400; ++count) {
      const std::unique_ptr<bool[]> values(new bool[count]);
      for (size_t i = 0; i < count; ++i) values[i] = random() % 2 != 0;
      std::vector<uint8_t> expected(BitmapBytes(count));
      for (size_t i = 0; i < count; ++i)
        expected[i / 8] = static_cast<uint8_t>(expected[i / 8] | values[i] << i % 8);
      ByteWriter bits;
      PackBools({values.get(), count}, bits.Extend(BitmapBytes(count)));
      ASSERT_EQ(std::vector<uint8_t>(bits.span().begin(), bits.span().end()), expected);
      const size_t begin = random() % (count + 1);
      const std::unique_ptr<bool[]> out(new bool[count - begin]);
      UnpackBools(expected, begin, out.get(), count - begin);
      ASSERT_TRUE(std::equal(values.get() + begin, values.get() + count, out.get()))
          << "from " << begin << " of " << count;
    }
  });
}

}  // namespace
}  // namespace cfile::encodings
