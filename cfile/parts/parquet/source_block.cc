#include "cfile/parts/parquet/source_block.h"

#include <utility>

#include "cfile/core/format/compression.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

// Uncompresses a section of a movable block into `out`, if it is compressed. Returns the section.
absl::StatusOr<std::span<const uint8_t>> Uncompressed(const BlockHead& head,
                                                      BlockHead::Section section,
                                                      std::span<const uint8_t> stored,
                                                      ByteWriter& out) {
  if (!section.compressed()) return stored;
  CFILE_RETURN_IF_ERROR(CheckUncompressedSize(head.compression, stored.size(), section.size));
  out.Clear();
  uint8_t* const bytes = out.Extend(section.size);
  CFILE_RETURN_IF_ERROR(Uncompress(head.compression, stored, {bytes, section.size}));
  return out.span();
}

}  // namespace

absl::StatusOr<SourceBlocks> SourceBlocks::Open(std::shared_ptr<FileReader> file) {
  SourceBlocks blocks(std::move(file));
  FileReader& reader = *blocks.file_;
  CFILE_RETURN_IF_ERROR(reader.CheckNumValues());
  CFILE_ASSIGN_OR_RETURN(blocks.statistics_, reader.Statistics());
  const bool positional = reader.info().positional_index_root.has_value();
  if (!positional && !reader.info().value_index_root) return blocks;
  blocks.walk_ = IndexWalk(&reader, positional ? IndexKind::kPositional : IndexKind::kValue);
  CFILE_RETURN_IF_ERROR(positional ? blocks.walk_.SeekToOrdinal(0) : blocks.walk_.SeekToKey(""));
  return blocks;
}

absl::Status SourceBlocks::Load(SourceBlock& block) {
  if (!walk_.valid()) {
    return DataLoss(file_->source().name(), ": the blocks end at row ", first_row_,
                    ", but the footer says ", info().num_rows, " rows");
  }
  if (walk_.kind() == IndexKind::kPositional && walk_.leaf().ordinal(walk_.entry()) != first_row_) {
    return InThisBlock(DataLoss("expected a block that begins with row ", first_row_,
                                ", the index says row ", walk_.leaf().ordinal(walk_.entry())));
  }
  block = {};
  block.stored_bytes = walk_.pointer().size;
  absl::Status status = info().has_movable_blocks() ? LoadMovable(block) : LoadWhole(block);
  if (status.ok() && block.levels.values.first_ordinal)
    status = CheckFirstOrdinal(first_row_, *block.levels.values.first_ordinal);
  if (statistics_ != nullptr && number_ < statistics_->blocks.size())
    block.statistics = &statistics_->blocks[number_];
  return InThisBlock(status);
}

absl::Status SourceBlocks::LoadMovable(SourceBlock& block) {
  CFILE_ASSIGN_OR_RETURN(const StoredBlock stored,
                         file_->FetchStored(walk_.leaf(), walk_.entry(), fetcher_, buffer_));
  const BlockHead& head = stored.head;
  auto rest = stored.bytes.subspan(head.size_bytes());
  const auto take = [&](BlockSection section) {
    const auto bytes = rest.first(head.sections[section].stored_size);
    rest = rest.subspan(bytes.size());
    return bytes;
  };
  CFILE_ASSIGN_OR_RETURN(const auto levels,
                         Uncompressed(head, head.sections[kLevels], take(kLevels), levels_));
  CFILE_ASSIGN_OR_RETURN(block.levels, ParseLevels(levels, info(), head));
  DataBlock& values = block.levels.values;
  CFILE_ASSIGN_OR_RETURN(values.skip_table, Uncompressed(head, head.sections[kSkipTable],
                                                         take(kSkipTable), skip_table_));
  values.encoding = head.encoding;
  values.present_count = head.present_count;
  values.first_ordinal = head.first_ordinal;
  values.body_ordinal = 0;
  block.stored_values = take(kBody);
  block.compressed = head.sections[kBody].compressed();
  block.codec = head.compression;
  block.values_size = head.sections[kBody].size;
  if (!block.compressed) values.values = block.stored_values;
  return absl::OkStatus();
}

absl::Status SourceBlocks::LoadWhole(SourceBlock& block) {
  CFILE_ASSIGN_OR_RETURN(loaded_, file_->LoadDataBlock(walk_.leaf(), walk_.entry(),
                                                       BlockAccess::kScan, fetcher_, buffer_));
  CFILE_ASSIGN_OR_RETURN(block.levels, ParseLevelBlock(loaded_.bytes, info(), loaded_.head));
  block.stored_values = block.levels.values.values;
  block.values_size = static_cast<uint32_t>(block.stored_values.size());
  // A block that did not become smaller was stored as it is.
  block.was_compressed =
      info().compression != Compression::kNone && loaded_.bytes.size() > walk_.pointer().size;
  return absl::OkStatus();
}

absl::Status SourceBlocks::Uncompress(SourceBlock& block) {
  if (!block.compressed) return absl::OkStatus();
  const BlockHead head{.compression = block.codec};
  const BlockHead::Section section{.stored_size = static_cast<uint32_t>(block.stored_values.size()),
                                   .size = block.values_size};
  const auto values = Uncompressed(head, section, block.stored_values, values_);
  CFILE_RETURN_IF_ERROR(InThisBlock(values.status()));
  block.levels.values.values = *values;
  return absl::OkStatus();
}

absl::Status SourceBlocks::Next(uint64_t num_rows) {
  CFILE_RETURN_IF_ERROR(walk_.Next());
  first_row_ += num_rows;
  ++number_;
  return absl::OkStatus();
}

}  // namespace cfile::internal
