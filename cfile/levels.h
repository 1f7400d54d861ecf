// Columns with levels. Each row is a record with any number of values: a column is a leaf column of
// a nested schema, or a column of arrays. Errors, lifetime and threads: cfile/CONCEPTS.md.
//
// A leaf column is a sequence of entries (repetition level, definition level, value), as in Parquet
// and the Dremel paper:
//
//   repetition  0: the entry begins a record; r > 0: the entry begins a further element of the r-th
//               repeated node on the path from the root to the leaf
//   definition  how many optional and repeated nodes on this path (leaf included) are present; the
//               entry holds a value exactly if this level is the maximum
//
// For example, a column of optional lists of required elements has the maximum levels {1, 2}. The
// records {1, 2} {} null {3} have the entries (0,2,1) (1,2,2) (0,1,-) (0,0,-) (0,2,3), where - is
// no value.
//
//   auto writer = cfile::LevelWriter<int32_t>::Create("list.cfile", cfile::ColumnType::Int32(),
//                                                     {.max_repetition = 1, .max_definition = 2});
//   writer->Append(repetition, definition, values);
//   writer->Finish();
//
//   auto cursor = reader.NewLevelCursor<int32_t>();
//   cursor->SeekToRecord(2);
//   auto batch = cursor->Next(1000);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/types.h"
#include "cfile/writer.h"

namespace cfile {

// Writes one leaf column into one file. LevelLimits (cfile/types.h) gives the maximum levels and
// their layout in the file. The file's bytes do not depend on how the entries are divided among
// calls, not even for Kudu's arrays.
//
// Memory: the encoded data of one data block, including its levels. A record lies in one block,
// which limits the record's size: see Append.
template <typename T>
class LevelWriter : public WriterBase {
  static_assert(CheckValueType<T>());

 public:
  // Begins a file at `path` or into `sink`. options.nullable is ignored: `limits` says whether a
  // record may be null. Errors as Writer::Create. kInvalidArgument: also for a value index, version
  // 1, or OldestReader::kKudu for anything but Kudu's arrays.
  static absl::StatusOr<LevelWriter> Create(const std::string& path, const ColumnType& type,
                                            const LevelLimits& limits,
                                            const WriterOptions& options = {}) {
    return Begin(NewFileSink(path), type, limits, options);
  }
  static absl::StatusOr<LevelWriter> Create(std::unique_ptr<Sink> sink, const ColumnType& type,
                                            const LevelLimits& limits,
                                            const WriterOptions& options = {}) {
    return Begin(std::move(sink), type, limits, options);
  }

  // Appends entries: whole records, or a part of a record that the next call continues.
  // `repetition` and `definition` have one level per entry; a span is empty if the maximum of its
  // levels is 0. If both maxima are 0, each value is one entry. `values` are the values of the
  // entries whose definition level is the maximum, in the order of these entries.
  //
  // kInvalidArgument (the message has the entry's number in the file): a level exceeds its maximum;
  // the first repetition level of the file is not 0; the spans differ in size; there are more or
  // fewer values than the definition levels say; a fixed-length value has another length; an array
  // that is null or empty has elements. kOutOfRange: a record does not fit into one block (a record
  // fits if its encoded size is at most about half of options.max_block_size_bytes); an array in
  // Kudu's layout has more than 65,535 elements; the file would have more than 2^32 - 1 records.
  absl::Status Append(std::span<const uint16_t> repetition, std::span<const uint16_t> definition,
                      std::span<const T> values) {
    return impl_->Append(internal::AnyLevelBatch{
        .repetition = repetition, .definition = definition, .values = values});
  }

  const LevelLimits& limits() const { return limits_; }

 private:
  LevelWriter(std::unique_ptr<internal::AnyWriter> writer, const LevelLimits& limits)
      : WriterBase(std::move(writer)), limits_(limits) {}

  static absl::StatusOr<LevelWriter> Begin(absl::StatusOr<std::unique_ptr<Sink>> sink,
                                           const ColumnType& type, const LevelLimits& limits,
                                           const WriterOptions& options) {
    auto writer = NewEntries(std::move(sink), type, limits, options, HoldsType<T>(type));
    if (!writer.ok()) return writer.status();
    return LevelWriter(*std::move(writer), limits);
  }

  LevelLimits limits_;
};

// A position in a leaf column; Reader::NewLevelCursor makes one. Memory: one block and one batch.
//
// Also reads flat files (written by Writer). Each row is then a record of one entry, and the limits
// are {0, 1} if the column is nullable, else {0, 0}.
//
// After an error of Next, the next call continues with the first entry that was not returned, or
// returns the error again. After an error of SeekToRecord, the cursor is at the first entry of
// record(), which is unchanged.
template <typename T>
class LevelCursor {
  static_assert(CheckValueType<T>());

 public:
  // Not for users: Reader::NewLevelCursor makes cursors.
  explicit LevelCursor(std::unique_ptr<internal::AnyLevelCursor> impl) : impl_(std::move(impl)) {}

  const LevelLimits& limits() const { return impl_->limits(); }
  uint64_t num_records() const { return impl_->num_records(); }

  // Goes to the first entry of `record`; num_records() is the end. Takes time in proportion to the
  // number of entries between the start of the record's block and the record.
  absl::Status SeekToRecord(uint64_t record) { return impl_->SeekToOrdinal(record); }

  // Returns the next entries, all from one block: at least 1 entry unless the cursor is at the end,
  // at most 65,536 entries, and entries of at most `max_records` records.
  absl::StatusOr<LevelBatch<T>> Next(size_t max_records) {
    const absl::StatusOr<internal::AnyLevelBatch> batch = impl_->Next(max_records);
    if (!batch.ok()) return batch.status();
    return batch->template As<T>();
  }

  // The record of the next entry. If Next has returned only a part of a record, this is the same
  // record.
  uint64_t record() const { return impl_->ordinal(); }

  BatchRange<LevelCursor> Batches(size_t max_records = kMaxBatchRows) {
    return {*this, max_records};
  }

 private:
  std::unique_ptr<internal::AnyLevelCursor> impl_;
};

template <typename T>
absl::StatusOr<LevelCursor<T>> Reader::NewLevelCursor() const {
  return internal::Wrap<LevelCursor<T>>(NewAnyLevelCursor(DecoderMakerOf<T>()));
}

}  // namespace cfile
