#include "tools/import/importer.h"

#include <algorithm>
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
#include "tools/import/csv_reader.h"
#include "tools/import/row_batch.h"
#include "tools/import/row_order.h"
#include "tools/import/table_sorter.h"
#include "tools/import/type_pass.h"
#include "tools/location.h"
#include "tools/pieces.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr size_t kMaxLanes = 256;

// True if IsMissingText is null in a column of `type`.
bool TakesMissing(const ColumnType& type) {
  return type.physical() < PhysicalType::kBytes && type.physical() != PhysicalType::kInt96;
}

class Importer {
 public:
  Importer(const ImportOptions& options, CsvInput input, Progress& progress)
      : options_(options), input_(std::move(input)), progress_(progress) {}

  absl::StatusOr<ImportResult> Run() {
    sorted_by_ = options_.sorted_by;
    header_is_guessed_ =
        options_.header == Header::kAuto && !options_.append && !options_.evolve &&
        (!options_.names.empty() || (options_.columns.empty() && !OptionsNameAColumn()));
    if (options_.header == Header::kNo) input_.TakeHeaderForRow();
    if (!options_.columns.empty()) CFILE_RETURN_IF_ERROR(input_.Choose(options_.columns));
    if (!header_is_guessed_) CFILE_RETURN_IF_ERROR(CheckNames());
    CFILE_RETURN_IF_ERROR(options_.append ? TakeSchemaOfTable() : FindSchema());
    CFILE_RETURN_IF_ERROR(CheckHeaders());
    CFILE_RETURN_IF_ERROR(CheckOrder());

    Schema schema;
    schema.columns.resize(columns_.size());
    for (const ImportColumn& column : columns_) schema.columns[column.table_column] = column.schema;
    SetMergeRule(options_.merge, schema);
    if (options_.append) schema.merge_rule = merge_rule_;
    SetKeys(sorted_by_, options_.nulls_last, schema);
    const std::vector<WriterOptions> column_options =
        OptionsOfColumns(options_, schema, sorted_by_);
    CFILE_ASSIGN_OR_RETURN(auto writer, NewTableWriter(options_, schema, column_options));
    CFILE_RETURN_IF_ERROR(Write(column_options, writer));

    ImportResult result{.rows = rows_,
                        .bytes_in = input_.size_bytes(),
                        .sorted_by = sorted_by_,
                        .reordered = !in_order_,
                        .columns = std::vector<ImportedColumn>(columns_.size()),
                        .header = input_.has_header(),
                        .renamed = input_.renamed(),
                        .warnings = warnings_};
    for (const ImportColumn& column : columns_) {
      result.columns[column.table_column] = {
          .schema = column.schema,
          .totals = writer.totals(column.table_column),
          .reason = std::move(reasons_[static_cast<size_t>(&column - columns_.data())])};
    }
    result.skipped = Skipped();
    return result;
  }

 private:
  bool OptionsNameAColumn() const {
    bool found = false;
    VisitColumnNames(options_, [&](const char*, const std::string& name) {
      found = found || input_.Find(name).has_value();
    });
    return found;
  }

  absl::Status CheckNames() const {
    Schema schema;
    for (const std::string& name : input_.columns()) schema.columns.push_back({.name = name});
    return CheckColumnNames(options_, input_.name(), schema);
  }

  std::optional<std::span<const KeyedRow>> NextSortedPiece() {
    const std::span rest = sorted_rows_.subspan(next_piece_);
    if (rest.empty()) return std::nullopt;
    size_t rows = 0;
    for (uint64_t bytes = 0; rows < rest.size() && bytes < CsvInput::kPieceBytes; ++rows) {
      bytes += rest[rows].place.end - rest[rows].place.begin;
    }
    next_piece_ += rows;
    return rest.first(rows);
  }

  std::vector<ColumnRule> Rules() const {
    std::vector<ColumnRule> rules(input_.columns().size());
    for (size_t i = 0; i < rules.size(); ++i) {
      const std::string& name = input_.columns()[i];
      if (const auto type = options_.types.find(name); type != options_.types.end()) {
        rules[i].given = type->second;
      }
      rules[i].needs_values = options_.not_null.contains(name);
    }
    return rules;
  }

  // Reads all rows and finds what they show. Later passes skip the rows that are bad.
  absl::StatusOr<std::vector<ColumnEvidence>> ReadTypes(std::span<const ColumnRule> rules) {
    input_.reader().SkipRecords(nullptr);
    std::vector<bool> takes;
    for (const ColumnRule& rule : rules)
      takes.push_back(rule.given.has_value() && TakesMissing(rule.given->type));
    input_.TakeMissing(std::move(takes));
    CFILE_ASSIGN_OR_RETURN(TypePassResult found, FindTypes(input_, rules, options_.skip_bad_rows,
                                                           options_.num_threads, progress_));
    bad_rows_ = std::move(found.bad_rows);
    std::vector<RecordPlace> places;
    for (const BadRow& row : bad_rows_) places.push_back(row.place);
    input_.reader().SkipRecords(
        std::make_shared<const std::vector<RecordPlace>>(std::move(places)));
    return std::move(found.columns);
  }

  // The first pass.
  absl::Status FindSchema() {
    std::vector<ColumnRule> rules = Rules();
    CFILE_ASSIGN_OR_RETURN(std::vector<ColumnEvidence> found, ReadTypes(rules));
    if (header_is_guessed_) {
      CFILE_ASSIGN_OR_RETURN(const bool is_row,
                             FirstRecordIsARow(input_, rules, options_.oldest_reader, found));
      if (is_row) {
        input_.TakeHeaderForRow();
        warnings_.push_back(absl::StrCat(
            input_.name(),
            ": the first line is imported as a row, because its fields are values of the types of "
            "their columns",
            options_.names.empty() ? "; the columns are named column_1, column_2, ..." : "",
            " (use --header yes if the first line has the names, --header no to end this "
            "warning)"));
        // Options may name columns that had no names before, and then other rows are bad.
        if (options_.skip_bad_rows > 0 && options_.names.empty()) {
          rules = Rules();
          CFILE_ASSIGN_OR_RETURN(found, ReadTypes(rules));
        }
      }
      CFILE_RETURN_IF_ERROR(CheckNames());
    }
    rules = Rules();
    reasons_ = ExplainTypes(input_, found, options_.oldest_reader);
    columns_.resize(found.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ColumnSchema& schema = columns_[i].schema;
      schema.name = input_.columns()[i];
      columns_[i].table_column = i;
      if (rules[i].given.has_value()) {
        reasons_[i] = {.text = rules[i].given->option};
        schema.type = rules[i].given->type;
        columns_[i].format = rules[i].given->format;
      } else {
        schema.type = found[i].inference.Type(options_.inferred_types());
      }
      // A null is an error in a column that needs values, which a later pass reports with its line.
      const bool is_key =
          std::ranges::find(options_.sorted_by, schema.name) != options_.sorted_by.end();
      const bool has_nulls =
          found[i].has_nulls || (found[i].inference.has_missing() && TakesMissing(schema.type));
      schema.nullable = !rules[i].needs_values && (has_nulls || !is_key);
    }
    TakeMissing();
    return absl::OkStatus();
  }

  // Says which texts of columns_ are nulls and numbers.
  void TakeMissing() {
    std::vector<bool> takes;
    for (ImportColumn& column : columns_) {
      takes.push_back(TakesMissing(column.schema.type));
      column.decimal_comma = options_.dialect.decimal_comma;
    }
    input_.TakeMissing(std::move(takes));
  }

  absl::Status TakeSchemaOfTable() {
    CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTableOf(options_));
    const Schema& schema = table.schema();
    std::unordered_map<std::string_view, size_t> numbers;  // of the table's columns, by name
    for (size_t i = 0; i < schema.columns.size(); ++i) numbers.emplace(schema.columns[i].name, i);
    for (size_t i = 0; i < input_.columns().size(); ++i) {
      const auto found = numbers.find(input_.columns()[i]);
      if (found == numbers.end()) {
        return UnfitRows(
            input_.Error(i, absl::StrCat("the table ", options_.output, " has no such column")));
      }
      columns_.push_back({.schema = schema.columns[found->second], .table_column = found->second});
      reasons_.push_back({.text = "the table"});
      const auto type = options_.types.find(input_.columns()[i]);
      if (type == options_.types.end()) continue;
      CFILE_RETURN_IF_ERROR(CheckTypeOfTable(options_, columns_[i].schema, type->second));
      columns_[i].format = type->second.format;
    }
    for (const ColumnSchema& column : schema.columns) {
      if (!input_.Find(column.name).has_value()) {
        return UnfitRows(absl::InvalidArgumentError(
            absl::StrCat(input_.name(), ": there is no column ", Quoted(column.name),
                         ", which the table ", options_.output, " has")));
      }
    }

    TakeMissing();

    // The new part is sorted and indexed like the table; otherwise each search would have to read
    // all of its rows.
    CFILE_ASSIGN_OR_RETURN(sorted_by_, OrderOfTable(options_, table));
    key_types_ = schema.key_types();
    merge_rule_ = schema.merge_rule;
    if (options_.skip_bad_rows == 0) return absl::OkStatus();
    std::vector<ColumnRule> rules;
    for (const ImportColumn& column : columns_) {
      rules.push_back({.given = column.text_type(), .needs_values = !column.schema.nullable});
    }
    return ReadTypes(rules).status();
  }

  // The header of the first file is not the first row of the others.
  absl::Status CheckHeaders() const {
    const TextParts& parts = input_.reader().parts();
    if (parts == nullptr || !input_.has_header()) return absl::OkStatus();
    for (const TextPart& part : *parts) {
      if (part.has_header || part.begin == 0) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          part.name, ": the first line is not that of ", input_.name(),
          ", which has the names of the columns; --append --evolve adds files with other columns"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckOrder() {
    if (sorted_by_.empty()) return absl::OkStatus();
    std::vector<size_t> columns;
    for (const std::string& name : sorted_by_) columns.push_back(*input_.Find(name));
    // With `append`, key_types_ already has the key columns of the table, if the table has any.
    for (size_t i = key_types_.size(); i < columns.size(); ++i) {
      const ColumnSchema& schema = columns_[columns[i]].schema;
      key_types_.push_back(
          {.type = schema.type, .nullable = schema.nullable, .nulls_last = options_.nulls_last});
    }
    std::vector<TextType> text_types;
    for (const size_t column : columns) text_types.push_back(columns_[column].text_type());
    row_key_.emplace(std::move(columns), key_types_, std::move(text_types));
    CFILE_ASSIGN_OR_RETURN(in_order_, RowsAreInOrder(input_, *row_key_, progress_));
    return absl::OkStatus();
  }

  // The last pass: writes the rows of the file from `begin` on, or sorted_rows_.
  absl::Status WritePieces(uint64_t begin, TableWriter& writer) {
    const bool has_keys = writer.schema().key_index().has_value();
    const size_t num_columns = columns_.size();
    // If there are many columns, a lane gets several, because the time to choose a task grows
    // with the number of lanes.
    const size_t num_lanes = std::min(num_columns, kMaxLanes);
    const size_t num_slots = NumSlots(options_.num_threads);
    // Slot i of the work uses element i of these.
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
                                 const auto piece = input_.NextPiece(next_piece_);
                                 if (piece.has_value()) pieces[slot] = *piece;
                                 return piece.has_value();
                               }
                               const auto piece = NextSortedPiece();
                               if (piece.has_value()) sorted_pieces[slot] = *piece;
                               return piece.has_value();
                             },
                         .parse =
                             [&](size_t slot) {
                               return in_order_ ? batches[slot].Parse(pieces[slot].begin,
                                                                      pieces[slot].end)
                                                : batches[slot].Parse(sorted_pieces[slot]);
                             },
                         .num_lanes = num_lanes + (has_keys ? 1 : 0),
                         .append = [&](size_t lane, size_t slot) -> absl::Status {
                           if (lane == num_lanes) return batches[slot].AppendKeys(writer);
                           const size_t end = (lane + 1) * num_columns / num_lanes;
                           for (size_t i = lane * num_columns / num_lanes; i < end; ++i) {
                             CFILE_RETURN_IF_ERROR(batches[slot].AppendColumn(i, writer));
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

  // Writes the rows in the order of their keys, in runs if they do not fit into memory.
  absl::Status WriteSorted(std::span<const WriterOptions> column_options, TableWriter& writer) {
    std::optional<RowSorter> sorter(std::in_place, *row_key_, options_.memory_bytes);
    std::optional<SortedRuns> runs;
    for (uint64_t begin = input_.first_row(); begin < input_.reader().size();) {
      CFILE_RETURN_IF_ERROR(sorter->Take(input_, begin, progress_));
      sorted_rows_ = sorter->rows();
      if (!runs.has_value()) {
        if (sorter->end() == input_.reader().size()) return WritePieces(begin, writer);
        CFILE_ASSIGN_OR_RETURN(
            runs, SortedRuns::Create(options_.temporary_directory, writer.schema(), column_options,
                                     options_.memory_bytes));
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

  absl::Status Write(std::span<const WriterOptions> column_options, TableWriter& writer) {
    CFILE_RETURN_IF_ERROR(in_order_ ? WritePieces(input_.first_row(), writer)
                                    : WriteSorted(column_options, writer));
    // If the file has no rows, this is the only call of Update.
    CFILE_RETURN_IF_ERROR(progress_.Update(input_.reader().size(), rows_));
    return writer.Finish();
  }

  SkippedRows Skipped() const {
    SkippedRows skipped{.count = bad_rows_.size()};
    uint64_t line = 1, offset = 0;
    for (const BadRow& row : bad_rows_) {
      if (skipped.lines.size() == kMaxSkippedLines) break;
      line = input_.reader().Line(row.place.begin, std::exchange(offset, row.place.begin), line);
      skipped.lines.push_back(line);
      if (row.reason.empty()) continue;
      const TextParts& parts = input_.reader().parts();
      const std::string file = parts == nullptr ? "" : PartAt(parts, row.place.begin).name + ": ";
      skipped.reasons.push_back(file + row.reason);
    }
    return skipped;
  }

  const ImportOptions& options_;
  CsvInput input_;
  bool header_is_guessed_ = false;  // the types of the rows decide what the first record is
  std::vector<std::string> warnings_;
  std::vector<TypeReason> reasons_;  // of the columns, in the order of the file
  std::vector<BadRow> bad_rows_;     // that are skipped
  Progress& progress_;
  std::vector<ImportColumn> columns_;  // in the order of the file
  std::vector<std::string> sorted_by_;
  std::vector<KeyColumn> key_types_;       // the types of sorted_by_
  std::optional<MergeRule> merge_rule_;    // of the table to which rows are appended
  std::optional<RowKey> row_key_;          // set if rows are sorted
  bool in_order_ = true;                   // the rows are written in the order of the file
  std::span<const KeyedRow> sorted_rows_;  // the rows to write next, if not in_order_
  // Where the next piece begins: an offset in the file, or if not in_order_ an index of
  // sorted_rows_.
  uint64_t next_piece_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace

absl::Status CheckOutput(const ImportOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!IsUrl(options.output) && fs::is_regular_file(options.output, error)) {
    return absl::AlreadyExistsError(absl::StrCat(options.output,
                                                 ": a file, and not a table; the table comes last: "
                                                 "cfile-import FILE ... TABLE"));
  }
  if (options.append) return OpenTableOf(options).status();
  const auto exists = [&] {
    return absl::AlreadyExistsError(absl::StrCat(
        options.output, ": exists already; remove it first, or add to a table with --append"));
  };
  if (IsUrl(options.output)) {
    CFILE_ASSIGN_OR_RETURN(const auto files, options.table.storage()->List(""));
    return files.empty() ? absl::OkStatus() : exists();
  }
  if (!fs::exists(options.output, error) ||
      (fs::is_directory(options.output, error) && fs::is_empty(options.output, error))) {
    return absl::OkStatus();
  }
  return exists();
}

absl::StatusOr<ImportResult> Import(const ImportOptions& options, const InputFile& file,
                                    const TextParts& parts, Progress& progress) {
  CFILE_RETURN_IF_ERROR(CheckIsUtf8Text(*file.source));
  const std::span<const uint8_t> text = file.source->InMemory();
  const Delimiter delimiter =
      options.delimiter.has_value()
          ? Delimiter{*options.delimiter, "--delimiter"}
          : FindDelimiter({reinterpret_cast<const char*>(text.data()), text.size()}, options.input,
                          options.dialect);
  CsvDialect dialect = options.dialect;
  dialect.delimiter = delimiter.character;
  CFILE_ASSIGN_OR_RETURN(CsvInput input, CsvInput::Open(file.source, dialect, options.null_texts));
  if (options.names_only) return ImportResult{.names = input.columns()};
  input.reader().SetParts(parts);
  if (!options.names.empty()) CFILE_RETURN_IF_ERROR(input.SetNames(options.names));
  CFILE_ASSIGN_OR_RETURN(ImportResult result, Importer(options, std::move(input), progress).Run());
  result.delimiter = delimiter;
  return result;
}

}  // namespace cfile::tools
