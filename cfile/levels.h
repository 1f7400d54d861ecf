// Columns whose rows are records of any number of values: leaves of nested schemas, and arrays.
//
// A leaf is a sequence of entries (repetition level, definition level, value), as in Parquet and
// the Dremel paper:
//
//   repetition  0 begins a record; r > 0 continues the repeated ancestor of depth r
//   definition  how many of the optional and repeated ancestors are there; an entry holds a value
//               exactly where that is the maximum
//
// The column {1, 2} {} null {3}, each list and no element optional, has the limits {1, 2} and the
// entries (0,2,1) (1,2,2) (0,1,-) (0,0,-) (0,2,3).
//
//   auto writer = cfile::LevelWriter<int32_t>::Create("leaf.cfile", cfile::ColumnType::Int32(),
//                                                     {.max_repetition = 1, .max_definition = 2});
//   (*writer)->Append(repetition, definition, values);
//   (*writer)->Finish();
//
//   auto cursor = cfile::LevelCursor<int32_t>::Open(reader);
//   cursor->SeekToRecord(2);
//   auto batch = cursor->Next(1000);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/types.h"

namespace cfile {

// Writes one leaf into one file. LevelLimits (cfile/types.h) says which levels it takes and how
// they are laid out. As Writer: one thread at a time, bytes that do not depend on how entries
// are divided among calls (those of Kudu's arrays neither); failure is sticky, a writer that is
// dropped without Finish leaves nothing behind.
//
// Memory: one data block as it is encoded, levels included. A block holds whole records, so that a
// record is limited: see Append.
template <typename T>
class LevelWriter {
 public:
  // Begins a file at `path` or into `sink`. options.nullable is not looked at: the limits say it.
  // kInvalidArgument: T, type, limits and options do not go together (a value index, version 1,
  // Kudu's compatibility for anything but its arrays). kUnimplemented: the registry has no such
  // encoding for the type, or the codec was not built in.
  static absl::StatusOr<std::unique_ptr<LevelWriter>> Create(const std::string& path,
                                                             const ColumnType& type,
                                                             const LevelLimits& limits,
                                                             const WriterOptions& options = {});
  static absl::StatusOr<std::unique_ptr<LevelWriter>> Create(std::unique_ptr<Sink> sink,
                                                             const ColumnType& type,
                                                             const LevelLimits& limits,
                                                             const WriterOptions& options = {});
  ~LevelWriter();

  // Appends entries: whole records, or a part of one that the next call continues. `repetition` and
  // `definition` have one level per entry, and are empty where the maximum is 0; with both maxima 0
  // each value is an entry. `values` are those of the entries whose definition level is the
  // maximum, in their order. Copies what it needs before it returns.
  //
  // kInvalidArgument, naming the entry (counted from the file's first): a level is above its
  // maximum, the first repetition level is not 0, spans differ in size, there are more or fewer
  // values than the definition levels say, a value of fixed-length bytes has another length; an
  // array that is null or empty has elements. kOutOfRange: a record does not fit one block (one of
  // up to about half of options.max_block_size_bytes, encoded, always does); an array of Kudu's
  // layout has more than 65,535 elements; a value or the file outgrows a limit of the options or
  // 2^32 - 1 records.
  absl::Status Append(std::span<const uint16_t> repetition, std::span<const uint16_t> definition,
                      std::span<const T> values);

  // A pair for the footer. Any time before Finish. kInvalidArgument: the key begins with "cfile.".
  absl::Status AddMetadata(std::string_view key, std::string_view value);

  // Writes what is pending, the index and the footer, and makes the file durable and visible.
  // Called once, last; it ends the last record.
  absl::Status Finish();

  // Records, entries and entries that hold a value, so far.
  uint64_t num_records() const;
  uint64_t num_entries() const;
  uint64_t num_values() const;

  // Bytes handed to the sink so far; after Finish the size of the file.
  uint64_t bytes_written() const;

  // Bytes that this writer holds in memory.
  size_t memory_usage_bytes() const;

  // The encoding that the footer names: the options' one, or, after Finish, what kAuto became; see
  // cfile/FORMAT.md, Extended blocks.
  Encoding encoding() const;
  // The codec that the file names: the options' one, or what kDefault became.
  Compression compression() const;
  // What blocks were written so far, by encoding. Valid until the next call.
  std::span<const EncodingTotals> encodings() const;

 private:
  class Impl;
  explicit LevelWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Some consecutive entries. A view, valid until the next call on the cursor that made it.
//
// A batch holds whole records, unless the first one has more entries than a batch takes: then it
// comes alone and in parts, and only its last part counts it. So the record that follows a batch is
// first_record + num_records, always.
template <typename T>
struct LevelBatch {
  // The record that the first entry belongs to, and the records that end in this batch.
  uint64_t first_record = 0;
  size_t num_records = 0;

  size_t num_entries = 0;
  // One per entry; empty where the maximum is 0.
  std::span<const uint16_t> repetition = {};
  std::span<const uint16_t> definition = {};
  // Of those entries whose definition level is the maximum.
  std::span<const T> values = {};

  bool empty() const { return num_entries == 0; }
};

// A position in a leaf. One thread at a time, not always the same one; many cursors may read one
// file at once. It keeps the file open. It holds one block and one batch in memory.
//
// Reads flat files (those of Writer) too, with the limits {0, 1} if they are nullable, else {0, 0}:
// a row is a record of one entry.
//
// Errors of all calls: kDataLoss for damage (names file, block offset, what was expected and
// found), or what the Source returned. After an error of Next the next call continues with the
// entries that the error kept back, or returns the error again. After an error of SeekToRecord the
// cursor is at the front of record(), which is as before.
template <typename T>
class LevelCursor {
 public:
  // A cursor at record 0. kInvalidArgument: the column does not hold T. kUnimplemented: encoding or
  // codec was not built in. kFailedPrecondition: the file has no positional index.
  static absl::StatusOr<LevelCursor> Open(const Reader& reader);
  LevelCursor(LevelCursor&&) noexcept;
  LevelCursor& operator=(LevelCursor&&) noexcept;
  ~LevelCursor();

  const LevelLimits& limits() const;
  uint64_t num_records() const;

  // Goes to the first entry of `record`. kOutOfRange if it is above num_records() (num_records()
  // itself is the end). Takes a time that grows with the entries before it in its block.
  absl::Status SeekToRecord(uint64_t record);

  // The next entries: at least 1 unless the cursor is at the end, those of at most `max_records`
  // records, at most 65,536, all of one block. Precondition: max_records > 0.
  absl::StatusOr<LevelBatch<T>> Next(size_t max_records);

  // The record that Next continues at, or in (after a part of one).
  uint64_t record() const;

 private:
  class Impl;
  explicit LevelCursor(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
