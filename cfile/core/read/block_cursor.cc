#include "cfile/core/read/block_cursor.h"

#include <algorithm>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AnyBlockDecoder;
using encodings::kMaxBatchValues;
using encodings::ValueSpan;

}  // namespace

absl::StatusOr<AnyBlockDecoder*> BlockCursor::DecoderOf(Encoding encoding) {
  for (auto& [known, decoder] : decoders_) {
    if (known == encoding) return decoder.get();
  }
  encodings::DecoderOptions options(type_.type_length);
  options.dictionary = decoding_.dictionary;
  CFILE_ASSIGN_OR_RETURN(auto decoder, decoding_.make_decoder(encoding, type_.physical(), options));
  decoders_.emplace_back(encoding, std::move(decoder));
  return decoders_.back().second.get();
}

absl::Status BlockCursor::Open(std::span<const uint8_t> bytes, const FileInfo& info,
                               std::optional<uint64_t> first_ordinal,
                               const encodings::SeekIndex* seek_index, const BlockHead* head) {
  CFILE_ASSIGN_OR_RETURN(const DataBlock parts, ParseDataBlock(bytes, info, head));
  CFILE_RETURN_IF_ERROR(Open(parts, first_ordinal, seek_index));
  return num_rows_ > 0 ? absl::OkStatus() : DataLoss("a data block has no rows");
}

absl::Status BlockCursor::Open(const DataBlock& block, std::optional<uint64_t> first_ordinal,
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

absl::Status BlockCursor::SeekToRow(uint32_t row) {
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

absl::Status BlockCursor::CheckNoNulls() const {
  if (!nullable_ || num_rows_ == decoder_->count()) return absl::OkStatus();
  return DataLoss("a block of a column with a value index has ", num_rows_ - decoder_->count(),
                  " nulls");
}

absl::Status BlockCursor::SeekToKeys(ValueSpan keys, std::span<encodings::LowerBound> bounds) {
  CFILE_RETURN_IF_ERROR(CheckNoNulls());
  CFILE_RETURN_IF_ERROR(decoder_->SeekToAnyKeys(keys, bounds));
  if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(0).status());
  return SeekToFront();
}

absl::StatusOr<encodings::LowerBound> BlockCursor::SeekToKey(const void* key) {
  CFILE_RETURN_IF_ERROR(CheckNoNulls());
  CFILE_ASSIGN_OR_RETURN(const encodings::LowerBound bound, decoder_->SeekToAnyKey(key));
  if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(bound.position).status());
  row_ = bound.position;
  return bound;
}

absl::Status BlockCursor::Take(std::span<const uint32_t> rows,
                               absl::FunctionRef<void(size_t i, const AnyBatch& batch)> put) {
  if (lane_ == encodings::Lane::kBytes) {
    for (size_t i = 0; i < rows.size(); ++i) {
      CFILE_RETURN_IF_ERROR(SeekToRow(rows[i]));
      CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, Next(1));
      put(i, batch);
    }
    return absl::OkStatus();
  }
  for (size_t begin = 0; begin < rows.size(); begin += kTakenRows) {
    const auto some = rows.subspan(begin, std::min(kTakenRows, rows.size() - begin));
    void* const values = Reserve(some.size(), kValues, buffers_[kValues].packed);
    AnyBatch batch{.values = values, .count = some.size()};
    if (!nullable_) {
      CFILE_RETURN_IF_ERROR(decoder_->GatherAny(some, values));
      put(begin, batch);
      continue;
    }
    uint32_t positions[kTakenRows];
    CFILE_ASSIGN_OR_RETURN(const size_t present, FindValues(some, positions));
    CFILE_RETURN_IF_ERROR(decoder_->GatherAny({positions, present}, values));
    if (present < some.size()) {
      void* const spread = Reserve(some.size(), kValues, buffers_[kValues].spread);
      encodings::SpreadValues(lane_, values, validity_bits_.data(), some.size(), spread);
      batch.values = spread;
      batch.validity = validity_bits_.data();
      batch.null_count = some.size() - present;
    }
    put(begin, batch);
  }
  if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(0).status());
  return SeekToFront();
}

absl::StatusOr<Batch<uint32_t>> BlockCursor::NextCodesInto(size_t max_rows, uint32_t* out) {
  CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, NextOf(kCodes, max_rows, out));
  return batch.As<uint32_t>();
}

absl::StatusOr<bool> BlockCursor::NextMatches(MatchFunction match, size_t count, uint8_t* bits,
                                              const uint8_t*& validity) {
  size_t present = count;
  if (nullable_) {
    CFILE_ASSIGN_OR_RETURN(present, NextValidity(count));
  }
  CFILE_ASSIGN_OR_RETURN(const bool matched, match(*decoder_, present, bits));
  if (!matched) {
    if (nullable_) CFILE_RETURN_IF_ERROR(validity_.SeekTo(row_).status());
    return false;
  }
  validity = present == count ? nullptr : validity_bits_.data();
  if (validity != nullptr) encodings::SpreadBits(bits, validity, count, present);
  row_ += static_cast<uint32_t>(count);
  return true;
}

absl::StatusOr<AnyBatch> BlockCursor::NextOf(Kind kind, size_t max_rows, void* out) {
  const size_t count = std::min<size_t>({max_rows, num_rows_ - row_, kMaxBatchValues});
  if (count == 0) return AnyBatch();
  if (nullable_) return NextNullable(kind, count, out);
  CFILE_ASSIGN_OR_RETURN(const ValueSpan values, NextPresent(kind, count, out));
  row_ += static_cast<uint32_t>(values.count);
  return AnyBatch{.values = values.data, .count = values.count};
}

absl::StatusOr<ValueSpan> BlockCursor::NextPresent(Kind kind, size_t count, void* out) {
  if (kind == kValues) {
    if (const ValueSpan borrowed = decoder_->BorrowAny(count); !borrowed.empty()) return borrowed;
  }
  void* const values = out != nullptr ? out : Reserve(count, kind, buffers_[kind].packed);
  size_t read;
  if (kind == kCodes) {
    CFILE_ASSIGN_OR_RETURN(read, decoder_->ReadCodes({static_cast<uint32_t*>(values), count}));
  } else {
    CFILE_ASSIGN_OR_RETURN(read, decoder_->ReadAny(values, count));
  }
  if (read == 0)
    return DataLoss("the block's values end before its rows, at value ", decoder_->position());
  return ValueSpan(values, read);
}

absl::StatusOr<size_t> BlockCursor::NextValidity(size_t count) {
  ReserveValidity(count);
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

absl::StatusOr<size_t> BlockCursor::FindValues(std::span<const uint32_t> rows,
                                               uint32_t* positions) {
  CFILE_RETURN_IF_ERROR(validity_.FindValues(rows, positions));
  ReserveValidity(rows.size());
  std::fill_n(validity_bits_.begin(), (rows.size() + 7) / 8, uint8_t{0});
  size_t present = 0;
  // The positions might not ascend if the bytes of a mapped file change.
  uint32_t highest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t position = positions[i];
    const bool valid = position != encodings::ValidityDecoder::kNull;
    highest = std::max(highest, valid ? position : uint32_t{0});
    positions[present] = position;
    present += valid;
    validity_bits_[i / 8] |= static_cast<uint8_t>(unsigned{valid} << i % 8);
  }
  if (present > 0 && highest >= decoder_->count()) {
    return DataLoss("the null bitmap has at least ", highest + uint64_t{1},
                    " present values, the block ", decoder_->count());
  }
  return present;
}

absl::StatusOr<size_t> BlockCursor::CutAfter(size_t present) {
  const size_t count = encodings::PositionOfOne(validity_bits_.data(), 0, present);
  CFILE_RETURN_IF_ERROR(validity_.SeekTo(row_ + static_cast<uint32_t>(count)).status());
  return count;
}

absl::StatusOr<AnyBatch> BlockCursor::NextNullable(Kind kind, size_t count, void* out) {
  CFILE_ASSIGN_OR_RETURN(size_t present, NextValidity(count));
  ValueSpan values;
  if (present > 0) {
    CFILE_ASSIGN_OR_RETURN(values, NextPresent(kind, present, present == count ? out : nullptr));
    if (values.count < present) {
      // The bytes of the values exceeded the decoder's buffer: end the batch before the first row
      // whose value is missing.
      present = values.count;
      CFILE_ASSIGN_OR_RETURN(count, CutAfter(present));
    }
  }
  row_ += static_cast<uint32_t>(count);
  if (present == count) return AnyBatch{.values = values.data, .count = count};
  void* const spread = out != nullptr ? out : Reserve(count, kind, buffers_[kind].spread);
  encodings::SpreadValues(LaneOfKind(kind), values.data, validity_bits_.data(), count, spread);
  return AnyBatch{.values = spread,
                  .count = count,
                  .validity = validity_bits_.data(),
                  .null_count = count - present};
}

absl::StatusOr<size_t> BlockCursor::NextPacked(size_t max_rows, encodings::PackedStrings& out,
                                               AnyBatch& batch) {
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

}  // namespace cfile::internal
