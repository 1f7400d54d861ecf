// Reads chosen rows of one file, for scans of several columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/block_fetcher.h"
#include "cfile/parts/scan/row_sink.h"
#include "cfile/reader.h"

namespace cfile::internal {

// Ascending rows of a file: consecutive ones, or those of an array. A view.
struct ChosenRows {
  uint64_t first = 0;              // the first row, if `rows` is null
  const uint64_t* rows = nullptr;  // one per row
  size_t count = 0;

  uint64_t row(size_t i) const { return rows == nullptr ? first + i : rows[i]; }
  // The rows with the indexes begin to begin + part_count - 1.
  ChosenRows Part(size_t begin, size_t part_count) const {
    return {first + begin, rows == nullptr ? nullptr : rows + begin, part_count};
  }
};

// The values of one column: `rows` of a column without levels, else `levels`.
struct ColumnBatch {
  AnyBatch rows;
  AnyLevelBatch levels;
};

// Thread-compatible. Keeps the file open. After an error a call may be repeated. Errors as
// Cursor::Next. Precondition of all functions: the rows are rows of the file, at least one.
class RowReader {
 public:
  virtual ~RowReader() = default;

  // Says which rows the next calls will read, so that their blocks can be read in advance, within
  // the limits of `ahead`. `all`: true if all of `rows` will be read (as always if `rows` is an
  // array), false if maybe only the first of them. `possible`: other rows that may be read after
  // `rows`. Their blocks are also read in advance, as long as all blocks turn out to be needed.
  // rows.rows must stay valid until the next call of Expect, or until the last call of Enter or
  // EnterLast. Without a call of Expect, blocks are read in advance as for a scan.
  virtual void Expect(const ChosenRows& rows, const OrdinalRange& possible, const ReadAhead& ahead,
                      bool all) = 0;

  // Begins to read the block that Enter, or EnterLast if `last` is true, will open for `rows`.
  // Does nothing if the source cannot read in the background.
  virtual void Begin(const ChosenRows& rows, bool last) = 0;

  virtual bool reads_in_background() const = 0;
  // True if the blocks of all expected rows were begun, or if this is likely.
  virtual bool has_all_begun() const = 0;

  // Opens the block with the first of `rows`, and returns how many of the first rows are in it: at
  // least 1.
  virtual absl::StatusOr<size_t> Enter(const ChosenRows& rows) = 0;

  // As Enter, for the last rows.
  virtual absl::StatusOr<size_t> EnterLast(const ChosenRows& rows) = 0;

  // From now on, Read adds the rows to `sink` and does not set the batch. It first removes the rows
  // from the sink that were added but not kept.
  void SetSink(RowSink* sink) { sink_ = sink; }

  // Reads the first of `rows`, and returns how many: at least 1, at most kMaxBatchRows. Sets
  // `batch`, which is valid until the next call. Precondition: Enter or EnterLast has opened the
  // block of all of `rows`.
  virtual absl::StatusOr<size_t> Read(const ChosenRows& rows, ColumnBatch& batch) = 0;

  // Returns the number of data blocks that were opened since the last call.
  uint64_t TakeBlocksRead() { return std::exchange(blocks_read_, 0); }

 protected:
  uint64_t blocks_read_ = 0;
  RowSink* sink_ = nullptr;
};

// Returns a reader of the rows of `reader`. Errors as Reader::NewCursor and Reader::NewLevelCursor.
absl::StatusOr<std::unique_ptr<RowReader>> NewRowReader(const Reader& reader);

// Removes all rows but the first `count` from `batch`. Precondition: it has at least `count` rows.
// `max_definition`: the maximum definition level of a column with levels.
void Truncate(size_t count, uint16_t max_definition, ColumnBatch& batch);
void Truncate(size_t count, AnyBatch& batch);
void Truncate(size_t count, uint16_t max_definition, AnyLevelBatch& batch);

}  // namespace cfile::internal
