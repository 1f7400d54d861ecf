// Writer and LevelWriter (cfile/writer.h, cfile/levels.h) without the type of the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/file_info.h"
#include "cfile/internal/write/copied_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// The functions and errors are those of Writer and LevelWriter. The values of a batch have the
// column's C++ type. Thread-compatible.
class AnyWriter {
 public:
  virtual ~AnyWriter() = default;

  // Appends rows. first_ordinal and null_count do not matter. Precondition: no levels.
  virtual absl::Status Append(const AnyBatch& rows) = 0;
  // Appends entries: as many as there are levels, or values if there are no levels. The numbers in
  // `entries` do not matter. Precondition: a column with levels.
  virtual absl::Status Append(const AnyLevelBatch& entries) = 0;
  virtual absl::Status AddMetadata(std::string_view key, std::string_view value) = 0;

  // Returns true if the next call may be CopyBlock for `block`.
  // If the result is false, the caller must append the rows of `block` instead. Reasons for false:
  // the options ask for other blocks, the block is too small or too large, or its statistics are
  // not known. Does not look at the keys of `block`.
  virtual bool Takes(const CopiedBlock& block) const = 0;
  // Writes a copy of `block` after the rows so far. The copied block gets no other rows.
  // Preconditions: Takes(block); the last record so far is complete. Errors: those of Append.
  virtual absl::Status CopyBlock(const CopiedBlock& block) = 0;
  // Adds the values of `dictionary` to the file's dictionary, so that blocks with their codes may
  // be copied (CopiedBlock::same_dictionary). See BlockEncoder::AdoptDictionary.
  virtual bool AdoptDictionary(const encodings::Dictionary& dictionary,
                               std::vector<uint32_t>& codes) = 0;

  // The first error of any call so far.
  virtual absl::Status status() const = 0;
  virtual absl::Status Finish() = 0;

  virtual const ColumnType& type() const = 0;
  virtual ColumnTotals totals() const = 0;
  virtual size_t memory_usage_bytes() const = 0;
};

// Begin a file. `holds_type`: HoldsType of the caller's C++ type. Errors: those of Writer::Create
// and LevelWriter::Create.
absl::StatusOr<std::unique_ptr<AnyWriter>> NewValueWriter(std::unique_ptr<Sink> sink,
                                                          const ColumnType& type,
                                                          const WriterOptions& options,
                                                          bool holds_type = true);
absl::StatusOr<std::unique_ptr<AnyWriter>> NewEntryWriter(std::unique_ptr<Sink> sink,
                                                          const ColumnType& type,
                                                          const LevelLimits& limits,
                                                          const WriterOptions& options,
                                                          bool holds_type = true);

}  // namespace cfile::internal
