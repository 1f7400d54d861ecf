// Merges parts of a table into one, and removes rows.
#include "cfile/table_maintenance.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/parts/table/block_copier.h"
#include "cfile/parts/table/column_writer.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/merge/applied_rule.h"
#include "cfile/parts/table/merge/key_appender.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "cfile/parts/table/merge/merged_column.h"
#include "cfile/parts/table/sort_column.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::KeyRef;
using internal::Run;
using internal::TypeOf;

// The columns of the schema, and the key index.
size_t NumColumns(const Schema& schema) {
  return schema.columns.size() + schema.key_index().has_value();
}

class Compaction {
 public:
  // `chosen[part]`: true if the part is to be merged; empty: all parts are. `progress`: see
  // AppendMerged. `copies`: blocks may be copied. `choose`: null, or as in Compact; outlives this.
  Compaction(const TableReader& table, std::vector<bool> chosen, bool copies,
             MergeProgress progress = nullptr, KeptRows kept = KeptRows::kAll,
             const ChooseRows& choose = nullptr)
      : table_(table),
        chosen_(std::move(chosen)),
        by_key_(kept == KeptRows::kNewestOfKey || choose != nullptr || table.schema().merge_rule),
        copies_(copies && !by_key_),
        progress_(std::move(progress)) {
    if (choose == nullptr) return;
    choose_ = [this, &choose](std::span<const uint64_t> ordinals, std::vector<bool>& stay) {
      return choose(table_, ordinals, stay);
    };
  }

  // Call first. Returns the column by whose values the rows are merged (internal::SortColumn).
  // nullopt: the new part has the rows of the parts one after another.
  absl::StatusOr<std::optional<size_t>> Begin() {
    for (size_t part = 0; part < table_.num_parts(); ++part) {
      CFILE_ASSIGN_OR_RETURN(parts_.emplace_back(), table_.part(part));
    }
    if (chosen_.empty()) chosen_.resize(parts_.size(), true);
    return internal::SortColumn(table_, parts_);
  }

  // Under a merge rule: finds the newest rows that readers do not return, because their keys were
  // deleted or they are too old, and Write leaves them out. Finds none if an older part that stays
  // may have one of the keys, because that part's rows would be returned again.
  absl::Status LeaveOutGone() {
    const Schema& schema = table_.schema();
    if (!schema.merge_rule) return absl::OkStatus();
    const internal::AppliedRule rule(schema, table_.time_bound());
    if (rule.columns().empty()) return absl::OkStatus();
    const size_t first =
        static_cast<size_t>(std::find(chosen_.begin(), chosen_.end(), true) - chosen_.begin());
    size_t end = first;
    std::optional<std::string> least, greatest;  // of the keys of the chosen parts
    for (size_t part = parts_.size(); part-- > 0;) {
      if (part >= first && !chosen_[part]) continue;
      CFILE_ASSIGN_OR_RETURN(const BlockStatistics bounds,
                             table_.part_bounds(part, *schema.key_index()));
      if (!bounds.min_key || !bounds.max_key) continue;  // no rows
      if (part >= first) {
        end = std::max(end, part + 1);
        if (!least || *bounds.min_key < *least) least = bounds.min_key;
        if (!greatest || *bounds.max_key > *greatest) greatest = bounds.max_key;
      } else if (least && *bounds.min_key <= *greatest && *bounds.max_key >= *least) {
        return absl::OkStatus();
      }
    }
    if (first == end) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(
        TableScan scan,
        table_.NewScan({.columns = std::vector<std::string>(),
                        .where = rule.Gone(schema),
                        .range = {parts_[first].first_ordinal,
                                  parts_[end - 1].first_ordinal + parts_[end - 1].num_rows}}));
    gone_.resize(end);
    left_out_ = {*least, *greatest};
    size_t part = first;
    for (const auto& batch : scan.Batches()) {
      CFILE_RETURN_IF_ERROR(batch.status());
      while (batch->ordinal(0) - parts_[part].first_ordinal >= parts_[part].num_rows) ++part;
      for (size_t i = 0; i < batch->num_rows(); ++i) {
        const size_t row = static_cast<size_t>(batch->ordinal(i) - parts_[part].first_ordinal);
        // Grow with the rows that were found, because num_rows of a damaged part may be wrong.
        if (row >= gone_[part].size()) gone_[part].resize(std::max(row + 1, 2 * row));
        gone_[part][row] = true;
      }
    }
    return absl::OkStatus();
  }

  // Appends all columns of the chosen parts to `writer`. `sort_column`: the result of Begin.
  absl::Status Write(std::optional<size_t> sort_column, TableWriter& writer) {
    if (left_out_) internal::TableWriterAccess::LeavesOut(writer, *left_out_);
    if (by_key_) CFILE_RETURN_IF_ERROR(internal::CheckEqualKeysAreAdjacent(table_, sort_column));
    if (!sort_column) {
      for (size_t part = 0; part < parts_.size(); ++part) {
        if (chosen_[part] && parts_[part].num_rows > 0)
          runs_.push_back({part, 0, parts_[part].num_rows});
      }
      return CopyColumns(std::nullopt, writer);
    }
    return WriteSorted(*sort_column, nullptr, writer);
  }

  // Like Write. `low`: appends only rows whose value in the sort column, whose C++ type it has, is
  // at least *low. null: appends all rows.
  absl::Status WriteSorted(size_t sort_column, const void* low, TableWriter& writer) {
    CFILE_ASSIGN_OR_RETURN(const auto merge,
                           internal::KeyMerge::Create(table_, sort_column, chosen_));
    if (low != nullptr) CFILE_RETURN_IF_ERROR(merge->SeekToKey(low).status());
    if (copies_) {
      CFILE_ASSIGN_OR_RETURN(const bool whole, merge->RestOfParts(runs_));
      if (whole) {
        sort_column_ = sort_column;
        return CopyColumns(std::nullopt, writer);
      }
    }
    internal::KeyAppender keys(internal::TableWriterAccess::Column(writer, sort_column),
                               merge->type().physical(), {by_key_, gone_, choose_, parts_}, runs_);
    internal::KeyMerge::Rows rows;
    merges_ = true;
    do {
      runs_.clear();
      uint64_t num_rows = 0;
      do {
        CFILE_RETURN_IF_ERROR(merge->Next(kMaxBatchRows, rows));
        CFILE_RETURN_IF_ERROR(rows.keys.empty() ? keys.Finish() : keys.Append(rows));
        num_rows += rows.keys.size();
      } while (!rows.keys.empty() && num_rows < kMaxRows && runs_.size() < kMaxRuns);
      CFILE_RETURN_IF_ERROR(CopyColumns(sort_column, writer));
    } while (!rows.keys.empty());
    return absl::OkStatus();
  }

  // Call this function last, after writer.Finish.
  CompactReport Report(const TableWriter& writer) const {
    CompactReport report{
        .rows = num_rows_, .copied_blocks = copied_.blocks, .copied_bytes = copied_.bytes};
    for (size_t column = 0; column < NumColumns(table_.schema()); ++column) {
      for (const EncodingTotals& totals : writer.totals(column).encodings)
        report.recoded_blocks += totals.blocks;
    }
    report.recoded_blocks -= report.copied_blocks;
    return report;
  }

 private:
  // The rows are merged in groups of at most kMaxRuns runs, each a range of rows of one part, and
  // at most kMaxRows rows. kMaxRuns limits the memory. Both limits are large, because each column
  // reads the blocks at the border of two groups twice.
  static constexpr size_t kMaxRuns = size_t{1} << 19;
  static constexpr uint64_t kMaxRows = uint64_t{16} << 20;
  // Runs of at most kShortRun rows are read together, about kRowsAtOnce rows at a time.
  static constexpr uint64_t kShortRun = 64;
  static constexpr uint64_t kRowsAtOnce = 4096;

  template <typename Rows>
  static absl::Status Append(TableWriter& writer, size_t column, const Rows& rows) {
    return internal::TableWriterAccess::Column(writer, column).Append(rows);
  }

  absl::Status CopyColumns(std::optional<size_t> except, TableWriter& writer) {
    for (const Run& run : runs_) num_rows_ += run.count;
    for (size_t column = 0; column < table_.schema().columns.size(); ++column) {
      if (column == except) continue;
      if (progress_ != nullptr) CFILE_RETURN_IF_ERROR(progress_(num_rows_));
      CFILE_RETURN_IF_ERROR(CopyColumn(column, writer));
    }
    return progress_ != nullptr ? progress_(num_rows_) : absl::OkStatus();
  }

  // The file of a part from which a column is copied.
  struct OpenFile {
    std::unique_ptr<internal::RowReader> reader;
    std::unique_ptr<internal::BlockCopier> copier;  // null: blocks may not be copied
  };

  // Appends `count` rows of a file, from row `first` on.
  absl::Status WriteRows(size_t column, bool has_levels, uint64_t first, uint64_t count,
                         internal::RowReader& reader, TableWriter& writer) {
    while (count > 0) {
      const internal::ChosenRows rows{
          .first = first, .count = static_cast<size_t>(std::min<uint64_t>(count, kMaxBatchRows))};
      CFILE_ASSIGN_OR_RETURN(const size_t in_block, reader.Enter(rows));
      CFILE_ASSIGN_OR_RETURN(const size_t read, reader.Read(rows.Part(0, in_block), batch_));
      CFILE_RETURN_IF_ERROR(has_levels ? Append(writer, column, batch_.levels)
                                       : Append(writer, column, batch_.rows));
      first += read;
      count -= read;
    }
    return absl::OkStatus();
  }

  absl::Status CopyColumn(size_t column, TableWriter& writer) {
    const ColumnSchema& schema = table_.schema().columns[column];
    internal::MergedColumn merged(encodings::LaneOf(schema.type.physical()));
    std::vector<OpenFile> files(parts_.size());
    const auto open = [&](size_t part) -> absl::StatusOr<internal::RowReader*> {
      OpenFile& file = files[part];
      if (file.reader != nullptr) return file.reader.get();
      CFILE_ASSIGN_OR_RETURN(const Reader reader, table_.OpenColumn(part, column));
      CFILE_ASSIGN_OR_RETURN(file.reader, internal::NewRowReader(reader));
      if (copies_) {
        CFILE_ASSIGN_OR_RETURN(file.copier,
                               internal::BlockCopier::Create(
                                   reader, schema, column == sort_column_,
                                   internal::TableWriterAccess::Column(writer, column), copied_));
      }
      return file.reader.get();
    };
    for (size_t i = 0; i < runs_.size();) {
      const size_t begin = i;
      uint64_t rows = 0;  // of short runs
      while (merges_ && i < runs_.size() && runs_[i].count <= kShortRun && rows < kRowsAtOnce)
        rows += runs_[i++].count;
      if (rows > kShortRun && !schema.has_levels()) {
        const std::span<const Run> runs(runs_.data() + begin, i - begin);
        CFILE_RETURN_IF_ERROR(WriteShortRuns(column, runs, open, merged, writer));
      } else {
        i = begin + 1;
        CFILE_RETURN_IF_ERROR(open(runs_[begin].part).status());
        CFILE_RETURN_IF_ERROR(
            WriteRun(column, schema.has_levels(), runs_[begin], files[runs_[begin].part], writer));
      }
      // Frees the blocks of parts that were read to their ends.
      for (size_t run = begin; run < i; ++run) {
        if (runs_[run].begin + runs_[run].count == parts_[runs_[run].part].num_rows)
          files[runs_[run].part] = {};
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteRun(size_t column, bool has_levels, const Run& run, OpenFile& file,
                        TableWriter& writer) {
    const uint64_t end = run.begin + run.count;
    for (uint64_t row = run.begin; row < end;) {
      uint64_t count = end - row;
      if (file.copier != nullptr) {
        CFILE_ASSIGN_OR_RETURN(const auto copied, file.copier->Copy(row, end));
        row += copied.copied_rows;
        count = copied.rows_to_write;
      }
      CFILE_RETURN_IF_ERROR(WriteRows(column, has_levels, row, count, *file.reader, writer));
      row += count;
    }
    return absl::OkStatus();
  }

  // Reads the rows of each part together.
  absl::Status WriteShortRuns(size_t column, std::span<const Run> runs,
                              internal::MergedColumn::Readers readers,
                              internal::MergedColumn& merged, TableWriter& writer) {
    by_part_.Set(runs);
    internal::Places places;
    while (places.end < by_part_.num_rows()) {
      places = {places.end, by_part_.num_rows()};
      CFILE_RETURN_IF_ERROR(
          internal::MergedColumn::Enter(by_part_, readers, /*last=*/false, places));
      CFILE_RETURN_IF_ERROR(merged.Read(by_part_, readers, /*last=*/false, places));
      CFILE_RETURN_IF_ERROR(Append(writer, column, merged.batch(places)));
    }
    return absl::OkStatus();
  }

  const TableReader& table_;
  std::vector<bool> chosen_;
  internal::ChooseOfKey choose_;
  const bool by_key_;  // not all rows of a key are kept
  const bool copies_;
  bool merges_ = false;  // runs_ are those of a merge
  const MergeProgress progress_;
  // The sort column, if its blocks may be copied.
  std::optional<size_t> sort_column_;
  internal::ColumnBatch batch_;
  internal::RowsByPart by_part_;
  internal::CopyTotals copied_;
  std::vector<PartInfo> parts_;
  std::vector<std::vector<bool>> gone_;  // for each part, the rows that are left out
  std::optional<std::pair<std::string, std::string>> left_out_;  // the bounds of the keys
  std::vector<Run> runs_;  // the rows that are merged at this time, in the order of the new part
  uint64_t num_rows_ = 0;  // of the new part so far
};

// DropRowsBelow moves the rows that stay in the `chosen` parts to the place of the first of them.
// Also chooses the parts between whose keys may be equal to keys of such rows, because rows with
// equal keys keep the order of the parts. Returns false if no row of the chosen parts stays.
bool ChooseMovedPast(std::span<const BlockStatistics> bounds, const std::string& low,
                     std::vector<bool>& chosen) {
  const auto first = std::find(chosen.begin(), chosen.end(), true);
  std::optional<std::string> least, greatest;  // of the rows that move
  for (size_t part = chosen.size(); part-- > static_cast<size_t>(first - chosen.begin());) {
    if (!bounds[part].min_key || !bounds[part].max_key) continue;
    const std::string& max = *bounds[part].max_key;
    const std::string& min = std::max(*bounds[part].min_key, low);
    if (!chosen[part]) chosen[part] = least && min <= *greatest && max >= *least;
    if (!chosen[part] || max < low) continue;
    least = least ? std::min(*least, min) : min;
    greatest = greatest ? std::max(*greatest, max) : max;
  }
  return least.has_value();
}

// True if a part is packed and has more than `most` bytes.
absl::StatusOr<bool> IsPackedAbove(const TableReader& table, size_t part, size_t most) {
  CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(part));
  if (info.size_bytes <= most) return false;
  for (size_t column = 0; column < NumColumns(table.schema()); ++column) {
    CFILE_ASSIGN_OR_RETURN(const std::string file, table.part_file(part, column));
    if (file.starts_with(internal::PackedFilePath(info.name) + "/")) return true;
  }
  return false;
}

// What may be written may also be read.
ReaderOptions ReadingFor(std::span<const WriterOptions> options) {
  ReaderOptions reading{.stored_rows = true, .blocks_up_to_file_size = true};
  for (const WriterOptions& each : options) {
    reading.max_block_size_bytes =
        std::max(reading.max_block_size_bytes, each.max_block_size_bytes);
    reading.max_metadata_size_bytes =
        std::max(reading.max_metadata_size_bytes, each.max_metadata_size_bytes);
  }
  return reading;
}

}  // namespace

// Both functions Compact. `choose`: may be null.
static absl::StatusOr<CompactReport> CompactParts(const TableLocation& location,
                                                  std::span<const std::string> parts,
                                                  std::span<const WriterOptions> options,
                                                  KeptRows kept, const ChooseRows& choose) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(location, ReadingFor(options)));
  if (choose != nullptr && table.schema().merge_rule) {
    return absl::FailedPreconditionError(absl::StrCat(
        table.directory(), ": the table has a merge rule, which decides which rows stay"));
  }
  // Grows while parts are read, because num_parts() of a damaged table may be wrong.
  std::vector<bool> chosen;
  std::vector<std::string> names;
  std::string between;  // the part after the last chosen one
  absl::Status order;
  for (size_t part = 0; part < table.num_parts(); ++part) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(part));
    const std::string& name = info.name;
    chosen.push_back(parts.empty() || std::find(parts.begin(), parts.end(), name) != parts.end());
    if (!chosen.back()) {
      if (between.empty() && !names.empty()) between = name;
      continue;
    }
    if (!between.empty() && order.ok()) {
      order = absl::InvalidArgumentError(absl::StrCat(
          table.directory(), ": part ", between, " is between the parts ", names.back(), " and ",
          name, ". Name it, too, because rows with equal keys keep the order of the parts"));
    }
    names.push_back(name);
  }
  for (const std::string& name : parts) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return absl::NotFoundError(absl::StrCat(table.directory(), ": the table has no part ", name));
  }
  CFILE_RETURN_IF_ERROR(order);
  if (names.empty()) return CompactReport{};
  if (names.size() == 1 && kept == KeptRows::kAll && choose == nullptr &&
      !table.schema().merge_rule) {
    const auto part = std::find(chosen.begin(), chosen.end(), true) - chosen.begin();
    const size_t most = (options.empty() ? WriterOptions() : options[0]).max_packed_part_bytes;
    CFILE_ASSIGN_OR_RETURN(const bool unpacks,
                           IsPackedAbove(table, static_cast<size_t>(part), most));
    if (!unpacks) return CompactReport{};
  }
  Compaction compaction(table, chosen, /*copies=*/true, /*progress=*/nullptr, kept, choose);
  CFILE_ASSIGN_OR_RETURN(const std::optional<size_t> sort_column, compaction.Begin());
  CFILE_RETURN_IF_ERROR(compaction.LeaveOutGone());
  CFILE_ASSIGN_OR_RETURN(const auto each,
                         internal::OptionsOfNewPart(table, chosen, sort_column, options));
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Replace(location, table, names, each));
  CFILE_RETURN_IF_ERROR(compaction.Write(sort_column, writer));
  CFILE_RETURN_IF_ERROR(writer.Finish());
  return compaction.Report(writer);
}

absl::StatusOr<CompactReport> Compact(const TableLocation& location,
                                      std::span<const std::string> parts,
                                      std::span<const WriterOptions> options, KeptRows kept) {
  return CompactParts(location, parts, options, kept, nullptr);
}

absl::StatusOr<CompactReport> Compact(const TableLocation& location,
                                      std::span<const std::string> parts,
                                      std::span<const WriterOptions> options,
                                      const ChooseRows& choose) {
  CFILE_ASSERT(choose != nullptr);
  return CompactParts(location, parts, options, KeptRows::kAll, choose);
}

absl::Status AppendMerged(const TableReader& from, TableWriter& to, const MergeProgress& progress) {
  if (from.schema() != to.schema()) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.directory(), ": the table to which its rows are appended has another schema"));
  }
  if (from.applies_merge_rule() && from.time_bound()) {
    return absl::FailedPreconditionError(
        absl::StrCat(from.directory(),
                     ": rows below the table's bound of times would count again in "
                     "another table, unless it is opened with ReaderOptions::stored_rows"));
  }
  Compaction compaction(from, {}, /*copies=*/false, progress);
  CFILE_ASSIGN_OR_RETURN(const std::optional<size_t> sort_column, compaction.Begin());
  return compaction.Write(sort_column, to);
}

// DropRowsBelow for a key of a C++ type. `holds_type`: HoldsType of this C++ type.
static absl::Status DropBelow(const TableLocation& location, size_t column, const void* low_key,
                              internal::HoldsFunction* holds_type,
                              std::span<const WriterOptions> options) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(location, ReadingFor(options)));
  CFILE_ASSERT(column < table.schema().columns.size() || column == table.schema().key_index());
  const ColumnType type = TypeOf(table.schema(), column);
  // Another program may have widened the column since the caller has opened the table.
  if (!holds_type(type)) {
    return absl::InvalidArgumentError(
        absl::StrCat(table.directory(), ": the column holds ", type.ToString(),
                     ", with which a value of this C++ type cannot be compared"));
  }
  const KeyRef key{low_key, type.physical()};
  if (!internal::IsKey(key))
    return absl::InvalidArgumentError(absl::StrCat(table.directory(), ": NaN cannot be a key"));
  const void* const first_key = internal::FirstEqualKey(key);
  std::string low;
  internal::AppendKey(KeyRef{first_key, key.type}, low);
  std::vector<BlockStatistics> bounds;
  std::vector<bool> chosen;
  for (size_t part = 0; part < table.num_parts(); ++part) {
    CFILE_ASSIGN_OR_RETURN(bounds.emplace_back(), table.part_bounds(part, column));
    // Without a value index, bounds may be inexact: return the error below.
    chosen.push_back(bounds[part].min_key && bounds[part].max_key && *bounds[part].min_key < low);
  }
  const bool all_below = !ChooseMovedPast(bounds, low, chosen);
  std::vector<std::string> names;
  for (size_t part = 0; part < chosen.size(); ++part) {
    if (!chosen[part]) continue;
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(part));
    names.push_back(info.name);
  }
  Compaction compaction(table, chosen, /*copies=*/true);
  CFILE_ASSIGN_OR_RETURN(const std::optional<size_t> sort_column, compaction.Begin());
  if (table.num_rows() > 0 && sort_column != column) {
    return absl::FailedPreconditionError(absl::StrCat(
        table.directory(),
        ": the table is not sorted by this column: it is neither the key index nor the "
        "first column with a value index in each part"));
  }
  if (names.empty()) return absl::OkStatus();
  // No part keeps a row below the key that these parts may have replaced.
  if (all_below) return DropParts(location, names, ReadingFor(options));
  CFILE_ASSIGN_OR_RETURN(const auto each,
                         internal::OptionsOfNewPart(table, chosen, column, options));
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Replace(location, table, names, each));
  CFILE_RETURN_IF_ERROR(compaction.WriteSorted(column, first_key, writer));
  return writer.Finish();
}

template <typename T, typename>
absl::Status DropRowsBelow(const TableLocation& location, size_t column, const T& key,
                           std::span<const WriterOptions> options) {
  return DropBelow(
      location, column, &key, [](const ColumnType& type) { return HoldsType<T>(type); }, options);
}

#define CFILE_INSTANTIATE(T)                                                     \
  template absl::Status DropRowsBelow<T>(const TableLocation&, size_t, const T&, \
                                         std::span<const WriterOptions>);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
