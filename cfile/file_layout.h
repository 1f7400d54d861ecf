// The results of cfile/inspect.h that say what each byte of a file is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/block_fields.h"

namespace cfile {

// A range of bytes, its name and its meaning.
using encodings::BlockField;
using encodings::kMaxBlockFields;

// What a range of a file's bytes holds (cfile/FORMAT.md, File).
enum class RegionKind : uint8_t {
  kHeader,
  kDataBlock,
  kPositionalNode,
  kValueNode,
  kDictionary,
  kStatistics,
  kPieceTable,
  kPieceDirectory,
  kFooter,
  kGap  // bytes that belong to no block: zeros between blocks, or a part of a damaged file
};

// A range of a file's bytes with one purpose.
struct FileRegion {
  RegionKind kind = RegionKind::kGap;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  // For a data block: its number, 0, 1, ... in ordinal order. For an index node: its depth, 0 for
  // the root. For other regions: 0.
  uint64_t index = 0;
  // The first row of a data block or of a node of the positional index, if the file has a
  // positional index.
  std::optional<uint64_t> first_ordinal;

  uint64_t end() const { return offset + size_bytes; }
};

// The bytes of one region, field by field.
struct RegionDetails {
  static constexpr size_t kMaxGapBytes = 64 * 1024;

  FileRegion region;

  // The region as it is in the file. A movable block has a head and sections. Other blocks have the
  // sizes that belong to compression, the data and the checksum. Header and footer have magic,
  // length, the fields of their message and the checksum. Offsets of fields are counted from the
  // region's first byte. For a gap, stored_bytes has at most its first kMaxGapBytes bytes.
  std::vector<uint8_t> stored_bytes;
  std::vector<BlockField> stored_fields;

  // Only for blocks: the data before compression. In a data block, these are the head of a movable
  // block, the null bitmap or the levels, the header of an extended block, and the values in their
  // encoding. Empty if the data cannot be decompressed.
  bool compressed = false;
  Encoding encoding = Encoding::kPlain;  // of the values of a data block
  std::vector<uint8_t> bytes;
  std::vector<BlockField> fields;
  // Where `bytes` begin in `stored_bytes`, if they are stored there unchanged.
  std::optional<size_t> bytes_offset;

  // The first damage found: kDataLoss, or kUnimplemented if this build does not know the encoding.
  // OK does not mean that all values can be read: only Verify reads them.
  absl::Status status;
};

// Something wrong in a file, or a part of the file that could not be read because of a limit.
struct Damage {
  absl::Status status;
  std::optional<BlockPointer> block;      // the damaged block, if known
  std::optional<uint64_t> first_ordinal;  // the affected rows, if known
  std::optional<uint64_t> last_ordinal;
};

// The regions of a file.
struct FileLayout {
  // In the order of their offsets. They cover all bytes of the file, without gaps and overlaps.
  std::vector<FileRegion> regions;
  // Index nodes that cannot be read, and blocks that overlap others. Such a block is not among the
  // regions; its bytes are a gap. If a node cannot be read, the blocks below it are gaps, too.
  std::vector<Damage> damages;
};

}  // namespace cfile
