#include "cfile/core/format/movable_block.h"

#include <algorithm>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;
using encodings::LoadLittleEndian;

constexpr size_t kOrdinalOffset = 20;

absl::Status CutOff(size_t size) {
  return DataLoss("the head of a movable block is cut off after ", size, " bytes");
}

absl::Status CheckHeadChecksum(std::span<const uint8_t> head) {
  const auto bytes = head.first(head.size() - kChecksumBytes);
  const auto expected = LoadLittleEndian<uint32_t>(bytes.data() + bytes.size());
  const uint32_t found = Crc32c(bytes);
  return found == expected ? absl::OkStatus()
                           : WrongChecksum(expected, found, " of the block's head");
}

// Divides the bytes that are added into parts of kPartBytes bytes, and writes the
// checksum of each part.
class PartChecksums {
 public:
  explicit PartChecksums(ByteWriter& out) : out_(out) {}
  void Add(std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      const auto some = bytes.first(std::min(bytes.size(), kPartBytes - size_));
      crc_ = ExtendCrc32c(crc_, some);
      size_ += some.size();
      bytes = bytes.subspan(some.size());
      if (size_ == kPartBytes) End();
    }
  }
  void Finish() {
    if (size_ > 0) End();
  }

 private:
  void End() {
    out_.PutFixed(crc_);
    crc_ = 0;
    size_ = 0;
  }
  ByteWriter& out_;
  uint32_t crc_ = 0;
  size_t size_ = 0;
};

}  // namespace

absl::Status CheckHead(std::span<const uint8_t> block) {
  const size_t size = HeadBytesOf(block.size());
  if (size > block.size()) return CutOff(block.size());
  return CheckHeadChecksum(block.first(size));
}

absl::Status ReadBlockHead(std::span<const uint8_t> block, bool verify, BlockHead& head) {
  if (block.size() < kHeadFieldBytes) return CutOff(block.size());
  const auto field = [&](size_t i) { return LoadLittleEndian<uint32_t>(block.data() + 4 * i); };
  head.encoding = static_cast<Encoding>(field(0));
  head.compression = static_cast<Compression>(field(1));
  head.num_rows = field(2);
  head.num_entries = field(3);
  head.present_count = field(4);
  head.first_ordinal = field(5);
  head.dictionary = field(6);
  for (size_t i = 0; i < kBlockSections; ++i)
    head.sections[i] = {.stored_size = field(7 + 2 * i), .size = field(8 + 2 * i)};
  const size_t size = head.size_bytes();
  if (size > block.size()) {
    return DataLoss("the head of a movable block says that it has ", size, " bytes, found ",
                    block.size());
  }
  if (verify) CFILE_RETURN_IF_ERROR(CheckHeadChecksum(block.first(size)));
  for (const BlockHead::Section& section : head.sections) {
    if (section.stored_size > section.size) {
      return DataLoss("a section of a movable block has ", section.size, " bytes, but ",
                      section.stored_size, " stored bytes");
    }
  }
  if (head.compressed() != (head.compression != Compression::kNone)) {
    return DataLoss("the head names ", CompressionName(head.compression), ", but ",
                    head.compressed() ? "a section is" : "no section is", " compressed");
  }
  if (head.dictionary != 0) {
    return absl::UnimplementedError(
        StrCat("the block needs dictionary ", head.dictionary,
               ", but this library supports one dictionary in a file, number 0"));
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockHead> ParseBlockHead(std::span<const uint8_t> block, bool verify) {
  BlockHead head;
  CFILE_RETURN_IF_ERROR(ReadBlockHead(block, verify, head));
  return head;
}

absl::Status CheckParts(const BlockHead& head, std::span<const uint8_t> block, uint64_t begin,
                        uint64_t end) {
  CFILE_ASSERT(block.size() == head.stored_bytes() && begin % kPartBytes == 0);
  const uint8_t* expected = block.data() + kHeadFieldBytes + kChecksumBytes * (begin / kPartBytes);
  const auto payload = block.subspan(head.size_bytes());
  for (; begin < std::min<uint64_t>(end, payload.size()); begin += kPartBytes) {
    const auto part = payload.subspan(begin, std::min(kPartBytes, payload.size() - begin));
    const auto stored = LoadLittleEndian<uint32_t>(expected);
    expected += kChecksumBytes;
    if (const uint32_t found = Crc32c(part); found != stored) {
      const size_t first = head.size_bytes() + begin;
      return WrongChecksum(
          stored, found, StrCat(" of the block's bytes ", first, " to ", first + part.size() - 1));
    }
  }
  return absl::OkStatus();
}

void AppendBlockHead(const BlockHead& head,
                     const std::array<std::span<const uint8_t>, kBlockSections>& stored,
                     ByteWriter& out) {
  const size_t begin = out.size();
  out.PutFixed(static_cast<uint32_t>(head.encoding));
  out.PutFixed(static_cast<uint32_t>(head.compression));
  out.PutFixed(head.num_rows);
  out.PutFixed(head.num_entries);
  out.PutFixed(head.present_count);
  out.PutFixed(head.first_ordinal);
  out.PutFixed(head.dictionary);
  for (const BlockHead::Section& section : head.sections) {
    out.PutFixed(section.stored_size);
    out.PutFixed(section.size);
  }
  PartChecksums parts(out);
  for (const auto section : stored) parts.Add(section);
  parts.Finish();
  out.PutFixed(Crc32c(out.span().subspan(begin)));
}

void SetFirstOrdinal(std::span<uint8_t> head, uint32_t first_ordinal) {
  encodings::StoreLittleEndian(first_ordinal, head.data() + kOrdinalOffset);
  const auto bytes = head.first(head.size() - kChecksumBytes);
  encodings::StoreLittleEndian(Crc32c(bytes), head.data() + bytes.size());
}

namespace {

// Splits the uncompressed block `bytes`, whose head is `head`.
absl::Status SplitSections(const BlockHead& head, std::span<const uint8_t> bytes,
                           std::span<const uint8_t>& levels, DataBlock& values) {
  const uint64_t size = head.size_bytes() + head.unpacked_bytes();
  if (bytes.size() != size) {
    return DataLoss("a movable block has ", bytes.size(), " bytes before compression, expected ",
                    size);
  }
  const auto sections = bytes.subspan(head.size_bytes());
  const size_t levels_size = head.sections[kLevels].size;
  const size_t skip_table = head.sections[kSkipTable].size;
  levels = sections.first(levels_size);
  values.encoding = head.encoding;
  values.present_count = head.present_count;
  values.first_ordinal = head.first_ordinal;
  values.body_ordinal = 0;
  values.skip_table = sections.subspan(levels_size, skip_table);
  values.values = sections.subspan(levels_size + skip_table);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MovableBlock> SplitMovableBlock(std::span<const uint8_t> bytes,
                                               const BlockHead* head) {
  MovableBlock block;
  if (head != nullptr) {
    block.head = *head;
  } else {
    CFILE_RETURN_IF_ERROR(ReadBlockHead(bytes, /*verify=*/false, block.head));
  }
  CFILE_RETURN_IF_ERROR(SplitSections(block.head, bytes, block.levels, block.values));
  return block;
}

absl::Status ParseNulls(std::span<const uint8_t> levels, const FileInfo& info,
                        const BlockHead& head, DataBlock& block) {
  uint32_t num_rows = head.present_count;
  if (info.nullable) {
    CFILE_ASSIGN_OR_RETURN(
        const DataBlock nulls,
        ParseDataBlock(levels, /*nullable=*/true, /*extended=*/false, info.encoding));
    num_rows = *nulls.num_rows;
    block.num_rows = num_rows;
    block.validity = nulls.validity;
    levels = nulls.values;  // the bytes after the null header
  }
  CFILE_RETURN_IF_ERROR(CheckLevelsEnd(levels));
  return CheckRowCounts(head, num_rows, num_rows);
}

absl::Status CheckLevelsEnd(std::span<const uint8_t> rest) {
  if (rest.empty()) return absl::OkStatus();
  return DataLoss(rest.size(), " bytes follow the levels of a movable block");
}

absl::Status CheckRowCounts(const BlockHead& head, uint64_t num_rows, uint64_t num_entries) {
  if (head.num_rows == num_rows && head.num_entries == num_entries) return absl::OkStatus();
  return DataLoss("the head of the block says ", head.num_rows, " rows and ", head.num_entries,
                  " entries, the block has ", num_rows, " and ", num_entries);
}

absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, const FileInfo& info,
                                         const BlockHead* head) {
  if (!info.has_movable_blocks())
    return ParseDataBlock(bytes, info.nullable, info.has_extended_blocks(), info.encoding);
  BlockHead own;
  if (head == nullptr) {
    CFILE_RETURN_IF_ERROR(ReadBlockHead(bytes, /*verify=*/false, own));
    head = &own;
  }
  absl::StatusOr<DataBlock> block(absl::in_place);
  std::span<const uint8_t> levels;
  CFILE_RETURN_IF_ERROR(SplitSections(*head, bytes, levels, *block));
  CFILE_RETURN_IF_ERROR(ParseNulls(levels, info, *head, *block));
  return block;
}

}  // namespace cfile::internal
