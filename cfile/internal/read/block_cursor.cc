#include "cfile/internal/read/block_cursor.h"

#include <algorithm>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

using encodings::BlockDecoder;
using encodings::DataLoss;
using encodings::kMaxBatchValues;

}  // namespace

template <typename T>
absl::StatusOr<BlockDecoder<T>*> BlockCursor<T>::DecoderOf(Encoding encoding) {
  for (auto& [known, decoder] : decoders_) {
    if (known == encoding) return decoder.get();
  }
  encodings::DecoderOptions options(type_.type_length);
  options.dictionary = dictionary_;
  CFILE_ASSIGN_OR_RETURN(auto decoder,
                         encodings::MakeDecoder<T>(encoding, type_.physical(), options));
  decoders_.emplace_back(encoding, std::move(decoder));
  return decoders_.back().second.get();
}

template <typename T>
absl::Status BlockCursor<T>::Open(std::span<const uint8_t> bytes, const FileInfo& info,
                                  std::optional<uint64_t> first_ordinal,
                                  const encodings::SeekIndex* seek_index, const BlockHead* head) {
  CFILE_ASSIGN_OR_RETURN(const DataBlock parts, ParseDataBlock(bytes, info, head));
  CFILE_RETURN_IF_ERROR(Open(parts, first_ordinal, seek_index));
  return num_rows_ > 0 ? absl::OkStatus() : DataLoss("a data block has no rows");
}

template <typename T>
absl::Status BlockCursor<T>::Open(const DataBlock& block, std::optional<uint64_t> first_ordinal,
                                  const encodings::SeekIndex* seek_index) {
  num_rows_ = row_ = 0;
  encoding_ = block.encoding;
  CFILE_ASSIGN_OR_RETURN(decoder_, DecoderOf(block.encoding));
  encodings::BlockView view(block.values);
  view.skip_table = block.skip_table;
  view.count = block.present_count.value_or(0);
  view.first_ordinal = block.body_ordinal;
  view.seek_index = seek_index;
  CFILE_RETURN_IF_ERROR(decoder_->Open(view));
  if (block.present_count && *block.present_count != decoder_->count()) {
    return DataLoss("the header of the block says ", *block.present_count,
                    " present values, its body ", decoder_->count());
  }
  if (block.first_ordinal && block.body_ordinal != decoder_->first_ordinal()) {
    return DataLoss("expected first ordinal ", block.body_ordinal, " in the block's body, found ",
                    decoder_->first_ordinal());
  }
  first_ordinal_ = block.first_ordinal.value_or(decoder_->first_ordinal());
  if (first_ordinal) CFILE_RETURN_IF_ERROR(CheckFirstOrdinal(*first_ordinal, first_ordinal_));
  nullable_ = block.num_rows.has_value();
  if (!nullable_) {
    num_rows_ = decoder_->count();
    return absl::OkStatus();
  }
  if (*block.num_rows < decoder_->count()) {
    return DataLoss("the block has ", *block.num_rows, " rows, but ", decoder_->count(),
                    " present values");
  }
  CFILE_RETURN_IF_ERROR(validity_.Open(block.validity, *block.num_rows));
  num_rows_ = *block.num_rows;
  return absl::OkStatus();
}

template <typename T>
absl::Status BlockCursor<T>::SeekToRow(uint32_t row) {
  CFILE_ASSERT(row <= num_rows_);
  if (row == row_) return absl::OkStatus();
  uint32_t position = row;
  if (nullable_) {
    CFILE_ASSIGN_OR_RETURN(position, validity_.SeekTo(row));
    if (position > decoder_->count()) {
      return DataLoss("the null bitmap has ", position, " present values before row ", row,
                      ", the block ", decoder_->count());
    }
  }
  CFILE_RETURN_IF_ERROR(decoder_->SeekTo(position));
  row_ = row;
  return absl::OkStatus();
}

template <typename T>
std::unique_ptr<const encodings::SeekIndex> BlockCursor<T>::BuildSeekIndex() {
  return decoder_->BuildSeekIndex();
}

template <typename T>
absl::Status BlockCursor<T>::CheckNoNulls() const {
  if (!nullable_ || num_rows_ == decoder_->count()) return absl::OkStatus();
  return DataLoss("a block of a column with a value index has ", num_rows_ - decoder_->count(),
                  " nulls");
}

template <typename T>
absl::Status BlockCursor<T>::SeekToKeys(std::span<const T> keys,
                                        std::span<encodings::LowerBound> bounds) {
  CFILE_RETURN_IF_ERROR(CheckNoNulls());
  CFILE_RETURN_IF_ERROR(decoder_->SeekToKeys(keys, bounds));
  if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(0).status());
  return SeekToFront();
}

template <typename T>
absl::StatusOr<encodings::LowerBound> BlockCursor<T>::SeekToKey(const T& key) {
  CFILE_RETURN_IF_ERROR(CheckNoNulls());
  CFILE_ASSIGN_OR_RETURN(const encodings::LowerBound bound, decoder_->SeekToKey(key));
  if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(bound.position).status());
  row_ = bound.position;
  return bound;
}

template <typename T>
absl::StatusOr<Batch<T>> BlockCursor<T>::Next(size_t max_rows) {
  return NextOf</*kCodes=*/false>(max_rows, values_);
}

template <typename T>
absl::StatusOr<Batch<T>> BlockCursor<T>::NextInto(size_t max_rows, T* out) {
  return NextOf</*kCodes=*/false>(max_rows, values_, out);
}

template <typename T>
absl::StatusOr<Batch<uint32_t>> BlockCursor<T>::NextCodes(size_t max_rows) {
  return NextOf</*kCodes=*/true>(max_rows, codes_);
}

template <typename T>
absl::StatusOr<Batch<uint32_t>> BlockCursor<T>::NextCodesInto(size_t max_rows, uint32_t* out) {
  return NextOf</*kCodes=*/true>(max_rows, codes_, out);
}

template <typename T>
template <bool kCodes, typename V>
absl::StatusOr<Batch<V>> BlockCursor<T>::NextOf(size_t max_rows, Buffers<V>& buffers, V* out) {
  const size_t count = std::min<size_t>({max_rows, num_rows_ - row_, kMaxBatchValues});
  if (count == 0) return Batch<V>{};
  if (nullable_) return NextNullable<kCodes>(count, buffers, out);
  CFILE_ASSIGN_OR_RETURN(const std::span<const V> values, NextPresent<kCodes>(count, buffers, out));
  row_ += static_cast<uint32_t>(values.size());
  return Batch<V>{.values = values};
}

// Reads between 1 and `count` present values. Precondition: count > 0.
template <typename T>
template <bool kCodes, typename V>
absl::StatusOr<std::span<const V>> BlockCursor<T>::NextPresent(size_t count, Buffers<V>& buffers,
                                                               V* out) {
  if constexpr (!kCodes) {
    if (const auto borrowed = decoder_->Borrow(count); !borrowed.empty()) return borrowed;
  }
  V* values = out != nullptr ? out : Reserve(count, buffers.packed, buffers.packed_capacity);
  size_t read;
  if constexpr (kCodes) {
    CFILE_ASSIGN_OR_RETURN(read, decoder_->ReadCodes({values, count}));
  } else {
    CFILE_ASSIGN_OR_RETURN(read, decoder_->Read({values, count}));
  }
  if (read == 0)
    return DataLoss("the block's values end before its rows, at value ", decoder_->position());
  return std::span<const V>(values, read);
}

template <typename T>
absl::StatusOr<size_t> BlockCursor<T>::NextValidity(size_t count) {
  validity_bits_.resize(std::max(validity_bits_.size(), (count + 7) / 8));
  CFILE_ASSIGN_OR_RETURN(const size_t present,
                         validity_.Read(static_cast<uint32_t>(count), validity_bits_.data()));
  const uint32_t left = decoder_->count() - decoder_->position();
  const bool at_end = row_ + count == num_rows_;
  if (at_end ? present != left : present > left) {
    return DataLoss("the null bitmap and the block's ", decoder_->count(),
                    " values do not fit: rows ", row_, " to ", row_ + count, " have ", present,
                    " values, the block has ", left, " left");
  }
  return present;
}

template <typename T>
absl::StatusOr<size_t> BlockCursor<T>::FindValues(std::span<const uint32_t> rows,
                                                  uint32_t* positions, uint8_t* valid) {
  CFILE_RETURN_IF_ERROR(validity_.FindValues(rows, positions));
  size_t present = 0;
  // The positions may not ascend if the bytes of a mapped file change.
  uint32_t highest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t position = positions[i];
    valid[i] = position != encodings::ValidityDecoder::kNull;
    highest = std::max(highest, valid[i] != 0 ? position : uint32_t{0});
    positions[present] = position;
    present += valid[i];
  }
  if (present > 0 && highest >= decoder_->count()) {
    return DataLoss("the null bitmap has at least ", highest + uint64_t{1},
                    " present values, the block ", decoder_->count());
  }
  return present;
}

template <typename T>
absl::StatusOr<size_t> BlockCursor<T>::CutAfter(size_t present) {
  const size_t count = encodings::PositionOfOne(validity_bits_.data(), 0, present);
  CFILE_RETURN_IF_ERROR(validity_.SeekTo(row_ + static_cast<uint32_t>(count)).status());
  return count;
}

template <typename T>
template <bool kCodes, typename V>
absl::StatusOr<Batch<V>> BlockCursor<T>::NextNullable(size_t count, Buffers<V>& buffers, V* out) {
  CFILE_ASSIGN_OR_RETURN(size_t present, NextValidity(count));
  std::span<const V> values;
  if (present > 0) {
    CFILE_ASSIGN_OR_RETURN(values,
                           NextPresent<kCodes>(present, buffers, present == count ? out : nullptr));
    if (values.size() < present) {
      // The bytes of the values exceeded the decoder's buffer: end the batch before the first row
      // whose value is missing.
      present = values.size();
      CFILE_ASSIGN_OR_RETURN(count, CutAfter(present));
    }
  }
  row_ += static_cast<uint32_t>(count);
  if (present == count) return Batch<V>{.values = values};
  V* spread = out != nullptr ? out : Reserve(count, buffers.spread, buffers.spread_capacity);
  encodings::SpreadValues(values.data(), validity_bits_.data(), count, spread);
  return Batch<V>{
      .values = {spread, count}, .validity = validity_bits_.data(), .null_count = count - present};
}

template <typename T>
absl::StatusOr<size_t> BlockCursor<T>::NextPacked(size_t max_rows, encodings::PackedStrings& out,
                                                  Batch<T>& batch) {
  batch = {};
  size_t count = std::min<size_t>({max_rows, num_rows_ - row_, kMaxBatchValues});
  if (!nullable_) {
    CFILE_ASSIGN_OR_RETURN(count, decoder_->ReadPacked(count, out));
    row_ += static_cast<uint32_t>(count);
    return count;
  }
  CFILE_ASSIGN_OR_RETURN(const size_t present, NextValidity(count));
  size_t read = 0;
  if (present > 0) {
    CFILE_ASSIGN_OR_RETURN(read, decoder_->ReadPacked(present, out));
    if (read < present) {
      CFILE_ASSIGN_OR_RETURN(count, CutAfter(read));
    }
  }
  row_ += static_cast<uint32_t>(count);
  if (read == count) return count;
  batch.validity = validity_bits_.data();
  batch.null_count = count - read;
  // Moves the ends of the strings to their rows, from the last to the first.
  // `end` points to the end of a string, or at last to the begin of the first string.
  uint32_t* const ends = out.ReserveOffsets(count - read) - read;
  const uint32_t* end = ends + read - 1;
  for (size_t i = count; i-- > 0;) {
    ends[i] = *end;
    end -= validity_bits_[i / 8] >> (i % 8) & 1;
  }
  out.Add(count - read, 0);
  return count;
}

#define CFILE_INSTANTIATE(T) template class BlockCursor<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
