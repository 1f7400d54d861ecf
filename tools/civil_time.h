// Dates and times as text <-> counts since 1970-01-01 or midnight. Proleptic Gregorian calendar,
// years 0001 to 9999, no leap seconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/types.h"

namespace cfile::tools {

// Units in a second: 1, 1,000, 1,000,000 or 1,000,000,000. Precondition: unit is not kNone.
int64_t UnitsPerSecond(TimeUnit unit);

// Append the text form, e.g. 2013-01-31, 10:00:00.123, 2013-01-31T10:00:00Z (Z if `zoned`). The
// fraction has all digits of the unit and is left out where it is 0. A count that has no such form
// (a year outside 0001 to 9999, a time outside the day) becomes
// "@COUNT", which the parsers below take as well.
void AppendDate(int64_t days, std::string& out);
void AppendTime(int64_t count, TimeUnit unit, std::string& out);
void AppendTimestamp(int64_t count, TimeUnit unit, bool zoned, std::string& out);

// Parse the whole of `text`. kInvalidArgument, with the reason only ("expected ..."), if that
// cannot be done exactly.
//   date       2013-01-31
//   time       10:00, 10:00:00, 10:00:00.123
//   timestamp  a date, then T or a blank and a time, or nothing for midnight; then, only if
//   `zoned`, Z or an offset: +02:00,
//              +0200, +02. Without one a zoned timestamp is taken as UTC.
absl::StatusOr<int64_t> ParseDate(std::string_view text);
absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit);
absl::StatusOr<int64_t> ParseTimestamp(std::string_view text, TimeUnit unit, bool zoned);

}  // namespace cfile::tools
