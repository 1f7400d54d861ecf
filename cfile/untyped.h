// The classes that do the work of Cursor<T>, Writer<T> and others, for all types T. They are for
// the library, not for users. A `void*` points to a key of the column's C++ type; the values of a
// batch and of a ValueSpan have this type, too. The errors are those of the class with a type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/core/export.h"
#include "encodings/core/lane.h"

namespace cfile {

namespace encodings {
class Dictionary;
}  // namespace encodings

namespace internal {

using HoldsFunction = bool(const ColumnType& type);  // HoldsType<T>

// Does the work of TableCursor.
class AnyCursor {
 public:
  virtual ~AnyCursor() = default;
  virtual absl::Status SeekToOrdinal(uint64_t ordinal) = 0;
  virtual absl::StatusOr<KeyPosition> SeekToKey(const void* key) = 0;
  virtual absl::Status SeekMany(encodings::ValueSpan keys, std::span<KeyPosition> positions) = 0;
  virtual absl::Status SeekToRange(const OrdinalRange& range) = 0;
  // `low`, `high`: null if there is no such bound.
  virtual absl::StatusOr<OrdinalRange> SeekToKeyRange(const void* low, const void* high) = 0;
  virtual absl::StatusOr<AnyBatch> Next(size_t max_rows) = 0;
  virtual absl::StatusOr<AnyBatch> Previous(size_t max_rows) = 0;
  // The batch has one row.
  virtual absl::StatusOr<AnyBatch> Get(uint64_t ordinal) = 0;
  virtual absl::Status Take(std::span<const uint64_t> ordinals, OwnedValues& out) = 0;
  virtual uint64_t ordinal() const = 0;
  virtual absl::StatusOr<std::unique_ptr<AnyCursor>> Clone() const = 0;
};

// Does the work of LevelCursor.
class AnyLevelCursor {
 public:
  virtual ~AnyLevelCursor() = default;
  virtual const LevelLimits& limits() const = 0;
  virtual uint64_t num_records() const = 0;
  virtual absl::Status SeekToOrdinal(uint64_t record) = 0;
  virtual absl::StatusOr<AnyLevelBatch> Next(size_t max_records) = 0;
  virtual uint64_t ordinal() const = 0;
};

// Passes the value of `from` to the constructor of To.
template <typename To, typename From>
absl::StatusOr<To> Wrap(absl::StatusOr<From> from) {
  if (!from.ok()) return std::move(from).status();
  return To(*std::move(from));
}

struct CopiedBlock;

// Does the work of Writer and of LevelWriter.
class AnyWriter {
 public:
  virtual ~AnyWriter() = default;

  // Appends rows. first_ordinal and null_count do not matter. Precondition: no levels.
  virtual absl::Status Append(const AnyBatch& rows) = 0;
  // Appends entries: as many as there are levels, or values if there are no levels. The numbers in
  // `entries` do not matter. Precondition: a column with levels.
  virtual absl::Status Append(const AnyLevelBatch& entries) = 0;
  virtual absl::Status AddMetadata(std::string_view key, std::string_view value) = 0;

  // Returns true if the next call may be CopyBlock for `block`. Otherwise the caller must append
  // the rows of `block`: the options ask for other blocks, the block is too small or too large, or
  // its statistics are not known. Does not look at the keys of `block`.
  virtual bool Takes(const CopiedBlock& block) const = 0;
  // Writes a copy of `block`, which gets no other rows, after the rows so far. Preconditions:
  // Takes(block); the last record so far is complete. Errors: those of Append.
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

// Begin a file in `sink`, or return its error. `holds_type`: HoldsType of the caller's C++ type.
// Errors: those of Writer::Create and LevelWriter::Create.
absl::StatusOr<std::unique_ptr<AnyWriter>> NewValueWriter(
    absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type,
    const WriterOptions& options, bool holds_type = true);
absl::StatusOr<std::unique_ptr<AnyWriter>> NewEntryWriter(
    absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type, const LevelLimits& limits,
    const WriterOptions& options, bool holds_type = true);

}  // namespace internal
}  // namespace cfile
