// The formats CSV, TSV and JSON Lines of cfile-dump export.
#include "tools/dump/export.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cfile/record_visitor.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "tools/dump/line_text.h"
#include "tools/records/json_printer.h"

namespace cfile::tools {
namespace {

// Rows of columns without levels.
class LineRows final : public RowText {
 public:
  LineRows(const LineForm& form, const RowSelection& selection, TableScan scan,
           const OrdinalRange& range)
      : scan_(std::move(scan)), text_(form, selection.columns), ordinal_(range.begin) {}

  absl::StatusOr<bool> Append(std::string& out) override {
    if (text_.done()) {
      const auto batch = scan_.Next();
      if (!batch.ok()) return batch.status();
      if (batch->empty()) return false;
      text_.Open(*batch);
      ordinal_ = batch->ordinal(batch->num_rows() - 1) + 1;
    }
    text_.Append(out);
    return true;
  }
  uint64_t ordinal() const override { return ordinal_; }

 private:
  TableScan scan_;
  LineText text_;
  uint64_t ordinal_;
};

absl::Status ExportLines(const Input& input, const ExportOptions& options, const LineForm& form,
                         std::unique_ptr<Sink> sink, Progress& progress) {
  CFILE_ASSIGN_OR_RETURN(RowSelection selection, SelectRows(input, options.choice));
  selection.options.cancelled = &Progress::cancelled();
  if (!form.json && options.header) {
    CFILE_RETURN_IF_ERROR(AppendText(CsvHeader(selection.columns, form.delimiter), *sink));
  }
  const auto open = [&](const OrdinalRange& range) -> absl::StatusOr<std::unique_ptr<RowText>> {
    RowSelection part = selection;
    part.options.range = range;
    CFILE_ASSIGN_OR_RETURN(TableScan scan, part.NewScan(input));
    return std::make_unique<LineRows>(form, part, std::move(scan), range);
  };
  CFILE_RETURN_IF_ERROR(WriteRows(input.num_rows(), options.num_threads, open, *sink, progress));
  return sink->Finish();
}

absl::Status ExportSeparated(const Input& input, const ExportOptions& options, char delimiter,
                             std::unique_ptr<Sink> sink, Progress& progress) {
  if (options.delimiter != '\0') delimiter = options.delimiter;
  return ExportLines(input, options, {.delimiter = delimiter}, std::move(sink), progress);
}

// A few bytes of levels may stand for a record with millions of elements, so there is a limit.
constexpr size_t kMaxRecordBytes = 256 << 20;

// Prints a record to a text of at most about kMaxRecordBytes. Above: kOutOfRange.
class RecordText final : public RecordVisitor {
 public:
  RecordText(const RecordSchema& schema, std::span<const size_t> leaves)
      : printer_(schema, leaves, text_) {}

  absl::Status BeginGroup(size_t node) override {
    CFILE_RETURN_IF_ERROR(CheckSize());
    return printer_.BeginGroup(node);
  }
  absl::Status EndGroup(size_t node) override { return printer_.EndGroup(node); }
  absl::Status Value(size_t node, const RecordValue& value) override {
    CFILE_RETURN_IF_ERROR(CheckSize());
    return printer_.Value(node, value);
  }

  std::string& text() { return text_; }

 private:
  absl::Status CheckSize() const {
    if (text_.size() <= kMaxRecordBytes) return absl::OkStatus();
    return absl::OutOfRangeError(
        "a record has more than 256 MiB of JSON; cfile-dump records prints it");
  }

  std::string text_;
  JsonPrinter printer_;
};

// Rows that are nested records. A scan without columns finds those that match the condition.
class RecordRows final : public RowText {
 public:
  static absl::StatusOr<std::unique_ptr<RowText>> Open(const TableReader& table,
                                                       const std::vector<std::string>& columns,
                                                       std::span<const size_t> leaves,
                                                       const TableScanOptions& options) {
    std::optional<TableScan> scan;
    if (!options.where.empty()) {
      CFILE_ASSIGN_OR_RETURN(scan, table.NewScan(options));
    }
    CFILE_ASSIGN_OR_RETURN(RecordReader reader, RecordReader::Open(table, columns));
    CFILE_RETURN_IF_ERROR(reader.Seek(options.range.begin));
    return std::make_unique<RecordRows>(std::move(scan), std::move(reader), leaves, options.range);
  }

  RecordRows(std::optional<TableScan> scan, RecordReader reader, std::span<const size_t> leaves,
             const OrdinalRange& range)
      : scan_(std::move(scan)),
        reader_(std::move(reader)),
        record_(reader_.schema(), leaves),
        range_(range) {}

  absl::StatusOr<bool> Append(std::string& out) override {
    if (scan_ && next_row_ == batch_.num_rows()) {
      CFILE_ASSIGN_OR_RETURN(batch_, scan_->Next());
      next_row_ = 0;
      if (batch_.empty()) return false;
    }
    if (scan_) {
      const uint64_t ordinal = batch_.ordinal(next_row_);
      if (ordinal != reader_.record()) CFILE_RETURN_IF_ERROR(reader_.Seek(ordinal));
    } else if (reader_.record() == range_.end) {
      return false;
    }
    record_.text().clear();
    CFILE_ASSIGN_OR_RETURN(const bool found, reader_.Next(record_));
    if (!found) return false;
    out += record_.text();
    ++next_row_;
    return true;
  }
  uint64_t ordinal() const override { return reader_.record(); }

 private:
  std::optional<TableScan> scan_;
  RecordReader reader_;
  RecordText record_;
  const OrdinalRange range_;
  TableBatch batch_;
  size_t next_row_ = 0;
};

// True if a row is an object of plain values.
bool IsFlat(const Schema& schema) {
  return !schema.tree || schema.tree->nodes().size() == schema.columns.size() + 1;
}

}  // namespace

absl::Status ExportCsv(const Input& input, const CommonOptions&, const ExportOptions& options,
                       std::unique_ptr<Sink> sink, Progress& progress) {
  return ExportSeparated(input, options, ',', std::move(sink), progress);
}

absl::Status ExportTsv(const Input& input, const CommonOptions&, const ExportOptions& options,
                       std::unique_ptr<Sink> sink, Progress& progress) {
  return ExportSeparated(input, options, '\t', std::move(sink), progress);
}

absl::Status ExportJsonLines(const Input& input, const CommonOptions&, const ExportOptions& options,
                             std::unique_ptr<Sink> sink, Progress& progress) {
  if (!input.table || IsFlat(input.table->schema())) {
    return ExportLines(input, options, {.json = true}, std::move(sink), progress);
  }
  const TableReader& table = *input.table;
  const std::vector<std::string>& columns = options.choice.columns;
  TableScanOptions scan_options{.columns = std::vector<std::string>()};
  scan_options.cancelled = &Progress::cancelled();
  CFILE_ASSIGN_OR_RETURN(scan_options.where, FilterOf(options.choice, table.schema()));
  const RecordSchema& schema = *table.schema().tree;
  std::vector<size_t> leaves(schema.leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  if (!columns.empty()) {
    CFILE_ASSIGN_OR_RETURN(leaves, schema.SelectLeaves(columns));
  }
  const auto open = [&](const OrdinalRange& range) {
    TableScanOptions part = scan_options;
    part.range = range;
    return RecordRows::Open(table, columns, leaves, part);
  };
  CFILE_RETURN_IF_ERROR(WriteRows(input.num_rows(), options.num_threads, open, *sink, progress));
  return sink->Finish();
}

}  // namespace cfile::tools
