// Parses dates, times and timestamps to counts since 1970-01-01 or midnight.
// tools/civil_writer.h writes them.
// Proleptic Gregorian calendar, years 0001 to 9999, no leap seconds.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/types.h"

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

}  // namespace cfile::tools
