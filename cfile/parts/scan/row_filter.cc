#include "cfile/parts/scan/row_filter.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/scan/code_matcher.h"
#include "cfile/parts/scan/text_matcher.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/count_ones.h"
#include "encodings/kernels/match_range.h"

namespace cfile::internal {
namespace {

using encodings::ValueSpan;

// Reads the rows of a file for all conditions on this column. The derived class has the block.
// Thread-compatible. A batch is valid until the next call.
class ConditionRows : protected FileCursor {
 public:
  virtual ~ConditionRows() = default;

  FileReader& file() const { return *file_; }
  using FileCursor::Failed;

  // Adds the judge of a condition. A judge decides from statistics which rows may match.
  // The judge must live until the last call of this object.
  void Add(const PredicateJudge* judge) { judges_.push_back(judge); }

  void Expect(const OrdinalRange& rows, bool backward) {
    expected_ = {rows.begin, std::min(rows.end, num_rows())};
    SetBackward(backward);
    if (backward || !file_->reads_in_background()) return;
    for (uint64_t row = expected_.begin; row < expected_.end;) {
      uint64_t end = expected_.end;
      for (const PredicateJudge* judge : judges_) {
        const JudgedRows judged = judge->Judge(row);
        if (judged.verdict == Verdict::kSome) return BeginBlockOf(row);
        end = std::min(end, judged.rows.end);
      }
      row = end;
    }
  }

  // Opens the block that has row `row`. Returns false if this block was open already.
  absl::StatusOr<bool> Enter(uint64_t row) {
    if (InBlock(row)) return false;
    decoded_ = OrdinalRange{};
    compares_ = true;
    CFILE_RETURN_IF_ERROR(OpenBlockOf(row));
    const absl::Status status =
        judges_[0]->CheckBlock(first_ordinal_, row_block_.num_rows(), row_block_.num_present());
    if (!status.ok()) return Failed(status);
    return true;
  }

  bool has_all_begun() const { return fetcher_.has_all_planned(); }

  // The functions below work on the block that is open.
  uint64_t first_ordinal() const { return first_ordinal_; }
  uint64_t end() const { return first_ordinal_ + row_block_.num_rows(); }
  ValueSpan DictionaryValues() {
    return flat() == nullptr ? ValueSpan() : flat()->DictionaryValues();
  }

  // Decode rows from `begin` on, at most `count` rows.
  // Codes returns one code of DictionaryValues() for each row.
  // Values returns one value for each row.
  // Precondition of Codes: DictionaryValues() is not empty.
  absl::StatusOr<Batch<uint32_t>> Codes(uint64_t begin, size_t count) {
    const auto next = [&]() -> absl::StatusOr<AnyBatch> {
      CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, flat()->NextCodes(count));
      return AnyBatch::Of(codes);
    };
    CFILE_ASSIGN_OR_RETURN(const AnyBatch codes, Decode(begin, count, codes_, next));
    return codes.As<uint32_t>();
  }
  absl::StatusOr<AnyBatch> Values(uint64_t begin, size_t count) {
    return Decode(begin, count, batch_, [&] { return NextRows(count); });
  }

  // Compares `count` rows from `begin` on with a predicate, without decoding them
  // (BlockCursor::NextMatches). Returns false if this is not possible for the open block.
  absl::StatusOr<bool> Compare(uint64_t begin, size_t count, const ValueMatcher& matcher,
                               uint8_t* bits, const uint8_t*& validity) {
    if (flat() == nullptr || !compares_) return false;
    decoded_ = OrdinalRange{};
    CFILE_RETURN_IF_ERROR(row_block_.SeekToRow(static_cast<uint32_t>(begin - first_ordinal_)));
    CFILE_ASSIGN_OR_RETURN(compares_, flat()->NextMatches(matcher, count, bits, validity));
    return compares_;
  }

  // BlockCursor::Take. `rows` are rows of the open block. Precondition: the column is flat.
  absl::Status Take(std::span<const uint32_t> rows,
                    absl::FunctionRef<void(size_t i, const AnyBatch& batch)> put) {
    decoded_ = OrdinalRange{};
    return flat()->Take(rows, put);
  }

 protected:
  ConditionRows(const std::shared_ptr<FileReader>& file, RowBlock& block)
      : FileCursor(file, block) {
    fetcher_.Expect(BlockPlan::kMaybeSome, [this](const LoadedNode& leaf, uint32_t entry) {
      if (!by_ordinal()) return expected_.end > 0;
      return HasRowOf(expected_, leaf, entry) &&
             std::any_of(judges_.begin(), judges_.end(), [&](const PredicateJudge* judge) {
               return judge->Judge(leaf.ordinal(entry)).verdict == Verdict::kSome;
             });
    });
  }

  // Returns the block, or nullptr if the column has levels.
  virtual BlockCursor* flat() = 0;
  // Returns the next rows of the block. Each row has one value.
  virtual absl::StatusOr<AnyBatch> NextRows(size_t count) = 0;

 private:
  // Returns the first `count` rows of `batch` if the batch has the rows from `begin` on.
  // Otherwise calls `next`, which decodes these rows.
  template <typename Next>
  absl::StatusOr<AnyBatch> Decode(uint64_t begin, size_t count, AnyBatch& batch, const Next& next) {
    const bool held =
        decoded_.begin == begin && decoded_.end >= begin + count && decoded_batch_ == &batch;
    if (!held) {
      decoded_ = OrdinalRange{};
      CFILE_RETURN_IF_ERROR(row_block_.SeekToRow(static_cast<uint32_t>(begin - first_ordinal_)));
      CFILE_ASSIGN_OR_RETURN(batch, next());
      decoded_ = {begin, begin + batch.size()};
      decoded_batch_ = &batch;
    }
    AnyBatch rows = batch;
    rows.count = std::min(count, batch.size());
    return rows;
  }

  std::vector<const PredicateJudge*> judges_;
  OrdinalRange expected_;  // blocks with these rows are read in advance
  bool compares_ = true;   // false: Compare always returns false for the open block
  // The rows that were decoded last, and the batch that has these rows.
  OrdinalRange decoded_;
  const AnyBatch* decoded_batch_ = nullptr;
  AnyBatch codes_;
  AnyBatch batch_;
};

class FlatConditionRows final : public ConditionRows {
 public:
  FlatConditionRows(const std::shared_ptr<FileReader>& file, BlockDecoding decoding)
      : ConditionRows(file, block_), block_(file->info().type, std::move(decoding)) {}

 protected:
  BlockCursor* flat() override { return &block_; }
  absl::StatusOr<AnyBatch> NextRows(size_t count) override { return block_.Next(count); }

 private:
  BlockCursor block_;
};

class LevelConditionRows final : public ConditionRows {
 public:
  LevelConditionRows(const std::shared_ptr<FileReader>& file, BlockDecoding decoding)
      : ConditionRows(file, block_), block_(file->info().type, std::move(decoding)) {}

 protected:
  BlockCursor* flat() override { return nullptr; }
  absl::StatusOr<AnyBatch> NextRows(size_t count) override {
    CFILE_ASSIGN_OR_RETURN(const AnyLevelBatch batch, block_.Next(count));
    if (batch.num_entries != batch.num_records)
      return encodings::DataLoss("a record has several entries");
    AnyBatch rows{.values = batch.values.data, .count = batch.num_entries};
    if (batch.values.count == batch.num_entries) return rows;
    const uint16_t max = file().info().levels.max_definition;
    std::memset(validity_, 0, sizeof(validity_));
    for (size_t i = 0; i < batch.num_entries; ++i) {
      if (batch.definition[i] == max) validity_[i / 8] |= static_cast<uint8_t>(1u << i % 8);
    }
    const encodings::Lane lane = encodings::LaneOf(file().info().type.physical());
    void* const spread = values_.Reserve(RowFilter::kMaxRows, encodings::WidthOf(lane));
    encodings::SpreadValues(lane, batch.values.data, validity_, batch.num_entries, spread);
    rows.values = spread;
    rows.validity = validity_;
    return rows;
  }

 private:
  LevelBlockCursor block_;
  RawBuffer values_;
  uint8_t validity_[RowFilter::kMaxRows / 8];
};

// Opens `judge`, and returns the rows of `reader`. One of `others` may have them.
absl::StatusOr<std::shared_ptr<ConditionRows>> OpenRows(
    const Reader& reader, std::span<const std::unique_ptr<RowFilter>> others,
    PredicateJudge& judge) {
  const std::shared_ptr<FileReader>& file = ReaderAccess::File(reader);
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file));
  CFILE_RETURN_IF_ERROR(judge.Open(file));
  std::shared_ptr<ConditionRows> rows;
  for (const auto& other : others) {
    if (rows == nullptr && other != nullptr)
      rows = std::static_pointer_cast<ConditionRows>(other->RowsOf(file.get()));
  }
  if (rows == nullptr && file->info().has_levels()) {
    rows = std::make_shared<LevelConditionRows>(file, std::move(decoding));
  } else if (rows == nullptr) {
    rows = std::make_shared<FlatConditionRows>(file, std::move(decoding));
  }
  rows->Add(&judge);
  return rows;
}

// An estimate of RowFilter::cost_per_row for the values of one file.
double CostPerRow(const FileInfo& info) {
  const double rows = static_cast<double>(std::max<uint64_t>(info.num_rows, 1));
  const double bytes = static_cast<double>(info.file_size_bytes) / rows;
  const bool text = encodings::LaneOf(info.type.physical()) == encodings::Lane::kBytes;
  return 1 + bytes + (text ? 8 : 0);
}

class ColumnFilter final : public RowFilter {
  using Form = PredicateJudge::Form;
  using Rows = ConditionRows;

 public:
  ColumnFilter(std::shared_ptr<const ValueMatcher> matcher, bool negated)
      : judge_(std::move(matcher), negated), negated_(negated) {}

  // `others`: other filters. One of them may read the same file.
  absl::Status Open(const Reader& reader, std::span<const std::unique_ptr<RowFilter>> others) {
    CFILE_ASSIGN_OR_RETURN(rows_, OpenRows(reader, others, judge_));
    lane_ = encodings::LaneOf(rows_->file().info().type.physical());
    return absl::OkStatus();
  }

  std::shared_ptr<void> RowsOf(const FileReader* file) const override {
    return file == &rows_->file() ? rows_ : nullptr;
  }

  JudgedRows Judge(uint64_t row) const override { return judge_.Judge(row); }
  bool reads_in_background() const override { return rows_->file().reads_in_background(); }
  bool has_all_begun() const override { return rows_->has_all_begun(); }

  void Expect(const OrdinalRange& rows, bool backward) override { rows_->Expect(rows, backward); }

  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) override {
    CFILE_ASSIGN_OR_RETURN(const bool read, rows_->Enter(begin));
    blocks_read_ += read;
    count = std::min<uint64_t>(count, rows_->end() - begin);
    const size_t left = encodings::CountOnes({bits, (count + 7) / 8}, 0, count);
    if (left == 0) return count;
    rows_compared_ += left;
    const FileInfo& info = rows_->file().info();
    const bool seeks = !info.has_levels() && SeeksAreFaster(lane_, left, count, info.nullable);
    auto examined = seeks ? MatchEach(begin, count, bits) : MatchAll(begin, count, bits);
    if (!examined.ok()) return rows_->Failed(examined.status());
    return examined;
  }

  double cost_per_row() const override { return CostPerRow(rows_->file().info()); }

 private:
  // Decodes and compares all rows; returns how many.
  absl::StatusOr<size_t> MatchAll(uint64_t begin, size_t count, uint8_t* bits) {
    if (const auto dictionary = rows_->DictionaryValues();
        judge_.matcher().comparing() && !dictionary.empty()) {
      codes_.SetDictionary(judge_.matcher(), dictionary);
      CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, rows_->Codes(begin, count));
      if (codes_.verdict() == Verdict::kNone) {
        std::memset(matches_, 0, sizeof(matches_));
      } else {
        codes_.Match(batch.values, matches_);
      }
      Apply(batch.validity, batch.size(), bits);
      return batch.size();
    }
    if (judge_.matcher().compares_encoded()) {
      const uint8_t* validity;
      CFILE_ASSIGN_OR_RETURN(const bool matched,
                             rows_->Compare(begin, count, judge_.matcher(), matches_, validity));
      if (matched) {
        Apply(validity, count, bits);
        return count;
      }
    }
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, rows_->Values(begin, count));
    Compare({batch.values, batch.count});
    Apply(batch.validity, batch.size(), bits);
    return batch.size();
  }

  // Compares only the rows whose bit is 1.
  absl::StatusOr<size_t> MatchEach(uint64_t begin, size_t count, uint8_t* bits) {
    const auto first = static_cast<uint32_t>(begin - rows_->first_ordinal());
    taken_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      if ((bits[i / 8] >> (i % 8) & 1) != 0) taken_.push_back(first + i);
    }
    const bool nulls = judge_.matcher().form() == Form::kNull;
    CFILE_RETURN_IF_ERROR(rows_->Take(taken_, [&](size_t begin_taken, const AnyBatch& batch) {
      Compare({batch.values, batch.count});
      for (size_t i = 0; i < batch.size(); ++i) {
        const bool matches = (matches_[i / 8] >> (i % 8) & 1) != 0;
        if (batch.IsValid(i) ? matches != negated_ : nulls) continue;
        const uint32_t at = taken_[begin_taken + i] - first;
        bits[at / 8] &= static_cast<uint8_t>(~(1u << at % 8));
      }
    }));
    return count;
  }

  // Sets matches_ for values. The bit of a null is unspecified.
  void Compare(ValueSpan values) {
    switch (judge_.matcher().form()) {
      case Form::kNothing:
      case Form::kNull:
        std::memset(matches_, 0, (values.count + 7) / 8);
        break;
      case Form::kNotNull:
        std::memset(matches_, 0xff, (values.count + 7) / 8);
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

  PredicateJudge judge_;
  const bool negated_;
  encodings::Lane lane_ = encodings::Lane::k1;
  std::shared_ptr<Rows> rows_;
  CodeMatcher codes_;
  std::vector<uint32_t> taken_;  // used by MatchEach
  uint8_t matches_[kMaxRows / 8];
};

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
    CFILE_ASSIGN_OR_RETURN(sides_[0].rows, OpenRows(left, others, sides_[0].judge));
    CFILE_ASSIGN_OR_RETURN(sides_[1].rows, OpenRows(right, others, sides_[1].judge));
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

absl::StatusOr<std::unique_ptr<RowFilter>> NewColumnsFilter(
    const Reader& left, const Reader& right, PredicateKind test, bool negated,
    std::span<const std::unique_ptr<RowFilter>> others) {
  auto filter = std::make_unique<ColumnsFilter>(test, negated);
  CFILE_RETURN_IF_ERROR(filter->Open(left, right, others));
  return filter;
}

absl::StatusOr<std::unique_ptr<RowFilter>> NewRowFilter(
    const Reader& reader, std::shared_ptr<const ValueMatcher> matcher, bool negated,
    std::span<const std::unique_ptr<RowFilter>> others) {
  auto filter = std::make_unique<ColumnFilter>(std::move(matcher), negated);
  CFILE_RETURN_IF_ERROR(filter->Open(reader, others));
  return filter;
}

}  // namespace cfile::internal
