// Finds the character that separates the fields of a CSV file.
#pragma once

#include <string>
#include <string_view>

#include "tools/import/csv_reader.h"

namespace cfile::tools {

struct Delimiter {
  char character = ',';
  std::string reason;  // why, for the summary: "all of the first 3 lines have 2 fields"
};

// comma, tab, semicolon, pipe; otherwise the character itself.
std::string DelimiterName(char delimiter);

// Finds the delimiter of `text`, the beginning of the file `path`, whose other characters are those of
// `dialect`: of comma, tab, semicolon and pipe the one with which the most of the first records (at most 100, in the first MiB) have as many
// fields as the first record, at least two. If several are equal, the first of them; the tab is then
// tried first if the name of the file ends in .tsv or .tab, also before .gz or .zst. If no character
// does this for more than half of the records, it is the comma.
Delimiter FindDelimiter(std::string_view text, std::string_view path, CsvDialect dialect);

}  // namespace cfile::tools
