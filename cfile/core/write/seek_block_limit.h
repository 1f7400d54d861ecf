// The size of the blocks of a file that is searched by key (WriterOptions::seek_block_size_bytes).
#pragma once

#include <algorithm>
#include <cstdint>

#include "cfile/core/format/writer_choices.h"
#include "cfile/file_info.h"
#include "cfile/options.h"

namespace cfile::internal {

// Limits the rows of the next block by the size in the file of the block before.
class SeekBlockLimit {
 public:
  explicit SeekBlockLimit(const WriterOptions& options)
      : wanted_bytes_(SeekBlockBytes(options)),
        max_rows_(options.max_values_per_block),
        most_rows_(max_rows_) {}

  // The most rows of the next block.
  uint32_t most_rows() const { return most_rows_; }

  // Call after a block of `rows` rows was written to `block`. If the next rows need as many bytes
  // as these rows, the next block has the wanted size.
  void AddBlock(uint64_t rows, const BlockPointer& block, bool compressed) {
    if (wanted_bytes_ == 0) return;
    const uint64_t bytes = std::max(wanted_bytes_ * (compressed ? kCompressedFactor : 1),
                                    block.end() / kMostSmallBlocks);
    most_rows_ =
        static_cast<uint32_t>(std::clamp<uint64_t>(rows * bytes / block.size, 1, max_rows_));
  }

 private:
  // After about this many small blocks, blocks become larger. So the indexes and the statistics of
  // a large file keep their limits.
  static constexpr uint64_t kMostSmallBlocks = 1 << 16;
  // A compressed block may be larger by this factor. Each block is compressed alone, and small
  // blocks of sequences would make a file up to 44 % larger.
  static constexpr uint64_t kCompressedFactor = 4;

  const uint64_t wanted_bytes_;  // 0: no limit
  const uint32_t max_rows_;
  uint32_t most_rows_;
};

}  // namespace cfile::internal
