// Parquet files that no writer makes by itself: damaged ones, and ones that are unusual.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cfile/parquet.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/records.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/parquet_testing.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::parquet_crafted_test {

using encodings::ByteWriter;
using internal::parquet::SchemaElement;
using testing::AllOf;
using testing::HasSubstr;
namespace parquet = internal::parquet;

std::string Text(const ByteWriter& bytes) {
  return {reinterpret_cast<const char*>(bytes.span().data()), bytes.size()};
}

// Levels or codes as RLE-hybrid.
std::string Hybrid(const std::vector<uint16_t>& values, int width) {
  encodings::RleHybridEncoder encoder(width, /*kudu_exact=*/false);
  encoder.PutValues(std::span<const uint16_t>(values));
  ByteWriter out;
  encoder.Finish(out, encodings::LastGroup::kWhole);
  return Text(out);
}

template <typename T>
std::string Plain(const std::vector<T>& values) {
  ByteWriter out;
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string>) {
      out.PutFixed(static_cast<uint32_t>(value.size()));
      out.PutBytes(value);
    } else {
      out.PutFixed(value);
    }
  }
  return Text(out);
}

SchemaElement Group(std::string_view name, int32_t repetition, int32_t num_children) {
  return {.repetition_type = repetition, .name = name, .num_children = num_children};
}
SchemaElement Leaf(std::string_view name, int32_t repetition,
                   int32_t type = parquet::Type::kInt32) {
  return {.type = type, .repetition_type = repetition, .name = name};
}
enum : int32_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

// Makes a file of pages without compression.
class FileMaker {
 public:
  explicit FileMaker(std::vector<SchemaElement> below_root, int32_t num_top_columns = 1) {
    file_.version = 2;
    file_.schema.push_back({.name = "root", .num_children = num_top_columns});
    file_.schema.insert(file_.schema.end(), below_root.begin(), below_root.end());
  }

  void BeginRowGroup(int64_t num_rows) {
    file_.row_groups.push_back({.num_rows = num_rows});
    file_.num_rows += num_rows;
  }

  // Begins the next column chunk of the row group.
  void BeginColumn() {
    std::vector<parquet::ColumnChunk>& columns = file_.row_groups.back().columns;
    size_t leaf = 0;
    for (const SchemaElement& element : file_.schema) {
      if (!element.type || leaf++ != columns.size()) continue;
      columns.push_back({.meta_data = parquet::ColumnMetaData{
                             .type = *element.type,
                             .encodings = {0},
                             .path_in_schema = {element.name},
                             .data_page_offset = static_cast<int64_t>(bytes_.size())}});
      return;
    }
  }

  // Adds a data page of version 2. `definition` has one level for each entry; both are empty if
  // their maximum is 0.
  void AddPage(int32_t num_entries, std::string_view values,
               const std::vector<uint16_t>& definition = {}, int definition_width = 0,
               const std::vector<uint16_t>& repetition = {},
               int32_t encoding = parquet::Encoding::kPlain) {
    const std::string repetition_bytes = repetition.empty() ? "" : Hybrid(repetition, 1);
    const std::string definition_bytes =
        definition.empty() ? "" : Hybrid(definition, definition_width);
    parquet::PageHeader header{.type = parquet::PageType::kDataPageV2};
    header.data_page_header_v2 = {
        .num_values = num_entries,
        .encoding = encoding,
        .definition_levels_byte_length = static_cast<int32_t>(definition_bytes.size()),
        .repetition_levels_byte_length = static_cast<int32_t>(repetition_bytes.size())};
    Put(header, repetition_bytes + definition_bytes + std::string(values));
    file_.row_groups.back().columns.back().meta_data->num_values += num_entries;
  }

  void AddDictionary(int32_t num_values, std::string_view values) {
    parquet::PageHeader header{.type = parquet::PageType::kDictionaryPage};
    header.dictionary_page_header = {.num_values = num_values};
    Put(header, values);
  }

  std::shared_ptr<const Source> Finish() {
    const std::string bytes = bytes_ + parquet::WriteFileMetadata(file_);
    return NewMemorySource(std::vector<uint8_t>(bytes.begin(), bytes.end()), "file");
  }

 private:
  void Put(parquet::PageHeader header, std::string_view bytes) {
    header.uncompressed_page_size = header.compressed_page_size =
        static_cast<int32_t>(bytes.size());
    bytes_ += parquet::WritePageHeader(header);
    bytes_ += bytes;
  }

  std::string bytes_ = "PAR1";
  parquet::FileMetaData file_;
};

// A list of structs with the fields x and y.
const std::vector<SchemaElement> kStructs = {Group("l", kRepeated, 2), Leaf("x", kRequired),
                                             Leaf("y", kOptional)};

struct Entries {
  std::vector<uint16_t> repetition;
  std::vector<uint16_t> definition;
};

std::shared_ptr<const Source> FileOfStructs(const Entries& x, const Entries& y,
                                            const std::vector<int64_t>& num_rows = {2}) {
  FileMaker maker(kStructs);
  for (const int64_t rows : num_rows) {
    maker.BeginRowGroup(rows);
    for (const Entries* entries : {&x, &y}) {
      maker.BeginColumn();
      const uint16_t most = entries == &x ? 1 : 2;
      std::vector<int32_t> values;
      for (const uint16_t level : entries->definition) {
        if (level == most) values.push_back(7);
      }
      maker.AddPage(static_cast<int32_t>(entries->definition.size()), Plain(values),
                    entries->definition, most, entries->repetition);
    }
  }
  return maker.Finish();
}

TEST(ParquetLevels, LeavesOfAGroupMustHaveTheSameLevels) {
  const Entries x{{0, 1, 0}, {1, 1, 0}};
  const struct {
    Entries y;
    std::string message;
  } cases[] = {
      {{{0, 1, 0}, {2, 1, 0}}, ""},
      {{{0, 0}, {2, 0}}, "column l.x has 3 entries of group l, but column l.y has 2"},
      {{{0, 0, 1}, {2, 1, 2}}, "columns l.x and l.y have different levels of group l"},
      {{{0, 1, 0}, {2, 1, 1}}, "columns l.x and l.y have different levels of group l"},
  };
  for (const auto& [y, message] : cases) {
    for (const bool parts : {false, true}) {
      for (const bool copies : {false, true}) {
        const auto table = NewMemoryStorage();
        const auto report = ImportParquet(
            FileOfStructs(x, y, {2, 2}), table,
            {.part_per_row_group = parts, .copy_pages = copies, .writer = {kSmallBlocks}});
        if (message.empty()) {
          EXPECT_TRUE(report.ok()) << report.status();
          EXPECT_TRUE(VerifyRecords(*TableReader::Open(table)).ok());
          continue;
        }
        EXPECT_TRUE(absl::IsDataLoss(report.status()));
        EXPECT_THAT(report.status().ToString(), HasSubstr("file: row group 0: " + message));
        EXPECT_TRUE(table->List("")->empty());
      }
    }
  }
}

TEST(ParquetLevels, AnEmptyListHasOneEntry) {
  const Entries goes_on{{0, 1, 0}, {0, 1, 0}};
  const Entries goes_on_empty{{0, 1, 0}, {1, 0, 0}};
  for (const Entries& entries : {goes_on, goes_on_empty}) {
    FileMaker maker({Leaf("a", kRepeated)});
    maker.BeginRowGroup(2);
    maker.BeginColumn();
    maker.AddPage(3, Plain<int32_t>({7}), entries.definition, 1, entries.repetition);
    const auto report = ImportParquet(maker.Finish(), NewMemoryStorage());
    EXPECT_TRUE(absl::IsDataLoss(report.status())) << report.status();
    EXPECT_THAT(report.status().ToString(),
                HasSubstr("column a: page at offset 4: entry 1 of the column chunk has "));
  }
}

// Leaves that are nullable and have no lists are stored without levels.
TEST(ParquetLevels, LeavesOfAnOptionalGroupAreNullTogether) {
  for (const std::vector<uint16_t>& y : {std::vector<uint16_t>{1, 0}, {0, 1}}) {
    FileMaker maker({Group("a", kOptional, 2), Leaf("x", kRequired), Leaf("y", kRequired)});
    maker.BeginRowGroup(2);
    for (const auto& definition : {std::vector<uint16_t>{1, 0}, y}) {
      maker.BeginColumn();
      maker.AddPage(2, Plain<int32_t>({7}), definition, 1);
    }
    EXPECT_EQ(ImportParquet(maker.Finish(), NewMemoryStorage()).ok(), y[0] == 1);
  }
}

// A table whose columns are written one by one may hold such levels.
TEST(ParquetLevels, ExportRefusesWhatImportRefuses) {
  const auto tree =
      RecordSchema::Parse("message m { repeated group l { required int32 x; optional int32 y; } }");
  const Entries x{{0, 1, 0}, {1, 1, 0}};
  for (const Entries& y : {Entries{{0, 1, 0}, {2, 1, 0}}, Entries{{0, 0}, {2, 0}},
                           Entries{{0, 1, 0}, {2, 1, 1}}, Entries{{0, 1, 0}, {2, 0, 0}}}) {
    const auto table = NewMemoryStorage();
    auto writer = TableWriter::Create(table, Schema::OfRecords(*tree), {});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::vector<int32_t> values(2, 7);
    ASSERT_TRUE(writer->AppendLevels<int32_t>(0, x.repetition, x.definition, values).ok());
    ASSERT_TRUE(
        writer->AppendLevels<int32_t>(1, y.repetition, y.definition, std::span(values).first(1))
            .ok());
    ASSERT_TRUE(writer->Finish().ok());
    const bool whole = VerifyRecords(*TableReader::Open(table)).ok();
    std::vector<uint8_t> bytes;
    for (const bool check : {false, true}) {
      const auto report = ExportParquet(table, NewMemorySink(&bytes), {.check_values = check});
      EXPECT_EQ(report.ok(), whole) << report.status();
      EXPECT_TRUE(whole || absl::IsDataLoss(report.status()));
    }
  }
}

template <typename T>
std::vector<T> ValuesOf(const TableLocation& location, size_t column = 0) {
  const auto table = TableReader::Open(location);
  EXPECT_TRUE(table.ok()) << table.status();
  auto cursor = table->NewLevelCursor<T>(column);
  EXPECT_TRUE(cursor.ok()) << cursor.status();
  std::vector<T> values;
  for (;;) {
    const auto batch = cursor->Next(1000);
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || batch->empty()) return values;
    values.insert(values.end(), batch->values.begin(), batch->values.end());
  }
}

std::vector<int32_t> Numbers(int32_t first, int32_t count) {
  std::vector<int32_t> numbers;
  for (int32_t i = 0; i < count; ++i) numbers.push_back(first + i);
  return numbers;
}

TEST(ParquetPages, ARecordMayGoOnInTheNextPage) {
  constexpr int32_t kCount = 2000;
  FileMaker maker({Leaf("a", kRepeated)});
  maker.BeginRowGroup(2);
  maker.BeginColumn();
  const std::vector<uint16_t> ones(kCount, 1);
  std::vector<uint16_t> begins = ones;
  begins[0] = 0;
  maker.AddPage(kCount, Plain(Numbers(0, kCount)), ones, 1, begins);
  maker.AddPage(kCount, Plain(Numbers(kCount, kCount)), ones, 1, ones);
  maker.AddPage(kCount, Plain(Numbers(2 * kCount, kCount)), ones, 1, begins);
  const auto source = maker.Finish();
  for (const bool in_memory : {false, true}) {
    const auto table = NewMemoryStorage();
    const auto report = ImportParquet(
        in_memory ? source : std::make_shared<testing_support::ScriptedSource>(source), table,
        {.writer = {kSmallBlocks}, .reader = {.read_ahead_bytes = 64}});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->copied_pages, 1);
    EXPECT_EQ(report->recoded_pages, 2);
    EXPECT_EQ(ValuesOf<int32_t>(table), Numbers(0, 3 * kCount));
    EXPECT_TRUE(VerifyRecords(*TableReader::Open(table)).ok());
  }
}

TEST(ParquetPages, PagesThatAreLargerThanBlocksBecomeBlocks) {
  constexpr int32_t kCount = 20'000;
  const WriterOptions small{.block_size_bytes = 4096, .max_block_size_bytes = 16384};
  FileMaker maker({Leaf("a", kRequired), Leaf("b", kRequired)}, 2);
  maker.BeginRowGroup(kCount);
  maker.BeginColumn();
  maker.AddPage(kCount, Plain(Numbers(0, kCount)));
  maker.BeginColumn();
  maker.AddDictionary(kCount, Plain(Numbers(0, kCount)));
  std::vector<uint16_t> codes;
  for (const int32_t code : Numbers(0, kCount)) codes.push_back(static_cast<uint16_t>(code));
  maker.AddPage(kCount, "\x10" + Hybrid(codes, 16), {}, 0, {}, parquet::Encoding::kRleDictionary);
  const auto source = maker.Finish();
  const auto table = NewMemoryStorage();
  const auto report = ImportParquet(source, table, {.writer = {small}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->recoded_pages, 2);
  const auto reader = TableReader::Open(table, {.max_block_size_bytes = 16384});
  for (size_t column = 0; column < 2; ++column) {
    EXPECT_TRUE(reader->VerifyColumn(0, column).ok());
    EXPECT_EQ(ValuesOf<int32_t>(table, column), Numbers(0, kCount));
  }
  const auto limited = ImportParquet(source, NewMemoryStorage(), {.max_page_size_bytes = 79'999});
  EXPECT_EQ(limited.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(limited.status().ToString(),
              HasSubstr("file: column a: page at offset 4: a page of 80000 bytes is above the "));
  EXPECT_THAT(limited.status().ToString(), HasSubstr("raise max_page_size_bytes"));
}

// A file with one column of `values`, as a page of values, or as a dictionary and their codes.
template <typename T>
std::shared_ptr<const Source> FileOf(SchemaElement leaf, const std::vector<T>& values,
                                     bool dictionary) {
  FileMaker maker({leaf});
  const auto count = static_cast<int32_t>(values.size());
  maker.BeginRowGroup(count);
  maker.BeginColumn();
  if (dictionary) {
    maker.AddDictionary(count, Plain(values));
    std::vector<uint16_t> codes;
    for (const int32_t code : Numbers(0, count)) codes.push_back(static_cast<uint16_t>(code));
    maker.AddPage(count, "\x08" + Hybrid(codes, 8), {}, 0, {}, parquet::Encoding::kRleDictionary);
  } else {
    maker.AddPage(count, Plain(values));
  }
  return maker.Finish();
}

// Imports FileOf(leaf, values) in each way. Expects an error with `message`; none if it is empty.
template <typename T>
void ExpectImport(const SchemaElement& leaf, const std::vector<T>& values,
                  const std::string& message, const std::optional<Schema>& schema = {}) {
  for (const bool dictionary : {false, true}) {
    for (const bool copies : {false, true}) {
      const auto report =
          ImportParquet(FileOf(leaf, values, dictionary), NewMemoryStorage(),
                        {.schema = schema, .copy_pages = copies, .writer = {kSmallBlocks}});
      if (message.empty()) {
        EXPECT_TRUE(report.ok()) << report.status();
        continue;
      }
      EXPECT_TRUE(absl::IsDataLoss(report.status())) << report.status();
      EXPECT_THAT(report.status().ToString(), HasSubstr("file: column a: page at offset "));
      EXPECT_THAT(report.status().ToString(),
                  HasSubstr((dictionary ? ": dictionary: " : ": ") + message));
    }
  }
}

TEST(ParquetValues, StringsAreUtf8) {
  SchemaElement leaf = Leaf("a", kRequired, parquet::Type::kByteArray);
  leaf.converted_type = parquet::ConvertedType::kUtf8;
  const std::string right = "gr\xc3\xbc\xc3\x9f und \xf0\x9f\x8c\x8d, all of it";
  ExpectImport<std::string>(leaf, {"", "a", right, right + right}, "");
  for (const std::string wrong : {"\xff", "a\x80", "ab\xc3", "abcd\xed\xa0\x80",
                                  "abcdefghi\xc0\xaf", "\xf4\x90\x80\x80 abcdefgh"}) {
    ExpectImport<std::string>(leaf, {"some", right, wrong, right}, "value 2 is not UTF-8");
    ExpectImport<std::string>(leaf, {"some", right, wrong, right}, "",
                              Schema{.columns = {{.name = "a", .type = ColumnType::Binary()}}});
  }
  leaf.converted_type.reset();
  ExpectImport<std::string>(leaf, {"\xff"}, "");
}

TEST(ParquetValues, DecimalsHaveTheDigitsOfTheirType) {
  SchemaElement leaf = Leaf("a", kRequired);
  leaf.converted_type = parquet::ConvertedType::kDecimal;
  leaf.precision = 3;
  leaf.scale = 2;
  ExpectImport<int32_t>(leaf, {999, -999, 0}, "");
  ExpectImport<int32_t>(leaf, {999, 1000}, "value 1 is 1000, which no decimal(3,2) can be");
  ExpectImport<int32_t>(leaf, {-1000}, "value 0 is -1000");
}

// Codes of a second dictionary get the numbers of the first one.
TEST(ParquetPages, CodesOfADictionaryOfDuplicatesAreTranslated) {
  FileMaker maker({Leaf("a", kRequired)});
  for (const std::vector<int32_t>& words : {std::vector<int32_t>{7, 8}, {7, 7}}) {
    maker.BeginRowGroup(3);
    maker.BeginColumn();
    maker.AddDictionary(2, Plain(words));
    maker.AddPage(3, "\x01" + Hybrid({0, 1, 1}, 1), {}, 0, {}, parquet::Encoding::kRleDictionary);
  }
  const auto table = NewMemoryStorage();
  const auto report = ImportParquet(maker.Finish(), table, {.writer = {{.block_size_bytes = 1}}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->recompressed_pages, 1);
  const std::vector<int32_t> expected = {7, 8, 8, 7, 7, 7};
  EXPECT_EQ(ValuesOf<int32_t>(table), expected);
  EXPECT_TRUE(TableReader::Open(table)->VerifyColumn(0, 0).ok());
  EXPECT_EQ(ValuesOf<int32_t>(Imported(ParquetOf(table))), expected);
}

TEST(ParquetPages, ADictionaryMustComeFirst) {
  FileMaker maker({Leaf("a", kRepeated)});
  maker.BeginRowGroup(1);
  maker.BeginColumn();
  maker.AddPage(1, "\x01" + Hybrid({0}, 1), {1}, 1, {0}, parquet::Encoding::kRleDictionary);
  maker.AddDictionary(1, Plain<int32_t>({7}));
  maker.AddPage(1, "\x01" + Hybrid({0}, 1), {1}, 1, {1}, parquet::Encoding::kRleDictionary);
  const auto report = ImportParquet(maker.Finish(), NewMemoryStorage());
  EXPECT_TRUE(absl::IsDataLoss(report.status()));
  EXPECT_THAT(report.status().ToString(), HasSubstr("the dictionary page comes after data pages"));
}

class DirectoryTest : public testing::Test {
 protected:
  // Adds a file of one row with `elements`, all of whose levels are at their maximum.
  void Add(const std::string& name, const std::vector<SchemaElement>& elements,
           int32_t num_top_columns = 1) {
    FileMaker maker(elements, num_top_columns);
    maker.BeginRowGroup(1);
    uint16_t in_group = 0;
    for (const SchemaElement& element : elements) {
      const uint16_t own = *element.repetition_type == kOptional;
      if (!element.type) {
        in_group = own;
        continue;
      }
      maker.BeginColumn();
      const auto most = static_cast<uint16_t>(in_group + own);
      maker.AddPage(1, Plain<int32_t>({7}),
                    most == 0 ? std::vector<uint16_t>() : std::vector<uint16_t>{most}, most);
    }
    const auto source = maker.Finish();
    const auto bytes = source->InMemory();
    std::filesystem::create_directories(directory_.path("in"));
    WriteFile(directory_.path("in/" + name),
              {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  absl::Status ImportAll(const ParquetImportOptions& options = {}) {
    return ImportParquet(directory_.path("in"), table_, options).status();
  }

  TemporaryDirectory directory_;
  std::shared_ptr<Storage> table_ = NewMemoryStorage();
};

TEST_F(DirectoryTest, GroupsThatDifferAreNamed) {
  Add("1.parquet", {Group("a", kRequired, 1), Leaf("x", kOptional)});
  Add("2.parquet", {Group("a", kOptional, 1), Leaf("x", kOptional)});
  EXPECT_THAT(ImportAll().ToString(),
              AllOf(HasSubstr("in/2.parquet: the groups around column a.x are (optional a), but "
                              "(required a) in "),
                    HasSubstr("in/1.parquet; all files must have the same groups")));
}

TEST_F(DirectoryTest, ColumnsInGroupsThatDifferAreNamed) {
  Add("1.parquet", {Group("a", kOptional, 1), Leaf("x", kRequired)});
  Add("2.parquet", {Group("a", kOptional, 1), Leaf("x", kOptional)});
  EXPECT_THAT(ImportAll().ToString(),
              HasSubstr("in/2.parquet: column a.x is optional, but required"));
}

TEST_F(DirectoryTest, ColumnsOutsideOfGroupsBecomeNullable) {
  const auto in_group = [](int32_t b) {
    return std::vector<SchemaElement>{Leaf("b", b), Group("a", kOptional, 1), Leaf("x", kRequired)};
  };
  for (const bool first : {false, true}) {
    Add("1.parquet", in_group(first ? kOptional : kRequired), 2);
    Add("2.parquet", in_group(first ? kRequired : kOptional), 2);
    table_ = NewMemoryStorage();
    ASSERT_TRUE(ImportAll().ok()) << ImportAll();
    const auto table = TableReader::Open(table_);
    EXPECT_TRUE(table->schema().columns[0].nullable);
    EXPECT_EQ(ValuesOf<int32_t>(table_, 0), std::vector<int32_t>({7, 7}));
    EXPECT_TRUE(VerifyRecords(*table).ok());
  }
}

// Values of a column that is said to have none must not get into a column of another type.
TEST_F(DirectoryTest, ColumnsOfNullsHaveNoValues) {
  SchemaElement nulls = Leaf("x", kOptional);
  nulls.logical_type.emplace().unknown.emplace();
  for (const bool first : {false, true}) {
    Add(first ? "2.parquet" : "1.parquet", {Leaf("x", kOptional, parquet::Type::kFloat)});
    Add(first ? "1.parquet" : "2.parquet", {nulls});
    EXPECT_THAT(ImportAll().ToString(),
                HasSubstr("there is a value, 0, but the metadata say that all values are null"));
  }
}

// Both columns have the same levels, but another record.
TEST_F(DirectoryTest, ATableTakesOnlyItsGroups) {
  Add("1.parquet", {Group("a", kRequired, 1), Leaf("x", kOptional)});
  ASSERT_TRUE(ImportAll().ok());
  Add("1.parquet", {Group("a", kOptional, 1), Leaf("x", kRequired)});
  EXPECT_THAT(ImportAll({.append = true}).ToString(),
              HasSubstr("the groups around column a.x are (optional a) in this file, but (required "
                        "a) in the table"));
}

}  // namespace cfile::parquet_crafted_test
