// The encoder of ALP_RD.
#include "encodings/own/alp_rd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/alp_rd_kernel.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/kernels/min_max.h"
#include "encodings/own/alp_rd_layout.h"
#include "encodings/own/vector_encoder.h"

namespace cfile::encodings {
namespace {

// How a vector is encoded.
template <typename U>
struct AlpRdPlan {
  AlpRdForm form;
  std::array<U, AlpRdForm::kMaxBases> bases;
};

// Chooses the plan of a vector. One base, the least value, always covers all values. To find a
// smaller plan, this class divides the range of the values, for each width, into intervals of
// 2^width numbers. Intervals that have many values of a sample get a base; the values of other
// intervals are exceptions.
template <typename U>
class PlanSearch {
 public:
  // `width`: the width of the best plan of a similar vector, or kAnyWidth. Widths near it are tried
  // first, and others only if the best of these is at the border.
  PlanSearch(std::span<const U> values, int width) {
    U all = 0;
    for (const U value : values) all |= value;
    shift_ = all == 0 ? 0 : std::countr_zero(all);
    const MinMax<U> bounds = FindMinMax(values);
    least_ = bounds.min;
    const U range = static_cast<U>(bounds.max - bounds.min) >> shift_;
    plain_ = {{0, static_cast<int>(std::bit_width(range)), shift_}, {least_}};
    best_ = plain_;
    // The least and the greatest value are part of the sample.
    const size_t samples = std::min(values.size(), kMostSamples);
    for (size_t i = 0; i < samples; ++i) sample_[i] = Distance(values[i * values.size() / samples]);
    sample_[samples] = 0;
    sample_[samples + 1] = range;
    size_ = samples + 2;
    std::sort(sample_.begin(), sample_.begin() + static_cast<ptrdiff_t>(size_));
    best_bits_ = BitsOf(plain_.form, 0, values.size());
    const int widest = plain_.form.offset_width - 1;
    const int near_begin = std::max(width - kNearWidths, 0);
    const int near_end = std::min(width + kNearWidths, widest);
    if (width != kAnyWidth && near_begin <= near_end) {
      TryWidths(near_end, near_begin, values.size());
      const int found = best_.form.offset_width;
      if ((near_begin < found || near_begin == 0) && (found < near_end || near_end == widest))
        return;
    }
    TryWidths(widest, 0, values.size());
  }

  // Returns the plan that is best for the sample, and the plan without exceptions.
  const AlpRdPlan<U>& best() const { return best_; }
  const AlpRdPlan<U>& plain() const { return plain_; }
  static constexpr int kAnyWidth = -1;

 private:
  static constexpr size_t kMostSamples = 126;
  static constexpr int kNearWidths = 2;

  struct Interval {
    U index;  // the interval begins at least_ + index * 2^(width + shift_)
    size_t count;
  };
  // The intervals that have the most values of the sample. The first one has most.
  struct Intervals {
    std::array<Interval, AlpRdForm::kMaxBases> most;
    size_t found = 0;
  };

  // Changes best_ if a width from `widest` down to `least` is better.
  void TryWidths(int widest, int least, size_t count) {
    for (int width = widest; width >= least; --width) {
      const Intervals intervals = FindIntervals(width);
      size_t covered = 0;
      for (int code_width = 0; code_width <= AlpRdForm::kMaxCodeWidth; ++code_width) {
        const AlpRdForm form = {code_width, width, shift_};
        if (form.width() > plain_.form.offset_width) break;
        const size_t begin = code_width == 0 ? 0 : form.bases() / 2;
        if (begin >= intervals.found) break;
        const size_t end = std::min(form.bases(), intervals.found);
        for (size_t i = begin; i < end; ++i) covered += intervals.most[i].count;
        const double share = static_cast<double>(size_ - covered) / static_cast<double>(size_);
        const double bits = BitsOf(form, share, count);
        if (bits >= best_bits_) continue;
        best_bits_ = bits;
        best_.form = form;
        for (size_t i = 0; i < form.bases(); ++i) {
          const U index = intervals.most[std::min(i, end - 1)].index;
          best_.bases[i] = static_cast<U>(least_ + (index << width << shift_));
        }
      }
      // Narrower intervals have even more exceptions.
      if (2 * covered < size_) break;
    }
  }

  U Distance(U value) const { return static_cast<U>(value - least_) >> shift_; }

  Intervals FindIntervals(int width) const {
    Intervals result;
    for (size_t begin = 0; begin < size_;) {
      const U index = sample_[begin] >> width;
      size_t end = begin + 1;
      while (end < size_ && sample_[end] >> width == index) ++end;
      Interval interval = {index, end - begin};
      begin = end;
      // Of intervals with as many values, the one that begins first comes first.
      for (size_t i = 0; i < result.found; ++i) {
        if (interval.count > result.most[i].count) std::swap(interval, result.most[i]);
      }
      if (result.found < result.most.size()) result.most[result.found++] = interval;
    }
    return result;
  }

  // Returns the number of bits that a vector of `count` values takes if `share` of its values are
  // exceptions.
  static double BitsOf(const AlpRdForm& form, double share, size_t count) {
    const double exception = static_cast<double>(8 * (sizeof(uint16_t) + AlpRdHighBytes<U>(form)));
    return static_cast<double>(count) * (form.width() + share * exception) +
           static_cast<double>(8 * sizeof(U) * form.bases());
  }

  int shift_ = 0;  // how many of the last bits are 0 in all values
  U least_ = 0;
  std::array<U, kMostSamples + 2> sample_;  // distances from least_, without the last bits; sorted
  size_t size_ = 0;                         // of the sample
  AlpRdPlan<U> plain_;
  AlpRdPlan<U> best_;
  double best_bits_ = 0;  // the size of a vector with best_
};

template <typename T>
class AlpRdEncoder final : public VectorEncoder<T, AlpRdLane<T>, AlpRdEntry> {
 public:
  using U = AlpRdLane<T>;
  using Base = VectorEncoder<T, U, AlpRdEntry>;

  explicit AlpRdEncoder(const EncoderOptions& options) : Base(options) {}

 private:
  using Base::AddEntry;
  using Base::Pack;
  using Base::vectors;

  void PutVector(const U* values, size_t count) override {
    if (count < kVectorValues) {
      // The kernel encodes whole vectors.
      std::copy_n(values, count, padded_.data());
      std::fill(padded_.begin() + static_cast<ptrdiff_t>(count), padded_.end(), values[0]);
      values = padded_.data();
    }
    const PlanSearch<U> search({values, count}, last_width_);
    last_width_ = search.best().form.offset_width;
    AlpRdPlan<U> plan = search.best();
    size_t exceptions = Encode(values, count, plan);
    if (AlpRdVectorBytes<U>(plan.form, count, exceptions) >
        AlpRdVectorBytes<U>(search.plain().form, count, 0)) {
      plan = search.plain();
      exceptions = Encode(values, count, plan);
      CFILE_ASSERT(exceptions == 0);
    }
    AddEntry({.code_width = static_cast<uint8_t>(plan.form.code_width),
              .offset_width = static_cast<uint8_t>(plan.form.offset_width),
              .shift = static_cast<uint8_t>(plan.form.shift),
              .exceptions = static_cast<uint16_t>(exceptions)});
    for (size_t i = 0; i < plan.form.bases(); ++i) vectors().PutFixed(plan.bases[i]);
    Pack({numbers_.data(), count}, 0, plan.form.width());
    for (size_t i = 0; i < exceptions; ++i) vectors().PutFixed(positions_[i]);
    const size_t high_bytes = AlpRdHighBytes<U>(plan.form);
    for (size_t i = 0; i < exceptions; ++i) {
      uint8_t high[sizeof(U)];
      StoreLittleEndian(highs_[positions_[i]], high);
      vectors().PutBytes(std::span<const uint8_t>(high, high_bytes));
    }
  }

  // Sets numbers_, highs_ and positions_. Returns the number of exceptions.
  size_t Encode(const U* values, size_t count, const AlpRdPlan<U>& plan) {
    AlpRdEncode<U>(values, plan.form, plan.bases.data(), numbers_.data(), highs_.data());
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
      positions_[found] = static_cast<uint16_t>(i);
      found += highs_[i] != 0 ? 1 : 0;
    }
    return found;
  }

  int last_width_ = PlanSearch<U>::kAnyWidth;  // of the best plan of the vector before
  std::array<U, kVectorValues> padded_;
  std::array<U, kVectorValues> numbers_;
  std::array<U, kVectorValues> highs_;
  std::array<uint16_t, kVectorValues + 1> positions_;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> AlpRdCodec::MakeEncoder(PhysicalType /*type*/,
                                                         const EncoderOptions& options) {
  return std::make_unique<AlpRdEncoder<T>>(options);
}

CFILE_INSTANTIATE_ENCODER(AlpRdCodec, float)
CFILE_INSTANTIATE_ENCODER(AlpRdCodec, double)

}  // namespace cfile::encodings
