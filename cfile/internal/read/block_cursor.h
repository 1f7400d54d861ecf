// A position inside one data block. Combines the present values with the nulls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/file_info.h"
#include "cfile/internal/format/data_block.h"
#include "cfile/internal/read/row_block.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {

// Reads the rows of one block at a time; Open moves the cursor to another block. Thread-compatible.
// Errors say what is wrong inside the block, but do not name the block.
template <typename T>
class BlockCursor final : public RowBlock {
 public:
  // `dictionary`: the file's dictionary; may be null if the file's blocks need none.
  BlockCursor(const ColumnType& type, std::shared_ptr<const encodings::Dictionary> dictionary)
      : type_(type), dictionary_(std::move(dictionary)) {}

  absl::Status Open(std::span<const uint8_t> bytes, const FileInfo& info,
                    std::optional<uint64_t> first_ordinal,
                    const encodings::SeekIndex* seek_index = nullptr,
                    const BlockHead* head = nullptr) override;

  // Opens a parsed block in the same way. This block may have no rows.
  absl::Status Open(const DataBlock& block, std::optional<uint64_t> first_ordinal,
                    const encodings::SeekIndex* seek_index = nullptr);

  std::unique_ptr<const encodings::SeekIndex> BuildSeekIndex() override;

  const std::shared_ptr<const encodings::Dictionary>& dictionary() const { return dictionary_; }
  Encoding encoding() const override { return encoding_; }
  uint32_t num_entries() const override { return num_rows_; }
  uint32_t num_present() const override { return decoder_->count(); }

  absl::Status SeekToRow(uint32_t row) override;

  // Goes to the first row whose value is >= `key`. Precondition: the block has no nulls.
  absl::StatusOr<encodings::LowerBound> SeekToKey(const T& key);

  // Searches each of `keys` as SeekToKey does, and stores the results in the first elements of
  // `bounds`. Then goes to the block's front.
  absl::Status SeekToKeys(std::span<const T> keys, std::span<encodings::LowerBound> bounds);

  // Calls put(i, value) or put_null(i) for the value at rows[i]. `rows` must ascend; repeated rows
  // are allowed. Views are valid only inside the call. The position afterwards is unspecified.
  template <typename Put, typename PutNull>
  absl::Status Take(std::span<const uint32_t> rows, Put&& put, PutNull&& put_null);

  // Reads the next rows: at most `max_rows` and at most kMaxBatchValues rows; at least 1 row unless
  // the cursor is at the block's end. The batch is valid until the next call. The caller sets the
  // batch's first_ordinal.
  absl::StatusOr<Batch<T>> Next(size_t max_rows);

  // Does the same. Values that are not in place already are decoded into `out`.
  // Then the batch begins at `out`. `out` must have room for `max_rows` values.
  absl::StatusOr<Batch<T>> NextInto(size_t max_rows, T* out);

  // Compares the values of the next `count` rows with a predicate, without decoding them
  // (PredicateMatcher::MatchBy). Sets `bits`, and sets `validity` as Batch::validity; the bit of a
  // null is 0. Returns false, and does nothing, if this is not possible. Preconditions: those of
  // MatchBy; the block has `count` more rows.
  template <typename Matcher>
  absl::StatusOr<bool> NextMatches(const Matcher& matcher, size_t count, uint8_t* bits,
                                   const uint8_t*& validity);

  // Does the same as Next for strings, but appends the strings to `out`. Appends "" for a null.
  // Sets the validity and the null count of the batch, but no values.
  // Returns the number of rows. The number is 0 if nothing was read.
  // Then the block is at its end, or the next string does not fit.
  absl::StatusOr<size_t> NextPacked(size_t max_rows, encodings::PackedStrings& out,
                                    Batch<T>& batch);

  // The dictionary's values by code if the block stores codes, else empty.
  std::span<const T> DictionaryValues() const { return decoder_->DictionaryValues(); }

  // Does the same as Next, but returns the codes of the values. The code of a null is 0.
  // Precondition: DictionaryValues() is not empty.
  absl::StatusOr<Batch<uint32_t>> NextCodes(size_t max_rows);
  // Does the same, but puts the codes into `out`. `out` must have room for `max_rows` codes.
  absl::StatusOr<Batch<uint32_t>> NextCodesInto(size_t max_rows, uint32_t* out);

  size_t memory_usage_bytes() const {
    return values_.capacity_bytes() + codes_.capacity_bytes() + validity_bits_.capacity();
  }

 private:
  // kDataLoss if the block has nulls. (A column with a value index has no nulls.)
  absl::Status CheckNoNulls() const;
  // Goes to the first row, also if the decoder's position is unknown.
  absl::Status SeekToFront() {
    row_ = 0;
    return decoder_->SeekTo(0);
  }
  absl::StatusOr<encodings::BlockDecoder<T>*> DecoderOf(Encoding encoding);

  // Buffers for a batch of V.
  template <typename V>
  struct Buffers {
    std::unique_ptr<V[]> packed;  // the present values, if the decoder must copy them
    size_t packed_capacity = 0;
    std::unique_ptr<V[]> spread;  // the values at their rows, with gaps for nulls
    size_t spread_capacity = 0;

    size_t capacity_bytes() const { return (packed_capacity + spread_capacity) * sizeof(V); }
  };
  // These functions read a batch of V. If kCodes is false, V is T, and `decoder_` returns values.
  // If kCodes is true, V is uint32_t, and `decoder_` returns codes.
  // `out`: the place for the result. If `out` is null, the result is in `buffers`.
  template <bool kCodes, typename V>
  absl::StatusOr<Batch<V>> NextOf(size_t max_rows, Buffers<V>& buffers, V* out = nullptr);
  template <bool kCodes, typename V>
  absl::StatusOr<std::span<const V>> NextPresent(size_t count, Buffers<V>& buffers, V* out);
  template <bool kCodes, typename V>
  absl::StatusOr<Batch<V>> NextNullable(size_t count, Buffers<V>& buffers, V* out);
  // Reads the next `count` bits of the validity. Returns how many of these bits are 1.
  // kDataLoss: the block has another number of values.
  absl::StatusOr<size_t> NextValidity(size_t count);
  // Sets valid[i] to 1 if rows[i] holds a value, otherwise to 0, and writes the positions of these
  // values in the decoder to `positions`. Returns how many there are. `rows` must ascend.
  // kDataLoss: the block has another number of values.
  absl::StatusOr<size_t> FindValues(std::span<const uint32_t> rows, uint32_t* positions,
                                    uint8_t* valid);
  // Call it if only the first `present` values could be read for the rows of the last NextValidity.
  // Goes back to the first of these rows that lacks its value.
  // Returns the number of these rows before that row.
  absl::StatusOr<size_t> CutAfter(size_t present);
  template <typename V>
  static V* Reserve(size_t count, std::unique_ptr<V[]>& buffer, size_t& capacity);

  // The number of rows that Take passes to the decoder at once.
  static constexpr size_t kTakenRows = 1024;

  ColumnType type_;
  std::shared_ptr<const encodings::Dictionary> dictionary_;
  // One decoder for each encoding found so far, because the blocks of a file may have different
  // encodings. The decoders are kept, so that opening a block allocates nothing.
  std::vector<std::pair<Encoding, std::unique_ptr<encodings::BlockDecoder<T>>>> decoders_;
  encodings::BlockDecoder<T>* decoder_ = nullptr;
  Encoding encoding_ = Encoding::kPlain;  // of the block
  encodings::ValidityDecoder validity_;
  bool nullable_ = false;

  Buffers<T> values_;
  Buffers<uint32_t> codes_;
  std::vector<uint8_t> validity_bits_;
};

template <typename T>
template <typename V>
V* BlockCursor<T>::Reserve(size_t count, std::unique_ptr<V[]>& buffer, size_t& capacity) {
  if (count > capacity) {
    // Round up to a power of two, so that the buffer grows only a few times.
    capacity = std::min(encodings::kMaxBatchValues, std::bit_ceil(count));
    buffer.reset(new V[capacity]);
  }
  return buffer.get();
}

template <typename T>
template <typename Matcher>
absl::StatusOr<bool> BlockCursor<T>::NextMatches(const Matcher& matcher, size_t count,
                                                 uint8_t* bits, const uint8_t*& validity) {
  size_t present = count;
  if (nullable_) {
    CFILE_ASSIGN_OR_RETURN(present, NextValidity(count));
  }
  const uint32_t position = decoder_->position();
  const auto compare = [&](const T& low, const T& high, uint8_t* some) -> absl::StatusOr<bool> {
    CFILE_RETURN_IF_ERROR(decoder_->SeekTo(position));
    return decoder_->ReadMatches(low, high, present, some);
  };
  const auto compare_list = [&](std::span<const T> list) -> absl::StatusOr<bool> {
    if (list.size() > decoder_->kMostMatches) return false;
    return decoder_->ReadMatchesOfAny(list, present, bits);
  };
  CFILE_ASSIGN_OR_RETURN(const bool matched, matcher.MatchBy(present, compare, compare_list, bits));
  if (!matched) {
    if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(row_).status());
    return false;
  }
  validity = present == count ? nullptr : validity_bits_.data();
  if (validity != nullptr) encodings::SpreadBits(bits, validity, count, present);
  row_ += static_cast<uint32_t>(count);
  return true;
}

template <typename T>
template <typename Put, typename PutNull>
absl::Status BlockCursor<T>::Take(std::span<const uint32_t> rows, Put&& put, PutNull&& put_null) {
  if constexpr (!encodings::kIsBytes<T>) {
    uint32_t positions[kTakenRows];
    for (size_t begin = 0; begin < rows.size(); begin += kTakenRows) {
      const auto some = rows.subspan(begin, std::min(kTakenRows, rows.size() - begin));
      T* const values = Reserve(some.size(), values_.packed, values_.packed_capacity);
      if (!nullable_) {
        CFILE_RETURN_IF_ERROR(decoder_->Gather(some, {values, some.size()}));
        for (size_t i = 0; i < some.size(); ++i) put(begin + i, values[i]);
        continue;
      }
      uint8_t valid[kTakenRows];
      CFILE_ASSIGN_OR_RETURN(const size_t present, FindValues(some, positions, valid));
      CFILE_RETURN_IF_ERROR(decoder_->Gather({positions, present}, {values, present}));
      const T* next = values;
      for (size_t i = 0; i < some.size(); ++i) {
        if (valid[i] != 0) {
          put(begin + i, *next++);
        } else {
          put_null(begin + i);
        }
      }
    }
    if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(0).status());
    return SeekToFront();
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    CFILE_RETURN_IF_ERROR(SeekToRow(rows[i]));
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, Next(1));
    if (batch.IsValid(0)) {
      put(i, batch.values[0]);
    } else {
      put_null(i);
    }
  }
  return absl::OkStatus();
}

// Returns whether seeking to each of `chosen` rows is faster than decoding a range of rows.
// The range reaches from the first to the last chosen row. `all`: the number of rows in the range.
// Measured: decoding a row takes 1/64 of the time of a seek.
// It takes 1/256 of that time if the seek must count nulls or skip strings.
template <typename T>
bool SeeksAreFaster(uint64_t chosen, uint64_t all, bool nullable) {
  const uint64_t rows_per_seek = encodings::kIsBytes<T> || nullable ? 256 : 64;
  return chosen * rows_per_seek < all;
}

// Decodes the rest of the rows of `block`, a BlockCursor or a LevelBlockCursor, and calls
// visit(batch) for each batch. Returns the first error of a batch or of `visit`.
template <typename Block, typename Visit>
absl::Status VisitBatches(Block& block, const Visit& visit) {
  while (block.row() < block.num_rows()) {
    CFILE_ASSIGN_OR_RETURN(const auto batch, block.Next(encodings::kMaxBatchValues));
    CFILE_RETURN_IF_ERROR(visit(batch));
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
