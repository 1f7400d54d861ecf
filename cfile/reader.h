// Reads one column from one file: scans, seeks by ordinal and by key.
//
//   auto reader = cfile::Reader::Open("keys.cfile");
//   auto cursor = reader->NewCursor<std::string_view>();
//   auto found = cursor->SeekToKey("apple");  // {ordinal, exact}
//   for (const auto& batch : cursor->Batches()) {
//     if (!batch.ok()) return batch.status();
//     for (std::string_view value : batch->values) ...
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/counters.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/statistics.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

namespace internal {
class FileReader;
class ReaderAccess;
class ValueCursor;

// Implements SeekToPrefix of the cursors.
template <typename C>
absl::StatusOr<OrdinalRange> SeekToPrefix(C& cursor, std::string_view prefix) {
  // The end of the range is `prefix` without trailing bytes 0xff, with its last byte increased.
  std::string end(prefix.substr(0, prefix.find_last_not_of('\xff') + 1));
  if (end.empty()) return cursor.SeekToKeyRange(prefix, std::nullopt);
  end.back() = static_cast<char>(end.back() + 1);
  return cursor.SeekToKeyRange(prefix, end);
}
}  // namespace internal

template <typename T>
class LevelCursor;  // cfile/levels.h
template <typename T>
class Predicate;  // cfile/predicate.h
template <typename T>
class Scan;  // cfile/scan.h

// A position in a column. Different threads may use a cursor, but only one at a time; several
// cursors may read one file at the same time. A cursor keeps the file open and may outlive the
// Reader. Memory: one block and one batch; the data read ahead if the source is not in memory (see
// ReaderOptions); and up to 4 MiB of buffers after Take or SeekMany.
//
// Errors of all calls: kDataLoss for damage (the error names the file, the block's offset, what
// was expected and what was found); kOutOfRange for a block or an index that exceeds a limit of
// ReaderOptions (the error names the limit); kUnimplemented for a block whose encoding, or whose
// dictionary, this build does not support (the error names it); or the error of the Source. After
// an error the cursor's position is unchanged: the call may be repeated, and Next continues with
// the first row that was not returned, or returns the error again. (Exception: in a file without a
// positional index, Next may fail after a failed seek; then seek again.) The cursor does not catch
// exceptions such as std::bad_alloc; after an exception it may only be destroyed.
template <typename T>
class CFILE_EXPORT Cursor {
  static_assert(CheckValueType<T>());

 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  // Goes to `ordinal`; num_rows() is the end. kOutOfRange: ordinal > num_rows().
  // kFailedPrecondition: the file has no positional index, and `ordinal` is neither 0 nor
  // num_rows() nor in the current block.
  absl::Status SeekToOrdinal(uint64_t ordinal);

  // Goes to the first value >= `key`; among equal values, to the one with the lowest ordinal. As in
  // predicates, -0 equals 0.
  // kFailedPrecondition: the file has no value index, or holds Bloom filters. kInvalidArgument: the
  // key is NaN.
  absl::StatusOr<KeyPosition> SeekToKey(const T& key);

  // Does SeekToKey for each of `keys`, which may be in any order, and writes the results to
  // `positions`, a span of the same size. Opens each block once. If the encoding supports it,
  // several searches run at the same time to hide memory latency. Afterwards the cursor may be at
  // any row.
  absl::Status SeekMany(std::span<const T> keys, std::span<KeyPosition> positions);

  // Goes to range.begin. Until the next seek, Next ends at range.end. kOutOfRange: range.end >
  // num_rows(). Other errors as SeekToOrdinal. Precondition: range.begin <= range.end.
  absl::Status SeekToRange(const OrdinalRange& range);

  // Does SeekToRange for the rows with low <= value < high; nullopt means no bound. Returns the
  // ordinals of these rows. Errors as SeekToKey.
  absl::StatusOr<OrdinalRange> SeekToKeyRange(const std::optional<T>& low,
                                              const std::optional<T>& high);

  // Does SeekToKeyRange for the rows whose values begin with `prefix`. Strings and bytes only.
  // (A template, because clang 14 compiles other members for all types.)
  template <typename Bytes = T>
  requires kIsBytes<Bytes> absl::StatusOr<OrdinalRange> SeekToPrefix(std::string_view prefix) {
    return internal::SeekToPrefix(*this, prefix);
  }

  // Returns the next rows, all from one block: at least 1 unless the cursor is at the end, at most
  // `max_rows` and at most 65,536. The batch is valid until the next call on this cursor, or until
  // the cursor is destroyed. If the block is PLAIN, of a fixed width and not compressed, the batch
  // points into the mapped file. With `max_rows` 0, the batch is empty, as at the end.
  absl::StatusOr<Batch<T>> Next(size_t max_rows);

  // Returns the rows before the cursor, in ascending order, and goes to the first of these rows.
  // The rows are all from one block: at least 1 unless the cursor is at the start of its range,
  // at most `max_rows` and at most 65,536.
  // The range is the whole file, except after SeekToRange, SeekToKeyRange and SeekToPrefix.
  // To read all rows from the last to the first, seek to num_rows() and call Previous repeatedly.
  // The batch is valid until the next call. Precondition: max_rows > 0. kFailedPrecondition: the
  // rows are not in the current block, and the file has no positional index.
  absl::StatusOr<Batch<T>> Previous(size_t max_rows);

  // The batches from the cursor's position to the end of its range, for a range-based for loop.
  BatchRange<Cursor> Batches(size_t max_rows = kMaxBatchRows) { return {*this, max_rows}; }

  // Returns the value at `ordinal`, or nullopt if it is null. A string_view is valid until the next
  // call. The cursor goes to ordinal + 1. kOutOfRange: ordinal >= num_rows(). Other errors as
  // SeekToOrdinal.
  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal);

  // Copies the values at `ordinals`, which may be in any order, to `out` in the order of
  // `ordinals`. Takes 131,072 ordinals at a time and opens each block once for them. Afterwards the
  // cursor may be at any row. kOutOfRange: an ordinal is >= num_rows(); the error names it.
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out);

  // The ordinal of the next row.
  uint64_t ordinal() const;

  // Returns a new cursor on the same open file, at the same position and with the same end of the
  // range. The two cursors are independent and may be used by different threads. Clone costs as
  // much as opening the current block, and nothing if no block is open.
  absl::StatusOr<Cursor> Clone() const;

 private:
  friend class Reader;
  friend class internal::ReaderAccess;
  explicit Cursor(std::unique_ptr<internal::ValueCursor> cursor);

  std::unique_ptr<internal::ValueCursor> impl_;
};

// An open file. Immutable and thread-safe. A copy is another handle on the same open file. The file
// is closed when its last handle and its last cursor are destroyed, in any thread. A Reader or a
// Cursor that was moved from may only be destroyed or assigned to.
class CFILE_EXPORT Reader {
 public:
  // Opens a file: reads and checks the header and the footer only. kDataLoss: the file is not a
  // CFile, or is damaged. kOutOfRange: the header or the footer is larger than
  // max_metadata_size_bytes. kUnimplemented: the file needs a feature that this build does not
  // have; the error names it. kNotFound and other codes: the file cannot be read.
  static absl::StatusOr<Reader> Open(const std::string& path, const ReaderOptions& options = {});
  static absl::StatusOr<Reader> Open(std::shared_ptr<const Source> source,
                                     const ReaderOptions& options = {});

  // The contents of the header and the footer. Valid as long as a handle or a cursor of this open
  // file exists.
  const FileInfo& info() const;
  const ColumnType& type() const { return info().type; }
  // The number of rows, nulls included; in a file with levels, the number of records.
  uint64_t num_rows() const { return info().num_rows; }

  // Returns what all handles and cursors of this open file have done so far.
  ReaderCounters counters() const;
  // Returns approximately the memory of the open file, in bytes. This memory holds index nodes,
  // seek indexes of blocks outside the cache, the dictionary and the statistics.
  // If the file is not in memory, copies of the file's start and end are included (64 KiB).
  // Cursors, the cache, and the bytes of a source in memory are not included.
  size_t memory_usage_bytes() const;

  // Returns the first row of the block that holds `ordinal`; num_rows() if ordinal >= num_rows().
  // kFailedPrecondition: the file has no positional index. kDataLoss: the index is damaged.
  // kOutOfRange: the index exceeds a limit of ReaderOptions.
  absl::StatusOr<uint64_t> BlockBegin(uint64_t ordinal) const;
  // Divides all rows into at most `max_ranges` ranges of similar length, none of them empty. Each
  // range begins at the first row of a block. In a parallel scan each thread's cursor reads one
  // range (Cursor::SeekToRange). Precondition: max_ranges > 0. Errors as BlockBegin.
  absl::StatusOr<std::vector<OrdinalRange>> Split(size_t max_ranges) const;

  // Returns the file's statistics. The first call reads them. Null if the file has none, or if they
  // are larger than ReaderOptions allow. (FileInfo::statistics_above_limit says so, except for
  // compressed statistics without a Bloom filter, whose size is known only after this call.)
  // kDataLoss: the statistics are damaged; cursors can read the file nevertheless.
  absl::StatusOr<std::shared_ptr<const FileStatistics>> Statistics() const;

  // Returns a cursor at ordinal 0. kInvalidArgument: the column does not hold T. kUnimplemented:
  // the encoding or the codec was not built in. kFailedPrecondition: the file has levels
  // (info().has_levels()); use NewLevelCursor.
  template <typename T>
  absl::StatusOr<Cursor<T>> NewCursor() const;

  // Returns a cursor at record 0 of a file with or without levels. To call it, include
  // cfile/levels.h. Errors as NewCursor, but kFailedPrecondition: the file has no positional index.
  template <typename T>
  absl::StatusOr<LevelCursor<T>> NewLevelCursor() const;

  // Begins a scan for the rows of `range` that match `predicate`; the range may end after the last
  // row. To call it, include cfile/scan.h. Errors as NewCursor, and: kInvalidArgument: the
  // predicate needs an order, and int96 has none. kDataLoss: the statistics are damaged.
  // (Statistics that are larger than ReaderOptions allow are ignored.)
  template <typename T>
  absl::StatusOr<Scan<T>> NewScan(const Predicate<T>& predicate,
                                  const OrdinalRange& range = kAllRows) const;

  // Shortcuts that create a cursor for a single call. Errors as NewCursor and Cursor. For many
  // calls, a cursor is faster.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<std::optional<Owned<T>>> Get(uint64_t ordinal) const;
  template <typename T, typename = IfValueType<T>>
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) const;

  // Returns copies of the rows of `range`, which may end after the last row. All these rows must
  // fit into memory. Errors as NewCursor and Cursor.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<OwnedBatch<T>> Read(const OrdinalRange& range = kAllRows) const;

 private:
  friend class internal::ReaderAccess;
  explicit Reader(std::shared_ptr<internal::FileReader> file);

  std::shared_ptr<internal::FileReader> file_;
};

}  // namespace cfile
