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
#include "cfile/internal/format/data_block.h"
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/index_walk.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// The base class of cursors, scans and VisitBlocks, which choose the block to open. (Verify and
// Salvage go on after damage, so they have no path. They use the same parts: FetchBlock,
// BlockCursor::Open, VisitBatches and CheckFirstOrdinal; Salvage also CheckEndOrdinal. Verify
// compares the number of all rows with the footer once, at its end.) Block is BlockCursor or
// LevelBlockCursor; its functions Open, num_rows and first_ordinal are described in BlockCursor.
// Thread-compatible.
template <typename Block>
class BlockWalk {
 protected:
  BlockWalk(std::shared_ptr<FileReader> file, Block block)
      : file_(std::move(file)), block_(std::move(block)) {}

  const std::string& name() const { return file_->source().name(); }
  uint64_t num_rows() const { return file_->info().num_rows; }

  // Returns kDataLoss; the message names the file.
  template <typename... Parts>
  absl::Status Damage(const Parts&... parts) const {
    return encodings::DataLoss(name(), ": ", parts...);
  }

  // Returns `status` with the names of the file and of the current block in its message, unless
  // `status` is OK.
  absl::Status InThisBlock(const absl::Status& status) const {
    return InBlock(status, name(), pointer_);
  }

  // Returns kDataLoss if a seek of `path` found no block. Precondition: the file has rows.
  absl::Status CheckFound(const IndexWalk& path) const {
    if (path.valid()) return absl::OkStatus();
    return Damage("the index is empty, the footer says ", num_rows(), " rows");
  }

  // Moves `path` to the next block, which begins with row `end`. Returns kDataLoss if the index has
  // no further block.
  absl::Status GoToNext(IndexWalk& path, uint64_t end) const {
    if (!path.at_last()) return path.Next();
    return Damage("the blocks end at ordinal ", end, ", the footer says ", num_rows(), " rows");
  }

  // Returns kDataLoss if the index has blocks after the one at `path`, which has the last row.
  absl::Status CheckLast(const IndexWalk& path) const {
    if (path.at_last()) return absl::OkStatus();
    return Damage("the footer says ", num_rows(), " rows, the index has blocks after them");
  }

  // Opens block_ at the data block at `path`, and sets pointer_ and first_ordinal_. Checks that the
  // block begins with the row that the positional index says and with row `expected`, if they are
  // known, and does not exceed the footer's number of rows. `expected`: the row after the previous
  // block. `access`: kScan if the blocks after this one will be read, too. After an error block_ is
  // not open.
  absl::Status OpenBlock(const IndexWalk& path, BlockAccess access,
                         std::optional<uint64_t> expected = std::nullopt) {
    pointer_ = path.pointer();
    CFILE_ASSIGN_OR_RETURN(
        loaded_block_, file_->LoadDataBlock(path.leaf(), path.entry(), access, fetcher_, buffer_));
    return InThisBlock(OpenLoadedBlock(path, expected));
  }

  // As OpenBlock, for the bytes of the block, which the caller has fetched.
  absl::Status OpenFetchedBlock(const IndexWalk& path, std::span<const uint8_t> bytes,
                                std::optional<uint64_t> expected) {
    pointer_ = path.pointer();
    loaded_block_ = {.bytes = bytes};
    return InThisBlock(OpenLoadedBlock(path, expected));
  }

  std::shared_ptr<FileReader> file_;
  Block block_;
  BlockPointer pointer_;        // of block_, or of the block that failed to open
  uint64_t first_ordinal_ = 0;  // of block_
  BlockFetcher fetcher_;
  BlockBuffer buffer_;

 private:
  absl::Status OpenLoadedBlock(const IndexWalk& path, std::optional<uint64_t> expected) {
    std::optional<uint64_t> indexed;
    if (path.kind() == IndexKind::kPositional) indexed = path.leaf().ordinal(path.entry());
    const auto open = [&](const encodings::SeekIndex* index) {
      return block_.Open(loaded_block_.bytes, file_->info(), indexed, index, loaded_block_.head);
    };
    SeekIndexSlot* slot = loaded_block_.seek_index;
    CFILE_RETURN_IF_ERROR(open(slot == nullptr ? nullptr : slot->get()));
    if (slot != nullptr && slot->get() == nullptr && loaded_block_.seen_before) {
      if (auto built = block_.BuildSeekIndex(); built != nullptr) {
        CFILE_RETURN_IF_ERROR(
            open(file_->KeepSeekIndex(loaded_block_, pointer_, std::move(built))));
      }
    }
    first_ordinal_ = block_.first_ordinal();
    CFILE_RETURN_IF_ERROR(CheckEndOrdinal(first_ordinal_ + block_.num_rows(), num_rows()));
    return expected ? CheckFirstOrdinal(*expected, first_ordinal_) : absl::OkStatus();
  }

  LoadedBlock loaded_block_;  // the bytes that block_ reads
};

}  // namespace cfile::internal
