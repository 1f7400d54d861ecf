// A position in the rows of one block, without the type of the values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// The interface of BlockCursor and LevelBlockCursor, which read the values. With it, BlockWalk and
// FileCursor are compiled once and not for each type. Thread-compatible. Errors do not name the
// block.
class RowBlock {
 public:
  RowBlock() = default;
  RowBlock(RowBlock&&) = default;
  RowBlock& operator=(RowBlock&&) = default;
  virtual ~RowBlock() = default;

  // Opens a block of the file that `info` describes, and goes to the block's first row.
  // `bytes`: the uncompressed block. It must stay valid while the block is open.
  // `first_ordinal`: the block's first ordinal, if the caller knows it.
  // `seek_index`: the result of BuildSeekIndex for this block, or nullptr.
  // `head`: as for ParseDataBlock.
  // kDataLoss: the block has no rows, or stores a first ordinal other than `first_ordinal`.
  virtual absl::Status Open(std::span<const uint8_t> bytes, const FileInfo& info,
                            std::optional<uint64_t> first_ordinal,
                            const encodings::SeekIndex* seek_index = nullptr,
                            const BlockHead* head = nullptr) = 0;

  // Builds an index that makes seeks in the open block fast. Returns nullptr if seeks are fast
  // without an index, or if the block is damaged; then the position is unchanged. After it returned
  // an index, the position is undefined: open the block again, with the index.
  virtual std::unique_ptr<const encodings::SeekIndex> BuildSeekIndex() = 0;

  // Precondition: row <= num_rows().
  virtual absl::Status SeekToRow(uint32_t row) = 0;

  // Of the open block. An entry is a value or a null; a present entry is a value.
  virtual Encoding encoding() const = 0;
  virtual uint32_t num_entries() const = 0;
  virtual uint32_t num_present() const = 0;
  uint32_t num_rows() const { return num_rows_; }
  uint32_t row() const { return row_; }
  // As stored in the block. (A file has fewer than 2^32 rows.)
  uint32_t first_ordinal() const { return first_ordinal_; }

 protected:
  uint32_t num_rows_ = 0;
  uint32_t row_ = 0;
  uint32_t first_ordinal_ = 0;
};

}  // namespace cfile::internal
