// Bounds of statistics as people read them.
#pragma once

#include <optional>
#include <string>

#include "cfile/statistics.h"
#include "cfile/types.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// As tools/value_text.h has values; of strings as they are, not made printable. nullopt: not known.
// A bound that need not be one of the values is one all the same.
struct BoundTexts {
  std::optional<std::string> min;
  std::optional<std::string> max;
};
BoundTexts TextOfBounds(const ColumnType& type, const BlockStatistics& statistics);

// For JSON: {"text": ..., "exact": ...} or null.
Json JsonBound(const std::optional<std::string>& text, bool exact);

// For a line: printable, "..." behind the first `max_bytes` bytes of a longer one, "-" if not
// known.
std::string BoundInLine(const std::optional<std::string>& text, size_t max_bytes);

}  // namespace cfile::tools
