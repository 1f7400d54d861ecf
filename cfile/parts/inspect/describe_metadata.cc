#include "cfile/parts/inspect/describe_metadata.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/core/format/index_node.h"
#include "cfile/core/format/piece_table.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/parts/inspect/describe_message.h"
#include "cfile/parts/inspect/dictionary_block.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

using encodings::AsString;
using encodings::BlockDescription;

absl::Status AddMagic(std::span<const uint8_t> magic, BlockDescription& description) {
  const std::string_view text = AsString(magic);
  return description.AddBytes(kFileMagicBytes, "magic", absl::CEscape({text.data(), text.size()}));
}

// The key of an index entry as text.
std::string KeyText(const FileInfo& info, std::string_view key) {
  const absl::string_view bytes(key.data(), key.size());
  const bool text =
      info.type.data_type == DataType::kString || info.type.data_type == DataType::kVarchar;
  return text ? StrCat("\"", absl::CHexEscape(bytes), "\"")
              : StrCat("0x", absl::BytesToHexString(bytes));
}

// Adds the fields of one entry. `form`: how the key is stored.
absl::Status AddEntry(const FileInfo& info, RegionKind kind, IndexKeyForm form,
                      BlockDescription& description) {
  if (form == IndexKeyForm::kVint64Ordinal) {
    CFILE_RETURN_IF_ERROR(description.AddVint64("ordinal").status());
  } else {
    CFILE_ASSIGN_OR_RETURN(const uint64_t size, description.AddVint64("size of the key"));
    std::span<const uint8_t> key;
    if (!description.reader().ReadBytes(size, key))
      return DataLoss("the key of ", size, " bytes runs past the end");
    if (kind == RegionKind::kPositionalNode) {
      uint64_t ordinal = 0;
      for (const uint8_t byte : key) ordinal = ordinal << 8 | byte;
      description.Add("ordinal", StrCat(ordinal));
    } else if (!key.empty()) {
      description.Add("key", KeyText(info, AsString(key)));
    }
  }
  CFILE_RETURN_IF_ERROR(description.AddVint64("offset of the block").status());
  return description.AddVint32("size of the block").status();
}

// The offsets at which the parts of an index node end: the entries, the offsets of the entries, the
// trailer, and the size of the trailer.
struct NodeParts {
  size_t entries_end = 0;
  size_t offsets_end = 0;
  size_t trailer_end = 0;
};

absl::StatusOr<NodeParts> FindParts(std::span<const uint8_t> bytes) {
  constexpr size_t kLengthBytes = 4, kOffsetBytes = 4;
  constexpr uint64_t kMaxTrailerBytes = 64;
  if (bytes.size() < kLengthBytes) return DataLoss("a node of ", bytes.size(), " bytes");
  NodeParts parts{.trailer_end = bytes.size() - kLengthBytes};
  const auto size = encodings::LoadLittleEndian<uint32_t>(bytes.data() + parts.trailer_end);
  if (size > parts.trailer_end) return DataLoss("a trailer of ", size, " bytes");
  parts.offsets_end = parts.trailer_end - size;
  wire::IndexBlockTrailer trailer;
  const std::string_view message = AsString(bytes.subspan(parts.offsets_end, size));
  if (!wire::ParseMessage(message, kMaxTrailerBytes, trailer).ok() || !trailer.num_entries ||
      *trailer.num_entries < 0 ||
      static_cast<uint64_t>(*trailer.num_entries) > parts.offsets_end / kOffsetBytes) {
    return DataLoss("the node's trailer is malformed");
  }
  parts.entries_end = parts.offsets_end - kOffsetBytes * static_cast<size_t>(*trailer.num_entries);
  return parts;
}

absl::Status DescribeNode(FileReader& file, RegionKind kind, BlockDescription& description) {
  const std::span<const uint8_t> bytes = description.reader().rest();
  CFILE_ASSIGN_OR_RETURN(const NodeParts parts, FindParts(bytes));
  const bool positional = kind == RegionKind::kPositionalNode;
  IndexKeyForm form = IndexKeyForm::kBytes;
  if (const auto root = file.IndexRoot(positional ? IndexKind::kPositional : IndexKind::kValue);
      root.ok()) {
    form = (*root)->key_form();
  }
  while (description.reader().offset() < parts.entries_end && !description.full()) {
    CFILE_RETURN_IF_ERROR(AddEntry(file.info(), kind, form, description));
  }
  const size_t offset = description.reader().offset();
  if (offset > parts.entries_end) return DataLoss("the entries overlap their offsets");
  CFILE_RETURN_IF_ERROR(description.AddBytes(parts.entries_end - offset, "further entries"));
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(
      (parts.offsets_end - parts.entries_end) / sizeof(uint32_t), "offsets of the entries"));
  CFILE_RETURN_IF_ERROR(AddMessage(wire::IndexBlockTrailer::kType,
                                   parts.trailer_end - parts.offsets_end, description));
  return description.AddFixed32("size of the trailer").status();
}

absl::Status DescribeDictionary(const FileInfo& info, BlockDescription& description) {
  CFILE_ASSIGN_OR_RETURN(const DictionaryBlock block,
                         SplitDictionary(info, description.reader().rest()));
  const bool has_values = encodings::HasCodes(info.encoding);
  CFILE_RETURN_IF_ERROR(description.AddBytes(block.count_bytes,
                                             has_values ? "number of values" : "number of symbols",
                                             StrCat(block.values.count)));
  std::vector<BlockField> fields;
  const absl::Status status =
      encodings::DescribeBlock(block.encoding, info.type.physical(), info.type.type_length,
                               block.values, fields, description.max_fields());
  for (BlockField& field : fields)
    CFILE_RETURN_IF_ERROR(description.AddBytes(field.size, field.name, std::move(field.value)));
  return status;
}

absl::Status DescribePieceTable(BlockDescription& description) {
  absl::Status status;
  const absl::Status visited =
      VisitPieceRecords(description.reader().rest(), [&](const PieceRecord& record) {
        uint32_t pieces = 0;
        status = VisitPieces(record, [&](const Piece&) { return ++pieces > 0; });
        const auto end = static_cast<size_t>(record.pieces.data() + record.pieces.size() -
                                             description.reader().rest().data());
        if (status.ok()) {
          status = description.AddBytes(
              end, "record of a block",
              StrCat("at offset ", record.block.offset, ", ", record.block.size, " bytes, row ",
                     record.first_ordinal, ", ", EncodingName(record.encoding), ", ", pieces,
                     " pieces"));
        }
        return status.ok() && !description.full();
      });
  CFILE_RETURN_IF_ERROR(visited);
  CFILE_RETURN_IF_ERROR(status);
  return description.AddBytes(description.reader().remaining(), "further records");
}

absl::Status DescribePieceDirectory(BlockDescription& description) {
  while (!description.reader().empty() && !description.full()) {
    CFILE_RETURN_IF_ERROR(
        description.AddVint64("first block, after that of the entry before").status());
    CFILE_RETURN_IF_ERROR(
        description.AddVint64("offset of the table, after the table before").status());
    CFILE_RETURN_IF_ERROR(description.AddVint32("size of the table").status());
  }
  return description.AddBytes(description.reader().remaining(), "further entries");
}

absl::Status DescribeHeader(std::span<const uint8_t> bytes, BlockDescription& description) {
  if (bytes.size() < kFileMagicBytes) return DataLoss("a header of ", bytes.size(), " bytes");
  CFILE_RETURN_IF_ERROR(AddMagic(bytes.first(kFileMagicBytes), description));
  CFILE_ASSIGN_OR_RETURN(const uint32_t size, description.AddFixed32("size of the message"));
  CFILE_RETURN_IF_ERROR(AddMessage(wire::CFileHeader::kType, size, description));
  const size_t end = description.reader().offset();
  return end == bytes.size() ? absl::OkStatus()
                             : AddChecksum("checksum", bytes.first(end), description);
}

absl::Status DescribeFooter(bool has_checksum, std::span<const uint8_t> bytes,
                            BlockDescription& description) {
  if (has_checksum && bytes.size() >= kChecksumBytes)
    CFILE_RETURN_IF_ERROR(AddChecksum("checksum", bytes.subspan(kChecksumBytes), description));
  const std::span<const uint8_t> rest = description.reader().rest();
  constexpr size_t kTailBytes = kFileMagicBytes + kMessageSizeBytes;
  if (rest.size() < kTailBytes) return DataLoss("there is no magic");
  const size_t message_size = rest.size() - kTailBytes;
  const size_t message_end = description.reader().offset() + message_size;
  const absl::Status status = AddMessage(wire::CFileFooter::kType, message_size, description);
  CFILE_RETURN_IF_ERROR(description.AddBytes(message_end - description.reader().offset(),
                                             "rest of the message, which is malformed"));
  CFILE_RETURN_IF_ERROR(AddMagic(rest.subspan(message_size, kFileMagicBytes), description));
  CFILE_RETURN_IF_ERROR(description.AddFixed32("size of the message").status());
  return status;
}

}  // namespace

absl::Status AddChecksum(std::string_view name, std::span<const uint8_t> bytes,
                         BlockDescription& description) {
  uint32_t stored = 0;
  if (!description.reader().ReadFixed(stored)) return DataLoss("there is no checksum");
  const uint32_t found = Crc32c(bytes);
  description.Add(name, found == stored ? "right"
                                        : StrCat("wrong: the bytes have 0x",
                                                 absl::Hex(found, absl::kZeroPad8)));
  return absl::OkStatus();
}

void DescribeEnd(bool checksum, size_t max_fields, RegionDetails& end) {
  BlockDescription description(end.stored_bytes, max_fields);
  end.status = end.region.kind == RegionKind::kHeader
                   ? DescribeHeader(end.stored_bytes, description)
                   : DescribeFooter(checksum, end.stored_bytes, description);
  description.AddRest("unknown bytes");
  end.stored_fields = std::move(description).TakeFields();
}

absl::Status DescribeMetadataBlock(FileReader& file, RegionKind kind,
                                   BlockDescription& description) {
  switch (kind) {
    case RegionKind::kPositionalNode:
    case RegionKind::kValueNode:
      return DescribeNode(file, kind, description);
    case RegionKind::kDictionary:
      return DescribeDictionary(file.info(), description);
    case RegionKind::kPieceTable:
      return DescribePieceTable(description);
    case RegionKind::kPieceDirectory:
      return DescribePieceDirectory(description);
    default:
      CFILE_ASSERT(kind == RegionKind::kStatistics);
      return AddMessage(wire::Statistics::kType, description.reader().remaining(), description);
  }
}

}  // namespace cfile::internal
