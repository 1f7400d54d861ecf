// Text in aligned columns that fits a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cfile::tools {

// A column of a text table, and what happens to it if the table is too wide.
struct TextColumn {
  bool right = false;  // aligned to the right
  // Columns are shortened in the order of this number, those with the same number together, the
  // widest first. 0: the column is not shortened.
  int shorten = 0;
  // The column is not made narrower than this number of cells.
  size_t least = 8;
  // If shortening is not enough, columns are left out in the order of this number, those with the
  // same number together. 0: the column is always shown.
  int drop = 0;
};

// Joins the cells of `lines` into text with two spaces between columns. Lines end without spaces.
// All lines have a cell for each of `columns`. Cells are UTF-8 without line ends.
// If `width` is given, the function shortens cells, and then leaves out columns, until the lines
// have at most `width` cells of a terminal. A last line says how many columns were left out.
std::string AlignText(std::vector<std::vector<std::string>> lines,
                      std::vector<TextColumn> columns, std::optional<size_t> width = std::nullopt);

// Does the same for columns of which those aligned to the left are shortened together, and none is
// left out. `alignment`: one character for each column: '<' aligns to the left, '>' to the right.
std::string AlignText(std::vector<std::vector<std::string>> lines, std::string_view alignment,
                      std::optional<size_t> width = std::nullopt);

// Returns `text` with at most `width` cells: the beginning of a longer text and "...", or, with
// `keep_end`, "..." and the end, for paths. `width` is at least 3.
std::string Shortened(std::string_view text, size_t width, bool keep_end = false);

// The number of cells in a line of standard output: the value of the environment variable COLUMNS
// if this is a number, otherwise the width of the terminal; at least 40. nullopt if standard output
// is not a terminal.
std::optional<size_t> OutputWidth();

// Shortens `text` to what a line of standard output has left after `used` cells, but to no less
// than 8 cells. Returns `text` itself if standard output is not a terminal. `keep_end`: see
// Shortened.
std::string ShortenedForOutput(std::string_view text, size_t used, bool keep_end = false);

}  // namespace cfile::tools
