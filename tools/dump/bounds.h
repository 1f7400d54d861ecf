// The bounds (minimum and maximum) of statistics as text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cfile/statistics.h"
#include "cfile/types.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// The bounds as text, in the form of tools/value_text.h. Strings are not escaped. nullopt: the
// bound is not known. A bound that is not exact has a text, too, although perhaps no value is equal
// to this bound.
struct BoundTexts {
  std::optional<std::string> min;
  std::optional<std::string> max;
};
BoundTexts TextOfBounds(const ColumnType& type, const BlockStatistics& statistics);

// {"text": ..., "exact": ...}, or null if the bound is not known.
Json JsonBound(const std::optional<std::string>& text, bool exact);

// The bound on one line, escaped by AppendPrintable and cut as CutInLine does. "-" if the bound is
// not known.
std::string BoundInLine(const std::optional<std::string>& text, size_t max_bytes);

// A text of more than `max_bytes` bytes is cut to at most so many, not within a character, and ends
// with "...".
std::string CutInLine(const std::string& text, size_t max_bytes);

}  // namespace cfile::tools
