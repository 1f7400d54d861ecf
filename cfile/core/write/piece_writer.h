// Writes the piece tables of a file, and their directory (cfile/core/format/piece_table.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/block_appender.h"
#include "cfile/core/format/piece_table.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// Collects the records of data blocks in memory, and writes a table when it is full. Call Add for
// data blocks in their order. Thread-compatible.
class PieceWriter {
 public:
  // `max_block_size_bytes`: the limit for a table, and for the directory.
  explicit PieceWriter(size_t max_block_size_bytes) : max_block_size_bytes_(max_block_size_bytes) {}

  // Adds a record. Does nothing if it has no pieces, if its block is small, if the pieces take more
  // than an eighth of the bytes of the block (because the keys are long), or if the directory has
  // no room for another table. The block was just written.
  absl::Status Add(const PieceRecord& record, BlockAppender& appender);

  // Writes the last table and the directory. Returns the place of the directory; nullopt if no
  // block has pieces.
  absl::StatusOr<std::optional<BlockPointer>> Finish(BlockAppender& appender);

  size_t memory_usage_bytes() const { return table_.capacity() + directory_.capacity(); }

 private:
  absl::Status WriteTable(BlockAppender& appender);

  const size_t max_block_size_bytes_;
  ByteWriter table_;
  uint64_t first_block_ = 0;  // the offset of the block of the first record of table_
  ByteWriter directory_;
  PieceTablePlace last_;  // the last entry of directory_
};

}  // namespace cfile::internal
