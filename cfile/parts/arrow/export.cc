#include "cfile/arrow.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cfile/core/read/reader_access.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/export_stream.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/table/scan_source.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile {
namespace {

using internal::ArrowLayout;
using internal::ExportedColumn;
using internal::ReaderAccess;
using internal::RowSink;
using internal::TableScanAccess;

class RowsOfTableScan final : public internal::ExportedRows {
 public:
  explicit RowsOfTableScan(TableScan scan) : scan_(std::move(scan)) {}
  const std::string& name() const override { return TableScanAccess::Source(scan_).name(); }
  void SetSinks(std::vector<RowSink*> sinks) override {
    TableScanAccess::SetSinks(scan_, std::move(sinks));
  }
  absl::StatusOr<size_t> Add(size_t max_rows) override {
    return TableScanAccess::AddRows(scan_, max_rows);
  }
  bool keeps_apart() const override { return TableScanAccess::IsReverse(scan_); }

 private:
  TableScan scan_;
};

// The validity of rows that are all nulls. The types of values share it.
constexpr uint8_t kNulls[kMaxBatchRows / 8] = {};

template <typename T>
class RowsOfScan final : public internal::ExportedRows {
 public:
  explicit RowsOfScan(Scan<T> scan)
      : scan_(std::move(scan)), nulls_(ReaderAccess::FindsNulls(scan_)) {}
  const std::string& name() const override { return ReaderAccess::File(scan_)->source().name(); }
  void SetSinks(std::vector<RowSink*> sinks) override { sink_ = sinks[0]; }
  absl::StatusOr<size_t> Add(size_t max_rows) override {
    if (left_.empty()) {
      CFILE_ASSIGN_OR_RETURN(const ScanBatch<T> batch, scan_.Next());
      left_ = batch.values;
    }
    if (left_.empty()) return size_t{0};
    Batch<T> rows{.values = left_.first(std::min({left_.size(), max_rows, kMaxBatchRows}))};
    if (nulls_) {
      rows.validity = kNulls;
      rows.null_count = rows.size();
    }
    CFILE_ASSIGN_OR_RETURN(
        const size_t added,
        sink_->Add(internal::AnyBatch::Of(rows), ReaderAccess::File(scan_)->shared_source()));
    left_ = left_.subspan(added);
    return added;
  }

 private:
  Scan<T> scan_;
  const bool nulls_;  // all rows are nulls
  RowSink* sink_ = nullptr;
  std::span<const T> left_;  // the rest of the last batch
};

// Returns whether a column is exported as a dictionary, or as views of a dictionary.
absl::StatusOr<bool> HasDictionary(const TableScan& scan, size_t number, const ColumnSchema& column,
                                   const ArrowExportOptions& options) {
  const ArrowLayout layout = internal::LayoutOf(column.type, false);
  if (!options.dictionaries && !options.dictionary_views) return false;
  if (layout != ArrowLayout::kStrings || column.has_levels()) return false;
  CFILE_ASSIGN_OR_RETURN(const std::optional<Reader> file,
                         TableScanAccess::FirstFile(scan, number));
  if (!file || !file->info().dictionary) return false;
  // The file's main encoding: with automatic choice of encodings, few blocks may have codes.
  return encodings::HasCodes(file->info().encoding);
}

absl::Status ExportTableScan(TableScan scan, const FileInfo* file,
                             const ArrowExportOptions& options, ArrowArrayStream* out) {
  const internal::ScanSource& source = TableScanAccess::Source(scan);
  const Schema& schema = source.schema();
  CFILE_ASSIGN_OR_RETURN(
      std::vector<ExportedColumn> columns,
      internal::ColumnsToExport(schema, scan.columns(), options.string_views, source.name()));
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnSchema& described = schema.columns[columns[i].column];
    if (schema.tree && described.name.find('.') != std::string::npos) continue;  // in a group
    CFILE_ASSIGN_OR_RETURN(const bool dictionary, HasDictionary(scan, i, described, options));
    if (!dictionary) continue;
    columns[i].layout = options.dictionaries ? ArrowLayout::kDictionary : ArrowLayout::kViews;
  }
  const uint64_t max_rows = source.num_rows();
  return internal::ExportRows({.rows = std::make_unique<RowsOfTableScan>(std::move(scan)),
                               .schema = &schema,
                               .columns = std::move(columns),
                               .max_rows = max_rows,
                               .file = file},
                              options.max_batch_rows, options.column_only, out);
}

absl::Status ExportFile(const Reader& reader, const OrdinalRange& range,
                        const ArrowExportOptions& options, ArrowArrayStream* out) {
  CFILE_ASSIGN_OR_RETURN(TableScan scan, NewTableScan(reader, {.range = range}));
  return ExportTableScan(std::move(scan), &reader.info(), options, out);
}

template <typename T>
absl::Status ExportScan(Scan<T> scan, const ArrowExportOptions& options, ArrowArrayStream* out) {
  const FileInfo info = ReaderAccess::File(scan)->info();
  const Schema schema{.columns = {{.name = "value", .type = info.type, .nullable = info.nullable}}};
  const ExportedColumn column{.layout = internal::LayoutOf(info.type, options.string_views)};
  return internal::ExportRows({.rows = std::make_unique<RowsOfScan<T>>(std::move(scan)),
                               .schema = &schema,
                               .columns = {column},
                               .file = &info},
                              options.max_batch_rows, options.column_only, out);
}

}  // namespace

absl::Status ExportArrowStream(const Reader& reader, const OrdinalRange& range,
                               const ArrowExportOptions& options, ArrowArrayStream* out) {
  out->release = nullptr;
  return ExportFile(reader, range, options, out);
}

template <typename T, typename>
absl::Status ExportArrowStream(const Cursor<T>& cursor, const ArrowExportOptions& options,
                               ArrowArrayStream* out) {
  out->release = nullptr;
  return ExportFile(ReaderAccess::Make(ReaderAccess::File(cursor)), ReaderAccess::RestOf(cursor),
                    options, out);
}

template <typename T, typename>
absl::Status ExportArrowStream(Scan<T> scan, const ArrowExportOptions& options,
                               ArrowArrayStream* out) {
  out->release = nullptr;
  return ExportScan(std::move(scan), options, out);
}

absl::Status ExportArrowStream(const TableReader& table, const TableScanOptions& scan,
                               const ArrowExportOptions& options, ArrowArrayStream* out) {
  out->release = nullptr;
  CFILE_ASSIGN_OR_RETURN(TableScan rows, table.NewScan(scan));
  return ExportTableScan(std::move(rows), nullptr, options, out);
}

absl::Status ExportArrowStream(TableScan scan, const ArrowExportOptions& options,
                               ArrowArrayStream* out) {
  out->release = nullptr;
  return ExportTableScan(std::move(scan), nullptr, options, out);
}

absl::Status ExportArrowSchema(const Schema& schema, const ArrowExportOptions& options,
                               ArrowSchema* out) {
  out->release = nullptr;
  std::vector<ExportedColumn> columns;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    columns.push_back(
        {.column = i, .layout = internal::LayoutOf(schema.columns[i].type, options.string_views)});
  }
  CFILE_ASSIGN_OR_RETURN(const internal::FieldTree fields,
                         internal::MakeFieldTree(schema, columns));
  internal::MakeSchema(fields.root.WithChildren()).MoveTo(out);
  return absl::OkStatus();
}

#define CFILE_INSTANTIATE(T)                                                              \
  template absl::Status ExportArrowStream<T>(const Cursor<T>&, const ArrowExportOptions&, \
                                             ArrowArrayStream*);                          \
  template absl::Status ExportArrowStream<T>(Scan<T>, const ArrowExportOptions&, ArrowArrayStream*);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
