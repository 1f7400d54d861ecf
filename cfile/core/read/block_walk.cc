#include "cfile/core/read/block_walk.h"

#include "cfile/core/format/data_block.h"
#include "encodings/core/status.h"
#include "encodings/value_places.h"

namespace cfile::internal {

absl::Status BlockWalk::CheckFound(const IndexWalk& path) const {
  if (path.valid()) return absl::OkStatus();
  return DataLoss(name(), ": the index is empty, the footer says ", num_rows(), " rows");
}

absl::Status BlockWalk::GoToNext(IndexWalk& path, uint64_t end) const {
  if (!path.at_last()) return path.Next();
  return DataLoss(name(), ": the blocks end at ordinal ", end, ", the footer says ", num_rows(),
                  " rows");
}

absl::Status BlockWalk::CheckLast(const IndexWalk& path) const {
  if (path.at_last()) return absl::OkStatus();
  return DataLoss(name(), ": the footer says ", num_rows(),
                  " rows, the index has blocks after them");
}

absl::Status BlockWalk::OpenBlock(const IndexWalk& path, BlockAccess access,
                                  std::optional<uint64_t> expected) {
  pointer_ = path.pointer();
  CFILE_ASSIGN_OR_RETURN(
      loaded_block_, file_->LoadDataBlock(path.leaf(), path.entry(), access, fetcher_, buffer_));
  return InThisBlock(OpenLoadedBlock(path, expected));
}

absl::Status BlockWalk::OpenFetchedBlock(const IndexWalk& path, std::span<const uint8_t> bytes,
                                         std::optional<uint64_t> expected) {
  pointer_ = path.pointer();
  loaded_block_ = {.bytes = bytes};
  return InThisBlock(OpenLoadedBlock(path, expected));
}

absl::Status BlockWalk::CheckRows(std::span<const uint32_t> rows) const {
  if (!in_part()) return absl::OkStatus();
  const BlockHead& head = *loaded_block_.head;
  const ColumnType& type = file_->info().type;
  encodings::BlockView body(loaded_block_.bytes.subspan(head.size_bytes()));
  body.count = head.present_count;
  for (const uint32_t row : rows) {
    CFILE_RETURN_IF_ERROR(
        encodings::VisitValuePlaces(head.encoding, type.physical(), type.type_length, body, row,
                                    [&](uint64_t begin, uint64_t end) {
                                      return file_->CheckPart(pointer_, loaded_block_, begin, end);
                                    }));
  }
  return absl::OkStatus();
}

absl::Status BlockWalk::OpenLoadedBlock(const IndexWalk& path, std::optional<uint64_t> expected) {
  std::optional<uint64_t> indexed;
  if (path.kind() == IndexKind::kPositional) indexed = path.leaf().ordinal(path.entry());
  const auto open = [&](const encodings::SeekIndex* index) {
    return row_block_.Open(loaded_block_.bytes, file_->info(), indexed, index, loaded_block_.head);
  };
  SeekIndexSlot* slot = loaded_block_.seek_index;
  CFILE_RETURN_IF_ERROR(open(slot == nullptr ? nullptr : slot->get()));
  if (slot != nullptr && slot->get() == nullptr && loaded_block_.seen_before) {
    if (auto built = row_block_.BuildSeekIndex(); built != nullptr)
      CFILE_RETURN_IF_ERROR(open(file_->KeepSeekIndex(loaded_block_, pointer_, std::move(built))));
  }
  first_ordinal_ = row_block_.first_ordinal();
  CFILE_RETURN_IF_ERROR(CheckEndOrdinal(first_ordinal_ + row_block_.num_rows(), num_rows()));
  return expected ? CheckFirstOrdinal(*expected, first_ordinal_) : absl::OkStatus();
}

}  // namespace cfile::internal
