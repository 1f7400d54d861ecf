// Implements LevelCursor (cfile/levels.h). FileCursor opens the blocks; this file reads their
// records.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/untyped.h"

namespace cfile::internal {

// Thread-compatible. Errors: those of LevelCursor.
class LevelFileCursor final : public FileCursor, public AnyLevelCursor {
 public:
  LevelFileCursor(std::shared_ptr<FileReader> file, BlockDecoding decoding);

  const LevelLimits& limits() const override { return file().info().levels; }
  uint64_t num_records() const override { return num_rows(); }
  absl::Status SeekToOrdinal(uint64_t record) override { return FileCursor::SeekToOrdinal(record); }
  absl::StatusOr<AnyLevelBatch> Next(size_t max_records) override;
  uint64_t ordinal() const override { return FileCursor::ordinal(); }

 private:
  LevelBlockCursor block_;
};

// Returns a cursor at the first record of `file`. `make_decoder`: as for PrepareToRead.
// Errors: those of Reader::NewLevelCursor.
absl::StatusOr<std::unique_ptr<LevelFileCursor>> NewLevelFileCursor(
    const std::shared_ptr<FileReader>& file,
    encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

}  // namespace cfile::internal
