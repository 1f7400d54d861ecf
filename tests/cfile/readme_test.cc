// The table of types and encodings in README.md matches the registry.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/types.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile {
namespace {

constexpr char kMark[] =
    "<!-- tests/cfile/readme_test.cc compares this table with encodings/registry.h -->";

// The cells of "| a | b |", without the blanks around them.
std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    cells.push_back(std::regex_replace(cell, std::regex("^ +| +$"), ""));
  }
  return cells;
}

// The texts between backquotes.
std::vector<std::string> Quoted(const std::string& text) {
  std::vector<std::string> names;
  const std::regex quoted("`([^`]*)`");
  for (std::sregex_iterator i(text.begin(), text.end(), quoted), end; i != end; ++i)
    names.push_back((*i)[1]);
  return names;
}

// The cells of the table, by line: first its head, then its rows.
std::vector<std::vector<std::string>> ReadTable() {
  std::ifstream readme(CFILE_SOURCE_DIR "/README.md");
  std::string line;
  while (std::getline(readme, line) && line != kMark) {
  }
  std::vector<std::vector<std::string>> table;
  while (std::getline(readme, line) && (table.empty() || !line.empty())) {
    if (line.starts_with("|") && !line.starts_with("| ---")) table.push_back(Cells(line));
  }
  return table;
}

TEST(Readme, HasAColumnForEachEncoding) {
  if (encodings::FindEncoding(Encoding::kBitShuffle) == nullptr)
    GTEST_SKIP() << "the table is that of a build with LZ4";
  const auto table = ReadTable();
  ASSERT_FALSE(table.empty()) << "no table behind " << kMark;
  std::vector<std::string> expected = {"type"};
  for (const encodings::EncodingRow& row : encodings::Encodings())
    expected.push_back(absl::StrCat("`", std::string(row.name), "`"));
  EXPECT_EQ(table[0], expected);
}

TEST(Readme, SaysWhichTypesAnEncodingTakes) {
  if (encodings::FindEncoding(Encoding::kBitShuffle) == nullptr) GTEST_SKIP();
  const auto table = ReadTable();
  std::set<PhysicalType> seen;
  for (size_t i = 1; i < table.size(); ++i) {
    for (const std::string& name : Quoted(table[i][0])) {
      const auto type = ColumnType::Parse(name);
      ASSERT_TRUE(type.ok()) << type.status();
      seen.insert(type->physical());
      std::vector<std::string> expected = {table[i][0]};
      for (const encodings::EncodingRow& row : encodings::Encodings()) {
        expected.push_back(row.Supports(type->physical()) ? "yes" : "");
      }
      EXPECT_EQ(table[i], expected) << name;
    }
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(encodings::kNumPhysicalTypes))
      << "a physical type is missing";
}

}  // namespace
}  // namespace cfile
