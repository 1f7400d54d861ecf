// The tables of cfile/README.md match the public headers, the registry of encodings and the list of
// codecs. With CFILE_UPDATE_DOCUMENTS=1 in the environment, the test writes the table of encodings.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/types.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile::readme_test {

// The line before each table.
constexpr char kEncodingsMark[] =
    "<!-- tests/cfile/readme_test.cc writes this table from encodings/registry.h -->";
constexpr char kCodecsMark[] =
    "<!-- tests/cfile/readme_test.cc compares this table with cfile/types.h -->";

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the cells of a line "| a | b |" without the surrounding blanks.
std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    cells.push_back(std::regex_replace(cell, std::regex("^ +| +$"), ""));
  }
  return cells;
}

// Returns the texts between backquotes.
std::vector<std::string> Quoted(const std::string& text) {
  std::vector<std::string> names;
  const std::regex quoted("`([^`]*)`");
  for (std::sregex_iterator i(text.begin(), text.end(), quoted), end; i != end; ++i)
    names.push_back((*i)[1]);
  return names;
}

// Returns the cells of the table after `mark`, line by line. The first line is the head.
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

// Returns the table of encodings and types. Types with the same encodings share a column.
std::string EncodingTable() {
  std::vector<std::vector<PhysicalType>> groups;
  const auto takes = [](const encodings::EncodingRow& row, PhysicalType type) {
    return row.Supports(type);
  };
  for (int i = 0; i < encodings::kNumPhysicalTypes; ++i) {
    const auto type = static_cast<PhysicalType>(i);
    const auto same = [&](const std::vector<PhysicalType>& group) {
      return std::ranges::all_of(encodings::Encodings(), [&](const encodings::EncodingRow& row) {
        return takes(row, group[0]) == takes(row, type);
      });
    };
    const auto group = std::find_if(groups.begin(), groups.end(), same);
    (group == groups.end() ? groups.emplace_back() : *group).push_back(type);
  }
  std::string table = "| encoding |";
  for (const auto& group : groups) {
    for (const PhysicalType type : group) {
      absl::StrAppend(&table, type == group[0] ? " " : ", ",
                      std::string(encodings::PhysicalTypeName(type)));
    }
    table += " |";
  }
  table += "\n| --- |";
  for (size_t i = 0; i < groups.size(); ++i) table += " --- |";
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    absl::StrAppend(&table, "\n| `", std::string(row.name), "` |");
    for (const auto& group : groups) table += takes(row, group[0]) ? " yes |" : "  |";
  }
  return table + "\n";
}

TEST(Readme, HasTheTableOfEncodings) {
  if (encodings::FindEncoding(Encoding::kBitShuffle) == nullptr)
    GTEST_SKIP() << "the table is that of a build with LZ4";
  const char* path = CFILE_SOURCE_DIR "/cfile/README.md";
  const std::string readme = ReadFile(path);
  const size_t mark = readme.find(kEncodingsMark);
  ASSERT_NE(mark, std::string::npos);
  const size_t begin = readme.find("\n|", mark) + 1;
  const size_t end = readme.find("|\n\n", begin) + 2;
  const std::string table = EncodingTable();
  if (readme.substr(begin, end - begin) == table) return;
  if (std::getenv("CFILE_UPDATE_DOCUMENTS") != nullptr) {
    std::ofstream(path) << readme.substr(0, begin) << table << readme.substr(end);
    return;
  }
  FAIL() << "the table differs from the registry; CFILE_UPDATE_DOCUMENTS=1 "
            "build/dev/tests/cfile_tests --gtest_filter=Readme.* writes it";
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
    if (found.size() == 1) continue;  // this row is the head of the table
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

}  // namespace cfile::readme_test
