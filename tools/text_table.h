// Text in aligned columns that fits a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cfile::tools {

// Joins the cells of `lines` into text with two spaces between columns. Lines end without spaces.
// `alignment`: one character for each column: '<' aligns the column to the left, '>' to the right.
// All lines have this number of cells. Cells are UTF-8 without line ends.
// If `width` is given, the function shortens cells of the columns with '<', the widest column
// first, until the lines have at most `width` characters. A shortened cell ends with "...". No
// column becomes narrower than 8 characters.
std::string AlignText(std::vector<std::vector<std::string>> lines, std::string_view alignment,
                      std::optional<size_t> width = std::nullopt);

// The number of characters in a line of standard output: the value of the environment variable
// COLUMNS if this is a number, otherwise the width of the terminal. nullopt if standard output is
// not a terminal.
std::optional<size_t> OutputWidth();

}  // namespace cfile::tools
