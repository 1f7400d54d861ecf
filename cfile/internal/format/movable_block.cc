#include "cfile/internal/format/movable_block.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/crc32c.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::ByteReader;
using encodings::ByteWriter;
using encodings::DataLoss;
using encodings::LoadLittleEndian;

constexpr size_t kFieldBytes = 52;  // of the head, before its checksums
constexpr size_t kOrdinalOffset = 20;

uint64_t NumParts(uint64_t payload_bytes) { return (payload_bytes + kPartBytes - 1) / kPartBytes; }

absl::Status WrongChecksum(uint32_t expected, uint32_t found, std::string_view where) {
  return DataLoss("checksum mismatch ", where, ": expected 0x",
                  absl::Hex(expected, absl::kZeroPad8), ", found 0x",
                  absl::Hex(found, absl::kZeroPad8));
}

// Computes the checksums of the parts of the bytes that are added.
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

uint64_t BlockHead::payload_bytes() const {
  uint64_t sum = 0;
  for (const Section& section : sections) sum += section.stored_size;
  return sum;
}

uint64_t BlockHead::unpacked_bytes() const {
  uint64_t sum = 0;
  for (const Section& section : sections) sum += section.size;
  return sum;
}

size_t BlockHead::size_bytes() const {
  return kFieldBytes + kChecksumBytes * (NumParts(payload_bytes()) + 1);
}

bool BlockHead::compressed() const {
  return std::any_of(sections.begin(), sections.end(),
                     [](const Section& section) { return section.compressed(); });
}

absl::StatusOr<BlockHead> ParseBlockHead(std::span<const uint8_t> block, bool verify) {
  ByteReader reader(block);
  BlockHead head;
  uint32_t encoding, compression;
  bool whole = reader.ReadFixed(encoding) && reader.ReadFixed(compression) &&
               reader.ReadFixed(head.num_rows) && reader.ReadFixed(head.num_entries) &&
               reader.ReadFixed(head.present_count) && reader.ReadFixed(head.first_ordinal) &&
               reader.ReadFixed(head.dictionary);
  for (BlockHead::Section& section : head.sections)
    whole = whole && reader.ReadFixed(section.stored_size) && reader.ReadFixed(section.size);
  if (!whole || head.size_bytes() > block.size()) {
    return DataLoss("the head of a movable block is cut off after ", block.size(), " bytes");
  }
  if (verify) {
    const auto bytes = block.first(head.size_bytes() - kChecksumBytes);
    const auto expected = LoadLittleEndian<uint32_t>(bytes.data() + bytes.size());
    if (const uint32_t found = Crc32c(bytes); found != expected)
      return WrongChecksum(expected, found, "of the block's head");
  }
  head.encoding = static_cast<Encoding>(encoding);
  head.compression = static_cast<Compression>(compression);
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
        absl::StrCat("the block needs dictionary ", head.dictionary,
                     ", but this library supports one dictionary in a file, number 0"));
  }
  return head;
}

absl::Status CheckParts(const BlockHead& head, std::span<const uint8_t> block) {
  assert(block.size() == head.stored_bytes());
  const uint8_t* expected = block.data() + kFieldBytes;
  const auto payload = block.subspan(head.size_bytes());
  for (size_t begin = 0; begin < payload.size(); begin += kPartBytes) {
    const auto part = payload.subspan(begin, std::min(kPartBytes, payload.size() - begin));
    const auto stored = LoadLittleEndian<uint32_t>(expected);
    expected += kChecksumBytes;
    if (const uint32_t found = Crc32c(part); found != stored) {
      const size_t first = head.size_bytes() + begin;
      return WrongChecksum(
          stored, found,
          absl::StrCat("of the block's bytes ", first, " to ", first + part.size() - 1));
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

absl::StatusOr<MovableBlock> SplitMovableBlock(std::span<const uint8_t> bytes) {
  MovableBlock block;
  CFILE_ASSIGN_OR_RETURN(block.head, ParseBlockHead(bytes, /*verify=*/false));
  const BlockHead& head = block.head;
  const auto sections = bytes.subspan(head.size_bytes());
  if (sections.size() != head.unpacked_bytes()) {
    return DataLoss("the sections of a movable block have ", sections.size(), " bytes, expected ",
                    head.unpacked_bytes());
  }
  const size_t levels = head.sections[kLevels].size;
  const size_t skip_table = head.sections[kSkipTable].size;
  block.levels = sections.first(levels);
  block.values = {.encoding = head.encoding,
                  .present_count = head.present_count,
                  .first_ordinal = head.first_ordinal,
                  .body_ordinal = 0,
                  .skip_table = sections.subspan(levels, skip_table),
                  .values = sections.subspan(levels + skip_table)};
  return block;
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

absl::StatusOr<DataBlock> ParseDataBlock(std::span<const uint8_t> bytes, const FileInfo& info) {
  if (!info.has_movable_blocks())
    return ParseDataBlock(bytes, info.nullable, info.has_extended_blocks(), info.encoding);
  CFILE_ASSIGN_OR_RETURN(MovableBlock block, SplitMovableBlock(bytes));
  uint32_t num_rows = block.head.present_count;
  if (info.nullable) {
    CFILE_ASSIGN_OR_RETURN(
        const DataBlock nulls,
        ParseDataBlock(block.levels, /*nullable=*/true, /*extended=*/false, info.encoding));
    block.values.num_rows = nulls.num_rows;
    block.values.validity = nulls.validity;
    block.levels = nulls.values;  // the bytes after the null header
    num_rows = *nulls.num_rows;
  }
  CFILE_RETURN_IF_ERROR(CheckLevelsEnd(block.levels));
  CFILE_RETURN_IF_ERROR(CheckRowCounts(block.head, num_rows, num_rows));
  return block.values;
}

}  // namespace cfile::internal
