#include "cfile/parts/salvage/part_salvage.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/column_message.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/salvage/part_finder.h"
#include "cfile/parts/salvage/part_survey.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/parts/table/column_writer.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "cfile/table_maintenance.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using Ranges = std::vector<OrdinalRange>;  // ascending, without overlaps

// The rows of one column that can be read.
struct SalvagedColumn {
  std::optional<Reader> file;  // nullopt in a dry run, or if no row can be read
  Ranges missing;              // rows of the part that are not in `file`
};

// Takes what Salvage writes in a dry run.
class DiscardingSink final : public Sink {
 public:
  const std::string& name() const override { return name_; }
  absl::Status Append(std::span<const uint8_t>) override { return absl::OkStatus(); }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  const std::string name_ = "nowhere";
};

// Returns the rows of `ranges` that are not in `gaps`.
Ranges Without(const Ranges& ranges, const Ranges& gaps) {
  Ranges left;
  auto gap = gaps.begin();
  for (OrdinalRange range : ranges) {
    while (range.begin < range.end) {
      while (gap != gaps.end() && gap->end <= range.begin) ++gap;
      const bool in_gap = gap != gaps.end() && gap->begin <= range.begin;
      const uint64_t end =
          gap == gaps.end() ? range.end : std::min(range.end, in_gap ? gap->end : gap->begin);
      if (!in_gap) left.push_back({range.begin, end});
      range.begin = end;
    }
  }
  return left;
}

uint64_t CountOf(const Ranges& ranges) {
  uint64_t rows = 0;
  for (const OrdinalRange& range : ranges) rows += range.size();
  return rows;
}

class PartSalvager {
 public:
  PartSalvager(const std::shared_ptr<Storage>& storage, const TableReader& table, size_t part,
               const PartSalvageOptions& options)
      : storage_(storage), table_(table), part_(part), options_(options) {}

  ~PartSalvager() {
    columns_.clear();
    if (!folder_.empty()) (void)storage_->Delete(folder_);
  }

  absl::StatusOr<SalvagedRows> Run() {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table_.part(part_));
    if (info.num_rows > 0) all_ = {{0, info.num_rows}};
    kept_ = all_;
    Ranges unread = all_;  // the rows that no column has
    for (size_t i = 0; i < schema().columns.size() && !kept_.empty(); ++i) {
      CFILE_ASSIGN_OR_RETURN(SalvagedColumn column, Open(i));
      if (!CanBeNull(i)) kept_ = Without(kept_, column.missing);
      unread = Without(unread, Without(all_, column.missing));
      columns_.push_back(std::move(column));
    }
    kept_ = Without(kept_, unread);
    SalvagedRows result{.rows = CountOf(kept_)};
    for (size_t i = 0; i < columns_.size() && result.rows > 0; ++i) {
      const uint64_t values = CountOf(Without(kept_, columns_[i].missing));
      if (values < result.rows) {
        result.lost_values.emplace_back(schema().columns[i].name, result.rows - values);
      }
    }
    if (result.rows > 0 && !options_.dry_run) CFILE_RETURN_IF_ERROR(Write(info.name));
    return result;
  }

 private:
  const Schema& schema() const { return table_.schema(); }

  // True if lost values of the column become nulls. A column with a value index is not nullable.
  bool CanBeNull(size_t column) const {
    const Schema& all = schema();
    if (!options_.null_lost || !all.columns[column].nullable) return false;
    // A null in a group of records would say that the group is missing.
    const bool in_group =
        all.tree && all.tree->Path(all.tree->leaves()[column]) != all.tree->leaf(column).name;
    return !in_group && std::ranges::count(all.key_columns, column) == 0 && !all.IsOfRule(column);
  }

  // Opens a column if it is sound, or salvages it.
  absl::StatusOr<SalvagedColumn> Open(size_t column) {
    const absl::Status status = CheckFile(table_, part_, column);
    if (status.ok()) {
      CFILE_ASSIGN_OR_RETURN(Reader reader, table_.OpenColumn(part_, column));
      return SalvagedColumn{.file = std::move(reader), .missing = {}};
    }
    if (!SaysLost(status)) return status;
    auto salvaged = Salvage(column);
    if (SaysLost(salvaged.status())) return SalvagedColumn{.file = std::nullopt, .missing = all_};
    return salvaged;
  }

  absl::StatusOr<SalvagedColumn> Salvage(size_t column) {
    CFILE_ASSIGN_OR_RETURN(const std::string path, table_.part_file(part_, column));
    CFILE_ASSIGN_OR_RETURN(auto damaged, table_.OpenBytes(part_, column));
    std::string copy;
    std::unique_ptr<Sink> sink = std::make_unique<DiscardingSink>();
    if (!options_.dry_run) {
      if (folder_.empty()) {
        CFILE_ASSIGN_OR_RETURN(folder_, NewTemporaryFolderName());
      }
      copy = absl::StrCat(folder_, "/", column, ".cfile");
      CFILE_ASSIGN_OR_RETURN(sink, storage_->Create(copy));
    }
    CFILE_ASSIGN_OR_RETURN(SalvageReport report,
                           cfile::Salvage(std::move(damaged), std::move(sink),
                                          {.value_index = false, .reader = options_.reader}));
    const ColumnSchema& expected = schema().columns[column];
    const LevelLimits levels = report.info.has_levels() ? report.info.levels : LevelLimits();
    if (!FitsColumn(report.info.type, expected.type) || levels != expected.levels ||
        report.info.has_levels() != expected.has_levels() ||
        (!expected.has_levels() && report.info.nullable != expected.nullable)) {
      return DataLoss(path, ": this is the file of another column");
    }
    SalvagedColumn salvaged{.file = std::nullopt, .missing = std::move(report.missing)};
    // In a torn file, rows after the last row that was found may be missing.
    const uint64_t end = report.rows + CountOf(salvaged.missing);
    if (!all_.empty() && end < all_[0].end) salvaged.missing.push_back({end, all_[0].end});
    if (!options_.dry_run) {
      CFILE_ASSIGN_OR_RETURN(auto source, storage_->Open(copy));
      CFILE_ASSIGN_OR_RETURN(salvaged.file, Reader::Open(std::move(source), options_.reader));
    }
    return salvaged;
  }

  absl::Status Write(const std::string& name) {
    std::vector<WriterOptions> options(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      CFILE_ASSIGN_OR_RETURN(const BlockStatistics bounds, table_.part_bounds(part_, i));
      options[i].value_index = bounds.min_key.has_value() && bounds.min_exact;
      options[i].max_metadata_size_bytes = options_.reader.max_metadata_size_bytes;
      if (columns_[i].file) {  // a block that could be read can be written
        options[i].max_block_size_bytes =
            std::max(options[i].max_block_size_bytes,
                     ReaderAccess::File(*columns_[i].file)->options().max_block_size_bytes);
      }
    }
    CFILE_ASSIGN_OR_RETURN(TableWriter writer,
                           TableWriter::Replace(storage_, table_, {&name, 1}, options));
    for (size_t i = 0; i < columns_.size(); ++i) {
      CFILE_RETURN_IF_ERROR(CopyRows(i, TableWriterAccess::Column(writer, i)));
    }
    return writer.Finish();
  }

  absl::Status CopyRows(size_t i, AnyWriter& writer) const {
    const SalvagedColumn& column = columns_[i];
    std::unique_ptr<RowReader> reader;
    if (column.file) {
      CFILE_ASSIGN_OR_RETURN(reader, NewRowReader(*column.file));
    }
    ColumnBatch batch;
    OwnedValues no_values(encodings::LaneOf(schema().columns[i].type.physical()));
    no_values.Reset(kMaxBatchRows);
    const std::vector<uint8_t> nulls((kMaxBatchRows + 7) / 8);
    uint64_t missing = 0;  // rows before `row`
    auto gap = column.missing.begin();
    for (const OrdinalRange& range : kept_) {
      for (uint64_t row = range.begin; row < range.end;) {
        for (; gap != column.missing.end() && gap->end <= row; ++gap) missing += gap->size();
        const bool in_gap = gap != column.missing.end() && gap->begin <= row;
        const uint64_t end = gap == column.missing.end()
                                 ? range.end
                                 : std::min(range.end, in_gap ? gap->end : gap->begin);
        size_t count = static_cast<size_t>(std::min<uint64_t>(end - row, kMaxBatchRows));
        if (in_gap) {
          CFILE_RETURN_IF_ERROR(writer.Append(
              AnyBatch{.values = no_values.data(), .count = count, .validity = nulls.data()}));
        } else {
          const ChosenRows rows{.first = row - missing, .count = count};
          CFILE_ASSIGN_OR_RETURN(const size_t in_block, reader->Enter(rows));
          CFILE_ASSIGN_OR_RETURN(count, reader->Read(rows.Part(0, in_block), batch));
          CFILE_RETURN_IF_ERROR(schema().columns[i].has_levels() ? writer.Append(batch.levels)
                                                                 : writer.Append(batch.rows));
        }
        row += count;
      }
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<Storage>& storage_;
  const TableReader& table_;
  const size_t part_;
  const PartSalvageOptions& options_;
  std::string folder_;                   // for salvaged columns; empty: no column was salvaged
  std::vector<SalvagedColumn> columns_;  // without compound keys
  Ranges all_;                           // all rows of the part
  Ranges kept_;                          // the rows of the new part
};

}  // namespace

absl::StatusOr<SalvagedRows> SalvagePart(const std::shared_ptr<Storage>& storage,
                                         const TableReader& table, size_t part,
                                         const PartSalvageOptions& options) {
  return PartSalvager(storage, table, part, options).Run();
}

}  // namespace cfile::internal
