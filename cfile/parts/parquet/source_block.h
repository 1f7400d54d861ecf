// Reads the blocks of a file as they are stored, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/level_block.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/block_fetcher.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/file_info.h"
#include "cfile/statistics.h"
#include "cfile/types.h"

namespace cfile::internal {

// A data block whose checksums were verified. Spans are valid until the next block is loaded.
struct SourceBlock {
  LevelBlock levels;  // also has the uncompressed values, unless `compressed`
  // True: `stored_values` is compressed with `codec`. values_size: before compression.
  bool compressed = false;
  // The whole block was compressed, so its values, which are not, should be compressed in the page.
  bool was_compressed = false;
  Compression codec = Compression::kNone;
  std::span<const uint8_t> stored_values;
  uint32_t values_size = 0;
  uint64_t stored_bytes = 0;                    // of the block in the file
  const BlockStatistics* statistics = nullptr;  // null: not known
};

// Goes over the data blocks of a file in order. Thread-compatible.
class SourceBlocks {
 public:
  // Goes to the first block. Errors: those of FileReader.
  static absl::StatusOr<SourceBlocks> Open(std::shared_ptr<FileReader> file);

  const FileReader& file() const { return *file_; }
  const FileInfo& info() const { return file_->info(); }
  const FileStatistics* statistics() const { return statistics_.get(); }

  // The first row of the current block.
  uint64_t first_row() const { return first_row_; }

  // Loads the current block. kDataLoss: the block is damaged, or does not begin with first_row().
  absl::Status Load(SourceBlock& block);
  // Uncompresses the values of a block that Load returned.
  absl::Status Uncompress(SourceBlock& block);
  // Goes to the next block. `num_rows`: the rows of the current block.
  absl::Status Next(uint64_t num_rows);

  // Calls visit(encoding) for the blocks from the current one on that have rows before row `end`.
  // Reads only their heads. Returns false, and does not call `visit`, if this would take long or if
  // the blocks have no heads.
  template <typename Visit>
  bool VisitEncodings(uint64_t end, Visit&& visit);

  // Returns `status` with the names of the file and of the current block, unless it is OK.
  absl::Status InThisBlock(const absl::Status& status) const {
    return walk_.valid() ? InBlock(status, file_->source().name(), walk_.pointer()) : status;
  }

 private:
  explicit SourceBlocks(std::shared_ptr<FileReader> file) : file_(std::move(file)) {}
  absl::Status LoadMovable(SourceBlock& block);
  absl::Status LoadWhole(SourceBlock& block);

  std::shared_ptr<FileReader> file_;
  std::shared_ptr<const FileStatistics> statistics_;
  IndexWalk walk_;
  uint64_t first_row_ = 0;
  size_t number_ = 0;  // of the current block
  BlockFetcher fetcher_;
  BlockBuffer buffer_;
  LoadedBlock loaded_;
  ByteWriter levels_;
  ByteWriter skip_table_;
  ByteWriter values_;
};

template <typename Visit>
bool SourceBlocks::VisitEncodings(uint64_t end, Visit&& visit) {
  const std::span<const uint8_t> bytes = file_->source().InMemory();
  if (bytes.empty() || !info().has_movable_blocks() || walk_.kind() != IndexKind::kPositional)
    return false;
  for (IndexWalk walk = walk_; walk.valid() && walk.leaf().ordinal(walk.entry()) < end;) {
    const BlockPointer& pointer = walk.pointer();
    const auto head = ParseBlockHead(bytes.subspan(pointer.offset, pointer.size), /*verify=*/false);
    // Load will report the errors.
    if (!head.ok()) return true;
    visit(head->encoding);
    if (!walk.Next().ok()) return true;
  }
  return true;
}

}  // namespace cfile::internal
