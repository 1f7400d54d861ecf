// Parses dates, times and timestamps to counts since 1970-01-01 or midnight. tools/civil_writer.h
// writes them. Proleptic Gregorian calendar, years 0001 to 9999, no leap seconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/types.h"
#include "tools/civil_writer.h"

namespace cfile::tools {

// Takes text from the front of a view.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  // Precondition: rest() has this many characters.
  void Skip(size_t characters) { rest_.remove_prefix(characters); }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Takes a number of exactly `digits` digits, from `low` to `high`. False if there is none.
  bool TakeNumber(size_t digits, int low, int high, int& value) {
    if (rest_.size() < digits) return false;
    value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value >= low && value <= high;
  }
  // The same for a number of 1 to `max_digits` digits. Takes as many digits as there are.
  bool TakeShortNumber(size_t max_digits, int low, int high, int& value) {
    const size_t digits = std::min(CountDigits(), max_digits);
    return digits > 0 && TakeNumber(digits, low, high, value);
  }
  // All digits at the front.
  std::string_view TakeDigits() {
    const std::string_view digits = rest_.substr(0, CountDigits());
    rest_.remove_prefix(digits.size());
    return digits;
  }

 private:
  size_t CountDigits() const {
    return std::min(rest_.find_first_not_of("0123456789"), rest_.size());
  }

  std::string_view rest_;
};

// Units in a second: 1, 1,000, 1,000,000 or 1,000,000,000. Precondition: unit is not kNone.
int64_t UnitsPerSecond(TimeUnit unit);

// Parse all of `text`: ParseDate to days since 1970-01-01, ParseTime to units since midnight,
// ParseTimestamp to units since 1970-01-01T00:00:00. All accept the form "@COUNT", too, which
// stands for a count that has no other text. kInvalidArgument, with the reason only
// ("expected ..."), if `text` has another form or the result cannot be represented exactly.
//
//   date       2013-01-31
//   time       10:00, 10:00:00, 10:00:00.123
//   timestamp  a date; or a date, then T or a blank, then a time. A date alone means midnight.
//              If `zoned`, Z or an offset (+02:00, +0200, +02) may follow the time; without it
//              the timestamp is in UTC.
absl::StatusOr<int64_t> ParseDate(std::string_view text);
absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit);
absl::StatusOr<int64_t> ParseTimestamp(std::string_view text, TimeUnit unit, bool zoned);

// Parts of dates and times, for other formats (tools/time_format.h).

// Days since 1970-01-01; nullopt if there is no such day. Precondition: `year` is 1 to 9999.
std::optional<int64_t> DaysOf(int year, int month, int day);

// `seconds` since 1970-01-01T00:00:00 and `fraction`, in units, as a count of units.
// kInvalidArgument, with the reason only, if 64 bits do not hold the count.
absl::StatusOr<int64_t> TimestampOf(int64_t seconds, int64_t fraction, TimeUnit unit);

// Takes the digits of a fraction of a second; adds the fraction in units to `fraction`, which must
// be 0. Sets `too_fine` if `unit` cannot represent the fraction exactly. False if there are no
// digits.
bool TakeFraction(TextScanner& scanner, TimeUnit unit, int64_t& fraction, bool& too_fine);

// Takes Z, +02:00, +0200 or +02 (the last one only at the end of the text). `seconds` becomes the
// offset east of UTC. False if there is none.
bool TakeOffset(TextScanner& scanner, int64_t& seconds);

// kInvalidArgument, with the reason only: a fraction is too fine for `unit`.
absl::Status TooFine(TimeUnit unit);

}  // namespace cfile::tools
