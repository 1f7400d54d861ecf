#include "tools/text_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/utf8.h"

namespace cfile::tools {
namespace {

TEST(TextTableTest, CellsOfCharacters) {
  EXPECT_EQ(CountCells("abc"), 3u);
  EXPECT_EQ(CountCells("Zürich"), 6u);
  EXPECT_EQ(CountCells("東京"), 4u);
  EXPECT_EQ(CountCells("한국어"), 6u);
  EXPECT_EQ(CountCells("e\xcc\x81"), 1u);           // a combining accent
  EXPECT_EQ(CountCells("\xf0\x9f\x98\x80"), 2u);    // an emoji
  EXPECT_EQ(CountCells("\xf0\xa0\x80\x80"), 2u);    // U+20000
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
            "name           size\nabcdefghijkl  12345\n"
            "1 column not shown: use --json\n");
  // Nothing is left to shorten.
  EXPECT_EQ(AlignText(lines, columns, 10),
            "name         size\nabcdefg...  12345\n"
            "1 column not shown: use --json\n");
}

TEST(TextTableTest, WideCharactersAreAligned) {
  EXPECT_EQ(AlignText({{"東京", "1"}, {"ab", "2"}}, "<>"), "東京  1\nab    2\n");
}

}  // namespace
}  // namespace cfile::tools
