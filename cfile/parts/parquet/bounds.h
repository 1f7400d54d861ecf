// Bounds of values for the statistics of Parquet files.
#pragma once

#include <string>
#include <string_view>

#include "cfile/statistics.h"
#include "cfile/types.h"

namespace cfile::internal {

// Changes the bounds of `statistics` so that Parquet may have them. A bound of a long string is cut
// (min_exact or max_exact is false), and may end inside of a character: it gets another end, or is
// removed. A cut bound of fixed-length bytes is filled up. NaN is no bound, and the order of the
// values is the same as in Parquet, so all other bounds stay as they are.
void FitBounds(const ColumnType& type, BlockStatistics& statistics);

// Returns the value whose memcmp form is `key` in Parquet's PLAIN encoding, for strings without
// their length. Precondition: `key` is a bound of statistics of a column of `type`.
std::string PlainOfKey(const ColumnType& type, std::string_view key);

}  // namespace cfile::internal
