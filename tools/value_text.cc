#include "tools/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/civil_time.h"
#include "tools/parse_number.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// The meaning of the integers of a column.
enum class Meaning : uint8_t { kNumber, kDate, kTime, kTimestamp, kDecimal };

Meaning MeaningOf(const ColumnType& type) {
  switch (type.data_type) {
    case DataType::kDate:
      return Meaning::kDate;
    case DataType::kUnixtimeMicros:
      return Meaning::kTimestamp;
    case DataType::kDecimal32:
    case DataType::kDecimal64:
    case DataType::kDecimal128:
      // Without a precision the scale is not known either.
      return type.decimal_precision > 0 ? Meaning::kDecimal : Meaning::kNumber;
    default:
      break;
  }
  if (type.logical == LogicalType::kTimestamp) return Meaning::kTimestamp;
  if (type.logical == LogicalType::kTime) return Meaning::kTime;
  return Meaning::kNumber;
}

TimeUnit UnitOf(const ColumnType& type) {
  return type.data_type == DataType::kUnixtimeMicros ? TimeUnit::kMicros : type.time_unit;
}

bool IsZoned(const ColumnType& type) {
  return type.data_type == DataType::kUnixtimeMicros || !type.time_zone.empty();
}

bool IsText(const ColumnType& type) {
  return type.data_type == DataType::kString || type.data_type == DataType::kVarchar;
}

absl::Status Invalid(const ColumnType& type, std::string_view text, std::string_view reason) {
  return absl::InvalidArgumentError(Quoted(text) + " is not of type " + type.ToString() + ": " +
                                    std::string(reason));
}

// 10^0 to 10^38.
constexpr auto kPowersOf10 = [] {
  std::array<uint128_t, 39> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// Appends `magnitude` in decimal, with `scale` digits after the point. `Unsigned` should be the
// narrowest type that fits, because division of 128-bit integers is slow.
template <typename Unsigned>
void AppendDigits(Unsigned magnitude, bool negative, int scale, std::string& out) {
  char text[64];
  char* const end = text + sizeof text;
  char* begin = end;
  for (int digits = 0; magnitude != 0 || digits <= scale; ++digits, magnitude /= 10) {
    if (digits == scale && scale > 0) *--begin = '.';
    *--begin = static_cast<char>('0' + static_cast<int>(magnitude % 10));
  }
  if (negative) *--begin = '-';
  out.append(begin, end);
}

// The largest magnitude of a positive or `negative` value of the column.
template <typename T>
uint128_t LimitOf(const ColumnType& type, bool negative) {
  if (MeaningOf(type) == Meaning::kDecimal) {
    return kPowersOf10[static_cast<size_t>(std::min(type.decimal_precision, 38))] - 1;
  }
  const int bits = static_cast<int>(sizeof(T)) * 8 - 1;
  return (uint128_t{1} << bits) - (negative ? 0 : 1);
}

// Parses [+-]DIGITS, or for a decimal [+-]DIGITS[.DIGITS], whose value is multiplied by 10^scale.
template <typename T>
absl::StatusOr<T> ParseDigits(const ColumnType& type, std::string_view text) {
  constexpr auto kNone = std::string_view::npos;
  constexpr std::string_view kDigits = "0123456789";
  const size_t scale =
      MeaningOf(type) == Meaning::kDecimal ? static_cast<size_t>(type.decimal_scale) : 0;
  const bool decimal = MeaningOf(type) == Meaning::kDecimal;
  const bool negative = text.starts_with('-');
  const std::string_view number = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const size_t point = decimal ? std::min(number.find('.'), number.size()) : number.size();
  const std::string_view whole = number.substr(0, point);
  const std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  if ((whole.empty() && fraction.empty()) || whole.find_first_not_of(kDigits) != kNone ||
      fraction.find_first_not_of(kDigits) != kNone) {
    return Invalid(type, text, decimal ? "expected a decimal number" : "expected an integer");
  }
  if (fraction.find_first_not_of('0', scale) != kNone) {
    return Invalid(type, text, absl::StrCat("it has more than ", scale, " digits after the point"));
  }

  const uint128_t limit = LimitOf<T>(type, negative);
  const uint128_t tenth = limit / 10;
  uint128_t magnitude = 0;
  for (size_t i = 0; i < whole.size() + scale; ++i) {
    unsigned digit = 0;
    if (i < whole.size()) {
      digit = static_cast<unsigned>(whole[i] - '0');
    } else if (i - whole.size() < fraction.size()) {
      digit = static_cast<unsigned>(fraction[i - whole.size()] - '0');
    }
    if (magnitude > tenth || magnitude * 10 > limit - digit) {
      return Invalid(type, text, "it is outside the range of the type");
    }
    magnitude = magnitude * 10 + digit;
  }
  return static_cast<T>(negative ? uint128_t{0} - magnitude : magnitude);
}

template <typename T>
absl::StatusOr<T> ParseInteger(const ColumnType& type, std::string_view text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  T value{};
  const std::errc error = ParseNumber(digits, value);
  if (error == std::errc::invalid_argument) {
    return Invalid(type, text, "expected an integer");
  }
  if (error != std::errc()) {
    return Invalid(type, text,
                   "it is outside " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                       std::to_string(std::numeric_limits<T>::max()));
  }
  return value;
}

template <typename T>
absl::StatusOr<T> ParseFloat(const ColumnType& type, std::string_view text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  T value{};
  const std::errc error = ParseNumber(digits, value);
  // nan(...) is an error because its payload bits would be lost.
  if (error == std::errc::invalid_argument || digits.back() == ')') {
    return Invalid(type, text, "expected a number");
  }
  if (error != std::errc()) {
    return Invalid(type, text, "it is too large, or too near to 0, for the type");
  }
  return value;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Appends the bytes that `text` has in hexadecimal. False if `text` is not pairs of digits.
bool ParseHex(std::string_view text, std::string& bytes) {
  if (text.size() % 2 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]), low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

absl::StatusOr<std::string_view> ParseBytes(const ColumnType& type, std::string_view text,
                                            std::string& scratch) {
  scratch.clear();
  if (type.logical == LogicalType::kUuid) {
    bool dashes = text.size() == 36;
    std::string digits;
    for (size_t i = 0; dashes && i < text.size(); ++i) {
      const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
      dashes = (text[i] == '-') == dash;
      if (!dash) digits += text[i];
    }
    if (!dashes || !ParseHex(digits, scratch)) {
      return Invalid(type, text, "expected hexadecimal digits, 8-4-4-4-12");
    }
    return std::string_view(scratch);
  }
  if (!ParseHex(text, scratch)) {
    return Invalid(type, text, "expected pairs of hexadecimal digits");
  }
  if (type.data_type == DataType::kFixedLenByteArray && scratch.size() != type.type_length) {
    return Invalid(type, text, "expected " + std::to_string(type.type_length * 2) + " digits");
  }
  return std::string_view(scratch);
}

template <typename T>
void AppendInteger(const ColumnType& type, T value, std::string& out) {
  switch (MeaningOf(type)) {
    case Meaning::kDate:
      return AppendDate(static_cast<int64_t>(value), out);
    case Meaning::kTime:
      return AppendTime(static_cast<int64_t>(value), UnitOf(type), out);
    case Meaning::kTimestamp:
      return AppendTimestamp(static_cast<int64_t>(value), UnitOf(type), IsZoned(type), out);
    case Meaning::kDecimal:
    case Meaning::kNumber:
      break;
  }
  using Unsigned = std::conditional_t<std::is_same_v<T, int128_t>, uint128_t, uint64_t>;
  const bool negative = value < 0;
  const Unsigned bits = static_cast<Unsigned>(value);
  AppendDigits(negative ? Unsigned{0} - bits : bits, negative,
               MeaningOf(type) == Meaning::kDecimal ? type.decimal_scale : 0, out);
}

// Parses a date, time or timestamp. The message of an error has only the reason.
absl::StatusOr<int64_t> ParseTemporal(const ColumnType& type, std::string_view text) {
  switch (MeaningOf(type)) {
    case Meaning::kDate:
      return ParseDate(text);
    case Meaning::kTime:
      return ParseTime(text, UnitOf(type));
    default:
      return ParseTimestamp(text, UnitOf(type), IsZoned(type));
  }
}

}  // namespace

template <typename T>
void AppendText(const ColumnType& type, const T& value, std::string& out) {
  if constexpr (kIsBytes<T>) {
    if (IsText(type)) {
      out += value;
    } else if (type.logical == LogicalType::kUuid && value.size() == 16) {
      for (const size_t end : {4, 6, 8, 10, 16}) {
        const size_t begin = end == 16 ? 10 : end == 4 ? 0 : end - 2;
        if (begin > 0) out += '-';
        AppendHex(value.substr(begin, end - begin), out);
      }
    } else {
      AppendHex(value, out);
    }
  } else if constexpr (kIsFloat<T>) {
    if (std::isnan(value)) {
      out += "nan";  // to_chars would print the sign bit
    } else {
      char text[32];
      out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
  } else if constexpr (kIsInteger<T>) {
    AppendInteger(type, value, out);
  } else if constexpr (std::is_same_v<T, Int96>) {
    AppendHex({reinterpret_cast<const char*>(&value), sizeof value}, out);
  } else {
    out += value ? "true" : "false";
  }
}

template <typename T>
void AppendJsonNumber(const ColumnType& type, const T& value, std::string& out) {
  [[maybe_unused]] const size_t start = out.size();
  AppendText<T>(type, value, out);
  if constexpr (kIsFloat<T>) {
    if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
  }
}

template <typename T>
absl::StatusOr<T> ParseText(const ColumnType& type, std::string_view text, std::string& scratch) {
  if constexpr (kIsBytes<T>) {
    if (!IsText(type)) return ParseBytes(type, text, scratch);
    if (!IsUtf8(text)) return Invalid(type, text, "it is not valid UTF-8");
    return text;
  } else if constexpr (kIsFloat<T>) {
    return ParseFloat<T>(type, text);
  } else if constexpr (kIsInteger<T>) {
    const Meaning meaning = MeaningOf(type);
    if (meaning == Meaning::kDate || meaning == Meaning::kTime || meaning == Meaning::kTimestamp) {
      const absl::StatusOr<int64_t> count = ParseTemporal(type, text);
      if (!count.ok()) {
        const absl::string_view reason = count.status().message();
        return Invalid(type, text, {reason.data(), reason.size()});
      }
      if (static_cast<int64_t>(static_cast<T>(*count)) != *count) {
        return Invalid(type, text, "it is outside the range of the type");
      }
      return static_cast<T>(*count);
    }
    if constexpr (!std::is_same_v<T, int128_t>) {
      if (meaning == Meaning::kNumber) return ParseInteger<T>(type, text);
    }
    return ParseDigits<T>(type, text);
  } else if constexpr (std::is_same_v<T, Int96>) {
    scratch.clear();
    if (!ParseHex(text, scratch) || scratch.size() != sizeof(T))
      return Invalid(type, text, "expected 24 hexadecimal digits");
    T bits;
    std::memcpy(&bits, scratch.data(), sizeof(T));  // least significant byte first
    return bits;
  } else {
    if (text == "true" || text == "TRUE" || text == "True") return true;
    if (text == "false" || text == "FALSE" || text == "False") return false;
    return Invalid(type, text, "expected true or false");
  }
}

bool IsJsonNumber(const ColumnType& type) {
  switch (type.physical()) {
    case PhysicalType::kInt128:
    case PhysicalType::kInt96:
    case PhysicalType::kBytes:
    case PhysicalType::kFixedBytes:
      return false;
    default:
      return MeaningOf(type) == Meaning::kNumber;
  }
}

#define CFILE_INSTANTIATE(T)                                                    \
  template void AppendText<T>(const ColumnType&, const T&, std::string&);       \
  template void AppendJsonNumber<T>(const ColumnType&, const T&, std::string&); \
  template absl::StatusOr<T> ParseText<T>(const ColumnType&, std::string_view, std::string&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::tools
