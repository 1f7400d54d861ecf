#include "cfile/arrow.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/arrow/arrow_type.h"
#include "cfile/internal/arrow/c_data.h"
#include "cfile/internal/arrow/export_stream.h"
#include "cfile/internal/arrow/field_tree.h"
#include "cfile/internal/read/reader_access.h"
#include "cfile/internal/table/scan_source.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile {
namespace {

using internal::ArrowField;
using internal::ArrowLayout;
using internal::ExportedColumn;
using internal::FieldTree;
using internal::ReaderAccess;
using internal::RowSink;
using internal::TableScanAccess;
using internal::ValueSink;

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

template <typename T>
class RowsOfScan final : public internal::ExportedRows {
 public:
  explicit RowsOfScan(Scan<T> scan)
      : scan_(std::move(scan)), nulls_(ReaderAccess::FindsNulls(scan_)) {}
  const std::string& name() const override { return ReaderAccess::File(scan_)->source().name(); }
  void SetSinks(std::vector<RowSink*> sinks) override {
    sink_ = static_cast<ValueSink<T>*>(sinks[0]);
  }
  absl::StatusOr<size_t> Add(size_t max_rows) override {
    if (left_.empty()) {
      CFILE_ASSIGN_OR_RETURN(const ScanBatch<T> batch, scan_.Next());
      left_ = batch.values;
    }
    if (left_.empty()) return size_t{0};
    static constexpr uint8_t kNulls[kMaxBatchRows / 8] = {};
    Batch<T> rows{.values = left_.first(std::min({left_.size(), max_rows, kMaxBatchRows}))};
    if (nulls_) {
      rows.validity = kNulls;
      rows.null_count = rows.size();
    }
    CFILE_ASSIGN_OR_RETURN(const size_t added,
                           sink_->Add(rows, ReaderAccess::File(scan_)->shared_source()));
    left_ = left_.subspan(added);
    return added;
  }

 private:
  Scan<T> scan_;
  const bool nulls_;  // all rows are nulls
  ValueSink<T>* sink_ = nullptr;
  std::span<const T> left_;  // the rest of the last batch
};

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > text.size() - i || first > 0xf4 || (first >= 0x80 && first < 0xc2)) return false;
    uint32_t code = first & (length == 1 ? 0x7f : 0x7f >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    // A code is invalid if it is longer than needed, a surrogate, or above the last code.
    const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (too_long || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return false;
    i += length;
  }
  return true;
}

// Adds what the header and the footer of a file say about the file's column.
void DescribeFile(const FileInfo& info, ArrowField& field) {
  field.metadata.emplace_back("cfile.encoding", EncodingName(info.encoding));
  if (info.value_index_root) field.metadata.emplace_back("cfile.sorted", "ascending");
  for (const auto* pairs : {&info.header_metadata, &info.footer_metadata}) {
    for (const auto& pair : *pairs) {
      // Leaves out the keys that the format reserves. Also leaves out what is not text,
      // because consumers expect text.
      if (!pair.first.starts_with("cfile.") && IsUtf8(pair.first) && IsUtf8(pair.second))
        field.metadata.push_back(pair);
    }
  }
}

// Makes a stream of `columns` of a schema. `max_rows`: the maximum number of rows in the stream.
// `file`: the file whose column is exported, or null.
absl::Status Export(std::unique_ptr<internal::ExportedRows> rows, const Schema& schema,
                    const std::vector<ExportedColumn>& columns, uint64_t max_rows,
                    const FileInfo* file, const ArrowExportOptions& options,
                    ArrowArrayStream* out) {
  CFILE_ASSIGN_OR_RETURN(FieldTree fields, internal::MakeFieldTree(schema, columns));
  if (file != nullptr) DescribeFile(*file, fields.root.children[0].field);
  // The number of rows for which memory is reserved now.
  // Memory for further rows is reserved when these rows have been read.
  const size_t capacity =
      static_cast<size_t>(std::min<uint64_t>({options.max_batch_rows, kMaxBatchRows, max_rows}));
  internal::StreamContents contents{.rows = std::move(rows), .fields = std::move(fields)};
  for (size_t i = 0; i < columns.size(); ++i) {
    contents.sinks.push_back(internal::NewColumnSink(schema.columns[columns[i].column].type,
                                                     columns[i].layout, contents.fields.places[i],
                                                     capacity));
  }
  internal::MakeStream(std::move(contents), options.max_batch_rows,
                       options.column_only && file != nullptr, out);
  return absl::OkStatus();
}

// Returns whether a column is exported as a dictionary.
absl::StatusOr<bool> HasDictionary(const TableScan& scan, size_t number, const ColumnSchema& column,
                                   const ArrowExportOptions& options) {
  const ArrowLayout layout = internal::LayoutOf(column.type, false);
  if (!options.dictionaries || layout != ArrowLayout::kStrings || column.has_levels()) return false;
  CFILE_ASSIGN_OR_RETURN(const std::optional<Reader> file,
                         TableScanAccess::FirstFile(scan, number));
  if (!file || !file->info().dictionary) return false;
  // This looks at the file's main encoding.
  // With automatic choice of encodings, few blocks may have codes.
  const encodings::EncodingRow* const row = encodings::FindEncoding(file->info().encoding);
  return row != nullptr && row->has_dictionary;
}

absl::Status ExportTableScan(TableScan scan, const FileInfo* file,
                             const ArrowExportOptions& options, ArrowArrayStream* out) {
  const internal::ScanSource& source = TableScanAccess::Source(scan);
  const Schema& schema = source.schema();
  std::vector<ExportedColumn> columns;
  for (const size_t column : scan.columns()) {
    const ColumnSchema& described = schema.columns[column];
    const auto same = [&](const ExportedColumn& other) { return other.column == column; };
    if (schema.tree && std::any_of(columns.begin(), columns.end(), same)) {
      return absl::InvalidArgumentError(absl::StrCat(source.name(), ": column ", described.name,
                                                     " of a table of records is selected twice"));
    }
    ArrowLayout layout = internal::LayoutOf(described.type, options.string_views);
    const bool in_group = schema.tree && described.name.find('.') != std::string::npos;
    if (!in_group) {
      CFILE_ASSIGN_OR_RETURN(const bool dictionary,
                             HasDictionary(scan, columns.size(), described, options));
      if (dictionary) layout = ArrowLayout::kDictionary;
    }
    columns.push_back({.column = column, .layout = layout});
  }
  const uint64_t max_rows = source.num_rows();
  auto rows = std::make_unique<RowsOfTableScan>(std::move(scan));
  return Export(std::move(rows), schema, columns, max_rows, file, options, out);
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
  auto rows = std::make_unique<RowsOfScan<T>>(std::move(scan));
  return Export(std::move(rows), schema, {column}, 0, &info, options, out);
}

}  // namespace

absl::Status ExportArrowStream(const Reader& reader, const OrdinalRange& range,
                               const ArrowExportOptions& options, ArrowArrayStream* out) {
  out->release = nullptr;
  return ExportFile(reader, range, options, out);
}

template <ValueType T>
absl::Status ExportArrowStream(const Cursor<T>& cursor, const ArrowExportOptions& options,
                               ArrowArrayStream* out) {
  out->release = nullptr;
  return ExportFile(ReaderAccess::Make(ReaderAccess::File(cursor)), ReaderAccess::RestOf(cursor),
                    options, out);
}

template <ValueType T>
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
  CFILE_ASSIGN_OR_RETURN(const FieldTree fields, internal::MakeFieldTree(schema, columns));
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
