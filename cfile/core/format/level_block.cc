#include "cfile/core/format/level_block.h"

#include <algorithm>
#include <limits>

#include "encodings/core/status.h"
#include "encodings/hybrid/levels.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/level_kernels.h"

namespace cfile::internal {
namespace {

using encodings::ByteReader;
using encodings::ByteWriter;
using encodings::LastGroup;
using encodings::LevelWidth;

constexpr int kLengthWidth = 16;  // bits of an array's length
constexpr uint16_t kMaxLength = std::numeric_limits<uint16_t>::max();

// The definition level of an empty array.
uint16_t EmptyArray(const LevelLimits& limits) {
  return static_cast<uint16_t>(limits.max_definition - 2);
}

absl::Status CheckLevels(std::string_view kind, const uint16_t* levels, size_t count,
                         uint16_t max) {
  // The bit width may exclude levels above the maximum; then no check is needed.
  if (max == (1u << LevelWidth(max)) - 1) return absl::OkStatus();
  const uint16_t highest = encodings::LargestLevel(levels, count);
  if (highest <= max) return absl::OkStatus();
  return DataLoss("expected ", kind, " levels of at most ", max, ", found ", highest);
}

}  // namespace

LevelEncoder::LevelEncoder(const LevelLimits& limits, bool kudu_exact)
    : limits_(limits),
      repetition_(limits.kudu_array ? kLengthWidth : LevelWidth(limits.max_repetition), kudu_exact),
      definition_(limits.kudu_array ? 1 : LevelWidth(limits.max_definition), kudu_exact),
      arrays_(kudu_exact) {}

absl::Status LevelEncoder::Add(const uint16_t* repetition, const uint16_t* definition, size_t count,
                               uint64_t first_entry) {
  if (limits_.kudu_array) return AddArrays(repetition, definition, count, first_entry);
  if (limits_.max_repetition > 0) repetition_.PutValues(std::span(repetition, count));
  if (limits_.max_definition > 0) definition_.PutValues(std::span(definition, count));
  return absl::OkStatus();
}

absl::Status LevelEncoder::AddArrays(const uint16_t* repetition, const uint16_t* definition,
                                     size_t count, uint64_t first_entry) {
  const uint16_t empty = EmptyArray(limits_);
  for (size_t i = 0; i < count; ++i) {
    if (repetition[i] == 0) {
      EndArray();
      in_array_ = true;
      has_room_ = definition[i] > empty;
      arrays_.AddRun(definition[i] >= empty, 1);
    }
    if (repetition[i] > 0 && (!has_room_ || definition[i] <= empty)) {
      return absl::InvalidArgumentError(
          StrCat("entry ", first_entry + i, ": an array that is null or empty has one entry only"));
    }
    if (!has_room_) continue;
    if (length_ == kMaxLength) {
      return OutOfRange("entry ", first_entry + i, ": an array has at most ", kMaxLength,
                        " elements");
    }
    ++length_;
    ++num_elements_;
    definition_.PutRun(definition[i] == limits_.max_definition ? 1 : 0, 1);
  }
  return absl::OkStatus();
}

void LevelEncoder::EndArray() {
  if (in_array_) repetition_.PutRun(length_, 1);
  in_array_ = false;
  length_ = 0;
}

size_t LevelEncoder::size_bytes() const {
  return repetition_.size_bytes() + definition_.size_bytes() + arrays_.size_bytes();
}

void LevelEncoder::Finish(uint32_t num_entries, uint32_t num_records, ByteWriter& out) {
  ByteWriter bytes;
  const auto put = [&](encodings::RleHybridEncoder& levels, LastGroup last_group) {
    bytes.Clear();
    levels.Finish(bytes, last_group);
    out.PutLengthPrefixed(bytes.span());
  };
  if (limits_.kudu_array) {
    EndArray();
    out.PutVint(num_elements_);
    out.PutVint(num_records);
    put(definition_, LastGroup::kWhole);
    put(repetition_, LastGroup::kTruncated);
    bytes.Clear();
    arrays_.Finish(bytes);
    out.PutLengthPrefixed(bytes.span());
    num_elements_ = 0;
    return;
  }
  out.PutVint(num_entries);
  out.PutVint(num_records);
  put(repetition_, LastGroup::kWhole);
  put(definition_, LastGroup::kWhole);
}

namespace {

// Counts the entries of arrays: one for each element, and one for each array without elements. The
// time grows with the bytes of the lengths, not with the number of arrays that they claim.
absl::Status CountEntries(uint32_t num_elements, LevelBlock& block) {
  const encodings::RleHybridReader lengths(block.repetition, kLengthWidth);
  encodings::HybridCursor cursor = lengths.cursor();
  uint64_t elements = 0, entries = 0;
  for (uint64_t left = block.num_records; left > 0;) {
    if (!cursor.NextRun()) return lengths.Damaged(cursor, block.num_records - left);
    const uint64_t count = std::min(left, cursor.left);
    left -= count;
    if (cursor.literals == nullptr) {
      elements += count * cursor.value;
      entries += count * std::max<uint64_t>(cursor.value, 1);
      continue;
    }
    uint16_t buffer[1024];
    for (uint64_t done = 0; done < count; done += std::size(buffer)) {
      const auto some = static_cast<size_t>(std::min<uint64_t>(count - done, std::size(buffer)));
      encodings::UnpackBits(cursor.packed(), kLengthWidth, done, buffer, some);
      for (size_t i = 0; i < some; ++i) {
        elements += buffer[i];
        entries += std::max<uint16_t>(buffer[i], 1);
      }
    }
  }
  if (elements != num_elements) {
    return DataLoss("the arrays have ", elements, " elements, expected ", num_elements);
  }
  if (entries > std::numeric_limits<uint32_t>::max())
    return DataLoss("the block has more than 2^32 - 1 entries");
  block.num_entries = static_cast<uint32_t>(entries);
  return absl::OkStatus();
}

// Reads the level header or the array header at the position of `reader`.
absl::Status ReadHeader(const FileInfo& info, ByteReader& reader, LevelBlock& block) {
  uint32_t first_count;
  const bool array = info.levels.kudu_array;
  if (!reader.ReadVint32(first_count) || !reader.ReadVint32(block.num_records) ||
      !reader.ReadLengthPrefixed(array ? block.definition : block.repetition) ||
      !reader.ReadLengthPrefixed(array ? block.repetition : block.definition) ||
      (array && !reader.ReadLengthPrefixed(block.arrays))) {
    return DataLoss("the levels are cut off after byte ", reader.offset(), " of ",
                    reader.offset() + reader.remaining());
  }
  if (block.num_records == 0) return DataLoss("a data block has no records");
  if (block.num_records > info.num_rows) {
    return DataLoss("the block has ", block.num_records, " records, the file ", info.num_rows);
  }
  if (array) {
    CFILE_RETURN_IF_ERROR(CountEntries(first_count, block));
  } else {
    block.num_entries = first_count;
  }
  const bool one_each = info.levels.max_repetition == 0;
  if (one_each ? block.num_entries != block.num_records : block.num_entries < block.num_records) {
    return DataLoss("the block has ", block.num_entries, " entries for ", block.num_records,
                    " records, expected ", one_each ? "one for each" : "at least one for each");
  }
  if (info.num_entries && block.num_entries > *info.num_entries) {
    return DataLoss("the block has ", block.num_entries, " entries, the file ", *info.num_entries);
  }
  return absl::OkStatus();
}

// In a flat column, each row is a record with one entry.
void UseNulls(LevelBlock& block) {
  block.num_entries = block.num_records = block.values.num_rows.value_or(0);
  block.definition = block.values.validity;
  block.values.num_rows.reset();
}

}  // namespace

absl::StatusOr<LevelBlock> ParseLevels(std::span<const uint8_t> levels, const FileInfo& info,
                                       const BlockHead& head) {
  LevelBlock block;
  if (info.has_levels()) {
    ByteReader reader(levels);
    CFILE_RETURN_IF_ERROR(ReadHeader(info, reader, block));
    CFILE_RETURN_IF_ERROR(CheckLevelsEnd(reader.rest()));
    CFILE_RETURN_IF_ERROR(CheckRowCounts(head, block.num_records, block.num_entries));
  } else {
    CFILE_RETURN_IF_ERROR(ParseNulls(levels, info, head, block.values));
    UseNulls(block);
  }
  return block;
}

absl::StatusOr<LevelBlock> ParseLevelBlock(std::span<const uint8_t> bytes, const FileInfo& info,
                                           const BlockHead* head) {
  LevelBlock block;
  if (!info.has_levels()) {
    CFILE_ASSIGN_OR_RETURN(block.values, ParseDataBlock(bytes, info, head));
    UseNulls(block);
    return block;
  }
  if (info.has_movable_blocks()) {
    CFILE_ASSIGN_OR_RETURN(const MovableBlock movable, SplitMovableBlock(bytes, head));
    CFILE_ASSIGN_OR_RETURN(block, ParseLevels(movable.levels, info, movable.head));
    block.values = movable.values;
    return block;
  }
  ByteReader reader(bytes);
  CFILE_RETURN_IF_ERROR(ReadHeader(info, reader, block));
  CFILE_ASSIGN_OR_RETURN(block.values, ParseDataBlock(reader.rest(), /*nullable=*/false,
                                                      info.has_extended_blocks(), info.encoding));
  return block;
}

void LevelDecoder::Open(const LevelBlock& block, const LevelLimits& limits) {
  limits_ = limits;
  repetition_.Open(block.repetition,
                   limits.kudu_array ? kLengthWidth : LevelWidth(limits.max_repetition));
  definition_.Open(block.definition, limits.kudu_array ? 1 : LevelWidth(limits.max_definition));
  arrays_.Open(block.arrays, 1);
  elements_left_ = 0;
}

absl::Status LevelDecoder::Read(uint16_t* repetition, uint16_t* definition, size_t count) {
  if (limits_.kudu_array) return ReadArrays(repetition, definition, count);
  if (limits_.max_repetition > 0) {
    CFILE_RETURN_IF_ERROR(repetition_.Read(repetition, count));
    CFILE_RETURN_IF_ERROR(CheckLevels("repetition", repetition, count, limits_.max_repetition));
  }
  if (limits_.max_definition > 0) {
    CFILE_RETURN_IF_ERROR(definition_.Read(definition, count));
    CFILE_RETURN_IF_ERROR(CheckLevels("definition", definition, count, limits_.max_definition));
  }
  return absl::OkStatus();
}

absl::Status LevelDecoder::ReadArrays(uint16_t* repetition, uint16_t* definition, size_t count) {
  const uint16_t empty = EmptyArray(limits_);
  while (count > 0) {
    bool begins = false;
    if (elements_left_ == 0) {
      uint16_t length = 0, valid = 0;
      CFILE_RETURN_IF_ERROR(repetition_.Read(&length, 1));
      CFILE_RETURN_IF_ERROR(arrays_.Read(&valid, 1));
      if (valid == 0 && (empty == 0 || length > 0)) {
        return DataLoss("array ", arrays_.position() - 1, " of the block is null, ",
                        empty == 0 ? "but the column is not nullable" : "but has elements");
      }
      if (length == 0) {
        *repetition++ = 0;
        *definition++ = static_cast<uint16_t>(valid == 0 ? empty - 1 : empty);
        --count;
        continue;
      }
      elements_left_ = length;
      begins = true;
    }
    const size_t taken = std::min<size_t>(elements_left_, count);
    std::fill_n(repetition, taken, uint16_t{1});
    if (begins) *repetition = 0;
    CFILE_RETURN_IF_ERROR(definition_.Read(definition, taken));
    for (size_t i = 0; i < taken; ++i)
      definition[i] = static_cast<uint16_t>(definition[i] + empty + 1);
    repetition += taken;
    definition += taken;
    count -= taken;
    elements_left_ -= static_cast<uint32_t>(taken);
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
