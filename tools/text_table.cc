#include "tools/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kGap = 2;
constexpr std::string_view kDots = "...";
constexpr size_t kLeastWidth = 40;

// Makes the columns `shown` narrower, in the order of TextColumn::shorten, until a line has at most
// `max_width` cells; false if this is not possible.
bool Shrink(const std::vector<TextColumn>& columns, const std::vector<size_t>& shown,
            size_t max_width, std::vector<size_t>& widths) {
  size_t total = kGap * (shown.size() - 1);
  for (const size_t i : shown) total += widths[i];
  while (total > max_width) {
    // `next` becomes the column that is shortened by one cell.
    const auto before = [&](size_t a, size_t b) {
      if (columns[a].shorten != columns[b].shorten) return columns[a].shorten < columns[b].shorten;
      return widths[a] > widths[b];
    };
    std::optional<size_t> next;
    for (const size_t i : shown) {
      const bool can = columns[i].shorten > 0 && widths[i] > columns[i].least;
      if (can && (!next || before(i, *next))) next = i;
    }
    if (!next) return false;
    --widths[*next];
    --total;
  }
  return true;
}

// Removes from `shown` the columns with the smallest TextColumn::drop. Returns this number, or
// nullopt if all columns in `shown` are always shown.
std::optional<int> LeaveOut(const std::vector<TextColumn>& columns, std::vector<size_t>& shown) {
  int first = INT_MAX;
  for (const size_t i : shown) {
    if (columns[i].drop > 0) first = std::min(first, columns[i].drop);
  }
  const bool any = std::erase_if(shown, [&](size_t i) { return columns[i].drop == first; }) > 0;
  return any ? std::optional(first) : std::nullopt;
}

// Shortens the cells of a column in the middle, and so that different cells stay different if there
// is such a place.
void ShortenApart(size_t column, size_t width, std::vector<std::vector<std::string>>& lines) {
  const auto different = [&](const auto& form) {
    std::set<std::string> texts;
    for (const auto& line : lines) texts.insert(form(line[column]));
    return texts.size();
  };
  const size_t all = different([](const std::string& text) { return text; });
  std::optional<size_t> end;
  const auto shorten = [&](const std::string& text) { return ShortenedInMiddle(text, width, end); };
  for (size_t tried = width - kDots.size(); different(shorten) < all && tried > 0;) end = --tried;
  if (different(shorten) < all) end.reset();
  for (auto& line : lines) line[column] = shorten(line[column]);
}

}  // namespace

std::string Shortened(std::string_view text, size_t width, bool keep_end) {
  if (CountCells(text) <= width) return std::string(text);
  // The number of bytes that are left out. The loop below raises `out` until the rest and the dots
  // fit. A character has at most 4 bytes, so `width` cells seldom have more than 4 * `width` bytes;
  // to save time, `out` begins there for a long text.
  size_t out = text.size() - std::min(text.size(), 4 * width);
  const auto rest = [&] { return keep_end ? text.substr(out) : CutText(text, text.size() - out); };
  const auto within_character = [&] {
    return keep_end && out < text.size() && (static_cast<uint8_t>(text[out]) & 0xc0) == 0x80;
  };
  while (within_character() || (!rest().empty() && CountCells(rest()) + kDots.size() > width)) {
    ++out;
  }
  return keep_end ? absl::StrCat(std::string(kDots), std::string(rest()))
                  : absl::StrCat(std::string(rest()), std::string(kDots));
}

std::string ShortenedInMiddle(std::string_view text, size_t width, std::optional<size_t> end) {
  if (CountCells(text) <= width) return std::string(text);
  const size_t after = end.value_or((width - kDots.size()) / 2);  // the cells after the dots
  return absl::StrCat(
      Shortened(text, width - after),
      Shortened(text, after + kDots.size(), /*keep_end=*/true).substr(kDots.size()));
}

TextLines::TextLines(std::vector<TextColumn> columns, const std::vector<size_t>& natural,
                     std::optional<size_t> width)
    : columns_(std::move(columns)), shown_(columns_.size()), widths_(natural), width_(width) {
  std::iota(shown_.begin(), shown_.end(), size_t{0});
  if (!width || Shrink(columns_, shown_, *width, widths_)) return;
  std::vector<int> left_out;
  do {
    const std::optional<int> drop = LeaveOut(columns_, shown_);
    if (!drop) return;
    left_out.push_back(*drop);
    widths_ = natural;
  } while (!Shrink(columns_, shown_, *width, widths_));
  // A column that was left out early may fit now, because wider columns were left out after it.
  for (auto drop = left_out.rbegin(); drop != left_out.rend(); ++drop) {
    std::vector<size_t> more = shown_;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].drop == *drop) more.push_back(i);
    }
    std::sort(more.begin(), more.end());
    std::vector<size_t> widths = natural;
    if (!Shrink(columns_, more, *width, widths)) continue;
    shown_ = std::move(more);
    widths_ = std::move(widths);
  }
}

void TextLines::Append(std::span<const std::string> cells, std::string& out) const {
  for (const size_t i : shown_) {
    const bool shortened = width_ && columns_[i].shorten > 0;
    const std::string cell = !shortened ? cells[i]
                             : columns_[i].cut == TextColumn::Cut::kMiddle
                                 ? ShortenedInMiddle(cells[i], widths_[i])
                                 : Shortened(cells[i], widths_[i]);
    const std::string padding(widths_[i] - std::min(widths_[i], CountCells(cell)), ' ');
    absl::StrAppend(&out, i == shown_[0] ? "" : std::string(kGap, ' '),
                    columns_[i].right ? padding + cell : cell + padding);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

void TextLines::AppendNote(std::string& out) const {
  const size_t hidden = columns_.size() - shown_.size();
  if (hidden == 0) return;
  const std::string note =
      absl::StrCat(hidden, hidden == 1 ? " column of this list does" : " columns of this list do",
                   " not fit: use --json, or a wider terminal");
  absl::StrAppend(&out, Wrapped(note, std::max(width_.value_or(kLeastWidth), kLeastWidth)), "\n");
}

std::string AlignText(const std::vector<std::vector<std::string>>& lines,
                      const std::vector<TextColumn>& columns, std::optional<size_t> width) {
  std::vector<size_t> natural(columns.size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < columns.size(); ++i) {
      natural[i] = std::max(natural[i], CountCells(line[i]));
    }
  }
  const TextLines format(columns, natural, width);
  std::vector<std::vector<std::string>> shown = lines;
  for (size_t i = 0; width && i < columns.size(); ++i) {
    if (columns[i].cut == TextColumn::Cut::kMiddle && columns[i].shorten > 0) {
      ShortenApart(i, format.width(i), shown);
    }
  }
  std::string text;
  for (const auto& line : shown) format.Append(line, text);
  format.AppendNote(text);
  return text;
}

std::string Wrapped(std::string_view text, size_t width, size_t indentation) {
  std::string wrapped;
  size_t used = 0;
  bool begins = true;  // no word has been added
  const absl::string_view all(text.data(), text.size());
  for (const absl::string_view word : absl::StrSplit(all, ' ')) {
    const size_t cells = CountCells({word.data(), word.size()});
    const bool fits = begins || used + 1 + cells <= width;
    if (!begins) wrapped += fits ? " " : "\n" + std::string(indentation, ' ');
    used = (fits && !begins ? used + 1 : 0) + cells;
    absl::StrAppend(&wrapped, word);
    begins = false;
  }
  return wrapped;
}

std::optional<size_t> OutputWidth() {
  size_t columns = 0;
  if (const char* set = std::getenv("COLUMNS"); set != nullptr && absl::SimpleAtoi(set, &columns))
    return std::max(columns, kLeastWidth);
  struct winsize size = {};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return std::nullopt;
  }
  return std::max<size_t>(size.ws_col, kLeastWidth);
}

std::string ShortenedForOutput(std::string_view text, size_t used, bool keep_end) {
  constexpr size_t kLeast = 8;
  const std::optional<size_t> width = OutputWidth();
  if (!width) return std::string(text);
  return Shortened(text, *width > used + kLeast ? *width - used : kLeast, keep_end);
}

std::string WrappedForOutput(std::string_view text, size_t indentation) {
  const std::optional<size_t> width = OutputWidth();
  if (!width) return std::string(text);
  return Wrapped(text, *width - std::min(*width, indentation), indentation);
}

}  // namespace cfile::tools
