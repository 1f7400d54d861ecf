#include "cfile/internal/salvage/part_salvage.h"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"
#include "cfile/internal/format/column_message.h"
#include "cfile/internal/manifest/table_file.h"
#include "cfile/internal/read/row_reader.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "cfile/table_maintenance.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The rows of one column that can be read.
struct SalvagedColumn {
  Reader file;
  std::vector<OrdinalRange> missing;  // rows of the part that are not in `file`
  uint64_t end = 0;                   // the part's rows from here on are missing, too
};

bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status);
}

class PartSalvager {
 public:
  PartSalvager(const std::shared_ptr<Storage>& storage, const TableReader& table, size_t part,
               const ReaderOptions& options)
      : storage_(storage), table_(table), part_(part), options_(options) {}

  ~PartSalvager() {
    columns_.clear();
    if (!folder_.empty()) (void)storage_->Delete(folder_);
  }

  absl::StatusOr<uint64_t> Run() {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table_.part(part_));
    if (info.num_rows > 0) kept_.push_back({0, info.num_rows});
    for (size_t i = 0; i < schema().columns.size() && !kept_.empty(); ++i) {
      CFILE_ASSIGN_OR_RETURN(std::optional<SalvagedColumn> column, Open(i));
      if (!column) {
        kept_.clear();
      } else {
        Exclude(*column);
        columns_.push_back(*std::move(column));
      }
    }
    if (kept_.empty()) {
      CFILE_RETURN_IF_ERROR(DropParts(storage_, {&info.name, 1}));
      return 0;
    }
    return Write(info.name);
  }

 private:
  const Schema& schema() const { return table_.schema(); }

  // Opens a column if it is sound, or salvages it. nullopt: nothing can be read.
  absl::StatusOr<std::optional<SalvagedColumn>> Open(size_t column) {
    auto reader = table_.OpenColumn(part_, column);
    if (reader.ok() && Verify(*reader).damages.empty()) {
      const uint64_t end = reader->num_rows();
      return SalvagedColumn{.file = *std::move(reader), .missing = {}, .end = end};
    }
    if (!reader.ok() && !IsDamage(reader.status())) return reader.status();
    auto salvaged = Salvage(column);
    if (IsDamage(salvaged.status())) return std::nullopt;
    return salvaged;
  }

  absl::StatusOr<std::optional<SalvagedColumn>> Salvage(size_t column) {
    CFILE_ASSIGN_OR_RETURN(const std::string path, table_.part_file(part_, column));
    CFILE_ASSIGN_OR_RETURN(auto damaged, storage_->Open(path));
    if (folder_.empty()) {
      CFILE_ASSIGN_OR_RETURN(folder_, NewTemporaryFolderName());
    }
    const std::string copy = absl::StrCat(folder_, "/", column, ".cfile");
    CFILE_ASSIGN_OR_RETURN(auto sink, storage_->Create(copy));
    CFILE_ASSIGN_OR_RETURN(SalvageReport report,
                           cfile::Salvage(std::move(damaged), std::move(sink),
                                          {.value_index = false, .reader = options_}));
    const ColumnSchema& expected = schema().columns[column];
    const LevelLimits levels = report.info.has_levels() ? report.info.levels : LevelLimits();
    if (!FitsColumn(report.info.type, expected.type) || levels != expected.levels ||
        report.info.has_levels() != expected.has_levels() ||
        (!expected.has_levels() && report.info.nullable != expected.nullable)) {
      return encodings::DataLoss(path, ": this is the file of another column");
    }
    // In a torn file, rows after the last row that was found may be missing.
    uint64_t end = report.rows;
    for (const OrdinalRange& range : report.missing) end += range.size();
    CFILE_ASSIGN_OR_RETURN(auto source, storage_->Open(copy));
    CFILE_ASSIGN_OR_RETURN(Reader file, Reader::Open(std::move(source), options_));
    return SalvagedColumn{
        .file = std::move(file), .missing = std::move(report.missing), .end = end};
  }

  // Removes from kept_ the rows that `column` lacks.
  void Exclude(const SalvagedColumn& column) {
    std::vector<OrdinalRange> kept;
    auto gap = column.missing.begin();
    for (OrdinalRange range : kept_) {
      range.end = std::min(range.end, column.end);
      while (range.begin < range.end) {
        while (gap != column.missing.end() && gap->end <= range.begin) ++gap;
        const bool in_gap = gap != column.missing.end() && gap->begin <= range.begin;
        const uint64_t end = gap == column.missing.end()
                                 ? range.end
                                 : std::min(range.end, in_gap ? gap->end : gap->begin);
        if (!in_gap) kept.push_back({range.begin, end});
        range.begin = end;
      }
    }
    kept_ = std::move(kept);
  }

  absl::StatusOr<uint64_t> Write(const std::string& name) {
    std::vector<WriterOptions> options(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      CFILE_ASSIGN_OR_RETURN(const BlockStatistics bounds, table_.part_bounds(part_, i));
      options[i].value_index = bounds.min_exact;
      options[i].max_metadata_size_bytes = options_.max_metadata_size_bytes;
    }
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Replace(storage_, {&name, 1}, options));
    for (size_t i = 0; i < columns_.size(); ++i) {
      CFILE_RETURN_IF_ERROR(
          VisitType(schema().columns[i].type,
                    [&]<typename T>(std::type_identity<T>) { return CopyRows<T>(i, writer); }));
    }
    CFILE_RETURN_IF_ERROR(writer.Finish());
    uint64_t rows = 0;
    for (const OrdinalRange& range : kept_) rows += range.size();
    return rows;
  }

  template <typename T>
  absl::Status CopyRows(size_t i, TableWriter& writer) const {
    const SalvagedColumn& column = columns_[i];
    CFILE_ASSIGN_OR_RETURN(const auto reader, NewRowReader(column.file));
    ColumnBatch batch;
    uint64_t missing = 0;  // rows before the range
    auto gap = column.missing.begin();
    for (const OrdinalRange& range : kept_) {
      for (; gap != column.missing.end() && gap->end <= range.begin; ++gap) missing += gap->size();
      for (uint64_t row = range.begin - missing; row < range.end - missing;) {
        const ChosenRows rows{.first = row,
                              .count = static_cast<size_t>(
                                  std::min<uint64_t>(range.end - missing - row, kMaxBatchRows))};
        CFILE_ASSIGN_OR_RETURN(const size_t in_block, reader->Enter(rows));
        CFILE_ASSIGN_OR_RETURN(const size_t count, reader->Read(rows.Part(0, in_block), batch));
        CFILE_RETURN_IF_ERROR(Append<T>(i, batch, writer));
        row += count;
      }
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status Append(size_t column, const ColumnBatch& batch, TableWriter& writer) const {
    if (schema().columns[column].has_levels()) {
      const LevelBatch<T> levels = batch.levels.As<T>();
      return writer.AppendLevels<T>(column, levels.repetition, levels.definition, levels.values);
    }
    const Batch<T> values = batch.rows.As<T>();
    if (values.validity == nullptr) return writer.Append<T>(column, values.values);
    return writer.Append<T>(column, values.values,
                            std::span(values.validity, (values.size() + 7) / 8));
  }

  const std::shared_ptr<Storage>& storage_;
  const TableReader& table_;
  const size_t part_;
  const ReaderOptions& options_;
  std::string folder_;                   // for salvaged columns; empty: no column was salvaged
  std::vector<SalvagedColumn> columns_;  // without compound keys
  std::vector<OrdinalRange> kept_;       // the rows that all columns so far have
};

}  // namespace

absl::StatusOr<uint64_t> SalvagePart(const std::shared_ptr<Storage>& storage,
                                     const TableReader& table, size_t part,
                                     const ReaderOptions& options) {
  return PartSalvager(storage, table, part, options).Run();
}

}  // namespace cfile::internal
