// Checks cfile/FORMAT.md. Its examples decode to the given values. Each rule has a number and a
// verdict. The list of encodings equals the registry. The sections that the sources cite exist.
// Readers treat each broken rule as its verdict says.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/batch.h"
#include "cfile/core/format/bloom_filter.h"
#include "cfile/core/format/piece_table.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/kernels/group_varint.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile::format_document_test {

using encodings::kIsBytes;
using Bytes = std::vector<uint8_t>;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string Document() { return ReadFile(CFILE_SOURCE_DIR "/cfile/FORMAT.md"); }

// A ```hexdump block of the document.
struct Example {
  std::vector<std::string> kind;  // the words after "hexdump"
  Bytes bytes;
  std::string values;  // the line that begins with "= "
};

std::vector<Example> Examples() {
  std::vector<Example> examples;
  std::istringstream document(Document());
  // A line with bytes of the file. Other lines of a hexdump are headings, or have bytes of a block
  // before its compression.
  const std::regex stored_bytes("[0-9a-f]{4,}  .*");
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
    } else if (inside && std::regex_match(line, stored_bytes)) {
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

// Appends the values of a Parquet page or of a block of Kudu to the text of an example.
template <typename T>
absl::Status AppendBlock(const ColumnType& type, Encoding encoding,
                         const encodings::BlockView& block, const std::string& dictionary,
                         std::vector<std::string>& values) {
  encodings::DecoderOptions options(type.type_length);
  if (!dictionary.empty()) {
    CFILE_ASSIGN_OR_RETURN(options.dictionary,
                           encodings::LoadDictionary(encoding, type.physical(), type.type_length,
                                                     encodings::AsBytes(dictionary)));
  }
  CFILE_ASSIGN_OR_RETURN(const auto decoder,
                         encodings::MakeDecoder<T>(encoding, type.physical(), options));
  CFILE_RETURN_IF_ERROR(decoder->Open(block));
  const auto out = std::make_unique<T[]>(decoder->count());
  while (decoder->position() < decoder->count()) {
    CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read({out.get(), decoder->count()}));
    for (size_t i = 0; i < read; ++i) values.push_back(Text(type, out[i]));
  }
  return absl::OkStatus();
}

// Appends the rows that next() returns, up to an empty batch.
template <typename T, typename Next>
absl::Status AppendRows(const ColumnType& type, const Next& next,
                        std::vector<std::string>& values) {
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, next());
    if (batch.size() == 0) return absl::OkStatus();
    for (size_t i = 0; i < batch.size(); ++i)
      values.push_back(batch.IsValid(i) ? Text(type, batch.values[i]) : "null");
  }
}

// Appends the rows of a data block. The block may have a null header and an envelope.
template <typename T>
absl::Status AppendDataBlock(const Bytes& bytes, const FileInfo& info,
                             std::vector<std::string>& values) {
  internal::BlockCursor cursor(info.type, {});
  CFILE_RETURN_IF_ERROR(cursor.Open(bytes, info, 0));
  const auto next = [&]() -> absl::StatusOr<Batch<T>> {
    CFILE_ASSIGN_OR_RETURN(const internal::AnyBatch batch, cursor.Next(1000));
    return batch.As<T>();
  };
  return AppendRows<T>(info.type, next, values);
}

template <typename T>
absl::Status AppendFile(const Reader& reader, std::vector<std::string>& values) {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, reader.NewCursor<T>());
  return AppendRows<T>(
      reader.type(), [&] { return cursor.Next(1000); }, values);
}

// Appends the entries of a block of records, each with its levels: "(0,2,7)", or "(0,1)" if the
// entry has no value.
template <typename T>
absl::Status AppendEntries(const Bytes& bytes, const FileInfo& info,
                           std::vector<std::string>& entries) {
  internal::LevelBlockCursor cursor(info.type, {});
  CFILE_RETURN_IF_ERROR(cursor.Open(bytes, info, 0));
  while (cursor.row() < cursor.num_rows()) {
    CFILE_ASSIGN_OR_RETURN(const internal::AnyLevelBatch read, cursor.Next(1000));
    const LevelBatch<T> batch = read.As<T>();
    for (size_t i = 0, value = 0; i < batch.num_entries; ++i) {
      const bool holds = batch.definition[i] == info.levels.max_definition;
      entries.push_back(absl::StrCat("(", batch.repetition[i], ",", batch.definition[i],
                                     holds ? "," + Text(info.type, batch.values[value]) : "", ")"));
      value += holds ? 1 : 0;
    }
  }
  return absl::OkStatus();
}

// Returns the values of an example in the form of Example::values, or a description of the error.
std::string Decode(const Example& example) {
  std::vector<std::string> values;
  encodings::ByteReader reader(example.bytes);
  const std::string& kind = example.kind.at(0);
  if (kind == "group-varint") {
    uint32_t numbers[encodings::kGroupVarint32Values];
    if (!encodings::ReadGroupVarint32(reader, 1, numbers)) return "DATA_LOSS: no group";
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
    std::string dictionary;
    if (example.kind.size() > 4)
      dictionary = absl::HexStringToBytes(example.kind[4].substr(std::strlen("dictionary=")));
    const absl::Status status = VisitPhysicalType(type.physical(), [&](auto t) {
      return AppendBlock<typename decltype(t)::type>(type, *ParseEncoding(example.kind.at(2)), page,
                                                     dictionary, values);
    });
    if (!status.ok()) return status.ToString();
  } else if (kind == "file") {
    const auto opened = Reader::Open(NewMemoryViewSource(example.bytes));
    if (!opened.ok()) return opened.status().ToString();
    if (opened->type() != *ColumnType::Parse(example.kind.at(1))) return opened->type().ToString();
    if (const VerifyReport report = Verify(*opened); !report.ok())
      return report.damages[0].status.ToString();
    const absl::Status status = VisitPhysicalType(opened->type().physical(), [&](auto t) {
      return AppendFile<typename decltype(t)::type>(*opened, values);
    });
    if (!status.ok()) return status.ToString();
  } else if (kind == "table") {
    const auto table = internal::ParseTable(encodings::AsString(example.bytes), "table.cft");
    if (!table.ok()) return table.status().ToString();
    for (const ColumnSchema& column : table->schema.columns) {
      values.push_back(
          absl::StrCat(column.name, ":", column.type.ToString(), column.nullable ? "?" : ""));
    }
    for (const size_t key : table->schema.key_columns) values.push_back(absl::StrCat("key:", key));
    for (const size_t key : table->schema.nulls_last)
      values.push_back(absl::StrCat("nulls last:", key));
    for (const internal::TablePart& part : table->parts) {
      values.push_back(absl::StrCat(part.directory, ":", part.num_rows));
      for (const internal::TablePartColumn& column : part.columns) {
        values.push_back(column.missing ? "-"
                                        : absl::StrCat(column.file_name, ":", column.size_bytes,
                                                       ":", column.null_count));
      }
    }
  } else if (kind == "statistics") {
    FileInfo info{.type = *ColumnType::Parse(example.kind.at(1))};
    std::sscanf(example.kind.at(2).c_str(), "rows=%lu", &info.num_rows);
    info.file_size_bytes = 1000;
    const auto statistics = internal::ParseStatistics(example.bytes, info);
    if (!statistics.ok()) return statistics.status().ToString();
    std::vector<BlockStatistics> parts = {statistics->file};
    parts.insert(parts.end(), statistics->blocks.begin(), statistics->blocks.end());
    for (const BlockStatistics& part : parts) {
      values.push_back(absl::StrCat(part.present_count, "/", part.null_count, "/", part.nan_count,
                                    ":", *part.Min<double>(), "..", *part.Max<double>()));
    }
  } else if (kind == "piece-table") {
    absl::Status in_record;
    const absl::Status status =
        internal::VisitPieceRecords(example.bytes, [&](const internal::PieceRecord& record) {
          values.push_back(absl::StrCat(record.block.offset, "+", record.block.size, ":",
                                        record.first_ordinal, ":", EncodingName(record.encoding)));
          in_record = internal::VisitPieces(record, [&](const internal::Piece& piece) {
            values.push_back(absl::StrCat(piece.num_rows, ":", piece.begin, "+", piece.size_bytes,
                                          ":", std::string(piece.key)));
            return true;
          });
          return in_record.ok();
        });
    for (const absl::Status& each : {status, in_record})
      if (!each.ok()) return each.ToString();
  } else if (kind == "bloom-filter") {
    // Lists all numbers below 1000 that the filter may contain.
    const std::string filter(example.bytes.begin(), example.bytes.end());
    for (int32_t number = 0; number < 1000; ++number) {
      if (internal::BloomMightContain(filter, internal::BloomHash(number)))
        values.push_back(std::to_string(number));
    }
  } else if (kind == "levels" || kind == "array") {
    FileInfo info{.type = *ColumnType::Parse(example.kind.at(1)),
                  .encoding = *ParseEncoding(example.kind.at(2)),
                  .nullable = true,
                  .num_rows = 100};
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
  } else {  // the kind is block, nullable, extended or movable
    const bool movable = kind == "movable";
    const FileInfo info{
        .type = *ColumnType::Parse(example.kind.at(1)),
        .encoding = *ParseEncoding(example.kind.at(2)),
        .nullable = kind == "nullable" || movable,
        .num_rows = 100,
        .incompatible_features = movable ? kFeatureExtendedBlocks | kFeatureMovableBlocks
                                 : kind == "extended" ? kFeatureExtendedBlocks
                                                      : 0};
    Bytes bytes = example.bytes;
    if (movable) {
      internal::BlockBuffer buffer;
      const auto fetched = internal::FetchBlock(
          *NewMemoryViewSource(example.bytes), internal::DataBlockFormatOf(info),
          {.offset = 0, .size = static_cast<uint32_t>(example.bytes.size())}, /*verify=*/true,
          1 << 20, buffer);
      if (!fetched.ok()) return fetched.status().ToString();
      bytes.assign(fetched->bytes.begin(), fetched->bytes.end());
    }
    const absl::Status status = VisitPhysicalType(info.type.physical(), [&](auto t) {
      return AppendDataBlock<typename decltype(t)::type>(bytes, info, values);
    });
    if (!status.ok()) return status.ToString();
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
                                          "group-varint", "levels", "movable", "nullable", "page",
                                          "piece-table", "rle-hybrid", "statistics", "table"));
}

// A rule is a list item that begins with its number in bold, "* **IX3** ...".
struct Rule {
  std::string number;
  std::string text;
};

std::vector<Rule> Rules() {
  std::vector<Rule> rules;
  std::istringstream document(Document());
  const std::regex begin(R"(\* \*\*([A-Z]{1,2}[0-9]+)\*\* .*)");
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    std::smatch found;
    if (std::regex_match(line, found, begin)) {
      rules.push_back({found[1], line});
      inside = true;
    } else if (inside && line.starts_with("  ")) {
      rules.back().text += line.substr(1);
    } else {
      EXPECT_FALSE(line.starts_with("* ")) << "a list item without a number: " << line;
      inside = false;
    }
  }
  return rules;
}

TEST(FormatDocument, RulesHaveANumberOfTheirOwnAndAVerdict) {
  std::set<std::string> numbers;
  for (const auto& [number, text] : Rules()) {
    EXPECT_TRUE(numbers.insert(number).second) << number << " stands twice";
    EXPECT_TRUE(text.ends_with(" *damage*") || text.ends_with(" *ignored*") ||
                text.ends_with(" *binds writers only*"))
        << number << " has no verdict: " << text;
  }
  EXPECT_GT(numbers.size(), 150);
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

// A change that breaks a rule in one example of the document.
struct Breach {
  std::string_view rule;
  std::string_view example;    // the words after "hexdump"; the first example that matches is used
  int offset;                  // where bytes are replaced; with kEnd, bytes are appended
  std::string_view bytes;      // in hexadecimal; with kCut, the last byte is removed
  size_t replaced = SIZE_MAX;  // how many bytes are replaced; by default as many as `bytes` has
};
constexpr int kEnd = -1;
constexpr std::string_view kCut = "cut";

constexpr std::string_view kLevels = "levels int32 plain repetition=1 definition=2";
constexpr std::string_view kDelta = "page int32 parquet-delta count=8";
constexpr std::string_view kTable = "table ids";
constexpr std::string_view kAlp = "page double parquet-alp count=3";
constexpr std::string_view kFor = "page int32 for count=5";
constexpr std::string_view kForBool = "page bool for count=3";
constexpr std::string_view kFsst = "page string fsst count=3";
constexpr std::string_view kFsstCodes =
    "page string fsst count=3 dictionary=0202000000696e0300000067732f";
constexpr std::string_view kFsstSeparate =
    "page string fsst count=4 dictionary=0202000000696e0300000067732f";
constexpr std::string_view kCompact = "page double compact count=4";
constexpr std::string_view kCompactCodes = "page int32 compact count=12";
constexpr std::string_view kAlpRd = "page double alp-rd count=5";
constexpr Breach kBreaches[] = {
    // Version 1 has no checksums.
    {"F1", "file int32", 0x00, "6c"},
    {"F1", "file int32", 0x41, "6c"},
    {"F2", "file int32", 0x49, "ff"},
    {"F9", "file int32", 0x3a, "02"},
    {"F11", "file int32", 0x21, "30"},
    {"F14", "file int32", 0x35, "7a"},  // 0x7a is the tag of field 15
    {"M4", "file int32", 0x2f, "78"},
    {"M4", "file int32", 0x2a, "05"},
    {"M5", "file int32", 0x3d, "7801"},
    {"M10", "file int32", 0x0d, "07"},
    {"D1", "file int32", 0x14, "01"},
    {"D2", "file int32", 0x34, "03"},
    {"D3", kLevels, 0x01, "00"},
    {"D4", "file int32", 0x34, "00"},
    {"IX1", "file int32", 0x23, "10"},
    {"IX1", "file int32", 0x2b, "ff"},
    {"IX3", "file int32", 0x22, "03"},
    {"F3", "file string", 0x3a, "01"},
    {"TB1", "table", 0x30, "ff"},
    {"TB1", "table", kEnd, "00"},
    {"TB8", "table", 0xb6, "04"},
    {"CK3", "table", 0xcb, "02"},
    {"TB5", kTable, 0x48, "2f"},
    {"TB6", kTable, 0x6e, "04"},
    {"TB7", kTable, 0x86, "01"},
    {"TB7", kTable, 0xa0, "04"},
    {"TB17", kTable, 0x07, "31"},
    {"TB24", kTable, 0xbd, "0c"},
    {"TB39", kTable, 0xbd, "28"},
    {"TB27", kTable, 0x1d, "00"},
    {"TB27", kTable, 0x1d, "04"},
    {"TB28", kTable, 0x3a, "42"},  // 0x42 is the tag of field 8
    {"TB29", kTable, 0xc1, "09"},
    {"TB27", kTable, 0xbf, "03"},
    {"TB34", kTable, 0xb7, "3800"},  // 0x38 is the tag of column_id
    {"TB34", kTable, 0xb7, "3804"},
    {"C1", kDelta, 0x05, "ffffffff7f", 1},
    {"C2", kDelta, 0x04, "8e00", 1},
    {"C3", "block string prefix", 0x04, "05"},
    {"C3", "block uint32 group-varint", 0x05, "05"},
    {"N1", "nullable int32 plain", kEnd, kCut},
    {"N2", "nullable int32 plain", 0x03, "0e"},
    {"N2", "nullable int32 plain", 0x03, "02"},
    {"N3", "nullable int32 plain", 0x08, "01"},
    {"L5", kLevels, 0x07, "1b"},
    {"L6", kLevels, 0x04, "03"},
    {"L6", kLevels, 0x04, "00"},
    {"L7", kLevels, 0x07, "19"},
    {"L8", kLevels, 0x00, "03"},
    {"A2", "array int32 plain", 0x00, "0b"},
    {"A3", "array int32 plain", 0x19, "73"},
    {"A4", "array int32 plain", 0x06, "00"},
    {"E2", "extended uuid plain", 0x01, "02"},
    {"E3", "extended uuid plain", 0x02, "01"},
    {"E5", "extended uuid plain", 0x03, "02aabb", 1},
    {"MB1", "movable int32 plain", kEnd, "00"},
    {"MB1", "movable int32 plain", kEnd, kCut},
    {"MB2", "movable int32 plain", 0x08, "05"},
    {"MB2", "movable int32 plain", 0x48, "08"},
    {"HY1", "rle-hybrid width=3 count=18", 0x04, "00"},
    {"HY2", "rle-hybrid width=3 count=18", 0x05, "08"},
    {"HY3", "rle-hybrid width=3 count=18", 0x04, "12"},
    {"HY4", "rle-hybrid width=3 count=18", kEnd, "00ff"},
    {"GV1", "group-varint", kEnd, kCut},
    {"PL1", "block bool plain", kEnd, "00"},
    {"PL1", "block bool plain", kEnd, kCut},
    {"PL2", "block bool plain", 0x09, "ff"},
    {"PL3", "block string plain", 0x08, "0b"},
    {"PL3", "block string plain", 0x16, "0d"},
    {"PL3", "block string plain", 0x17, "12"},
    {"PL4", "block string plain", kEnd, "00"},
    {"PL5", "block string plain", 0x19, "07"},
    {"PR1", "block string prefix", 0x03, "00"},
    {"PR1", "block string prefix", 0x19, "00"},
    {"PR2", "block string prefix", 0x0c, "06"},
    {"PR2", "block string prefix", 0x0f, "01"},
    {"PR4", "block string prefix", 0x15, "0e"},
    {"GF2", "block uint32 group-varint", kEnd, "00"},
    {"GF3", "block uint32 group-varint", 0x10, "07"},
    {"RL1", "block int32 rle", 0x00, "0a"},
    {"DI1", "block string dict", 0x00, "03"},
    {"BS1", "block int16 bit-shuffle", 0x08, "25"},
    {"BS2", "block int16 bit-shuffle", 0x0c, "10"},
    {"BS3", "block int16 bit-shuffle", 0x10, "01"},
    {"BS5", "block int16 bit-shuffle", 0x17, "0b"},
    {"PP1", "page string parquet-plain count=3", kEnd, kCut},
    {"PP2", "page string parquet-plain count=3", kEnd, "00"},
    {"PV1", "page int64 parquet-group-varint count=3", kEnd, kCut},
    {"PV2", "page int64 parquet-group-varint count=3", 0x01, "f0"},
    {"PV2", "page int64 parquet-group-varint count=3", 0x0c, "07"},
    {"PV2", "page int64 parquet-group-varint count=3", kEnd, "00"},
    {"PB1", "page bool parquet-rle count=12", 0x00, "05"},
    {"PB2", "page bool parquet-rle count=12", kEnd, "00"},
    {"DP1", kDelta, 0x00, "88"},
    {"DP1", kDelta, 0x02, "03"},
    {"DP1", kDelta, 0x02, "08"},
    {"DP3", kDelta, 0x03, "07"},
    {"DP4", kDelta, 0x06, "21"},
    {"DP5", kDelta, kEnd, kCut},
    {"DP6", kDelta, 0x07, "ff"},
    {"DP6", kDelta, 0x0b, "ff"},
    {"DP6", kDelta, kEnd, "00"},
    {"DL1", "page string parquet-delta-length count=4", kEnd, kCut},
    {"DL1", "page string parquet-delta-length count=4", 0x04, "01"},
    {"DL2", "page string parquet-delta-length count=4", kEnd, "00"},
    {"DB1", "page string parquet-delta-bytes count=4", 0x04, "02"},
    {"DB3", "page string parquet-delta-bytes count=4", 0x19, "03"},
    {"SS1", "page int32 parquet-byte-stream-split count=3", kEnd, "00"},
    {"SS1", "page int32 parquet-byte-stream-split count=3", kEnd, kCut},
    {"AL1", kAlp, 0x00, "01"},
    {"AL1", kAlp, 0x02, "02"},
    {"AL2", kAlp, 0x03, "04"},
    {"AL3", kAlp, kEnd, "00"},
    {"AL3", kAlp, 0x07, "05"},
    {"AL4", kAlp, 0x0b, "13"},
    {"AL4", kAlp, 0x0c, "03"},
    {"AL5", kAlp, 0x1a, "03"},
    {"AL7", kAlp, 0x19, "83"},
    {"FO1", kFor, 0x00, "11"},
    {"FO1", kFor, kEnd, kCut},
    {"FO1", kForBool, kEnd, "00"},
    {"FO2", kFor, 0x04, "21"},
    {"FO2", kFor, 0x05, "01"},
    {"FO2", kForBool, 0x05, "02"},
    {"FO3", kFor, 0x06, "05"},
    {"FO3", kFor, 0x16, "05"},
    {"FO3", kForBool, 0x06, "01"},
    {"FO4", kFor, 0x0f, "f7"},
    {"FO4", kForBool, 0x09, "00"},
    {"FO4", kForBool, 0x08, "02"},
    {"FO4", kForBool, 0x09, "02"},
    {"FO6", kFor, 0x11, "72"},
    {"FO6", kForBool, 0x0a, "0d"},
    {"FS1", kFsst, 0x00, "03"},
    {"FS2", kFsst, 0x04, "09"},
    {"FS3", kFsst, 0x08, "21"},
    {"FS3", kFsst, 0x09, "21"},
    {"FS4", kFsst, 0x0b, "01"},
    {"FS5", kFsst, kEnd, "00"},
    {"FS5", kFsst, kEnd, kCut},
    {"FS5", kFsstCodes, kEnd, "01"},
    {"FS5", kFsstCodes, kEnd, kCut},
    {"FS6", kFsstCodes, 0x0f, "02"},
    {"FS6", kFsstCodes, 0x14, "ff"},
    {"FS2", kFsstSeparate, 0x02, "07"},
    {"FS3", kFsstSeparate, 0x06, "a1"},
    {"FS5", kFsstSeparate, 0x07, "01"},
    {"FS5", kFsstSeparate, kEnd, "00"},
    {"FS5", kFsstSeparate, kEnd, kCut},
    {"FS6", kFsstSeparate, 0x0c, "02"},
    {"FS6", kFsstSeparate, 0x0d, "ff"},
    {"FS6", kFsstSeparate, 0x13, "ff"},
    {"FS9", kFsstSeparate, 0x09, "f2"},
    {"FS9", kFsst, 0x0d, "fd"},
    {"FS9", kFsstCodes, 0x0c, "e0"},
    {"CO1", kCompact, 0x0d, "12"},
    {"CO1", kCompact, kEnd, kCut},
    {"CO2", kCompact, 0x00, "30"},
    {"CO2", kCompact, 0x00, "15"},
    {"CO2", kCompactCodes, 0x00, "11"},
    {"CO3", kCompact, 0x01, "04"},
    {"CO3", kCompactCodes, 0x01, "03"},
    {"CO3", kCompactCodes, 0x01, "05"},
    {"CO3", kCompactCodes, 0x09, "1000ecffffff040000"},
    {"CO4", kCompact, 0x0c, "41"},
    {"CO5", kCompact, 0x03, "17"},
    {"CO5", kCompactCodes, 0x03, "01"},
    {"CO6", kCompactCodes, 0x1a, "04"},
    {"CO6", kCompactCodes, 0x1c, "ab"},
    {"CO6", kCompactCodes, 0x20, "80"},
    {"CO7", kCompact, kEnd, "00"},
    {"CO7", kCompactCodes, kEnd, kCut},
    {"CO7", kCompactCodes, kEnd, "00"},
    {"CO8", kCompact, 0x11, "05"},
    {"CO8", kCompact, 0x16, "04"},
    {"CO9", kCompact, 0x15, "f3"},
    {"AR1", kAlpRd, 0x00, "0a"},
    {"AR1", kAlpRd, kEnd, kCut},
    {"AR1", kAlpRd, kEnd, "00"},
    {"AR2", kAlpRd, 0x04, "04"},
    {"AR2", kAlpRd, 0x05, "41"},
    {"AR2", kAlpRd, 0x06, "3f"},
    {"AR2", kAlpRd, 0x06, "3e"},
    {"AR3", kAlpRd, 0x07, "06"},
    {"AR3", kAlpRd, 0x1b, "05"},
    {"AR4", kAlpRd, 0x1a, "b0"},
    {"PC4", "piece-table", 0x05, "00"},
    {"PC4", "piece-table", 0x1c, "20"},
    {"ST3", "statistics double rows=4", kEnd, kCut},
    {"ST4", "statistics double rows=4", 0x37, "04"},
    {"ST5", "statistics double rows=4", 0x03, "03"},
    {"ST7", "statistics double rows=4", 0x3b, "04"},
    {"ST9", "statistics double rows=4", 0x3e, "c0"},
};

TEST(FormatDocument, ReadersAnswerBreachesAsTheVerdictsSay) {
  const std::vector<Example> examples = Examples();
  const std::vector<Rule> rules = Rules();
  for (const Breach& breach : kBreaches) {
    const auto label = testing::Message() << breach.rule << ": " << breach.example << ", byte "
                                          << breach.offset << ": " << breach.bytes;
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const Rule& each) { return each.number == breach.rule; });
    ASSERT_NE(rule, rules.end()) << label;
    const auto example = std::find_if(examples.begin(), examples.end(), [&](const Example& each) {
      return absl::StrJoin(each.kind, " ") == std::string(breach.example);
    });
    ASSERT_NE(example, examples.end()) << label;
    Example broken = *example;
    if (breach.bytes == kCut) {
      broken.bytes.pop_back();
    } else {
      const std::string bytes = absl::HexStringToBytes(std::string(breach.bytes));
      const size_t begin =
          breach.offset == kEnd ? broken.bytes.size() : static_cast<size_t>(breach.offset);
      const size_t replaced = breach.offset == kEnd ? 0 : std::min(breach.replaced, bytes.size());
      ASSERT_LE(begin + replaced, broken.bytes.size()) << label;
      const auto at = broken.bytes.begin() + static_cast<ptrdiff_t>(begin);
      broken.bytes.insert(broken.bytes.erase(at, at + static_cast<ptrdiff_t>(replaced)),
                          bytes.begin(), bytes.end());
      ASSERT_NE(broken.bytes, example->bytes) << label;
    }
    if (example->kind[0] == "table" && breach.rule != "TB1") {  // with a correct checksum
      const std::string_view bytes = encodings::AsString(broken.bytes);
      const std::string sealed = internal::SealMessage(bytes.substr(0, internal::kMagicBytes),
                                                       bytes.substr(12, bytes.size() - 16));
      broken.bytes.assign(sealed.begin(), sealed.end());
    }
    const std::string found = Decode(broken);
    if (rule->text.ends_with(" *damage*")) {
      EXPECT_THAT(found, testing::StartsWith("DATA_LOSS")) << label;
    } else {
      EXPECT_EQ(found, example->values) << label;
    }
  }
}

TEST(FormatDocument, ListsTheEncodingsOfTheRegistry) {
  const std::string document = Document();
  const std::string contents = document.substr(0, document.find("\n## "));
  const std::string versions = document.substr(document.find("\n### Promise and versions\n"));
  const std::string promise = versions.substr(0, versions.find("\n\n", versions.find("\n|")));
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    const std::string cells =
        absl::StrCat(R"(\| )", static_cast<uint32_t>(row.encoding), R"( \| ([A-Z0-9_]+) \| `)",
                     std::string(row.name), R"(` \|)");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(document, found, std::regex(cells))) << row.name << " has no row";
    EXPECT_THAT(document, testing::HasSubstr(absl::StrCat("\n### ", found[1].str(), "\n")))
        << "has no section";
    const std::string link =
        absl::StrCat("[", found[1].str(), "](#", absl::AsciiStrToLower(found[1].str()));
    EXPECT_THAT(contents, testing::HasSubstr(link)) << "is not in the contents";
    if (static_cast<uint32_t>(row.encoding) >= encodings::kFirstOwnNumber) {
      EXPECT_THAT(promise, testing::HasSubstr(link)) << "is not in Promise and versions";
    }
    EXPECT_TRUE(std::regex_search(
        document, std::regex(absl::StrCat("```hexdump (block|page) [a-z0-9()]+ ",
                                          std::string(row.name), "( count=[0-9]+)?\n"))))
        << row.name << " has no example";
  }
  // A row without an encoding of the registry is of one that this build lacks, whose name says so.
  const std::regex cells(R"(\| (\d+) \| [A-Z0-9_]+ \| `([a-z0-9-]+)` \|)");
  for (std::sregex_iterator i(document.begin(), document.end(), cells), end; i != end; ++i) {
    EXPECT_THAT(EncodingName(static_cast<Encoding>(std::stoi((*i)[1]))),
                testing::StartsWith((*i)[2].str()));
  }
}

TEST(FormatDocument, HasTheSectionsThatAreCited) {
  std::set<std::string> headings;
  const std::string document = Document();
  const std::regex heading("\n##+ ([^\n]*)");
  for (std::sregex_iterator i(document.begin(), document.end(), heading), end; i != end; ++i)
    headings.insert((*i)[1]);

  // A citation looks like "(cfile/FORMAT.md, Index nodes)" or "(cfile/FORMAT.md, Nullable blocks
  // and Extended blocks)". A line break of a comment may be inside.
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

}  // namespace cfile::format_document_test
