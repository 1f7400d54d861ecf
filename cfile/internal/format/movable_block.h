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
#include "cfile/internal/format/data_block.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// The bytes of the sections that one checksum covers.
inline constexpr size_t kPartBytes = 4096;

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
  uint64_t payload_bytes() const;
  uint64_t unpacked_bytes() const;
  size_t size_bytes() const;
  uint64_t stored_bytes() const { return size_bytes() + payload_bytes(); }
  bool compressed() const;
};

// Reads the head at the begin of `block`, which may have more bytes. kDataLoss: the head is cut
// off, contradicts itself or, if `verify` is set, has a wrong checksum. kUnimplemented: the block
// needs a dictionary other than the file's.
absl::StatusOr<BlockHead> ParseBlockHead(std::span<const uint8_t> block, bool verify);

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

// Splits the uncompressed block `bytes`. kDataLoss or kUnimplemented as ParseBlockHead, and
// kDataLoss if the sections do not have the sizes that the head says.
absl::StatusOr<MovableBlock> SplitMovableBlock(std::span<const uint8_t> bytes);

// Splits the uncompressed data block `bytes` of the flat file that `info` describes into its parts,
// whether it is movable or not. kDataLoss: a length or a count does not fit. kUnimplemented: see
// ParseBlockHead.
absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, const FileInfo& info);

// kDataLoss if `rest`, the bytes of the levels after their last field, are not empty.
absl::Status CheckLevelsEnd(std::span<const uint8_t> rest);

// kDataLoss if the head has other numbers of rows and entries than these, which the levels have.
absl::Status CheckRowCounts(const BlockHead& head, uint64_t num_rows, uint64_t num_entries);

}  // namespace cfile::internal
