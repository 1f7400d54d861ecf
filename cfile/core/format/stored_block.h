// How blocks other than header and footer are stored in a file: compressed or not, followed by a
// checksum (cfile/FORMAT.md, File). block_appender.h writes what this header reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

using encodings::ByteWriter;

// Aligned values begin at an offset in the file that is a multiple of this number.
inline constexpr size_t kAlignment = 64;

// The properties of a file that determine how its blocks are stored.
struct BlockFormat {
  Compression compression = Compression::kNone;
  bool checksums = true;
  // As VersionPolicy::compresses_all.
  bool compresses_all = false;
  // If true, the blocks are movable blocks (cfile/FORMAT.md). Only data blocks can be movable.
  bool movable = false;
};

// The formats of the data blocks, and of all other blocks, of the file that `info` describes.
BlockFormat DataBlockFormatOf(const FileInfo& info);
BlockFormat BlockFormatOf(const FileInfo& info);

// Memory for blocks that are read or decompressed; reused from block to block.
struct BlockBuffer {
  ByteWriter stored;  // bytes of the file: one block or several
  uint64_t stored_offset = 0;
  ByteWriter uncompressed;
  BlockHead head;  // the head of the movable block that was fetched last

  // True if `stored` contains the stored bytes of the block.
  bool Holds(const BlockPointer& pointer) const {
    const uint64_t skipped = pointer.offset - stored_offset;  // may wrap around
    return pointer.offset >= stored_offset && skipped <= stored.size() &&
           pointer.size <= stored.size() - skipped;
  }
  size_t memory_usage_bytes() const { return stored.capacity() + uncompressed.capacity(); }
};

// A block before compression, including the head of a movable block. Valid as long as neither the
// source nor the buffer of the fetch changes.
struct FetchedBlock {
  std::span<const uint8_t> bytes;
  bool compressed = false;
  bool in_source = false;           // the bytes are in the source's memory, not in the buffer
  uint32_t stored_size_bytes = 0;   // in the file; the checksum after it is not counted
  const BlockHead* head = nullptr;  // the head of a movable block; lies in the buffer
};

// Reads the block at `pointer`, which must be inside the source (checked when the pointer was
// parsed). Verifies the checksum if the file has checksums and `verify` is set. kDataLoss says what
// was expected and what was found; kOutOfRange: the block exceeds `max_block_size_bytes`, stored or
// uncompressed. Errors do not name the block (see InBlock).
// If the buffer has the bytes of the block already, nothing is read. If the block is damaged, it is
// read once more, unless the source says that this cannot help (Source::Forget).
absl::StatusOr<FetchedBlock> FetchBlock(const Source& source, const BlockFormat& format,
                                        const BlockPointer& pointer, bool verify,
                                        size_t max_block_size_bytes, BlockBuffer& buffer);

// A movable block as it is stored. The views are valid as long as those of a FetchedBlock.
struct StoredBlock {
  BlockHead head;
  std::span<const uint8_t> bytes;
};

// Reads a movable block as FetchBlock does, but does not decompress it. Without `verify_parts`,
// verifies only the checksum of the head: call CheckParts before you use the sections.
absl::StatusOr<StoredBlock> FetchStoredBlock(const Source& source, const BlockFormat& format,
                                             const BlockPointer& pointer, bool verify_parts,
                                             size_t max_block_size_bytes, BlockBuffer& buffer);

// Puts the names of the file and of the block before the message of `status`. A name that the
// message already has is not added.
absl::Status InBlock(const absl::Status& status, const std::string& file,
                     const BlockPointer& pointer);

}  // namespace cfile::internal
