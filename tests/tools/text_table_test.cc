#include "tools/text_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/command_line.h"
#include "tools/progress.h"
#include "tools/utf8.h"

namespace cfile::tools::text_table_test {

const std::string kOneLeftOut =
    "1 column of this list does not fit: use\n--json, or a wider terminal\n";

TEST(TextTableTest, CellsOfCharacters) {
  EXPECT_EQ(CountCells("abc"), 3u);
  EXPECT_EQ(CountCells("Zürich"), 6u);
  EXPECT_EQ(CountCells("東京"), 4u);
  EXPECT_EQ(CountCells("한국어"), 6u);
  EXPECT_EQ(CountCells("e\xcc\x81"), 1u);         // a combining accent
  EXPECT_EQ(CountCells("\xf0\x9f\x98\x80"), 2u);  // an emoji
  EXPECT_EQ(CountCells("\xf0\xa0\x80\x80"), 2u);  // U+20000
  EXPECT_EQ(CountCells("\xe2\x9c\x85"), 2u);      // U+2705, a check mark as emoji
  EXPECT_EQ(CountCells("\xf0\x9f\x9f\xa2"), 2u);  // U+1F7E2, a green circle
  EXPECT_EQ(CountCells("a\xe2\x83\x9d"), 1u);     // U+20DD, a circle around a character
}

TEST(TextTableTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(Printable("a\x1b[1m\xc2\x9b"), "a\\x1b[1m\\xc2\\x9b");
  // After U+202E, a terminal shows text from right to left. U+2028 begins a new line.
  EXPECT_EQ(Printable("a\xe2\x80\xae.txt"), "a\\xe2\\x80\\xae.txt");
  EXPECT_EQ(TerminalSafe("\xe2\x80\xa8\xe2\x81\xa6"), "\\xe2\\x80\\xa8\\xe2\\x81\\xa6");
  EXPECT_EQ(ShellQuoted("it's \\ plain"), "'it'\\''s \\ plain'");
  EXPECT_EQ(ShellQuoted("two\nlines"), "'two\nlines'");
  EXPECT_EQ(ShellQuoted("it's \\ \x1b[1m"), "$'it\\'s \\\\ \\x1b[1m'");
}

TEST(TextTableTest, Shortened) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(Shortened("a/b/cdefg", 6, /*keep_end=*/true), "...efg");
  // A wide character is not divided.
  EXPECT_EQ(Shortened("東京東京", 6), "東...");
  EXPECT_EQ(Shortened("東京東京", 7, /*keep_end=*/true), "...東京");
  EXPECT_EQ(Shortened("東京東京", 6, /*keep_end=*/true), "...京");
  EXPECT_EQ(Shortened("abcdef", 3), "...");
  // The time does not grow with the square of the length.
  EXPECT_EQ(Shortened(std::string(10'000'000, 'x'), 5), "xx...");
  EXPECT_EQ(Shortened(std::string(10'000'000, 'x') + "東", 5, /*keep_end=*/true), "...東");
}

TEST(TextTableTest, ShortensInOrderAndThenLeavesOut) {
  const std::vector<std::vector<std::string>> lines = {{"name", "size", "note"},
                                                       {"abcdefghijkl", "12345", "mnopqrstuvwx"}};
  const std::vector<TextColumn> columns = {
      {.shorten = 2, .least = 10}, {.right = true}, {.shorten = 1, .least = 8, .drop = 1}};
  EXPECT_EQ(AlignText(lines, columns),
            "name           size  note\nabcdefghijkl  12345  mnopqrstuvwx\n");
  EXPECT_EQ(AlignText(lines, columns, 33), AlignText(lines, columns));
  EXPECT_EQ(AlignText(lines, columns, 30),
            "name           size  note\nabcdefghijkl  12345  mnopqr...\n");
  EXPECT_EQ(AlignText(lines, columns, 27),
            "name         size  note\nabcdefg...  12345  mnopq...\n");
  // A column that remains has its full width if there is room again.
  EXPECT_EQ(AlignText(lines, columns, 26),
            "name           size\nabcdefghijkl  12345\n" + kOneLeftOut);
  // Nothing is left to shorten.
  EXPECT_EQ(AlignText(lines, columns, 10), "name         size\nabcdefg...  12345\n" + kOneLeftOut);
}

TEST(TextTableTest, LinesOneByOne) {
  const std::vector<TextColumn> columns = {
      {.right = true}, {.shorten = 1, .least = 8}, {.right = true, .drop = 1}};
  const std::vector<std::string> line = {"7", "abcdefghijkl", "123"};
  const auto text = [&](std::optional<size_t> width) {
    const TextLines lines(columns, {3, 10, 5}, width);
    std::string out;
    lines.Append(line, out);
    lines.AppendNote(out);
    return out;
  };
  // Without a width, a cell that is wider than its column makes the line longer.
  EXPECT_EQ(text(std::nullopt), "  7  abcdefghijkl    123\n");
  EXPECT_EQ(text(22), "  7  abcdefg...    123\n");
  EXPECT_EQ(text(20), "  7  abcde...    123\n");
  EXPECT_EQ(text(19), "  7  abcdefg...\n" + kOneLeftOut);
  // There are no spaces at the end of a line.
  std::string out;
  TextLines(columns, {3, 10, 5}, std::nullopt).Append(std::vector<std::string>{"7", "", ""}, out);
  EXPECT_EQ(out, "  7\n");
}

TEST(TextTableTest, ColumnsThatFitAreNotLeftOut) {
  const std::vector<std::vector<std::string>> lines = {{"key", "a", "long column", "b"}};
  const std::vector<TextColumn> columns = {{}, {.drop = 1}, {.drop = 2}, {.drop = 3}};
  EXPECT_EQ(AlignText(lines, columns, 22), "key  a  long column  b\n");
  EXPECT_EQ(AlignText(lines, columns, 21), "key  long column  b\n" + kOneLeftOut);
  // Column a is left out first. It is shown again, because leaving out the long column makes room.
  EXPECT_EQ(AlignText(lines, columns, 18), "key  a  b\n" + kOneLeftOut);
  EXPECT_EQ(AlignText(lines, columns, 8),
            "key  b\n2 columns of this list do not fit: use\n--json, or a wider terminal\n");
}

TEST(TextTableTest, NamesAreCutInTheMiddle) {
  EXPECT_EQ(ShortenedInMiddle("a long name 1", 13), "a long name 1");
  EXPECT_EQ(ShortenedInMiddle("a long name 1", 12), "a lon...me 1");
  EXPECT_EQ(ShortenedInMiddle("a long name 1", 3), "...");
  EXPECT_EQ(ShortenedInMiddle("東京都千代田区", 9), "東...区");
  const TextColumn name = {.shorten = 1, .cut = TextColumn::Cut::kMiddle};
  EXPECT_EQ(AlignText({{"a long name 1"}, {"a long name 2"}}, {name}, 8), "a l... 1\na l... 2\n");
}

// The line that `progress` shows for this number of rows.
std::string ProgressLine(uint64_t rows) {
  testing::internal::CaptureStderr();
  {
    Progress progress(/*shown=*/true);
    progress.Begin("reading", 1000);
    // The first line is shown after a short time.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (std::chrono::steady_clock::now() < end) EXPECT_TRUE(progress.Update(500, rows).ok());
  }
  return testing::internal::GetCapturedStderr();
}

TEST(TextTableTest, ProgressShowsRowsThatAreCounted) {
  EXPECT_NE(ProgressLine(7).find("MB/s  7 rows"), std::string::npos);
  const std::string line = ProgressLine(0);
  EXPECT_NE(line.find("MB/s"), std::string::npos);
  EXPECT_EQ(line.find("rows"), std::string::npos);
}

TEST(TextTableTest, BreaksLinesAtSpaces) {
  EXPECT_EQ(Wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(Wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(Wrapped("  indented one", 10), "  indented\none");
  EXPECT_EQ(Wrapped("a longerthanwidth b", 6), "a\nlongerthanwidth\nb");
  EXPECT_EQ(Wrapped("", 6), "");
  EXPECT_EQ(Wrapped("äöü äöü äöü", 7), "äöü äöü\näöü");  // 7 cells, but 13 bytes
}

TEST(TextTableTest, ShortenedNamesStayDifferent) {
  const std::vector<TextColumn> columns = {{.shorten = 1, .cut = TextColumn::Cut::kMiddle},
                                           {.right = true}};
  const std::string begin(30, 'b'), end(30, 'e');
  const auto names = [&](const std::string& one, const std::string& other) {
    return AlignText({{one, "1"}, {other, "2"}}, columns, 40);
  };
  // The default cut shows the beginning and the end of the names.
  EXPECT_EQ(names(begin + "1" + end, begin + "1" + begin),
            begin.substr(0, 17) + "..." + end.substr(0, 17) + "  1\n" + begin.substr(0, 17) +
                "..." + begin.substr(0, 17) + "  2\n");
  // These names differ only behind the first 20 characters.
  const std::string text = names(begin.substr(0, 20) + "1" + end, begin.substr(0, 20) + "2" + end);
  EXPECT_NE(text.find("b1"), std::string::npos) << text;
  EXPECT_NE(text.find("b2"), std::string::npos) << text;
}

TEST(TextTableTest, WideCharactersAreAligned) {
  EXPECT_EQ(AlignText({{"東京", "1"}, {"ab", "2"}}, {TextColumn{}, TextColumn{.right = true}}),
            "東京  1\nab    2\n");
}

}  // namespace cfile::tools::text_table_test
