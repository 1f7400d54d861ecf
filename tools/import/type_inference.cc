#include "tools/import/type_inference.h"

#include <cmath>
#include <limits>
#include <system_error>

#include "tools/parse_number.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool ParsesTimestamp(std::string_view text, TimeUnit unit, bool zoned) {
  const ColumnType type = ColumnType::Timestamp(unit, zoned ? "UTC" : "");
  std::string scratch;
  return ParseText<int64_t>(type, text, scratch).ok();
}

}  // namespace

uint32_t TypeInference::Classify(std::string_view text) {
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
  if (!IsDigit(text.front())) return kText;
  return text.size() >= 10 && text[4] == '-' ? ClassifyDate(text) : ClassifyNumber(text);
}

uint32_t TypeInference::ClassifyNumber(std::string_view text) {
  const bool negative = text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  // A text with leading zeros, such as 007, is an identifier, not a number.
  if (digits.size() > 1 && digits[0] == '0' && IsDigit(digits[1])) return kText;

  int64_t integer = 0;
  if (ParseNumber(text, integer) == std::errc()) {
    constexpr int64_t kExactInDouble = int64_t{1} << std::numeric_limits<double>::digits;
    if (integer == 0 && negative) return kFraction;  // -0: only a double keeps the sign
    if (static_cast<int32_t>(integer) == integer) return kInt32;
    return integer >= -kExactInDouble && integer <= kExactInDouble ? kInt64 : kWideInt64;
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

ColumnType TypeInference::Type(Compatibility compatibility) const {
  const bool kudu = compatibility == Compatibility::kKudu;
  const auto only = [this](uint32_t kinds) { return (seen_ & ~kinds) == 0; };
  const auto any = [this](uint32_t kinds) { return (seen_ & kinds) != 0; };
  if (seen_ == 0 || any(kText)) return ColumnType::String();
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
