// Merges parts of a table into one.
#include "cfile/table_maintenance.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/read/row_reader.h"
#include "cfile/key_cursor.h"
#include "cfile/table.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

// Consecutive rows of one part.
struct Run {
  size_t part;
  uint64_t begin;  // a row of the part
  uint64_t count;
};

template <typename T>
absl::Status AppendBatch(TableWriter& writer, size_t column, const Batch<T>& batch) {
  if (batch.validity == nullptr) return writer.Append<T>(column, batch.values);
  return writer.Append<T>(column, batch.values, std::span(batch.validity, (batch.size() + 7) / 8));
}

class Compaction {
 public:
  // `chosen[part]`: whether to merge the part.
  Compaction(const TableReader& table, std::vector<bool> chosen)
      : table_(table), chosen_(std::move(chosen)) {}

  // Returns the column by whose values the rows are merged: the key index, or the first column that
  // has a value index in all chosen parts with rows. nullopt: the parts are put one after another.
  std::optional<size_t> SortColumn() const {
    if (const std::optional<size_t> key_index = table_.schema().key_index()) return key_index;
    for (size_t column = 0; column < table_.schema().columns.size(); ++column) {
      bool all = true;
      bool any = false;
      for (size_t part = 0; part < table_.num_parts(); ++part) {
        const BlockStatistics bounds = table_.part_bounds(part, column);
        if (table_.part(part).num_rows == 0) continue;
        all &= bounds.min_key.has_value();
        any = true;
      }
      if (all && any) return column;
    }
    return std::nullopt;
  }

  // Appends all columns of the chosen parts to `writer`.
  absl::Status Write(std::optional<size_t> sort_column, TableWriter& writer) {
    CFILE_RETURN_IF_ERROR(sort_column ? MergeKeys(*sort_column, writer) : PutInARow());
    for (size_t column = 0; column < table_.schema().columns.size(); ++column) {
      if (column == sort_column) continue;
      CFILE_RETURN_IF_ERROR(CopyColumn(column, writer));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status PutInARow() {
    for (size_t part = 0; part < table_.num_parts(); ++part) {
      if (chosen_[part]) runs_.push_back({part, 0, table_.part(part).num_rows});
    }
    return absl::OkStatus();
  }

  // Appends the values of the sort column in their order, and sets runs_.
  absl::Status MergeKeys(size_t column, TableWriter& writer) {
    const ColumnType type = column == table_.schema().key_index()
                                ? ColumnType::Binary()
                                : table_.schema().columns[column].type;
    return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
      CFILE_ASSIGN_OR_RETURN(KeyCursor<T> cursor, table_.NewKeyCursor<T>(column));
      size_t part = 0;
      while (true) {
        CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, cursor.Next(kMaxBatchRows));
        if (batch.empty()) return absl::OkStatus();
        // The part of the last run is often that of the next one.
        PartInfo info = table_.part(part);
        if (batch.first_ordinal < info.first_ordinal ||
            batch.first_ordinal >= info.first_ordinal + info.num_rows) {
          part = PartOf(batch.first_ordinal);
          info = table_.part(part);
        }
        if (!chosen_[part]) continue;
        const uint64_t begin = batch.first_ordinal - info.first_ordinal;
        if (!runs_.empty() && runs_.back().part == part &&
            runs_.back().begin + runs_.back().count == begin) {
          runs_.back().count += batch.size();
        } else {
          runs_.push_back({part, begin, batch.size()});
        }
        CFILE_RETURN_IF_ERROR(AppendBatch(writer, column, batch));
      }
    });
  }

  size_t PartOf(uint64_t ordinal) const {
    size_t low = 0;
    size_t high = table_.num_parts();
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (table_.part(middle).first_ordinal <= ordinal ? low : high) = middle;
    }
    return low;
  }

  absl::Status CopyColumn(size_t column, TableWriter& writer) const {
    const ColumnSchema& schema = table_.schema().columns[column];
    return VisitType(schema.type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
      std::vector<std::unique_ptr<internal::RowReader>> readers(table_.num_parts());
      internal::ColumnBatch batch;
      for (const Run& run : runs_) {
        std::unique_ptr<internal::RowReader>& reader = readers[run.part];
        if (reader == nullptr && run.count > 0) {
          CFILE_ASSIGN_OR_RETURN(const Reader file, table_.OpenColumn(run.part, column));
          CFILE_ASSIGN_OR_RETURN(reader, internal::NewRowReader<T>(file));
        }
        for (uint64_t done = 0; done < run.count;) {
          const internal::ChosenRows rows{
              .first = run.begin + done,
              .count = static_cast<size_t>(std::min<uint64_t>(run.count - done, kMaxBatchRows))};
          CFILE_ASSIGN_OR_RETURN(const size_t in_block, reader->Enter(rows));
          CFILE_ASSIGN_OR_RETURN(const size_t count, reader->Read(rows.Part(0, in_block), batch));
          if (schema.has_levels()) {
            const auto& levels = std::get<LevelBatch<T>>(batch);
            CFILE_RETURN_IF_ERROR(writer.AppendLevels<T>(column, levels.repetition,
                                                         levels.definition, levels.values));
          } else {
            CFILE_RETURN_IF_ERROR(AppendBatch(writer, column, std::get<Batch<T>>(batch)));
          }
          done += count;
        }
        // Frees the block of a part that was read to its end.
        if (run.begin + run.count == table_.part(run.part).num_rows) reader.reset();
      }
      return absl::OkStatus();
    });
  }

  const TableReader& table_;
  const std::vector<bool> chosen_;
  std::vector<Run> runs_;  // the rows of the new part, in its order
};

}  // namespace

absl::Status Compact(const std::string& directory, std::span<const std::string> parts,
                     std::span<const WriterOptions> options) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(directory));
  std::vector<bool> chosen(table.num_parts(), parts.empty());
  std::vector<std::string> names;
  for (size_t part = 0; part < table.num_parts(); ++part) {
    const std::string name = table.part(part).name;
    if (std::find(parts.begin(), parts.end(), name) != parts.end()) chosen[part] = true;
    if (chosen[part]) names.push_back(name);
  }
  for (const std::string& name : parts) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return absl::NotFoundError(absl::StrCat(directory, ": the table has no part ", name));
  }
  if (names.size() < 2) return absl::OkStatus();
  Compaction compaction(table, std::move(chosen));
  const std::optional<size_t> sort_column = compaction.SortColumn();
  std::vector<WriterOptions> each(options.begin(), options.end());
  const size_t num_columns = table.schema().columns.size();
  if (each.empty()) each.resize(num_columns);
  if (each.size() == 1) each.resize(num_columns, each[0]);
  // Only the column by which the parts are merged stays sorted.
  for (size_t column = 0; column < each.size(); ++column)
    each[column].value_index = column == sort_column;
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Replace(directory, names, each));
  CFILE_RETURN_IF_ERROR(compaction.Write(sort_column, writer));
  return writer.Finish();
}

}  // namespace cfile
