// Text in aligned columns that fits a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cfile::tools {

// A column of a text table, and what happens to it if the table is too wide.
struct TextColumn {
  bool right = false;  // aligned to the right
  // The order in which columns are shortened: those with the smallest number first, and of these
  // the widest. 0: the column is not shortened.
  int shorten = 0;
  // A column that is shortened keeps at least this number of cells.
  size_t least = 8;
  // The order in which columns are left out if shortening is not enough: those with the smallest
  // number first, and all of them together. They are shown nevertheless if there is room for them
  // after columns with larger numbers were left out. 0: the column is always shown.
  int drop = 0;
  // What a shortened cell loses. kMiddle is for names, which often differ only at the end.
  // AlignText cuts them in another place if some would become the same.
  enum class Cut { kEnd, kMiddle } cut = Cut::kEnd;
};

// Formats the lines of a table one by one: for more lines than AlignText should keep in memory.
// Lines have no spaces at the end.
class TextLines {
 public:
  // `natural`: the width of each column, in cells, if there is room. If `width` is given, columns
  // are shortened, and then left out, until the lines have at most `width` cells of a terminal.
  TextLines(std::vector<TextColumn> columns, const std::vector<size_t>& natural,
            std::optional<size_t> width);

  // Appends a line. `cells` has a cell for each column, in UTF-8 without line ends. If `width` was
  // given, a cell that is wider than its column is shortened, unless TextColumn::shorten is 0.
  // Other cells that are too wide make the line longer.
  void Append(std::span<const std::string> cells, std::string& out) const;
  // Says how many columns were left out, in lines of at least 40 cells. Appends nothing if all
  // columns are shown.
  void AppendNote(std::string& out) const;
  // The cells that the column has in a line.
  size_t width(size_t column) const { return widths_[column]; }

 private:
  const std::vector<TextColumn> columns_;
  std::vector<size_t> shown_;   // the indexes of the columns that are not left out
  std::vector<size_t> widths_;  // the width of each column of columns_, in cells
  const std::optional<size_t> width_;
};

// Joins the cells of `lines` into text with two spaces between columns, and no spaces at the ends
// of lines. All lines have a cell for each of `columns`, in UTF-8 without line ends. If `width` is
// given, cells are shortened, and then columns left out, until the lines have at most `width` cells
// of a terminal. A last line says how many columns were left out.
std::string AlignText(const std::vector<std::vector<std::string>>& lines,
                      const std::vector<TextColumn>& columns,
                      std::optional<size_t> width = std::nullopt);

// Returns `text` with at most `width` cells: of a longer text, the beginning and "..." or, with
// `keep_end`, which is for paths, "..." and the end. Precondition: `width` is at least 3, the width
// of "...".
std::string Shortened(std::string_view text, size_t width, bool keep_end = false);

// Returns `text` with at most `width` cells: of a longer text, the beginning, "..." and the last
// `end` cells, by default as many as of the beginning. Preconditions: `width` is at least 3, and
// `end` at most 3 less.
std::string ShortenedInMiddle(std::string_view text, size_t width,
                              std::optional<size_t> end = std::nullopt);

// Breaks `text` at spaces, so that lines have at most `width` cells if their words are not longer.
// Each line but the first begins with `indentation` spaces, which `width` does not count.
std::string Wrapped(std::string_view text, size_t width, size_t indentation = 0);
// Breaks `text` at the width of standard output, and counts the indentation. Returns `text` itself
// if OutputWidth returns nullopt.
std::string WrappedForOutput(std::string_view text, size_t indentation);

// Returns the number of cells in a line of standard output, at least 40. The environment variable
// COLUMNS says it if it is a number; otherwise it is the width of the terminal. nullopt: COLUMNS is
// no number, and standard output is not a terminal.
std::optional<size_t> OutputWidth();

// Returns `text`, shortened so that a line of standard output has room for `used` cells and the
// text. The text keeps at least 8 cells. Returns `text` itself if OutputWidth returns nullopt.
// `keep_end`: see Shortened.
std::string ShortenedForOutput(std::string_view text, size_t used, bool keep_end = false);

}  // namespace cfile::tools
