// The encoder of COMPACT.
#include "encodings/own/compact.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "encodings/core/bytes.h"
#include "encodings/kernels/ans.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/compact_kernels.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/compact_bins.h"
#include "encodings/own/compact_layout.h"

namespace cfile::encodings {
namespace {

// Encodes one block after another, and keeps the memory of its buffers.
template <typename T>
class CompactWriter {
 public:
  using U = CompactNumber<T>;

  // Appends `values` to `out` as one block. Precondition: `values` has 1 to 2^32 - 1 values.
  void Write(std::span<const T> values, ByteWriter& out) {
    values_ = values;
    exceptions_.clear();
    form_ = {};
    MakeIntegers();
    ChooseNumbers();
    const CompactBins bins = Divide();
    const size_t begin = out.size();
    WriteBlock(bins, out);
    // The choice is based on estimates. If the block is larger than a block without a
    // transformation and codes can be, such a block is written instead.
    if (out.size() - begin <= PlainBytes()) return;
    out.Truncate(begin);
    exceptions_.clear();
    form_ = {};
    MakePlainIntegers();
    numbers_ = &levels_[0];
    origin_ = OriginOf(0);
    CompactBin all;
    for (const U number : *numbers_) all.Add(static_cast<U>(number - origin_));
    bin_of_.assign(values.size(), 0);
    WriteBlock({.bins = {all}, .bin_of = {0}}, out);
  }

 private:
  static constexpr U kHalf = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  static constexpr size_t kSample = 512;      // the size of a sample to choose a transformation
  static constexpr size_t kBinSample = 2048;  // the size of a sample to choose intervals
  static constexpr size_t kMostCounted = size_t{1} << 14;  // the most elements of counts_
  static constexpr size_t kBinBytes = sizeof(U) + 3;       // the bytes of a stored bin
  using Signed = std::make_signed_t<U>;

  size_t count() const { return values_.size(); }

  // Returns the number of bytes of a block without a transformation and with one bin that has all
  // numbers of the type.
  size_t PlainBytes() const {
    return kCompactHeadBytes + sizeof(U) + 1 +
           VectorsOf(static_cast<uint32_t>(count())) * sizeof(uint32_t) + count() * sizeof(U);
  }

  // Chooses decimals and multiples, and stores the values as integers in levels_[0].
  void MakeIntegers() {
    if constexpr (std::is_floating_point_v<T>) {
      if (!MakeDecimals()) return MakePlainIntegers();
    } else {
      MakePlainIntegers();
    }
    FindMultiples();
  }
  // Makes integers without decimals and multiples.
  void MakePlainIntegers() {
    levels_[0].resize(count());
    if constexpr (std::is_floating_point_v<T>) {
      FloatsToOrder<T>(values_.data(), levels_[0].data(), count());
    } else {
      std::memcpy(levels_[0].data(), values_.data(), values_.size_bytes());
    }
  }

  // Sets `integer` to the integer that gives exactly `value` when it is divided by `power`. Returns
  // false if there is no such integer.
  static bool ToInteger(T value, T power, U& integer) {
    // Above this limit, a float cannot represent all integers. Floats with so many digits would
    // nearly all count as decimals, without any advantage.
    constexpr T kLimit = sizeof(T) == 4 ? T{0x1p24} : T{0x1p53};
    const T scaled = value * power;
    if (!(std::abs(scaled) < kLimit)) return false;
    const auto rounded = static_cast<FloatInteger<T>>(std::nearbyint(scaled));
    integer = static_cast<U>(rounded);
    return std::bit_cast<U>(static_cast<T>(rounded) / power) == std::bit_cast<U>(value);
  }

  // Chooses the number of decimals, and sets levels_[0] to the integers of the values (ToInteger).
  // Adds the other values to exceptions_. Returns false if there would be many exceptions.
  bool MakeDecimals() {
    constexpr size_t kTried = 64;
    const size_t tried = std::min(count(), kTried);
    size_t most = 0;
    for (int power = 0; power <= std::min(kMaxDecimals<T>, 15) && most < tried; ++power) {
      size_t fit = 0;
      U integer;
      for (size_t i = 0; i < tried; ++i)
        fit += ToInteger(values_[i * count() / tried], PowerOfTen<T>(power), integer) ? 1 : 0;
      if (fit <= most) continue;
      most = fit;
      form_.power = power;
    }
    if (most * 16 < tried * 15) {
      form_.power = 0;
      return false;
    }
    const T power = PowerOfTen<T>(form_.power);
    levels_[0].resize(count());
    U before = 0;
    for (size_t i = 0; i < count(); ++i) {
      U integer;
      if (ToInteger(values_[i], power, integer)) {
        before = integer;
      } else {
        exceptions_.push_back(static_cast<uint32_t>(i));
      }
      levels_[0][i] = before;
    }
    if (exceptions_.size() > count() / 16) {
      exceptions_.clear();
      form_.power = 0;
      return false;
    }
    form_.decimals = true;
    return true;
  }

  // True if the integers in levels_[0] stand for signed integers.
  bool IsSigned() const {
    return form_.decimals || (std::is_signed_v<T> && !std::is_floating_point_v<T>);
  }
  // Returns the least of the integers in levels_[0].
  U LeastInteger() const {
    const U flip = IsSigned() ? kHalf : U{0};
    U least = std::numeric_limits<U>::max();
    for (const U integer : levels_[0]) least = std::min(least, static_cast<U>(integer ^ flip));
    return static_cast<U>(least ^ flip);
  }

  // Subtracts the least integer from all integers, and divides the results by their greatest common
  // divisor. Does nothing if the divisor is 1, or if all integers are equal.
  void FindMultiples() {
    const U least = LeastInteger();
    U divisor = 0;
    for (const U integer : levels_[0]) {
      const U distance = static_cast<U>(integer - least);
      if (divisor == 0 || distance % divisor != 0) divisor = std::gcd(divisor, distance);
      if (divisor == 1) return;
    }
    if (divisor == 0) return;
    for (U& integer : levels_[0])
      integer = static_cast<U>(static_cast<U>(integer - least) / divisor);
    form_.multiples = true;
    form_.factor = divisor;
    form_.addend = least;
  }

  // Returns the number to subtract from numbers of this order, so that the unsigned results have
  // the order of the numbers: not 0 if they stand for signed numbers.
  U OriginOf(int order) const {
    return order > 0 || (IsSigned() && !form_.multiples) ? kHalf : U{0};
  }

  // Sets levels_[order] to the differences between neighbours in levels_[order - 1].
  void MakeDifferences(size_t order) {
    const std::vector<U>& from = levels_[order - 1];
    std::vector<U>& to = levels_[order];
    to.resize(count());
    for (size_t i = 1; i < count(); ++i) to[i] = static_cast<U>(from[i] - from[i - 1]);
    to[0] = count() > 1 ? to[1] : U{0};
  }

  // Chooses the slope of a line. Sets line_ to the distances of the numbers from the line, and
  // line_begins_ to the value at which the line begins in each page. No distance is negative.
  // Precondition: there are at least two values.
  void MakeLine() {
    const std::vector<U>& from = levels_[0];
    const auto rise = static_cast<Signed>(static_cast<U>(from.back() - from.front()));
    const double slope =
        std::nearbyint(static_cast<double>(rise) / static_cast<double>(count() - 1));
    form_.slope = static_cast<U>(static_cast<int64_t>(slope));
    line_.resize(count());
    line_begins_.clear();
    for (size_t begin = 0; begin < count(); begin += kVectorValues) {
      const size_t end = std::min(count(), begin + kVectorValues);
      Signed least = 0;
      for (size_t i = begin; i < end; ++i) {
        line_[i] = static_cast<U>(from[i] - from[begin] - (i - begin) * form_.slope);
        least = std::min(least, static_cast<Signed>(line_[i]));
      }
      for (size_t i = begin; i < end; ++i)
        line_[i] = static_cast<U>(line_[i] - static_cast<U>(least));
      line_begins_.push_back(static_cast<U>(from[begin] + static_cast<U>(least)));
    }
  }

  // Returns at most `most` of the numbers, in ascending order, after subtracting `origin`.
  std::vector<uint64_t> Sample(const std::vector<U>& numbers, U origin, size_t most) const {
    std::vector<uint64_t> sample(std::min(most, count()));
    for (size_t i = 0; i < sample.size(); ++i)
      sample[i] = static_cast<U>(numbers[i * count() / sample.size()] - origin);
    std::sort(sample.begin(), sample.end());
    return sample;
  }

  // Estimates the cost of a sample of `numbers`. `sums`: the number of sums of each page.
  int64_t Estimate(const std::vector<U>& numbers, U origin, size_t sums) const {
    constexpr size_t kIntervals = 32;
    const std::vector<uint64_t> sample = Sample(numbers, origin, kSample);
    CompactHistogram histogram(sample, kIntervals);
    for (const uint64_t number : sample) histogram.Add(number);
    // The sample is only a part of the numbers, so only this part of the cost of a bin counts.
    const int64_t bin = static_cast<int64_t>(kBinBytes * 8 * sample.size() / count()) * kCostOfBit;
    constexpr int64_t kNoSlack = std::numeric_limits<int64_t>::max();
    // A page has kVectorValues numbers, and the sample is charged its share of the sums.
    return ChooseBins(histogram.intervals(), bin, kNoSlack).cost +
           static_cast<int64_t>(sums * 8 * sizeof(U) * sample.size() / kVectorValues) * kCostOfBit;
  }

  // Chooses the order or the line, and sets numbers_ and origin_.
  void ChooseNumbers() {
    numbers_ = &levels_[0];
    origin_ = OriginOf(0);
    int64_t least = Estimate(*numbers_, origin_, 0);
    if (count() < 8) return;
    const auto try_numbers = [&](const std::vector<U>& numbers, U origin, size_t sums) {
      const int64_t cost = Estimate(numbers, origin, sums);
      if (cost >= least) return false;
      least = cost;
      numbers_ = &numbers;
      origin_ = origin;
      return true;
    };
    for (int order = 1; order <= kMaxOrder; ++order) {
      MakeDifferences(static_cast<size_t>(order));
      if (try_numbers(levels_[static_cast<size_t>(order)], OriginOf(order),
                      static_cast<size_t>(order))) {
        form_.order = order;
      } else if (order > 1) {
        break;
      }
    }
    MakeLine();
    if (try_numbers(line_, 0, 1)) {
      form_.line = true;
      form_.order = 0;
    } else {
      form_.slope = 0;
    }
  }

  // Divides the numbers into bins, and sets bin_of_.
  CompactBins Divide() {
    // Up to 3 % more bytes are acceptable for bins that are decoded faster (ChooseBins).
    constexpr int64_t kSlack = 32;
    U least = std::numeric_limits<U>::max();
    U most = 0;
    for (const U number : *numbers_) {
      least = std::min(least, static_cast<U>(number - origin_));
      most = std::max(most, static_cast<U>(number - origin_));
    }
    const uint64_t range = uint64_t{most} - least;
    CompactHistogram histogram = range < CompactHistogram::kMostIntervals
                                     ? CompactHistogram(least, most)
                                     : CompactHistogram(Sample(*numbers_, origin_, kBinSample),
                                                        CompactHistogram::kMostIntervals);
    const auto choose = [&] {
      return ChooseBins(histogram.intervals(), int64_t{8} * kBinBytes * kCostOfBit, kSlack);
    };
    bin_of_.resize(count());
    const std::vector<U>& numbers = *numbers_;
    // If the numbers repeat, each different number is looked up once.
    if (range < std::min(std::max(count(), CompactHistogram::kMostIntervals), kMostCounted)) {
      const U first = static_cast<U>(origin_ + least);
      counts_.assign(static_cast<size_t>(range) + 1, 0);
      for (const U number : numbers) ++counts_[static_cast<U>(number - first)];
      bin_of_number_.assign(counts_.size(), 0);
      for (size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] > 0)
          bin_of_number_[i] = static_cast<uint8_t>(histogram.Add(uint64_t{least} + i, counts_[i]));
      }
      CompactBins bins = choose();
      for (uint8_t& bin : bin_of_number_) bin = bins.bin_of[bin];
      for (size_t i = 0; i < count(); ++i)
        bin_of_[i] = bin_of_number_[static_cast<U>(numbers[i] - first)];
      return bins;
    }
    for (size_t i = 0; i < count(); ++i)
      bin_of_[i] = static_cast<uint8_t>(histogram.Add(static_cast<U>(numbers[i] - origin_)));
    CompactBins bins = choose();
    for (uint8_t& bin : bin_of_) bin = bins.bin_of[bin];
    return bins;
  }

  // Appends a block to `out`. Uses the members that the other functions have set.
  void WriteBlock(const CompactBins& bins, ByteWriter& out) {
    CompactWeights weights;
    if (bins.bins.size() > 1) weights = ChooseWeights(bins.bins);
    const size_t begin = out.size();
    out.PutFixed(form_.flags());
    out.PutFixed(static_cast<uint8_t>(weights.log));
    out.PutFixed(static_cast<uint8_t>(bins.bins.size() - 1));
    out.PutFixed(static_cast<uint8_t>(form_.power));
    if (form_.line) out.PutFixed(form_.slope);
    if (form_.multiples) {
      out.PutFixed(form_.factor);
      out.PutFixed(form_.addend);
    }
    BinTable<U> table;
    bool same_width = true;
    for (size_t i = 0; i < bins.bins.size(); ++i) {
      const CompactBin& bin = bins.bins[i];
      table.lowers[i] = static_cast<U>(static_cast<U>(bin.least) + origin_);
      table.widths[i] = static_cast<uint8_t>(bin.width());
      same_width = same_width && table.widths[i] == table.widths[0];
      out.PutFixed(table.lowers[i]);
      out.PutFixed(table.widths[i]);
      if (bins.bins.size() > 1) out.PutFixed(weights.weights[i]);
    }
    std::optional<AnsEncoder> codes;
    if (bins.bins.size() > 1) codes.emplace(weights.weights, weights.log);
    const uint32_t pages = VectorsOf(static_cast<uint32_t>(count()));
    const size_t offsets = out.size();
    out.PutZeros(pages * sizeof(uint32_t));
    size_t exception = 0;
    for (uint32_t page = 0; page < pages; ++page) {
      StoreLittleEndian(static_cast<uint32_t>(out.size() - begin),
                        out.data() + offsets + page * sizeof(uint32_t));
      const size_t first = size_t{page} * kVectorValues;
      const size_t end = std::min(count(), first + kVectorValues);
      size_t exceptions = 0;
      while (exception + exceptions < exceptions_.size() &&
             exceptions_[exception + exceptions] < end) {
        ++exceptions;
      }
      PutSums(first, out);
      if (form_.decimals) out.PutFixed(static_cast<uint16_t>(exceptions));
      if (codes) {
        const size_t size_at = out.size();
        out.PutFixed(uint16_t{0});
        codes->Encode(bin_of_.data() + first, end - first, out);
        StoreLittleEndian(static_cast<uint16_t>(out.size() - size_at - sizeof(uint16_t)),
                          out.data() + size_at);
      }
      PutOffsets(table, same_width, first, end - first, out);
      const std::span<const uint32_t> some(exceptions_.data() + exception, exceptions);
      for (const uint32_t at : some) out.PutFixed(static_cast<uint16_t>(at - first));
      for (const uint32_t at : some) out.PutFixed(values_[at]);
      exception += exceptions;
    }
  }

  // Writes the sums of the page that begins at value `first`.
  void PutSums(size_t first, ByteWriter& out) const {
    if (form_.line) return out.PutFixed(line_begins_[first / kVectorValues]);
    for (size_t i = 0; i < form_.sums(); ++i)
      out.PutFixed(static_cast<U>(levels_[i][first] - levels_[i + 1][first]));
  }

  // Writes the packed offsets of the `count` numbers from number `first` on.
  void PutOffsets(const BinTable<U>& table, bool same_width, size_t first, size_t count,
                  ByteWriter& out) {
    std::array<U, kVectorValues> packed;
    size_t bits = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t bin = bin_of_[first + i];
      packed[i] = static_cast<U>((*numbers_)[first + i] - table.lowers[bin]);
      bits += table.widths[bin];
    }
    if (!same_width) {
      const size_t end = out.size() + PackedBytes(bits, 1);
      out.ReserveMore(PackedBytes(bits, 1) + kOffsetReadAhead);
      PackOffsets<U>(table, bin_of_.data() + first, packed.data(), count,
                     out.Extend(PackedBytes(bits, 1) + kOffsetReadAhead));
      out.Truncate(end);
    } else if (count == kVectorValues) {
      if (table.widths[0] > 0)
        PackInterleaved<U>(packed.data(), 0, table.widths[0],
                           out.Extend(InterleavedBytes(table.widths[0])));
    } else {
      PackBits<U>({packed.data(), count}, table.widths[0], out);
    }
  }

  std::span<const T> values_;
  Transformation<T> form_;
  // levels_[0] has the integers, levels_[k] the differences between neighbours in levels_[k - 1].
  std::array<std::vector<U>, kMaxOrder + 1> levels_;
  std::vector<U> line_;                      // see MakeLine
  std::vector<U> line_begins_;               // see MakeLine
  std::vector<uint32_t> exceptions_;         // the positions of the values that are not decimals
  const std::vector<U>* numbers_ = nullptr;  // the numbers to store: one of the levels, or line_
  U origin_ = 0;                             // see OriginOf
  std::vector<uint8_t> bin_of_;              // the bin of each number
  // Of the numbers from the least to the greatest: how often each occurs, and its bin.
  std::vector<uint32_t> counts_;
  std::vector<uint8_t> bin_of_number_;
};

template <typename T>
class CompactEncoder final : public BlockEncoder<T> {
 public:
  explicit CompactEncoder(const EncoderOptions& options)
      : most_values_(std::max<size_t>(options.block_size_bytes / sizeof(T), 1)) {}

  size_t Append(std::span<const T> values) override {
    const size_t taken = std::min(values.size(), most_values_ - values_.size());
    values_.insert(values_.end(), values.begin(), values.begin() + static_cast<ptrdiff_t>(taken));
    return taken;
  }
  bool full() const override { return values_.size() == most_values_; }
  uint32_t count() const override { return static_cast<uint32_t>(values_.size()); }
  size_t size_bytes() const override { return values_.size() * sizeof(T); }

  void Finish(uint64_t /*first_ordinal*/, EncodedBlock& block) override {
    block.Clear();
    block.count = count();
    if (!values_.empty()) writer_.Write(values_, block.bytes);
    values_.clear();
  }

 private:
  // The number of values of a full block. It is fixed, because the encoded size of the values is
  // not known before Finish.
  const size_t most_values_;
  std::vector<T> values_;
  CompactWriter<T> writer_;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> CompactCodec::MakeEncoder(PhysicalType /*type*/,
                                                           const EncoderOptions& options) {
  return std::make_unique<CompactEncoder<T>>(options);
}

#define CFILE_INSTANTIATE(T) CFILE_INSTANTIATE_ENCODER(CompactCodec, T)
CFILE_FOR_EACH_NUMBER(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
