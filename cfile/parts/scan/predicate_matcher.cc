#include "cfile/parts/scan/predicate_matcher.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cfile/core/format/key_codec.h"
#include "encodings/core/assert.h"
#include "encodings/core/key_order.h"
#include "encodings/core/physical_type.h"
#include "encodings/kernels/match_range.h"

namespace cfile::internal {
namespace {

using encodings::int128_t;
using encodings::Int96;
using encodings::kIsBytes;
using encodings::kIsFloat;
using encodings::uint128_t;

template <typename T>
T Lowest() {
  if constexpr (kIsFloat<T>) {
    return -std::numeric_limits<T>::infinity();
  } else if constexpr (std::is_same_v<T, int128_t>) {
    return static_cast<T>(uint128_t{1} << 127);
  } else if constexpr (std::is_same_v<T, Int96>) {
    return Int96(uint128_t{0});
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <typename T>
T Highest() {
  if constexpr (kIsFloat<T>) {
    return std::numeric_limits<T>::infinity();
  } else if constexpr (std::is_same_v<T, int128_t>) {
    return static_cast<T>(~(uint128_t{1} << 127));
  } else if constexpr (std::is_same_v<T, Int96>) {
    return Int96(~uint128_t{0});
  } else {
    return std::numeric_limits<T>::max();
  }
}

// The next greater or smaller number. Preconditions: there is one; `value` is not NaN.
template <typename T>
T Next(const T& value, bool up) {
  if constexpr (kIsFloat<T>) {
    return std::nextafter(value, up ? Highest<T>() : Lowest<T>());
  } else if constexpr (std::is_same_v<T, bool>) {
    return up;
  } else if constexpr (std::is_same_v<T, Int96>) {
    return Int96(static_cast<uint128_t>(value) + (up ? uint128_t{1} : ~uint128_t{0}));
  } else {
    return static_cast<T>(up ? value + 1 : value - 1);
  }
}

template <typename T>
std::string KeyOf(const T& value) {
  std::string key;
  AppendKey(value, key);
  return key;
}

// All numbers are sorted as this type, so that the code is compiled once for them.
template <typename T>
using Sortable = std::conditional_t<kIsBytes<T>, std::string, uint128_t>;
constexpr uint128_t kTopBit = uint128_t{1} << 127;

template <typename T>
Sortable<T> ToSortable(const T& value) {
  if constexpr (kIsBytes<T>) {
    return std::string(value);
  } else if constexpr (kIsFloat<T>) {
    return encodings::OrderedBits(value == 0 ? T{} : value);
  } else if constexpr (std::is_same_v<T, Int96>) {
    return static_cast<uint128_t>(value);
  } else {
    return static_cast<uint128_t>(static_cast<int128_t>(value)) ^ kTopBit;
  }
}
template <typename T>
Owned<T> FromSortable(Sortable<T> value) {
  if constexpr (kIsBytes<T>) {
    return value;
  } else if constexpr (kIsFloat<T>) {
    using Bits = decltype(encodings::OrderedBits(T{}));
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    const auto bits = static_cast<Bits>(value);
    return std::bit_cast<T>((bits & kSign) != 0 ? bits ^ kSign : ~bits);
  } else if constexpr (std::is_same_v<T, Int96>) {
    return Int96(value);
  } else {
    return static_cast<T>(value ^ kTopBit);
  }
}

// Sorts the values, and drops repetitions.
template <typename S>
[[gnu::noinline]] void SortAndDrop(std::vector<S>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void Invert(size_t count, uint8_t* bits) {
  for (size_t i = 0; i < (count + 7) / 8; ++i) bits[i] = static_cast<uint8_t>(~bits[i]);
  if (count % 8 != 0) bits[count / 8] &= static_cast<uint8_t>((1u << count % 8) - 1);
}

}  // namespace

template <typename T>
PredicateMatcher<T>::PredicateMatcher(const Predicate<T>& predicate)
    : ValueMatcher(encodings::LaneOf<T>()) {
  Simplify(predicate);
  low_value_ = T(low_);
  high_value_ = kIsBytes<T> ? low_value_ : T(high_);
  if constexpr (kIsBytes<T>) {
    if (!unbounded_) end_ = high_;
  } else if (high_ < Highest<T>()) {
    end_ = Next<T>(high_, /*up=*/true);
  }
  if (end_) end_value_ = T(*end_);
  // Decoders compare no floats, and strings for equality only.
  if (form_ == Form::kList) {
    compares_encoded_ = !kIsFloat<T> && list_.size() <= kMaxListPasses;
    if (compares_encoded_) {
      std::copy(list_.begin(), list_.end(), list_values_);
      list_size_ = list_.size();
    }
  } else {
    compares_encoded_ = comparing() && !kIsFloat<T> && (!kIsBytes<T> || single_);
  }
}

template <typename T>
void PredicateMatcher<T>::Simplify(const Predicate<T>& predicate) {
  using Kind = typename Predicate<T>::Kind;
  const Kind kind = predicate.kind();
  const auto& constants = predicate.constants();
  if (kind == Kind::kIsNull || kind == Kind::kIsNotNull) {
    form_ = kind == Kind::kIsNull ? Form::kNull : Form::kNotNull;
    return;
  }
  if (kind == Kind::kIn) {
    SetList(constants);
    return;
  }
  const T first(constants[0]);
  const bool nan = !encodings::IsKey(first) || !encodings::IsKey(T(constants.back()));
  if (kind == Kind::kNotEqual) {
    if (!nan) SetRange(first, first);
    form_ = nan ? Form::kNotNull : Form::kNotEqual;
    return;
  }
  if (nan) return;
  if constexpr (kIsBytes<T>) {
    const std::string after = std::string(first) + '\0';
    form_ = Form::kRange;
    unbounded_ = kind == Kind::kGreater || kind == Kind::kGreaterOrEqual;
    switch (kind) {
      case Kind::kLess:
        high_ = first;
        if (first.empty()) form_ = Form::kNothing;
        break;
      case Kind::kLessOrEqual:
        high_ = after;
        break;
      case Kind::kGreater:
        low_ = after;
        break;
      case Kind::kGreaterOrEqual:
        low_ = first;
        break;
      case Kind::kHasPrefix: {
        low_ = first;
        const auto behind = AfterPrefix(low_);
        unbounded_ = !behind;
        high_ = behind.value_or("");
        break;
      }
      default:  // kEqual, kBetween
        SetRange(first, constants.back());
        break;
    }
    low_key_ = low_;
    high_key_ = high_;
  } else {
    switch (kind) {
      case Kind::kLess:
        if (Lowest<T>() < first) SetRange(Lowest<T>(), Next(first, /*up=*/false));
        break;
      case Kind::kLessOrEqual:
        SetRange(Lowest<T>(), first);
        break;
      case Kind::kGreater:
        if (first < Highest<T>()) SetRange(Next(first, /*up=*/true), Highest<T>());
        break;
      case Kind::kGreaterOrEqual:
        SetRange(first, Highest<T>());
        break;
      default:  // kEqual, kBetween
        SetRange(first, constants.back());
        break;
    }
  }
}

// Sets the range [low, high], which may be empty.
template <typename T>
void PredicateMatcher<T>::SetRange(const T& low, const T& high) {
  if constexpr (kIsBytes<T>) {
    low_ = low;
    high_ = std::string(high) + '\0';
    low_key_ = low_;
    high_key_ = high_;
    form_ = encodings::BytesLess(high, low) ? Form::kNothing : Form::kRange;
    single_ = low == high;
  } else {
    low_ = low;
    high_ = high;
    if constexpr (kIsFloat<T>) {
      if (low_ == 0) low_ = -T{};
      if (high_ == 0) high_ = T{};
    }
    if constexpr (!std::is_same_v<T, Int96>) {
      low_key_ = KeyOf<T>(low_);
      high_key_ = KeyOf<T>(high_);
    }
    form_ = high < low ? Form::kNothing : Form::kRange;
    single_ = !(low < high) && !(high < low);
  }
}

template <typename T>
void PredicateMatcher<T>::SetList(const std::vector<Owned<T>>& constants) {
  std::vector<Sortable<T>> sorted;
  sorted.reserve(constants.size());
  for (const auto& constant : constants) {
    if (encodings::IsKey(T(constant))) sorted.push_back(ToSortable(T(constant)));
  }
  if (sorted.empty()) return;
  SortAndDrop(sorted);
  list_.reserve(sorted.size());
  list_keys_.reserve(sorted.size());
  for (auto& each : sorted) {
    list_.push_back(FromSortable<T>(std::move(each)));
    if constexpr (!std::is_same_v<T, Int96>) list_keys_.push_back(KeyOf<T>(T(list_.back())));
  }
  SetRange(T(list_.front()), T(list_.back()));
  if (list_.size() > 1) form_ = Form::kList;
}

template <typename T>
bool PredicateMatcher<T>::InList(const T& value) const {
  if constexpr (kIsBytes<T>) {
    const auto found = std::lower_bound(list_.begin(), list_.end(), value, encodings::BytesLess);
    return found != list_.end() && *found == value;
  } else {
    const auto found = std::lower_bound(list_.begin(), list_.end(), value);
    return found != list_.end() && *found == value;
  }
}

template <typename T>
void PredicateMatcher<T>::UseListBounds(absl::FunctionRef<void(encodings::ValueSpan)> use) const {
  if (form_ != Form::kList) return;
  if constexpr (encodings::kIsInteger<T>) {
    std::vector<T> bounds;
    for (const T value : list_) {
      bounds.push_back(value);
      if (value < Highest<T>()) bounds.push_back(Next<T>(value, /*up=*/true));
    }
    use({bounds.data(), bounds.size()});
  } else if constexpr (kIsBytes<T>) {
    std::vector<std::string> bounds;
    for (const std::string& value : list_) {
      bounds.push_back(value);
      bounds.push_back(value + '\0');
    }
    const std::vector<T> views(bounds.begin(), bounds.end());
    use({views.data(), views.size()});
  }
}

template <typename T>
void PredicateMatcher<T>::Match(encodings::ValueSpan span, uint8_t* bits) const {
  const std::span<const T> values = span.As<T>();
  CFILE_ASSERT(comparing());
  const size_t count = values.size();
  if (form_ == Form::kList) {
    if (kIsBytes<T> || list_.size() > kMaxListPasses) {
      encodings::MatchEach(
          values.data(), count, [&](const T& value) { return InList(value); }, bits);
      return;
    }
    if constexpr (!kIsBytes<T>) {
      uint8_t some[512];
      for (size_t begin = 0; begin < count; begin += 8 * sizeof some) {
        const size_t part = std::min(count - begin, 8 * sizeof some);
        std::fill_n(bits + begin / 8, (part + 7) / 8, uint8_t{0});
        for (const T constant : list_) {
          encodings::MatchRange(values.data() + begin, part, constant, constant, some);
          for (size_t i = 0; i < (part + 7) / 8; ++i) bits[begin / 8 + i] |= some[i];
        }
      }
    }
    return;
  }
  if constexpr (kIsBytes<T>) {
    if (single_) {
      encodings::MatchEach(
          values.data(), count, [&](const T& value) { return value == low_; }, bits);
    } else {
      // For most values, the first byte or the first eight bytes decide whether the value matches.
      const auto first_byte = [](std::string_view text, uint8_t none) {
        return text.empty() ? none : static_cast<uint8_t>(text[0]);
      };
      const uint8_t low_first = first_byte(low_, 0);
      const uint8_t high_first = unbounded_ ? 0xff : first_byte(high_, 0);
      const uint64_t low_head = encodings::BytesHead(low_);
      const uint64_t high_head = unbounded_ ? ~uint64_t{0} : encodings::BytesHead(high_);
      encodings::MatchEach(
          values.data(), count,
          [&](const T& value) {
            const uint8_t first = first_byte(value, 0);
            if (first < low_first || first > high_first) return false;
            if (first > low_first && first < high_first) return true;
            const uint64_t head = encodings::BytesHead(value);
            if (head < low_head || head > high_head) return false;
            if (head > low_head && head < high_head) return true;
            return !encodings::BytesLess(value, low_) &&
                   (unbounded_ || encodings::BytesLess(value, high_));
          },
          bits);
    }
  } else {
    encodings::MatchRange<T>(values.data(), count, low_, high_, bits);
  }
  if (form_ == Form::kNotEqual) Invert(count, bits);
}

Verdict ValueMatcher::Judge(const BlockStatistics& statistics) const {
  const bool nulls = statistics.null_count > 0;
  const bool present = statistics.present_count > 0;
  switch (form_) {
    case Form::kNothing:
      return Verdict::kNone;
    case Form::kNull:
      return !nulls ? Verdict::kNone : present ? Verdict::kSome : Verdict::kAll;
    case Form::kNotNull:
      return !present ? Verdict::kNone : nulls ? Verdict::kSome : Verdict::kAll;
    default:
      break;
  }
  if (!present) return Verdict::kNone;
  // Without bounds, NaN may match, too: the test compares two columns.
  if (form_ == Form::kList && list_keys_.empty() && low_key_.empty() && unbounded_)
    return Verdict::kSome;
  const bool nans = statistics.nan_count > 0;
  const bool only_nans = statistics.nan_count == statistics.present_count;
  const auto& min = statistics.min_key;
  const auto& max = statistics.max_key;
  const Verdict all = nulls ? Verdict::kSome : Verdict::kAll;
  const bool outside = only_nans || (max && *max < low_key_) || (min && IsAbove(*min));
  // True: all values except NaN are in the range.
  const bool inside = min && max && *min >= low_key_ && !IsAbove(*max);
  if (form_ == Form::kNotEqual) {
    if (outside) return all;
    return inside && !nans ? Verdict::kNone : Verdict::kSome;
  }
  if (outside) return Verdict::kNone;
  if (form_ == Form::kRange) return inside && !nans ? all : Verdict::kSome;
  const auto first =
      min ? std::lower_bound(list_keys_.begin(), list_keys_.end(), *min) : list_keys_.begin();
  // (If a bound is zero, -0 and +0 are both within the bounds; see BlockStatistics.)
  const bool none = first == list_keys_.end() || (max && *first > *max);
  return none && !list_keys_.empty() ? Verdict::kNone : Verdict::kSome;
}

absl::StatusOr<bool> ValueMatcher::MatchEncoded(encodings::AnyBlockDecoder& decoder, size_t count,
                                                uint8_t* bits) const {
  CFILE_ASSERT(compares_encoded() && count <= kMaxMatchEncoded);
  if (form_ != Form::kList) {
    const auto done = decoder.ReadAnyMatches(low(), high(), count, bits);
    if (done.value_or(false) && form_ == Form::kNotEqual) Invert(count, bits);
    return done;
  }
  static_assert(kMaxListPasses <= encodings::AnyBlockDecoder::kMostMatches);
  const size_t constants = list_size_;
  const auto listed = decoder.ReadAnyMatchesOfAny({list(), constants}, count, bits);
  if (!listed.ok() || *listed) return listed;
  const uint32_t position = decoder.position();
  uint8_t some[kMaxMatchEncoded / 8];
  const size_t bytes = (count + 7) / 8;
  std::fill_n(bits, bytes, uint8_t{0});
  for (size_t i = 0; i < constants; ++i) {
    CFILE_RETURN_IF_ERROR(decoder.SeekTo(position));
    const void* const constant = encodings::ValueAt(list(), lane_, i);
    const auto done = decoder.ReadAnyMatches(constant, constant, count, some);
    if (!done.value_or(false)) return done;
    for (size_t b = 0; b < bytes; ++b) bits[b] |= some[b];
  }
  return true;
}

template <typename T>
bool PredicateMatcher<T>::PassesBloomFilter(const FileStatistics& statistics) const {
  const auto passes = [&](const T& value) {
    if constexpr (kIsFloat<T>) {
      if (value == 0) return statistics.MightContain(T{}) || statistics.MightContain(-T{});
    }
    return statistics.MightContain(value);
  };
  if (form_ == Form::kRange && single_) return passes(T(low_));
  if (form_ != Form::kList) return true;
  return std::any_of(list_.begin(), list_.end(), [&](const T& value) { return passes(value); });
}

std::shared_ptr<const ValueMatcher> MatchAtLeast(KeyRef key) {
  return encodings::VisitPhysicalType(
      key.type, [&]<typename T>(std::type_identity<T>) -> std::shared_ptr<const ValueMatcher> {
        if constexpr (std::is_same_v<T, Int96>) {
          return nullptr;
        } else {
          return std::make_shared<PredicateMatcher<T>>(
              Predicate<T>::GreaterOrEqual(*static_cast<const T*>(key.value)));
        }
      });
}

#define CFILE_INSTANTIATE(T) template class PredicateMatcher<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
