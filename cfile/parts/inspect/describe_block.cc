#include "cfile/parts/inspect/describe_block.h"

#include <string>
#include <utility>

#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/data_block.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/parts/inspect/describe_metadata.h"
#include "encodings/core/block_description.h"
#include "encodings/core/seek_by_reading.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/describe_runs.h"
#include "encodings/hybrid/levels.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

using encodings::BlockDescription;

// Adds the fields of the head of a movable block. `block`: all bytes of the block. `stored`: true
// if these are the bytes in the file, false if they are the bytes before compression.
absl::Status AddHead(std::span<const uint8_t> block, bool stored, BlockDescription& description) {
  CFILE_ASSIGN_OR_RETURN(const uint32_t encoding, description.AddFixed32("number of the encoding"));
  description.Explain(EncodingName(static_cast<Encoding>(encoding)));
  CFILE_ASSIGN_OR_RETURN(const uint32_t codec, description.AddFixed32("number of the codec"));
  description.Explain(CompressionName(static_cast<Compression>(codec)));
  for (const std::string_view name :
       {"rows", "entries", "number of values", "first ordinal", "number of the dictionary",
        "stored size of the levels", "size of the levels", "stored size of the skip table",
        "size of the skip table", "stored size of the body", "size of the body"}) {
    CFILE_RETURN_IF_ERROR(description.AddFixed32(name).status());
  }
  CFILE_ASSIGN_OR_RETURN(const BlockHead head, ParseBlockHead(block, /*verify=*/false));
  const size_t end = head.size_bytes() - kChecksumBytes;
  std::string parts = "of the stored bytes";
  if ((stored || !head.compressed()) && head.stored_bytes() == block.size()) {
    const absl::Status status = CheckParts(head, block);
    parts = status.ok() ? "right" : StrCat("wrong: ", status.message());
  }
  CFILE_RETURN_IF_ERROR(description.AddBytes(end - description.reader().offset(),
                                             "checksums of the parts", std::move(parts)));
  return AddChecksum("checksum of the head", block.first(end), description);
}

// Returns the fields of `stored`, a movable block as it is stored in the file.
std::vector<BlockField> StoredMovableFields(std::span<const uint8_t> stored) {
  BlockDescription description(stored);
  const absl::Status status = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(AddHead(stored, /*stored=*/true, description));
    CFILE_ASSIGN_OR_RETURN(const BlockHead head, ParseBlockHead(stored, /*verify=*/false));
    if (head.stored_bytes() != stored.size()) return DataLoss("the sizes do not fit");
    const auto& sections = head.sections;
    CFILE_RETURN_IF_ERROR(description.AddBytes(sections[kLevels].stored_size, "stored levels"));
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(sections[kSkipTable].stored_size, "stored skip table"));
    return description.AddBytes(sections[kBody].stored_size, "stored body");
  }();
  if (!status.ok()) description.AddRest("unknown bytes");
  return std::move(description).TakeFields();
}

}  // namespace

std::vector<BlockField> StoredFields(const FileInfo& info, const BlockFormat& format,
                                     std::span<const uint8_t> stored) {
  if (format.movable) return StoredMovableFields(stored);
  BlockDescription description(stored);
  const size_t checksum_bytes = info.has_checksums() ? kChecksumBytes : 0;
  const absl::Status status = [&]() -> absl::Status {
    if (format.compression != Compression::kNone) {
      if (format.compresses_all)
        CFILE_RETURN_IF_ERROR(description.AddFixed32("compressed size").status());
      CFILE_RETURN_IF_ERROR(description.AddFixed32("uncompressed size").status());
    }
    const size_t left = description.reader().remaining();
    if (left < checksum_bytes) return DataLoss("there is no room for a checksum");
    CFILE_RETURN_IF_ERROR(description.AddBytes(left - checksum_bytes, kStoredData));
    if (checksum_bytes == 0) return absl::OkStatus();
    return AddChecksum("checksum", stored.first(stored.size() - checksum_bytes), description);
  }();
  if (!status.ok()) description.AddRest("unknown bytes");
  return std::move(description).TakeFields();
}

namespace {

// Adds a number of bytes, and then the RLE-hybrid of `count` values in these bytes, run by run.
absl::Status AddRuns(std::string_view name_of_size, std::string_view name, uint32_t maximum,
                     uint64_t count, BlockDescription& description) {
  CFILE_ASSIGN_OR_RETURN(const uint64_t size, description.AddVint64(name_of_size));
  if (size > description.reader().remaining()) return description.AddBytes(size, name);
  const size_t end = description.reader().offset() + static_cast<size_t>(size);
  description.BeginStructure();
  const absl::Status status =
      encodings::DescribeRuns(encodings::LevelWidth(maximum), count, size, description);
  const size_t rest = end - description.reader().offset();
  const absl::Status added = status.ok()
                                 ? description.AddBytes(rest, "bytes after the last run")
                                 : description.AddBytes(rest, name, std::string(status.message()));
  description.EndStructure();
  return added;
}

// Adds the null bitmap or the levels.
absl::Status AddLevels(const FileInfo& info, BlockDescription& description) {
  if (!info.has_levels()) {
    if (!info.nullable) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(const uint32_t rows, description.AddVint32("rows"));
    return AddRuns("size of the null bitmap", "null bitmap", 1, rows, description);
  }
  if (!info.levels.kudu_array) {
    CFILE_ASSIGN_OR_RETURN(const uint32_t entries, description.AddVint32("entries"));
    CFILE_RETURN_IF_ERROR(description.AddVint32("records").status());
    CFILE_RETURN_IF_ERROR(AddRuns("size of the repetition levels", "repetition levels",
                                  info.levels.max_repetition, entries, description));
    return AddRuns("size of the definition levels", "definition levels", info.levels.max_definition,
                   entries, description);
  }
  CFILE_ASSIGN_OR_RETURN(const uint32_t elements, description.AddVint32("elements"));
  CFILE_ASSIGN_OR_RETURN(const uint32_t arrays, description.AddVint32("arrays"));
  CFILE_RETURN_IF_ERROR(AddRuns("size of the validity of the elements", "validity of the elements",
                                1, elements, description));
  CFILE_RETURN_IF_ERROR(AddRuns("size of the lengths of the arrays", "lengths of the arrays",
                                UINT16_MAX, arrays, description));
  return AddRuns("size of the validity of the arrays", "validity of the arrays", 1, arrays,
                 description);
}

// Adds the fields of a skip table of `size` bytes (cfile/FORMAT.md, Skip tables). `encoding`: the
// encoding of the block's values. `count`: the number of these values.
absl::Status AddSkipTable(const FileInfo& info, Encoding encoding, uint32_t count, uint64_t size,
                          BlockDescription& description) {
  if (size > description.reader().remaining()) return description.AddBytes(size, "skip table");
  const size_t end = description.reader().offset() + static_cast<size_t>(size);
  const auto left = [&] { return end - description.reader().offset(); };
  const PhysicalType type = info.type.physical();
  const bool wide = type == PhysicalType::kInt64 || type == PhysicalType::kUint64;
  const bool lengths = encoding == Encoding::kParquetDeltaLengthByteArray;
  const bool prefixes = encoding == Encoding::kParquetDeltaByteArray;
  const size_t place_bytes = prefixes ? 24 : lengths || wide ? 12 : 8;
  if (prefixes && left() >= sizeof(uint32_t))
    CFILE_RETURN_IF_ERROR(description.AddFixed32("offset of the suffixes in the body").status());
  if ((prefixes || lengths) && left() >= sizeof(uint32_t))
    CFILE_RETURN_IF_ERROR(description.AddFixed32("offset of the bytes of the values").status());
  const uint32_t places = count == 0 ? 0 : (count - 1) / encodings::kSkipInterval;
  for (uint32_t i = 0; i < places && left() >= place_bytes && !description.full(); ++i) {
    const auto offset = encodings::LoadLittleEndian<uint32_t>(description.reader().rest().data());
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(place_bytes, "place in the skip table",
                             StrCat("value ", uint64_t{i + 1} * encodings::kSkipInterval,
                                    ": the next delta block is at byte ", offset)));
  }
  return description.AddBytes(
      left(), prefixes ? "rest of the skip table, with stored prefixes" : "rest of the skip table");
}

// Adds the fields of a data block that lie before the values: the head of a movable block,
// the null bitmap or the levels, and the header of an extended block.
// These fields determine `encoding` and `values`, which this function sets.
absl::Status AddPrefix(const FileInfo& info, BlockDescription& description, Encoding& encoding,
                       encodings::BlockView& values) {
  if (info.has_movable_blocks()) {
    const auto bytes = description.reader().rest();
    CFILE_RETURN_IF_ERROR(AddHead(bytes, /*stored=*/false, description));
    CFILE_ASSIGN_OR_RETURN(const MovableBlock block, SplitMovableBlock(bytes));
    encoding = block.values.encoding;
    values.count = block.head.present_count;
    values.first_ordinal = block.values.body_ordinal;
    const size_t levels_end = description.reader().offset() + block.levels.size();
    CFILE_RETURN_IF_ERROR(AddLevels(info, description));
    if (description.reader().offset() != levels_end)
      return DataLoss("the levels do not have the size that the head says");
    return AddSkipTable(info, encoding, values.count, block.values.skip_table.size(), description);
  }
  CFILE_RETURN_IF_ERROR(AddLevels(info, description));
  if (!info.has_extended_blocks()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const uint32_t number, description.AddVint32("number of the encoding"));
  encoding = static_cast<Encoding>(number);
  description.Explain(EncodingName(encoding));
  CFILE_ASSIGN_OR_RETURN(values.count, description.AddVint32("number of values"));
  CFILE_ASSIGN_OR_RETURN(values.first_ordinal, description.AddVint32("first ordinal"));
  CFILE_ASSIGN_OR_RETURN(const uint64_t size, description.AddVint64("size of the skip table"));
  return AddSkipTable(info, encoding, values.count, size, description);
}

}  // namespace

absl::Status DescribeDataBlock(const FileInfo& info, size_t max_fields, RegionDetails& block) {
  BlockDescription description(block.bytes, max_fields);
  if (info.holds_bloom_filters()) {
    const absl::Status status = [&]() -> absl::Status {
      CFILE_ASSIGN_OR_RETURN(const uint32_t size, description.AddFixed32("size of the header"));
      return description.AddBytes(size, "header");
    }();
    description.AddRest(status.ok() ? "bits of the Bloom filter" : "unknown bytes");
    block.fields = std::move(description).TakeFields();
    return status;
  }
  encodings::BlockView values;
  const absl::Status status = AddPrefix(info, description, block.encoding, values);
  values.bytes = description.reader().rest();
  const size_t begin = description.reader().offset();
  if (!status.ok()) {
    description.AddRest("unknown bytes");
    block.fields = std::move(description).TakeFields();
    return status;
  }
  block.fields = std::move(description).TakeFields();
  std::vector<BlockField> of_values;
  const absl::Status described = encodings::DescribeBlock(
      block.encoding, info.type.physical(), info.type.type_length, values, of_values, max_fields);
  for (BlockField& field : of_values) {
    field.offset += begin;
    block.fields.push_back(std::move(field));
  }
  return described;
}

absl::Status CheckDataBlock(FileReader& file, const RegionDetails& block) {
  const FileInfo& info = file.info();
  if (info.holds_bloom_filters()) return CheckBloomFilter(block.bytes);
  CFILE_ASSIGN_OR_RETURN(const auto dictionary, file.Dictionary());
  const auto open = [&](auto cursor) {
    CFILE_RETURN_IF_ERROR(cursor.Open(block.bytes, info, block.region.first_ordinal));
    return CheckEndOrdinal(uint64_t{cursor.first_ordinal()} + cursor.num_rows(), info.num_rows);
  };
  return info.has_levels() ? open(LevelBlockCursor(info.type, {dictionary}))
                           : open(BlockCursor(info.type, {dictionary}));
}

}  // namespace cfile::internal
