// Reads one column from one file: scans, seeks by ordinal and by key. Errors, lifetime and
// threads: cfile/CONCEPTS.md.
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
#include <utility>
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
#include "cfile/untyped.h"
#include "encodings/core/export.h"

namespace cfile {

namespace encodings {
class AnyBlockDecoder;
struct DecoderOptions;

// encodings/registry.h
using DecoderMaker = absl::StatusOr<std::unique_ptr<AnyBlockDecoder>>(
    Encoding encoding, PhysicalType type, const DecoderOptions& options);
template <typename T>
CFILE_EXPORT absl::StatusOr<std::unique_ptr<AnyBlockDecoder>> MakeDecoderOf(
    Encoding encoding, PhysicalType type, const DecoderOptions& options);
}  // namespace encodings

namespace internal {
class FileReader;
class ReaderAccess;
class ValueCursor;
}  // namespace internal

template <typename T>
class LevelCursor;  // cfile/levels.h
template <typename T>
class Predicate;  // cfile/predicate.h
template <typename T>
class Scan;  // cfile/scan.h

// Does the work of Cursor, for the library, with the functions of internal::AnyCursor. They are not
// virtual, so that a program contains only the functions that it calls.
class CFILE_EXPORT UntypedCursor {
 public:
  explicit UntypedCursor(std::unique_ptr<internal::ValueCursor> impl);
  UntypedCursor(UntypedCursor&&) noexcept;
  UntypedCursor& operator=(UntypedCursor&&) noexcept;
  ~UntypedCursor();
  UntypedCursor* operator->() { return this; }
  const UntypedCursor* operator->() const { return this; }

  absl::Status SeekToOrdinal(uint64_t ordinal);
  absl::StatusOr<KeyPosition> SeekToKey(const void* key);
  absl::Status SeekMany(encodings::ValueSpan keys, std::span<KeyPosition> positions);
  absl::Status SeekToRange(const OrdinalRange& range);
  absl::StatusOr<OrdinalRange> SeekToKeyRange(const void* low, const void* high);
  absl::StatusOr<internal::AnyBatch> Next(size_t max_rows);
  absl::StatusOr<internal::AnyBatch> Previous(size_t max_rows);
  absl::StatusOr<internal::AnyBatch> Get(uint64_t ordinal);
  absl::Status Take(std::span<const uint64_t> ordinals, internal::OwnedValues& out);
  uint64_t ordinal() const;
  absl::StatusOr<UntypedCursor> Clone() const;

 private:
  friend class internal::ReaderAccess;
  std::unique_ptr<internal::ValueCursor> impl_;
};

namespace internal {
// The functions that Cursor and TableCursor (cfile/table.h) share. Impl does their work for all
// types.
template <typename T, typename Impl>
class TypedCursor {
  static_assert(CheckValueType<T>());

 public:
  // Goes to `ordinal`; num_rows() is the end. kFailedPrecondition: the file has no positional
  // index, and `ordinal` is neither 0 nor num_rows() nor in the current block.
  absl::Status SeekToOrdinal(uint64_t ordinal) { return impl_->SeekToOrdinal(ordinal); }

  // Goes to the first value >= `key`; among equal values, to the one with the lowest ordinal. As in
  // predicates, -0 equals 0. kFailedPrecondition: the file has no value index, or holds Bloom
  // filters. kInvalidArgument: the key is NaN.
  absl::StatusOr<KeyPosition> SeekToKey(const T& key) {
    const T copy = key;  // `key` may lie in the last batch, whose memory the search uses
    return impl_->SeekToKey(&copy);
  }

  // Searches for each of `keys`, which may be in any order, and writes the results to `positions`,
  // a span of the same size. Opens each block once. If the encoding supports it, several searches
  // run at the same time to hide memory latency. Afterwards the cursor may be at any row.
  absl::Status SeekMany(std::span<const T> keys, std::span<KeyPosition> positions) {
    return impl_->SeekMany(keys, positions);
  }

  // Goes to range.begin. Until the next seek, Next ends at range.end. Errors as SeekToOrdinal.
  // Precondition: range.begin <= range.end.
  absl::Status SeekToRange(const OrdinalRange& range) { return impl_->SeekToRange(range); }

  // Goes to the rows with low <= value < high, as SeekToRange; nullopt means no bound. Returns
  // their ordinals. Errors as SeekToKey.
  absl::StatusOr<OrdinalRange> SeekToKeyRange(const std::optional<T>& low,
                                              const std::optional<T>& high) {
    return impl_->SeekToKeyRange(low ? &*low : nullptr, high ? &*high : nullptr);
  }

  // Goes to the rows whose values begin with `prefix`, as SeekToKeyRange. Strings and bytes only.
  // (A template, because clang 14 compiles other members for all types.)
  template <typename Bytes = T>
  requires kIsBytes<Bytes> absl::StatusOr<OrdinalRange> SeekToPrefix(std::string_view prefix) {
    // The end of the range is `prefix` without trailing bytes 0xff, with its last byte increased.
    std::string end(prefix.substr(0, prefix.find_last_not_of('\xff') + 1));
    if (end.empty()) return SeekToKeyRange(prefix, std::nullopt);
    end.back() = static_cast<char>(end.back() + 1);
    return SeekToKeyRange(prefix, end);
  }

  // Returns the next rows, all from one block: at least 1 unless the cursor is at the end, at most
  // `max_rows` and at most 65,536. If the block is PLAIN, of a fixed width and not compressed, the
  // batch may point into the mapped file. With `max_rows` 0, the batch is empty, as at the end.
  absl::StatusOr<Batch<T>> Next(size_t max_rows) { return Typed(impl_->Next(max_rows)); }

  // Returns the rows before the cursor, in ascending order, and goes to the first of these rows.
  // They are all from one block: at least 1 unless the cursor is at the start of its range, at most
  // `max_rows` and at most 65,536. The range is the whole file, except after SeekToRange,
  // SeekToKeyRange and SeekToPrefix. To read all rows from the last to the first, seek to
  // num_rows() and call Previous repeatedly. kFailedPrecondition: the file has no positional index,
  // and an error has made the cursor lose its block.
  absl::StatusOr<Batch<T>> Previous(size_t max_rows) { return Typed(impl_->Previous(max_rows)); }

  BatchRange<TypedCursor> Batches(size_t max_rows = kMaxBatchRows) { return {*this, max_rows}; }

  // Returns the value at `ordinal`, or nullopt if it is null, and goes to ordinal + 1. A
  // string_view is valid until the next call. Errors as SeekToOrdinal.
  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal) {
    const absl::StatusOr<AnyBatch> batch = impl_->Get(ordinal);
    if (!batch.ok()) return batch.status();
    return batch->IsValid(0) ? std::optional<T>(*static_cast<const T*>(batch->values))
                             : std::nullopt;
  }

  // Copies the values at `ordinals`, which may be in any order, to `out` in the order of
  // `ordinals`. Opens each block once for 131,072 ordinals. Afterwards the cursor may be at any
  // row.
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) {
    return impl_->Take(ordinals, out.untyped());
  }

  // The ordinal of the next row.
  uint64_t ordinal() const { return impl_->ordinal(); }

  // The same cursor without its type, for the library.
  Impl untyped() && { return std::move(impl_); }

 protected:
  explicit TypedCursor(Impl impl) : impl_(std::move(impl)) {}

  Impl impl_;

 private:
  static absl::StatusOr<Batch<T>> Typed(const absl::StatusOr<AnyBatch>& batch) {
    if (!batch.ok()) return batch.status();
    return batch->template As<T>();
  }
};
}  // namespace internal

// A position in a column. Memory: one block and one batch; the data read ahead if the source is not
// in memory (see ReaderOptions); and up to 4 MiB of buffers after Take or SeekMany.
template <typename T>
class Cursor : public internal::TypedCursor<T, UntypedCursor> {
 public:
  // Not for users: Reader::NewCursor makes cursors.
  explicit Cursor(UntypedCursor impl) : internal::TypedCursor<T, UntypedCursor>(std::move(impl)) {}

  // Returns a new, independent cursor at the same position, with the same end of the range. Costs
  // as much as opening the current block, and nothing if no block is open.
  absl::StatusOr<Cursor> Clone() const { return internal::Wrap<Cursor>(this->impl_->Clone()); }

 private:
  friend class internal::ReaderAccess;
};

// An open file. Immutable and thread-safe. A copy is another handle on the same open file.
class CFILE_EXPORT Reader {
 public:
  // Opens a file: reads and checks the header and the footer only. kDataLoss: also if the file is
  // not a CFile.
  static absl::StatusOr<Reader> Open(const std::string& path, const ReaderOptions& options = {});
  static absl::StatusOr<Reader> Open(std::shared_ptr<const Source> source,
                                     const ReaderOptions& options = {});

  // The contents of the header and the footer. Valid as long as a handle or a cursor exists.
  const FileInfo& info() const;
  const ColumnType& type() const { return info().type; }
  // The number of rows, nulls included; in a file with levels, the number of records.
  uint64_t num_rows() const { return info().num_rows; }

  // What all handles and cursors of this open file have done so far.
  ReaderCounters counters() const;
  // Approximately the memory of the open file, in bytes: index nodes, seek indexes of blocks
  // outside the cache, the dictionary, the statistics, and, if the file is not in memory, copies
  // of its start and end (64 KiB). Cursors, the cache, and the bytes of a source in memory are not
  // included.
  size_t memory_usage_bytes() const;

  // Returns the first row of the block that holds `ordinal`; num_rows() if ordinal >= num_rows().
  // kFailedPrecondition: the file has no positional index.
  absl::StatusOr<uint64_t> BlockBegin(uint64_t ordinal) const;
  // Divides all rows into at most `max_ranges` ranges of similar length, none of them empty. Each
  // range begins at the first row of a block. In a parallel scan each thread's cursor reads one
  // range (Cursor::SeekToRange). Errors as BlockBegin.
  absl::StatusOr<std::vector<OrdinalRange>> Split(size_t max_ranges) const;

  // Returns the file's statistics. The first call reads them. Null if the file has none, or if they
  // are larger than ReaderOptions allow. (FileInfo::statistics_above_limit says so, except for
  // compressed statistics without a Bloom filter, whose size is known only after this call.)
  // kDataLoss: the statistics are damaged; cursors can read the file nevertheless.
  absl::StatusOr<std::shared_ptr<const FileStatistics>> Statistics() const;

  // Returns a cursor at ordinal 0. kFailedPrecondition: the file has levels (info().has_levels());
  // use NewLevelCursor.
  template <typename T>
  absl::StatusOr<Cursor<T>> NewCursor() const {
    return internal::Wrap<Cursor<T>>(NewUntypedCursor(DecoderMakerOf<T>()));
  }

  // Returns a cursor at record 0 of a file with or without levels. To call it, include
  // cfile/levels.h. kFailedPrecondition: the file has no positional index.
  template <typename T>
  absl::StatusOr<LevelCursor<T>> NewLevelCursor() const;

  // Begins a scan for the rows of `range` that match `predicate`; the range may end after the last
  // row. To call it, include cfile/scan.h. Statistics that are larger than ReaderOptions allow are
  // ignored. kInvalidArgument: the predicate needs an order, and int96 has none. Other errors as
  // NewCursor.
  template <typename T>
  absl::StatusOr<Scan<T>> NewScan(const Predicate<T>& predicate,
                                  const OrdinalRange& range = kAllRows) const;

  // Create a cursor for a single call. For many calls, a cursor is faster.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<std::optional<Owned<T>>> Get(uint64_t ordinal) const {
    absl::StatusOr<Cursor<T>> cursor = NewCursor<T>();
    if (!cursor.ok()) return cursor.status();
    const absl::StatusOr<std::optional<T>> value = cursor->Get(ordinal);
    if (!value.ok()) return value.status();
    return *value ? std::optional<Owned<T>>(**value) : std::nullopt;
  }
  template <typename T, typename = IfValueType<T>>
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) const {
    absl::StatusOr<Cursor<T>> cursor = NewCursor<T>();
    return cursor.ok() ? cursor->Take(ordinals, out) : cursor.status();
  }

  // Returns copies of the rows of `range`, which may end after the last row. All these rows must
  // fit into memory.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<OwnedBatch<T>> Read(const OrdinalRange& range = kAllRows) const {
    OwnedBatch<T> rows;
    absl::Status status = ReadRows(DecoderMakerOf<T>(), range, rows.untyped());
    if (!status.ok()) return status;
    return rows;
  }

 private:
  friend class internal::ReaderAccess;
  explicit Reader(std::shared_ptr<internal::FileReader> file);

  // Null if the column does not hold T. NewCursor and the other functions then return an error.
  template <typename T>
  encodings::DecoderMaker* DecoderMakerOf() const {
    return HoldsType<T>(type()) ? &encodings::MakeDecoderOf<T> : nullptr;
  }
  absl::StatusOr<UntypedCursor> NewUntypedCursor(encodings::DecoderMaker* make_decoder) const;
  absl::StatusOr<std::unique_ptr<internal::AnyLevelCursor>> NewAnyLevelCursor(
      encodings::DecoderMaker* make_decoder) const;
  absl::Status ReadRows(encodings::DecoderMaker* make_decoder, const OrdinalRange& range,
                        internal::OwnedValues& rows) const;

  std::shared_ptr<internal::FileReader> file_;
};

}  // namespace cfile
