// Movable blocks (cfile/FORMAT.md, Movable blocks): a head that is never compressed, then the
// sections levels, skip table and body, each compressed alone. The head has the checksums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/internal/format/crc32c.h"
#include "cfile/internal/format/data_block.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// The bytes of the sections that one checksum covers.
inline constexpr size_t kPartBytes = 4096;
// The bytes of a head before its checksums.
inline constexpr size_t kHeadFieldBytes = 52;

// The sections of a movable block, in the order of the block. kLevels is the null header, the level
// header or the array header; it is empty in a flat column without nulls.
enum BlockSection : uint8_t { kLevels, kSkipTable, kBody };
inline constexpr size_t kBlockSections = 3;

struct BlockHead {
  struct Section {
    uint32_t stored_size = 0;  // bytes in the file
    uint32_t size = 0;         // bytes before compression
    bool compressed() const { return stored_size != size; }
  };

  Encoding encoding = Encoding::kPlain;
  Compression compression = Compression::kNone;  // of the compressed sections; else kNone
  uint32_t num_rows = 0;                         // nulls included; records
  uint32_t num_entries = 0;                      // without levels: as many as rows
  uint32_t present_count = 0;
  uint32_t first_ordinal = 0;
  uint32_t dictionary = 0;  // always 0
  std::array<Section, kBlockSections> sections;

  // Sizes in bytes: of the sections as stored and before compression, of the head, of the block as
  // stored and before compression. Only sections count for max_block_size_bytes.
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

// The size in bytes of the head of a movable block of `stored_bytes` bytes, by this size alone. At
// least the size of the smallest head.
constexpr size_t HeadBytesOf(size_t stored_bytes) {
  constexpr size_t kLeast = kHeadFieldBytes + kChecksumBytes;
  constexpr size_t kPerPart = kPartBytes + kChecksumBytes;
  if (stored_bytes <= kLeast) return kLeast;
  return kLeast + kChecksumBytes * ((stored_bytes - kLeast + kPerPart - 1) / kPerPart);
}

// Reads the head at the begin of `block`, which may have more bytes. kDataLoss: the head is cut
// off, contradicts itself or, if `verify` is set, has a wrong checksum. kUnimplemented: the block
// needs a dictionary other than the file's. ReadBlockHead stores the result in `head`.
absl::StatusOr<BlockHead> ParseBlockHead(std::span<const uint8_t> block, bool verify);
absl::Status ReadBlockHead(std::span<const uint8_t> block, bool verify, BlockHead& head);

// kDataLoss if the head of `block`, all bytes of a stored block, has a wrong checksum. Finds the
// head by the size of the block, so that a wrong size in the head is a wrong checksum, too.
absl::Status CheckHead(std::span<const uint8_t> block);

// kDataLoss if a part of the sections has a wrong checksum. `block`: a stored block whose head is
// `head`. Precondition: block.size() == head.stored_bytes().
absl::Status CheckParts(const BlockHead& head, std::span<const uint8_t> block);

// Appends the head of the block that has these stored sections. Sets nothing else.
void AppendBlockHead(const BlockHead& head,
                     const std::array<std::span<const uint8_t>, kBlockSections>& stored,
                     encodings::ByteWriter& out);

// Moves a block: sets the first ordinal in the bytes of its head, and the head's checksum.
// Precondition: ParseBlockHead returned OK for `head`, which has all bytes of the head.
void SetFirstOrdinal(std::span<uint8_t> head, uint32_t first_ordinal);

// A movable block before compression: the head as it is stored, then the uncompressed sections.
struct MovableBlock {
  BlockHead head;
  std::span<const uint8_t> levels;
  DataBlock values;  // without num_rows and validity
};

// Splits the uncompressed block `bytes`. `head`: as for ParseDataBlock. kDataLoss or kUnimplemented
// as ParseBlockHead, and kDataLoss if the sections do not have the sizes that the head says.
absl::StatusOr<MovableBlock> SplitMovableBlock(std::span<const uint8_t> bytes,
                                               const BlockHead* head = nullptr);

// Splits the uncompressed data block `bytes` of the flat file that `info` describes into its parts,
// whether it is movable or not. `head`: the head of a movable block if it was read already, or
// nullptr. kDataLoss: a length or a count does not fit. kUnimplemented: see ParseBlockHead.
absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, const FileInfo& info,
                                         const BlockHead* head = nullptr);

// kDataLoss if `rest`, the bytes of the levels after their last field, are not empty.
absl::Status CheckLevelsEnd(std::span<const uint8_t> rest);

// kDataLoss if the head has other numbers of rows and entries than these, which the levels have.
absl::Status CheckRowCounts(const BlockHead& head, uint64_t num_rows, uint64_t num_entries);

}  // namespace cfile::internal
