// The text form of values: cfile-dump prints it, cfile-import and `cfile-dump find` parse it.
//
//   numbers      decimal; floats in the shortest form that reads back exactly, nan, inf, -inf
//   bool         true, false
//   string       the string itself
//   binary       hexadecimal digits; also fixed-length bytes; a uuid in 8-4-4-4-12 form
//   int96        hexadecimal digits of its 12 bytes, in the order of the file
//   decimal      12.34, with as many digits after the point as the scale of the type; the unscaled
//                integer if the type has no precision and scale
//   date         2013-01-31
//   time         10:00:00.123
//   timestamp    2013-01-31T10:00:00.123Z, in UTC; without Z if the type has no time zone
//
// The fraction of a time or timestamp has all digits of the unit; a fraction of 0 is omitted. A
// date or timestamp outside years 0001 to 9999 and a time outside the day are @COUNT, the number of
// units since 1970-01-01 or midnight. tools/civil_time.h says which other forms are parsed.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/types.h"

namespace cfile::tools {

// Appends the text of `value`, a value of a column of `type`. Precondition: HoldsType<T>(type).
template <typename T>
void AppendText(const ColumnType& type, const T& value, std::string& out);

// Appends `value` as a JSON number, or true or false. A float always has a point or an exponent, so
// that JSON readers read it as a float: 1.0, -0.0, 1e+300. Preconditions: IsJsonNumber(type), or
// `type` is a decimal of scale 0; a float is finite.
template <typename T>
void AppendJsonNumber(const ColumnType& type, const T& value, std::string& out);

// Parses `text` as a value of `type`. kInvalidArgument, with the text and the expected form: `text`
// has another form, or its value is outside the range of `type`. A view that is returned points
// into `text` if `type` is a string type, otherwise into `scratch`, which is overwritten.
template <typename T>
absl::StatusOr<T> ParseText(const ColumnType& type, std::string_view text, std::string& scratch);

// True if values of `type` are bare numbers, true or false in JSON. False if they are strings:
// int128, int96, bytes, dates, times, timestamps and decimals. Callers must also write nan and
// infinities as strings and, if readers may use double, integers whose magnitude exceeds 2^53.
bool IsJsonNumber(const ColumnType& type);

}  // namespace cfile::tools
