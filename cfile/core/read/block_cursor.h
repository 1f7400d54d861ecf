// A position inside one data block. Combines the present values with the nulls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/format/data_block.h"
#include "cfile/core/read/row_block.h"
#include "cfile/file_info.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/registry.h"

namespace cfile::internal {

// What a cursor needs to decode the blocks of a file.
struct BlockDecoding {
  std::shared_ptr<const encodings::Dictionary> dictionary;  // null if the file's blocks need none
  encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder;
};

// Memory for values of any type, without initialization.
class RawBuffer {
 public:
  // Returns room for `count` values of `width` bytes. The contents are lost if the buffer grows.
  // Precondition: count <= kMaxBatchValues.
  void* Reserve(size_t count, size_t width) {
    if (count * width > size_) {
      // Round up to a power of two, so that the buffer grows only a few times.
      size_ = std::min(encodings::kMaxBatchValues, std::bit_ceil(count)) * width;
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_);
    }
    return bytes_.get();
  }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
};

// Reads the rows of one block at a time; Open moves the cursor to another block. Thread-compatible.
// A `void*`, and the values of an AnyBatch, have the column's C++ type. Errors do not name the
// block.
class BlockCursor final : public RowBlock {
 public:
  BlockCursor(const ColumnType& type, BlockDecoding decoding)
      : type_(type), lane_(encodings::LaneOf(type.physical())), decoding_(std::move(decoding)) {}

  absl::Status Open(std::span<const uint8_t> bytes, const FileInfo& info,
                    std::optional<uint64_t> first_ordinal,
                    const encodings::SeekIndex* seek_index = nullptr,
                    const BlockHead* head = nullptr) override;

  // Opens a parsed block, which may have no rows, in the same way.
  absl::Status Open(const DataBlock& block, std::optional<uint64_t> first_ordinal,
                    const encodings::SeekIndex* seek_index = nullptr);

  std::unique_ptr<const encodings::SeekIndex> BuildSeekIndex() override {
    return decoder_->BuildSeekIndex();
  }

  encodings::Lane lane() const { return lane_; }
  const BlockDecoding& decoding() const { return decoding_; }
  const std::shared_ptr<const encodings::Dictionary>& dictionary() const {
    return decoding_.dictionary;
  }
  Encoding encoding() const override { return encoding_; }
  uint32_t num_entries() const override { return num_rows_; }
  uint32_t num_present() const override { return decoder_->count(); }

  absl::Status SeekToRow(uint32_t row) override;

  // Goes to the first row whose value is >= `key`. Precondition: the block has no nulls.
  absl::StatusOr<encodings::LowerBound> SeekToKey(const void* key);

  // Searches each of `keys` as SeekToKey does, stores the results in the first elements of
  // `bounds`, and goes to the block's front.
  absl::Status SeekToKeys(encodings::ValueSpan keys, std::span<encodings::LowerBound> bounds);

  // Calls put(i, batch) with consecutive rows: row k of `batch` is rows[i + k]. `rows` ascends, and
  // may name a row several times. The batch is valid only inside the call. Afterwards the position
  // is unspecified.
  absl::Status Take(std::span<const uint32_t> rows,
                    absl::FunctionRef<void(size_t i, const AnyBatch& batch)> put);

  // Reads the next rows: at most `max_rows` and at most kMaxBatchValues rows; at least 1 row unless
  // the cursor is at the block's end. The batch is valid until the next call. The caller sets the
  // batch's first_ordinal.
  absl::StatusOr<AnyBatch> Next(size_t max_rows) { return NextOf(kValues, max_rows, nullptr); }
  // Values that are not in place already are decoded into `out`, which has room for `max_rows`
  // values; the batch then begins there.
  absl::StatusOr<AnyBatch> NextInto(size_t max_rows, void* out) {
    return NextOf(kValues, max_rows, out);
  }

  // Compares the values of the next `count` rows without decoding them. Sets bit i of `bits` to the
  // result for row i (0 for a null), and sets `validity` as in Batch::validity. match(decoder,
  // present, bits) compares the next `present` values of the decoder, as BlockDecoder::ReadMatches
  // does. If it returns false, NextMatches returns false, too, and does not move. Precondition: the
  // block has `count` more rows.
  using MatchFunction =
      absl::FunctionRef<absl::StatusOr<bool>(encodings::AnyBlockDecoder&, size_t, uint8_t*)>;
  absl::StatusOr<bool> NextMatches(MatchFunction match, size_t count, uint8_t* bits,
                                   const uint8_t*& validity);

  // Like Next, for strings, but appends the strings to `out`, and "" for a null. Sets the validity
  // and the null count of the batch, but no values. Returns the number of rows; 0 if the block is
  // at its end, or if the next string does not fit.
  absl::StatusOr<size_t> NextPacked(size_t max_rows, encodings::PackedStrings& out,
                                    AnyBatch& batch);

  // The dictionary's values by code if the block stores codes, else empty.
  encodings::ValueSpan DictionaryValues() const { return decoder_->AnyDictionaryValues(); }

  // Like Next and NextInto, but return the codes of the values, 0 for a null. Precondition:
  // DictionaryValues() is not empty.
  absl::StatusOr<Batch<uint32_t>> NextCodes(size_t max_rows) {
    return NextCodesInto(max_rows, nullptr);
  }
  absl::StatusOr<Batch<uint32_t>> NextCodesInto(size_t max_rows, uint32_t* out);

  size_t memory_usage_bytes() const {
    size_t bytes = validity_bits_.capacity();
    for (const Buffers& buffers : buffers_) bytes += buffers.packed.size() + buffers.spread.size();
    return bytes;
  }

 private:
  // kDataLoss if the block has nulls. (A column with a value index has no nulls.)
  absl::Status CheckNoNulls() const;
  // Goes to the first row, even if the decoder's position is unknown.
  absl::Status SeekToFront() {
    row_ = 0;
    return decoder_->SeekTo(0);
  }
  absl::StatusOr<encodings::AnyBlockDecoder*> DecoderOf(Encoding encoding);

  // What a batch consists of: values, or codes (uint32_t).
  enum Kind { kValues, kCodes };
  encodings::Lane LaneOfKind(Kind kind) const {
    return kind == kCodes ? encodings::Lane::k4 : lane_;
  }
  struct Buffers {
    RawBuffer packed;  // the present values, if the decoder must copy them
    RawBuffer spread;  // the values at their rows, with gaps for nulls
  };
  void* Reserve(size_t count, Kind kind, RawBuffer& buffer) const {
    return buffer.Reserve(count, encodings::WidthOf(LaneOfKind(kind)));
  }

  // `out`: the place for the result. If `out` is null, the result is in buffers_.
  absl::StatusOr<AnyBatch> NextOf(Kind kind, size_t max_rows, void* out);
  // Reads between 1 and `count` present values. Precondition: count > 0.
  absl::StatusOr<encodings::ValueSpan> NextPresent(Kind kind, size_t count, void* out);
  absl::StatusOr<AnyBatch> NextNullable(Kind kind, size_t count, void* out);
  // Reads the next `count` bits of the validity. Returns how many of these bits are 1.
  // kDataLoss: the block has another number of values.
  absl::StatusOr<size_t> NextValidity(size_t count);
  // Sets bit i of validity_bits_ to 1 if rows[i] holds a value, and to 0 if it is null. Writes the
  // positions that these values have in the decoder to `positions`, and returns their number.
  // `rows` must ascend. kDataLoss: the block has another number of values.
  absl::StatusOr<size_t> FindValues(std::span<const uint32_t> rows, uint32_t* positions);
  // Call if only the first `present` values could be read for the rows of the last NextValidity.
  // Goes back to the first row that lacks its value, and returns the number of rows before it.
  absl::StatusOr<size_t> CutAfter(size_t present);
  void ReserveValidity(size_t count) {
    validity_bits_.resize(std::max(validity_bits_.size(), (count + 7) / 8));
  }

  // The number of rows that Take passes to the decoder at once.
  static constexpr size_t kTakenRows = 1024;

  ColumnType type_;
  encodings::Lane lane_;
  BlockDecoding decoding_;
  // One decoder for each encoding found so far, because the blocks of a file may have different
  // encodings. The decoders are kept, so that opening a block allocates nothing.
  std::vector<std::pair<Encoding, std::unique_ptr<encodings::AnyBlockDecoder>>> decoders_;
  encodings::AnyBlockDecoder* decoder_ = nullptr;
  Encoding encoding_ = Encoding::kPlain;  // of the block
  encodings::ValidityDecoder validity_;
  bool nullable_ = false;

  Buffers buffers_[2];  // by Kind
  std::vector<uint8_t> validity_bits_;
};

// Returns whether seeking to each of `chosen` rows is faster than decoding the `all` rows from the
// first to the last of them. Measured: decoding a row takes 1/64 of the time of a seek, or 1/256 if
// the seek must count nulls or skip strings.
inline bool SeeksAreFaster(encodings::Lane lane, uint64_t chosen, uint64_t all, bool nullable) {
  const uint64_t rows_per_seek = lane == encodings::Lane::kBytes || nullable ? 256 : 64;
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
