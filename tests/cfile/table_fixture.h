// Tables of many types, and the base class of tests of tables.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cfile/internal/table/table_file.h"
#include "cfile/table.h"
#include "gtest/gtest.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void WriteFile(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

// Returns one column for each way to handle values. All columns but the first and the last are
// nullable.
inline Schema ManyTypes() {
  return {
      .columns = {{.name = "id", .type = ColumnType::Int64()},
                  {.name = "flag", .type = ColumnType::Bool(), .nullable = true},
                  {.name = "tiny", .type = ColumnType::Uint8(), .nullable = true},
                  {.name = "day", .type = ColumnType::Date(), .nullable = true},
                  {.name = "price", .type = ColumnType::Decimal(30, 4), .nullable = true},
                  {.name = "score", .type = ColumnType::Double(), .nullable = true},
                  {.name = "name", .type = ColumnType::String(), .nullable = true},
                  {.name = "address", .type = ColumnType::Uuid(), .nullable = true},
                  {.name = "at", .type = ColumnType::Timestamp(TimeUnit::kNanos, "Asia/Tokyo")}}};
}

// Returns the value of row `row` in column `column`. A string points into `text`, which must
// outlive the value.
template <typename T>
T ValueOf(uint64_t row, size_t column, const ColumnType& type, std::string& text) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    text = std::to_string(row * 31 + column);
    if (type.type_length > 0) text.resize(type.type_length, '.');
    return text;
  } else {
    return static_cast<T>(row * 31 + column);
  }
}
inline bool IsNull(uint64_t row, size_t column) { return (row + column) % 5 == 0; }

// Appends the rows from `first` to `first` + `count` - 1 of one column.
inline absl::Status AppendRowsOf(TableWriter& writer, size_t column, uint64_t first,
                                 uint64_t count) {
  const ColumnSchema& schema = writer.schema().columns[column];
  return encodings::VisitPhysicalType(
      schema.type.physical(), [&]<typename T>(std::type_identity<T>) {
        const auto values = std::make_unique<T[]>(count);
        std::vector<std::string> texts(count);
        std::vector<uint8_t> validity((count + 7) / 8, 0);
        for (uint64_t i = 0; i < count; ++i) {
          values[i] = ValueOf<T>(first + i, column, schema.type, texts[i]);
          if (!IsNull(first + i, column)) validity[i / 8] |= static_cast<uint8_t>(1 << i % 8);
        }
        const std::span<const T> span(values.get(), count);
        return schema.nullable ? writer.Append<T>(column, span, validity)
                               : writer.Append<T>(column, span);
      });
}

inline absl::Status AppendRows(TableWriter& writer, uint64_t first, uint64_t count) {
  for (size_t column = 0; column < writer.schema().columns.size(); ++column) {
    const absl::Status status = AppendRowsOf(writer, column, first, count);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// EXPECTs that `batch` holds the rows that AppendRows wrote, from `batch.first_ordinal` on.
template <typename T>
void ExpectRows(const Batch<T>& batch, size_t column, const ColumnSchema& schema) {
  std::string text;
  uint64_t nulls = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const uint64_t row = batch.first_ordinal + i;
    const bool is_null = schema.nullable && IsNull(row, column);
    nulls += is_null;
    ASSERT_EQ(batch.IsValid(i), !is_null) << schema.name << " row " << row;
    if (is_null) continue;
    ASSERT_TRUE(batch.values[i] == ValueOf<T>(row, column, schema.type, text))
        << schema.name << " row " << row;
  }
  EXPECT_EQ(batch.null_count, nulls);
}

// EXPECTs that the table holds the rows 0 to `rows` - 1: by scan, by seek and by Get.
inline void ExpectTable(const TableReader& table, uint64_t rows) {
  ASSERT_EQ(table.num_rows(), rows);
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    const ColumnSchema& schema = table.schema().columns[column];
    encodings::VisitPhysicalType(schema.type.physical(), [&]<typename T>(std::type_identity<T>) {
      auto cursor = table.NewCursor<T>(column);
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      uint64_t next = 0;
      while (true) {
        ASSERT_EQ(cursor->ordinal(), next);
        const auto batch = cursor->Next(300);
        ASSERT_TRUE(batch.ok()) << batch.status();
        ASSERT_EQ(batch->first_ordinal, next);
        if (batch->empty()) break;
        ExpectRows(*batch, column, schema);
        next += batch->size();
      }
      ASSERT_EQ(next, rows);
      for (uint64_t ordinal = 0; ordinal <= rows; ordinal += 97) {
        ASSERT_TRUE(cursor->SeekToOrdinal(ordinal).ok());
        ASSERT_EQ(cursor->ordinal(), ordinal);
        const auto batch = cursor->Next(10);
        ASSERT_TRUE(batch.ok()) << batch.status();
        ASSERT_EQ(batch->first_ordinal, ordinal);
        ASSERT_EQ(batch->empty(), ordinal == rows);
        ExpectRows(*batch, column, schema);
      }
      for (uint64_t ordinal = 0; ordinal < rows; ordinal += 101) {
        const uint64_t row = rows - 1 - ordinal;
        const auto value = cursor->Get(row);
        ASSERT_TRUE(value.ok()) << value.status();
        ASSERT_EQ(value->has_value(), !(schema.nullable && IsNull(row, column)));
        std::string text;
        if (value->has_value()) {
          ASSERT_TRUE(**value == ValueOf<T>(row, column, schema.type, text));
        }
        ASSERT_EQ(cursor->ordinal(), row + 1);
      }
      EXPECT_EQ(cursor->SeekToOrdinal(rows + 1).code(), absl::StatusCode::kOutOfRange);
      EXPECT_EQ(cursor->Get(rows).status().code(), absl::StatusCode::kOutOfRange);
    });
  }
}

class TableTestBase : public testing::Test {
 protected:
  // Writes a new part of `count` rows. The number of its first row is `first`. If `first` is 0,
  // creates the table.
  void WritePart(uint64_t first, uint64_t count, const Schema& schema = ManyTypes(),
                 const WriterOptions& options = {}) {
    auto writer = first == 0 ? TableWriter::Create(path_, schema, {&options, 1})
                             : TableWriter::Append(path_, {&options, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const absl::Status appended = AppendRows(*writer, first, count);
    ASSERT_TRUE(appended.ok()) << appended;
    const absl::Status finished = writer->Finish();
    ASSERT_TRUE(finished.ok()) << finished;
  }

  // Writes a table with one string column that has a value index. Each element of `parts` becomes
  // one part.
  void WriteKeys(const std::vector<std::vector<std::string>>& parts) {
    const WriterOptions options{.value_index = true};
    for (size_t i = 0; i < parts.size(); ++i) {
      auto writer =
          i == 0 ? TableWriter::Create(path_,
                                       {.columns = {{.name = "key", .type = ColumnType::String()}}},
                                       {&options, 1})
                 : TableWriter::Append(path_, {&options, 1});
      ASSERT_TRUE(writer.ok()) << writer.status();
      const std::vector<std::string_view> values(parts[i].begin(), parts[i].end());
      ASSERT_TRUE(writer->Append<std::string_view>(0, values).ok());
      const absl::Status finished = writer->Finish();
      ASSERT_TRUE(finished.ok()) << finished;
    }
  }

  // Returns the directory of part number `part`.
  std::string PartPath(size_t part) {
    return std::filesystem::path(path_ + "/" + OpenTable().part_file(part, 0)).parent_path();
  }

  // Renames the parts to names that earlier versions gave: part-000000, part-000001, ...
  void CountParts() {
    auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
    ASSERT_TRUE(contents.ok()) << contents.status();
    for (size_t i = 0; i < contents->parts.size(); ++i) {
      std::string number = std::to_string(i);
      number.insert(0, 6 - number.size(), '0');
      const std::string name = "part-" + number;
      std::filesystem::rename(path_ + "/" + contents->parts[i].directory, path_ + "/" + name);
      contents->parts[i].directory = name;
    }
    WriteFile(table_file_, internal::SerializeTable(*contents));
  }

  TableReader OpenTable() {
    auto table = TableReader::Open(path_);
    EXPECT_TRUE(table.ok()) << table.status();
    return *std::move(table);
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
  const std::string table_file_ = path_ + "/table.cft";
};

}  // namespace cfile
