// Implements LevelCursor (cfile/levels.h). FileCursor opens the blocks; this file reads their
// records.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/level_block_cursor.h"

namespace cfile::internal {

// The functions and errors are those of LevelCursor. Thread-compatible.
class LevelFileCursor final : public FileCursor {
 public:
  LevelFileCursor(std::shared_ptr<FileReader> file, BlockDecoding decoding);
  [[gnu::noinline]] ~LevelFileCursor();  // not in the destructor of each LevelCursor

  absl::StatusOr<AnyLevelBatch> Next(size_t max_records);

 private:
  LevelBlockCursor block_;
};

// Returns a cursor at the first record of `file`. `make_decoder`: as for PrepareToRead.
// Errors: those of Reader::NewLevelCursor.
absl::StatusOr<std::unique_ptr<LevelFileCursor>> NewLevelFileCursor(
    const std::shared_ptr<FileReader>& file,
    encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

}  // namespace cfile::internal
