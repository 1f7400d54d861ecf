// Tests tANS (kernels/ans.h) and the division of COMPACT (kernels/compact_kernels.h).
#include "encodings/kernels/ans.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "encodings/kernels/compact_kernels.h"

namespace cfile::encodings::ans_test {

// Returns `symbols` weights that add up to 2^log.
std::vector<uint16_t> RandomWeights(size_t symbols, int log, std::mt19937_64& random) {
  std::vector<uint16_t> weights(symbols, 1);
  for (size_t left = (size_t{1} << log) - symbols; left > 0;) {
    const size_t some = std::min<size_t>(left, 1 + random() % 97);
    weights[random() % std::min<size_t>(symbols, 5)] += static_cast<uint16_t>(some);
    left -= some;
  }
  return weights;
}

TEST(Ans, SymbolsComeBack) {
  std::mt19937_64 random(1);
  AnsDecoder decoder;
  for (int log = kMinAnsLog; log <= kMaxAnsLog; ++log) {
    for (const size_t symbols : {1, 2, 7, 16, 100, 256}) {
      if (symbols > size_t{1} << log) continue;
      const std::vector<uint16_t> weights = RandomWeights(symbols, log, random);
      const std::vector<uint8_t> of_state = AnsSymbolsOfStates(weights, log);
      const AnsEncoder encoder(weights, log);
      decoder.Build(weights, log);
      for (const size_t count : {0, 1, 7, 8, 9, 100, 1023, 1024}) {
        // A random state gives a random symbol. Symbols are as frequent as their weights say.
        std::vector<uint8_t> in(count);
        double bits = 0;
        for (uint8_t& symbol : in) {
          symbol = of_state[random() % of_state.size()];
          bits += log - std::log2(weights[symbol]);
        }
        ByteWriter stream;
        encoder.Encode(in.data(), count, stream);
        EXPECT_LE(stream.size(), kMaxAnsBytes);
        EXPECT_LE(static_cast<double>(stream.size() * 8), bits * 1.02 + 9 * log + 16);
        std::vector<uint8_t> out(count);
        ASSERT_TRUE(decoder.Decode(stream.span(), out.data(), count));
        ASSERT_EQ(out, in);
        // A stream of another length is not the stream of these symbols.
        EXPECT_FALSE(decoder.Decode(stream.span().first(stream.size() - 1), out.data(), count));
        stream.PutFixed(uint8_t{0});
        EXPECT_FALSE(decoder.Decode(stream.span(), out.data(), count));
      }
    }
  }
}

TEST(Ans, RandomStreamsHaveOnlyKnownSymbols) {
  std::mt19937_64 random(2);
  AnsDecoder decoder;
  decoder.Build(RandomWeights(5, 12, random), 12);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint8_t> stream(random() % (kMaxAnsBytes + 5));
    for (uint8_t& byte : stream) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> out(kVectorValues);
    EXPECT_FALSE(decoder.Decode(stream, out.data(), out.size()));
    if (stream.size() > kMaxAnsBytes) continue;
    for (const uint8_t symbol : out) ASSERT_LT(symbol, 5);
  }
}

// DivideIntegers gives the same quotients as the division of floats, to the last bit.
template <typename T>
void Divide(int powers) {
  std::mt19937_64 random(4);
  T divisor = 1;
  for (int power = 0; power <= powers; ++power, divisor *= 10) {
    for (int round = 0; round < 20; ++round) {
      std::vector<FloatBits<T>> integers(1000 + random() % 9);
      for (auto& integer : integers)
        integer = static_cast<FloatBits<T>>(static_cast<FloatInteger<T>>(random()) >>
                                            random() % (8 * sizeof(T)));
      std::vector<T> out(integers.size());
      DivideIntegers<T>(integers.data(), divisor, out.data(), out.size());
      for (size_t i = 0; i < out.size(); ++i) {
        const T expected = static_cast<T>(static_cast<FloatInteger<T>>(integers[i])) / divisor;
        ASSERT_EQ(std::bit_cast<FloatBits<T>>(out[i]), std::bit_cast<FloatBits<T>>(expected))
            << static_cast<FloatInteger<T>>(integers[i]) << " / " << divisor;
      }
    }
  }
}
TEST(CompactKernels, DivideAsTheProcessorDoes) {
  Divide<float>(10);
  Divide<double>(22);
}

}  // namespace cfile::encodings::ans_test
