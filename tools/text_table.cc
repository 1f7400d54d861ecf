#include "tools/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastWidth = 8;

// Returns the width of the column that is shortened next: the widest column with '<'. Returns null
// if no column can be shortened.
size_t* Widest(std::vector<size_t>& widths, std::string_view alignment) {
  size_t* widest = nullptr;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (alignment[i] != '<' || widths[i] <= kLeastWidth) continue;
    if (widest == nullptr || widths[i] > *widest) widest = &widths[i];
  }
  return widest;
}

void Shorten(std::string& cell, size_t width) {
  constexpr std::string_view kDots = "...";
  if (CountCharacters(cell) <= width) return;
  size_t bytes = cell.size();
  do {
    bytes = CutText(cell, bytes - 1).size();
  } while (CountCharacters(std::string_view(cell).substr(0, bytes)) + kDots.size() > width);
  cell.resize(bytes);
  cell += kDots;
}

}  // namespace

std::string AlignText(std::vector<std::vector<std::string>> lines, std::string_view alignment,
                      std::optional<size_t> width) {
  std::vector<size_t> widths(alignment.size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], CountCharacters(line[i]));
  }
  size_t total = kGap * (widths.size() - 1);
  for (const size_t each : widths) total += each;
  while (width && total > *width) {
    size_t* const widest = Widest(widths, alignment);
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  std::string text;
  for (auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      Shorten(line[i], widths[i]);
      const std::string padding(widths[i] - CountCharacters(line[i]), ' ');
      absl::StrAppend(&text, i == 0 ? "" : std::string(kGap, ' '),
                      alignment[i] == '<' ? line[i] + padding : padding + line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::optional<size_t> OutputWidth() {
  size_t columns = 0;
  if (const char* set = std::getenv("COLUMNS"); set != nullptr && absl::SimpleAtoi(set, &columns))
    return columns;
  struct winsize size = {};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return std::nullopt;
  }
  return size.ws_col;
}

}  // namespace cfile::tools
