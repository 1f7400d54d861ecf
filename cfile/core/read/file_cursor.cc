#include "cfile/core/read/file_cursor.h"

#include <string>
#include <utility>

#include "cfile/core/io/named_status.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::StatusOr<BlockDecoding> PrepareToRead(FileReader& file,
                                            encodings::DecoderMaker* make_decoder) {
  const FileInfo& info = file.info();
  const std::string& name = file.source().name();
  if (make_decoder == nullptr) {
    return absl::InvalidArgumentError(StrCat(name, ": a column of type ", info.type.ToString(),
                                             " does not give values of this C++ type"));
  }
  absl::Status status = CheckCompressionBuiltIn(info.compression);
  const encodings::EncodingRow* const row = encodings::FindDecoding(info.encoding);
  if (status.ok() && (row == nullptr || !row->Supports(info.type.physical()))) {
    // Fails, and says why.
    status = make_decoder(info.encoding, info.type.physical(), info.type.type_length).status();
  }
  CFILE_RETURN_IF_ERROR(Named(status, name));
  CFILE_RETURN_IF_ERROR(file.CheckNumValues());
  CFILE_ASSIGN_OR_RETURN(auto dictionary, file.Dictionary());
  return BlockDecoding{.dictionary = std::move(dictionary), .make_decoder = make_decoder};
}

FileCursor::FileCursor(std::shared_ptr<FileReader> file, RowBlock& block)
    : BlockWalk(std::move(file), block),
      paths_{IndexWalk(file_.get(), IndexKind::kPositional),
             IndexWalk(file_.get(), IndexKind::kValue)} {}

absl::Status FileCursor::SeekToOrdinal(uint64_t ordinal, BlockAccess access) {
  return Seeking([&] { return GoTo(ordinal, access); });
}

absl::Status FileCursor::SeekToPlaceOf(const FileCursor& other) {
  Unload();
  ordinal_ = other.ordinal();
  resume_ = other.resume_;
  failed_ = other.failed_;
  if (other.path_ == nullptr) return absl::OkStatus();
  const ptrdiff_t kind = other.path_ - other.paths_;
  paths_[kind] = other.paths_[kind];
  path_ = &paths_[kind];
  if (!other.loaded_ || other.in_piece_) return absl::OkStatus();
  const uint64_t ordinal = ordinal_;
  CFILE_RETURN_IF_ERROR(LoadBlock(BlockAccess::kSeek));
  if (ordinal < first_ordinal_ || ordinal - first_ordinal_ > row_block_.num_rows()) {
    return Failed(DataLoss("the block had ordinal ", ordinal, " before; now it has the rows ",
                           first_ordinal_, " to ", first_ordinal_ + row_block_.num_rows()));
  }
  return SeekInBlock(ordinal);
}

absl::StatusOr<bool> FileCursor::GoToNextRow(uint64_t& first_ordinal) {
  if (!loaded_) {
    first_ordinal = ordinal_;
    CFILE_RETURN_IF_ERROR(failed_);
    if (resume_ != Resume::kBySeek) {
      CFILE_RETURN_IF_ERROR(EnterNextBlock(BlockAccess::kScan));
    } else if (ordinal_ < num_rows()) {
      CFILE_RETURN_IF_ERROR(SeekToOrdinal(ordinal_, BlockAccess::kScan));
    } else {
      return false;
    }
  }
  while (row_block_.row() == row_block_.num_rows()) {
    CFILE_ASSIGN_OR_RETURN(const bool more, NextBlock());
    first_ordinal = ordinal_;
    if (!more) return false;
  }
  first_ordinal = ordinal();
  return true;
}

absl::Status FileCursor::KeepFailed(const absl::Status& status) {
  const absl::Status failed = Failed(status);
  failed_ = failed;
  return failed;
}

absl::Status FileCursor::OutOfRange(uint64_t ordinal) const {
  return absl::OutOfRangeError(
      StrCat(name(), ": ordinal ", ordinal, ", the file has ", num_rows(), " rows"));
}

absl::Status FileCursor::Failed(const absl::Status& status) {
  Unload();
  return InThisBlock(status);
}

void FileCursor::SetBackward(bool backward) {
  fetcher_.SetBackward(backward && file_->info().positional_index_root.has_value());
}

absl::Status FileCursor::SeekInBlock(uint64_t ordinal) {
  absl::Status status = row_block_.SeekToRow(static_cast<uint32_t>(ordinal - first_ordinal_));
  return status.ok() ? status : Failed(status);
}

absl::Status FileCursor::GoToEnd() {
  Unload();
  ordinal_ = num_rows();
  return absl::OkStatus();
}

void FileCursor::Unload() {
  ordinal_ = ordinal();
  loaded_ = in_piece_ = false;
  resume_ = Resume::kBySeek;
  failed_ = absl::OkStatus();
}

absl::Status FileCursor::GoTo(uint64_t ordinal, BlockAccess access) {
  const uint64_t end = num_rows();
  if (ordinal > end) return OutOfRange(ordinal);
  if (InBlock(ordinal)) return SeekInBlock(ordinal);
  if (ordinal == end) return GoToEnd();
  // Without a positional index, only the value index can find the first row.
  const bool first_by_key = ordinal == 0 && !file_->info().positional_index_root;
  IndexWalk* const path = &paths_[first_by_key ? 1 : 0];
  // If path_ uses the other index, the block stays loaded until the seek succeeds: the file might
  // lack the index of `path`.
  if (path == path_) Unload();
  CFILE_RETURN_IF_ERROR(first_by_key ? path->SeekToKey("") : path->SeekToOrdinal(ordinal));
  Unload();
  path_ = path;
  if (access == BlockAccess::kFewRows && by_ordinal() && path->valid() && OpenPieceAt(ordinal))
    return SeekInBlock(ordinal);
  return OpenAt(ordinal, access);
}

absl::Status FileCursor::OpenAt(uint64_t row, BlockAccess access) {
  CFILE_RETURN_IF_ERROR(CheckFound(*path_));
  CFILE_RETURN_IF_ERROR(LoadBlock(access));
  if (InBlock(row)) return SeekInBlock(row);
  return Failed(DataLoss("the index says that it has ordinal ", row, ", found the rows ",
                         first_ordinal_, " to ", first_ordinal_ + row_block_.num_rows()));
}

absl::Status FileCursor::GoBefore(uint64_t row, BlockAccess access) {
  IndexWalk& path = paths_[1];
  const FileInfo& info = file_->info();
  const bool is_last = row == num_rows();
  const bool follows =
      loaded_ && row == first_ordinal_ && path_ == &path && path.leaf_entry() == loaded_entry_;
  if (info.positional_index_root || !info.value_index_root || InBlock(row - 1) ||
      (!is_last && !follows)) {
    return GoTo(row - 1, access);
  }
  Unload();
  path_ = &path;
  CFILE_RETURN_IF_ERROR(is_last ? path.SeekToLast() : path.Previous());
  if (!is_last && !path.valid()) return DataLoss(name(), ": the index begins at row ", row);
  return OpenAt(row - 1, BlockAccess::kSeek);
}

absl::Status FileCursor::OpenBlockOf(uint64_t row) {
  const bool searches = file_->info().positional_index_root.has_value();
  while (!InBlock(row)) {
    const uint64_t next = loaded_ ? first_ordinal_ + row_block_.num_rows() : ordinal_;
    if ((loaded_ || resume_ != Resume::kBySeek) && (searches ? row == next : row >= next)) {
      CFILE_RETURN_IF_ERROR(loaded_ ? NextBlock().status() : EnterNextBlock(BlockAccess::kScan));
    } else {
      const uint64_t target = searches ? row : 0;
      CFILE_RETURN_IF_ERROR(GoTo(target, target == 0 ? BlockAccess::kScan : BlockAccess::kSeek));
    }
  }
  return absl::OkStatus();
}

void FileCursor::BeginBlockOf(uint64_t row) {
  const bool searches = file_->info().positional_index_root.has_value();
  if (!file_->reads_in_background() || !searches || InBlock(row)) return;
  if (path_ == nullptr) path_ = &paths_[0];
  IndexWalk path(file_.get(), IndexKind::kPositional);
  if (!path.SeekToOrdinal(row).ok() || !path.valid()) return;
  file_->BeginToLoad(path.leaf(), path.entry(), BlockAccess::kScan, fetcher_, buffer_);
}

absl::Status FileCursor::LoadBlock(BlockAccess access, std::optional<uint64_t> expected) {
  CFILE_RETURN_IF_ERROR(OpenBlock(*path_, access, expected));
  loaded_ = true;
  loaded_entry_ = path_->leaf_entry();
  return absl::OkStatus();
}

absl::StatusOr<bool> FileCursor::NextBlock(BlockAccess access) {
  const uint64_t expected = first_ordinal_ + row_block_.num_rows();
  const bool in_piece = in_piece_;
  Unload();
  ordinal_ = expected;
  if (expected == num_rows() && path_->at_last()) return false;
  if (in_piece && expected < num_rows()) {
    CFILE_RETURN_IF_ERROR(GoTo(expected, access));
    return true;
  }
  resume_ = Resume::kAfterPath;
  CFILE_RETURN_IF_ERROR(EnterNextBlock(access));
  return true;
}

absl::Status FileCursor::EnterNextBlock(BlockAccess access) {
  if (resume_ == Resume::kAfterPath) {
    CFILE_RETURN_IF_ERROR(GoToNext(*path_, ordinal_));
    resume_ = Resume::kAtPath;
  }
  return LoadBlock(access, ordinal_);
}

}  // namespace cfile::internal
