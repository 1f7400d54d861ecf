// What stands before the values of a block of records: repetition and definition levels, or, of
// Kudu's arrays, two bitmaps and the arrays' lengths (cfile/FORMAT.md, Blocks of levels and Blocks
// of arrays). Either way entries go in and come out, as cfile/levels.h has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/internal/data_block.h"
#include "cfile/types.h"
#include "encodings/bytes.h"
#include "encodings/rle_hybrid.h"
#include "encodings/validity.h"

namespace cfile::internal {

// How many of `count` levels are `wanted`.
size_t CountLevels(const uint16_t* levels, size_t count, uint16_t wanted);

// Collects the levels of one block after the other. Thread-compatible.
class LevelEncoder {
 public:
  // kudu_exact: runs begin and end where Kudu's writer has them.
  LevelEncoder(const LevelLimits& limits, bool kudu_exact);

  // `count` further entries. Either pointer is not looked at where its maximum is 0. Precondition:
  // no level is above its maximum; the first entry of a block begins a record. An array that cannot
  // be is kInvalidArgument or kOutOfRange; the message begins with the entry, counted from
  // `first_entry` on.
  absl::Status Add(const uint16_t* repetition, const uint16_t* definition, size_t count,
                   uint64_t first_entry);

  // Bytes so far, about.
  size_t size_bytes() const;

  // Appends the block's part with its `num_entries` entries of `num_records` records, which ends
  // the last of them, and begins anew.
  void Finish(uint32_t num_entries, uint32_t num_records, encodings::ByteWriter& out);

 private:
  absl::Status AddArrays(const uint16_t* repetition, const uint16_t* definition, size_t count,
                         uint64_t first_entry);
  void EndArray();

  const LevelLimits limits_;
  // Of arrays: the elements' lengths and validity.
  encodings::RleHybridEncoder repetition_;
  encodings::RleHybridEncoder definition_;
  // Of arrays alone.
  encodings::ValidityEncoder arrays_;
  uint32_t num_elements_ = 0;
  bool in_array_ = false;  // an array is begun
  bool has_room_ = false;  // it is neither null nor empty
  uint16_t length_ = 0;    // its elements so far
};

// A block of records taken apart. Spans point into its bytes.
struct LevelBlock {
  uint32_t num_entries = 0;
  uint32_t num_records = 0;
  // RLE-hybrid. Of arrays: their lengths, and the elements' validity.
  std::span<const uint8_t> repetition;
  std::span<const uint8_t> definition;
  std::span<const uint8_t> arrays;  // of arrays alone: their validity
  DataBlock values;
};

// Takes apart a block of the file that `info` describes. Of a flat file without nulls the block's
// values alone tell their number: num_entries and num_records are then 0. kDataLoss: lengths do not
// fit, or counts are beyond those of the footer.
absl::StatusOr<LevelBlock> ParseLevelBlock(std::span<const uint8_t> bytes, const FileInfo& info);

// Reads the levels of one block from front to end. Thread-compatible.
class LevelDecoder {
 public:
  // Precondition: `block` is of a file with these limits, and its bytes stay valid.
  void Open(const LevelBlock& block, const LevelLimits& limits);

  // Writes the levels of the next `count` entries; either pointer is not looked at where its
  // maximum is 0. kDataLoss: a level is above its maximum, or is not there, or arrays do not fit
  // their elements. Precondition: no more than the block's entries.
  absl::Status Read(uint16_t* repetition, uint16_t* definition, size_t count);

 private:
  absl::Status ReadArrays(uint16_t* repetition, uint16_t* definition, size_t count);

  LevelLimits limits_;
  encodings::RleHybridReader repetition_;
  encodings::RleHybridReader definition_;
  encodings::RleHybridReader arrays_;
  uint32_t elements_left_ = 0;  // of the array in hand
};

}  // namespace cfile::internal
