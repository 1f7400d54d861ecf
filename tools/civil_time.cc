#include "tools/civil_time.h"

#include <charconv>
#include <chrono>

namespace cfile::tools {
namespace {

int FractionDigits(TimeUnit unit) {
  return VisitUnit(unit, [](auto type) { return type.kFractionDigits; });
}

// Parses "@COUNT". nullopt: `text` does not begin with @.
std::optional<absl::StatusOr<int64_t>> ParseCount(std::string_view text) {
  if (text.empty() || text.front() != '@') return std::nullopt;
  int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, count);
  if (error != std::errc() || stop != end) {
    return absl::InvalidArgumentError("expected an integer of 64 bits after @");
  }
  return count;
}

bool TakeDate(TextScanner& scanner, int64_t& days) {
  int year = 0, month = 0, day = 0;
  if (!scanner.TakeNumber(4, 1, 9999, year) || !scanner.Take('-') ||
      !scanner.TakeNumber(2, 1, 12, month) || !scanner.Take('-') ||
      !scanner.TakeNumber(2, 1, 31, day)) {
    return false;
  }
  const std::optional<int64_t> found = DaysOf(year, month, day);
  days = found.value_or(0);
  return found.has_value();
}

struct TimeOfDay {
  int64_t seconds = 0;
  int64_t fraction = 0;  // units
};

// Takes a time of day; false if there is none. Sets `too_fine` if `unit` cannot represent the
// fraction exactly.
bool TakeTime(TextScanner& scanner, TimeUnit unit, TimeOfDay& time, bool& too_fine) {
  int hour = 0, minute = 0, second = 0;
  if (!scanner.TakeNumber(2, 0, 23, hour) || !scanner.Take(':') ||
      !scanner.TakeNumber(2, 0, 59, minute)) {
    return false;
  }
  if (scanner.Take(':')) {
    if (!scanner.TakeNumber(2, 0, 59, second)) return false;
    if (scanner.Take('.')) {
      if (!TakeFraction(scanner, unit, time.fraction, too_fine)) return false;
    }
  }
  time.seconds = (hour * 60 + minute) * 60 + second;
  return true;
}

}  // namespace

int64_t UnitsPerSecond(TimeUnit unit) {
  return VisitUnit(unit, [](auto type) { return type.kPerSecond; });
}

absl::StatusOr<int64_t> ParseDate(std::string_view text) {
  if (auto count = ParseCount(text)) return *std::move(count);
  TextScanner scanner(text);
  int64_t days = 0;
  if (!TakeDate(scanner, days) || !scanner.done()) {
    return absl::InvalidArgumentError("expected a date such as 2013-01-31");
  }
  return days;
}

absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit) {
  if (auto count = ParseCount(text)) return *std::move(count);
  TextScanner scanner(text);
  TimeOfDay time;
  bool too_fine = false;
  if (!TakeTime(scanner, unit, time, too_fine) || !scanner.done()) {
    return absl::InvalidArgumentError("expected a time such as 10:00:00");
  }
  if (too_fine) return TooFine(unit);
  return time.seconds * UnitsPerSecond(unit) + time.fraction;
}

absl::StatusOr<int64_t> ParseTimestamp(std::string_view text, TimeUnit unit, bool zoned) {
  if (auto count = ParseCount(text)) return *std::move(count);
  const auto unexpected = [zoned] {
    return absl::InvalidArgumentError(
        zoned ? "expected a date and time such as 2013-01-31T10:00:00Z"
              : "expected a date and time without a zone, such as 2013-01-31T10:00:00");
  };
  TextScanner scanner(text);
  int64_t days = 0, offset = 0;
  TimeOfDay time;
  bool too_fine = false;
  if (!TakeDate(scanner, days)) return unexpected();
  if (!scanner.done()) {
    if (!scanner.Take('T') && !scanner.Take(' ')) return unexpected();
    if (!TakeTime(scanner, unit, time, too_fine)) return unexpected();
    if (zoned && !scanner.done() && !TakeOffset(scanner, offset)) return unexpected();
    if (!scanner.done()) return unexpected();
  }
  if (too_fine) return TooFine(unit);
  return TimestampOf(days * kSecondsPerDay + time.seconds - offset, time.fraction, unit);
}

std::optional<int64_t> DaysOf(int year, int month, int day) {
  const std::chrono::year_month_day date(std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)});
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

absl::StatusOr<int64_t> TimestampOf(int64_t seconds, int64_t fraction, TimeUnit unit) {
  // 128 bits, because an intermediate result may be outside int64: the earliest timestamp in
  // nanoseconds lies within a second that begins before the range of int64.
  const int128_t count = int128_t{seconds} * UnitsPerSecond(unit) + fraction;
  if (count != static_cast<int64_t>(count)) {
    return absl::InvalidArgumentError("it is outside the years 1677 to 2262 that the type holds");
  }
  return static_cast<int64_t>(count);
}

bool TakeFraction(TextScanner& scanner, TimeUnit unit, int64_t& fraction, bool& too_fine) {
  const std::string_view digits = scanner.TakeDigits();
  if (digits.empty()) return false;
  const size_t held = static_cast<size_t>(FractionDigits(unit));
  for (size_t i = 0; i < held; ++i) {
    fraction = fraction * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  too_fine = digits.find_first_not_of('0', held) != std::string_view::npos;
  return true;
}

bool TakeOffset(TextScanner& scanner, int64_t& seconds) {
  if (scanner.Take('Z')) return true;
  const bool west = scanner.Take('-');
  if (!west && !scanner.Take('+')) return false;
  int hours = 0, minutes = 0;
  if (!scanner.TakeNumber(2, 0, 23, hours)) return false;
  if (scanner.Take(':') || !scanner.done()) {
    if (!scanner.TakeNumber(2, 0, 59, minutes)) return false;
  }
  seconds = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
  return true;
}

absl::Status TooFine(TimeUnit unit) {
  return absl::InvalidArgumentError("it has more than the " + std::to_string(FractionDigits(unit)) +
                                    " digits after the point that the type holds");
}

}  // namespace cfile::tools
