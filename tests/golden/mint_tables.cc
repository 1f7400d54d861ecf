// Writes golden tables, and the rows that cfile reads from these tables.
// A manifest is the list of the parts of a table. The tables use all features of manifests.
//
//   build/dev/tests/cfile_mint_tables FOLDER
//
// The rows of the table NAME are in the file NAME.json. table_rows.h describes this file.
// The names of parts and chunks are random, so a second run of the program writes other bytes.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"
#include "cfile/status.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/golden/table_rows.h"

namespace cfile::golden {
namespace {

using TablePointer = std::shared_ptr<Storage>;
using testing_support::Column;
using Names = std::vector<std::string>;

template <typename T>
absl::Status Append(TableWriter& writer, size_t column, const Column<T>& rows) {
  const std::vector<T> values = rows.Values();
  return writer.schema().columns[column].nullable
             ? writer.Append<T>(column, std::span<const T>(values), rows.Validity())
             : writer.Append<T>(column, std::span<const T>(values));
}

// Returns a writer for a new part. Creates the table if there is none.
absl::StatusOr<TableWriter> NewPart(const TablePointer& table, const Schema& schema,
                                    std::span<const WriterOptions> options = {}) {
  auto writer = TableWriter::Open(table, options);
  return absl::IsNotFound(writer.status()) ? TableWriter::Create(table, schema, options)
                                           : std::move(writer);
}

absl::StatusOr<Names> PartNames(const TablePointer& table) {
  CFILE_ASSIGN_OR_RETURN(const TableReader reader, TableReader::Open(table));
  Names names;
  for (size_t part = 0; part < reader.num_parts(); ++part) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, reader.part(part));
    names.push_back(info.name);
  }
  return names;
}

// ---------------------------------------------------------------- keys and words

// The column "key" has a value index. The column "word" is null in every third row.
const Schema kKeysAndWords = {
    .columns = {{.name = "key", .type = ColumnType::Int32()},
                {.name = "word", .type = ColumnType::String(), .nullable = true}}};
// The second reader is a Python program. It may lack the codecs, so nothing is compressed.
const WriterOptions kKeyOptions[] = {{.compression = Compression::kNone, .value_index = true},
                                     {.compression = Compression::kNone}};

// Appends a part with the keys `first`, `first` + `step`, and so on.
// Packs it if `packed` is true.
absl::Status AppendWords(const TablePointer& table, int32_t first, int32_t step, int32_t count,
                         bool packed = false) {
  std::vector<WriterOptions> options(std::begin(kKeyOptions), std::end(kKeyOptions));
  options[0].max_packed_part_bytes = packed ? SIZE_MAX : 0;
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewPart(table, kKeysAndWords, options));
  Column<int32_t> keys;
  Column<std::string_view> words;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t key = first + i * step;
    keys.rows.emplace_back(key);
    words.rows.push_back(key % 3 == 0 ? std::nullopt
                                      : std::optional(absl::StrCat("word ", key % 7)));
  }
  CFILE_RETURN_IF_ERROR(Append(writer, 0, keys));
  CFILE_RETURN_IF_ERROR(Append(writer, 1, words));
  return writer.Finish();
}

// A chunk of height 0 is a file that describes parts. This table has such a chunk.
// table.cft itself describes the other parts.
absl::Status Chunks(const TablePointer& table) {
  for (int32_t part = 0; part < 66; ++part) {
    CFILE_RETURN_IF_ERROR(AppendWords(table, 2 * part, 1, 1 + part % 2));
  }
  return absl::OkStatus();
}

// The first part was merged from three overlapping parts. The second part was appended later.
absl::Status Compacted(const TablePointer& table) {
  for (int32_t part = 0; part < 3; ++part) {
    CFILE_RETURN_IF_ERROR(AppendWords(table, part - 5, 3, 20));
  }
  CFILE_RETURN_IF_ERROR(Compact(table, {}, kKeyOptions).status());
  return AppendWords(table, 100, 1, 4);
}

// The folder still has the files of dropped parts.
// It also has the files of a part that was replaced by a part with fewer rows.
absl::Status Dropped(const TablePointer& table) {
  for (int32_t part = 0; part < 6; ++part) {
    CFILE_RETURN_IF_ERROR(AppendWords(table, 10 * part, 1, 10));
  }
  CFILE_ASSIGN_OR_RETURN(const Names names, PartNames(table));
  CFILE_RETURN_IF_ERROR(DropParts(table, Names{names[3], names[5]}));
  return DropRowsBelow<int32_t>(table, 0, 15, kKeyOptions);
}

// ---------------------------------------------------------------- nullable key columns

// Appends rows with two nullable key columns and a row number, in the order of the keys.
// The key columns have a word or null, and a number or null. Each pair of these is in one row.
absl::Status AppendNullableKeys(const TablePointer& table, const std::vector<size_t>& nulls_last) {
  const Schema schema = {
      .columns = {{.name = "word", .type = ColumnType::String(), .nullable = true},
                  {.name = "row", .type = ColumnType::Int64()},
                  {.name = "number", .type = ColumnType::Int16(), .nullable = true}},
      .key_columns = {0, 2},
      .nulls_last = nulls_last};
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewPart(table, schema));
  using namespace std::string_literals;
  std::vector<std::optional<std::string>> words = {""s, "\0"s, "a"s, "a\0b"s, "ab"s};
  std::vector<std::optional<int16_t>> numbers = {int16_t{-300}, int16_t{-1}, int16_t{0},
                                                 int16_t{7}};
  const auto add_null = [&](auto& values, size_t column) {
    const bool last = std::find(nulls_last.begin(), nulls_last.end(), column) != nulls_last.end();
    values.insert(last ? values.end() : values.begin(), std::nullopt);
  };
  add_null(words, 0);
  add_null(numbers, 2);
  Column<std::string_view> word_rows;
  Column<int64_t> rows;
  Column<int16_t> number_rows;
  for (const auto& word : words) {
    for (const auto& number : numbers) {
      rows.rows.emplace_back(static_cast<int64_t>(rows.rows.size()));
      word_rows.rows.push_back(word);
      number_rows.rows.push_back(number);
    }
  }
  CFILE_RETURN_IF_ERROR(Append(writer, 0, word_rows));
  CFILE_RETURN_IF_ERROR(Append(writer, 1, rows));
  CFILE_RETURN_IF_ERROR(Append(writer, 2, number_rows));
  return writer.Finish();
}

absl::Status NullableKeys(const TablePointer& table, const std::vector<size_t>& nulls_last) {
  CFILE_RETURN_IF_ERROR(AppendNullableKeys(table, nulls_last));
  return AppendNullableKeys(table, nulls_last);
}

// ---------------------------------------------------------------- changed columns

// Appends a part of a table whose columns have any types. All values follow from `first`.
absl::Status AppendAny(const TablePointer& table, const Schema& schema, int first, int count,
                       std::span<const WriterOptions> options = {}) {
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewPart(table, schema, options));
  for (size_t i = 0; i < writer.schema().columns.size(); ++i) {
    const ColumnSchema column = writer.schema().columns[i];
    CFILE_RETURN_IF_ERROR(VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
      Column<T> rows;
      for (int row = first; row < first + count; ++row) {
        Owned<T> value{};
        if constexpr (std::is_same_v<T, std::string_view>) {
          value = absl::StrCat("v", row);
        } else if constexpr (std::is_same_v<T, bool>) {
          value = row % 2 == 0;
        } else if constexpr (!std::is_same_v<T, Int96>) {
          value = static_cast<T>(row);
        }
        const bool null = column.nullable && row % 4 == 1;
        rows.rows.push_back(null ? std::nullopt : std::optional(value));
      }
      if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> is not an array
        const auto values = std::make_unique<bool[]>(rows.rows.size());
        for (size_t row = 0; row < rows.rows.size(); ++row)
          values[row] = rows.rows[row].value_or(false);
        return writer.Append<bool>(i, std::span<const bool>(values.get(), rows.rows.size()));
      } else {
        return Append<T>(writer, i, rows);
      }
    }));
  }
  return writer.Finish();
}

absl::Status FillColumns(absl::StatusOr<ColumnsWriter> writer, int32_t first) {
  CFILE_RETURN_IF_ERROR(writer.status());
  std::vector<int32_t> values;
  for (uint64_t row = 0; row < writer->num_rows(); ++row) {
    values.push_back(first + static_cast<int32_t>(row));
  }
  CFILE_RETURN_IF_ERROR(writer->Append<int32_t>(0, values));
  return writer->Finish();
}

// The first and the last part are packed. Another file has newer values of one of their columns.
absl::Status Packed(const TablePointer& table) {
  for (int32_t part = 0; part < 3; ++part) {
    CFILE_RETURN_IF_ERROR(AppendWords(table, 10 * part, 1, 10, /*packed=*/part != 1));
  }
  CFILE_RETURN_IF_ERROR(FillColumns(ColumnsWriter::Replace(table, {"key"}), 30));
  return AppendWords(table, 40, 1, 5, /*packed=*/true);
}

// The parts of this table replace, delete and outdate rows of the parts before them. Its first part
// was merged from two parts.
absl::Status MergeRules(const TablePointer& table) {
  const Schema schema = {.columns = {{.name = "gone", .type = ColumnType::Bool()},
                                     {.name = "key", .type = ColumnType::Int32()},
                                     {.name = "day", .type = ColumnType::Date()}},
                         .key_columns = {1},
                         .merge_rule = MergeRule{.deleted_column = 0, .time_column = 2}};
  for (int32_t part = 0; part < 5; ++part) {
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewPart(table, schema, {&kKeyOptions[1], 1}));
    bool gone[12];
    Column<int32_t> keys, days;
    for (int32_t i = 0; i < 12; ++i) {
      gone[i] = i % 4 == part % 4;
      keys.rows.emplace_back(part == 4 ? 100 + i : 10 * (part % 2) + i);
      days.rows.emplace_back(20 * part + i);
    }
    CFILE_RETURN_IF_ERROR(writer.Append<bool>(0, gone));
    CFILE_RETURN_IF_ERROR(Append(writer, 1, keys));
    CFILE_RETURN_IF_ERROR(Append(writer, 2, days));
    CFILE_RETURN_IF_ERROR(writer.Finish());
  }
  CFILE_ASSIGN_OR_RETURN(const Names names, PartNames(table));
  CFILE_RETURN_IF_ERROR(Compact(table, Names{names[0], names[1]}, {&kKeyOptions[1], 1}).status());
  return RaiseTimeBound(table, 45);
}

// This table had every kind of change of columns. Each part is older than some of the changes.
absl::Status Columns(const TablePointer& table) {
  const Schema schema = {
      .columns = {{.name = "key", .type = ColumnType::Int32()},
                  {.name = "text", .type = ColumnType::Varchar(), .nullable = true},
                  {.name = "small", .type = ColumnType::Int8()},
                  {.name = "ratio", .type = ColumnType::Float(), .nullable = true},
                  {.name = "price", .type = ColumnType::Decimal(9, 2)},
                  {.name = "gone", .type = ColumnType::String()},
                  {.name = "size", .type = ColumnType::Uint32()},
                  {.name = "delay", .type = ColumnType::Int32()}}};
  std::vector<WriterOptions> options(schema.columns.size());
  options[0].value_index = true;
  CFILE_RETURN_IF_ERROR(AppendAny(table, schema, -3, 7, options));
  CFILE_RETURN_IF_ERROR(AppendAny(table, schema, 4, 0, options));  // a part without rows
  CFILE_RETURN_IF_ERROR(AddColumn(table, {.name = "flag", .type = ColumnType::Bool()}, true));
  CFILE_RETURN_IF_ERROR(
      AddColumn(table, {.name = "note", .type = ColumnType::String(), .nullable = true}));
  CFILE_RETURN_IF_ERROR(AddColumn(table, {.name = "unit", .type = ColumnType::String()}, "km"));
  CFILE_RETURN_IF_ERROR(
      AddColumn(table, {.name = "factor", .type = ColumnType::Float(), .nullable = true}, -0.25));
  CFILE_RETURN_IF_ERROR(AddColumn(table, {.name = "count", .type = ColumnType::Int16()}, -7));
  CFILE_RETURN_IF_ERROR(
      AddColumn(table, {.name = "sum", .type = ColumnType::Decimal(20, 2)}, -125));
  CFILE_RETURN_IF_ERROR(AppendAny(table, schema, 10, 5));
  const ColumnSchema added[] = {{.name = "computed", .type = ColumnType::Int32()}};
  CFILE_RETURN_IF_ERROR(FillColumns(ColumnsWriter::Add(table, added), 1000));
  CFILE_RETURN_IF_ERROR(FillColumns(ColumnsWriter::Replace(table, {"delay"}), 2000));
  CFILE_RETURN_IF_ERROR(DropColumns(table, Names{"gone"}));
  CFILE_RETURN_IF_ERROR(RenameColumn(table, "small", "little"));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "little", ColumnType::Int64()));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "ratio", ColumnType::Double()));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "price", ColumnType::Decimal(18, 2)));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "text", ColumnType::String()));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "size", ColumnType::Int64()));
  CFILE_RETURN_IF_ERROR(AppendAny(table, schema, 20, 3));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "count", ColumnType::Int32()));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "factor", ColumnType::Double()));
  CFILE_RETURN_IF_ERROR(
      ReorderColumns(table, Names{"computed", "sum", "unit", "key", "little", "count", "note",
                                  "ratio", "price", "text", "flag", "size", "factor", "delay"}));
  CFILE_RETURN_IF_ERROR(AddColumn(table, {.name = "gone", .type = ColumnType::Date()}, 19000));
  return AppendAny(table, schema, 30, 4);
}

// This table has a chunk of height 1, which is a chunk that names chunks. It also has a nullable key
// column, changed columns and metadata. Most parts are dropped again, so that the table is small.
absl::Status Everything(const TablePointer& table) {
  const Schema schema = {.columns = {{.name = "a", .type = ColumnType::Int32(), .nullable = true},
                                     {.name = "b", .type = ColumnType::Int32()}},
                         .key_columns = {1, 0},
                         .nulls_last = {0}};
  const int num_parts = 64 * 64 + 64 + 1;  // so that there are 65 full chunks
  for (int part = 0; part < num_parts; ++part) {
    CFILE_RETURN_IF_ERROR(AppendAny(table, schema, part, 1));
  }
  CFILE_ASSIGN_OR_RETURN(Names names, PartNames(table));
  // The remaining parts are in different chunks and in table.cft itself.
  for (const size_t kept : {4160u, 4100u, 4000u, 1001u, 1000u, 1u}) {
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  CFILE_RETURN_IF_ERROR(DropParts(table, names));
  // The first call removes the parts. The second call removes their names from table.cft.
  for (int i = 0; i < 2; ++i) {
    CFILE_RETURN_IF_ERROR(CollectGarbage(table, std::chrono::seconds(0)).status());
  }
  CFILE_RETURN_IF_ERROR(
      AddColumn(table, {.name = "c", .type = ColumnType::Int64()}, int64_t{1} << 40));
  CFILE_RETURN_IF_ERROR(WidenColumn(table, "a", ColumnType::Int64()));
  CFILE_RETURN_IF_ERROR(ReorderColumns(table, Names{"c", "a", "b"}));
  CFILE_RETURN_IF_ERROR(ChangeMetadata(table, [](auto& pairs) {
    pairs = {{"author", "mint_tables"}, {"empty", ""}};
    return absl::OkStatus();
  }));
  return AppendAny(table, schema, 5000, 2);
}

// ---------------------------------------------------------------- records

absl::Status Records(const TablePointer& table) {
  CFILE_ASSIGN_OR_RETURN(
      const RecordSchema tree,
      RecordSchema::Parse("message m { required int32 a; optional group b (LIST) {"
                          " repeated group list { optional int64 element; } } }"));
  const int32_t numbers[] = {1, 2, 3};
  for (const int64_t first : {100, 200}) {
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewPart(table, Schema::OfRecords(tree)));
    CFILE_RETURN_IF_ERROR(writer.Append<int32_t>(0, numbers));
    // The records have a list of two elements and a null, no list, and an empty list.
    const int64_t values[] = {first, first + 1};
    CFILE_RETURN_IF_ERROR(writer.AppendLevels<int64_t>(
        1, std::vector<uint16_t>{0, 1, 1, 0, 0}, std::vector<uint16_t>{3, 2, 3, 0, 1}, values));
    CFILE_RETURN_IF_ERROR(writer.Finish());
  }
  return FillColumns(ColumnsWriter::Replace(table, {"a"}), 70);
}

// ---------------------------------------------------------------- files

// Copies all files of a table to `directory`.
absl::Status Export(const Storage& table, const std::filesystem::path& directory) {
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, table.List(""));
  for (const StorageEntry& file : files) {
    CFILE_ASSIGN_OR_RETURN(const VersionedObject object, table.Read(file.path, file.size_bytes));
    const std::filesystem::path path = directory / file.path;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << object.bytes;
  }
  return absl::OkStatus();
}

struct MintedTable {
  const char* name;
  absl::Status (*write)(const TablePointer& table);
};
constexpr MintedTable kTables[] = {
    {"chunks", Chunks},
    {"packed", Packed},
    {"merge-rule", MergeRules},
    {"compacted", Compacted},
    {"dropped", Dropped},
    {"nulls-first", [](const TablePointer& table) { return NullableKeys(table, {}); }},
    {"nulls-last",
     [](const TablePointer& table) {
       return NullableKeys(table, {0, 2});
     }},
    {"nulls-both", [](const TablePointer& table) { return NullableKeys(table, {2}); }},
    {"columns", Columns},
    {"everything", Everything},
    {"records", Records},
};

absl::Status Mint(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const MintedTable& minted : kTables) {
    const TablePointer storage = NewMemoryStorage(minted.name);
    CFILE_RETURN_IF_ERROR(minted.write(storage));
    CFILE_RETURN_IF_ERROR(Export(*storage, folder / minted.name));
    const std::filesystem::path path = folder / minted.name;
    std::ofstream(folder / absl::StrCat(minted.name, ".json")) << ReadAll(path).dump() << "\n";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cfile::golden

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: cfile_mint_tables FOLDER\n");
    return 2;
  }
  const absl::Status status = cfile::golden::Mint(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  const bool failed = testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed();
  return status.ok() && !failed ? 0 : 1;
}
