// Movable blocks (cfile/FORMAT.md, Movable blocks): a head, which has the checksums and is never
// compressed, and three sections, each compressed alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/data_block.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// The sections are divided into parts of this many bytes, each with a checksum.
inline constexpr size_t kPartBytes = 4096;
// The size of a head without its checksums, in bytes.
inline constexpr size_t kHeadFieldBytes = 52;

// The sections of a movable block, in its order. kLevels holds the null header, the level header or
// the array header (cfile/FORMAT.md), and is empty in a flat column without nulls.
enum BlockSection : uint8_t { kLevels, kSkipTable, kBody };
inline constexpr size_t kBlockSections = 3;

struct BlockHead {
  struct Section {
    uint32_t stored_size = 0;  // bytes in the file
    uint32_t size = 0;         // bytes before compression
    bool compressed() const { return stored_size != size; }
  };

  Encoding encoding = Encoding::kPlain;
  Compression compression = Compression::kNone;  // of the sections that are compressed
  uint32_t num_rows = 0;                         // includes nulls; with levels: records
  uint32_t num_entries = 0;                      // without levels: equal to num_rows
  uint32_t present_count = 0;
  uint32_t first_ordinal = 0;
  uint32_t dictionary = 0;  // always 0
  std::array<Section, kBlockSections> sections;

  // Sizes in bytes: of the sections as stored, of the sections before compression (limited by
  // max_block_size_bytes), of the head, and of the whole block as stored.
  uint64_t payload_bytes() const {
    return uint64_t{sections[0].stored_size} + sections[1].stored_size + sections[2].stored_size;
  }
  uint64_t unpacked_bytes() const {
    return uint64_t{sections[0].size} + sections[1].size + sections[2].size;
  }
  size_t size_bytes() const {
    return kHeadFieldBytes + kChecksumBytes * ((payload_bytes() + kPartBytes - 1) / kPartBytes + 1);
  }
  uint64_t stored_bytes() const { return size_bytes() + payload_bytes(); }
  bool compressed() const {
    return sections[0].compressed() || sections[1].compressed() || sections[2].compressed();
  }
};

// Returns the size in bytes of the head of a movable block of `stored_bytes` bytes. Needs no field
// of the head. The result is at least the size of the smallest head.
constexpr size_t HeadBytesOf(size_t stored_bytes) {
  constexpr size_t kLeast = kHeadFieldBytes + kChecksumBytes;
  constexpr size_t kPerPart = kPartBytes + kChecksumBytes;
  if (stored_bytes <= kLeast) return kLeast;
  return kLeast + kChecksumBytes * ((stored_bytes - kLeast + kPerPart - 1) / kPerPart);
}

// Reads the head at the start of `block`, which other bytes may follow. ReadBlockHead stores the
// result in `head`. kDataLoss: the head is cut off or contradicts itself, or `verify` is set and
// the checksum of the head is wrong. kUnimplemented: the block needs a dictionary other than the
// file's.
absl::StatusOr<BlockHead> ParseBlockHead(std::span<const uint8_t> block, bool verify);
absl::Status ReadBlockHead(std::span<const uint8_t> block, bool verify, BlockHead& head);

// Returns kDataLoss if the head of `block`, all bytes of a stored block, has a wrong checksum.
// Computes the size of the head from the size of `block`, because the size fields in the head may
// be damaged.
absl::Status CheckHead(std::span<const uint8_t> block);

// Verifies the checksums of the parts that have the bytes `begin` to `end` - 1 of the sections of
// `block`, a stored block whose head is `head`. Reads no other parts. kDataLoss: a checksum is
// wrong. Preconditions: block.size() == head.stored_bytes(); `begin` is a multiple of kPartBytes.
absl::Status CheckParts(const BlockHead& head, std::span<const uint8_t> block, uint64_t begin = 0,
                        uint64_t end = UINT64_MAX);

// Appends the head of a block to `out`, and computes the checksums. `stored`: the block's sections.
// `head`: all fields of the head.
void AppendBlockHead(const BlockHead& head,
                     const std::array<std::span<const uint8_t>, kBlockSections>& stored,
                     encodings::ByteWriter& out);

// Writes the number of a block's first row in the file into `head`, the bytes of the block's head,
// and updates the head's checksum. Precondition: ParseBlockHead returned OK for `head`.
void SetFirstOrdinal(std::span<uint8_t> head, uint32_t first_ordinal);

// A movable block before compression: the head as it is stored, then the uncompressed sections.
struct MovableBlock {
  BlockHead head;
  std::span<const uint8_t> levels;
  DataBlock values;  // num_rows and validity are not set
};

// Splits the uncompressed block `bytes` into its parts. `head`: as for ParseDataBlock. Errors as
// ParseBlockHead, and kDataLoss if the sections do not have the sizes in the head.
absl::StatusOr<MovableBlock> SplitMovableBlock(std::span<const uint8_t> bytes,
                                               const BlockHead* head = nullptr);

// Splits the uncompressed data block `bytes`, movable or not, of the flat file that `info`
// describes. `head`: the head of a movable block if it was read already. kDataLoss: a length or a
// count does not fit. kUnimplemented: see ParseBlockHead.
absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, const FileInfo& info,
                                         const BlockHead* head = nullptr);

// Reads the section levels of a movable block of the flat file that `info` describes, and sets
// num_rows and validity of `block` if the column is nullable. `levels`: the section before
// compression. kDataLoss: a length or a count is wrong.
absl::Status ParseNulls(std::span<const uint8_t> levels, const FileInfo& info,
                        const BlockHead& head, DataBlock& block);

// Returns kDataLoss if `rest` is not empty. `rest`: the bytes after the last field of the levels.
absl::Status CheckLevelsEnd(std::span<const uint8_t> rest);

// Returns kDataLoss if the numbers of rows and entries in the head differ from `num_rows` and
// `num_entries`, the numbers in the levels.
absl::Status CheckRowCounts(const BlockHead& head, uint64_t num_rows, uint64_t num_entries);

}  // namespace cfile::internal
