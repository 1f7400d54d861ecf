// Text in aligned columns that fits a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cfile::tools {

// Joins the cells of `lines` into text, two spaces between columns. All lines have as many cells as
// the first one. The first `texts` columns are aligned to the left, the next `numbers` columns to
// the right, and the others to the left. Cells are UTF-8 without line ends.
// If `width` is given, cells of the widest text columns are shortened, "..." at their end, until
// the lines have at most `width` characters, but no column to less than 8 characters.
std::string AlignText(std::vector<std::vector<std::string>> lines, size_t texts, size_t numbers,
                      std::optional<size_t> width);

// The characters in a line of standard output: the environment variable COLUMNS if it is a number;
// otherwise the width of the terminal; nullopt if standard output is no terminal.
std::optional<size_t> OutputWidth();

}  // namespace cfile::tools
