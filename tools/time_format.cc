#include "tools/time_format.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "tools/civil_time.h"
#include "tools/parse_number.h"
#include "tools/utf8.h"
#include "tools/value_meaning.h"

namespace cfile::tools {
namespace {

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kWeekdays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                          "Friday", "Saturday", "Sunday"};

constexpr std::string_view kEpoch = "epoch";
constexpr int64_t kSecondsOfYear10000 = 253'402'300'800;

// Conversions that are written with others.
constexpr std::pair<char, std::string_view> kShort[] = {
    {'F', "%Y-%m-%d"}, {'T', "%H:%M:%S"}, {'D', "%m/%d/%y"}, {'R', "%H:%M"}};

// Conversions that say the same part of a time.
constexpr std::string_view kParts[] = {"Yys", "mbjs", "djs", "HIs", "Ms", "Ss", "f", "ps", "zs"};

// The conversion with the same meaning that the rest of this file knows; 0: there is none.
char KnownConversion(char letter) {
  switch (letter) {
    case 'B':
    case 'h':
      return 'b';
    case 'A':
      return 'a';
    default:
      return std::string_view("YymbdejHIpMSfzsa").find(letter) == std::string_view::npos ? 0
                                                                                         : letter;
  }
}

absl::Status Invalid(std::string_view format, std::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("the format ", Quoted(format), " ", std::string(reason)));
}

// Takes a name, or its first three letters. `index` becomes its index in `names`.
bool TakeName(std::span<const std::string_view> names, TextScanner& scanner, int& index) {
  const std::string_view rest = scanner.rest();
  for (size_t i = 0; i < names.size(); ++i) {
    for (const size_t length : {names[i].size(), size_t{3}}) {
      const std::string_view name = names[i].substr(0, length);
      if (!absl::EqualsIgnoreCase({rest.data(), std::min(rest.size(), length)},
                                  {name.data(), name.size()})) {
        continue;
      }
      scanner.Skip(length);
      index = static_cast<int>(i);
      return true;
    }
  }
  return false;
}

}  // namespace

struct TimeFormat::Fields {
  int year = 1970;
  int month = 1;
  int day = 1;
  int day_of_year = 0;  // 0: month and day are set
  int hour = 0;
  bool afternoon = false;
  int minute = 0;
  int second = 0;
  int64_t fraction = 0;  // units
  bool too_fine = false;
  int64_t offset_seconds = 0;
  std::optional<int64_t> epoch_seconds;
};

TimeFormat::TimeFormat(const ColumnType& type, std::string_view format)
    : format_(format),
      type_(type),
      is_date_(type.data_type == DataType::kDate),
      is_time_(type.logical == LogicalType::kTime),
      unit_(UnitOf(type)) {}

absl::StatusOr<TimeFormat> TimeFormat::Parse(const ColumnType& type, std::string_view format) {
  TimeFormat result(type, format);
  if (!result.is_date_ && result.unit_ == TimeUnit::kNone) {
    return absl::InvalidArgumentError(type.ToString() + " has no format");
  }
  if (format == kEpoch) return result;
  CFILE_RETURN_IF_ERROR(result.AddSteps(format));
  CFILE_RETURN_IF_ERROR(result.Check());
  return result;
}

absl::Status TimeFormat::AddSteps(std::string_view format) {
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      steps_.push_back({.literal = format[i]});
      continue;
    }
    if (++i == format.size()) return Invalid(format_, "ends with %");
    const char letter = format[i];
    if (letter == '%') {
      steps_.push_back({.literal = '%'});
      continue;
    }
    const auto* const shorthand =
        std::find_if(std::begin(kShort), std::end(kShort),
                     [&](const auto& each) { return each.first == letter; });
    if (shorthand != std::end(kShort)) {
      CFILE_RETURN_IF_ERROR(AddSteps(shorthand->second));
      continue;
    }
    const char known = KnownConversion(letter);
    if (known == 0)
      return Invalid(format_, absl::StrCat("has an unknown conversion: %", std::string(1, letter)));
    if (known == 'e') {
      steps_.push_back({.conversion = 'e'});
      steps_.push_back({.conversion = 'd'});
    } else {
      steps_.push_back({.conversion = known});
    }
  }
  return absl::OkStatus();
}

bool TimeFormat::Has(char conversion) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const Step& step) { return step.conversion == conversion; });
}

absl::Status TimeFormat::Check() const {
  for (const std::string_view part : kParts) {
    const auto says_part = [&](const Step& step) {
      return step.conversion != 0 && part.find(step.conversion) != std::string_view::npos;
    };
    if (std::count_if(steps_.begin(), steps_.end(), says_part) > 1) {
      return Invalid(format_, "says a part of the time twice");
    }
  }
  const bool has_day =
      Has('s') || ((Has('Y') || Has('y')) && (Has('j') || ((Has('m') || Has('b')) && Has('d'))));
  const auto has_any = [&](std::string_view conversions) {
    return std::any_of(conversions.begin(), conversions.end(), [&](char c) { return Has(c); });
  };
  if (is_time_ ? !has_any("HI") : !has_day) {
    return Invalid(format_, is_time_ ? "does not say the hour" : "does not say the day");
  }
  if (is_date_ && has_any("HIpMSfzs")) return Invalid(format_, "has a time, which a date has not");
  if (is_time_ && has_any("Yymbdjzsa")) return Invalid(format_, "has a date, which a time has not");
  if (Has('I') != Has('p')) return Invalid(format_, "has only one of %I and %p");
  if (!IsZoned(type_) && has_any("zs")) {
    return Invalid(format_,
                   "has a zone, which the type has not; use for example timestamp(us,UTC)");
  }
  return absl::OkStatus();
}

bool TimeFormat::Take(Step step, TextScanner& scanner, Fields& fields) const {
  switch (step.conversion) {
    case 0:
      return scanner.Take(step.literal);
    case 'Y':
      return scanner.TakeNumber(4, 1, 9999, fields.year);
    case 'y':
      if (!scanner.TakeNumber(2, 0, 99, fields.year)) return false;
      fields.year += fields.year < 69 ? 2000 : 1900;
      return true;
    case 'm':
      return scanner.TakeShortNumber(2, 1, 12, fields.month);
    case 'b':
      if (!TakeName(kMonths, scanner, fields.month)) return false;
      ++fields.month;
      return true;
    case 'e':
      scanner.Take(' ');
      return true;
    case 'd':
      return scanner.TakeShortNumber(2, 1, 31, fields.day);
    case 'j':
      return scanner.TakeShortNumber(3, 1, 366, fields.day_of_year);
    case 'a': {
      int weekday = 0;
      return TakeName(kWeekdays, scanner, weekday);
    }
    case 'H':
      return scanner.TakeShortNumber(2, 0, 23, fields.hour);
    case 'I':
      if (!scanner.TakeShortNumber(2, 1, 12, fields.hour)) return false;
      fields.hour %= 12;
      return true;
    case 'p':
      fields.afternoon = scanner.Take('P') || scanner.Take('p');
      if (!fields.afternoon && !scanner.Take('A') && !scanner.Take('a')) return false;
      return scanner.Take('M') || scanner.Take('m');
    case 'M':
      return scanner.TakeShortNumber(2, 0, 59, fields.minute);
    case 'S':
      return scanner.TakeShortNumber(2, 0, 59, fields.second);
    case 'f':
      return TakeFraction(scanner, unit_, fields.fraction, fields.too_fine);
    case 'z':
      return TakeOffset(scanner, fields.offset_seconds);
    default: {
      assert(step.conversion == 's');
      const bool negative = scanner.Take('-');
      const std::string_view digits = scanner.TakeDigits();
      int64_t seconds = 0;
      if (ParseNumber(digits, seconds) != std::errc()) return false;
      fields.epoch_seconds = negative ? -seconds : seconds;
      return true;
    }
  }
}

absl::StatusOr<int64_t> TimeFormat::ParseValue(std::string_view text) const {
  const auto wrong = [&](const std::string& reason) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is not of type ", type_.ToString(), ": ", reason));
  };
  if (format_ == kEpoch) {
    int64_t count = 0;
    const std::errc error = ParseNumber(StripBlanks(text), count);
    const bool fits = !is_date_ || static_cast<int32_t>(count) == count;
    return error == std::errc() && fits ? absl::StatusOr<int64_t>(count)
                                        : wrong("expected an integer");
  }
  TextScanner scanner(text);
  Fields fields;
  for (const Step& step : steps_) {
    if (!Take(step, scanner, fields)) return wrong("expected the form " + format_);
  }
  if (!scanner.done()) return wrong("expected the form " + format_);
  if (fields.too_fine) return wrong(std::string(TooFine(unit_).message()));

  std::optional<int64_t> days = 0;
  if (fields.day_of_year > 0) {
    days = *DaysOf(fields.year, 1, 1) + fields.day_of_year - 1;
    if (fields.day_of_year == 366 && !DaysOf(fields.year, 2, 29).has_value()) days = std::nullopt;
  } else {
    days = DaysOf(fields.year, fields.month, fields.day);
  }
  if (!days.has_value()) return wrong("there is no such day");
  if (is_date_) return *days;
  const int hour = fields.hour + (fields.afternoon ? 12 : 0);
  const int64_t seconds = (hour * 60 + fields.minute) * 60 + fields.second;
  if (is_time_) return seconds * UnitsPerSecond(unit_) + fields.fraction;
  if (std::abs(fields.epoch_seconds.value_or(0)) >= kSecondsOfYear10000) {
    return wrong("%s is a number of seconds; for milliseconds: timestamp(ms,UTC;epoch)");
  }
  const int64_t since_epoch =
      fields.epoch_seconds.value_or(*days * kSecondsPerDay + seconds - fields.offset_seconds);
  absl::StatusOr<int64_t> count = TimestampOf(since_epoch, fields.fraction, unit_);
  if (!count.ok()) return wrong(std::string(count.status().message()));
  return count;
}

std::optional<std::string_view> WithDecimalPoint(std::string_view text, std::string& scratch) {
  scratch.clear();
  std::string_view separator;
  size_t digits = 0;  // since the last separator
  bool has_comma = false;
  for (std::string_view rest = text; !rest.empty();) {
    const char c = rest.front();
    if ((c >= '0' && c <= '9') || (c == '-' && rest.size() == text.size())) {
      scratch += c;
      digits += c == '-' ? 0 : 1;
      rest.remove_prefix(1);
      continue;
    }
    if (!separator.empty() && !has_comma && digits != 3) return std::nullopt;
    if (has_comma || c == ',') {
      if (c != (has_comma ? 'e' : ',')) return text;
      has_comma = true;
      scratch += c == ',' ? '.' : c;
      rest.remove_prefix(1);
      continue;
    }
    std::string_view found;
    for (const std::string_view each : {".", " ", "'", "\u00a0", "\u202f"}) {
      if (rest.starts_with(each)) found = each;
    }
    if (found.empty()) return text;
    if (digits == 0 || digits > 3 || (!separator.empty() && found != separator))
      return std::nullopt;
    separator = found;
    digits = 0;
    rest.remove_prefix(found.size());
  }
  if (!separator.empty() && !has_comma && digits != 3) return std::nullopt;
  return scratch;
}

absl::StatusOr<std::string_view> TextType::Plain(std::string_view text,
                                                 std::string& scratch) const {
  if (MeaningOf(type) != Meaning::kNumber && MeaningOf(type) != Meaning::kDecimal) return text;
  if (const auto plain = WithDecimalPoint(text, scratch)) return *plain;
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text), " is not of type ", type.ToString(), ": expected 1.234,5"));
}

absl::StatusOr<TextType> ParseTextType(std::string_view text) {
  if (text == "json") return TextType{.type = ColumnType::String(), .json = true};
  std::string type(text);
  std::optional<std::string> format;
  const size_t semicolon = text.find(';');
  if (text.ends_with(')') && text.starts_with("date(")) {
    type = "date";
    format = std::string(text.substr(5, text.size() - 6));
  } else if (text.ends_with(')') && text.starts_with("time") && semicolon != text.npos) {
    type = absl::StrCat(std::string(text.substr(0, semicolon)), ")");
    format = std::string(text.substr(semicolon + 1, text.size() - semicolon - 2));
  }
  absl::StatusOr<ColumnType> parsed = ColumnType::Parse(type);
  if (!parsed.ok()) {
    static const std::vector<std::string> kNames = {
        "bool",    "int8",   "int16",         "int32",    "int64",         "int128", "uint8",
        "uint16",  "uint32", "uint64",        "float",    "double",        "string", "binary",
        "varchar", "date",   "timestamp(us)", "time(us)", "decimal(18,2)", "uuid",   "json"};
    return absl::InvalidArgumentError(
        absl::StrCat(parsed.status().message(), ", json", Suggestion(text, kNames)));
  }
  TextType result{.type = *std::move(parsed), .format = nullptr};
  if (format.has_value()) {
    CFILE_ASSIGN_OR_RETURN(TimeFormat made, TimeFormat::Parse(result.type, *format));
    result.format = std::make_shared<const TimeFormat>(std::move(made));
  }
  return result;
}

}  // namespace cfile::tools
