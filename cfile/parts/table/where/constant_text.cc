#include "cfile/parts/table/where/constant_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/parts/table/where/filter_error.h"

namespace cfile::internal {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr auto kGreatest = static_cast<int128_t>(~uint128_t{0} >> 1);

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

absl::Status Unexpected(const char* what) { return absl::InvalidArgumentError(what); }

// Takes parts of a text of fixed form.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool Take(char c) {
    const bool found = rest_.starts_with(c);
    rest_.remove_prefix(found);
    return found;
  }
  std::string_view TakeDigits(size_t most) {
    const std::string_view digits =
        rest_.substr(0, std::min({rest_.find_first_not_of(kDigits), rest_.size(), most}));
    rest_.remove_prefix(digits.size());
    return digits;
  }
  // Takes exactly `digits` digits, whose number is at most `most`.
  bool TakeNumber(size_t digits, int most, int& number) {
    const std::string_view text = TakeDigits(digits);
    return text.size() == digits && absl::SimpleAtoi(View(text), &number) && number <= most;
  }

 private:
  std::string_view rest_;
};

bool TakeDate(Scanner& scanner, int64_t& days) {
  int year = 0, month = 0, day = 0;
  if (!scanner.TakeNumber(4, 9999, year) || !scanner.Take('-') ||
      !scanner.TakeNumber(2, 12, month) || !scanner.Take('-') || !scanner.TakeNumber(2, 31, day)) {
    return false;
  }
  const std::chrono::year_month_day date(std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)});
  days = year > 0 && date.ok() ? std::chrono::sys_days(date).time_since_epoch().count() : 0;
  return year > 0 && date.ok();
}

// Takes 10:00, 10:00:00 or 10:00:00.123. `fraction`: the digits after the point.
bool TakeTime(Scanner& scanner, int64_t& seconds, std::string_view& fraction) {
  int hour = 0, minute = 0, second = 0;
  if (!scanner.TakeNumber(2, 23, hour) || !scanner.Take(':') || !scanner.TakeNumber(2, 59, minute))
    return false;
  if (scanner.Take(':')) {
    if (!scanner.TakeNumber(2, 59, second)) return false;
    if (scanner.Take('.')) {
      fraction = scanner.TakeDigits(std::string_view::npos);
      if (fraction.empty()) return false;
    }
  }
  seconds = (hour * 60 + minute) * 60 + second;
  return true;
}

// Takes Z, +02:00, +0200 or +02; `seconds` east of UTC are subtracted.
bool TakeOffset(Scanner& scanner, int64_t& seconds) {
  if (scanner.Take('Z')) return true;
  const bool west = scanner.Take('-');
  int hours = 0, minutes = 0;
  if ((!west && !scanner.Take('+')) || !scanner.TakeNumber(2, 23, hours)) return false;
  if ((scanner.Take(':') || !scanner.done()) && !scanner.TakeNumber(2, 59, minutes)) return false;
  seconds -= (hours * 60 + minutes) * 60 * (west ? -1 : 1);
  return true;
}

// A date or a time, rounded down to a unit of the type.
absl::StatusOr<FilterConstant> ParseTemporal(const ColumnType& type, std::string_view text) {
  const bool date = type.data_type == DataType::kDate;
  const bool micros = type.data_type == DataType::kUnixtimeMicros;
  const bool time = !micros && type.logical == LogicalType::kTime;
  if (text.starts_with('@')) {
    int64_t count = 0;
    if (text.size() > 1 && absl::SimpleAtoi(View(text.substr(1)), &count))
      return FilterConstant{count};
    return Unexpected("expected @ and a number of units");
  }
  Scanner scanner(text);
  int64_t days = 0, seconds = 0;
  std::string_view fraction;
  if (date) {
    if (TakeDate(scanner, days) && scanner.done()) return FilterConstant{days};
    return Unexpected("expected a date such as 2013-01-31");
  }
  if (time) {
    if (!TakeTime(scanner, seconds, fraction) || !scanner.done())
      return Unexpected("expected a time such as 10:00:00");
  } else {
    const bool zoned = micros || !type.time_zone.empty();
    bool fits = TakeDate(scanner, days);
    if (fits && !scanner.done()) {
      fits = (scanner.Take('T') || scanner.Take(' ')) && TakeTime(scanner, seconds, fraction);
      if (fits && zoned && !scanner.done()) fits = TakeOffset(scanner, seconds);
    }
    if (!fits || !scanner.done()) {
      return Unexpected(
          zoned ? "expected a date and time such as 2013-01-31T10:00:00Z"
                : "expected a date and time without a zone, such as 2013-01-31T10:00:00");
    }
  }
  const TimeUnit unit = micros ? TimeUnit::kMicros : type.time_unit;
  const size_t held = unit == TimeUnit::kMillis   ? 3
                      : unit == TimeUnit::kMicros ? 6
                      : unit == TimeUnit::kNanos  ? 9
                                                  : 0;
  int128_t count = int128_t{days} * 86'400 + seconds;
  for (size_t i = 0; i < held; ++i)
    count = count * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  return FilterConstant{count, fraction.find_first_not_of('0', held) == std::string_view::npos};
}

// A number with a larger exponent is beyond all numbers of the column types, or rounds to 0.
constexpr int kMostShift = 10'000;

// Reads an exponent such as 3, +3 or -3. A magnitude above kMostShift + `more` is reduced to this
// sum, which has the same effect.
bool ReadExponent(std::string_view text, int more, int& shift) {
  const bool sign = text.starts_with('-') || text.starts_with('+');
  const std::string_view digits = text.substr(sign);
  if (digits.empty() || digits.find_first_not_of(kDigits) != std::string_view::npos) return false;
  const int most = kMostShift + more;
  int64_t number = 0;
  if (!absl::SimpleAtoi(View(digits), &number)) number = most;
  shift = static_cast<int>(std::min<int64_t>(number, most)) * (text.starts_with('-') ? -1 : 1);
  return true;
}

// A number, rounded down to a multiple of 10^-scale; nullopt if the text is no number.
std::optional<FilterConstant> FloorOf(std::string_view text, int scale) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (absl::EqualsIgnoreCase(View(text), "inf") || absl::EqualsIgnoreCase(View(text), "infinity")) {
    return negative ? FilterConstant{-kGreatest - 1, false, true}
                    : FilterConstant{kGreatest, false};
  }
  const size_t letter = std::min(text.find_first_of("eE"), text.size());
  int shift = 0;
  if (letter < text.size() &&
      !ReadExponent(text.substr(letter + 1), static_cast<int>(letter), shift)) {
    return std::nullopt;
  }
  const size_t dot = std::min(text.find('.'), letter);
  std::string digits(text.substr(0, dot));
  if (dot < letter) digits += text.substr(dot + 1, letter - dot - 1);
  if (digits.empty() || digits.find_first_not_of(kDigits) != std::string::npos) return std::nullopt;
  const int64_t point = static_cast<int64_t>(dot) + shift + scale;  // digits before it are kept

  const uint128_t limit = static_cast<uint128_t>(kGreatest) + (negative ? 1 : 0);
  uint128_t magnitude = 0;
  bool over = false;
  for (int64_t i = 0; i < point && !over; ++i) {
    const auto at = static_cast<size_t>(i);
    const unsigned digit = at < digits.size() ? static_cast<unsigned>(digits[at] - '0') : 0;
    over = magnitude > (limit - digit) / 10;
    if (!over) magnitude = magnitude * 10 + digit;
  }
  const auto rest = static_cast<size_t>(std::max<int64_t>(point, 0));
  const bool exact = digits.find_first_not_of('0', rest) == std::string::npos;
  if (!negative) {
    return FilterConstant{over ? kGreatest : static_cast<int128_t>(magnitude), exact && !over};
  }
  if (!exact) over = over || ++magnitude > limit;
  if (over) return FilterConstant{-kGreatest - 1, false, true};
  return FilterConstant{static_cast<int128_t>(uint128_t{0} - magnitude), exact};
}

absl::StatusOr<FilterConstant> ParseInteger(const ColumnType& type, std::string_view text) {
  if (type.data_type == DataType::kDate || type.data_type == DataType::kUnixtimeMicros ||
      type.logical == LogicalType::kTime || type.logical == LogicalType::kTimestamp) {
    return ParseTemporal(type, text);
  }
  const bool decimal = type.decimal_precision > 0;
  if (const auto floor = FloorOf(text, decimal ? type.decimal_scale : 0)) return *floor;
  return Unexpected(decimal ? "expected a decimal number" : "expected an integer");
}

// A float is rounded once, not to a double first.
absl::StatusOr<FilterConstant> ParseFloat(bool is_double, std::string_view text) {
  float single = 0;
  double number = 0;
  if (text.find_first_of("xX)") != std::string_view::npos ||
      !absl::SimpleAtod(View(text), &number) || !absl::SimpleAtof(View(text), &single)) {
    return Unexpected("expected a number");
  }
  if (std::isnan(number)) return Unexpected("nan cannot be compared");
  if (std::isinf(number) && text.find_first_of(kDigits) != std::string_view::npos) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return FilterConstant{number > 0 ? kMost : number, false};
  }
  return FilterConstant{is_double || std::isinf(single) ? number : double{single}};
}

absl::StatusOr<FilterConstant> ParseBytes(const ColumnType& type, std::string_view text) {
  std::string digits(text);
  if (type.logical == LogicalType::kUuid) {
    for (const size_t dash : {23, 18, 13, 8}) {
      if (text.size() != 36 || text[dash] != '-')
        return Unexpected("expected hexadecimal digits, 8-4-4-4-12");
      digits.erase(dash, 1);
    }
  }
  if (digits.size() % 2 != 0 || !std::all_of(digits.begin(), digits.end(), [](char c) {
        return absl::ascii_isxdigit(static_cast<unsigned char>(c));
      })) {
    return Unexpected("expected pairs of hexadecimal digits");
  }
  const std::string bytes = absl::HexStringToBytes(digits);
  if (type.data_type == DataType::kInt96) {
    Int96 bits;
    if (bytes.size() != sizeof(bits)) return Unexpected("expected 24 hexadecimal digits");
    std::memcpy(&bits, bytes.data(), sizeof(bits));  // least significant byte first
    return FilterConstant{bits};
  }
  if (type.type_length > 0 && bytes.size() != type.type_length) {
    return absl::InvalidArgumentError(absl::StrCat("expected ", type.type_length * 2, " digits"));
  }
  return FilterConstant{bytes};
}

absl::StatusOr<FilterConstant> Parse(const ColumnType& type, std::string_view text) {
  switch (type.physical()) {
    case PhysicalType::kBool:
      if (!absl::EqualsIgnoreCase(View(text), "true") &&
          !absl::EqualsIgnoreCase(View(text), "false"))
        return Unexpected("expected true or false");
      return FilterConstant{absl::EqualsIgnoreCase(View(text), "true")};
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return ParseFloat(type.physical() == PhysicalType::kDouble, text);
    case PhysicalType::kBytes:
      if (type.data_type == DataType::kString || type.data_type == DataType::kVarchar)
        return FilterConstant{text};
      return ParseBytes(type, text);
    case PhysicalType::kFixedBytes:
    case PhysicalType::kInt96:
      return ParseBytes(type, text);
    default:
      return ParseInteger(type, text);
  }
}

}  // namespace

absl::StatusOr<FilterConstant> ConstantOfText(const ColumnType& type, std::string_view text) {
  auto constant = Parse(type, text);
  if (constant.ok()) return constant;
  return absl::InvalidArgumentError(absl::StrCat(
      QuotedText(text), " is not of type ", type.ToString(), ": ", constant.status().message()));
}

}  // namespace cfile::internal
