// The tables of cfile/README.md match the public headers, the registry of encodings and the list of
// codecs.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/types.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile {
namespace {

// The lines before the tables.
constexpr char kEncodingsMark[] =
    "<!-- tests/cfile/readme_test.cc compares this table with encodings/registry.h -->";
constexpr char kCodecsMark[] =
    "<!-- tests/cfile/readme_test.cc compares this table with cfile/types.h -->";

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

// The cells of the table after `mark`, by line: first its head, then its rows.
std::vector<std::vector<std::string>> ReadTable(std::string_view mark) {
  std::istringstream readme(ReadFile(CFILE_SOURCE_DIR "/cfile/README.md"));
  std::string line;
  while (std::getline(readme, line) && line != mark) {
  }
  std::vector<std::vector<std::string>> table;
  while (std::getline(readme, line) && (table.empty() || !line.empty())) {
    if (line.starts_with("|") && !line.starts_with("| ---")) table.push_back(Cells(line));
  }
  return table;
}

TEST(Readme, NamesEachPublicHeader) {
  const std::string readme = ReadFile(CFILE_SOURCE_DIR "/cfile/README.md");
  for (const auto& entry : std::filesystem::directory_iterator(CFILE_SOURCE_DIR "/cfile")) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".h") continue;
    EXPECT_THAT(readme, testing::HasSubstr(absl::StrCat("[", name, "](", name, ")")));
  }
}

TEST(Readme, HasAColumnForEachEncoding) {
  if (encodings::FindEncoding(Encoding::kBitShuffle) == nullptr)
    GTEST_SKIP() << "the table is that of a build with LZ4";
  const auto table = ReadTable(kEncodingsMark);
  ASSERT_FALSE(table.empty()) << "no table after " << kEncodingsMark;
  std::vector<std::string> expected = {"type"};
  for (const encodings::EncodingRow& row : encodings::Encodings())
    expected.push_back(absl::StrCat("`", std::string(row.name), "`"));
  EXPECT_EQ(table[0], expected);
}

TEST(Readme, SaysWhichTypesAnEncodingTakes) {
  if (encodings::FindEncoding(Encoding::kBitShuffle) == nullptr) GTEST_SKIP();
  const auto table = ReadTable(kEncodingsMark);
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

TEST(Readme, HasARowForEachCodec) {
  std::vector<std::vector<std::string>> expected;
  for (const Compression codec : AllCompressions()) {
    if (codec == Compression::kNone) continue;
    const bool kudus = static_cast<uint32_t>(codec) < encodings::kFirstExtendedNumber;
    expected.push_back({absl::StrCat("`", CompressionName(codec), "`"), kudus ? "yes" : ""});
  }
  const std::string cmake = ReadFile(CFILE_SOURCE_DIR "/CMakeLists.txt");
  std::vector<std::vector<std::string>> found;
  for (const std::vector<std::string>& row : ReadTable(kCodecsMark)) {
    ASSERT_EQ(row.size(), 4u);
    found.push_back({row[0], row[2]});
    if (found.size() == 1) continue;  // the head
    const std::string option = Quoted(row[3]).at(0);
    const bool off = row[3].ends_with("**off**");
    EXPECT_THAT(cmake, testing::ContainsRegex("option\\(" + option + " [^\n]*" +
                                              (off ? "OFF" : "ON") + "\\)\n"))
        << row[0];
  }
  ASSERT_FALSE(found.empty()) << "no table after " << kCodecsMark;
  found.erase(found.begin());
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace cfile
