// Copies blocks of one file to a writer of another file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/read/block_fetcher.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/value_cursor.h"
#include "cfile/core/write/copied_block.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"
#include "cfile/untyped.h"

namespace cfile::internal {

// Counts the blocks that were copied.
struct CopyTotals {
  uint64_t blocks = 0;
  uint64_t bytes = 0;  // as stored
};

// Uses as much memory as a scan. Thread-compatible.
class BlockCopier {
 public:
  // `column`: the column that `to` writes.
  // `needs_keys`: true if the file that `to` writes has a value index.
  // `totals`: the copier adds the numbers of the copied blocks to it.
  // `same_dictionary`: see CopiedBlock.
  // `to` and `totals` must outlive the copier. Errors: those of Reader::NewCursor.
  static absl::StatusOr<std::unique_ptr<BlockCopier>> Create(const Reader& from,
                                                             const ColumnSchema& column,
                                                             bool needs_keys, AnyWriter& to,
                                                             CopyTotals& totals,
                                                             bool same_dictionary = false);

  struct Result {
    uint64_t copied_rows = 0;    // the rows from `begin` on that were copied
    uint64_t rows_to_write = 0;  // the next rows, which the caller must append
  };
  // Copies whole blocks from row `begin` on, up to the first block that cannot be copied. A block
  // cannot be copied if `begin` is inside the block, if the block has rows at or after `end`, or if
  // AnyWriter::Takes returns false. Preconditions: begin < end <= rows of the file; `begin` does
  // not decrease from call to call. kDataLoss: a block is damaged. Other errors: those of
  // AnyWriter::CopyBlock.
  absl::StatusOr<Result> Copy(uint64_t begin, uint64_t end);

 private:
  BlockCopier(std::shared_ptr<FileReader> file, std::unique_ptr<ValueCursor> keys, AnyWriter& to,
              CopyTotals& totals, bool same_dictionary);
  // Returns the value of a row in memcmp form. Precondition: keys_ is not null.
  absl::StatusOr<std::string> KeyOfRow(uint64_t row);
  // Goes to the first block.
  absl::Status Begin();
  absl::Status NextBlock();
  // Returns the pieces of the current block. No record: it has none, or they are not copied.
  absl::StatusOr<FoundPieces> PiecesOf(const BlockHead& head);
  // Copies the current block if the writer takes it.
  absl::StatusOr<bool> CopyBlock();

  const std::shared_ptr<FileReader> file_;   // null: no block of the file can be copied
  const std::unique_ptr<ValueCursor> keys_;  // null: no keys are needed
  AnyWriter& to_;
  CopyTotals& totals_;
  const bool same_dictionary_;
  std::shared_ptr<const FileStatistics> statistics_;  // null: the file has none
  BlockFetcher fetcher_;
  BlockBuffer buffer_;
  BlockBuffer pieces_buffer_;
  // The place, the number and the rows of the current block; no rows before the first one is
  // reached.
  IndexWalk walk_;
  IndexWalk next_;  // the block after the current one
  size_t number_ = 0;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace cfile::internal
