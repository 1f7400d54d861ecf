#include "tests/cfile/table_fixture.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "cfile/parts/table/manifest/table_file.h"

namespace cfile {
namespace {

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
bool IsNull(uint64_t row, size_t column) { return (row + column) % 5 == 0; }

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

std::string FileOf(const TableReader& table, size_t part, size_t column) {
  const std::string path = *table.part_file(part, column);
  const size_t end = path.find("/", path.find("/") + 1);  // of the name of a packed file
  return path.substr(0, end);
}

absl::StatusOr<TableWriter> CreateOrAppend(const std::string& path, const Schema& schema,
                                           std::span<const WriterOptions> options) {
  return std::filesystem::exists(path) ? TableWriter::Open(path, options)
                                       : TableWriter::Create(path, schema, options);
}

Schema ManyTypes() {
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

absl::Status AppendRowsOf(TableWriter& writer, size_t column, uint64_t first, uint64_t count) {
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

absl::Status AppendRows(TableWriter& writer, uint64_t first, uint64_t count) {
  for (size_t column = 0; column < writer.schema().columns.size(); ++column) {
    const absl::Status status = AppendRowsOf(writer, column, first, count);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

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

void ExpectTable(const TableReader& table, uint64_t rows) {
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

#define CFILE_INSTANTIATE(T) \
  template void ExpectRows<T>(const Batch<T>&, size_t, const ColumnSchema&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

void TableTestBase::WritePart(uint64_t first, uint64_t count, const Schema& schema,
                              const WriterOptions& options) {
  auto writer = first == 0 ? TableWriter::Create(path_, schema, {&options, 1})
                           : TableWriter::Open(path_, {&options, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const absl::Status appended = AppendRows(*writer, first, count);
  ASSERT_TRUE(appended.ok()) << appended;
  const absl::Status finished = writer->Finish();
  ASSERT_TRUE(finished.ok()) << finished;
}

void TableTestBase::WriteKeys(const std::vector<std::vector<std::string>>& parts) {
  const WriterOptions options{.value_index = true};
  for (size_t i = 0; i < parts.size(); ++i) {
    auto writer = i == 0 ? TableWriter::Create(
                               path_, {.columns = {{.name = "key", .type = ColumnType::String()}}},
                               {&options, 1})
                         : TableWriter::Open(path_, {&options, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::vector<std::string_view> values(parts[i].begin(), parts[i].end());
    ASSERT_TRUE(writer->Append<std::string_view>(0, values).ok());
    const absl::Status finished = writer->Finish();
    ASSERT_TRUE(finished.ok()) << finished;
  }
}

std::string TableTestBase::PartPath(size_t part) {
  return path_ + "/" + OpenTable().part(part)->name;
}

void TableTestBase::CountParts() {
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

TableReader TableTestBase::OpenTable() {
  auto table = TableReader::Open(path_);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

}  // namespace cfile
