#include "cfile/internal/read/row_filter.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "cfile/internal/read/block_cursor.h"
#include "cfile/internal/read/code_matcher.h"
#include "cfile/internal/read/file_cursor.h"
#include "cfile/internal/read/level_block_cursor.h"
#include "cfile/internal/read/reader_access.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/match_range.h"

namespace cfile::internal {
namespace {

// Block is BlockCursor<T> or LevelBlockCursor<T>.
template <typename T, typename Block>
class ColumnFilter final : public RowFilter, FileCursor<Block> {
  using Cursor = FileCursor<Block>;
  using Cursor::block_;
  using Cursor::file_;
  using Cursor::first_ordinal_;
  using Form = typename PredicateJudge<T>::Form;
  static constexpr bool kFlat = std::is_same_v<Block, BlockCursor<T>>;

 public:
  ColumnFilter(std::shared_ptr<FileReader> file,
               std::shared_ptr<const encodings::Dictionary> dictionary,
               const Predicate<T>& predicate, bool negated)
      : Cursor(file, Block(file->info().type, std::move(dictionary))),
        judge_(predicate, negated),
        negated_(negated) {
    this->fetcher_.Expect(BlockPlan::kMaybeSome, [this](const IndexNode& leaf, uint32_t entry) {
      if (!this->by_ordinal()) return expected_.end > 0;
      return HasRowOf(expected_, leaf, entry) &&
             judge_.Judge(leaf.ordinal(entry)).verdict == Verdict::kSome;
    });
  }

  absl::Status Open(const Reader& reader) { return judge_.Open(reader, *file_); }

  JudgedRows Judge(uint64_t row) const override { return judge_.Judge(row); }

  void Expect(const OrdinalRange& rows, bool backward) override {
    expected_ = {rows.begin, std::min(rows.end, this->num_rows())};
    this->SetBackward(backward);
  }

  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) override {
    CFILE_RETURN_IF_ERROR(Enter(begin));
    count = std::min<uint64_t>(count, first_ordinal_ + block_.num_rows() - begin);
    const size_t left = encodings::CountOnes(bits, count);
    if (left == 0) return count;
    rows_compared_ += left;
    const bool seeks = kFlat && SeeksAreFaster<T>(left, count, file_->info().nullable);
    auto examined = seeks ? MatchEach(begin, count, bits) : MatchAll(begin, count, bits);
    if (!examined.ok()) return this->Failed(examined.status());
    return examined;
  }

  double cost_per_row() const override {
    const FileInfo& info = file_->info();
    const double rows = static_cast<double>(std::max<uint64_t>(info.num_rows, 1));
    const double bytes = static_cast<double>(info.file_size_bytes) / rows;
    return 1 + bytes + (kIsBytes<T> ? 8 : 0);
  }

 private:
  // Opens the block with row `row`.
  absl::Status Enter(uint64_t row) {
    if (this->InBlock(row)) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(this->OpenBlockOf(row));
    ++blocks_read_;
    const absl::Status status =
        judge_.CheckBlock(first_ordinal_, block_.num_rows(), block_.num_present());
    return status.ok() ? status : this->Failed(status);
  }

  // Decodes and compares all rows; returns how many.
  absl::StatusOr<size_t> MatchAll(uint64_t begin, size_t count, uint8_t* bits) {
    CFILE_RETURN_IF_ERROR(block_.SeekToRow(static_cast<uint32_t>(begin - first_ordinal_)));
    if constexpr (kFlat) {
      if (judge_.comparing() && !block_.DictionaryValues().empty()) {
        codes_.SetDictionary(judge_.matcher(), block_.DictionaryValues());
        CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, block_.NextCodes(count));
        if (codes_.verdict() == Verdict::kNone) {
          std::memset(matches_, 0, sizeof(matches_));
        } else {
          codes_.Match(batch.values, matches_);
        }
        Apply(batch.validity, batch.size(), bits);
        return batch.size();
      }
    }
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, NextRows(count));
    Compare(batch.values);
    Apply(batch.validity, batch.size(), bits);
    return batch.size();
  }

  // Compares only the rows whose bit is 1.
  absl::StatusOr<size_t> MatchEach(uint64_t begin, size_t count, uint8_t* bits) {
    if constexpr (kFlat) {
      const auto first = static_cast<uint32_t>(begin - first_ordinal_);
      rows_.clear();
      for (uint32_t i = 0; i < count; ++i) {
        if ((bits[i / 8] >> (i % 8) & 1) != 0) rows_.push_back(first + i);
      }
      const auto clear = [&](size_t i) {
        const uint32_t at = rows_[i] - first;
        bits[at / 8] &= static_cast<uint8_t>(~(1u << at % 8));
      };
      const auto put = [&](size_t i, const T& value) {
        Compare({&value, 1});
        if ((matches_[0] & 1) == (negated_ ? 1 : 0)) clear(i);
      };
      const bool nulls = judge_.matcher().form() == Form::kNull;
      CFILE_RETURN_IF_ERROR(block_.Take(rows_, put, [&](size_t i) {
        if (!nulls) clear(i);
      }));
    }
    return count;
  }

  // The next rows of the block, as one value per row.
  absl::StatusOr<Batch<T>> NextRows(size_t count) {
    if constexpr (kFlat) {
      return block_.Next(count);
    } else {
      CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> batch, block_.Next(count));
      if (batch.num_entries != batch.num_records)
        return encodings::DataLoss("a record has several entries");
      const uint16_t max = file_->info().levels.max_definition;
      if (batch.values.size() == batch.num_entries) return Batch<T>{.values = batch.values};
      std::memset(validity_, 0, sizeof(validity_));
      for (size_t i = 0; i < batch.num_entries; ++i) {
        if (batch.definition[i] == max) validity_[i / 8] |= static_cast<uint8_t>(1u << i % 8);
      }
      if (values_ == nullptr) values_ = std::make_unique<T[]>(kMaxRows);
      encodings::SpreadValues(batch.values.data(), validity_, batch.num_entries, values_.get());
      return Batch<T>{.values = {values_.get(), batch.num_entries}, .validity = validity_};
    }
  }

  // Sets matches_ for values, none of them null.
  void Compare(std::span<const T> values) {
    switch (judge_.matcher().form()) {
      case Form::kNothing:
      case Form::kNull:
        std::memset(matches_, 0, (values.size() + 7) / 8);
        break;
      case Form::kNotNull:
        std::memset(matches_, 0xff, (values.size() + 7) / 8);
        break;
      default:
        judge_.matcher().Match(values, matches_);
        break;
    }
  }

  // Clears the bits of rows that do not match, by matches_ for values and by `validity` for nulls.
  void Apply(const uint8_t* validity, size_t count, uint8_t* bits) const {
    const uint8_t flip = negated_ ? 0xff : 0;
    const uint8_t nulls = judge_.matcher().form() == Form::kNull ? 0xff : 0;
    for (size_t i = 0; i < (count + 7) / 8; ++i) {
      const uint8_t valid = validity == nullptr ? 0xff : validity[i];
      bits[i] &= static_cast<uint8_t>(((matches_[i] ^ flip) & valid) | (nulls & ~valid));
    }
  }

  PredicateJudge<T> judge_;
  const bool negated_;
  OrdinalRange expected_;  // blocks with these rows are read in advance
  CodeMatcher<T> codes_;
  std::vector<uint32_t> rows_;
  std::unique_ptr<T[]> values_;  // kMaxRows values
  uint8_t matches_[kMaxRows / 8];
  uint8_t validity_[kMaxRows / 8];
};

}  // namespace

template <ValueType T>
absl::StatusOr<std::unique_ptr<RowFilter>> NewRowFilter(const Reader& reader,
                                                        const Predicate<T>& predicate,
                                                        bool negated) {
  const std::shared_ptr<FileReader>& file = ReaderAccess::File(reader);
  CFILE_ASSIGN_OR_RETURN(auto dictionary, PrepareToRead<T>(*file));
  const auto open =
      [&]<typename Block>(std::type_identity<Block>) -> absl::StatusOr<std::unique_ptr<RowFilter>> {
    auto filter =
        std::make_unique<ColumnFilter<T, Block>>(file, std::move(dictionary), predicate, negated);
    CFILE_RETURN_IF_ERROR(filter->Open(reader));
    return filter;
  };
  return file->info().has_levels() ? open(std::type_identity<LevelBlockCursor<T>>())
                                   : open(std::type_identity<BlockCursor<T>>());
}

#define CFILE_INSTANTIATE(T)                                                         \
  template absl::StatusOr<std::unique_ptr<RowFilter>> NewRowFilter<T>(const Reader&, \
                                                                      const Predicate<T>&, bool);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
