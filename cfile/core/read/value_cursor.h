// Implements Cursor (cfile/reader.h). FileCursor goes to rows and opens blocks. This file adds the
// values, the ranges of rows and the searches by key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/file_cursor.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/lane.h"

namespace cfile::internal {

// The functions and errors are those of Cursor. A `void*` key, and the values of a batch and of a
// ValueSpan, have the column's C++ type. Thread-compatible.
class ValueCursor final : public FileCursor {
 public:
  ValueCursor(std::shared_ptr<FileReader> file, BlockDecoding decoding);
  ~ValueCursor();

  // Returns a cursor of the same file at the same position.
  absl::StatusOr<std::unique_ptr<ValueCursor>> Clone() const;
  const std::shared_ptr<FileReader>& shared_file() const { return file_; }

  absl::Status SeekToOrdinal(uint64_t ordinal);
  absl::StatusOr<KeyPosition> SeekToKey(const void* key);
  absl::Status SeekMany(encodings::ValueSpan keys, std::span<KeyPosition> positions);
  absl::Status SeekToRange(const OrdinalRange& range);
  // `low`, `high`: null if there is no such bound.
  absl::StatusOr<OrdinalRange> SeekToKeyRange(const void* low, const void* high);

  absl::StatusOr<AnyBatch> Next(size_t max_rows);
  absl::StatusOr<AnyBatch> Previous(size_t max_rows);

  // The position. After Previous, and while there are rows in ahead_, the block cursor is
  // elsewhere, because a seek would overwrite the batch.
  uint64_t ordinal() const { return rewound_to_.value_or(FileCursor::ordinal()); }

  // Returns the end of the rows that Next returns.
  uint64_t range_end() const { return range_.end; }

  // The batch has one row.
  absl::StatusOr<AnyBatch> Get(uint64_t ordinal);
  absl::Status Take(std::span<const uint64_t> ordinals, OwnedValues& out);

 private:
  static constexpr int kKeyNumberBits = 16;

  // Tells the fetcher that Next and Previous will read only rows of range_.
  void ExpectRange();

  // Calls `seek` as Seeking does. After the seek, Next continues to the last row of the file.
  template <typename Seek>
  auto SeekingToAnyRow(const Seek& seek) {
    ahead_ = {};
    auto result = Seeking(seek);
    if (result.ok()) SetRange({.begin = 0, .end = num_rows()});
    return result;
  }

  // Call after a successful seek. Limits Next and Previous to the rows of `range`, and forgets the
  // position from which Previous went back.
  void SetRange(const OrdinalRange& range) {
    range_ = range;
    rewound_to_.reset();
    ahead_ = {};
    steps_ = 0;
    SetBackward(false);
  }

  // Returns the next rows at the current position, and goes to the next block if necessary. The
  // batch is empty at the end of the file.
  absl::StatusOr<AnyBatch> NextBatch(size_t max_rows);

  // Returns the next rows, at most `step`, as NextBatch does. After a few such batches, decodes the
  // rows of many batches at once, which NextOfAhead then returns batch by batch.
  absl::StatusOr<AnyBatch> NextSmall(size_t step, uint64_t left);
  AnyBatch NextOfAhead();

  KeyRef Key(const void* key) const { return {key, type_}; }
  // Key i of an array of keys.
  const void* KeyAt(const void* keys, size_t i) const {
    return static_cast<const std::byte*>(keys) + i * width_;
  }
  absl::Status NotAKey() const;

  absl::StatusOr<KeyPosition> GoToKey(const void* wanted);
  // Moves the path of the value index to the block that may contain the first value >= `key`. In a
  // file without values, the path is not valid() afterwards.
  absl::Status FindBlock(const void* key);
  absl::Status MovePath(const void* key);
  // Opens a piece of the block at `path` as the current block, and returns true. load() returns the
  // piece. If that fails, returns false; the block is then not read in pieces any more.
  template <typename Load>
  bool OpenPiece(IndexWalk& path, const Load& load);
  bool OpenPieceAt(uint64_t row) override;
  // Searches `key` in a piece of the block that FindBlock found. Nullopt if there is no such piece,
  // or if the result is not in this piece: search the whole block.
  std::optional<KeyPosition> SeekInPiece(const void* key);
  // Opens the block that FindBlock found, which may be open already.
  absl::Status OpenFoundBlock();

  // Prepares the searches for the keys order_[begin] to order_[end - 1] (SeekIndex::PrefetchKeys).
  // Precondition: at most kKeysAhead keys.
  void PrepareSearches(size_t begin, size_t end);
  absl::Status SeekSome(encodings::ValueSpan keys, std::span<KeyPosition> positions);
  // As GoToKey, but first searches the block that begins at row `ordinal`, if it is loaded.
  // Preconditions: a block begins at row `ordinal`; `key` is greater than all values before this
  // row.
  absl::StatusOr<KeyPosition> FindAfter(uint64_t ordinal, const void* key);

  // Copies the values at `ordinals` to the rows of `out` from `out_begin` on.
  absl::Status TakeSome(std::span<const uint64_t> ordinals, size_t out_begin, OwnedValues& out);
  // Sets `rows_` to the rows of order_[begin] and of the elements after it, up to the first one
  // that is not in the current block.
  void FindRows(size_t begin);

  BlockCursor block_;
  const PhysicalType type_;
  const size_t width_;                                 // of a value in bytes
  OrdinalRange range_{.begin = 0, .end = num_rows()};  // Next and Previous stay in it
  // The position after Previous, until the next seek, and while ahead_ has rows.
  std::optional<uint64_t> rewound_to_;
  AnyBatch ahead_;      // the rows after rewound_to_ that are decoded already
  size_t step_ = 0;     // the size of the last small batches
  uint32_t steps_ = 0;  // how many of them there were without a seek
  std::string search_key_;
  std::vector<uint64_t> order_;
  std::vector<IndexWalk::LeafEntry> places_;  // of the blocks of keys
  std::vector<uint32_t> rows_;
  std::unique_ptr<std::byte[]> sorted_keys_;
  size_t sorted_keys_capacity_ = 0;  // in keys
  std::vector<encodings::LowerBound> bounds_;
};

// Returns a cursor at the first row of `file`. `make_decoder`: as for PrepareToRead.
// Errors: those of Reader::NewCursor.
absl::StatusOr<std::unique_ptr<ValueCursor>> NewValueCursor(
    const std::shared_ptr<FileReader>& file,
    encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

}  // namespace cfile::internal
