// The layout of a block of FSST (fsst.h) and of the symbol table, for encoder, decoder and
// description.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/fsst.h"

namespace cfile::encodings {

inline constexpr uint32_t kFsstGroupValues = 64;
// A search can begin at each step of this many values.
inline constexpr uint32_t kFsstStepValues = 16;
inline constexpr uint32_t kFsstGroupSteps = kFsstGroupValues / kFsstStepValues;

enum class FsstForm : uint8_t {
  kFrontCoded = 1,
  kSeparate = 2,  // each value is compressed by itself
};

// The top bit of the first byte of a group: the text is compressed.
inline constexpr uint8_t kFsstCodes = 0x80;

// A search in a group whose steps are not known fetches at most this many bytes in advance.
inline constexpr size_t kFsstFetchedGroupBytes = 1024;

// The number of groups of a block of `count` values, and the number of values of one group.
constexpr uint32_t FsstGroups(uint32_t count) {
  return count / kFsstGroupValues + (count % kFsstGroupValues != 0);
}
constexpr uint32_t FsstGroupCount(uint32_t count, uint32_t group) {
  return std::min(kFsstGroupValues, count - group * kFsstGroupValues);
}

// The header of a block.
struct FsstHeader {
  FsstForm form = FsstForm::kFrontCoded;
  std::span<const uint8_t> common;  // the prefix that all values share
  size_t offsets_begin = 0;         // bytes from the block's start
  size_t groups_begin = 0;
};

// Parses the header of a block of `count` values, at least 1.
inline absl::Status ParseFsstHeader(std::span<const uint8_t> block, uint32_t count,
                                    FsstHeader& header) {
  ByteReader reader(block);
  uint8_t form;
  uint32_t size;
  if (!reader.ReadFixed(form)) return DataLoss("fsst: a block of ", count, " values is empty");
  header.form = static_cast<FsstForm>(form);
  if (header.form != FsstForm::kFrontCoded && header.form != FsstForm::kSeparate)
    return DataLoss("fsst: form ", int{form}, ", expected 1 or 2");
  if (!reader.ReadVint32(size) || !reader.ReadBytes(size, header.common))
    return DataLoss("fsst: the common prefix is cut off in a block of ", block.size(), " bytes");
  header.offsets_begin = reader.offset();
  const uint64_t offsets = uint64_t{FsstGroups(count)} * sizeof(uint32_t);
  if (!reader.Skip(offsets)) {
    return DataLoss("fsst: the offsets of ", FsstGroups(count), " groups take ", offsets,
                    " bytes, found ", reader.remaining());
  }
  header.groups_begin = reader.offset();
  return absl::OkStatus();
}

// The parts of a group of form 1.
struct FsstGroup {
  bool compressed = false;
  int shared_width = 0;  // bits of each packed size
  int suffix_width = 0;
  uint32_t first_size = 0;    // of the first value, without the common prefix
  uint32_t least_shared = 0;  // the least size of those of the other values
  uint32_t least_suffix = 0;
  std::span<const uint8_t> shared;  // packed sizes of the other values
  std::span<const uint8_t> suffixes;
  std::span<const uint8_t> text;
};

// Parses a group of `count` values. Returns false if the group is cut off, or a width is more than
// 32 bits.
inline bool ParseFsstGroup(std::span<const uint8_t> bytes, uint32_t count, FsstGroup& group) {
  if (bytes.size() < 5) return false;
  group.compressed = (bytes[0] & kFsstCodes) != 0;
  group.shared_width = bytes[0] & ~kFsstCodes;
  group.suffix_width = bytes[1];
  if (group.shared_width > 32 || group.suffix_width > 32) return false;
  size_t at = 5;
  if (((bytes[2] | bytes[3] | bytes[4]) & 0x80) == 0) {
    group.first_size = bytes[2];
    group.least_shared = bytes[3];
    group.least_suffix = bytes[4];
  } else {
    ByteReader reader(bytes.subspan(2));
    if (!reader.ReadVint32(group.first_size) || !reader.ReadVint32(group.least_shared) ||
        !reader.ReadVint32(group.least_suffix))
      return false;
    at = 2 + reader.offset();
  }
  const auto shared_bytes = static_cast<size_t>(PackedBytes(count - 1, group.shared_width));
  const auto suffix_bytes = static_cast<size_t>(PackedBytes(count - 1, group.suffix_width));
  if (shared_bytes + suffix_bytes > bytes.size() - at) return false;
  group.shared = bytes.subspan(at, shared_bytes);
  group.suffixes = bytes.subspan(at + shared_bytes, suffix_bytes);
  group.text = bytes.subspan(at + shared_bytes + suffix_bytes);
  return true;
}

// The parts of a group of form 2.
struct FsstSeparateGroup {
  bool compressed = false;
  int width = 0;       // bits of each packed size
  uint32_t least = 0;  // the least size
  std::span<const uint8_t> sizes;
  std::span<const uint8_t> text;
};

// Does the same as ParseFsstGroup.
inline bool ParseFsstSeparateGroup(std::span<const uint8_t> bytes, uint32_t count,
                                   FsstSeparateGroup& group) {
  ByteReader reader(bytes);
  uint8_t first;
  if (!reader.ReadFixed(first) || !reader.ReadVint32(group.least)) return false;
  group.compressed = (first & kFsstCodes) != 0;
  group.width = first & ~kFsstCodes;
  if (group.width > 32) return false;
  if (!reader.ReadBytes(PackedBytes(count, group.width), group.sizes)) return false;
  group.text = reader.rest();
  return true;
}

// Returns the bytes of a group of a block of `groups` groups, or an empty span if the offset of the
// group or of the next one is wrong. Precondition: ParseFsstHeader has accepted the block.
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

// A place in the text of a group. It may be in the middle of a symbol: it is `skip` bytes after the
// front of the symbol, whose code is at byte `code` of the block.
class FsstPlace {
 public:
  static constexpr size_t kMostBlockBytes = size_t{1} << 29;

  // Preconditions: code < kMostBlockBytes; skip < kMaxSymbolBytes.
  FsstPlace() = default;
  FsstPlace(size_t code, size_t skip) : number_(static_cast<uint32_t>(code << 3 | skip)) {}
  size_t code() const { return number_ >> 3; }
  size_t skip() const { return number_ & 7; }

 private:
  uint32_t number_ = 0;
};

// Parses the header of a block, and checks where the first group begins. A block without values
// leaves `header` unchanged.
inline absl::Status OpenFsstBlock(std::span<const uint8_t> block, uint32_t count,
                                  FsstHeader& header) {
  if (count == 0) {
    if (block.empty()) return absl::OkStatus();
    return DataLoss("fsst: a block without values has ", block.size(), " bytes, expected 0");
  }
  FsstHeader parsed;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block, count, parsed));
  const auto first = LoadLittleEndian<uint32_t>(block.data() + parsed.offsets_begin);
  if (first != parsed.groups_begin) {
    return DataLoss("fsst: the first group is at byte ", first, ", expected ", parsed.groups_begin);
  }
  header = parsed;
  return absl::OkStatus();
}

// The error of a group of a block of `count` values: `what` is wrong with it.
inline absl::Status DamagedFsstGroup(uint32_t count, uint32_t group, const std::string& what) {
  return DataLoss("fsst: group ", group, ", of ", FsstGroupCount(count, group),
                  " values from value ", group * kFsstGroupValues, " on: ", what);
}
inline constexpr char kFsstWrongCode[] =
    "a code is not in the symbol table, or the last code is an escape code";

// Checks what can be checked of a block without its symbol table.
inline absl::Status CheckFsstBlock(std::span<const uint8_t> block, uint32_t count) {
  if (count == 0) return absl::OkStatus();
  FsstHeader header;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block, count, header));
  const uint32_t groups = FsstGroups(count);
  for (uint32_t i = 0; i < groups; ++i) {
    const std::span<const uint8_t> bytes = FsstGroupBytes(block, header, groups, i);
    FsstGroup group;
    FsstSeparateGroup separate;
    if (header.form == FsstForm::kFrontCoded
            ? !ParseFsstGroup(bytes, FsstGroupCount(count, i), group)
            : !ParseFsstSeparateGroup(bytes, FsstGroupCount(count, i), separate))
      return DataLoss("fsst: group ", i, " is cut off");
  }
  return absl::OkStatus();
}

}  // namespace cfile::encodings
