#include "tools/import/importer.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/import/column_options.h"
#include "tools/import/csv_input.h"
#include "tools/import/row_batch.h"
#include "tools/import/row_order.h"
#include "tools/import/sorted_runs.h"
#include "tools/import/type_inference.h"
#include "tools/pieces.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// The approximate size of a piece in bytes of text. A piece ends at the end of a record. Passing it
// to another thread costs little, and it fits into the cache of a core.
constexpr uint64_t kPieceBytes = 256 << 10;
constexpr size_t kMaxLanes = 256;

// What some pieces of the file show about a column: its possible types, and whether it has nulls.
struct ColumnEvidence {
  TypeInference inference;
  bool has_nulls = false;
};

class Importer {
 public:
  Importer(const ImportOptions& options, CsvInput input, Progress& progress)
      : options_(options), input_(std::move(input)), progress_(progress) {}

  absl::StatusOr<ImportResult> Run();

 private:
  absl::Status CheckColumnNames() const;
  bool OptionsNameAColumn() const;
  absl::Status FindTypes(std::vector<ColumnEvidence>& found);
  absl::StatusOr<bool> FirstRecordIsARow(std::vector<ColumnEvidence>& found);
  absl::Status FindSchema();
  absl::Status TakeSchemaOfTable();
  absl::Status CheckOrder();
  std::vector<WriterOptions> ColumnOptions() const;
  std::optional<RecordPlace> NextPiece();
  std::optional<std::span<const KeyedRow>> NextSortedPiece();
  absl::Status WritePieces(uint64_t begin, TableWriter& writer);
  absl::Status WriteSorted(std::span<const WriterOptions> column_options, TableWriter& writer);
  absl::Status Write(std::span<const WriterOptions> column_options, TableWriter& writer);

  const ImportOptions& options_;
  CsvInput input_;
  bool header_is_guessed_ = false;  // the types of the rows decide what the first record is
  std::vector<std::string> warnings_;
  Progress& progress_;
  std::vector<ImportColumn> columns_;  // in the order of the file
  std::vector<std::string> sorted_by_;
  std::vector<KeyColumn> key_types_;       // the types of sorted_by_
  std::optional<RowKey> row_key_;          // set if rows are sorted
  bool in_order_ = true;                   // the rows are written in the order of the file
  std::span<const KeyedRow> sorted_rows_;  // the rows to write next, if not in_order_
  // Where the next piece begins.
  // If in_order_, this is an offset in the file. Otherwise it is an index of sorted_rows_.
  uint64_t next_piece_ = 0;
  uint64_t rows_ = 0;
};

bool Importer::OptionsNameAColumn() const {
  bool found = false;
  VisitColumnNames(options_, [&](const char*, const std::string& name) {
    found = found || input_.Find(name).has_value();
  });
  return found;
}

absl::Status Importer::CheckColumnNames() const {
  absl::Status status;
  VisitColumnNames(options_, [&](const char* option, const std::string& name) {
    if (input_.Find(name).has_value()) return;
    status.Update(absl::InvalidArgumentError(
        absl::StrCat(option, " ", name, ": ", options_.input, " has no column of that name")));
  });
  std::set<std::string> sorted_by;
  for (const std::string& name : options_.sorted_by) {
    if (sorted_by.insert(name).second) continue;
    status.Update(absl::InvalidArgumentError(absl::StrCat("--sorted-by ", name, ": given twice")));
  }
  return status;
}

// The next piece, in the order of the file; nullopt after the last one.
std::optional<RecordPlace> Importer::NextPiece() {
  const CsvReader& reader = input_.reader();
  if (next_piece_ == reader.size()) return std::nullopt;
  const RecordPlace piece{.begin = next_piece_, .end = reader.RecordEnd(next_piece_, kPieceBytes)};
  next_piece_ = piece.end;
  return piece;
}

// The next piece of sorted_rows_; nullopt after the last one.
std::optional<std::span<const KeyedRow>> Importer::NextSortedPiece() {
  const std::span rest = sorted_rows_.subspan(next_piece_);
  if (rest.empty()) return std::nullopt;
  size_t rows = 0;
  for (uint64_t bytes = 0; rows < rest.size() && bytes < kPieceBytes; ++rows) {
    bytes += rest[rows].place.end - rest[rows].place.begin;
  }
  next_piece_ += rows;
  return rest.first(rows);
}

// Adds what the records of a piece show to `columns`, and their number to `rows`. `given[i]`: the
// type of column i is given, so it is not inferred.
absl::Status AddEvidence(CsvInput& input, const std::vector<bool>& given,
                         std::span<ColumnEvidence> columns, uint64_t& rows) {
  while (true) {
    const absl::StatusOr<bool> more = input.reader().Next();
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    ++rows;
    for (size_t i = 0; i < columns.size(); ++i) {
      const CsvField& field = input.reader().fields()[i];
      if (input.IsNull(field)) {
        columns[i].has_nulls = true;
      } else if (!given[i]) {
        columns[i].inference.Add(field.text);
      }
    }
  }
}

// Reads all rows, and finds the types of the columns and which columns hold nulls.
absl::Status Importer::FindTypes(std::vector<ColumnEvidence>& found) {
  const size_t num_columns = input_.columns().size();
  std::vector<bool> given(num_columns);
  for (const auto& [name, type] : options_.types) {
    if (const auto column = input_.Find(name); column.has_value()) given[*column] = true;
  }
  struct Slot {
    CsvInput input;
    std::vector<ColumnEvidence> columns;
    RecordPlace piece = {};
    uint64_t rows = 0;
  };
  std::vector<Slot> slots(NumSlots(options_.num_threads),
                          {.input = input_, .columns = std::vector<ColumnEvidence>(num_columns)});
  uint64_t rows = 0;
  next_piece_ = input_.first_row();
  progress_.Begin("finding types", input_.reader().size());
  const PieceWork work{.take =
                           [&](size_t slot) {
                             const std::optional<RecordPlace> piece = NextPiece();
                             if (!piece.has_value()) return false;
                             slots[slot].input.reader().SeekToRange(piece->begin, piece->end);
                             slots[slot].piece = *piece;
                             return true;
                           },
                       .parse =
                           [&](size_t slot) {
                             Slot& taken = slots[slot];
                             return AddEvidence(taken.input, given, taken.columns, taken.rows);
                           },
                       .finish =
                           [&](size_t slot) {
                             rows += std::exchange(slots[slot].rows, 0);
                             const RecordPlace& piece = slots[slot].piece;
                             input_.Release(piece.begin, piece.end);
                             return progress_.Update(piece.end, rows);
                           }};
  CFILE_RETURN_IF_ERROR(RunPieces(options_.num_threads, work));

  found.resize(num_columns);
  for (const Slot& slot : slots) {
    for (size_t i = 0; i < num_columns; ++i) {
      found[i].inference.Add(slot.columns[i].inference);
      found[i].has_nulls |= slot.columns[i].has_nulls;
    }
  }
  return absl::OkStatus();
}

// Decides whether the first record is a row (see Import in importer.h).
// `found` says which types fit the values of the other rows.
// If the first record is a row, this function adds the record to `found`.
absl::StatusOr<bool> Importer::FirstRecordIsARow(std::vector<ColumnEvidence>& found) {
  input_.reader().SeekToRange(input_.first_record(), input_.first_row());
  if (absl::StatusOr<bool> more = input_.reader().Next(); !more.ok()) return more.status();
  const auto is_string = [&](const ColumnEvidence& column) {
    return column.inference.Type(options_.inferred_types()).data_type == DataType::kString;
  };
  std::vector<ColumnEvidence> with_first = found;
  bool has_typed_value = false;
  for (size_t i = 0; i < found.size(); ++i) {
    const CsvField& field = input_.reader().fields()[i];
    const bool is_null = input_.IsNull(field);
    with_first[i].has_nulls |= is_null;
    if (!is_null) with_first[i].inference.Add(field.text);
    if (is_string(found[i])) continue;
    if (is_null ? !found[i].has_nulls : is_string(with_first[i])) return false;
    has_typed_value |= !is_null;
  }
  if (has_typed_value) found = std::move(with_first);
  return has_typed_value;
}

// The first pass: finds out whether there is a header, which types the columns have if they are not
// given, and which columns hold nulls.
absl::Status Importer::FindSchema() {
  std::vector<ColumnEvidence> found;
  CFILE_RETURN_IF_ERROR(FindTypes(found));
  if (header_is_guessed_) {
    const absl::StatusOr<bool> is_row = FirstRecordIsARow(found);
    if (!is_row.ok()) return is_row.status();
    if (*is_row) {
      input_.TakeHeaderForRow();
      warnings_.push_back(absl::StrCat(
          options_.input,
          ": the first line is imported as a row, because its fields are values of the types of "
          "their columns; the columns are named column_1, column_2, ... (use --header yes if the "
          "first line has the names, --header no to end this warning)"));
    }
    CFILE_RETURN_IF_ERROR(CheckColumnNames());
  }
  columns_.resize(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ColumnSchema& schema = columns_[i].schema;
    schema.name = input_.columns()[i];
    columns_[i].table_column = i;
    const auto type = options_.types.find(schema.name);
    schema.type = type != options_.types.end() ? type->second
                                               : found[i].inference.Type(options_.inferred_types());
    // A null is an error in a column of --not-null, and in a sort column without --nulls.
    // A later pass reports this error with its line.
    const bool needs_values =
        !options_.nulls_last && std::count(sorted_by_.begin(), sorted_by_.end(), schema.name) > 0;
    schema.nullable =
        found[i].has_nulls && !needs_values && !options_.not_null.contains(schema.name);
  }
  return absl::OkStatus();
}

absl::Status Importer::TakeSchemaOfTable() {
  const absl::StatusOr<TableReader> table = TableReader::Open(
      options_.output, {.max_metadata_size_bytes = options_.max_metadata_size_bytes,
                        .record_limits = options_.record_limits});
  if (!table.ok()) return table.status();
  const Schema& schema = table->schema();
  std::unordered_map<std::string_view, size_t> numbers;  // of the table's columns, by name
  for (size_t i = 0; i < schema.columns.size(); ++i) numbers.emplace(schema.columns[i].name, i);
  for (size_t i = 0; i < input_.columns().size(); ++i) {
    const auto found = numbers.find(input_.columns()[i]);
    if (found == numbers.end()) {
      return input_.Error(i, absl::StrCat("the table ", options_.output, " has no such column"));
    }
    columns_.push_back({.schema = schema.columns[found->second], .table_column = found->second});
  }
  for (const ColumnSchema& column : schema.columns) {
    if (!input_.Find(column.name).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(options_.input, ": there is no column ",
                                                     Quoted(column.name), ", which the table ",
                                                     options_.output, " has"));
    }
  }

  // The new part is sorted and indexed like the table. Without the index, each search for a key
  // would read the part from its beginning.
  CFILE_ASSIGN_OR_RETURN(sorted_by_, OrderOfTable(options_, *table));
  key_types_ = schema.key_types();
  return absl::OkStatus();
}

absl::Status Importer::CheckOrder() {
  if (sorted_by_.empty()) return absl::OkStatus();
  std::vector<size_t> columns;
  for (const std::string& name : sorted_by_) columns.push_back(*input_.Find(name));
  // With `append`, key_types_ already has the key columns of the table, if the table has any.
  for (size_t i = key_types_.size(); i < columns.size(); ++i) {
    const ColumnSchema& schema = columns_[columns[i]].schema;
    key_types_.push_back({.type = schema.type,
                          .nullable = schema.nullable && options_.nulls_last.has_value(),
                          .nulls_last = options_.nulls_last.value_or(false)});
  }
  row_key_.emplace(std::move(columns), key_types_);
  CFILE_ASSIGN_OR_RETURN(in_order_, RowsAreInOrder(input_, *row_key_, progress_));
  return absl::OkStatus();
}

std::vector<WriterOptions> Importer::ColumnOptions() const {
  std::vector<WriterOptions> all(columns_.size());
  for (const ImportColumn& column : columns_) {
    const std::string& name = column.schema.name;
    all[column.table_column] = OptionsOfColumn(
        options_, name,
        sorted_by_.size() == 1 && !key_types_[0].nullable && name == sorted_by_[0]);
  }
  return all;
}

// The last pass. If in_order_, writes the rows of the file from `begin` on.
// Otherwise writes the rows of sorted_rows_.
absl::Status Importer::WritePieces(uint64_t begin, TableWriter& writer) {
  const bool has_keys = writer.schema().key_index().has_value();
  const size_t num_columns = columns_.size();
  // If there are many columns, a lane gets several of them, because the time to choose a task grows
  // with the number of lanes.
  const size_t num_lanes = std::min(num_columns, kMaxLanes);
  const size_t num_slots = NumSlots(options_.num_threads);
  // A slot is the place of one piece in work. Slot i uses element i of `batches`, `pieces` and
  // `sorted_pieces`.
  std::deque<RowBatch> batches;
  for (size_t i = 0; i < num_slots; ++i) {
    batches.emplace_back(input_, columns_, has_keys ? row_key_ : std::nullopt);
  }
  std::vector<RecordPlace> pieces(num_slots);
  std::vector<std::span<const KeyedRow>> sorted_pieces(num_slots);
  next_piece_ = in_order_ ? begin : 0;
  uint64_t bytes = begin;
  progress_.Begin("writing", input_.reader().size());
  const PieceWork work{.take =
                           [&](size_t slot) {
                             if (in_order_) {
                               const std::optional<RecordPlace> piece = NextPiece();
                               if (piece.has_value()) pieces[slot] = *piece;
                               return piece.has_value();
                             }
                             const auto piece = NextSortedPiece();
                             if (piece.has_value()) sorted_pieces[slot] = *piece;
                             return piece.has_value();
                           },
                       .parse =
                           [&](size_t slot) {
                             return in_order_
                                        ? batches[slot].Parse(pieces[slot].begin, pieces[slot].end)
                                        : batches[slot].Parse(sorted_pieces[slot]);
                           },
                       .num_lanes = num_lanes + (has_keys ? 1 : 0),
                       .append = [&](size_t lane, size_t slot) -> absl::Status {
                         if (lane == num_lanes) return batches[slot].AppendKeys(writer);
                         const size_t end = (lane + 1) * num_columns / num_lanes;
                         for (size_t i = lane * num_columns / num_lanes; i < end; ++i) {
                           absl::Status status = batches[slot].AppendColumn(i, writer);
                           if (!status.ok()) return status;
                         }
                         return absl::OkStatus();
                       },
                       .finish =
                           [&](size_t slot) {
                             bytes += batches[slot].size_bytes();
                             rows_ += batches[slot].num_rows();
                             if (in_order_) input_.Release(pieces[slot].begin, pieces[slot].end);
                             return progress_.Update(bytes, rows_);
                           }};
  return RunPieces(options_.num_threads, work);
}

// Writes the rows in the order of their keys.
// If the rows do not fit into memory, writes runs (sorted_runs.h) and then merges the runs.
absl::Status Importer::WriteSorted(std::span<const WriterOptions> column_options,
                                   TableWriter& writer) {
  std::optional<RowSorter> sorter(std::in_place, *row_key_, options_.memory_bytes);
  std::optional<SortedRuns> runs;
  for (uint64_t begin = input_.first_row(); begin < input_.reader().size();) {
    CFILE_RETURN_IF_ERROR(sorter->Take(input_, begin, progress_));
    sorted_rows_ = sorter->rows();
    if (!runs.has_value()) {
      if (sorter->end() == input_.reader().size()) return WritePieces(begin, writer);
      CFILE_ASSIGN_OR_RETURN(runs, SortedRuns::Create(options_.output, writer.schema(),
                                                      column_options, options_.memory_bytes));
    }
    CFILE_ASSIGN_OR_RETURN(TableWriter run, runs->NewRun());
    CFILE_RETURN_IF_ERROR(WritePieces(begin, run));
    CFILE_RETURN_IF_ERROR(run.Finish());
    input_.Release(begin, sorter->end());
    begin = sorter->end();
  }
  sorter.reset();  // frees memory for the merge
  return runs->MergeInto(writer, progress_);
}

absl::Status Importer::Write(std::span<const WriterOptions> column_options, TableWriter& writer) {
  CFILE_RETURN_IF_ERROR(in_order_ ? WritePieces(input_.first_row(), writer)
                                  : WriteSorted(column_options, writer));
  // Update returns an error if the import is cancelled.
  // Without this call, nobody calls Update if the file has no rows.
  CFILE_RETURN_IF_ERROR(progress_.Update(input_.reader().size(), rows_));
  return writer.Finish();
}

absl::StatusOr<ImportResult> Importer::Run() {
  const auto start = std::chrono::steady_clock::now();
  sorted_by_ = options_.sorted_by;
  header_is_guessed_ =
      options_.header == Header::kAuto && !options_.append && !OptionsNameAColumn();
  if (options_.header == Header::kNo) input_.TakeHeaderForRow();
  if (!header_is_guessed_) {
    CFILE_RETURN_IF_ERROR(CheckColumnNames());
  }
  if (!options_.append) {
    CFILE_RETURN_IF_ERROR(CheckOutputIsFree(options_.output));
  }
  CFILE_RETURN_IF_ERROR(options_.append ? TakeSchemaOfTable() : FindSchema());
  CFILE_RETURN_IF_ERROR(CheckOrder());

  Schema schema;
  for (const ImportColumn& column : columns_) schema.columns.push_back(column.schema);
  // If the rows are sorted by one column without nulls, this column gets a value index.
  // Otherwise the table gets compound keys. One more column stores the compound keys.
  // That column has the value index.
  for (size_t i = 0; i < sorted_by_.size(); ++i) {
    if (sorted_by_.size() == 1 && !key_types_[0].nullable) break;
    const size_t column = *schema.Find(sorted_by_[i]);
    schema.key_columns.push_back(column);
    if (key_types_[i].nullable && key_types_[i].nulls_last) schema.nulls_last.push_back(column);
  }
  const std::vector<WriterOptions> column_options = ColumnOptions();
  auto writer = options_.append ? TableWriter::Append(options_.output, column_options)
                                : TableWriter::Create(options_.output, schema, column_options);
  if (!writer.ok()) return writer.status();
  CFILE_RETURN_IF_ERROR(Write(column_options, *writer));

  ImportResult result{.rows = rows_,
                      .bytes_in = input_.size_bytes(),
                      .sorted_by = sorted_by_,
                      .reordered = !in_order_,
                      .columns = std::vector<ImportedColumn>(columns_.size()),
                      .header = input_.has_header(),
                      .renamed = input_.renamed(),
                      .warnings = warnings_};
  for (const ImportColumn& column : columns_) {
    result.columns[column.table_column] = {.schema = column.schema,
                                           .totals = writer->totals(column.table_column)};
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
  for (const ImportedColumn& column : columns) bytes += column.totals.bytes_written;
  return bytes;
}

absl::StatusOr<ImportResult> Import(const ImportOptions& options, Progress& progress) {
  absl::StatusOr<CsvInput> input =
      CsvInput::Open(options.input, options.delimiter, options.null_texts);
  if (!input.ok()) return input.status();
  return Importer(options, *std::move(input), progress).Run();
}

}  // namespace cfile::tools
