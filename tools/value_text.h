// Values as people read and write them: what cfile-dump prints, what cfile-import and `cfile-dump
// find` parse.
//
//   numbers      decimal; floats in the shortest form that reads back exactly, nan, inf, -inf
//   bool         true, false
//   string       as it is
//   binary       hexadecimal digits; fixed-length bytes likewise; uuid in 8-4-4-4-12 form
//   int96        hexadecimal digits of its 12 bytes, as they lie in a file
//   date         2013-01-31
//   timestamp    2013-01-31T10:00:00Z (UTC), fraction as far as the unit goes and is not 0; without
//   Z where there is no zone time         10:00:00.123
//                (what lies outside years 0001 to 9999 or outside the day: @COUNT, units since 1970
//                or midnight)
//   decimal      12.34 by the scale; the unscaled integer where the scale is not known
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/types.h"

namespace cfile::tools {

// Appends the text of `value`, of a column of `type`. Precondition: HoldsType<T>(type).
template <typename T>
void AppendText(const ColumnType& type, const T& value, std::string& out);

// Appends `value` as a JSON number, or true or false. A float always has a point or an exponent, so
// that a reader of JSON makes a float of it: 1.0, -0.0, 1e+300. Preconditions: IsJsonNumber(type);
// a float is finite.
template <typename T>
void AppendJsonNumber(const ColumnType& type, const T& value, std::string& out);

// The value that `text` stands for. kInvalidArgument, naming the text and the expected form, if it
// is none of `type` or does not fit it. For strings and bytes without decoding (strings) the view
// points into `text`; otherwise into `scratch`.
template <typename T>
absl::StatusOr<T> ParseText(const ColumnType& type, std::string_view text, std::string& scratch);

// True if JSON shows values of `type` as bare numbers or true/false, not as strings. (int64 beyond
// 2^53, int128, decimals, nan and infinities are strings.)
bool IsJsonNumber(const ColumnType& type);

}  // namespace cfile::tools
