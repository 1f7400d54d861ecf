// Parses dates, times and timestamps to counts since 1970-01-01 or midnight.
// tools/civil_writer.h writes them.
// Proleptic Gregorian calendar, years 0001 to 9999, no leap seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/types.h"
#include "tools/civil_writer.h"
#include "tools/text_scanner.h"

namespace cfile::tools {

// Units in a second: 1, 1,000, 1,000,000 or 1,000,000,000. Precondition: unit is not kNone.
int64_t UnitsPerSecond(TimeUnit unit);

// Parse all of `text`: ParseDate to days since 1970-01-01, ParseTime to units since midnight,
// ParseTimestamp to units since 1970-01-01T00:00:00. All accept the form "@COUNT", too, which stands
// for a count that has no other text. kInvalidArgument, with the reason only
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
