#include "cfile/levels.h"

#include <memory>
#include <utility>

#include "cfile/core/read/level_file_cursor.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::FileReader;

internal::LevelFileCursor::LevelFileCursor(std::shared_ptr<FileReader> file, BlockDecoding decoding)
    : FileCursor(file, block_), block_(file->info().type, std::move(decoding)) {}

absl::StatusOr<internal::AnyLevelBatch> internal::LevelFileCursor::Next(size_t max_records) {
  uint64_t first_record = 0;
  CFILE_ASSIGN_OR_RETURN(const bool more, GoToNextRow(first_record));
  auto batch = more ? block_.Next(max_records) : AnyLevelBatch();
  if (!batch.ok()) return KeepFailed(batch.status());
  batch->first_record = first_record;
  return batch;
}

absl::StatusOr<std::unique_ptr<internal::LevelFileCursor>> internal::NewLevelFileCursor(
    const std::shared_ptr<FileReader>& file, encodings::DecoderMaker* make_decoder) {
  if (!file->info().positional_index_root) {
    return absl::FailedPreconditionError(
        StrCat(file->source().name(), ": the file has no positional index"));
  }
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file, make_decoder));
  return std::make_unique<LevelFileCursor>(file, std::move(decoding));
}

absl::StatusOr<std::unique_ptr<internal::AnyLevelCursor>> Reader::NewAnyLevelCursor(
    encodings::DecoderMaker* make_decoder) const {
  return internal::NewLevelFileCursor(file_, make_decoder);
}

}  // namespace cfile
