// DescribeBlock and FindBlock: the bytes of one data block, field by field.
#include "cfile/inspect.h"

#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/crc32c.h"
#include "cfile/internal/format/data_block.h"
#include "cfile/internal/format/file_policy.h"
#include "cfile/internal/format/stored_block.h"
#include "cfile/internal/read/block_cursor.h"
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/index_walk.h"
#include "cfile/internal/read/level_block_cursor.h"
#include "cfile/internal/read/reader_access.h"
#include "cfile/reader.h"
#include "encodings/core/block_description.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile {
namespace {

using encodings::BlockDescription;
using encodings::DataLoss;
using encodings::StrCat;
using internal::FileReader;
using internal::IndexWalk;
using internal::kChecksumBytes;

// Goes to the first data block of the file, by the positional index if there is one.
absl::StatusOr<IndexWalk> FirstBlock(FileReader& file) {
  IndexWalk walk(&file,
                 file.info().positional_index_root ? IndexKind::kPositional : IndexKind::kValue);
  CFILE_RETURN_IF_ERROR(walk.SeekToOrdinal(0));
  return walk;
}

// Returns the value of a checksum field as text.
// `found`: the checksum of the bytes. `expected`: the stored checksum.
std::string RightOrWrong(uint32_t found, uint32_t expected) {
  if (found == expected) return "right";
  return StrCat("wrong: the bytes have 0x", absl::Hex(found, absl::kZeroPad8));
}

// Adds the fields of the head of a movable block. `block`: bytes that begin with the head.
absl::Status AddHead(std::span<const uint8_t> block, BlockDescription& description) {
  for (const std::string_view name :
       {"number of the encoding", "number of the codec", "rows", "entries", "number of values",
        "first ordinal", "number of the dictionary", "stored size of the levels",
        "size of the levels", "stored size of the skip table", "size of the skip table",
        "stored size of the body", "size of the body"}) {
    CFILE_RETURN_IF_ERROR(description.AddFixed32(name).status());
  }
  CFILE_ASSIGN_OR_RETURN(const internal::BlockHead head,
                         internal::ParseBlockHead(block, /*verify=*/false));
  const size_t end = head.size_bytes() - kChecksumBytes;
  CFILE_RETURN_IF_ERROR(
      description.AddBytes(end - description.reader().offset(), "checksums of the parts"));
  return description.AddBytes(
      kChecksumBytes, "checksum of the head",
      RightOrWrong(internal::Crc32c(block.first(end)),
                   encodings::LoadLittleEndian<uint32_t>(block.data() + end)));
}

// Returns the fields of `stored`, a movable block as it is stored in the file.
std::vector<BlockField> StoredMovableFields(std::span<const uint8_t> stored) {
  BlockDescription description(stored);
  const absl::Status status = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(AddHead(stored, description));
    CFILE_ASSIGN_OR_RETURN(const internal::BlockHead head,
                           internal::ParseBlockHead(stored, /*verify=*/false));
    if (head.stored_bytes() != stored.size()) return DataLoss("the sizes do not fit");
    const absl::Status parts = internal::CheckParts(head, stored);
    const auto& sections = head.sections;
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(sections[internal::kLevels].stored_size, "stored levels"));
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(sections[internal::kSkipTable].stored_size, "stored skip table"));
    return description.AddBytes(
        sections[internal::kBody].stored_size, "stored body",
        parts.ok() ? "the checksums of the parts are right" : std::string(parts.message()));
  }();
  if (!status.ok()) description.AddRest("unknown bytes");
  return std::move(description).TakeFields();
}

// Returns the fields of `stored`, a block as it is stored in the file.
std::vector<BlockField> StoredFields(const FileInfo& info, std::span<const uint8_t> stored) {
  if (info.has_movable_blocks()) return StoredMovableFields(stored);
  BlockDescription description(stored);
  const size_t checksum_bytes = info.has_checksums() ? kChecksumBytes : 0;
  const absl::Status status = [&]() -> absl::Status {
    if (info.compression != Compression::kNone) {
      if (internal::PolicyOf(info.version).compresses_all)
        CFILE_RETURN_IF_ERROR(description.AddFixed32("compressed size").status());
      CFILE_RETURN_IF_ERROR(description.AddFixed32("uncompressed size").status());
    }
    const size_t left = description.reader().remaining();
    if (left < checksum_bytes) return DataLoss("there is no room for a checksum");
    CFILE_RETURN_IF_ERROR(description.AddBytes(left - checksum_bytes, "data"));
    if (checksum_bytes == 0) return absl::OkStatus();
    const auto bytes = stored.first(stored.size() - checksum_bytes);
    return description.AddBytes(
        checksum_bytes, "checksum",
        RightOrWrong(internal::Crc32c(bytes),
                     encodings::LoadLittleEndian<uint32_t>(stored.data() + bytes.size())));
  }();
  if (!status.ok()) description.AddRest("unknown bytes");
  return std::move(description).TakeFields();
}

// Adds a number of bytes, and then these bytes.
absl::Status AddSized(std::string_view name_of_size, std::string_view name,
                      BlockDescription& description) {
  CFILE_ASSIGN_OR_RETURN(const uint64_t size, description.AddVint64(name_of_size));
  return description.AddBytes(size, name);
}

// Adds the null bitmap or the levels.
absl::Status AddLevels(const FileInfo& info, BlockDescription& description) {
  if (info.has_levels()) {
    const bool arrays = info.levels.kudu_array;
    CFILE_RETURN_IF_ERROR(description.AddVint32(arrays ? "elements" : "entries").status());
    CFILE_RETURN_IF_ERROR(description.AddVint32(arrays ? "arrays" : "records").status());
    CFILE_RETURN_IF_ERROR(
        AddSized(arrays ? "size of the validity of the elements" : "size of the repetition levels",
                 arrays ? "validity of the elements" : "repetition levels", description));
    CFILE_RETURN_IF_ERROR(
        AddSized(arrays ? "size of the lengths of the arrays" : "size of the definition levels",
                 arrays ? "lengths of the arrays" : "definition levels", description));
    if (!arrays) return absl::OkStatus();
    return AddSized("size of the validity of the arrays", "validity of the arrays", description);
  }
  if (!info.nullable) return absl::OkStatus();
  CFILE_RETURN_IF_ERROR(description.AddVint32("rows").status());
  return AddSized("size of the null bitmap", "null bitmap", description);
}

// Adds the fields of a data block that lie before the values: the head of a movable block,
// the null bitmap or the levels, and the header of an extended block.
// These fields determine `encoding` and `values`, which this function sets.
absl::Status AddPrefix(const FileInfo& info, BlockDescription& description, Encoding& encoding,
                       encodings::BlockView& values) {
  if (info.has_movable_blocks()) {
    const auto bytes = description.reader().rest();
    CFILE_RETURN_IF_ERROR(AddHead(bytes, description));
    CFILE_ASSIGN_OR_RETURN(const internal::MovableBlock block, internal::SplitMovableBlock(bytes));
    encoding = block.values.encoding;
    values.count = block.head.present_count;
    values.first_ordinal = block.values.body_ordinal;
    const size_t levels_end = description.reader().offset() + block.levels.size();
    CFILE_RETURN_IF_ERROR(AddLevels(info, description));
    if (description.reader().offset() != levels_end)
      return DataLoss("the levels do not have the size that the head says");
    return description.AddBytes(block.values.skip_table.size(), "skip table");
  }
  CFILE_RETURN_IF_ERROR(AddLevels(info, description));
  if (!info.has_extended_blocks()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const uint32_t number, description.AddVint32("number of the encoding"));
  encoding = static_cast<Encoding>(number);
  CFILE_ASSIGN_OR_RETURN(values.count, description.AddVint32("number of values"));
  CFILE_ASSIGN_OR_RETURN(values.first_ordinal, description.AddVint32("first ordinal"));
  return AddSized("size of the skip table", "skip table", description);
}

// Sets encoding and fields of `block` from its bytes before compression.
absl::Status DescribeBytes(const FileInfo& info, BlockDetails& block) {
  BlockDescription description(block.bytes);
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
  const absl::Status described = encodings::DescribeBlock(block.encoding, info.type.physical(),
                                                          info.type.type_length, values, of_values);
  for (BlockField& field : of_values) {
    field.offset += begin;
    block.fields.push_back(std::move(field));
  }
  return described;
}

// Returns the error that readers report when they open the block.
absl::Status CheckBlock(FileReader& file, const BlockDetails& block) {
  const FileInfo& info = file.info();
  if (info.holds_bloom_filters()) return internal::CheckBloomFilter(block.bytes);
  CFILE_ASSIGN_OR_RETURN(const auto dictionary, file.Dictionary());
  const auto open = [&](auto cursor) {
    CFILE_RETURN_IF_ERROR(cursor.Open(block.bytes, info, block.first_ordinal));
    return internal::CheckEndOrdinal(uint64_t{cursor.first_ordinal()} + cursor.num_rows(),
                                     info.num_rows);
  };
  return encodings::VisitPhysicalType(info.type.physical(), [&]<typename T>(std::type_identity<T>) {
    return info.has_levels() ? open(internal::LevelBlockCursor<T>(info.type, dictionary))
                             : open(internal::BlockCursor<T>(info.type, dictionary));
  });
}

}  // namespace

absl::StatusOr<uint64_t> FindBlock(const Reader& reader, uint64_t ordinal) {
  FileReader& file = *internal::ReaderAccess::File(reader);
  if (!file.info().positional_index_root) {
    return absl::FailedPreconditionError(
        StrCat(file.source().name(), ": the file has no positional index"));
  }
  if (ordinal >= file.info().num_rows) {
    return absl::OutOfRangeError(StrCat(
        file.source().name(), ": there is no row ", ordinal, ": the file has ",
        file.info().num_rows, file.info().num_rows == 1 ? " row" : " rows", ", counted from 0"));
  }
  IndexWalk target(&file, IndexKind::kPositional);
  CFILE_RETURN_IF_ERROR(target.SeekToOrdinal(ordinal));
  CFILE_ASSIGN_OR_RETURN(IndexWalk walk, FirstBlock(file));
  uint64_t index = 0;
  for (; walk.valid() && target.valid() && walk.leaf_entry() != target.leaf_entry(); ++index)
    CFILE_RETURN_IF_ERROR(walk.Next());
  if (!walk.valid() || !target.valid()) {
    return DataLoss(file.source().name(), ": the index has no block with row ", ordinal);
  }
  return index;
}

absl::StatusOr<BlockDetails> DescribeBlock(const Reader& reader, uint64_t index) {
  FileReader& file = *internal::ReaderAccess::File(reader);
  const FileInfo& info = file.info();
  BlockDetails block{.index = index, .encoding = info.encoding};
  CFILE_ASSIGN_OR_RETURN(IndexWalk walk, FirstBlock(file));
  uint64_t blocks = 0;
  for (; walk.valid() && blocks < index; ++blocks) CFILE_RETURN_IF_ERROR(walk.Next());
  if (!walk.valid()) {
    return absl::OutOfRangeError(StrCat(file.source().name(), ": there is no block ", index,
                                        ": the file has ", blocks,
                                        blocks == 1 ? " block" : " blocks", ", counted from 0"));
  }
  block.pointer = walk.pointer();
  if (walk.kind() == IndexKind::kPositional)
    block.first_ordinal = walk.leaf().ordinal(walk.entry());

  internal::BlockBuffer buffer;
  const auto fetch = [&](bool verify) {
    return internal::FetchDataBlock(file.source(), info, block.pointer, verify,
                                    file.options().max_block_size_bytes, buffer);
  };
  auto fetched = fetch(file.options().verify_checksums);
  const auto memory = file.source().InMemory();
  const auto stored = memory.empty() ? buffer.stored.span()
                                     : memory.subspan(block.pointer.offset, block.pointer.size);
  absl::Status status = fetched.status();
  if (!status.ok() && (!absl::IsDataLoss(status) || stored.size() != block.pointer.size))
    return internal::InBlock(status, file.source().name(), block.pointer);
  block.stored_bytes.assign(stored.begin(), stored.end());
  block.stored_fields = StoredFields(info, stored);
  // If only the checksum is wrong, the bytes can be described nevertheless.
  if (!fetched.ok()) fetched = fetch(/*verify=*/false);
  block.compressed = fetched.ok() ? fetched->compressed : info.compression != Compression::kNone;
  if (fetched.ok()) {
    block.bytes.assign(fetched->bytes.begin(), fetched->bytes.end());
    status.Update(DescribeBytes(info, block));
    if (status.ok()) status = CheckBlock(file, block);
  }
  block.status = internal::InBlock(status, file.source().name(), block.pointer);
  return block;
}

}  // namespace cfile
