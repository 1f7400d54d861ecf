// Merges the rows of a table's parts by one column, in which each part is sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/read/value_cursor.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "encodings/core/lane.h"

namespace cfile::internal {

// Consecutive rows of a part.
struct Run {
  size_t part;     // its number in the table
  uint64_t begin;  // a row of the part
  uint64_t count;
};

// The type of a column or of the key index.
inline ColumnType TypeOf(const Schema& schema, size_t column) {
  return column == schema.key_index() ? ColumnType::Binary() : schema.columns[column].type;
}

// A position between two rows. The rows are in the order of their keys (-0 comes before 0); rows
// with equal keys are in the order of the parts and, in a part, of their ordinals.
//
// A `void*` key has the column's C++ type and is not NaN. A part's file is opened when the merge
// reaches the least key of the part (backwards: the greatest), or searches in the part. Errors:
// those of reading a table. kDataLoss: also if a file does not have the bounds that table.cft says.
// After an error the position is unchanged. Thread-compatible.
class KeyMerge {
 public:
  // At the first row. `column`: has values, not levels. `chosen[part]`: true if the part is merged;
  // if `chosen` is empty, all parts are. kFailedPrecondition: a chosen part with rows has no value
  // index of the column.
  static absl::StatusOr<std::unique_ptr<KeyMerge>> Create(const TableReader& table, size_t column,
                                                          const std::vector<bool>& chosen);
  absl::StatusOr<std::unique_ptr<KeyMerge>> Clone() const;

  const ColumnType& type() const { return type_; }

  // Goes to the first row of the range whose key is not less than `key`. Returns true if it equals
  // `key`. Only searches; reads no keys.
  absl::StatusOr<bool> SeekToKey(const void* key);
  // From now on, the rows are those whose key is at least *low and less than *high; null: no bound.
  // Goes to the first of them.
  absl::Status SeekToKeyRange(const void* low, const void* high);
  // Goes to the end of the range.
  absl::Status SeekToEnd();

  struct Rows {
    std::vector<Run> runs;
    AnyBatch keys;  // one per row; valid until the next call
  };
  // Passes over the next rows, and sets `rows` to them: at least 1 unless the merge is at the end
  // of the range, at most `max_rows`. Precondition: max_rows > 0.
  absl::Status Next(size_t max_rows, Rows& rows) { return Merge(true, max_rows, rows); }
  // The same with the rows before the position. `rows` are in the order of their keys, too.
  absl::Status Previous(size_t max_rows, Rows& rows) { return Merge(false, max_rows, rows); }

  // If no row of a part belongs between rows of another part, sets `runs` to the rows after the
  // position, part by part, and returns true. Reads the least and the greatest key of these parts.
  // Returns false also if a file has no positional index. Call before Next.
  absl::StatusOr<bool> RestOfParts(std::vector<Run>& runs);

  // Passes back over all but `count` of `rows`, which the last call has set: the last ones after
  // Next, the first ones after Previous.
  void Keep(size_t count, Rows& rows);

  // The number in the table of the first row of a chosen part.
  uint64_t FirstOrdinal(size_t part) { return PartOf(part).first_ordinal; }
  // For readers of other columns of a chosen part. The merge closes them when it closes the part.
  std::vector<std::unique_ptr<RowReader>>& ReadersOf(size_t part) { return PartOf(part).readers; }

 private:
  struct Part {
    size_t number;
    uint64_t first_ordinal;
    uint64_t num_rows;
    OwnedKey least = {}, greatest = {};  // the bounds in table.cft
    std::unique_ptr<ValueCursor> keys = nullptr;
    uint64_t row = 0;      // the first row of the part after the position
    AnyBatch window = {};  // keys that were read; first_ordinal is a row of the part
    std::vector<std::unique_ptr<RowReader>> readers = {};
  };
  // The next row of a part.
  struct Head {
    const void* key;
    Part* part;
  };

  KeyMerge(const TableReader& table, size_t column, std::vector<bool> chosen);

  // The order in which Merge returns rows.
  bool Before(const Head& a, const Head& b) const {
    const Head& first = forward_ ? a : b;
    const Head& second = forward_ ? b : a;
    return first.part->number < second.part->number ? !less_(second.key, first.key)
                                                    : less_(first.key, second.key);
  }
  bool HasRow(const Part& part) const { return forward_ ? part.row < part.num_rows : part.row > 0; }
  uint64_t HeadRow(const Part& part) const { return forward_ ? part.row : part.row - 1; }
  bool InWindow(const Part& part) const {
    return HeadRow(part) - part.window.first_ordinal < part.window.count;
  }
  // The key of a row in the window.
  const void* KeyAt(const Part& part, uint64_t row) const {
    return encodings::ValueAt(part.window.values, lane_,
                              static_cast<size_t>(row - part.window.first_ordinal));
  }
  // The key of the next row; null if it must be read. The bound in table.cft stands for the first
  // row of a part that is not open.
  const void* HeadKey(const Part& part) const;
  // True if a key is outside of the range.
  bool IsBeyond(const void* key) const {
    return forward_ ? high_ && !less_(key, high_->value()) : low_ && less_(key, low_->value());
  }

  // Goes to the first row that is not less than `key`. null: to the first row of the table.
  absl::StatusOr<bool> GoTo(const void* key);
  absl::StatusOr<bool> GoInPart(const void* key, Part& part);

  absl::Status Merge(bool forward, size_t max_rows, Rows& rows);
  // Sets heads_ for a direction.
  absl::Status Begin(bool forward, size_t max_rows);
  // Adds the part to heads_. Precondition: HeadKey is not null.
  void Insert(Part& part);
  Part& PartOf(size_t number);

  absl::Status Open(Part& part);
  void CloseSome();
  absl::Status GoToRow(Part& part);
  // Reads the part's next keys, at most `max_rows`.
  absl::Status Fill(size_t max_rows, Part& part);
  // True if the keys of `rows` are between the bounds of the part in table.cft. If `rows` has the
  // part's first or last row, its key must also be equal to the bound. Precondition: `rows` are
  // consecutive rows of the part, at least one.
  bool HaveBounds(const AnyBatch& rows, const Part& part) const;
  absl::Status WrongBounds(const Part& part) const;

  const TableReader table_;
  const size_t column_;
  const std::vector<bool> chosen_;
  const ColumnType type_;
  const encodings::Lane lane_;
  const LessFunction less_;
  std::vector<Part> parts_;  // those with rows
  std::vector<Head> order_;  // the parts by their least keys
  size_t num_open_ = 0;
  std::shared_ptr<const OwnedKey> low_, high_;  // the range

  bool forward_ = true;
  bool has_heads_ = false;   // heads_ are those of forward_
  std::vector<Head> heads_;  // the last one comes first
  Part* unread_ = nullptr;   // a part whose next row is in no window, so it is not in heads_
  OwnedKey sought_;
  std::vector<uint64_t> rows_before_;  // of the seek that is running
  std::vector<std::byte> keys_;        // of the last rows
};

}  // namespace cfile::internal
