// The encoder of FOR.
#include "encodings/own/for.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/kernels/min_max.h"
#include "encodings/own/for_layout.h"
#include "encodings/own/vector_encoder.h"

namespace cfile::encodings {
namespace {

// How a vector is packed.
template <typename U>
struct Frame {
  U reference;
  int width;
  size_t exceptions;
  size_t bytes;  // of the vector
};

// Finds the frame, for some of the references, with which a vector takes the fewest bytes; among
// equals, that with the fewest exceptions.
template <typename T>
class FrameSearch {
 public:
  using U = ForLane<T>;

  FrameSearch(std::span<const U> values, U min, U max)
      : values_(values), best_{min, ForWidth(static_cast<U>(max - min)), 0, 0} {
    best_.bytes = ForVectorBytes<T>(values.size(), best_.width, 0);
    if (std::is_same_v<T, bool> || best_.width < 2) return;
    const int widest = best_.width;
    Try(min, widest - 1);
    TryAroundCenter(widest);
  }

  const Frame<U>& best() const { return best_; }

 private:
  static constexpr int kBits = 8 * sizeof(U);
  // Element w is how many numbers need more than w bits.
  using Wider = std::array<uint32_t, kBits + 1>;

  // Returns the number of bytes that the exceptions of a vector take.
  static size_t PatchBytes(size_t exceptions) { return ForVectorBytes<T>(0, 0, exceptions); }

  // Returns false if intervals of at most 2^width numbers are unlikely to be better than best_. An
  // interval of 2^w numbers begins at reference_of(w). Looks only at the three widest intervals,
  // which is faster than CountWider.
  template <typename Reference>
  bool MayPay(int width, const Reference& reference_of) const {
    for (const int narrowest = width - 3; width >= 0 && width > narrowest; --width) {
      const size_t exceptions = CountAbove<U>(values_.data(), values_.size(), reference_of(width),
                                              static_cast<U>(LowBits(width)));
      // Narrower intervals have at least as many exceptions.
      if (PatchBytes(exceptions) >= best_.bytes) return false;
      if (ForVectorBytes<T>(values_.size(), width, exceptions) < best_.bytes) break;
    }
    return true;
  }

  // Counts how many bits number_of(value) needs, for each value.
  template <typename Number>
  Wider CountWider(const Number& number_of) const {
    Wider counts{};
    for (const U value : values_) ++counts[static_cast<size_t>(ForWidth(number_of(value)))];
    uint32_t wider = 0;
    for (size_t width = kBits + 1; width-- > 0;) wider += std::exchange(counts[width], wider);
    return counts;
  }

  // Tries the intervals of 2^w numbers that begin at `begin`, for each w up to `width`.
  void Try(U begin, int width) {
    const auto reference_of = [&](int) { return begin; };
    if (!MayPay(width, reference_of)) return;
    const Wider wider = CountWider([&](U value) { return static_cast<U>(value - begin); });
    TryEach(wider, width, reference_of);
  }
  // Tries the intervals that end at `last`.
  void TryUpTo(U last, int width) {
    const Wider wider = CountWider([&](U value) { return static_cast<U>(last - value); });
    TryEach(wider, width, [&](int each) { return static_cast<U>(last - LowBits(each)); });
  }
  template <typename Reference>
  void TryEach(const Wider& wider, int width, const Reference& reference_of) {
    for (; width >= 0; --width) {
      const size_t exceptions = wider[static_cast<size_t>(width)];
      const size_t bytes = ForVectorBytes<T>(values_.size(), width, exceptions);
      // An interval that wraps around may hold all values. A vector stores a reference other than
      // the minimum only together with exceptions.
      if (exceptions > 0 && bytes < best_.bytes)
        best_ = {reference_of(width), width, exceptions, bytes};
    }
  }

  // If a few values are far below the others, the minimum is a bad reference. So this function
  // takes a value from the middle, and searches the interval around it with which the vector takes
  // the fewest bytes. It then tries the intervals that begin with the least value in this interval,
  // or end with the greatest.
  void TryAroundCenter(int widest) {
    const size_t count = values_.size();
    std::array<T, 5> some;
    for (size_t i = 0; i < some.size(); ++i)
      some[i] = static_cast<T>(values_[(2 * i + 1) * count / 10]);
    std::sort(some.begin(), some.end());
    const U center = static_cast<U>(some[2]);
    const auto around = [&](int width) {
      return static_cast<U>(center - (width == 0 ? U{0} : U{1} << (width - 1)));
    };
    if (!MayPay(widest - 1, around)) return;
    // Numbers from center - 2^half to center + 2^half - 1 have a width of at most `half`.
    const Wider wider = CountWider([&](U value) {
      const U distance = static_cast<U>(value - center);
      return (distance >> (kBits - 1)) != 0 ? static_cast<U>(~distance) : distance;
    });
    size_t least = best_.bytes;
    int best_half = -1;
    for (int half = widest - 2; half >= 0; --half) {
      // The interval has 2^(half + 1) numbers. This estimate assumes that its values need only
      // `half` bits, because they may lie in a part of it.
      const size_t bytes =
          ForPackedBytes(count, half) + PatchBytes(wider[static_cast<size_t>(half)]);
      if (bytes < least) {
        least = bytes;
        best_half = half;
      }
    }
    if (best_half < 0) return;
    const U low = static_cast<U>(center - (U{1} << best_half));
    const U most = static_cast<U>(LowBits(best_half + 1));
    U least_in = most;
    U most_in = 0;
    for (const U value : values_) {
      const U above = static_cast<U>(value - low);
      least_in = std::min(least_in, above);
      most_in = above <= most ? std::max(most_in, above) : most_in;
    }
    Try(static_cast<U>(least_in + low), best_half + 1);
    TryUpTo(static_cast<U>(most_in + low), best_half + 1);
  }

  const std::span<const U> values_;
  Frame<U> best_;
};

template <typename T>
class ForEncoder final : public VectorEncoder<T, ForLane<T>, ForEntry<T>> {
 public:
  using U = ForLane<T>;
  using Base = VectorEncoder<T, U, ForEntry<T>>;

  explicit ForEncoder(const EncoderOptions& options) : Base(options) {}

 private:
  using Base::AddEntry;
  using Base::Pack;
  using Base::vectors;

  void PutVector(const U* values, size_t count) override {
    const std::span<const U> all(values, count);
    const MinMax<T> bounds = FindMinMax(std::span(reinterpret_cast<const T*>(values), count));
    const U min = static_cast<U>(bounds.min);
    const U max = static_cast<U>(bounds.max);
    const Frame<U> frame = FrameSearch<T>(all, min, max).best();
    if (count == kVectorValues && PutDeltas(values, frame.bytes, min, max)) return;
    AddEntry({.width = static_cast<uint8_t>(frame.width),
              .form = static_cast<uint8_t>(ForForm::kFrame),
              .exceptions = static_cast<uint16_t>(frame.exceptions),
              .min = min,
              .max = max});
    if (frame.exceptions == 0) return Pack(all, frame.reference, frame.width);
    // Every value has a packed difference. The packed difference of an exception is 0.
    std::array<U, kVectorValues> patched;
    std::array<uint16_t, kVectorValues + 1> positions;
    const U most = static_cast<U>(LowBits(frame.width));
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool outside = static_cast<U>(values[i] - frame.reference) > most;
      patched[i] = outside ? frame.reference : values[i];
      positions[found] = static_cast<uint16_t>(i);
      found += outside ? 1 : 0;
    }
    CFILE_ASSERT(found == frame.exceptions);
    Pack({patched.data(), count}, frame.reference, frame.width);
    vectors().PutFixed(frame.reference);
    for (size_t i = 0; i < found; ++i) vectors().PutFixed(positions[i]);
    for (size_t i = 0; i < found; ++i) vectors().PutFixed(values[positions[i]]);
  }

  // Writes the vector in the delta form if that takes at most three quarters of `frame_bytes`, and
  // returns true. Otherwise returns false, because reads of single values are slower in this form.
  bool PutDeltas(const U* values, size_t frame_bytes, U min, U max) {
    if constexpr (std::is_same_v<T, bool>) return false;
    using I = std::make_signed_t<U>;
    if (4 * ForDeltaBytes<T>(0) > 3 * frame_bytes) return false;
    std::array<U, kVectorValues> deltas;
    for (size_t i = 1; i < kVectorValues; ++i)
      deltas[i] = static_cast<U>(values[i] - values[i - 1]);
    deltas[0] = deltas[1];
    const MinMax<I> bounds =
        FindMinMax(std::span(reinterpret_cast<const I*>(deltas.data()), kVectorValues));
    const U least = static_cast<U>(bounds.min);
    const int width = ForWidth(static_cast<U>(static_cast<U>(bounds.max) - least));
    if (4 * ForDeltaBytes<T>(width) > 3 * frame_bytes) return false;
    deltas[0] = least;
    AddEntry({.width = static_cast<uint8_t>(width),
              .form = static_cast<uint8_t>(ForForm::kDelta),
              .exceptions = 0,
              .min = min,
              .max = max});
    Pack({deltas.data(), kVectorValues}, least, width);
    vectors().PutFixed(values[0]);
    vectors().PutFixed(least);
    return true;
  }
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> ForCodec::MakeEncoder(PhysicalType /*type*/,
                                                       const EncoderOptions& options) {
  return std::make_unique<ForEncoder<T>>(options);
}

#define CFILE_INSTANTIATE(T) CFILE_INSTANTIATE_ENCODER(ForCodec, T)
CFILE_INSTANTIATE(bool)
CFILE_FOR_EACH_WORD_INTEGER(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
