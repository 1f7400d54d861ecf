// Reads and opens the current data block of a cursor or a scan, and checks the block against the
// index and the footer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/index_walk.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// A base class of cursors and scans, which choose the block to open. Block is BlockCursor or
// LevelBlockCursor; its functions Open, num_rows and first_ordinal are described in BlockCursor.
// Thread-compatible.
template <typename Block>
class BlockWalk {
 protected:
  BlockWalk(std::shared_ptr<FileReader> file, Block block)
      : file_(std::move(file)), block_(std::move(block)) {}

  const std::string& name() const { return file_->source().name(); }
  uint64_t num_rows() const { return file_->info().num_rows; }

  // Returns `status` with the names of the file and of the current block in its message.
  absl::Status InThisBlock(const absl::Status& status) const {
    return InBlock(status, name(), pointer_);
  }

  // Opens in block_ the data block that `path` points to, and sets pointer_ and first_ordinal_.
  // Checks that the first row of the block is the one in the positional index, and that the block
  // does not end after the last row of the file. `access`: kScan if the blocks after this one will
  // be read, too. After an error, block_ is not open.
  absl::Status OpenBlock(const IndexWalk& path, BlockAccess access) {
    pointer_ = path.pointer();
    CFILE_ASSIGN_OR_RETURN(loaded_block_,
                           file_->LoadDataBlock(path.leaf(), path.entry(), access, buffer_));
    absl::Status status = OpenLoadedBlock(path);
    return status.ok() ? status : InThisBlock(status);
  }

  // kDataLoss if the current block begins with row `found` but should begin with row `expected`,
  // the row after the previous block.
  static absl::Status CheckFollows(uint64_t expected, uint64_t found) {
    if (found == expected) return absl::OkStatus();
    return encodings::DataLoss("expected the block of ordinal ", expected,
                               ", found that of ordinal ", found);
  }

  std::shared_ptr<FileReader> file_;
  Block block_;
  BlockPointer pointer_;        // of block_, or of the block that failed to open
  uint64_t first_ordinal_ = 0;  // of block_

 private:
  absl::Status OpenLoadedBlock(const IndexWalk& path) {
    const FileInfo& info = file_->info();
    std::optional<uint64_t> expected_ordinal;
    if (path.kind() == IndexKind::kPositional) expected_ordinal = path.leaf().ordinal(path.entry());
    const auto open = [&](const encodings::SeekIndex* index) {
      return block_.Open(loaded_block_.bytes, info, expected_ordinal, index);
    };
    SeekIndexSlot* slot = loaded_block_.seek_index;
    CFILE_RETURN_IF_ERROR(open(slot == nullptr ? nullptr : slot->get()));
    if (slot != nullptr && slot->get() == nullptr && loaded_block_.seen_before) {
      if (auto built = block_.BuildSeekIndex(); built != nullptr) {
        CFILE_RETURN_IF_ERROR(
            open(file_->KeepSeekIndex(loaded_block_, pointer_, std::move(built))));
      }
    }
    first_ordinal_ = expected_ordinal.value_or(block_.first_ordinal());
    if (block_.num_rows() > info.num_rows - std::min(first_ordinal_, info.num_rows)) {
      return encodings::DataLoss("the block's rows ", first_ordinal_, " to ",
                                 first_ordinal_ + block_.num_rows(), " exceed the ", info.num_rows,
                                 " rows that the footer says");
    }
    return absl::OkStatus();
  }

  BlockBuffer buffer_;
  LoadedBlock loaded_block_;  // the bytes that block_ reads
};

}  // namespace cfile::internal
