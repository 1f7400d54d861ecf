// The layout of a block of FSST (fsst.h), for encoder, decoder and description.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {

enum class FsstForm : uint8_t {
  kFrontCoded = 1,
  kSeparate = 2,  // each value is compressed by itself
};

inline constexpr uint32_t kFsstGroupValues = 64;
// The top bit of the first byte of a group: the text is compressed.
inline constexpr uint8_t kFsstCodes = 0x80;

// The number of groups of a block of `count` values, and the number of values of one group.
constexpr uint32_t FsstGroups(uint32_t count) {
  return count / kFsstGroupValues + (count % kFsstGroupValues != 0);
}
constexpr uint32_t FsstGroupCount(uint32_t count, uint32_t group) {
  return std::min(kFsstGroupValues, count - group * kFsstGroupValues);
}

struct FsstHeader {
  FsstForm form = FsstForm::kFrontCoded;
  std::span<const uint8_t> common;  // the prefix that all values share
  size_t offsets_begin = 0;         // bytes from the block's start
  size_t groups_begin = 0;
};

// Sets `header` to the header of a block of `count` values. kDataLoss: the header is damaged, or
// the first group does not begin directly after it. If there are no values, leaves `header` as it
// is.
inline absl::Status ParseFsstHeader(std::span<const uint8_t> block, uint32_t count,
                                    FsstHeader& header) {
  if (count == 0) {
    if (block.empty()) return absl::OkStatus();
    return DataLoss("fsst: a block without values has ", block.size(), " bytes, expected 0");
  }
  ByteReader reader(block);
  uint8_t form;
  uint32_t size, first;
  if (!reader.ReadFixed(form)) return DataLoss("fsst: a block of ", count, " values is empty");
  FsstHeader parsed{.form = static_cast<FsstForm>(form)};
  if (parsed.form != FsstForm::kFrontCoded && parsed.form != FsstForm::kSeparate)
    return DataLoss("fsst: form ", int{form}, ", expected 1 or 2");
  if (!reader.ReadVint32(size) || !reader.ReadBytes(size, parsed.common))
    return DataLoss("fsst: the common prefix is cut off in a block of ", block.size(), " bytes");
  parsed.offsets_begin = reader.offset();
  const uint64_t offsets = uint64_t{FsstGroups(count)} * sizeof(uint32_t);
  ByteReader first_reader = reader;
  if (!reader.Skip(offsets) || !first_reader.ReadFixed(first)) {
    return DataLoss("fsst: the offsets of ", FsstGroups(count), " groups take ", offsets,
                    " bytes, found ", reader.remaining());
  }
  parsed.groups_begin = reader.offset();
  if (first != parsed.groups_begin) {
    return DataLoss("fsst: the first group is at byte ", first, ", expected ", parsed.groups_begin);
  }
  header = parsed;
  return absl::OkStatus();
}

// Returns the bytes of a group of a block of `groups` groups, or none if the offset of the group or
// of the next one is wrong. Precondition: ParseFsstHeader has accepted the block.
inline std::span<const uint8_t> FsstGroupBytes(std::span<const uint8_t> block,
                                               const FsstHeader& header, uint32_t groups,
                                               uint32_t group) {
  const auto offset = [&](uint32_t i) {
    return LoadLittleEndian<uint32_t>(block.data() + header.offsets_begin + size_t{i} * 4);
  };
  const size_t begin = offset(group);
  const size_t end = group + 1 == groups ? block.size() : offset(group + 1);
  if (begin < header.groups_begin || begin >= end || end > block.size()) return {};
  return block.subspan(begin, end - begin);
}

// The parts of a group. In form 2, the suffixes are the values as they are stored.
struct FsstGroup {
  bool compressed = false;
  int shared_width = 0;  // bits of each packed size
  int suffix_width = 0;
  uint32_t first_size = 0;    // form 1: of the first value, without the common prefix
  uint32_t least_shared = 0;  // the least size of those that are packed
  uint32_t least_suffix = 0;
  std::span<const uint8_t> shared;  // packed sizes; form 1: of all values but the first one
  std::span<const uint8_t> suffixes;
  std::span<const uint8_t> text;  // or codes
};

// Parses a group of `count` values. Returns false if it is cut off or if a width is too large. Does
// not check the sizes.
inline bool ParseFsstGroup(FsstForm form, std::span<const uint8_t> bytes, uint32_t count,
                           FsstGroup& group) {
  ByteReader reader(bytes);
  uint8_t kind, suffix_width;
  if (!reader.ReadFixed(kind)) return false;
  group.compressed = (kind & kFsstCodes) != 0;
  suffix_width = kind & ~kFsstCodes;
  if (form == FsstForm::kFrontCoded) {
    --count;
    group.shared_width = suffix_width;
    if (!reader.ReadFixed(suffix_width) || !reader.ReadVint32(group.first_size) ||
        !reader.ReadVint32(group.least_shared))
      return false;
  }
  group.suffix_width = suffix_width;
  if (group.shared_width > 32 || group.suffix_width > 32 ||
      !reader.ReadVint32(group.least_suffix) ||
      !reader.ReadBytes(PackedBytes(count, group.shared_width), group.shared) ||
      !reader.ReadBytes(PackedBytes(count, group.suffix_width), group.suffixes))
    return false;
  group.text = reader.rest();
  return true;
}

}  // namespace cfile::encodings
