#include "tools/import/importer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/import/column_batch.h"
#include "tools/import/csv_input.h"
#include "tools/import/row_order.h"
#include "tools/import/type_inference.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// Rows and, where they are long, bytes of text that are parsed before they are handed to the table.
constexpr size_t kBatchRows = 4096;
constexpr uint64_t kBatchBytes = 4 << 20;

// A column of the file, and where it goes.
struct Column {
  ColumnSchema schema;
  size_t table_column = 0;
  uint64_t nulls = 0;
};

class Importer {
 public:
  Importer(const ImportOptions& options, CsvInput input, Progress& progress)
      : options_(options), input_(std::move(input)), progress_(progress) {}

  absl::StatusOr<ImportResult> Run();

 private:
  absl::Status CheckColumnNames() const;
  absl::Status FindSchema();
  absl::Status TakeSchemaOfTable();
  absl::Status FindOrder();
  std::vector<WriterOptions> ColumnOptions() const;
  absl::Status Write(TableWriter& writer);
  absl::StatusOr<bool> NextRow();
  absl::Status FillRow(size_t row);

  const ImportOptions& options_;
  CsvInput input_;
  Progress& progress_;
  std::vector<Column> columns_;  // in the order of the file
  std::vector<std::string> sorted_by_;
  std::optional<RowKey> row_key_;                   // of the rows that are sorted
  std::optional<std::vector<uint64_t>> row_order_;  // of the file if there is none
  std::vector<std::unique_ptr<ColumnBatch>> batches_;
  uint64_t rows_ = 0;
};

template <typename Names>
absl::Status CheckNames(const CsvInput& input, const std::string& path, std::string_view option,
                        const Names& names) {
  for (const auto& entry : names) {
    const std::string* name = nullptr;
    if constexpr (std::is_same_v<typename Names::value_type, std::string>) {
      name = &entry;
    } else {
      name = &entry.first;
    }
    if (!input.Find(*name).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("--", std::string(option), " ", *name, ": ",
                                                     path, " has no column of that name"));
    }
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckColumnNames() const {
  absl::Status status = CheckNames(input_, options_.input, "type", options_.types);
  status.Update(CheckNames(input_, options_.input, "not-null", options_.not_null));
  status.Update(CheckNames(input_, options_.input, "encoding", options_.encoding.for_column));
  status.Update(CheckNames(input_, options_.input, "compression", options_.compression.for_column));
  status.Update(CheckNames(input_, options_.input, "sorted-by", options_.sorted_by));
  for (size_t i = 0; i < options_.sorted_by.size(); ++i) {
    const auto end = options_.sorted_by.begin() + static_cast<ptrdiff_t>(i);
    if (std::find(options_.sorted_by.begin(), end, *end) != end) {
      status.Update(
          absl::InvalidArgumentError(absl::StrCat("--sorted-by ", *end, ": given twice")));
    }
  }
  return status;
}

// The first pass: types that are not given, and which columns hold nulls.
absl::Status Importer::FindSchema() {
  const size_t num_columns = input_.columns().size();
  std::vector<TypeInference> inferences(num_columns);
  std::vector<bool> given(num_columns);
  columns_.resize(num_columns);
  for (size_t i = 0; i < num_columns; ++i) {
    const std::string& name = input_.columns()[i];
    columns_[i].schema.name = name;
    columns_[i].table_column = i;
    if (const auto type = options_.types.find(name); type != options_.types.end()) {
      columns_[i].schema.type = type->second;
      given[i] = true;
    }
  }

  CsvReader& reader = input_.reader();
  progress_.Begin("finding types", reader.size());
  for (uint64_t rows = 0;; ++rows) {
    if (rows % kBatchRows == 0) {
      if (absl::Status status = progress_.Update(reader.offset(), rows); !status.ok())
        return status;
    }
    const absl::StatusOr<bool> more = reader.Next();
    if (!more.ok()) return more.status();
    if (!*more) break;
    for (size_t i = 0; i < num_columns; ++i) {
      const CsvField& field = reader.fields()[i];
      if (input_.IsNull(field)) {
        columns_[i].schema.nullable = true;
      } else if (!given[i]) {
        inferences[i].Add(field.text);
      }
    }
  }

  for (size_t i = 0; i < num_columns; ++i) {
    if (!given[i]) columns_[i].schema.type = inferences[i].Type(options_.compatibility);
    // The pass that writes names the null.
    if (options_.not_null.contains(columns_[i].schema.name)) columns_[i].schema.nullable = false;
  }
  return absl::OkStatus();
}

absl::Status Importer::TakeSchemaOfTable() {
  const absl::StatusOr<TableReader> table = TableReader::Open(options_.output);
  if (!table.ok()) return table.status();
  const Schema& schema = table->schema();
  for (size_t i = 0; i < input_.columns().size(); ++i) {
    const std::optional<size_t> found = schema.Find(input_.columns()[i]);
    if (!found.has_value()) {
      return input_.Error(i, absl::StrCat("the table ", options_.output, " has no such column"));
    }
    columns_.push_back({.schema = schema.columns[*found], .table_column = *found});
  }
  for (const ColumnSchema& column : schema.columns) {
    if (!input_.Find(column.name).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(options_.input, ": there is no column ",
                                                     Quoted(column.name), ", which the table ",
                                                     options_.output, " has"));
    }
  }

  // A part without the index would end key searches in the whole table, as would one of another
  // order.
  std::vector<std::string> order;
  for (const size_t column : schema.key_columns) order.push_back(schema.columns[column].name);
  for (size_t i = 0; order.empty() && table->num_parts() > 0 && i < schema.columns.size(); ++i) {
    const absl::StatusOr<Reader> column = table->OpenColumn(table->num_parts() - 1, i);
    if (!column.ok()) return column.status();
    if (column->info().value_index_root.has_value()) order = {schema.columns[i].name};
  }
  if (!options_.sorted_by.empty() && options_.sorted_by != order) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--sorted-by: the table ", options_.output,
        order.empty() ? " is not sorted" : " is sorted by " + absl::StrJoin(order, ", ")));
  }
  sorted_by_ = std::move(order);
  return absl::OkStatus();
}

absl::Status Importer::FindOrder() {
  if (sorted_by_.empty()) return absl::OkStatus();
  std::vector<size_t> columns;
  std::vector<ColumnType> types;
  for (const std::string& name : sorted_by_) {
    columns.push_back(*input_.Find(name));
    types.push_back(columns_[columns.back()].schema.type);
  }
  row_key_.emplace(std::move(columns), types);
  auto order = FindRowOrder(input_, *row_key_, progress_);
  if (!order.ok()) return order.status();
  row_order_ = *std::move(order);
  return absl::OkStatus();
}

std::vector<WriterOptions> Importer::ColumnOptions() const {
  std::vector<WriterOptions> all(columns_.size());
  for (const Column& column : columns_) {
    WriterOptions& options = all[column.table_column];
    options.encoding = options_.encoding.Of(column.schema.name);
    options.goal = options_.goal;
    options.compression = options_.compression.Of(column.schema.name);
    options.block_size_bytes = options_.block_size_bytes;
    options.compatibility = options_.compatibility;
    options.value_index = sorted_by_.size() == 1 && column.schema.name == sorted_by_[0];
  }
  return all;
}

// Puts the reader's last record into row `row` of the batches.
absl::Status Importer::FillRow(size_t row) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const CsvField& field = input_.reader().fields()[i];
    if (input_.IsNull(field)) {
      if (!columns_[i].schema.nullable) {
        return input_.Error(i, "a null, but the column is one without nulls");
      }
      batches_[i]->SetNull(row);
      ++columns_[i].nulls;
    } else if (absl::Status status = batches_[i]->Set(row, field.text); !status.ok()) {
      return input_.Error(i, status);
    }
  }
  return absl::OkStatus();
}

// Reads the next row to be stored; false behind the last one.
absl::StatusOr<bool> Importer::NextRow() {
  if (row_order_.has_value()) {
    if (rows_ == row_order_->size()) return false;
    input_.reader().Seek((*row_order_)[rows_]);
  }
  return input_.reader().Next();
}

// The last pass.
absl::Status Importer::Write(TableWriter& writer) {
  for (const Column& column : columns_) {
    batches_.push_back(ColumnBatch::Create(column.schema.type, column.table_column, kBatchRows));
  }
  const CsvReader& reader = input_.reader();
  const std::optional<size_t> key_index = writer.schema().key_index();
  std::vector<std::string> keys;
  input_.Rewind();
  progress_.Begin("writing", reader.size());
  uint64_t bytes = reader.offset();
  for (bool more = true; more;) {
    size_t rows = 0;
    for (const uint64_t begin = bytes; rows < kBatchRows && bytes - begin < kBatchBytes; ++rows) {
      const absl::StatusOr<bool> read = NextRow();
      if (!read.ok()) return read.status();
      more = *read;
      if (!more) break;
      if (absl::Status status = FillRow(rows); !status.ok()) return status;
      if (key_index) {
        const absl::StatusOr<std::string_view> key = row_key_->Of(input_);
        if (!key.ok()) return key.status();
        keys.emplace_back(*key);
      }
      bytes += reader.offset() - reader.record_offset();
      ++rows_;
    }
    for (const auto& batch : batches_) {
      if (absl::Status status = batch->Flush(rows, writer); !status.ok()) return status;
    }
    if (key_index) {
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      absl::Status status = writer.Append<std::string_view>(*key_index, views);
      if (!status.ok()) return status;
      keys.clear();
    }
    if (absl::Status status = progress_.Update(bytes, rows_); !status.ok()) return status;
  }
  return writer.Finish();
}

absl::StatusOr<ImportResult> Importer::Run() {
  const auto start = std::chrono::steady_clock::now();
  sorted_by_ = options_.sorted_by;
  if (absl::Status status = CheckColumnNames(); !status.ok()) return status;
  if (!options_.append) {
    if (absl::Status status = CheckOutputIsFree(options_.output); !status.ok()) return status;
  }
  if (absl::Status status = options_.append ? TakeSchemaOfTable() : FindSchema(); !status.ok()) {
    return status;
  }
  if (absl::Status status = FindOrder(); !status.ok()) return status;

  Schema schema;
  for (const Column& column : columns_) schema.columns.push_back(column.schema);
  // One column finds rows by its own index, several by one over their compound keys.
  for (const std::string& name : sorted_by_) {
    if (sorted_by_.size() > 1) schema.key_columns.push_back(*schema.Find(name));
  }
  const std::vector<WriterOptions> column_options = ColumnOptions();
  const auto writer = options_.append
                          ? TableWriter::Append(options_.output, column_options)
                          : TableWriter::Create(options_.output, schema, column_options);
  if (!writer.ok()) return writer.status();
  if (absl::Status status = Write(**writer); !status.ok()) return status;

  ImportResult result{.rows = rows_,
                      .bytes_in = input_.size_bytes(),
                      .sorted_by = sorted_by_,
                      .reordered = row_order_.has_value(),
                      .columns = std::vector<ImportedColumn>(columns_.size())};
  for (const Column& column : columns_) {
    const auto totals = (*writer)->encodings(column.table_column);
    result.columns[column.table_column] = {
        .schema = column.schema,
        .nulls = column.nulls,
        .encoding = (*writer)->encoding(column.table_column),
        .encodings = {totals.begin(), totals.end()},
        .compression = (*writer)->compression(column.table_column),
        .bytes = (*writer)->bytes_written(column.table_column)};
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

absl::Status CheckOutputIsFree(const std::string& output) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(output, error) ||
      (fs::is_directory(output, error) && fs::is_empty(output, error))) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(
      absl::StrCat(output, ": exists already; remove it first, or add to a table with --append"));
}

uint64_t ImportResult::bytes_out() const {
  uint64_t bytes = 0;
  for (const ImportedColumn& column : columns) bytes += column.bytes;
  return bytes;
}

absl::StatusOr<ImportResult> Import(const ImportOptions& options, Progress& progress) {
  absl::StatusOr<CsvInput> input =
      CsvInput::Open(options.input, options.delimiter, options.null_texts);
  if (!input.ok()) return input.status();
  return Importer(options, *std::move(input), progress).Run();
}

}  // namespace cfile::tools
