#include "cfile/core/format/value_summary.h"

#include <optional>
#include <type_traits>
#include <utility>

#include "cfile/core/format/key_codec.h"
#include "encodings/core/bytes_min_max.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/core/physical_type.h"
#include "encodings/kernels/min_max.h"

namespace cfile::internal {
namespace {

using encodings::kIsBytes;
using encodings::kIsFloat;

template <typename T>
constexpr bool kHasOrder = !std::is_same_v<T, encodings::Int96>;

// The part of `value` that is kept as a bound: of bytes a prefix, of other types the whole value.
template <typename T>
T Kept(const T& value) {
  if constexpr (kIsBytes<T>) {
    return value.substr(0, kMaxBoundBytes + 1);
  } else {
    return value;
  }
}

template <typename T>
bool Less(const T& a, const T& b) {
  if constexpr (kIsBytes<T>) {
    return encodings::BytesLess(a, b);
  } else {
    return a < b;
  }
}

// Returns a string that AfterPrefix turns into `bound`, with one byte more than kMaxBoundBytes, so
// that it counts as cut.
std::string BeforeRounding(std::optional<std::string> bound) {
  std::string bytes = std::move(bound).value_or("");
  if (!bytes.empty()) bytes.back() = static_cast<char>(static_cast<uint8_t>(bytes.back()) - 1);
  bytes.resize(kMaxBoundBytes, '\xff');
  bytes.push_back('\0');
  return bytes;
}

}  // namespace

template <typename T>
void ValueSummary<T>::Widen(const T& min, const T& max, bool first) {
  if (first || Less<T>(Kept(min), T(min_))) min_ = Kept(min);
  if (first || Less<T>(T(max_), Kept(max))) max_ = Kept(max);
}

template <typename T>
void ValueSummary<T>::Add(std::span<const T> values) {
  if (values.empty()) return;
  if constexpr (kIsBytes<T>) {
    const bool first = !has_bounds();
    encodings::BytesBounds bounds(first ? values[0] : T(min_), first ? values[0] : T(max_));
    // Add the last value first: if the values ascend, it is the greatest, and the other values
    // change nothing.
    bounds.Add(values.back());
    bounds.Add(values);
    Widen(bounds.min(), bounds.max(), first);
  } else if constexpr (kHasOrder<T>) {
    const encodings::MinMax<T> bounds = encodings::FindMinMax(values);
    if (bounds.nan_count < values.size()) Widen(bounds.min, bounds.max, !has_bounds());
    nan_count_ += bounds.nan_count;
  }
  present_count_ += values.size();
}

template <typename T>
void ValueSummary<T>::AddAscending(encodings::ValueSpan span) {
  const std::span<const T> values = span.As<T>();
  if (values.empty()) return;
  if constexpr (kHasOrder<T>) {
    if (!has_bounds()) min_ = Kept(values.front());
    max_ = Kept(values.back());
  }
  present_count_ += values.size();
}

template <typename T>
void ValueSummary<T>::Merge(const AnySummary& summary) {
  const auto& other = static_cast<const ValueSummary&>(summary);
  if constexpr (kHasOrder<T>) {
    if (other.has_bounds()) Widen(T(other.min_), T(other.max_), !has_bounds());
  }
  present_count_ += other.present_count_;
  nan_count_ += other.nan_count_;
}

template <typename T>
bool ValueSummary<T>::Set(const BlockStatistics& statistics) {
  present_count_ = statistics.present_count;
  nan_count_ = statistics.nan_count;
  if constexpr (kIsBytes<T>) {
    min_ = statistics.min_key.value_or("");
    if (!statistics.min_exact) min_.push_back('\0');
    max_ =
        statistics.max_exact ? statistics.max_key.value_or("") : BeforeRounding(statistics.max_key);
  } else if constexpr (kHasOrder<T>) {
    if (has_bounds() && !(statistics.min_key && ParseKey<T>(*statistics.min_key, min_) &&
                          statistics.max_key && ParseKey<T>(*statistics.max_key, max_))) {
      return false;
    }
  }
  return Statistics(statistics.null_count) == statistics;
}

template <typename T>
BlockStatistics ValueSummary<T>::Statistics(uint64_t null_count) const {
  BlockStatistics result{
      .present_count = present_count_, .null_count = null_count, .nan_count = nan_count_};
  if (!kHasOrder<T> || !has_bounds()) return result;
  if constexpr (kIsBytes<T>) {
    result.min_exact = min_.size() <= kMaxBoundBytes;
    result.max_exact = max_.size() <= kMaxBoundBytes;
    result.min_key = min_.substr(0, kMaxBoundBytes);
    result.max_key = result.max_exact ? max_ : AfterPrefix(max_.substr(0, kMaxBoundBytes));
  } else if constexpr (kHasOrder<T>) {
    T min = min_, max = max_;
    if constexpr (kIsFloat<T>) {
      // -0 equals +0, so a bound that is zero must include both.
      if (min == 0) min = -T{};
      if (max == 0) max = T{};
    }
    AppendKey(min, result.min_key.emplace());
    AppendKey(max, result.max_key.emplace());
  }
  return result;
}

std::unique_ptr<AnySummary> AnySummary::Create(PhysicalType type) {
  return encodings::VisitPhysicalType(
      type, []<typename T>(std::type_identity<T>) -> std::unique_ptr<AnySummary> {
        return std::make_unique<ValueSummary<T>>();
      });
}

#define CFILE_INSTANTIATE(T) template class ValueSummary<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
