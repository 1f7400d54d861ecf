#include "cfile/writer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/data_block.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/write/column_encoder.h"
#include "cfile/internal/write/column_pipeline.h"
#include "cfile/internal/write/seek_block_limit.h"
#include "encodings/core/assert.h"
#include "encodings/core/key_order.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/count_ones.h"

namespace cfile {
namespace {

using encodings::BlockEncoder;
using encodings::ValidityEncoder;

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

}  // namespace

template <typename T>
class Writer<T>::Impl : public internal::ColumnPipeline<T> {
  using Base = internal::ColumnPipeline<T>;
  using Base::chooser_;
  using Base::encoder_;
  using Base::failure_;
  using Base::file_;
  using Base::options_;
  using Base::statistics_;
  using Base::type_;

 public:
  Impl(std::unique_ptr<Sink> sink, const ColumnType& type, const WriterOptions& options,
       std::unique_ptr<BlockEncoder<T>> encoder)
      : Base(std::move(sink), type, options, std::move(encoder)),
        block_limit_(options_),
        validity_(file_.policy().kudu_exact) {}

  absl::Status Append(std::span<const T> values) {
    return failure_.Run([&] { return AppendPresent(values); });
  }

  absl::Status Append(std::span<const T> values, std::span<const uint8_t> validity) {
    CFILE_ASSERT(validity.size() >= (values.size() + 7) / 8);
    return failure_.Run([&] { return AppendSome(values, validity.data()); });
  }

  absl::Status AppendNull() {
    return failure_.Run([&] { return AppendNulls(1); });
  }

  // True if CopyBlock may be called for `block`. If false, the rows of `block` must be appended.
  // Does not look at the keys of `block`.
  bool Takes(const internal::CopiedBlock& block) const {
    return block.head.num_entries == block.head.num_rows &&
           (options_.nullable || block.head.present_count == block.head.num_rows) &&
           Base::Takes(block, block_rows_, encoder_->size_bytes() + validity_.size_bytes());
  }

  absl::Status CopyBlock(const internal::CopiedBlock& block) {
    CFILE_ASSERT(Takes(block));
    return failure_.Run([&] { return Copy(block); });
  }

  using Base::AdoptDictionary;

  absl::Status Finish() {
    return failure_.Finish([this] { return FinishFile(); });
  }

  ColumnTotals totals() const {
    ColumnTotals totals = this->pipeline_totals();
    totals.num_rows = totals.num_entries = num_rows_;
    totals.num_present = num_rows_ - null_count_;
    if (options_.value_index && num_rows_ > 0) {
      totals.min_key = min_key_;
      internal::AppendKey<T>(last_value_, totals.max_key.emplace());
    }
    return totals;
  }
  size_t memory_usage_bytes() const {
    return this->pipeline_bytes() + validity_.size_bytes() +
           (present_ == nullptr ? 0 : kCheckedValues * sizeof(T));
  }

 private:
  bool kudu() const { return file_.policy().kudu_exact; }
  uint64_t max_batch_rows() const { return file_.policy().max_batch_rows; }

  absl::Status CheckRoom(uint64_t rows) const {
    if (rows <= kMaxRows - num_rows_) return absl::OkStatus();
    return absl::OutOfRangeError(absl::StrCat(file_.name(), ": a file holds at most ", kMaxRows,
                                              " rows: begin another part"));
  }

  // Checks that the values are keys and in ascending order, for the value index. The error names
  // the first wrong value.
  absl::Status CheckOrder(std::span<const T> values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!encodings::IsKey(values[i])) {
        return absl::InvalidArgumentError(
            absl::StrCat(file_.name(), ": the value at ordinal ", num_rows_ + i,
                         " is NaN, which a column with a value index cannot hold"));
      }
      const bool first = num_rows_ + i == 0;
      if (!first && encodings::KeyLess<T>(values[i], i == 0 ? T(last_value_) : values[i - 1])) {
        return absl::InvalidArgumentError(absl::StrCat(
            file_.name(), ": the value at ordinal ", num_rows_ + i,
            " is less than the value before it, but a column with a value index must ascend"));
      }
    }
    return absl::OkStatus();
  }

  // Checks the values of the next rows before they are encoded. If `validity` is null, each row has
  // a value; otherwise the rows whose bit is 1, from bit `begin` on, have a value.
  absl::Status CheckValues(std::span<const T> values, const uint8_t* validity, size_t begin) const {
    if (options_.value_index) CFILE_RETURN_IF_ERROR(CheckOrder(values));
    if constexpr (encodings::kIsBytes<T>) {
      return internal::CheckSizes(values, type_, options_, [&](size_t i) {
        const uint64_t ordinal =
            num_rows_ +
            (validity == nullptr ? i : encodings::PositionOfOne(validity, begin, i) - begin);
        return absl::StrCat(file_.name(), ": the value at ordinal ", ordinal);
      });
    }
    return absl::OkStatus();
  }

  absl::Status AppendSome(std::span<const T> values, const uint8_t* validity) {
    CFILE_RETURN_IF_ERROR(CheckRoom(values.size()));
    for (size_t begin = 0; begin < values.size();) {
      // For Kudu: append at most one batch at a time, and within a batch one run of values or one
      // run of nulls at a time, as Kudu's writer does.
      size_t count = std::min<size_t>(values.size() - begin, kCheckedValues);
      if (kudu()) {
        count = RunLength({validity, (values.size() + 7) / 8}, begin,
                          std::min<size_t>(count, max_batch_rows() - begin % max_batch_rows()));
      }
      CFILE_RETURN_IF_ERROR(AppendRows(values, validity, begin, count));
      begin += count;
    }
    return absl::OkStatus();
  }

  absl::Status AppendPresent(std::span<const T> values) {
    CFILE_RETURN_IF_ERROR(CheckRoom(values.size()));
    while (!values.empty()) {
      const auto checked = values.first(std::min<size_t>(values.size(), kCheckedValues));
      CFILE_RETURN_IF_ERROR(CheckValues(checked, nullptr, 0));
      CFILE_RETURN_IF_ERROR(AppendChecked(checked, nullptr, 0, checked.size()));
      values = values.subspan(checked.size());
    }
    return absl::OkStatus();
  }

  // Appends the rows `begin` to `begin` + `count` - 1 of `values`; at most kCheckedValues rows.
  absl::Status AppendRows(std::span<const T> values, const uint8_t* validity, size_t begin,
                          size_t count) {
    const size_t present = CountPresent(validity, begin, count);
    if (present == 0) return AppendNulls(count);
    if (present == count) return AppendPresent(values.subspan(begin, count));
    if (!options_.nullable) {
      size_t row = begin;
      while ((validity[row / 8] >> (row % 8) & 1) != 0) ++row;
      return NotNullable(num_rows_ + row - begin);
    }
    if (present_ == nullptr) present_.reset(new T[kCheckedValues]);
    encodings::PackValues(values.data() + begin, validity, begin, count, present_.get());
    CFILE_RETURN_IF_ERROR(CheckValues({present_.get(), present}, validity, begin));
    return AppendChecked({present_.get(), present}, validity, begin, count);
  }

  // Appends `count` rows, whose values have been checked. `validity` and `begin` have the same
  // meaning as in CheckValues. At most kCheckedValues rows, so that the values are still in the CPU
  // cache after the check.
  absl::Status AppendChecked(std::span<const T> values, const uint8_t* validity, size_t begin,
                             size_t count) {
    while (count > 0) {
      size_t rows = std::min<size_t>(count, MostRows() - block_rows_);
      size_t present = rows == count ? values.size() : rows;
      if (rows < count && validity != nullptr) present = CountPresent(validity, begin, rows);
      if (validity != nullptr && present > 0 && IsLarge(values[0])) {
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
        CFILE_ASSIGN_OR_RETURN(taken, RoomForLarge(values.first(taken)));
      }
      if (taken > 0) {
        const size_t offered = taken;
        taken = encoder_->Append(values.first(offered));
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
          if (block_rows_ == 0) BeginKey(values[0]);
          last_value_ = values[taken - 1];
        }
        AddValidity(validity, begin, rows);
        statistics_.Add(values.first(taken));
        num_rows_ += rows;
        null_count_ += rows - taken;
        block_rows_ += static_cast<uint32_t>(rows);
        values = values.subspan(taken);
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
      Owned<T> first{}, last{};
      const bool parsed = internal::ParseKey<T>(block.first_key, first) &&
                          internal::ParseKey<T>(block.last_key, last);
      CFILE_ASSERT(parsed);
      const T least(first);
      CFILE_RETURN_IF_ERROR(CheckOrder({&least, 1}));
      BeginKey(least);
      last_value_ = last;
    }
    CFILE_RETURN_IF_ERROR(this->WriteCopy(block, num_rows_, block_key_));
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
  absl::StatusOr<size_t> RoomForLarge(std::span<const T> values) {
    if constexpr (encodings::kIsBytes<T>) {
      if (internal::LargestSizeBound(values) <= options_.max_block_size_bytes / 4)
        return values.size();
      for (size_t i = 0; i < values.size(); ++i) {
        if (!IsLarge(values[i])) continue;
        if (i > 0) return i;
        const size_t wanted = encoder_->size_bytes() + BlockOverheadBytes() + values[0].size();
        if (block_rows_ > 0 && wanted > options_.max_block_size_bytes)
          CFILE_RETURN_IF_ERROR(FinishBlock());
        return size_t{1};
      }
    }
    return values.size();
  }
  bool IsLarge(const T& value) const {
    if constexpr (encodings::kIsBytes<T>) return value.size() > options_.max_block_size_bytes / 4;
    return false;
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
    return absl::InvalidArgumentError(
        absl::StrCat(file_.name(), ": the value at ordinal ", ordinal,
                     " is null, but the column is not nullable",
                     options_.value_index ? " (it has a value index)" : ""));
  }

  // The most rows of the current block. A sample from which the writer chooses an encoding is not
  // limited.
  uint32_t MostRows() const {
    const bool sampling = chooser_ != nullptr && chooser_->sampling();
    return sampling ? options_.max_values_per_block : block_limit_.most_rows();
  }

  // True if the block must end: it has the maximum number of rows, or its null bitmap is too large.
  // The second case occurs with Compatibility::kKudu, where the number of rows is not limited.
  bool BlockHasAllRows() const {
    return block_rows_ >= MostRows() ||
           (options_.nullable && validity_.size_bytes() > internal::MaxValidityBytes(options_));
  }

  // Sets block_key_, the key in the value index of the block that begins with `first`.
  void BeginKey(const T& first) {
    std::string first_key;
    internal::AppendKey(first, first_key);
    std::string previous_last;
    if (num_rows_ > 0) {
      internal::AppendKey<T>(last_value_, previous_last);
    } else {
      min_key_ = first_key;
    }
    block_key_ = first_key.substr(0, internal::SeparatingLength(previous_last, first_key));
  }

  absl::Status FinishFile() {
    if (block_rows_ > 0) CFILE_RETURN_IF_ERROR(FinishBlock());
    return this->WriteEnd(num_rows_);
  }

  absl::Status FinishBlock() {
    const uint32_t rows = std::exchange(block_rows_, 0);
    CFILE_RETURN_IF_ERROR(this->WriteBlock({num_rows_ - rows, rows, rows}, block_key_,
                                           [&](encodings::ByteWriter& prefix) {
                                             if (options_.nullable)
                                               internal::AppendValidity(validity_, prefix);
                                           }));
    block_limit_.AddBlock(rows, file_.last_block(), file_.last_block_compressed());
    return absl::OkStatus();
  }

  internal::SeekBlockLimit block_limit_;
  ValidityEncoder validity_;
  std::unique_ptr<T[]> present_;  // kCheckedValues values, for rows of which some are null
  uint32_t block_rows_ = 0;
  uint64_t num_rows_ = 0;
  uint64_t null_count_ = 0;

  // Used only in a column with a value index.
  Owned<T> last_value_{};
  std::string block_key_;
  std::string min_key_;
};

template <typename T>
Writer<T>::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

template <typename T>
Writer<T>::Writer(Writer&&) noexcept = default;
template <typename T>
Writer<T>& Writer<T>::operator=(Writer&&) noexcept = default;
template <typename T>
Writer<T>::~Writer() = default;

template <typename T>
absl::StatusOr<Writer<T>> Writer<T>::Create(const std::string& path, const ColumnType& type,
                                            const WriterOptions& options) {
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, NewFileSink(path));
  return Create(std::move(sink), type, options);
}

template <typename T>
absl::StatusOr<Writer<T>> Writer<T>::Create(std::unique_ptr<Sink> sink, const ColumnType& type,
                                            const WriterOptions& user_options) {
  WriterOptions options = user_options;
  CFILE_RETURN_IF_ERROR(internal::PrepareToWrite<T>(sink->name(), type, options));
  CFILE_ASSIGN_OR_RETURN(auto encoder,
                         internal::NewEncoder<T>(type, options, /*whole_records=*/false));
  auto impl = std::make_unique<Impl>(std::move(sink), type, options, std::move(encoder));
  CFILE_RETURN_IF_ERROR(impl->Begin());
  return Writer(std::move(impl));
}

template <typename T>
absl::Status Writer<T>::Append(std::span<const T> values) {
  return impl_->Append(values);
}
template <typename T>
absl::Status Writer<T>::Append(std::span<const T> values, std::span<const uint8_t> validity) {
  return impl_->Append(values, validity);
}
template <typename T>
absl::Status Writer<T>::AppendBatch(const Batch<T>& batch) {
  if (batch.validity == nullptr) return impl_->Append(batch.values);
  return impl_->Append(batch.values, {batch.validity, (batch.size() + 7) / 8});
}
template <typename T>
absl::Status Writer<T>::AppendNull() {
  return impl_->AppendNull();
}
template <typename T>
absl::Status Writer<T>::AddMetadata(std::string_view key, std::string_view value) {
  return impl_->AddMetadata(key, value);
}
template <typename T>
bool Writer<T>::Takes(const internal::CopiedBlock& block) const {
  return impl_->Takes(block);
}
template <typename T>
absl::Status Writer<T>::CopyBlock(const internal::CopiedBlock& block) {
  return impl_->CopyBlock(block);
}
template <typename T>
bool Writer<T>::AdoptDictionary(const encodings::Dictionary& dictionary,
                                std::vector<uint32_t>& codes) {
  return impl_->AdoptDictionary(dictionary, codes);
}
template <typename T>
absl::Status Writer<T>::Finish() {
  return impl_->Finish();
}
template <typename T>
const ColumnType& Writer<T>::type() const {
  return impl_->type();
}
template <typename T>
ColumnTotals Writer<T>::totals() const {
  return impl_->totals();
}
template <typename T>
size_t Writer<T>::memory_usage_bytes() const {
  return impl_->memory_usage_bytes();
}

#define CFILE_INSTANTIATE(T) template class Writer<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
