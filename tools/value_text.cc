#include "tools/value_text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/civil_time.h"
#include "tools/parse_number.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"
#include "tools/value_writer.h"

namespace cfile::tools {
namespace {

absl::Status Invalid(const ColumnType& type, std::string_view text, std::string_view reason) {
  const auto error = absl::InvalidArgumentError(Quoted(text) + " is not of type " +
                                                type.ToString() + ": " + std::string(reason));
  double number;
  const bool is_number = absl::SimpleAtod(absl::string_view(text.data(), text.size()), &number);
  return is_number ? UnfitRows(error) : error;  // a wider type may have this number
}

// 10^0 to 10^38.
constexpr auto kPowersOf10 = [] {
  std::array<uint128_t, 39> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

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

// Parses an integer of at most 64 bits, or a float.
template <typename T>
absl::StatusOr<T> ParsePlain(const ColumnType& type, std::string_view text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  T value{};
  const std::errc error = ParseNumber(digits, value);
  // nan(...) is an error because its payload bits would be lost.
  if (error == std::errc::invalid_argument || digits.back() == ')') {
    return Invalid(type, text, kIsFloat<T> ? "expected a number" : "expected an integer");
  }
  if (error == std::errc()) return value;
  return Invalid(type, text,
                 kIsFloat<T> ? "it is too large, or too near to 0, for the type"
                             : "it is outside " + std::to_string(std::numeric_limits<T>::min()) +
                                   " to " + std::to_string(std::numeric_limits<T>::max()));
}

// Appends the bytes that `text` has in hexadecimal. False if `text` is not pairs of digits.
bool ParseHex(std::string_view text, std::string& bytes) {
  const bool valid = text.size() % 2 == 0 && std::all_of(text.begin(), text.end(), [](char c) {
                       return absl::ascii_isxdigit(static_cast<unsigned char>(c));
                     });
  if (valid) bytes += absl::HexStringToBytes(absl::string_view(text.data(), text.size()));
  return valid;
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
  if (!ParseHex(text, scratch)) return Invalid(type, text, "expected pairs of hexadecimal digits");
  if (type.data_type == DataType::kFixedLenByteArray && scratch.size() != type.type_length) {
    return Invalid(type, text, "expected " + std::to_string(type.type_length * 2) + " digits");
  }
  return std::string_view(scratch);
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

template <typename T>
void Append(const ColumnType& type, bool with_point, const T& value, std::string& out) {
  const size_t size = out.size();
  size_t max_bytes = kMaxTextBytes<T>;
  if constexpr (kIsBytes<T>) max_bytes = max_bytes * value.size() + kUuidDashes;
  out.resize(size + max_bytes);
  VisitWriter<T>(type, with_point, [&](auto write) {
    out.resize(static_cast<size_t>(write(value, out.data() + size) - out.data()));
  });
}

}  // namespace

template <typename T>
void AppendText(const ColumnType& type, const T& value, std::string& out) {
  Append(type, /*with_point=*/false, value, out);
}

template <typename T>
void AppendJsonNumber(const ColumnType& type, const T& value, std::string& out) {
  Append(type, /*with_point=*/true, value, out);
}

template <typename T>
absl::StatusOr<T> ParseText(const ColumnType& type, std::string_view text, std::string& scratch) {
  if constexpr (kIsBytes<T>) {
    if (!IsText(type)) return ParseBytes(type, text, scratch);
    if (!IsUtf8(text)) return Invalid(type, text, "it is not valid UTF-8");
    return text;
  } else if constexpr (kIsFloat<T>) {
    return ParsePlain<T>(type, text);
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
      if (meaning == Meaning::kNumber) return ParsePlain<T>(type, text);
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
