#include "tools/records/type_inference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "tools/parse_number.h"
#include "tools/time_format.h"
#include "tools/value_meaning.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

bool ParsesTimestamp(std::string_view text, TimeUnit unit, bool zoned) {
  const ColumnType type = ColumnType::Timestamp(unit, zoned ? "UTC" : "");
  std::string scratch;
  return ParseText<int64_t>(type, text, scratch).ok();
}

}  // namespace

bool IsMissingText(std::string_view text) {
  if (text.empty()) return false;
  const char first = text.front();
  if (first != 'N' && first != 'n' && first != '-' && first != ' ' && first != '\t') return false;
  text = StripBlanks(text);
  return text.empty() || text == "NA" || text == "N/A" || text == "null" || text == "NULL" ||
         text == "-";
}

uint32_t TypeInference::Classify(std::string_view text) {
  text = StripBlanks(text);
  if (text.empty()) return kText;
  switch (text.front()) {
    case 't':
    case 'T':
    case 'f':
    case 'F': {
      static const ColumnType type = ColumnType::Bool();
      std::string scratch;
      return ParseText<bool>(type, text, scratch).ok() ? kBool : kText;
    }
    case '-':
    case '.':
    case 'n':
    case 'N':
    case 'i':
    case 'I':
      return ClassifyNumber(text);
    default:
      break;
  }
  if (!absl::ascii_isdigit(static_cast<unsigned char>(text.front()))) return kText;
  return text.size() >= 10 && text[4] == '-' ? ClassifyDate(text) : ClassifyNumber(text);
}

uint32_t TypeInference::ClassifyNumber(std::string_view text) {
  const bool negative = text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  // A text with leading zeros, such as 007, is an identifier, not a number.
  if (digits.size() > 1 && digits[0] == '0' &&
      absl::ascii_isdigit(static_cast<unsigned char>(digits[1])))
    return kText;

  int64_t integer = 0;
  if (ParseNumber(text, integer) == std::errc()) {
    constexpr int64_t kMaxExactInteger = int64_t{1} << std::numeric_limits<double>::digits;
    if (integer == 0 && negative) return kFraction;  // -0: only a double keeps the sign
    if (static_cast<int32_t>(integer) == integer) return kInt32;
    return integer >= -kMaxExactInteger && integer <= kMaxExactInteger ? kInt64 : kWideInt64;
  }
  double number = 0;
  if (ParseNumber(text, number) != std::errc() || text.back() == ')') return kText;
  if (!std::isfinite(number)) return kNotANumber;
  // An integer beyond 64 bits is probably an identifier, which must not be rounded.
  return text.find_first_of(".eE") == std::string_view::npos ? kText : kFraction;
}

uint32_t TypeInference::ClassifyDate(std::string_view text) {
  if (text.size() == 10) {
    static const ColumnType type = ColumnType::Date();
    std::string scratch;
    return ParseText<int32_t>(type, text, scratch).ok() ? kDate : kText;
  }
  const bool zoned = text.find_first_of("Z+-", 11) != std::string_view::npos;
  uint32_t kinds = zoned ? kZoned : kLocal;
  if (!ParsesTimestamp(text, TimeUnit::kMicros, zoned)) {
    kinds |= kNanos;
    if (!ParsesTimestamp(text, TimeUnit::kNanos, zoned)) return kText;
  } else if (text < "1678" || text >= "2262") {
    kinds |= kBeyondNanos;
  }
  return kinds;
}

void TypeInference::Note(uint32_t kinds, std::string_view text, uint64_t offset, bool lasting) {
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if ((kinds & ~seen_ & 1U << kind) != 0) first_offsets_[kind] = offset;
  }
  if ((kinds & kText) != 0) {
    // Only a lasting text that is not empty can become the text of --null.
    has_texts_ = (seen_ & kText) != 0 || !lasting || text.empty();
    text_ = text;
  }
  seen_ |= kinds;
}

void TypeInference::Add(const TypeInference& other) {
  const uint32_t both = seen_ & other.seen_;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    const uint32_t bit = 1U << kind;
    if ((both & bit) != 0) {
      first_offsets_[kind] = std::min(first_offsets_[kind], other.first_offsets_[kind]);
    } else if ((other.seen_ & bit) != 0) {
      first_offsets_[kind] = other.first_offsets_[kind];
    }
  }
  has_texts_ = has_texts_ || other.has_texts_ || ((both & kText) != 0 && text_ != other.text_);
  if ((seen_ & kText) == 0) text_ = other.text_;
  seen_ |= other.seen_;
}

ColumnType TypeInference::TypeOfStrings(OldestReader oldest_reader) const {
  ColumnType type = Type(oldest_reader);
  const Meaning meaning = MeaningOf(type);
  return meaning == Meaning::kDate || meaning == Meaning::kTimestamp ? type : ColumnType::String();
}

TypeInference TypeInference::Of(const ColumnType& type) {
  TypeInference inference;
  inference.seen_ = MeaningOf(type) == Meaning::kDate ? kDate : IsZoned(type) ? kZoned : kLocal;
  return inference;
}

std::optional<TypeInference::Cause> TypeInference::FindCause(OldestReader oldest_reader) const {
  std::vector<size_t> kinds;  // that were seen, in the order of their first values
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if ((seen_ & ~kMissing & 1U << kind) != 0) kinds.push_back(kind);
  }
  if (kinds.empty()) return std::nullopt;
  std::stable_sort(kinds.begin(), kinds.end(),
                   [&](size_t a, size_t b) { return first_offsets_[a] < first_offsets_[b]; });
  // Values that follow a value of the kind kText may have been ignored, but do not change the type.
  Cause cause{.offset = first_offsets_[kinds[0]]};
  uint32_t seen = 0;
  std::string last_type;
  for (size_t i = 0; i < kinds.size(); ++i) {
    seen |= 1U << kinds[i];
    // A value may have several kinds.
    if (i + 1 < kinds.size() && first_offsets_[kinds[i + 1]] == first_offsets_[kinds[i]]) continue;
    std::string type = TypeOf(seen, oldest_reader).ToString();
    if (type == last_type) continue;
    last_type = std::move(type);
    cause.offset = first_offsets_[kinds[i]];
  }
  cause.is_first_value = cause.offset == first_offsets_[kinds[0]];
  if ((seen_ & kText) != 0 && !has_texts_) {
    const ColumnType other = TypeOf(seen_ & ~kText, oldest_reader);
    if (other.data_type != DataType::kString) {
      cause.offset = first_offsets_[0];  // of kText
      cause.lone_text = text_;
      cause.other_type = other;
    }
  }
  return cause;
}

ColumnType TypeInference::TypeOf(uint32_t seen, OldestReader oldest_reader) {
  const bool kudu = oldest_reader == OldestReader::kKudu;
  seen &= ~kMissing;
  const auto only = [seen](uint32_t kinds) { return (seen & ~kinds) == 0; };
  const auto any = [seen](uint32_t kinds) { return (seen & kinds) != 0; };
  if (seen == 0 || any(kText)) return ColumnType::String();
  if (only(kInt32)) return ColumnType::Int32();
  if (only(kInt32 | kInt64 | kWideInt64)) return ColumnType::Int64();
  if (only(kInt32 | kInt64 | kFraction | kNotANumber) && !only(kNotANumber)) {
    return ColumnType::Double();
  }
  if (only(kBool)) return ColumnType::Bool();
  if (only(kDate)) return ColumnType::Date();

  const bool nanos = any(kNanos);
  if (nanos && (kudu || any(kBeyondNanos | kDate))) return ColumnType::String();
  const TimeUnit unit = nanos ? TimeUnit::kNanos : TimeUnit::kMicros;
  constexpr uint32_t kPlain = kDate | kNanos | kBeyondNanos;
  if (only(kPlain | kZoned)) return ColumnType::Timestamp(unit, "UTC");
  if (only(kPlain | kLocal)) return ColumnType::Timestamp(unit, kudu ? "UTC" : "");
  return ColumnType::String();
}

}  // namespace cfile::tools
