// Goes from one data block to another by an index, reads and opens the blocks, and checks them
// against the index and the footer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/row_block.h"

namespace cfile::internal {

// The base class of cursors, scans and VisitBlocks, which choose the block to open. (Verify and
// Salvage go on after damage, so they have no path. They use the same parts: FetchBlock,
// BlockCursor::Open, VisitBatches and CheckFirstOrdinal; Salvage also CheckEndOrdinal. Verify
// compares the number of all rows with the footer once, at its end.) Thread-compatible.
class BlockWalk {
 public:
  BlockWalk(const BlockWalk&) = delete;
  BlockWalk& operator=(const BlockWalk&) = delete;

 protected:
  // `block`: the block that OpenBlock opens. It is a member of the derived class, so this
  // constructor does not use it.
  BlockWalk(std::shared_ptr<FileReader> file, RowBlock& block)
      : file_(std::move(file)), row_block_(block) {}
  ~BlockWalk() = default;

  const std::string& name() const { return file_->source().name(); }
  uint64_t num_rows() const { return file_->info().num_rows; }

  // Returns `status` with the names of the file and of the current block in its message, unless
  // `status` is OK.
  absl::Status InThisBlock(const absl::Status& status) const {
    return InBlock(status, name(), pointer_);
  }

  // Returns kDataLoss if a seek of `path` found no block. Precondition: the file has rows.
  absl::Status CheckFound(const IndexWalk& path) const;

  // Moves `path` to the next block, which begins with row `end`. Returns kDataLoss if the index has
  // no further block.
  absl::Status GoToNext(IndexWalk& path, uint64_t end) const;

  // Returns kDataLoss if the index has blocks after the one at `path`, which has the last row.
  absl::Status CheckLast(const IndexWalk& path) const;

  // Opens the block at the data block at `path`, and sets pointer_ and first_ordinal_. Checks that
  // the block begins with the row that the positional index says and with row `expected`, if they
  // are known, and does not exceed the footer's number of rows. `expected`: the row after the
  // previous block. `access`: kScan if the blocks after this one will be read, too. After an error
  // the block is not open.
  absl::Status OpenBlock(const IndexWalk& path, BlockAccess access,
                         std::optional<uint64_t> expected = std::nullopt);

  // As OpenBlock, for the bytes of the block, which the caller has fetched.
  absl::Status OpenFetchedBlock(const IndexWalk& path, std::span<const uint8_t> bytes,
                                std::optional<uint64_t> expected);

  // Call after row_block_ was opened with a piece (FileReader::LoadPiece) of the block at `path`.
  void OpenedPiece(const IndexWalk& path, uint64_t first_ordinal) {
    pointer_ = path.pointer();
    first_ordinal_ = first_ordinal;
    loaded_block_ = {};
  }

  // True if only some bytes of the open block have been verified. Call CheckRows before you read a
  // row; for all other uses, open the block again.
  bool in_part() const { return loaded_block_.in_part; }
  // Verifies the checksums of the bytes in which the values of `rows` are stored. `rows`: positions
  // in the block. Does nothing unless in_part(). Preconditions: the block is open, and has these
  // rows.
  absl::Status CheckRows(std::span<const uint32_t> rows) const;

  std::shared_ptr<FileReader> file_;
  RowBlock& row_block_;
  BlockPointer pointer_;        // of the block, or of the block that failed to open
  uint64_t first_ordinal_ = 0;  // of the block
  BlockFetcher fetcher_;
  BlockBuffer buffer_;

 private:
  absl::Status OpenLoadedBlock(const IndexWalk& path, std::optional<uint64_t> expected);

  LoadedBlock loaded_block_;  // the bytes that row_block_ reads
};

}  // namespace cfile::internal
