// The examples of cfile/FORMAT.md are what they say, its rules have numbers and verdicts, its list
// of encodings is the registry's, and the places that the sources cite exist.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cfile/internal/bloom_filter.h"
#include "cfile/internal/data_block.h"
#include "cfile/internal/level_block_cursor.h"
#include "cfile/internal/statistics_block.h"
#include "cfile/internal/table_file.h"
#include "cfile/io.h"
#include "cfile/reader.h"
#include "encodings/group_varint.h"
#include "encodings/registry.h"
#include "encodings/rle_hybrid.h"
#include "encodings/status.h"
#include "encodings/validity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile {
namespace {

using encodings::kIsBytes;
using Bytes = std::vector<uint8_t>;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string Document() { return ReadFile(CFILE_SOURCE_DIR "/cfile/FORMAT.md"); }

// One ```hexdump block.
struct Example {
  std::vector<std::string> kind;  // the words after "hexdump"
  Bytes bytes;
  std::string values;  // the line that begins with "= "
};

std::vector<Example> Examples() {
  std::vector<Example> examples;
  std::istringstream document(Document());
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("```")) {
      inside = line.starts_with("```hexdump ");
      if (!inside) continue;
      std::istringstream words(line.substr(11));
      examples.emplace_back();
      for (std::string word; words >> word;) examples.back().kind.push_back(word);
    } else if (inside && line.starts_with("= ")) {
      examples.back().values = line.substr(2);
    } else if (inside) {
      Bytes& bytes = examples.back().bytes;
      std::istringstream words(line.substr(0, line.find('|')));
      size_t offset = 0;
      words >> std::hex >> offset;
      EXPECT_EQ(offset, bytes.size()) << line;
      for (unsigned byte; words >> byte;) bytes.push_back(static_cast<uint8_t>(byte));
    }
  }
  return examples;
}

template <typename T>
std::string Text(const ColumnType& type, const T& value) {
  if constexpr (kIsBytes<T>) {
    if (type.physical() != PhysicalType::kFixedBytes)
      return absl::StrCat("\"", std::string(value), "\"");
    const std::string hex = absl::BytesToHexString(std::string(value));
    return absl::StrCat(hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                        hex.substr(16, 4), "-", hex.substr(20));
  } else if constexpr (std::is_same_v<T, Int96>) {
    return absl::BytesToHexString({reinterpret_cast<const char*>(&value), sizeof value});
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    return absl::StrCat(value);
  } else {
    return std::to_string(static_cast<int64_t>(value));
  }
}

// Appends " VALUE" for each value of a block.
template <typename T>
void AppendBlock(const ColumnType& type, Encoding encoding, const encodings::BlockView& block,
                 std::vector<std::string>& values) {
  auto decoder = encodings::MakeDecoder<T>(encoding, type.physical(), type.type_length);
  ASSERT_TRUE(decoder.ok()) << decoder.status();
  ASSERT_TRUE((*decoder)->Open(block).ok());
  const auto out = std::make_unique<T[]>((*decoder)->count());
  while ((*decoder)->position() < (*decoder)->count()) {
    const auto read = (*decoder)->Read({out.get(), (*decoder)->count()});
    ASSERT_TRUE(read.ok()) << read.status();
    for (size_t i = 0; i < *read; ++i) values.push_back(Text(type, out[i]));
  }
}

// The entries of a block of records, each with its levels: "(0,2,7)", "(0,1)" where it has no
// value.
template <typename T>
absl::Status AppendEntries(const Bytes& bytes, const FileInfo& info,
                           std::vector<std::string>& entries) {
  internal::LevelBlockCursor<T> cursor(info.type, nullptr);
  CFILE_RETURN_IF_ERROR(cursor.Open(bytes, info, 0));
  while (cursor.row() < cursor.num_rows()) {
    CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> batch, cursor.Next(1000));
    for (size_t i = 0, value = 0; i < batch.num_entries; ++i) {
      const bool holds = batch.definition[i] == info.levels.max_definition;
      entries.push_back(absl::StrCat("(", batch.repetition[i], ",", batch.definition[i],
                                     holds ? "," + Text(info.type, batch.values[value]) : "", ")"));
      value += holds ? 1 : 0;
    }
  }
  return absl::OkStatus();
}

// The values of an example as its last line writes them, or what is wrong.
std::string Decode(const Example& example) {
  std::vector<std::string> values;
  encodings::ByteReader reader(example.bytes);
  const std::string& kind = example.kind.at(0);
  if (kind == "group-varint") {
    uint32_t numbers[encodings::kGroupVarint32Values];
    if (!encodings::ReadGroupVarint32(reader, 1, numbers) || !reader.empty()) return "no group";
    for (const uint32_t number : numbers) values.push_back(std::to_string(number));
  } else if (kind == "rle-hybrid") {
    int width = 0, count = 0;
    std::sscanf(example.kind.at(1).c_str(), "width=%d", &width);
    std::sscanf(example.kind.at(2).c_str(), "count=%d", &count);
    encodings::RleHybridReader runs(example.bytes, width);
    std::vector<uint64_t> numbers(static_cast<size_t>(count));
    if (const absl::Status status = runs.Read(numbers.data(), numbers.size()); !status.ok())
      return status.ToString();
    for (const uint64_t number : numbers) values.push_back(std::to_string(number));
  } else if (kind == "page") {
    const ColumnType type = *ColumnType::Parse(example.kind.at(1));
    encodings::BlockView page(example.bytes);
    std::sscanf(example.kind.at(3).c_str(), "count=%u", &page.count);
    VisitPhysicalType(type.physical(), [&](auto t) {
      AppendBlock<typename decltype(t)::type>(type, *ParseEncoding(example.kind.at(2)), page,
                                              values);
    });
  } else if (kind == "file") {
    const auto opened = Reader::Open(NewMemoryViewSource(example.bytes));
    if (!opened.ok()) return opened.status().ToString();
    if (opened->type() != *ColumnType::Parse(example.kind.at(1))) return opened->type().ToString();
    if (const VerifyReport report = Verify(*opened); !report.ok())
      return report.damages[0].status.ToString();
    VisitPhysicalType(opened->type().physical(), [&](auto t) {
      using T = typename decltype(t)::type;
      auto cursor = opened->NewCursor<T>();
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      while (true) {
        const auto batch = cursor->Next(1000);
        ASSERT_TRUE(batch.ok()) << batch.status();
        if (batch->size() == 0) break;
        for (size_t i = 0; i < batch->size(); ++i)
          values.push_back(batch->IsValid(i) ? Text(opened->type(), batch->values[i]) : "null");
      }
    });
  } else if (kind == "table") {
    const auto table = internal::ParseTable(encodings::AsString(example.bytes), "table.cft");
    if (!table.ok()) return table.status().ToString();
    for (const ColumnSchema& column : table->schema.columns) {
      values.push_back(
          absl::StrCat(column.name, ":", column.type.ToString(), column.nullable ? "?" : ""));
    }
    for (const size_t key : table->schema.key_columns) values.push_back(absl::StrCat("key:", key));
    for (const internal::TablePart& part : table->parts) {
      values.push_back(absl::StrCat(part.directory, ":", part.num_rows));
      for (const internal::TablePartColumn& column : part.columns) {
        values.push_back(
            absl::StrCat(column.file_name, ":", column.size_bytes, ":", column.null_count));
      }
    }
  } else if (kind == "statistics") {
    FileInfo info{.type = *ColumnType::Parse(example.kind.at(1))};
    std::sscanf(example.kind.at(2).c_str(), "rows=%lu", &info.num_values);
    info.file_size_bytes = 1000;
    const auto statistics = internal::ParseStatistics(example.bytes, info);
    if (!statistics.ok()) return statistics.status().ToString();
    std::vector<BlockStatistics> parts = {statistics->file};
    parts.insert(parts.end(), statistics->blocks.begin(), statistics->blocks.end());
    for (const BlockStatistics& part : parts) {
      values.push_back(absl::StrCat(part.present_count, "/", part.null_count, "/", part.nan_count,
                                    ":", *part.Min<double>(), "..", *part.Max<double>()));
    }
  } else if (kind == "bloom-filter") {
    // All small numbers that may be in it.
    const std::string filter(example.bytes.begin(), example.bytes.end());
    for (int32_t number = 0; number < 1000; ++number) {
      if (internal::BloomMightContain(filter, internal::BloomHash(number)))
        values.push_back(std::to_string(number));
    }
  } else if (kind == "levels" || kind == "array") {
    FileInfo info{.type = *ColumnType::Parse(example.kind.at(1)),
                  .encoding = *ParseEncoding(example.kind.at(2)),
                  .nullable = true,
                  .num_values = 100};
    if (kind == "array") {
      info.incompatible_features = kFeatureArrayBlocks;
      info.levels = LevelLimits::KuduArray(true);
    } else {
      info.incompatible_features = kFeatureNestedBlocks | kFeatureExtendedBlocks;
      std::sscanf(example.kind.at(3).c_str(), "repetition=%hu", &info.levels.max_repetition);
      std::sscanf(example.kind.at(4).c_str(), "definition=%hu", &info.levels.max_definition);
    }
    const absl::Status status = VisitPhysicalType(info.type.physical(), [&](auto t) {
      return AppendEntries<typename decltype(t)::type>(example.bytes, info, values);
    });
    if (!status.ok()) return status.ToString();
  } else {
    const ColumnType type = *ColumnType::Parse(example.kind.at(1));
    const Encoding encoding = *ParseEncoding(example.kind.at(2));
    const auto block =
        internal::ParseDataBlock(example.bytes, kind == "nullable", kind == "extended", encoding);
    if (!block.ok()) return block.status().ToString();
    if (block->encoding != encoding) return EncodingName(block->encoding);
    VisitPhysicalType(type.physical(), [&](auto t) {
      encodings::BlockView view(block->values);
      view.skip_table = block->skip_table;
      view.count = block->present_count.value_or(0);
      view.first_ordinal = block->first_ordinal.value_or(0);
      AppendBlock<typename decltype(t)::type>(type, encoding, view, values);
    });
    if (block->num_rows) {
      encodings::ValidityDecoder validity;
      uint8_t bits = 0;
      if (*block->num_rows > 8 || !validity.Open(block->validity, *block->num_rows).ok() ||
          !validity.Read(*block->num_rows, &bits).ok()) {
        return "no bitmap";
      }
      for (uint32_t i = 0; i < *block->num_rows; ++i) {
        if ((bits >> i & 1) == 0) values.insert(values.begin() + i, "null");
      }
    }
  }
  std::string text;
  for (const std::string& value : values) absl::StrAppend(&text, text.empty() ? "" : " ", value);
  return text;
}

TEST(FormatDocument, ExamplesDecodeToWhatTheySay) {
  const std::vector<Example> examples = Examples();
  std::set<std::string> kinds;
  for (const Example& example : examples) {
    EXPECT_EQ(Decode(example), example.values) << testing::PrintToString(example.kind);
    kinds.insert(example.kind.at(0));
  }
  EXPECT_THAT(kinds, testing::ElementsAre("array", "block", "bloom-filter", "extended", "file",
                                          "group-varint", "levels", "nullable", "page",
                                          "rle-hybrid", "statistics", "table"));
}

// A rule is a list item that begins with its number in bold, "* **IX3** ...".
TEST(FormatDocument, RulesHaveANumberOfTheirOwnAndAVerdict) {
  std::vector<std::pair<std::string, std::string>> rules;  // number, text
  std::istringstream document(Document());
  const std::regex begin(R"(\* \*\*([A-Z]{1,2}[0-9]+)\*\* .*)");
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    std::smatch found;
    if (std::regex_match(line, found, begin)) {
      rules.emplace_back(found[1], line);
      inside = true;
    } else if (inside && line.starts_with("  ")) {
      rules.back().second += line.substr(1);
    } else {
      EXPECT_FALSE(line.starts_with("* ")) << "a list item without a number: " << line;
      inside = false;
    }
  }
  EXPECT_GT(rules.size(), 150);
  std::set<std::string> numbers;
  for (const auto& [number, text] : rules) {
    EXPECT_TRUE(numbers.insert(number).second) << number << " stands twice";
    EXPECT_TRUE(text.ends_with(" *damage*") || text.ends_with(" *ignored*") ||
                text.ends_with(" *binds writers only*"))
        << number << " has no verdict: " << text;
  }
  // Rules are cited by their numbers: "(C5)", "([ST1](#statistics))", "(IX8, IX9)".
  const std::string text = Document();
  const std::regex citation(R"([(\[ ]([A-Z]{1,2}[0-9]+)[\]),:])");
  int citations = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), citation), end; i != end; ++i) {
    const std::string number = (*i)[1];
    if (number == "LZ4") continue;
    EXPECT_THAT(numbers, testing::Contains(number));
    ++citations;
  }
  EXPECT_GT(citations, 10);
}

TEST(FormatDocument, ListsTheEncodingsOfTheRegistry) {
  const std::string document = Document();
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    const std::string cells =
        absl::StrCat(R"(\| )", static_cast<uint32_t>(row.encoding), R"( \| ([A-Z_]+) \| `)",
                     std::string(row.name), R"(` \|)");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(document, found, std::regex(cells))) << row.name << " has no row";
    EXPECT_THAT(document, testing::HasSubstr(absl::StrCat("\n### ", found[1].str(), "\n")))
        << "has no section";
    EXPECT_TRUE(std::regex_search(
        document, std::regex(absl::StrCat("```hexdump (block|page) [a-z0-9()]+ ",
                                          std::string(row.name), "( count=[0-9]+)?\n"))))
        << row.name << " has no example";
  }
}

TEST(FormatDocument, HasTheSectionsThatAreCited) {
  std::set<std::string> headings;
  const std::string document = Document();
  const std::regex heading("\n##+ ([^\n]*)");
  for (std::sregex_iterator i(document.begin(), document.end(), heading), end; i != end; ++i)
    headings.insert((*i)[1]);

  // "(cfile/FORMAT.md, Index nodes)", "(cfile/FORMAT.md, Nullable blocks and Extended blocks)",
  // with line breaks of comments inside.
  const std::regex citation(R"(\(cfile/FORMAT\.md, ([^)]*)\))");
  const std::regex line_break(R"(\s+(//\s*)?)");
  int citations = 0;
  for (const char* folder : {"encodings", "cfile", "proto", "tools"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(CFILE_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc" && extension != ".proto") continue;
      const std::string source = ReadFile(entry.path());
      for (std::sregex_iterator i(source.begin(), source.end(), citation), end; i != end; ++i) {
        std::string names = std::regex_replace((*i)[1].str(), line_break, " ");
        for (size_t cut; !names.empty();
             names = cut == std::string::npos ? "" : names.substr(cut + 5)) {
          cut = names.find(" and ");
          const std::string name = names.substr(0, cut);
          EXPECT_THAT(headings, testing::Contains(name)) << entry.path();
          ++citations;
        }
      }
    }
  }
  EXPECT_GT(citations, 10);
}

}  // namespace
}  // namespace cfile
