// The decoder and the description of FOR.
#include "encodings/own/for.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bit_appender.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/kernels/match_range.h"
#include "encodings/own/describe_vectors.h"
#include "encodings/own/for_layout.h"
#include "encodings/own/for_table.h"
#include "encodings/own/vector_decoder.h"

namespace cfile::encodings {
namespace {

template <typename T>
class ForDecoder final : public VectorDecoder<T, ForTable<T>> {
 public:
  using Base = VectorDecoder<T, ForTable<T>>;
  using U = ForLane<T>;
  using Vector = ForVector<T>;

  absl::Status Open(const BlockView& block) override {
    matched_ = kNone;
    return Base::Open(block);
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
      return FromBits<T>(decoded ? this->held_values()[i] : vector.value(i));
    };
    const uint32_t first = FindLowerBound(vector.count, [&](uint32_t i) { return value(i) < key; });
    this->position_ = index * kValues + first;
    return LowerBound{this->position_, first < vector.count && value(first) == key};
  }

  absl::StatusOr<bool> ReadMatches(const T& low, const T& high, size_t count,
                                   uint8_t* bits) override {
    return ReadBits(Query{.low = low, .high = high}, count, bits);
  }

  absl::StatusOr<bool> ReadMatchesOfAny(std::span<const T> wanted, size_t count,
                                        uint8_t* bits) override {
    CFILE_ASSERT(!wanted.empty() && wanted.size() <= this->kMostMatches);
    Query query;
    query.low = *std::min_element(wanted.begin(), wanted.end());
    query.high = *std::max_element(wanted.begin(), wanted.end());
    query.listed = wanted.size();
    std::copy(wanted.begin(), wanted.end(), query.list.begin());
    return ReadBits(query, count, bits);
  }

 private:
  // What ReadMatches and ReadMatchesOfAny look for.
  struct Query {
    static_assert(Base::kMostMatches <= kMostWanted);
    T low{};
    T high{};
    // The values that match, of those from low to high. If `listed` is 0, all of them match.
    std::array<T, Base::kMostMatches> list{};
    size_t listed = 0;

    bool Matches(T value) const {
      if (listed == 0) return low <= value && value <= high;
      return std::find(list.begin(), list.begin() + listed, value) != list.begin() + listed;
    }
    bool operator==(const Query&) const = default;
  };

  absl::StatusOr<bool> ReadBits(const Query& query, size_t count, uint8_t* bits) {
    CFILE_ASSERT(count <= this->count_ - this->position_);
    BitAppender out(bits);
    uint32_t position = this->position_;
    for (size_t left = count; left > 0;) {
      const uint32_t index = position / kValues;
      const uint32_t first = position % kValues;
      Vector vector;
      if (!table_.Find(index, vector)) return table_.Damage(index);
      const auto taken = static_cast<uint32_t>(std::min<size_t>(vector.count - first, left));
      const bool none = query.high < query.low || query.high < vector.min || vector.max < query.low;
      bool all = query.listed == 0 && query.low <= vector.min && vector.max <= query.high;
      if (vector.min == vector.max) all = query.Matches(vector.min);
      if (none || all) {
        out.AppendRepeated(all, taken);
      } else if (taken == kValues && out.is_aligned()) {
        CFILE_RETURN_IF_ERROR(Match(index, vector, query, out.Extend(kValues / 64)));
      } else {
        CFILE_RETURN_IF_ERROR(HoldMatches(index, vector, query));
        out.AppendPacked(matches_, first, taken);
      }
      position += taken;
      left -= taken;
    }
    out.Finish();
    this->position_ = position;
    return true;
  }

  using Base::Hold;
  using Base::kNone;
  using Base::kValues;
  using Base::table_;
  static constexpr std::string_view kName = ForCodec::kName;

  absl::Status Decode(uint32_t index, const Vector& vector, U* out) const override {
    if (vector.form == ForForm::kDelta) {
      UnpackDeltas<U>(vector.packed.data(), vector.width, vector.reference, vector.step, out);
    } else if (vector.count == kVectorValues) {
      UnpackInterleaved<U>(vector.packed.data(), vector.width, vector.reference, out);
    } else {
      UnpackBits<U>(vector.packed, vector.width, 0, out, vector.count);
      for (uint32_t i = 0; i < vector.count; ++i)
        out[i] = static_cast<U>(out[i] + vector.reference);
    }
    return vector.exceptions.Visit(kName, index, vector.count, [&](uint16_t position, uint32_t i) {
      out[position] = vector.exception_value(i);
    });
  }

  // Sets bit i of `bits` to 1 if value i of a vector matches.
  absl::Status Match(uint32_t index, const Vector& vector, const Query& query, uint8_t* bits) {
    if (vector.count < kVectorValues || vector.form != ForForm::kFrame) {
      CFILE_RETURN_IF_ERROR(Hold(index, vector));
      const auto* const values = reinterpret_cast<const T*>(this->held_values().data());
      if (query.listed == 0) {
        MatchRange<T>(values, vector.count, query.low, query.high, bits);
      } else {
        MatchEach(
            values, vector.count, [&](T value) { return query.Matches(value); }, bits);
      }
      return absl::OkStatus();
    }
    // The packed numbers whose values match. A range of them may wrap around.
    const auto number = [&](T value) {
      return static_cast<U>(static_cast<U>(value) - vector.reference);
    };
    if (query.listed == 0) {
      MatchInterleaved<U>(vector.packed.data(), vector.width, number(query.low), number(query.high),
                          bits);
    } else {
      std::array<U, Base::kMostMatches> numbers;
      for (size_t i = 0; i < query.listed; ++i) numbers[i] = number(query.list[i]);
      MatchAnyInterleaved<U>(vector.packed.data(), vector.width,
                             std::span(numbers).first(query.listed), bits);
    }
    return vector.exceptions.Visit(kName, index, vector.count, [&](uint16_t position, uint32_t i) {
      const T value = FromBits<T>(vector.exception_value(i));
      uint8_t& byte = bits[position / 8];
      const unsigned bit = 1u << (position % 8);
      const bool matches = query.Matches(value);
      byte = static_cast<uint8_t>(matches ? byte | bit : byte & ~bit);
    });
  }

  // Finds the matches of a vector as above, and keeps them in matches_ for the next call.
  absl::Status HoldMatches(uint32_t index, const Vector& vector, const Query& query) {
    if (matched_ == index && matched_query_ == query) return absl::OkStatus();
    matched_ = kNone;
    CFILE_RETURN_IF_ERROR(Match(index, vector, query, matches_.data()));
    matched_ = index;
    matched_query_ = query;
    return absl::OkStatus();
  }

  // The vector that was compared last. matches_ has the result. kNone: no vector.
  uint32_t matched_ = kNone;
  Query matched_query_;
  std::array<uint8_t, kVectorValues / 8> matches_;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockDecoder<T>> ForCodec::MakeDecoder(PhysicalType /*type*/,
                                                       const DecoderOptions& /*options*/) {
  return std::make_unique<ForDecoder<T>>();
}

#define CFILE_INSTANTIATE(T) CFILE_INSTANTIATE_DECODER(ForCodec, T)
CFILE_INSTANTIATE(bool)
CFILE_FOR_EACH_WORD_INTEGER(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

absl::Status ForCodec::VisitValuePlaces(PhysicalType type, uint32_t /*type_length*/,
                                        const BlockView& block, uint32_t position, NeedBytes need) {
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    if constexpr (!std::is_integral_v<T> || sizeof(T) > sizeof(uint64_t)) {
      CFILE_ASSERT(false && "FOR has no values of this type");
      return absl::OkStatus();
    } else {
      return VisitVector<ForEntry<T>>(block, position, need);
    }
  });
}

namespace {

template <typename V>
absl::Status DescribeFor(const BlockView& block, BlockDescription& description) {
  const auto describe_rest = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(description.AddByte("width").status());
    CFILE_RETURN_IF_ERROR(description.AddByte("form").status());
    CFILE_RETURN_IF_ERROR(description.AddFixed<uint16_t>("exceptions").status());
    CFILE_RETURN_IF_ERROR(description.AddFixed<V>("minimum").status());
    return description.AddFixed<V>("maximum").status();
  };
  const auto describe_vector = [&](const ForEntry<V>& entry, size_t count, std::string text) {
    if (entry.width > 8 * sizeof(V)) return DataLoss(text, ": width ", int{entry.width});
    CFILE_RETURN_IF_ERROR(description.AddBytes(ForPackedBytes(count, entry.width),
                                               "packed differences", std::move(text)));
    if (entry.form == static_cast<uint8_t>(ForForm::kDelta)) {
      CFILE_RETURN_IF_ERROR(description.AddFixed<V>("first value").status());
      return description.AddFixed<V>("least difference").status();
    }
    if (entry.exceptions == 0) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(description.AddFixed<V>("reference").status());
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(entry.exceptions * sizeof(uint16_t), "positions of the exceptions"));
    return description.AddBytes(entry.exceptions * sizeof(V), "values of the exceptions");
  };
  return DescribeVectors<ForEntry<V>>(block, description, describe_rest, describe_vector);
}

}  // namespace

absl::Status ForCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                const BlockView& block, BlockDescription& description) {
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    if constexpr (std::is_same_v<T, bool>) {
      return DescribeFor<uint8_t>(block, description);
    } else if constexpr (kIsInteger<T> && sizeof(T) <= 8) {
      return DescribeFor<T>(block, description);
    } else {
      CFILE_ASSERT(false && "not a type of FOR");
      return absl::OkStatus();
    }
  });
}

}  // namespace cfile::encodings
