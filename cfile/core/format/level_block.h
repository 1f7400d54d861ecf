// The part of a block of records before the values: repetition and definition levels or, for Kudu's
// arrays, two bitmaps and the lengths of the arrays (cfile/FORMAT.md, Blocks of levels and Blocks
// of arrays). In both cases callers pass and receive entries as in cfile/levels.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/format/data_block.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {

// Collects the levels of one block at a time. Thread-compatible.
class LevelEncoder {
 public:
  // kudu_exact: runs begin and end at the same entries as in files of Kudu's writer.
  LevelEncoder(const LevelLimits& limits, bool kudu_exact);

  // Adds `count` entries. `repetition` or `definition` is ignored if its maximum is 0.
  // Preconditions: no level exceeds its maximum; the first entry of a block begins a record. For
  // Kudu's arrays, kInvalidArgument or kOutOfRange if the entries do not form a valid array; the
  // message begins with the entry's number, counted from `first_entry`.
  absl::Status Add(const uint16_t* repetition, const uint16_t* definition, size_t count,
                   uint64_t first_entry);

  // Approximate size of the levels so far, in bytes.
  size_t size_bytes() const;

  // Ends the last record, appends the levels of the block's `num_entries` entries and `num_records`
  // records, and resets the encoder for the next block.
  void Finish(uint32_t num_entries, uint32_t num_records, encodings::ByteWriter& out);

 private:
  absl::Status AddArrays(const uint16_t* repetition, const uint16_t* definition, size_t count,
                         uint64_t first_entry);
  void EndArray();

  const LevelLimits limits_;
  // For arrays, repetition_ holds the lengths of the arrays, and definition_ the validity of the
  // elements.
  encodings::RleHybridEncoder repetition_;
  encodings::RleHybridEncoder definition_;
  // The remaining members are used for arrays only. arrays_: the validity of the arrays.
  encodings::ValidityEncoder arrays_;
  uint32_t num_elements_ = 0;
  bool in_array_ = false;  // an array has begun
  bool has_room_ = false;  // the array is neither null nor empty
  uint16_t length_ = 0;    // elements of the array so far
};

// The parts of a block of records. Spans point into the block's bytes.
struct LevelBlock {
  uint32_t num_entries = 0;
  uint32_t num_records = 0;
  // Both are RLE-hybrid. For arrays, repetition holds the lengths of the arrays, and definition the
  // validity of the elements.
  std::span<const uint8_t> repetition;
  std::span<const uint8_t> definition;
  std::span<const uint8_t> arrays;  // for arrays only: the validity of the arrays
  DataBlock values;
};

// Splits a block of the file that `info` describes into its parts. In a flat file without nulls,
// only the encoded values contain the count. Then num_entries and num_records are 0. `head`: as for
// ParseDataBlock. kDataLoss: a length does not fit, or a count exceeds the count in the footer.
absl::StatusOr<LevelBlock> ParseLevelBlock(std::span<const uint8_t> bytes, const FileInfo& info,
                                           const BlockHead* head = nullptr);

// Splits the section levels of a movable block, `levels` (before compression). The values of the
// result have no bytes. Errors: those of ParseLevelBlock.
absl::StatusOr<LevelBlock> ParseLevels(std::span<const uint8_t> levels, const FileInfo& info,
                                       const BlockHead& head);

// Reads the levels of one block from front to end. Thread-compatible.
class LevelDecoder {
 public:
  // Preconditions: `block` is a block of a file with these limits; its bytes stay valid until the
  // last Read.
  void Open(const LevelBlock& block, const LevelLimits& limits);

  // Writes the levels of the next `count` entries. `repetition` or `definition` is ignored if its
  // maximum is 0. kDataLoss: a level exceeds its maximum or is missing, or the arrays do not match
  // their elements. Precondition: the block has at least `count` further entries.
  absl::Status Read(uint16_t* repetition, uint16_t* definition, size_t count);

 private:
  absl::Status ReadArrays(uint16_t* repetition, uint16_t* definition, size_t count);

  LevelLimits limits_;
  encodings::RleHybridReader repetition_;
  encodings::RleHybridReader definition_;
  encodings::RleHybridReader arrays_;
  uint32_t elements_left_ = 0;  // of the current array
};

}  // namespace cfile::internal
