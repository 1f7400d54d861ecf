#include "cfile/parts/table/block_copier.h"

#include <algorithm>
#include <utility>

#include "cfile/core/format/key_codec.h"
#include "cfile/core/read/reader_access.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::DataLoss;

BlockCopier::BlockCopier(std::shared_ptr<FileReader> file, std::unique_ptr<ValueCursor> keys,
                         AnyWriter& to, CopyTotals& totals, bool same_dictionary)
    : file_(std::move(file)),
      keys_(std::move(keys)),
      to_(to),
      totals_(totals),
      same_dictionary_(same_dictionary) {}

absl::StatusOr<std::unique_ptr<BlockCopier>> BlockCopier::Create(const Reader& from,
                                                                 const ColumnSchema& column,
                                                                 bool needs_keys, AnyWriter& to,
                                                                 CopyTotals& totals,
                                                                 bool same_dictionary) {
  std::shared_ptr<FileReader> file = ReaderAccess::File(from);
  const FileInfo& info = file->info();
  const bool same_form =
      info.type == column.type && info.has_levels() == column.has_levels() &&
      (column.has_levels() ? info.levels == column.levels : info.nullable == column.nullable);
  if (!same_form || !info.has_movable_blocks() || !info.positional_index_root) file = nullptr;
  std::unique_ptr<ValueCursor> keys;
  if (file != nullptr && needs_keys) {
    CFILE_ASSIGN_OR_RETURN(keys, NewValueCursor(file));
  }
  std::unique_ptr<BlockCopier> copier(
      new BlockCopier(std::move(file), std::move(keys), to, totals, same_dictionary));
  if (copier->file_ != nullptr) CFILE_RETURN_IF_ERROR(copier->Begin());
  return copier;
}

absl::StatusOr<std::string> BlockCopier::KeyOfRow(uint64_t row) {
  CFILE_ASSIGN_OR_RETURN(const AnyBatch value, keys_->Get(row));
  const KeyRef key{value.values, file_->info().type.physical()};
  if (!value.IsValid(0) || !IsKey(key))
    return DataLoss(file_->source().name(), ": the value of row ", row, " cannot be a key");
  std::string bytes;
  AppendKey(key, bytes);
  return bytes;
}

absl::StatusOr<FoundPieces> BlockCopier::PiecesOf(const BlockHead& head) {
  // Each table of a source with latency would be a request.
  if (keys_ == nullptr || (!file_->in_memory() && file_->source().HasLatency()))
    return FoundPieces{};
  CFILE_ASSIGN_OR_RETURN(FoundPieces found, file_->FindPieces(walk_.pointer(), pieces_buffer_));
  const PieceRecord& record = found.record;
  CFILE_RETURN_IF_ERROR(VisitPieces(record, [](const Piece&) { return true; }));
  const bool right = record.encoding == head.encoding &&
                     record.first_ordinal == head.first_ordinal && !head.compressed();
  return right ? std::move(found) : FoundPieces{};
}

absl::Status BlockCopier::Begin() {
  CFILE_ASSIGN_OR_RETURN(statistics_, file_->Statistics());
  next_ = IndexWalk(file_.get(), IndexKind::kPositional);
  return next_.SeekToOrdinal(0);
}

absl::Status BlockCopier::NextBlock() {
  const uint64_t num_rows = file_->info().num_rows;
  if (!next_.valid()) {
    return DataLoss(file_->source().name(), ": the blocks end at row ", end_,
                    ", but the footer says ", num_rows, " rows");
  }
  const bool first = !walk_.valid();
  IndexWalk after = next_;
  CFILE_RETURN_IF_ERROR(after.Next());
  walk_ = std::exchange(next_, std::move(after));
  if (!first) ++number_;
  begin_ = walk_.leaf().ordinal(walk_.entry());
  end_ = next_.valid() ? next_.leaf().ordinal(next_.entry()) : num_rows;
  return absl::OkStatus();
}

absl::StatusOr<bool> BlockCopier::CopyBlock() {
  CFILE_ASSIGN_OR_RETURN(const StoredBlock stored,
                         file_->FetchStored(walk_.leaf(), walk_.entry(), fetcher_, buffer_));
  const BlockHead& head = stored.head;
  if (head.first_ordinal != begin_ || head.num_rows != end_ - begin_) {
    return InBlock(DataLoss("expected the rows ", begin_, " to ", end_, ", found ", head.num_rows,
                            " rows from ", head.first_ordinal, " on"),
                   file_->source().name(), walk_.pointer());
  }
  CopiedBlock block{.head = head,
                    .bytes = stored.bytes,
                    .offset = walk_.pointer().offset,
                    .codec = file_->info().compression,
                    .same_dictionary = same_dictionary_};
  if (statistics_ != nullptr && number_ < statistics_->blocks.size()) {
    const BlockStatistics& statistics = statistics_->blocks[number_];
    if (statistics.num_entries() == head.num_entries &&
        statistics.present_count == head.present_count) {
      block.statistics = &statistics;
    }
  }
  if (!to_.Takes(block)) return false;
  if (keys_ != nullptr) {
    CFILE_ASSIGN_OR_RETURN(block.first_key, KeyOfRow(begin_));
    CFILE_ASSIGN_OR_RETURN(block.last_key, KeyOfRow(end_ - 1));
  }
  const absl::StatusOr<FoundPieces> pieces = PiecesOf(head);
  if (pieces.ok()) block.pieces = pieces->record.pieces;  // otherwise the copy has no pieces
  CFILE_RETURN_IF_ERROR(to_.CopyBlock(block));
  ++totals_.blocks;
  totals_.bytes += stored.bytes.size();
  return true;
}

absl::StatusOr<BlockCopier::Result> BlockCopier::Copy(uint64_t begin, uint64_t end) {
  CFILE_ASSERT(begin < end);
  if (file_ == nullptr) return Result{.rows_to_write = end - begin};
  Result result;
  for (uint64_t row = begin; row < end; row = end_) {
    while (end_ <= row) CFILE_RETURN_IF_ERROR(NextBlock());
    bool copied = false;
    if (begin_ == row && end_ <= end) {
      CFILE_ASSIGN_OR_RETURN(copied, CopyBlock());
    }
    if (!copied) {
      result.rows_to_write = std::min(end_, end) - row;
      break;
    }
    result.copied_rows = end_ - begin;
  }
  return result;
}

}  // namespace cfile::internal
