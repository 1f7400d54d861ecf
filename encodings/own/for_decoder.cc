// The decoder of FOR.
#include "encodings/own/for.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>

#include "encodings/core/lower_bound.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bit_appender.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/kernels/match_range.h"
#include "encodings/own/for_layout.h"
#include "encodings/own/for_table.h"

namespace cfile::encodings {
namespace {

template <typename T>
class ForDecoder final : public BlockDecoder<T> {
 public:
  using U = ForLane<T>;
  using Vector = ForVector<T>;

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    this->first_ordinal_ = block.first_ordinal;
    held_ = matched_ = kNone;
    CFILE_RETURN_IF_ERROR(table_.Open(block));
    this->count_ = block.count;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t wanted = this->Left(out.size());
    uint32_t position = this->position_;
    for (size_t done = 0; done < wanted;) {
      const uint32_t index = position / kValues;
      const uint32_t first = position % kValues;
      Vector vector;
      if (!table_.Find(index, vector)) return table_.Damage(index);
      const auto taken =
          static_cast<uint32_t>(std::min<size_t>(vector.count - first, wanted - done));
      U* const to = reinterpret_cast<U*>(out.data() + done);
      if (taken == vector.count) {
        CFILE_RETURN_IF_ERROR(Decode(index, vector, to));
      } else if (index != held_ && taken <= (vector.form == ForForm::kFrame ? kFewValues : 1)) {
        for (uint32_t i = 0; i < taken; ++i) to[i] = vector.value(first + i);
      } else {
        // The rest of the vector is likely to be read next.
        CFILE_RETURN_IF_ERROR(Hold(index, vector));
        std::memcpy(to, buffer_.data() + first, taken * sizeof(U));
      }
      done += taken;
      position += taken;
    }
    this->position_ = position;
    return wanted;
  }

  absl::Status Gather(std::span<const uint32_t> positions, std::span<T> out) override {
    assert(out.size() == positions.size());
    // Prefetches the memory of a batch of values, and then reads these values.
    constexpr size_t kBatch = 32;
    Vector vectors[kBatch];
    for (size_t begin = 0; begin < positions.size(); begin += kBatch) {
      const auto some = positions.subspan(begin, std::min(kBatch, positions.size() - begin));
      for (size_t i = 0; i < some.size(); ++i) {
        const uint32_t index = some[i] / kValues;
        if (i > 0 && index == some[i - 1] / kValues) {
          vectors[i] = vectors[i - 1];
        } else if (!table_.Find(index, vectors[i])) {
          return table_.Damage(index);
        }
        Prefetch(vectors[i], some[i] % kValues);
      }
      for (size_t i = 0; i < some.size(); ++i)
        out[begin + i] = FromBits<T>(vectors[i].value(some[i] % kValues));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    this->position_ = 0;
    const uint32_t index = FindLowerBound(
        table_.size(), [&](uint32_t i) { return FromBits<T>(table_.LoadEntry(i).max) < key; });
    if (index == table_.size()) {
      this->position_ = this->count_;
      return LowerBound{this->count_, false};
    }
    Vector vector;
    if (!table_.Find(index, vector)) return table_.Damage(index);
    const bool decoded = vector.form == ForForm::kDelta;
    if (decoded) CFILE_RETURN_IF_ERROR(Hold(index, vector));
    const auto value = [&](uint32_t i) {
      return FromBits<T>(decoded ? buffer_[i] : vector.value(i));
    };
    const uint32_t first = FindLowerBound(vector.count, [&](uint32_t i) { return value(i) < key; });
    this->position_ = index * kValues + first;
    return LowerBound{this->position_, first < vector.count && value(first) == key};
  }

  absl::StatusOr<bool> ReadMatches(const T& low, const T& high, size_t count,
                                   uint8_t* bits) override {
    assert(count <= this->count_ - this->position_);
    BitAppender out(bits);
    uint32_t position = this->position_;
    for (size_t left = count; left > 0;) {
      const uint32_t index = position / kValues;
      const uint32_t first = position % kValues;
      Vector vector;
      if (!table_.Find(index, vector)) return table_.Damage(index);
      const auto taken = static_cast<uint32_t>(std::min<size_t>(vector.count - first, left));
      const bool none = high < low || high < vector.min || vector.max < low;
      if (none || (low <= vector.min && vector.max <= high)) {
        out.AppendRepeated(!none, taken);
      } else {
        CFILE_RETURN_IF_ERROR(Match(index, vector, low, high));
        out.AppendPacked(matches_, first, taken);
      }
      position += taken;
      left -= taken;
    }
    out.Finish();
    this->position_ = position;
    return true;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kValues = kVectorValues;
  // Reading this many values of a vector of form kFrame one by one takes about as long as decoding
  // the whole vector.
  static constexpr uint32_t kFewValues = 16;

  // Calls put(position, i) for each exception i. kDataLoss: the positions do not ascend, or a
  // position is not in the vector.
  template <typename Put>
  absl::Status VisitExceptions(uint32_t index, const Vector& vector, const Put& put) const {
    int before = -1;
    for (uint32_t i = 0; i < vector.exceptions; ++i) {
      const uint16_t position = vector.position(i);
      if (position <= before || position >= vector.count) {
        return DataLoss("for: vector ", index, ": exception ", i, " of ", vector.exceptions,
                        " is at value ", int{position}, ", expected ", before + 1, " to ",
                        vector.count - 1);
      }
      before = position;
      put(position, i);
    }
    return absl::OkStatus();
  }

  // Writes the values of a vector to `out`.
  absl::Status Decode(uint32_t index, const Vector& vector, U* out) const {
    if (vector.form == ForForm::kDelta) {
      UnpackDeltas<U>(vector.packed.data(), vector.width, vector.reference, vector.step, out);
    } else if (vector.count == kVectorValues) {
      UnpackInterleaved<U>(vector.packed.data(), vector.width, vector.reference, out);
    } else {
      UnpackBits<U>(vector.packed, vector.width, 0, out, vector.count);
      for (uint32_t i = 0; i < vector.count; ++i)
        out[i] = static_cast<U>(out[i] + vector.reference);
    }
    return VisitExceptions(index, vector, [&](uint16_t position, uint32_t i) {
      out[position] = vector.exception_value(i);
    });
  }

  // Decodes a vector into buffer_.
  absl::Status Hold(uint32_t index, const Vector& vector) {
    if (held_ == index) return absl::OkStatus();
    held_ = kNone;
    CFILE_RETURN_IF_ERROR(Decode(index, vector, buffer_.data()));
    held_ = index;
    return absl::OkStatus();
  }

  // Compares the values of a vector with a range and sets matches_.
  absl::Status Match(uint32_t index, const Vector& vector, T low, T high) {
    if (matched_ == index && matched_low_ == low && matched_high_ == high) return absl::OkStatus();
    matched_ = kNone;
    if (vector.count == kVectorValues && vector.form == ForForm::kFrame) {
      // The range of packed numbers whose values match. It may wrap around.
      const U from = static_cast<U>(static_cast<U>(low) - vector.reference);
      const U to = static_cast<U>(static_cast<U>(high) - vector.reference);
      MatchInterleaved<U>(vector.packed.data(), vector.width, from, to, matches_.data());
      CFILE_RETURN_IF_ERROR(VisitExceptions(index, vector, [&](uint16_t position, uint32_t i) {
        const T value = FromBits<T>(vector.exception_value(i));
        uint8_t& byte = matches_[position / 8];
        const unsigned bit = 1u << (position % 8);
        const bool matches = low <= value && value <= high;
        byte = static_cast<uint8_t>(matches ? byte | bit : byte & ~bit);
      }));
    } else {
      CFILE_RETURN_IF_ERROR(Hold(index, vector));
      MatchRange<T>(reinterpret_cast<const T*>(buffer_.data()), vector.count, low, high,
                    matches_.data());
    }
    matched_ = index;
    matched_low_ = low;
    matched_high_ = high;
    return absl::OkStatus();
  }

  static void Prefetch(const Vector& vector, uint32_t index) {
    const uint8_t* const word =
        vector.packed.data() + PlaceOfInterleaved<U>(vector.width, index).offset;
    __builtin_prefetch(word);
    __builtin_prefetch(word + kVectorRowBytes);
  }

  ForTable<T> table_;
  uint32_t held_ = kNone;  // the vector whose values are in buffer_; kNone: no vector
  // The vector that was compared last, and the range. matches_ has the result. kNone: no vector.
  uint32_t matched_ = kNone;
  T matched_low_{};
  T matched_high_{};
  std::array<uint8_t, kVectorValues / 8> matches_;
  std::array<U, kVectorValues> buffer_;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockDecoder<T>> ForCodec::MakeDecoder(PhysicalType /*type*/,
                                                       const DecoderOptions& /*options*/) {
  return std::make_unique<ForDecoder<T>>();
}

#define CFILE_INSTANTIATE(T)                                                \
  template std::unique_ptr<BlockDecoder<T>> ForCodec::MakeDecoder<T>(       \
      PhysicalType, const DecoderOptions&);
CFILE_INSTANTIATE(bool)
CFILE_FOR_EACH_WORD_INTEGER(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
