// The encoder. (The decoder: alp_decoder.cc.)
#include "encodings/parquet/alp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/alp_kernel.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {
namespace {

constexpr int kLogSize = 10;
constexpr size_t kVectorSize = size_t{1} << kLogSize;

// To choose the pairs of exponent and factor for a page, the encoder tries every pair on some
// values of some vectors, and keeps the pairs that were most often the best. For each vector it
// then tries the kept pairs on some of the vector's values and uses the best one.
constexpr size_t kSampledVectors = 8;
constexpr size_t kSamples = 256;  // values taken from a vector
constexpr size_t kKeptPairs = 5;

template <typename T>
constexpr size_t kExceptionBits = 8 * (sizeof(T) + sizeof(uint16_t));

// The width in bits of the packed integers of a fit.
template <typename T>
int WidthOf(const AlpFit<T>& fit) {
  using Integer = typename AlpTraits<T>::Integer;
  using Unsigned = typename AlpTraits<T>::Unsigned;
  if (fit.smallest > fit.largest) return 0;
  return static_cast<int>(
      std::bit_width(static_cast<Unsigned>(static_cast<Integer>(fit.largest)) -
                     static_cast<Unsigned>(static_cast<Integer>(fit.smallest))));
}

template <typename T>
size_t BitsOf(const AlpFit<T>& fit, size_t count) {
  return count * static_cast<size_t>(WidthOf(fit)) + fit.exceptions * kExceptionBits<T>;
}

template <typename T>
class AlpEncoder final : public PageEncoder<T> {
 public:
  void Encode(std::span<const T> values, EncodedBlock& block) override {
    // The page's count is an int32. Its offsets are uint32: even if all values are exceptions, a
    // large page takes at most 7/4 of the values' bytes, which is less than 2^32.
    CFILE_ASSERT(values.size_bytes() <= INT32_MAX);
    const size_t begin = block.bytes.size();
    const bool searched = pairs_.empty();
    if (searched) FindPairs(values);
    PutPage(values, block.bytes);
    const auto bits_of_value = [&] {
      return 8 * (block.bytes.size() - begin) / std::max<size_t>(values.size(), 1);
    };
    // The pairs of an earlier page might not fit this one.
    if (!searched && bits_of_value() > bits_of_value_ + 1 + bits_of_value_ / 16) {
      FindPairs(values);
      block.bytes.Truncate(begin);
      PutPage(values, block.bytes);
    }
    bits_of_value_ = bits_of_value();
    if (values.empty()) pairs_.clear();
  }

 private:
  using Traits = AlpTraits<T>;
  using Integer = typename Traits::Integer;
  using Unsigned = typename Traits::Unsigned;

  void PutPage(std::span<const T> values, ByteWriter& out) {
    out.PutFixed<uint8_t>(0);
    out.PutFixed<uint8_t>(0);
    out.PutFixed<uint8_t>(kLogSize);
    out.PutFixed(static_cast<uint32_t>(values.size()));
    const size_t offsets = out.size();
    const size_t num_vectors = (values.size() + kVectorSize - 1) / kVectorSize;
    out.PutZeros(num_vectors * sizeof(uint32_t));
    for (size_t i = 0; i < num_vectors; ++i) {
      StoreLittleEndian(static_cast<uint32_t>(out.size() - offsets),
                        out.data() + offsets + i * sizeof(uint32_t));
      PutVector(
          values.subspan(i * kVectorSize, std::min(kVectorSize, values.size() - i * kVectorSize)),
          out);
    }
  }

  // Returns some values of a vector, evenly spread; all of them if the vector is short.
  static std::span<const T> Sample(std::span<const T> vector, T (&samples)[kSamples]) {
    if (vector.size() <= kSamples) return vector;
    for (size_t i = 0; i < kSamples; ++i) samples[i] = vector[i * vector.size() / kSamples];
    return samples;
  }

  // Returns the pair that needs the fewest bits for the samples. Stops trying a pair as soon as its
  // exceptions alone are worse than the best pair: most pairs fit no value.
  static AlpPair BestPair(std::span<const T> samples) {
    AlpPair best;
    size_t best_bits = SIZE_MAX;
    // Among equally good pairs, the one with the largest exponent and factor is chosen: it also
    // fits values with more digits than the samples have.
    for (int e = Traits::kMaxExponent; e >= 0; --e) {
      for (int f = e; f >= 0; --f) {
        const AlpPair pair = {static_cast<uint8_t>(e), static_cast<uint8_t>(f)};
        bool hopeless = false;
        for (size_t front = 16; front < samples.size() && !hopeless; front *= 4)
          hopeless = AlpTry(samples.first(front), pair).exceptions * kExceptionBits<T> >= best_bits;
        if (hopeless) continue;
        const size_t bits = BitsOf(AlpTry(samples, pair), samples.size());
        if (bits < best_bits) {
          best_bits = bits;
          best = pair;
        }
      }
    }
    return best;
  }

  void FindPairs(std::span<const T> values) {
    struct Winner {
      AlpPair pair;
      size_t wins;
    };
    std::vector<Winner> winners;
    const size_t num_vectors = (values.size() + kVectorSize - 1) / kVectorSize;
    const size_t sampled = std::min(num_vectors, kSampledVectors);
    for (size_t i = 0; i < sampled; ++i) {
      const size_t first = i * num_vectors / sampled * kVectorSize;
      T samples[kSamples];
      const AlpPair best = BestPair(
          Sample(values.subspan(first, std::min(kVectorSize, values.size() - first)), samples));
      const auto same = [&](const Winner& winner) { return winner.pair == best; };
      const auto found = std::find_if(winners.begin(), winners.end(), same);
      if (found == winners.end()) {
        winners.push_back({best, 1});
      } else {
        ++found->wins;
      }
    }
    std::stable_sort(winners.begin(), winners.end(),
                     [](const Winner& a, const Winner& b) { return a.wins > b.wins; });
    pairs_.clear();
    for (const Winner& winner : winners) {
      if (pairs_.size() < kKeptPairs) pairs_.push_back(winner.pair);
    }
  }

  AlpPair ChoosePair(std::span<const T> values) const {
    if (pairs_.size() == 1) return pairs_.front();
    T memory[kSamples];
    const std::span<const T> samples = Sample(values, memory);
    size_t best_bits = SIZE_MAX;
    AlpPair best;
    for (const AlpPair pair : pairs_) {
      const size_t bits = BitsOf(AlpTry(samples, pair), samples.size());
      if (bits < best_bits) {
        best_bits = bits;
        best = pair;
      }
    }
    return best;
  }

  void PutVector(std::span<const T> values, ByteWriter& out) {
    const AlpPair pair = ChoosePair(values);
    AlpFit<T> fit = AlpEncode(values, pair, integers_.data(), positions_.data());
    int width = WidthOf(fit);
    Unsigned frame = 0;
    if (BitsOf(fit, values.size()) >= values.size() * kExceptionBits<T>) {
      // Storing the integers would cost more than it saves: store all values as exceptions.
      width = 0;
      fit.exceptions = values.size();
      for (size_t i = 0; i < values.size(); ++i) positions_[i] = static_cast<uint16_t>(i);
    } else if (fit.smallest <= fit.largest) {
      frame = static_cast<Unsigned>(static_cast<Integer>(fit.smallest));
    }
    out.PutFixed(pair.exponent);
    out.PutFixed(pair.factor);
    out.PutFixed(static_cast<uint16_t>(fit.exceptions));
    out.PutFixed(frame);
    out.PutFixed(static_cast<uint8_t>(width));
    if (width > 0) {
      for (size_t i = 0; i < values.size(); ++i)
        deltas_[i] = static_cast<Unsigned>(integers_[i]) - frame;
      for (size_t i = 0; i < fit.exceptions; ++i) deltas_[positions_[i]] = 0;
      PackBits(std::span<const Unsigned>(deltas_.data(), values.size()), width, out);
    }
    for (size_t i = 0; i < fit.exceptions; ++i) out.PutFixed(positions_[i]);
    for (size_t i = 0; i < fit.exceptions; ++i)
      out.PutFixed(std::bit_cast<Unsigned>(values[positions_[i]]));
  }

  std::vector<AlpPair> pairs_;  // candidates; empty: not searched yet
  size_t bits_of_value_ = 0;    // bits per value of the previous page
  std::array<Integer, kVectorSize> integers_;
  std::array<Unsigned, kVectorSize> deltas_;
  std::array<uint16_t, kVectorSize> positions_;
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> AlpCodec::MakePageEncoder(const EncoderOptions& /*options*/) {
  return std::make_unique<AlpEncoder<P>>();
}

CFILE_INSTANTIATE_PAGE_ENCODER(AlpCodec, float)
CFILE_INSTANTIATE_PAGE_ENCODER(AlpCodec, double)

}  // namespace cfile::encodings
