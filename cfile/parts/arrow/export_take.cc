#include "cfile/arrow.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cfile/parts/arrow/export_stream.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/arrow/taken_column.h"
#include "cfile/parts/table/open_files.h"
#include "cfile/parts/table/scan_source.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::RowSink;
using internal::ScanSource;
using internal::TableScanAccess;

// At most this many rows are added to the sinks at a time, so that the values of several columns
// stay in the processor's cache.
constexpr size_t kAddedRows = 8192;

static_assert(internal::kGroupOrdinals == 65'536, "cfile/arrow.h names this number");

// The rows of a take. Thread-compatible.
class TakenRows final : public internal::ExportedRows {
 public:
  // `scan` has the columns to export. No rows are read from it.
  TakenRows(TableScan scan, std::vector<uint64_t> ordinals)
      : scan_(std::move(scan)),
        begun_(
            internal::OpenFilesOfRows(TableScanAccess::Source(scan_), scan_.columns(), ordinals)),
        grouper_(std::move(ordinals)) {
    const ScanSource& source = TableScanAccess::Source(scan_);
    const std::vector<size_t>& columns = scan_.columns();
    const size_t max_requests = std::max<size_t>(
        internal::MaxRangesOfScan(source.options()) / std::max<size_t>(columns.size(), 1), 1);
    for (const size_t column : columns)
      columns_.push_back(internal::NewTakenColumn(source, column, max_requests));
  }

  const std::string& name() const override { return TableScanAccess::Source(scan_).name(); }

  void SetSinks(std::vector<RowSink*> sinks) override {
    sinks_ = std::move(sinks);
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i]->SetSink(sinks_[i]);
  }

  absl::StatusOr<size_t> Add(size_t max_rows) override {
    for (RowSink* const sink : sinks_) sink->Truncate(0);
    size_t count = std::min(max_rows, grouper_.num_ordinals() - next_);
    if (count == 0 || columns_.empty()) {
      next_ += count;
      return count;
    }
    count = std::min(count, kAddedRows);
    for (const auto& column : columns_) {
      CFILE_ASSIGN_OR_RETURN(count, column->Prepare(grouper_, next_, count));
    }
    for (const auto& column : columns_) {
      CFILE_ASSIGN_OR_RETURN(count, column->Add(next_, count));
    }
    // A sink may have taken fewer rows than the sinks before it.
    for (RowSink* const sink : sinks_) sink->Truncate(count);
    next_ += count;
    return count;
  }

 private:
  const TableScan scan_;
  const ScanSource::BegunFiles begun_;
  internal::OrdinalGrouper grouper_;
  std::vector<std::unique_ptr<internal::TakenColumn>> columns_;
  std::vector<RowSink*> sinks_;
  size_t next_ = 0;  // the number of ordinals whose rows were added
};

absl::Status ExportTake(TableScan scan, std::vector<uint64_t> ordinals, const FileInfo* file,
                        const ArrowExportOptions& options, ArrowArrayStream* out) {
  const ScanSource& source = TableScanAccess::Source(scan);
  for (const uint64_t ordinal : ordinals) {
    if (ordinal >= source.num_rows()) {
      return OutOfRange(source.name(), ": ordinal ", ordinal, ", the ",
                        file == nullptr ? "table" : "file", " has ", source.num_rows(), " rows");
    }
  }
  CFILE_ASSIGN_OR_RETURN(std::vector<internal::ExportedColumn> columns,
                         internal::ColumnsToExport(source.schema(), scan.columns(),
                                                   options.string_views, source.name()));
  const uint64_t num_rows = ordinals.size();
  return internal::ExportRows(
      {.rows = std::make_unique<TakenRows>(std::move(scan), std::move(ordinals)),
       .schema = &source.schema(),
       .columns = std::move(columns),
       .max_rows = num_rows,
       .file = file},
      options.max_batch_rows, options.column_only, out);
}

}  // namespace

absl::Status ExportArrowTake(const TableReader& table, std::vector<uint64_t> ordinals,
                             const std::optional<std::vector<std::string>>& columns,
                             const ArrowExportOptions& options, ArrowArrayStream* out) {
  out->release = nullptr;
  CFILE_ASSIGN_OR_RETURN(TableScan scan, table.NewScan({.columns = columns}));
  CFILE_RETURN_IF_ERROR(
      internal::CheckRowNumbers(internal::TableScanAccess::Source(scan), "a take"));
  return ExportTake(std::move(scan), std::move(ordinals), nullptr, options, out);
}

absl::Status ExportArrowTake(const Reader& reader, std::vector<uint64_t> ordinals,
                             const ArrowExportOptions& options, ArrowArrayStream* out) {
  out->release = nullptr;
  FileInfo info = reader.info();
  info.value_index_root.reset();  // the rows of the stream are not sorted
  CFILE_ASSIGN_OR_RETURN(TableScan scan, NewTableScan(reader, {}));
  return ExportTake(std::move(scan), std::move(ordinals), &info, options, out);
}

}  // namespace cfile
