// How any block but header and footer lies in a file: compressed or not, behind it its checksum
// (cfile/FORMAT.md, File).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/bytes.h"

namespace cfile::internal {

using encodings::ByteWriter;

// What values are aligned to, in bytes of the file.
inline constexpr size_t kAlignment = 64;

// How a block is to be stored.
struct BlockStorage {
  // Zeros are put before the block so that its byte *align_at lies at a multiple of kAlignment in
  // the file, unless it is stored compressed.
  std::optional<size_t> align_at = std::nullopt;
  // False: as it is, where the format can say so (version 1 cannot).
  bool compress = true;
  // How many bytes the block may have above the limit of other blocks.
  size_t extra_size_bytes = 0;
};

// Appends blocks to a sink. The only one who knows offsets. Thread-compatible.
class BlockAppender {
 public:
  // `sink` must outlive the appender and have received `offset` bytes.
  BlockAppender(Sink* sink, uint64_t offset, FormatVersion version, Compression compression,
                size_t max_block_size_bytes, int compression_level = 0)
      : sink_(sink),
        offset_(offset),
        version_(version),
        compression_(compression),
        compression_level_(compression_level),
        max_block_size_bytes_(max_block_size_bytes) {}

  // Stores `prefix` and `body`, one after the other, as one block. kOutOfRange: the block is larger
  // than the limit.
  absl::StatusOr<BlockPointer> Append(std::span<const uint8_t> prefix,
                                      std::span<const uint8_t> body,
                                      const BlockStorage& storage = {});

  // Bytes of the file so far.
  uint64_t offset() const { return offset_; }
  // Bytes of its own buffers.
  size_t memory_usage_bytes() const { return joined_.capacity() + compressed_.capacity(); }

 private:
  absl::Status Write(std::span<const uint8_t> bytes);

  Sink* sink_;
  uint64_t offset_;
  FormatVersion version_;
  Compression compression_;
  int compression_level_;
  size_t max_block_size_bytes_;
  ByteWriter joined_;
  ByteWriter compressed_;
};

// Memory for blocks that have to be read or decompressed; kept from block to block.
struct BlockBuffer {
  ByteWriter stored;  // bytes of the file, of one block or of several
  uint64_t stored_offset = 0;
  uint64_t announced_end = 0;  // of what a scan told the source that it will read
  ByteWriter uncompressed;
  size_t memory_usage_bytes() const { return stored.capacity() + uncompressed.capacity(); }
};

// A block as it was before compression. Valid as long as the source and the buffer it was fetched
// into are not changed.
struct FetchedBlock {
  std::span<const uint8_t> bytes;
  bool compressed = false;
  bool in_source = false;          // the bytes lie in the source's memory, not in the buffer
  uint32_t stored_size_bytes = 0;  // in the file, without the checksum
};

// What of a file decides how its blocks are stored.
struct BlockFormat {
  FormatVersion version = FormatVersion::kV2;
  Compression compression = Compression::kNone;
  bool checksums = true;
};

// Reads the block at `pointer`, which must lie inside the source (checked when it was parsed).
// Verifies its checksum if the file has checksums and `verify` is set. kDataLoss names offset, what
// was expected and what was found; kOutOfRange: the block is larger than `max_block_size_bytes`,
// stored or uncompressed. A source that is not in memory is read as far as `read_end`,
// an offset that is not before the block's end: what lies there is in the buffer when the next
// block is fetched into it.
absl::StatusOr<FetchedBlock> FetchBlock(const Source& source, const BlockFormat& format,
                                        const BlockPointer& pointer, bool verify,
                                        size_t max_block_size_bytes, uint64_t read_end,
                                        BlockBuffer& buffer);

// `status` with the block it is about put before its message, and the file if it is not named yet.
absl::Status InBlock(const absl::Status& status, const std::string& file,
                     const BlockPointer& pointer);

}  // namespace cfile::internal
