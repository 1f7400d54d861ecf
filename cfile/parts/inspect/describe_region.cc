// DescribeRegion, DescribeBlock and FindBlock.
#include "cfile/inspect.h"

#include <algorithm>
#include <utility>

#include "cfile/core/format/statistics_block.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/inspect/describe_block.h"
#include "cfile/parts/inspect/describe_metadata.h"
#include "cfile/reader.h"
#include "encodings/core/assert.h"
#include "encodings/core/block_description.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::FileReader;
using internal::IndexWalk;

// Goes to the first data block of the file, by the positional index if there is one.
absl::StatusOr<IndexWalk> FirstBlock(FileReader& file) {
  IndexWalk walk(&file,
                 file.info().positional_index_root ? IndexKind::kPositional : IndexKind::kValue);
  CFILE_RETURN_IF_ERROR(walk.SeekToOrdinal(0));
  return walk;
}

// kInvalidArgument if `region` cannot be a region of this file.
absl::Status CheckRegion(const FileReader& file, const FileRegion& region) {
  const uint64_t size = file.info().file_size_bytes;
  const bool block = region.kind != RegionKind::kHeader && region.kind != RegionKind::kFooter &&
                     region.kind != RegionKind::kGap;
  if (region.offset <= size && region.size_bytes <= size - region.offset &&
      (!block || region.size_bytes <= UINT32_MAX)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat(file.source().name(), ": there is no region at offset ",
                                           region.offset, " of ", region.size_bytes, " bytes"));
}

// Sets the fields of `block` from its bytes before compression.
absl::Status DescribeBytes(FileReader& file, size_t max_fields, RegionDetails& block) {
  const FileInfo& info = file.info();
  if (block.region.kind == RegionKind::kDataBlock) {
    CFILE_RETURN_IF_ERROR(internal::DescribeDataBlock(info, max_fields, block));
    return internal::CheckDataBlock(file, block);
  }
  encodings::BlockDescription description(block.bytes, max_fields);
  const absl::Status status = internal::DescribeMetadataBlock(file, block.region.kind, description);
  description.AddRest(status.ok() ? "bytes after the end" : "unknown bytes");
  block.fields = std::move(description).TakeFields();
  return status;
}

// Sets everything but the region of `block`, which is a stored block.
absl::Status DescribeStoredBlock(FileReader& file, size_t max_fields, RegionDetails& block) {
  const FileInfo& info = file.info();
  const BlockPointer pointer{block.region.offset, static_cast<uint32_t>(block.region.size_bytes)};
  const bool data = block.region.kind == RegionKind::kDataBlock;
  const internal::BlockFormat format =
      data ? internal::DataBlockFormatOf(info) : internal::BlockFormatOf(info);
  const size_t limit = block.region.kind == RegionKind::kStatistics
                           ? internal::StatisticsLimit(file.options())
                           : file.options().max_block_size_bytes;
  internal::BlockBuffer buffer;
  const auto fetch = [&](bool verify) {
    return internal::FetchBlock(file.source(), format, pointer, verify, limit, buffer);
  };
  auto fetched = fetch(file.options().verify_checksums);
  const auto memory = file.source().InMemory();
  const auto stored =
      memory.empty() ? buffer.stored.span() : memory.subspan(pointer.offset, pointer.size);
  absl::Status status = fetched.status();
  if (!status.ok() && (!absl::IsDataLoss(status) || stored.size() != pointer.size))
    return internal::InBlock(status, file.source().name(), pointer);
  block.stored_bytes.assign(stored.begin(), stored.end());
  block.stored_fields = internal::StoredFields(info, format, stored);
  // If only the checksum is wrong, the bytes can be described nevertheless.
  if (!fetched.ok()) fetched = fetch(/*verify=*/false);
  block.compressed = fetched.ok() ? fetched->compressed : info.compression != Compression::kNone;
  if (fetched.ok()) {
    block.bytes.assign(fetched->bytes.begin(), fetched->bytes.end());
    status.Update(DescribeBytes(file, max_fields, block));
    const auto field =
        std::find_if(block.stored_fields.begin(), block.stored_fields.end(),
                     [](const BlockField& each) { return each.name == internal::kStoredData; });
    const size_t begin = field == block.stored_fields.end() ? 0 : field->offset;
    if (!block.compressed && begin + block.bytes.size() <= block.stored_bytes.size() &&
        std::equal(block.bytes.begin(), block.bytes.end(),
                   block.stored_bytes.begin() + static_cast<ptrdiff_t>(begin))) {
      block.bytes_offset = begin;
    }
  }
  block.status = internal::InBlock(status, file.source().name(), pointer);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<uint64_t> FindBlock(const Reader& reader, uint64_t ordinal) {
  FileReader& file = *internal::ReaderAccess::File(reader);
  if (!file.info().positional_index_root) {
    return absl::FailedPreconditionError(
        StrCat(file.source().name(), ": the file has no positional index"));
  }
  if (ordinal >= file.info().num_rows) {
    return OutOfRange(file.source().name(), ": there is no row ", ordinal, ": the file has ",
                      file.info().num_rows, file.info().num_rows == 1 ? " row" : " rows",
                      ", counted from 0");
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

absl::StatusOr<RegionDetails> DescribeRegion(const Reader& reader, const FileRegion& region,
                                             size_t max_fields) {
  CFILE_ASSERT(max_fields >= kMaxBlockFields);
  FileReader& file = *internal::ReaderAccess::File(reader);
  CFILE_RETURN_IF_ERROR(CheckRegion(file, region));
  RegionDetails details{.region = region, .encoding = file.info().encoding};
  if (region.kind == RegionKind::kGap) {
    details.stored_bytes.resize(std::min<uint64_t>(region.size_bytes, RegionDetails::kMaxGapBytes));
    CFILE_RETURN_IF_ERROR(file.source().ReadAt(region.offset, details.stored_bytes));
    const bool zeros = std::ranges::all_of(details.stored_bytes, [](uint8_t b) { return b == 0; });
    details.stored_fields.push_back({.size = region.size_bytes,
                                     .name = "bytes of no block",
                                     .value = zeros ? "zeros" : "not zeros"});
    return details;
  }
  if (region.kind == RegionKind::kHeader || region.kind == RegionKind::kFooter) {
    details.stored_bytes.resize(region.size_bytes);
    CFILE_RETURN_IF_ERROR(file.source().ReadAt(region.offset, details.stored_bytes));
    internal::DescribeEnd(file.info().has_checksums(), max_fields, details);
    return details;
  }
  CFILE_RETURN_IF_ERROR(DescribeStoredBlock(file, max_fields, details));
  return details;
}

absl::StatusOr<RegionDetails> DescribeBlock(const Reader& reader, uint64_t index) {
  FileReader& file = *internal::ReaderAccess::File(reader);
  CFILE_ASSIGN_OR_RETURN(IndexWalk walk, FirstBlock(file));
  uint64_t blocks = 0;
  for (; walk.valid() && blocks < index; ++blocks) CFILE_RETURN_IF_ERROR(walk.Next());
  if (!walk.valid()) {
    return OutOfRange(file.source().name(), ": there is no block ", index, ": the file has ",
                      blocks, blocks == 1 ? " block" : " blocks", ", counted from 0");
  }
  FileRegion region{.kind = RegionKind::kDataBlock,
                    .offset = walk.pointer().offset,
                    .size_bytes = walk.pointer().size,
                    .index = index};
  if (walk.kind() == IndexKind::kPositional)
    region.first_ordinal = walk.leaf().ordinal(walk.entry());
  return DescribeRegion(reader, region);
}

}  // namespace cfile
