#include "cfile/writer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "cfile/core/format/data_block.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/writer_choices.h"
#include "cfile/core/write/column_encoder.h"
#include "cfile/core/write/column_pipeline.h"
#include "cfile/status.h"
#include "encodings/core/assert.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/count_ones.h"

namespace cfile {
namespace {

using encodings::Lane;
using encodings::ValidityEncoder;
using encodings::ValueSpan;

// Ordinals in files have 32 bits.
constexpr uint64_t kMaxRows = std::numeric_limits<uint32_t>::max();
// At most this many values are checked together before they are encoded. A multiple of FilePolicy's
// max_batch_rows for Kudu.
constexpr size_t kCheckedValues = 10 * internal::kKuduBatchRows;

// The length of the run of equal bits that begins at bit `begin`, at most `count`. Precondition:
// count > 0.
size_t RunLength(std::span<const uint8_t> bits, size_t begin, size_t count) {
  const bool first = (bits[begin / 8] >> (begin % 8) & 1) != 0;
  const uint8_t flip = first ? 0xff : 0;
  size_t i = begin;
  while (i < begin + count) {
    // A bit of `differ` is 1 if this bit of the byte, from bit i on, differs from the first bit of
    // the run.
    const unsigned differ = static_cast<uint8_t>(bits[i / 8] ^ flip) >> (i % 8);
    if (differ != 0) {
      i += static_cast<size_t>(std::countr_zero(differ));
      break;
    }
    i += 8 - i % 8;
  }
  return std::min(i - begin, count);
}

// The number of rows with a value among `rows` rows from bit `begin` on.
size_t CountPresent(const uint8_t* validity, size_t begin, size_t rows) {
  return static_cast<size_t>(encodings::CountOnes({validity, (begin + rows + 7) / 8}, begin, rows));
}

// Limits the rows of the next block by the size in the file of the block before, for a file that
// is searched by key (WriterOptions::seek_block_size_bytes).
class SeekBlockLimit {
 public:
  explicit SeekBlockLimit(const WriterOptions& options)
      : wanted_bytes_(internal::SeekBlockBytes(options)),
        max_rows_(options.max_values_per_block),
        most_rows_(max_rows_) {}

  // The most rows of the next block.
  uint32_t most_rows() const { return most_rows_; }

  // Call after a block of `rows` rows was written to `block`. If the next rows need as many bytes
  // as these rows, the next block has the wanted size.
  void AddBlock(uint64_t rows, const BlockPointer& block, bool compressed) {
    if (wanted_bytes_ == 0) return;
    const uint64_t bytes = std::max(wanted_bytes_ * (compressed ? kCompressedFactor : 1),
                                    block.end() / kMostSmallBlocks);
    most_rows_ =
        static_cast<uint32_t>(std::clamp<uint64_t>(rows * bytes / block.size, 1, max_rows_));
  }

 private:
  // After about this many small blocks, blocks become larger, so that the indexes and the
  // statistics of a large file stay within their limits.
  static constexpr uint64_t kMostSmallBlocks = 1 << 16;
  // A compressed block may be larger by this factor. Each block is compressed alone, and small
  // blocks of sequences would make a file up to 44 % larger.
  static constexpr uint64_t kCompressedFactor = 4;

  const uint64_t wanted_bytes_;  // 0: no limit
  const uint32_t max_rows_;
  uint32_t most_rows_;
};

class ValueWriter final : public internal::ColumnPipeline {
 public:
  ValueWriter(std::unique_ptr<Sink> sink, const ColumnType& type, const WriterOptions& options,
              std::unique_ptr<encodings::AnyBlockEncoder> encoder)
      : ColumnPipeline(std::move(sink), type, options, std::move(encoder)),
        lane_(encodings::LaneOf(type.physical())),
        block_limit_(options_),
        validity_(file_.policy().kudu_exact) {}

  absl::Status Append(const internal::AnyBatch& rows) override {
    const ValueSpan values(rows.values, rows.count);
    return failure_.Run([&] {
      return rows.validity == nullptr ? AppendPresent(values) : AppendSome(values, rows.validity);
    });
  }
  absl::Status Append(const internal::AnyLevelBatch& /*entries*/) override {
    return absl::InternalError(StrCat(file_.name(), ": the column has no levels"));
  }

  bool Takes(const internal::CopiedBlock& block) const override {
    return block.head.num_entries == block.head.num_rows &&
           (options_.nullable || block.head.present_count == block.head.num_rows) &&
           TakesAfter(block, block_rows_, encoder_->size_bytes() + validity_.size_bytes());
  }

  absl::Status CopyBlock(const internal::CopiedBlock& block) override {
    CFILE_ASSERT(Takes(block));
    return failure_.Run([&] { return Copy(block); });
  }

  absl::Status Finish() override {
    return failure_.Finish([this] { return FinishFile(); });
  }

  ColumnTotals totals() const override {
    ColumnTotals totals = pipeline_totals();
    totals.num_rows = totals.num_entries = num_rows_;
    totals.num_present = num_rows_ - null_count_;
    if (options_.value_index && num_rows_ > 0) {
      totals.min_key = min_key_;
      internal::AppendKey(Key(last_value_.value()), totals.max_key.emplace());
    }
    return totals;
  }
  size_t memory_usage_bytes() const override {
    return pipeline_bytes() + validity_.size_bytes() +
           (present_ == nullptr ? 0 : kCheckedValues * encodings::WidthOf(lane_));
  }

 private:
  internal::KeyRef Key(const void* value) const { return {value, type_.physical()}; }
  const void* At(ValueSpan values, size_t i) const {
    return encodings::ValueAt(values.data, lane_, i);
  }
  // The values from value `begin` on.
  ValueSpan From(ValueSpan values, size_t begin) const {
    return {At(values, begin), values.count - begin};
  }
  bool kudu() const { return file_.policy().kudu_exact; }
  uint64_t max_batch_rows() const { return file_.policy().max_batch_rows; }

  absl::Status CheckRoom(uint64_t rows) const {
    if (rows <= kMaxRows - num_rows_) return absl::OkStatus();
    return OutOfRange(file_.name(), ": a file holds at most ", kMaxRows,
                      " rows: begin another part");
  }

  // Checks that the values are keys and in ascending order, for the value index. The error names
  // the first wrong value.
  absl::Status CheckOrder(ValueSpan values) const {
    const auto fault = internal::FindOrderFault(values, type_.physical(),
                                                num_rows_ == 0 ? nullptr : last_value_.value());
    if (!fault) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat(
        file_.name(), ": the value at ordinal ", num_rows_ + fault->index,
        fault->is_key
            ? " is less than the value before it, but a column with a value index must ascend"
            : " is NaN, which a column with a value index cannot hold"));
  }

  // Checks the values of the next rows before they are encoded. If `validity` is null, each row has
  // a value; otherwise the rows whose bit is 1, from bit `begin` on, have a value.
  absl::Status CheckValues(ValueSpan values, const uint8_t* validity, size_t begin) const {
    if (options_.value_index) CFILE_RETURN_IF_ERROR(CheckOrder(values));
    if (lane_ != Lane::kBytes) return absl::OkStatus();
    return internal::CheckSizes(values.As<std::string_view>(), type_, options_, [&](size_t i) {
      const uint64_t ordinal =
          num_rows_ +
          (validity == nullptr ? i : encodings::PositionOfOne(validity, begin, i) - begin);
      return StrCat(file_.name(), ": the value at ordinal ", ordinal);
    });
  }

  absl::Status AppendSome(ValueSpan values, const uint8_t* validity) {
    CFILE_RETURN_IF_ERROR(CheckRoom(values.count));
    for (size_t begin = 0; begin < values.count;) {
      // For Kudu: append at most one batch at a time, and within a batch one run of values or one
      // run of nulls at a time, as Kudu's writer does.
      size_t count = std::min<size_t>(values.count - begin, kCheckedValues);
      if (kudu()) {
        count = RunLength({validity, (values.count + 7) / 8}, begin,
                          std::min<size_t>(count, max_batch_rows() - begin % max_batch_rows()));
      }
      CFILE_RETURN_IF_ERROR(AppendRows(values, validity, begin, count));
      begin += count;
    }
    return absl::OkStatus();
  }

  absl::Status AppendPresent(ValueSpan values) {
    CFILE_RETURN_IF_ERROR(CheckRoom(values.count));
    while (!values.empty()) {
      const ValueSpan checked(values.data, std::min<size_t>(values.count, kCheckedValues));
      CFILE_RETURN_IF_ERROR(CheckValues(checked, nullptr, 0));
      CFILE_RETURN_IF_ERROR(AppendChecked(checked, nullptr, 0, checked.count));
      values = From(values, checked.count);
    }
    return absl::OkStatus();
  }

  // Appends the rows `begin` to `begin` + `count` - 1 of `values`; at most kCheckedValues rows.
  absl::Status AppendRows(ValueSpan values, const uint8_t* validity, size_t begin, size_t count) {
    const size_t present = CountPresent(validity, begin, count);
    if (present == 0) return AppendNulls(count);
    if (present == count) return AppendPresent({At(values, begin), count});
    if (!options_.nullable) {
      size_t row = begin;
      while ((validity[row / 8] >> (row % 8) & 1) != 0) ++row;
      return NotNullable(num_rows_ + row - begin);
    }
    if (present_ == nullptr) {
      present_ =
          std::make_unique_for_overwrite<std::byte[]>(kCheckedValues * encodings::WidthOf(lane_));
    }
    encodings::PackValues(lane_, At(values, begin), validity, begin, count, present_.get());
    const ValueSpan packed(present_.get(), present);
    CFILE_RETURN_IF_ERROR(CheckValues(packed, validity, begin));
    return AppendChecked(packed, validity, begin, count);
  }

  // Appends `count` rows whose values have been checked; at most kCheckedValues, so that the values
  // are still in the CPU cache. `validity` and `begin`: as in CheckValues.
  absl::Status AppendChecked(ValueSpan values, const uint8_t* validity, size_t begin,
                             size_t count) {
    while (count > 0) {
      size_t rows = std::min<size_t>(count, MostRows() - block_rows_);
      size_t present = rows == count ? values.count : rows;
      if (rows < count && validity != nullptr) present = CountPresent(validity, begin, rows);
      if (validity != nullptr && present > 0 && IsLarge(values.data)) {
        // Nulls before a large value, which may begin a new block, belong to the current block.
        const size_t nulls = encodings::PositionOfOne(validity, begin, 0) - begin;
        if (nulls > 0) {
          rows = nulls;
          present = 0;
        }
      }
      size_t taken = present;
      taken = std::min<uint64_t>(taken, max_batch_rows());
      if (taken > 0) {
        CFILE_ASSIGN_OR_RETURN(taken, RoomForLarge({values.data, taken}));
      }
      if (taken > 0) {
        const size_t offered = taken;
        taken = encoder_->AppendAny({values.data, offered});
        CFILE_ASSERT(taken > 0 || encoder_->full());
      }
      // If the block may be full, append only the rows up to the last value that the encoder has
      // taken; otherwise append all rows.
      if (taken < present || (taken > 0 && !kudu() && encoder_->full())) {
        rows = validity == nullptr ? taken
               : taken == 0        ? 0
                            : encodings::PositionOfOne(validity, begin, taken - 1) + 1 - begin;
      }
      if (rows > 0) {
        if (options_.value_index) {
          if (block_rows_ == 0) BeginKey(values.data);
          last_value_.Set(Key(At(values, taken - 1)));
        }
        AddValidity(validity, begin, rows);
        statistics_.Add({values.data, taken});
        num_rows_ += rows;
        null_count_ += rows - taken;
        block_rows_ += static_cast<uint32_t>(rows);
        values = From(values, taken);
        begin += rows;
        count -= rows;
      }
      if (encoder_->full() || BlockHasAllRows()) CFILE_RETURN_IF_ERROR(FinishBlock());
    }
    return absl::OkStatus();
  }

  absl::Status Copy(const internal::CopiedBlock& block) {
    const uint32_t rows = block.head.num_rows;
    CFILE_RETURN_IF_ERROR(CheckRoom(rows));
    if (block_rows_ > 0) CFILE_RETURN_IF_ERROR(FinishBlock());
    if (options_.value_index) {
      internal::OwnedKey first;
      internal::OwnedKey last;
      const bool parsed = first.Parse(block.first_key, type_.physical()) &&
                          last.Parse(block.last_key, type_.physical());
      CFILE_ASSERT(parsed);
      CFILE_RETURN_IF_ERROR(CheckOrder({first.value(), 1}));
      BeginKey(first.value());
      last_value_ = std::move(last);
    }
    CFILE_RETURN_IF_ERROR(WriteCopy(block, num_rows_, block_key_));
    num_rows_ += rows;
    null_count_ += rows - block.head.present_count;
    return absl::OkStatus();
  }

  void AddValidity(const uint8_t* validity, size_t begin, size_t rows) {
    if (!options_.nullable) return;
    if (validity == nullptr) {
      validity_.AddRun(true, rows);
    } else {
      validity_.AddBits(validity, begin, rows);
    }
  }

  // Large values (more than a quarter of the largest block) are appended one by one. If the current
  // block has no room for such a value, the value begins a new block. Returns how many of `values`
  // may be appended in one call. Precondition: `values` is not empty.
  absl::StatusOr<size_t> RoomForLarge(ValueSpan values) {
    if (lane_ != Lane::kBytes) return values.count;
    const auto strings = values.As<std::string_view>();
    if (internal::LargestSizeBound(strings) <= options_.max_block_size_bytes / 4)
      return values.count;
    for (size_t i = 0; i < values.count; ++i) {
      if (!IsLarge(&strings[i])) continue;
      if (i > 0) return i;
      const size_t wanted = encoder_->size_bytes() + BlockOverheadBytes() + strings[0].size();
      if (block_rows_ > 0 && wanted > options_.max_block_size_bytes)
        CFILE_RETURN_IF_ERROR(FinishBlock());
      return size_t{1};
    }
    return values.count;
  }
  bool IsLarge(const void* value) const {
    return lane_ == Lane::kBytes &&
           static_cast<const std::string_view*>(value)->size() > options_.max_block_size_bytes / 4;
  }

  // The current block has at most this many bytes besides its values: headers, lengths, null
  // bitmap.
  size_t BlockOverheadBytes() const {
    return internal::kBlockOverheadBytes + validity_.size_bytes();
  }

  absl::Status AppendNulls(uint64_t count) {
    CFILE_RETURN_IF_ERROR(CheckRoom(count));
    if (!options_.nullable) return NotNullable(num_rows_);
    while (count > 0) {
      const auto run = static_cast<uint32_t>(
          std::min<uint64_t>(count, options_.max_values_per_block - block_rows_));
      validity_.AddRun(false, run);
      num_rows_ += run;
      null_count_ += run;
      block_rows_ += run;
      count -= run;
      if (BlockHasAllRows()) CFILE_RETURN_IF_ERROR(FinishBlock());
    }
    return absl::OkStatus();
  }

  absl::Status NotNullable(uint64_t ordinal) const {
    return UnfitRows(
        absl::InvalidArgumentError(StrCat(file_.name(), ": the value at ordinal ", ordinal,
                                          " is null, but the column is not nullable",
                                          options_.value_index ? " (it has a value index)" : "")));
  }

  // The most rows of the current block. A sample from which the writer chooses an encoding is not
  // limited.
  uint32_t MostRows() const {
    const bool sampling = chooser_ != nullptr && chooser_->sampling();
    return sampling ? options_.max_values_per_block : block_limit_.most_rows();
  }

  // True if the block must end: it has the maximum number of rows, or its null bitmap is too large.
  // The second case occurs with OldestReader::kKudu, where the number of rows is not limited.
  bool BlockHasAllRows() const {
    return block_rows_ >= MostRows() ||
           (options_.nullable && validity_.size_bytes() > internal::MaxValidityBytes(options_));
  }

  // Sets block_key_, the key in the value index of the block that begins with `first`.
  void BeginKey(const void* first) {
    std::string first_key;
    internal::AppendKey(Key(first), first_key);
    std::string previous_last;
    if (num_rows_ > 0) {
      internal::AppendKey(Key(last_value_.value()), previous_last);
    } else {
      min_key_ = first_key;
    }
    block_key_ = first_key.substr(0, internal::SeparatingLength(previous_last, first_key));
  }

  absl::Status FinishFile() {
    if (block_rows_ > 0) CFILE_RETURN_IF_ERROR(FinishBlock());
    return WriteEnd(num_rows_);
  }

  absl::Status FinishBlock() {
    const uint32_t rows = std::exchange(block_rows_, 0);
    CFILE_RETURN_IF_ERROR(
        WriteBlock({num_rows_ - rows, rows, rows}, block_key_, [&](encodings::ByteWriter& prefix) {
          if (options_.nullable) internal::AppendValidity(validity_, prefix);
        }));
    block_limit_.AddBlock(rows, file_.last_block(), file_.last_block_compressed());
    return absl::OkStatus();
  }

  const Lane lane_;
  SeekBlockLimit block_limit_;
  ValidityEncoder validity_;
  std::unique_ptr<std::byte[]> present_;  // kCheckedValues values, for rows of which some are null
  uint32_t block_rows_ = 0;
  uint64_t num_rows_ = 0;
  uint64_t null_count_ = 0;

  // Used only in a column with a value index.
  internal::OwnedKey last_value_;
  std::string block_key_;
  std::string min_key_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<internal::AnyWriter>> WriterBase::NewValues(
    absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type,
    const WriterOptions& options, bool holds_type) {
  return internal::NewValueWriter(std::move(sink), type, options, holds_type);
}

absl::StatusOr<std::unique_ptr<internal::AnyWriter>> WriterBase::NewEntries(
    absl::StatusOr<std::unique_ptr<Sink>> sink, const ColumnType& type, const LevelLimits& limits,
    const WriterOptions& options, bool holds_type) {
  return internal::NewEntryWriter(std::move(sink), type, limits, options, holds_type);
}

absl::StatusOr<std::unique_ptr<internal::AnyWriter>> internal::NewValueWriter(
    absl::StatusOr<std::unique_ptr<Sink>> opened, const ColumnType& type,
    const WriterOptions& user_options, bool holds_type) {
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, std::move(opened));
  WriterOptions options = user_options;
  CFILE_RETURN_IF_ERROR(PrepareToWrite(sink->name(), type, holds_type, options));
  CFILE_ASSIGN_OR_RETURN(auto encoder, NewEncoder(type, options, /*whole_records=*/false));
  auto writer = std::make_unique<ValueWriter>(std::move(sink), type, options, std::move(encoder));
  CFILE_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

}  // namespace cfile
