// Writes the stored blocks that stored_block.h reads. These are two file pairs, because some
// codecs, such as Brotli, have a separate library for compression. A program that only reads does
// not need this library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/io.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// How a block is to be stored.
struct BlockStorage {
  // If set, and if the block is not stored compressed, zeros are written before the block so that
  // its byte *align_at is at a multiple of kAlignment in the file.
  std::optional<size_t> align_at = std::nullopt;
  // False: do not compress, unless the format compresses all blocks.
  bool compress = true;
  // By how many bytes the block may exceed the limit of other blocks.
  size_t extra_size_bytes = 0;
};

// Appends blocks to a sink and determines their offsets. Thread-compatible.
class BlockAppender {
 public:
  // `sink` must outlive the appender and have received `offset` bytes.
  BlockAppender(Sink* sink, uint64_t offset, const BlockFormat& format, size_t max_block_size_bytes,
                int compression_level = 0)
      : sink_(sink),
        offset_(offset),
        format_(format),
        compression_level_(compression_level),
        max_block_size_bytes_(max_block_size_bytes) {}

  // Stores `prefix` and `body`, one after the other, as one block. kOutOfRange: the block exceeds
  // the limit.
  absl::StatusOr<BlockPointer> Append(std::span<const uint8_t> prefix,
                                      std::span<const uint8_t> body,
                                      const BlockStorage& storage = {});

  // Stores a movable block, each section compressed alone. Ignores the codec and the sizes in
  // `head`. storage.align_at counts from the start of the body. Errors as Append.
  absl::StatusOr<BlockPointer> AppendMovable(
      BlockHead head, std::array<std::span<const uint8_t>, kBlockSections> sections,
      const BlockStorage& storage);

  // Stores a copy, with the first ordinal `first_ordinal`, of a movable block of another file.
  // `head` and `stored`: the head and the bytes of the block. `from_offset`: the place of these
  // bytes in the other file, where the body has the same alignment as in the copy.
  absl::StatusOr<BlockPointer> AppendMoved(const BlockHead& head, std::span<const uint8_t> stored,
                                           uint64_t from_offset, uint32_t first_ordinal);

  // The file's size so far, in bytes.
  uint64_t offset() const { return offset_; }
  // True if the last block was stored compressed.
  bool last_compressed() const { return last_compressed_; }
  // Memory of the appender's buffers, in bytes.
  size_t memory_usage_bytes() const { return joined_.capacity() + compressed_.capacity(); }

 private:
  absl::Status Write(std::span<const uint8_t> bytes);
  // kOutOfRange if a block of `size_bytes` before compression exceeds the limit.
  absl::Status CheckSize(size_t size_bytes, const BlockStorage& storage) const;
  absl::StatusOr<BlockPointer> PointerFrom(uint64_t begin) const;
  // Writes zeros up to an offset at which the byte `align_at` of a block is aligned.
  absl::Status Align(size_t align_at);

  Sink* sink_;
  uint64_t offset_;
  BlockFormat format_;
  int compression_level_;
  size_t max_block_size_bytes_;
  bool last_compressed_ = false;
  ByteWriter joined_;
  ByteWriter compressed_;
};

}  // namespace cfile::internal
