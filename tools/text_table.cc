#include "tools/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastWidth = 8;

// The width of the column that is shortened next: the widest text column. Null: all are short.
size_t* Widest(std::vector<size_t>& widths, size_t texts, size_t numbers) {
  size_t* widest = nullptr;
  for (size_t i = 0; i < widths.size(); ++i) {
    const bool text = i < texts || i >= texts + numbers;
    if (text && widths[i] > kLeastWidth && (widest == nullptr || widths[i] > *widest))
      widest = &widths[i];
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

std::string AlignText(std::vector<std::vector<std::string>> lines, size_t texts, size_t numbers,
                      std::optional<size_t> width) {
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], CountCharacters(line[i]));
  }
  size_t total = kGap * (widths.size() - 1);
  for (const size_t each : widths) total += each;
  while (width && total > *width) {
    size_t* const widest = Widest(widths, texts, numbers);
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  std::string text;
  for (auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      Shorten(line[i], widths[i]);
      const std::string padding(widths[i] - CountCharacters(line[i]), ' ');
      const bool right = i >= texts && i < texts + numbers;
      absl::StrAppend(&text, i == 0 ? "" : std::string(kGap, ' '),
                      right ? padding + line[i] : line[i] + padding);
    }
    while (text.back() == ' ') text.pop_back();
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
