#include "tools/import/table_sorter.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "cfile/arrow.h"
#include "cfile/arrow_import.h"
#include "cfile/block_cache.h"
#include "cfile/compound_key.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "tools/import/row_order.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

struct KeyedOrdinal {
  std::string_view key;
  uint64_t ordinal;
};

// Reads the keys of the rows of a table, in portions that fit into the memory.
class KeyReader {
 public:
  // `input`: from where the rows came, for errors.
  KeyReader(TableScan scan, const std::string& input, const std::vector<std::string>& names,
            std::vector<KeyColumn> keys, size_t memory_bytes)
      : scan_(std::move(scan)),
        input_(input),
        names_(names),
        keys_(std::move(keys)),
        memory_bytes_(memory_bytes),
        key_(keys_) {}

  // Reads the next portion, which is empty after the last row.
  absl::Status Next(Progress& progress) {
    rows_.clear();
    key_bytes_.Clear();
    in_order_ = true;
    for (size_t bytes = 0; bytes < memory_bytes_;) {
      CFILE_ASSIGN_OR_RETURN(const TableBatch batch, scan_.Next());
      if (batch.empty()) return absl::OkStatus();
      CFILE_RETURN_IF_ERROR(progress.Update(0, batch.ordinal(0)));
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        CFILE_RETURN_IF_ERROR(MakeKey(batch, row));
        const std::string_view key = key_bytes_.Copy(key_.bytes());
        in_order_ &= rows_.empty() || rows_.back().key <= key;
        rows_.push_back({key, batch.ordinal(row)});
        bytes += sizeof(KeyedOrdinal) + key.size();
      }
    }
    return absl::OkStatus();
  }

  // The rows of the portion, which the caller may sort.
  std::vector<KeyedOrdinal>& rows() { return rows_; }
  bool in_order() const { return in_order_; }

 private:
  absl::Status MakeKey(const TableBatch& batch, size_t row) {
    key_.Clear();
    for (size_t i = 0; i < keys_.size(); ++i) {
      CFILE_RETURN_IF_ERROR(VisitType(keys_[i].type, [&]<typename T>(std::type_identity<T>) {
        return Add(batch.column<T>(i), i, batch.ordinal(row), row);
      }));
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status Add(const Batch<T>& values, size_t i, uint64_t ordinal, size_t row) {
    const auto wrong = [&](const char* what) {
      return absl::InvalidArgumentError(
          absl::StrCat(input_, ": row ", ordinal + 1, ": column ", Quoted(names_[i]), ": ", what));
    };
    if (!values.IsValid(row)) {
      if (!keys_[i].nullable) return wrong("a null, but the column is not nullable");
      key_.AddNull();
      return absl::OkStatus();
    }
    if (!IsKey(values.values[row])) {
      return wrong("nan, but rows are sorted by this column and nan has no order");
    }
    key_.Add<T>(values.values[row]);
    return absl::OkStatus();
  }

  TableScan scan_;
  const std::string& input_;
  const std::vector<std::string>& names_;
  const std::vector<KeyColumn> keys_;
  const size_t memory_bytes_;
  CompoundKey key_;
  std::vector<KeyedOrdinal> rows_;
  KeyBytes key_bytes_;  // of rows_
  bool in_order_ = true;
};

std::vector<KeyColumn> KeysOf(const Schema& schema, const std::vector<std::string>& sorted_by) {
  if (!schema.key_columns.empty()) return schema.key_types();
  return {{.type = schema.columns[*schema.Find(sorted_by[0])].type}};
}

// Appends the rows of a portion in the order of their keys.
absl::Status AppendRows(const TableReader& from, const std::vector<KeyedOrdinal>& rows,
                        TableWriter& to) {
  std::vector<uint64_t> ordinals;
  ordinals.reserve(rows.size());
  for (const KeyedOrdinal& row : rows) ordinals.push_back(row.ordinal);
  ArrowArrayStream stream;
  CFILE_RETURN_IF_ERROR(ExportArrowTake(from, std::move(ordinals), std::nullopt, {}, &stream));
  return AppendArrow(to, &stream);
}

// The blocks are small because a merge needs memory for four blocks of each run: it holds two, and
// reads two more ahead.
constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kRunBytes = 4 * kBlockBytes;
// A merge has up to two open files for each run.
constexpr size_t kMaxRuns = 128;

}  // namespace

absl::StatusOr<UnsortedTable> UnsortedTable::Create(const std::string& directory,
                                                    const Schema& schema,
                                                    std::vector<WriterOptions> column_options) {
  CFILE_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create(directory));
  UnsortedTable table(std::move(folder), directory);
  table.schema_ = schema;
  table.schema_.key_columns.clear();
  table.schema_.nulls_last.clear();
  table.schema_.merge_rule.reset();
  table.column_options_ = std::move(column_options);
  for (const WriterOptions& column : table.column_options_) {
    table.own_options_.push_back(TemporaryOptions(column));
  }
  return table;
}

absl::StatusOr<TableWriter> UnsortedTable::NewWriter() const {
  return TableWriter::Create(path(), schema_, own_options_);
}

absl::StatusOr<bool> UnsortedTable::AppendSortedTo(TableWriter& to, const std::string& input,
                                                   const std::vector<std::string>& sorted_by,
                                                   size_t memory_bytes, Progress& progress) const {
  CFILE_ASSIGN_OR_RETURN(
      const TableReader from,
      TableReader::Open(path(), {.max_block_size_bytes = own_options_[0].max_block_size_bytes,
                                 .max_metadata_size_bytes = own_options_[0].max_metadata_size_bytes,
                                 .record_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}}));
  CFILE_ASSIGN_OR_RETURN(TableScan scan, from.NewScan({.columns = sorted_by}));
  KeyReader reader(std::move(scan), input, sorted_by, KeysOf(to.schema(), sorted_by), memory_bytes);
  std::optional<SortedRuns> runs;
  for (uint64_t num_rows = 0; num_rows < from.num_rows();) {
    progress.Begin("reading keys", from.num_rows(), Progress::Unit::kRows);
    CFILE_RETURN_IF_ERROR(reader.Next(progress));
    num_rows += reader.rows().size();
    const bool is_whole = !runs.has_value() && num_rows == from.num_rows();
    if (is_whole && reader.in_order()) {
      ArrowArrayStream stream;
      CFILE_RETURN_IF_ERROR(ExportArrowStream(from, TableScanOptions{}, {}, &stream));
      CFILE_RETURN_IF_ERROR(AppendArrow(to, &stream));
      return false;
    }
    progress.Begin("sorting", 0);
    std::stable_sort(reader.rows().begin(), reader.rows().end(),
                     [](const auto& a, const auto& b) { return a.key < b.key; });
    if (is_whole) {
      CFILE_RETURN_IF_ERROR(AppendRows(from, reader.rows(), to));
      return true;
    }
    if (!runs.has_value()) {
      CFILE_ASSIGN_OR_RETURN(
          runs, SortedRuns::Create(directory_, to.schema(), column_options_, memory_bytes));
    }
    CFILE_ASSIGN_OR_RETURN(TableWriter run, runs->NewRun());
    CFILE_RETURN_IF_ERROR(AppendRows(from, reader.rows(), run));
    CFILE_RETURN_IF_ERROR(run.Finish());
  }
  if (!runs.has_value()) return false;  // there are no rows
  CFILE_RETURN_IF_ERROR(runs->MergeInto(to, progress));
  return true;
}

absl::StatusOr<SortedRuns> SortedRuns::Create(const std::string& directory, const Schema& schema,
                                              std::span<const WriterOptions> options,
                                              size_t memory_bytes) {
  SortedRuns runs;
  CFILE_ASSIGN_OR_RETURN(runs.folder_, TemporaryFolder::Create(directory));
  runs.schema_ = schema;
  runs.max_runs_ = std::clamp<size_t>(memory_bytes / kRunBytes, 2, kMaxRuns);
  for (const WriterOptions& column : options) {
    WriterOptions& run = runs.options_.emplace_back(TemporaryOptions(column));
    run.value_index = column.value_index;
    run.block_size_bytes = std::min(kBlockBytes, column.max_block_size_bytes / 2);
  }
  // Mapped files and cached blocks would take more memory than the merge needs.
  runs.reader_options_ = {.access = ReaderOptions::Access::kPread,
                          .block_cache = std::make_shared<BlockCache>(0),
                          .read_ahead_bytes = 2 * kBlockBytes,
                          .max_block_size_bytes = options[0].max_block_size_bytes,
                          .max_metadata_size_bytes = options[0].max_metadata_size_bytes,
                          .record_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};
  return runs;
}

absl::StatusOr<TableWriter> SortedRuns::NewRun() {
  if (groups_.empty() || groups_.back().num_runs == max_runs_) {
    groups_.push_back({folder_->Path(std::to_string(num_groups_++))});
  }
  Group& group = groups_.back();
  return group.num_runs++ == 0 ? TableWriter::Create(group.directory, schema_, options_)
                               : TableWriter::Open(group.directory, options_);
}

absl::Status SortedRuns::Merge(const Group& group, TableWriter& to, Progress& progress) const {
  CFILE_ASSIGN_OR_RETURN(const TableReader table,
                         TableReader::Open(group.directory, reader_options_));
  progress.Begin("merging", 0);
  uint64_t merged = 0;
  CFILE_RETURN_IF_ERROR(
      AppendMerged(table, to, [&](uint64_t rows) { return progress.Update(0, merged = rows); }));
  if (merged < table.num_rows()) {
    return absl::InvalidArgumentError(
        "several rows have the same key; because of the table's merge rule, the rows of a part "
        "must "
        "have different keys");
  }
  std::error_code ignored;
  std::filesystem::remove_all(group.directory, ignored);
  return absl::OkStatus();
}

absl::Status SortedRuns::MergeInto(TableWriter& to, Progress& progress) {
  while (groups_.size() > 1) {
    for (const Group& group : std::exchange(groups_, {})) {
      CFILE_ASSIGN_OR_RETURN(TableWriter run, NewRun());
      CFILE_RETURN_IF_ERROR(Merge(group, run, progress));
      CFILE_RETURN_IF_ERROR(run.Finish());
    }
  }
  return Merge(groups_[0], to, progress);
}

}  // namespace cfile::tools
