// How two columns differ, for cfile-dump diff: in their rows, and in how they are stored.
//
// Finds the rows in which two columns differ. Values are equal if their bits are: -0.0 is not 0.0,
// and NaNs with different payloads differ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/status.h"
#include "cfile/types.h"
#include "tools/columns/stored_column.h"

namespace cfile::tools {

// An entry of a column with levels, or a row of a column without levels.
template <typename T>
struct Entry {
  uint16_t repetition = 0;   // repetition level; 0 in a column without levels
  uint16_t definition = 0;   // definition level; 0 in a column without levels
  const T* value = nullptr;  // nullptr: the entry holds no value
};

// A row that differs.
template <typename T>
struct RowDifference {
  uint64_t row = 0;
  // In a column with levels: the number of the first entry in the record that differs. One of the
  // two records may be shorter and have no entry with this number.
  uint64_t entry = 0;
  bool in_a = true, in_b = true;  // whether the records have the entry
  Entry<T> a, b;
};

template <typename T>
bool SameBits(const T& a, const T& b) {
  if constexpr (kIsBytes<T> || std::is_same_v<T, bool>) {
    return a == b;
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

template <typename T>
bool SameEntry(const Entry<T>& a, const Entry<T>& b) {
  if (a.repetition != b.repetition || a.definition != b.definition) return false;
  if (a.value == nullptr || b.value == nullptr) return a.value == b.value;
  return SameBits(*a.value, *b.value);
}

// The rows of a column, one after another.
template <typename T>
class EntryReader {
 public:
  // `max_definition`: the definition level of entries that hold a value; ignored without levels.
  EntryReader(RowReader<T> rows, bool has_levels, uint16_t max_definition)
      : reader_(std::move(rows)), has_levels_(has_levels), max_definition_(max_definition) {}

  // Reads more rows if no entry is left in memory. If no entry is left afterwards, the column has
  // ended.
  absl::Status Fill() {
    if (at_ < rows_.size()) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(rows_, reader_(kMaxBatchRows));
    at_ = value_ = 0;
    return absl::OkStatus();
  }
  size_t left() const { return rows_.size() - at_; }
  // Preconditions of all functions below: left() > 0.
  Entry<T> entry() const {
    if (!has_levels_) {
      const Batch<T>& flat = rows_.flat;
      return {.value = flat.IsValid(at_) ? &flat.values[at_] : nullptr};
    }
    const LevelBatch<T>& levels = rows_.levels;
    return {.repetition = levels.repetition.empty() ? uint16_t{0} : levels.repetition[at_],
            .definition = levels.definition.empty() ? uint16_t{0} : levels.definition[at_],
            .value = is_present() ? &levels.values[value_] : nullptr};
  }
  bool begins_record() const {
    return rows_.levels.repetition.empty() || rows_.levels.repetition[at_] == 0;
  }
  void Advance() {
    if (has_levels_ && is_present()) ++value_;
    ++at_;
  }
  // Only without levels: the next `count` rows if they have no nulls, otherwise an empty span.
  std::span<const T> NextValues(size_t count) const {
    const Batch<T>& flat = rows_.flat;
    if (flat.null_count > 0) return {};
    return flat.values.subspan(at_, count);
  }
  void Skip(size_t count) { at_ += count; }

 private:
  bool is_present() const {
    const LevelBatch<T>& levels = rows_.levels;
    return levels.definition.empty() || levels.definition[at_] == max_definition_;
  }

  const RowReader<T> reader_;
  const bool has_levels_;
  const uint16_t max_definition_;
  Rows<T> rows_;
  size_t at_ = 0;  // the index of the current entry in rows_
  // The index in rows_.levels.values of the first value that no earlier entry holds.
  size_t value_ = 0;
};

// Compares flat columns. Calls report(difference) for each row that differs, and progress(rows)
// with the number of rows that were compared since the last call.
template <typename T, typename Report, typename OnProgress>
absl::Status CompareFlat(EntryReader<T>& a, EntryReader<T>& b, Report report, OnProgress progress) {
  for (uint64_t row = 0;;) {
    CFILE_RETURN_IF_ERROR(a.Fill());
    CFILE_RETURN_IF_ERROR(b.Fill());
    const size_t count = std::min(a.left(), b.left());
    if (count == 0) return absl::OkStatus();
    bool same = false;
    if constexpr (std::is_trivially_copyable_v<T> && !kIsBytes<T>) {
      const std::span<const T> values_a = a.NextValues(count), values_b = b.NextValues(count);
      same = !values_a.empty() && !values_b.empty() &&
             std::memcmp(values_a.data(), values_b.data(), values_a.size_bytes()) == 0;
    }
    if (same) {
      a.Skip(count);
      b.Skip(count);
    }
    for (size_t i = 0; i < count && !same; ++i) {
      const Entry<T> entry_a = a.entry(), entry_b = b.entry();
      if (!SameEntry(entry_a, entry_b)) {
        report(RowDifference<T>{.row = row + i, .a = entry_a, .b = entry_b});
      }
      a.Advance();
      b.Advance();
    }
    row += count;
    CFILE_RETURN_IF_ERROR(progress(count));
  }
}

// Compares columns with levels, whose rows have any number of entries.
template <typename T, typename Report, typename OnProgress>
absl::Status CompareLevels(EntryReader<T>& a, EntryReader<T>& b, Report report,
                           OnProgress progress) {
  constexpr uint64_t kProgressRows = 4096;
  for (uint64_t row = 0;; ++row) {
    bool differs = false;
    for (uint64_t entry = 0;; ++entry) {
      CFILE_RETURN_IF_ERROR(a.Fill());
      CFILE_RETURN_IF_ERROR(b.Fill());
      const bool in_a = a.left() > 0 && (entry == 0 || !a.begins_record());
      const bool in_b = b.left() > 0 && (entry == 0 || !b.begins_record());
      if (!in_a && !in_b) {
        if (entry == 0) return progress(row % kProgressRows);
        break;
      }
      RowDifference<T> found{.row = row, .entry = entry, .in_a = in_a, .in_b = in_b};
      if (in_a) found.a = a.entry();
      if (in_b) found.b = b.entry();
      if (!differs && (in_a != in_b || !SameEntry(found.a, found.b))) {
        differs = true;
        report(found);
      }
      if (in_a) a.Advance();
      if (in_b) b.Advance();
    }
    if ((row + 1) % kProgressRows == 0) CFILE_RETURN_IF_ERROR(progress(kProgressRows));
  }
}

// Compares the first `num_rows` rows of two columns. Calls report(difference) for each row that
// differs; its pointers are valid during this call. Memory: two blocks.
// Errors: those of ReadRows and RowReader::Next, and the errors of `progress`.
// Preconditions: both columns hold T, and both or none have levels, with the same limits.
template <typename T, typename Report, typename OnProgress>
absl::Status CompareRows(const StoredColumn& a, const StoredColumn& b, uint64_t num_rows,
                         Report report, OnProgress progress) {
  CFILE_ASSIGN_OR_RETURN(auto rows_a, ReadRows<T>(a, {0, num_rows}));
  CFILE_ASSIGN_OR_RETURN(auto rows_b, ReadRows<T>(b, {0, num_rows}));
  EntryReader<T> entries_a(std::move(rows_a), a.has_levels, a.schema.levels.max_definition);
  EntryReader<T> entries_b(std::move(rows_b), b.has_levels, b.schema.levels.max_definition);
  return a.has_levels ? CompareLevels(entries_a, entries_b, report, progress)
                      : CompareFlat(entries_a, entries_b, report, progress);
}

using Properties = std::vector<std::pair<std::string, std::string>>;  // name, text

// The type, whether there may be nulls, and the levels.
Properties SchemaOf(const StoredColumn& column);

// The number of files, their size, versions, codecs and encodings; the number and the sizes of
// blocks; which indexes, statistics and other optional parts the files have; the metadata; and the
// programs that wrote the files. Reads all blocks. Errors: those of VisitBlocks and
// TableReader::OpenColumn.
absl::StatusOr<Properties> LayoutOf(const StoredColumn& column);

}  // namespace cfile::tools
