#include "cfile/parts/scan/column_filter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cfile/batch.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/scan/text_matcher.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/kernels/count_ones.h"

namespace cfile::internal {
namespace {

using Form = ValueMatcher::Form;

// An estimate of RowFilter::cost_per_row for the values of one file.
double CostPerRow(const FileInfo& info) {
  const double rows = static_cast<double>(std::max<uint64_t>(info.num_rows, 1));
  const double bytes = static_cast<double>(info.file_size_bytes) / rows;
  const bool text = encodings::LaneOf(info.type.physical()) == encodings::Lane::kBytes;
  return 1 + bytes + (text ? 8 : 0);
}

// Clears bits: of values by `matches`, of nulls by `validity`. __restrict lets the compiler use
// vector instructions.
void ApplyTo(const uint8_t* __restrict matches, const uint8_t* __restrict validity, uint8_t flip,
             uint8_t nulls, size_t bytes, uint8_t* __restrict bits) {
  if (validity == nullptr) {
    for (size_t i = 0; i < bytes; ++i) bits[i] &= static_cast<uint8_t>(matches[i] ^ flip);
    return;
  }
  for (size_t i = 0; i < bytes; ++i) {
    bits[i] &= static_cast<uint8_t>(((matches[i] ^ flip) & validity[i]) | (nulls & ~validity[i]));
  }
}

// Compares the values of two columns.
class ColumnsFilter final : public RowFilter {
 public:
  ColumnsFilter(PredicateKind test, bool negated) {
    // Bits of accepted_: the left value is less, equal, greater, or they have no order.
    constexpr uint8_t kAccepted[] = {0b0010, 0b1101, 0b0001, 0b0011, 0b0100, 0b0110};
    accepted_ = kAccepted[static_cast<size_t>(test)] ^ (negated ? 0b1111 : 0);
  }

  absl::Status Open(const Reader& left, const Reader& right,
                    std::span<const std::unique_ptr<RowFilter>> others) {
    CFILE_ASSIGN_OR_RETURN(sides_[0].rows,
                           OpenRows(ReaderAccess::File(left), others, sides_[0].judge));
    CFILE_ASSIGN_OR_RETURN(sides_[1].rows,
                           OpenRows(ReaderAccess::File(right), others, sides_[1].judge));
    for (Side& side : sides_) side.rows->Add(&side.judge);
    return absl::OkStatus();
  }

  std::shared_ptr<void> RowsOf(const FileReader* file) const override {
    for (const Side& side : sides_) {
      if (file == &side.rows->file()) return side.rows;
    }
    return nullptr;
  }

  JudgedRows Judge(uint64_t row) const override {
    const JudgedRows left = sides_[0].judge.Judge(row);
    return left.verdict == Verdict::kNone ? left : sides_[1].judge.Judge(row);
  }
  bool reads_in_background() const override { return sides_[0].rows->file().reads_in_background(); }
  bool has_all_begun() const override {
    return sides_[0].rows->has_all_begun() && sides_[1].rows->has_all_begun();
  }
  void Expect(const OrdinalRange& rows, bool backward) override {
    for (const Side& side : sides_) side.rows->Expect(rows, backward);
  }
  double cost_per_row() const override {
    return CostPerRow(sides_[0].rows->file().info()) + CostPerRow(sides_[1].rows->file().info());
  }

  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) override {
    AnyBatch batches[2];
    for (size_t i = 0; i < 2; ++i) {
      CFILE_ASSIGN_OR_RETURN(const bool read, sides_[i].rows->Enter(begin));
      blocks_read_ += read;
      count = std::min<uint64_t>(count, sides_[i].rows->end() - begin);
    }
    for (size_t i = 0; i < 2; ++i) {
      const auto batch = sides_[i].rows->Values(begin, count);
      if (!batch.ok()) return sides_[i].rows->Failed(batch.status());
      batches[i] = *batch;
      count = std::min(count, batch->size());
    }
    rows_compared_ += count;
    encodings::VisitPhysicalType(
        sides_[0].rows->file().info().type.physical(), [&]<typename T>(std::type_identity<T>) {
          const T* const left = static_cast<const T*>(batches[0].values);
          const T* const right = static_cast<const T*>(batches[1].values);
          for (size_t i = 0; i < count; ++i) {
            unsigned order = 3;
            if (left[i] == right[i]) order = 1;
            if constexpr (!std::is_same_v<T, Int96>) {
              if (left[i] < right[i]) order = 0;
              if (right[i] < left[i]) order = 2;
            }
            const bool matches = (accepted_ >> order & 1) != 0;
            if (!matches || !batches[0].IsValid(i) || !batches[1].IsValid(i))
              bits[i / 8] &= static_cast<uint8_t>(~(1u << i % 8));
          }
        });
    return count;
  }

 private:
  struct Side {
    PredicateJudge judge{MatchSome()};
    std::shared_ptr<ConditionRows> rows = nullptr;
  };
  Side sides_[2];
  unsigned accepted_ = 0;
};

}  // namespace

absl::Status ColumnFilter::Open(const std::shared_ptr<FileReader>& file,
                                std::span<const std::unique_ptr<RowFilter>> others,
                                encodings::DecoderMaker* make_decoder) {
  file_ = file;
  CFILE_ASSIGN_OR_RETURN(rows_, OpenRows(file, others, judge_, /*may_lack=*/true, make_decoder));
  if (rows_ != nullptr) rows_->Add(&judge_);
  lane_ = encodings::LaneOf(file_->info().type.physical());
  return absl::OkStatus();
}

double ColumnFilter::cost_per_row() const { return CostPerRow(file_->info()); }

absl::StatusOr<size_t> ColumnFilter::Match(uint64_t begin, size_t count, uint8_t* bits) {
  CFILE_ASSIGN_OR_RETURN(const bool read, rows_->Enter(begin));
  blocks_read_ += read;
  count = std::min<uint64_t>(count, rows_->end() - begin);
  const size_t left = encodings::CountOnes({bits, (count + 7) / 8}, 0, count);
  if (left == 0) return count;
  rows_compared_ += left;
  const FileInfo& info = file_->info();
  const bool seeks = !info.has_levels() && SeeksAreFaster(lane_, left, count, info.nullable);
  auto examined =
      seeks ? MatchEach(begin, count, bits) : MatchAll(begin, count, bits, /*decodes=*/false);
  if (!examined.ok()) return rows_->Failed(examined.status());
  return examined;
}

absl::StatusOr<size_t> ColumnFilter::MatchAll(uint64_t begin, size_t count, uint8_t* bits,
                                              bool decodes) {
  if (const auto dictionary = rows_->DictionaryValues();
      judge_.matcher().comparing() && !dictionary.empty()) {
    codes_.SetDictionary(judge_.matcher(), dictionary);
    if (codes_.verdict() == (negated_ ? Verdict::kAll : Verdict::kNone)) {
      std::memset(bits, 0, (count + 7) / 8);
      return count;
    }
    CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, rows_->Codes(begin, count));
    uint8_t* const matches = Place(batch.validity, batch.size(), bits, decodes);
    if (codes_.verdict() == Verdict::kNone) {
      std::memset(matches, 0, (batch.size() + 7) / 8);
    } else {
      codes_.Match(batch.values, matches);
    }
    if (matches != bits) Apply(batch.validity, batch.size(), bits);
    return batch.size();
  }
  if (!decodes && judge_.matcher().compares_encoded()) {
    const uint8_t* validity;
    CFILE_ASSIGN_OR_RETURN(const bool matched,
                           rows_->Compare(begin, count, judge_.matcher(), matches_, validity));
    if (matched) {
      Apply(validity, count, bits);
      return count;
    }
  }
  CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, rows_->Values(begin, count));
  uint8_t* const matches = Place(batch.validity, batch.size(), bits, decodes);
  Compare({batch.values, batch.count}, matches);
  if (matches != bits) Apply(batch.validity, batch.size(), bits);
  return batch.size();
}

absl::StatusOr<size_t> ColumnFilter::MatchEach(uint64_t begin, size_t count, uint8_t* bits) {
  const auto first = static_cast<uint32_t>(begin - rows_->first_ordinal());
  taken_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    if ((bits[i / 8] >> (i % 8) & 1) != 0) taken_.push_back(first + i);
  }
  const bool nulls = judge_.matcher().form() == Form::kNull;
  CFILE_RETURN_IF_ERROR(rows_->Take(taken_, [&](size_t begin_taken, const AnyBatch& batch) {
    Compare({batch.values, batch.count}, matches_);
    for (size_t i = 0; i < batch.size(); ++i) {
      const bool matches = (matches_[i / 8] >> (i % 8) & 1) != 0;
      if (batch.IsValid(i) ? matches != negated_ : nulls) continue;
      const uint32_t at = taken_[begin_taken + i] - first;
      bits[at / 8] &= static_cast<uint8_t>(~(1u << at % 8));
    }
  }));
  return count;
}

uint8_t* ColumnFilter::Place(const uint8_t* validity, size_t rows, uint8_t* bits, bool decodes) {
  if (decodes && validity == nullptr && !negated_) return bits;
  if (decodes) std::memset(bits, 0xff, (rows + 7) / 8);
  return matches_;
}

void ColumnFilter::Compare(encodings::ValueSpan values, uint8_t* matches) const {
  switch (judge_.matcher().form()) {
    case Form::kNothing:
    case Form::kNull:
      std::memset(matches, 0, (values.count + 7) / 8);
      break;
    case Form::kNotNull:
      std::memset(matches, 0xff, (values.count + 7) / 8);
      break;
    default:
      judge_.matcher().Match(values, matches);
      break;
  }
}

void ColumnFilter::Apply(const uint8_t* validity, size_t count, uint8_t* bits) const {
  const bool nulls = judge_.matcher().form() == Form::kNull;
  ApplyTo(matches_, validity, negated_ ? 0xff : 0, nulls ? 0xff : 0, (count + 7) / 8, bits);
}

absl::StatusOr<std::unique_ptr<RowFilter>> NewColumnsFilter(
    const Reader& left, const Reader& right, PredicateKind test, bool negated,
    std::span<const std::unique_ptr<RowFilter>> others) {
  auto filter = std::make_unique<ColumnsFilter>(test, negated);
  CFILE_RETURN_IF_ERROR(filter->Open(left, right, others));
  return filter;
}

absl::StatusOr<std::unique_ptr<RowFilter>> NewRowFilter(
    const Reader& reader, std::shared_ptr<const ValueMatcher> matcher, bool negated,
    const OrdinalRange& rows, std::span<const std::unique_ptr<RowFilter>> others) {
  auto filter = std::make_unique<ColumnFilter>(std::move(matcher), negated);
  CFILE_RETURN_IF_ERROR(filter->Open(ReaderAccess::File(reader), others));
  filter->SearchList(rows);
  return filter;
}

}  // namespace cfile::internal
