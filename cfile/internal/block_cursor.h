// A position inside one data block: present values and nulls brought together.
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
#include "cfile/inspect.h"
#include "cfile/internal/data_block.h"
#include "cfile/types.h"
#include "encodings/block_codec.h"
#include "encodings/validity.h"

namespace cfile::internal {

// Reads the rows of one block after the other. Thread-compatible. Errors say what is wrong inside
// the block, not which block.
template <typename T>
class BlockCursor {
 public:
  // `dictionary`: of the file; may be null where its blocks need none.
  BlockCursor(const ColumnType& type, std::shared_ptr<const encodings::Dictionary> dictionary)
      : type_(type), dictionary_(std::move(dictionary)) {}

  // Opens on the bytes of a block of the file that `info` describes, at its first row. They must
  // stay valid. `first_ordinal`: of the block, if the caller knows it; it is compared with what the
  // block says. A block has at least one row. `seek_index`: what BuildSeekIndex gave for this
  // block, or nullptr.
  absl::Status Open(std::span<const uint8_t> bytes, const FileInfo& info,
                    std::optional<uint64_t> first_ordinal,
                    const encodings::SeekIndex* seek_index = nullptr);

  // The same of a block that is taken apart; it may have no rows.
  absl::Status Open(const DataBlock& block, std::optional<uint64_t> first_ordinal,
                    const encodings::SeekIndex* seek_index = nullptr);

  // What makes seeks in the open block fast, or nullptr; goes to its front.
  std::unique_ptr<const encodings::SeekIndex> BuildSeekIndex();

  const std::shared_ptr<const encodings::Dictionary>& dictionary() const { return dictionary_; }
  Encoding encoding() const { return encoding_; }
  uint32_t num_rows() const { return num_rows_; }
  uint32_t num_entries() const { return num_rows_; }
  uint32_t row() const { return row_; }
  // As the block says: the low 32 bits.
  uint32_t first_ordinal() const { return decoder_->first_ordinal(); }
  uint32_t num_present() const { return decoder_->count(); }

  // Precondition: row <= num_rows().
  absl::Status SeekToRow(uint32_t row);

  // Goes to the first row whose value is >= `key`. Precondition: the block has no nulls.
  absl::StatusOr<encodings::LowerBound> SeekToKey(const T& key);

  // SeekToKey for each of `keys`, to the front of `bounds`; then goes to the block's front.
  absl::Status SeekToKeys(std::span<const T> keys, std::span<encodings::LowerBound> bounds);

  // The values at `rows`, which ascend (equal ones may follow each other): calls put(i, value) or
  // put_null(i) for rows[i]. A view is valid inside the call. Goes to some row.
  template <typename Put, typename PutNull>
  absl::Status Take(std::span<const uint32_t> rows, Put&& put, PutNull&& put_null);

  // The next rows, at least 1 unless at the end, at most `max_rows` and kMaxBatchValues. Valid
  // until the next call. first_ordinal of the batch is left to the caller.
  absl::StatusOr<Batch<T>> Next(size_t max_rows);

  // If the block is one of codes: the dictionary's values, by code. Else empty.
  std::span<const T> DictionaryValues() const { return decoder_->DictionaryValues(); }

  // As Next, but the codes of the values; that of a null is 0. Precondition: DictionaryValues() is
  // not empty.
  absl::StatusOr<Batch<uint32_t>> NextCodes(size_t max_rows);

  size_t memory_usage_bytes() const {
    return values_.capacity_bytes() + codes_.capacity_bytes() + validity_bits_.capacity();
  }

 private:
  // A column with a value index has none.
  absl::Status CheckNoNulls() const;
  // Where the decoder's place is not known.
  absl::Status SeekToFront() {
    row_ = 0;
    return decoder_->SeekTo(0);
  }
  absl::StatusOr<encodings::BlockDecoder<T>*> DecoderOf(Encoding encoding);

  // What a batch of V may need memory for.
  template <typename V>
  struct Buffers {
    std::unique_ptr<V[]> packed;  // of present rows, where they cannot be pointed at
    size_t packed_capacity = 0;
    std::unique_ptr<V[]> spread;  // at their rows
    size_t spread_capacity = 0;

    size_t capacity_bytes() const { return (packed_capacity + spread_capacity) * sizeof(V); }
  };
  // Of a batch: V is T, or uint32_t where kCodes. They differ in what `decoder_` is asked for.
  template <bool kCodes, typename V>
  absl::StatusOr<Batch<V>> NextOf(size_t max_rows, Buffers<V>& buffers);
  template <bool kCodes, typename V>
  absl::StatusOr<std::span<const V>> NextPresent(size_t count, Buffers<V>& buffers);
  template <bool kCodes, typename V>
  absl::StatusOr<Batch<V>> NextNullable(size_t count, Buffers<V>& buffers);
  template <typename V>
  static V* Reserve(size_t count, std::unique_ptr<V[]>& buffer, size_t& capacity);

  // Rows that Take asks for at once.
  static constexpr size_t kTakenRows = 1024;

  ColumnType type_;
  std::shared_ptr<const encodings::Dictionary> dictionary_;
  // One per encoding met: blocks of a file may differ. Kept, so that opening a block allocates
  // nothing.
  std::vector<std::pair<Encoding, std::unique_ptr<encodings::BlockDecoder<T>>>> decoders_;
  encodings::BlockDecoder<T>* decoder_ = nullptr;
  Encoding encoding_ = Encoding::kPlain;  // of the block
  encodings::ValidityDecoder validity_;
  bool nullable_ = false;
  uint32_t num_rows_ = 0;
  uint32_t row_ = 0;

  Buffers<T> values_;
  Buffers<uint32_t> codes_;
  std::vector<uint8_t> validity_bits_;
};

template <typename T>
template <typename V>
V* BlockCursor<T>::Reserve(size_t count, std::unique_ptr<V[]>& buffer, size_t& capacity) {
  if (count > capacity) {
    // Grows in a few steps to what the caller's batches ask for.
    capacity = std::min(encodings::kMaxBatchValues, std::bit_ceil(count));
    buffer = std::make_unique_for_overwrite<V[]>(capacity);
  }
  return buffer.get();
}

template <typename T>
template <typename Put, typename PutNull>
absl::Status BlockCursor<T>::Take(std::span<const uint32_t> rows, Put&& put, PutNull&& put_null) {
  if constexpr (!encodings::kIsBytes<T>) {
    if (!nullable_) {
      for (size_t begin = 0; begin < rows.size(); begin += kTakenRows) {
        const auto some = rows.subspan(begin, std::min(kTakenRows, rows.size() - begin));
        T* values = Reserve(some.size(), values_.packed, values_.packed_capacity);
        CFILE_RETURN_IF_ERROR(decoder_->Gather(some, {values, some.size()}));
        for (size_t i = 0; i < some.size(); ++i) put(begin + i, values[i]);
      }
      return SeekToFront();
    }
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

}  // namespace cfile::internal
