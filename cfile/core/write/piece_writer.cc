#include "cfile/core/write/piece_writer.h"

#include <algorithm>

#include "encodings/core/status.h"

namespace cfile::internal {

absl::Status PieceWriter::Add(const PieceRecord& record, BlockAppender& appender) {
  if (record.pieces.empty() || record.block.size < kLeastBytesOfPieces ||
      record.pieces.size() > record.block.size / 8 || directory_.size() > max_block_size_bytes_ / 2)
    return absl::OkStatus();
  if (table_.size() == 0) first_block_ = record.block.offset;
  AppendPieceRecord(record, table_);
  const bool full = table_.size() > std::min(kPieceTableBytes, max_block_size_bytes_ / 2);
  return full ? WriteTable(appender) : absl::OkStatus();
}

absl::Status PieceWriter::WriteTable(BlockAppender& appender) {
  PieceTablePlace place{.first_block = first_block_};
  CFILE_ASSIGN_OR_RETURN(place.table, appender.Append({}, table_.span()));
  AppendPiecePlace(last_, place, directory_);
  last_ = place;
  table_.Clear();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<BlockPointer>> PieceWriter::Finish(BlockAppender& appender) {
  if (table_.size() > 0) CFILE_RETURN_IF_ERROR(WriteTable(appender));
  if (directory_.size() == 0) return std::nullopt;
  CFILE_ASSIGN_OR_RETURN(const BlockPointer pointer, appender.Append({}, directory_.span()));
  return pointer;
}

}  // namespace cfile::internal
