// Reads one column from one file: scans, seeks by ordinal and by key.
//
//   auto reader = cfile::Reader::Open("keys.cfile");
//   auto cursor = reader->NewCursor<std::string_view>();
//   auto found = cursor->SeekToKey("apple");          // {ordinal, exact}
//   for (auto batch = cursor->Next(4096); batch.ok() && !batch->empty(); batch =
//   cursor->Next(4096)) ...
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/statistics.h"
#include "cfile/types.h"

namespace cfile {

namespace internal {
class FileReader;
class ReaderAccess;
}  // namespace internal

// Where a key search ended.
struct KeyPosition {
  uint64_t ordinal = 0;  // of the first value >= the key; num_values() if there is none
  bool exact = false;    // the value there equals the key
};

// A position in a column. One thread at a time, not always the same one; many cursors may read one
// file at once. It keeps the file open, so it may outlive the Reader. It holds one block and one
// batch in memory, of a source that is not in memory what was read ahead (ReaderOptions), after
// Take and SeekMany up to 4 MiB of their own.
//
// Errors of all calls: kDataLoss for damage (names file, block offset, what was expected and
// found), kOutOfRange for a block or an index above a limit of ReaderOptions, which the message
// names, or what the Source returned. After an error the cursor is where it was: the call may be
// made again, and Next continues with the row that the error kept back, or returns the error again.
// (In a file without a positional index Next may fail after a failed seek: seek again.) After an
// exception (std::bad_alloc, which is not caught here) it may only be destroyed.
template <typename T>
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  // Goes to `ordinal`. kOutOfRange if it is above num_values() (num_values() itself is the end).
  // kFailedPrecondition: the file has no positional index.
  absl::Status SeekToOrdinal(uint64_t ordinal);

  // Goes to the first value >= `key`. Of several equal ones the first. kFailedPrecondition: the
  // file has no value index, or holds Bloom filters. kInvalidArgument: the key is NaN.
  absl::StatusOr<KeyPosition> SeekToKey(const T& key);

  // SeekToKey for each of `keys`, in any order, into `positions` (of the same size): each block is
  // opened once, and where its encoding can the waits for memory overlap. Leaves the cursor at some
  // row.
  absl::Status SeekMany(std::span<const T> keys, std::span<KeyPosition> positions);

  // Goes to the front of a range: Next then ends at its end, until the next seek. kOutOfRange:
  // range.end is above num_values(). Precondition: range.begin <= range.end.
  absl::Status SeekToRange(const OrdinalRange& range);

  // The same for the rows whose values are >= `low` and < `high` (nullopt: from the first, to the
  // last); returns which those are. Errors as SeekToKey.
  absl::StatusOr<OrdinalRange> SeekToKeyRange(const std::optional<T>& low,
                                              const std::optional<T>& high);

  // The next rows: at least 1 unless the cursor is at the end, at most `max_rows` and 65,536; a
  // batch does not cross a block. The batch is valid until the next call on this cursor. Where the
  // block is uncompressed PLAIN of a fixed width, it points into the mapped file.
  absl::StatusOr<Batch<T>> Next(size_t max_rows);

  // The value at `ordinal`, nullopt if it is null; a view is valid until the next call. Leaves the
  // cursor behind it. kOutOfRange: ordinal >= num_values().
  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal);

  // The values at `ordinals`, in that order, whatever it is; each block is opened once for every
  // 131,072 of them. Leaves the cursor at some row. kOutOfRange: one of them is >= num_values(),
  // named in the message.
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out);

  // The ordinal that Next continues at.
  uint64_t ordinal() const;

  // A further cursor at the same place of the same open file, its range with the same end; from
  // then on neither knows of the other, and each may belong to a thread of its own. Costs what
  // opening the block does that this cursor is in: nothing if it is in none.
  absl::StatusOr<Cursor> Clone() const;

 private:
  friend class Reader;
  class Impl;
  explicit Cursor(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// An open file. Immutable: any number of threads may call it at once. A copy is a further handle on
// the same open file, which is closed when the last of them, and of the cursors that keep it open,
// is gone; that may be in any thread.
class Reader {
 public:
  // Reads and checks header and footer, nothing else. kDataLoss: this is no CFile, or a damaged
  // one. kOutOfRange: header or footer are above max_metadata_size_bytes. kUnimplemented: it needs
  // a feature that this build does not have (the message names it).
  // kNotFound and other codes: the file cannot be read.
  static absl::StatusOr<Reader> Open(const std::string& path, const ReaderOptions& options = {});
  static absl::StatusOr<Reader> Open(std::shared_ptr<const Source> source,
                                     const ReaderOptions& options = {});

  // What header and footer say.
  const FileInfo& info() const;
  const ColumnType& type() const { return info().type; }
  // Rows, nulls included; with levels: records.
  uint64_t num_values() const { return info().num_values; }

  // The first row of the block that holds `ordinal`; num_values() if there is none.
  // kFailedPrecondition: the file has no positional index. kDataLoss: the index is damaged.
  // kOutOfRange: the index is above a limit of ReaderOptions.
  absl::StatusOr<uint64_t> BlockBegin(uint64_t ordinal) const;
  // All rows as up to `max_ranges` ranges of about the same length that begin at blocks: one for
  // each cursor of a parallel scan (Cursor::SeekToRange). None is empty. Precondition: max_ranges >
  // 0. Errors as BlockBegin.
  absl::StatusOr<std::vector<OrdinalRange>> Split(size_t max_ranges) const;

  // The file's statistics, read when they are first asked for. Null if the file has none, or if
  // they are larger than ReaderOptions allow (FileInfo::statistics_above_limit; of compressed
  // statistics without a Bloom filter only this call can tell). Thread-safe. kDataLoss: they are
  // damaged; cursors read the file nevertheless.
  absl::StatusOr<std::shared_ptr<const FileStatistics>> Statistics() const;

  // A cursor at ordinal 0. kInvalidArgument: the column does not hold T. kUnimplemented: encoding
  // or codec was not built in. kFailedPrecondition: the file has levels (info().has_levels()), see
  // LevelCursor in cfile/levels.h.
  template <typename T>
  absl::StatusOr<Cursor<T>> NewCursor() const;

  // Conveniences that make a cursor for one call; see Cursor for the errors. Keep a cursor where
  // speed matters.
  template <typename T>
  absl::StatusOr<std::optional<Owned<T>>> Get(uint64_t ordinal) const;
  template <typename T>
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) const;

 private:
  friend class internal::ReaderAccess;
  explicit Reader(std::shared_ptr<internal::FileReader> file);

  std::shared_ptr<internal::FileReader> file_;
};

}  // namespace cfile
