// A condition on the values of one column: reads and compares the rows of its file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/format/data_block.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/level_block_cursor.h"
#include "cfile/parts/scan/code_matcher.h"
#include "cfile/parts/scan/predicate_judge.h"
#include "cfile/parts/scan/row_filter.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/count_ones.h"
#include "encodings/registry.h"

namespace cfile::internal {

// Reads the rows of a file for all conditions on this column. Thread-compatible. A batch is
// valid until the next call.
class ConditionRows final : protected FileCursor {
 public:
  ConditionRows(const std::shared_ptr<FileReader>& file, BlockDecoding decoding)
      : ConditionRows(file, ShapedBlock(file->info(), std::move(decoding))) {}

  FileReader& file() const { return *file_; }
  using FileCursor::Failed;

  // Adds the judge of a condition. A judge decides from statistics which rows may match.
  // The judge must live until the last call of this object.
  void Add(const PredicateJudge* judge) { judges_.push_back(judge); }

  // `all`: the blocks whose rows all match will be read, too.
  void Expect(const OrdinalRange& rows, bool backward, bool all = false) {
    reads_all_ = all;
    expected_ = {rows.begin, std::min(rows.end, num_rows())};
    SetBackward(backward);
    if (backward || !file_->reads_in_background()) return;
    for (uint64_t row = expected_.begin; row < expected_.end;) {
      uint64_t end = expected_.end;
      for (const PredicateJudge* judge : judges_) {
        const JudgedRows judged = judge->Judge(row);
        if (Reads(judged.verdict)) return BeginBlockOf(row);
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
    CFILE_RETURN_IF_ERROR(EnterByKey(row));
    CFILE_RETURN_IF_ERROR(OpenBlockOf(row));
    const absl::Status status =
        judges_[0]->CheckBlock(first_ordinal_, row_block_.num_rows(), row_block_.num_present());
    if (!status.ok()) return Failed(status);
    return true;
  }

  bool has_all_begun() const { return fetcher_.has_all_planned(); }

  // Checks that the positional index, if there is one, has the block of row `row`, which the scan
  // skips. Call it for ascending rows. Precondition: the file has statistics of each block.
  absl::Status CheckSkipped(uint64_t row) {
    if (!file_->info().positional_index_root) return absl::OkStatus();
    const PredicateJudge& judge = *judges_[0];
    const uint64_t first = judge.BlockBegin(row);
    if (!skipped_.valid()) CFILE_RETURN_IF_ERROR(skipped_.SeekToOrdinal(first));
    CFILE_RETURN_IF_ERROR(CheckFound(skipped_));
    const auto begin = [this] { return skipped_.leaf().ordinal(skipped_.entry()); };
    while (begin() < first) CFILE_RETURN_IF_ERROR(GoToNext(skipped_, first));
    CFILE_RETURN_IF_ERROR(
        internal::InBlock(CheckFirstOrdinal(first, begin()), name(), skipped_.pointer()));
    const bool is_last = judge.BlockOf(row) == judge.BlockOf(num_rows() - 1);
    return is_last ? CheckLast(skipped_) : absl::OkStatus();
  }
  // kDataLoss: the index has blocks after the open block, which has the file's last row.
  absl::Status CheckLastBlock() const {
    return loaded_ && end() == num_rows() ? CheckLast(*path_) : absl::OkStatus();
  }

  // The functions below work on the block that is open.
  uint64_t first_ordinal() const { return first_ordinal_; }
  uint64_t end() const { return first_ordinal_ + row_block_.num_rows(); }
  encodings::ValueSpan DictionaryValues() {
    return block_.flat == nullptr ? encodings::ValueSpan() : block_.flat->DictionaryValues();
  }

  // Decode rows from `begin` on, at most `count` rows.
  // Codes returns one code of DictionaryValues() for each row.
  // Values returns one value for each row.
  // Precondition of Codes: DictionaryValues() is not empty.
  absl::StatusOr<Batch<uint32_t>> Codes(uint64_t begin, size_t count) {
    const auto next = [&]() -> absl::StatusOr<AnyBatch> {
      CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, block_.flat->NextCodes(count));
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
    if (block_.flat == nullptr || !compares_) return false;
    decoded_ = OrdinalRange{};
    CFILE_RETURN_IF_ERROR(row_block_.SeekToRow(static_cast<uint32_t>(begin - first_ordinal_)));
    CFILE_ASSIGN_OR_RETURN(compares_, block_.flat->NextMatches(matcher, count, bits, validity));
    return compares_;
  }

  // BlockCursor::Take. `rows` are rows of the open block. Precondition: the column is flat.
  absl::Status Take(std::span<const uint32_t> rows,
                    absl::FunctionRef<void(size_t i, const AnyBatch& batch)> put) {
    decoded_ = OrdinalRange{};
    return block_.flat->Take(rows, put);
  }

 private:
  ConditionRows(const std::shared_ptr<FileReader>& file, ShapedBlock block)
      : FileCursor(file, block.rows()), block_(std::move(block)) {
    fetcher_.Expect(BlockPlan::kMaybeSome, [this](const LoadedNode& leaf, uint32_t entry) {
      if (!by_ordinal()) return expected_.end > 0;
      return HasRowOf(expected_, leaf, entry) &&
             std::any_of(judges_.begin(), judges_.end(), [&](const PredicateJudge* judge) {
               return Reads(judge->Judge(leaf.ordinal(entry)).verdict);
             });
    });
  }

  bool Reads(Verdict verdict) const {
    return verdict == Verdict::kSome || (reads_all_ && verdict == Verdict::kAll);
  }

  // Goes to the block with the least value that may match, if only keys can find this block.
  absl::Status EnterByKey(uint64_t row) {
    const FileInfo& info = file_->info();
    const PredicateJudge& judge = *judges_[0];
    if (loaded_ || info.positional_index_root || judges_.size() > 1 || !judge.found() ||
        row < judge.found()->begin || resume_ != Resume::kBySeek) {
      return absl::OkStatus();
    }
    std::string key;
    AppendKey(KeyRef{judge.matcher().low(), info.type.physical()}, key);
    path_ = &paths_[1];
    CFILE_RETURN_IF_ERROR(path_->SeekToKey(key));
    CFILE_RETURN_IF_ERROR(CheckFound(*path_));
    return LoadBlock(BlockAccess::kScan);
  }

  // Returns the next rows of the block. Each row has one value.
  absl::StatusOr<AnyBatch> NextRows(size_t count) {
    if (block_.flat != nullptr) return block_.flat->Next(count);
    CFILE_ASSIGN_OR_RETURN(const AnyLevelBatch batch, block_.levels->Next(count));
    if (batch.num_entries != batch.num_records)
      return encodings::DataLoss("a record has several entries");
    AnyBatch rows{.values = batch.values.data, .count = batch.num_entries};
    if (batch.values.count == batch.num_entries) return rows;
    const uint16_t max = file_->info().levels.max_definition;
    std::memset(validity_, 0, sizeof(validity_));
    for (size_t i = 0; i < batch.num_entries; ++i) {
      if (batch.definition[i] == max) validity_[i / 8] |= static_cast<uint8_t>(1u << i % 8);
    }
    const encodings::Lane lane = encodings::LaneOf(file_->info().type.physical());
    void* const spread = values_.Reserve(RowFilter::kMaxRows, encodings::WidthOf(lane));
    encodings::SpreadValues(lane, batch.values.data, validity_, batch.num_entries, spread);
    rows.values = spread;
    rows.validity = validity_;
    return rows;
  }

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

  ShapedBlock block_;
  absl::InlinedVector<const PredicateJudge*, 2> judges_;
  OrdinalRange expected_;   // blocks with these rows are read in advance
  bool reads_all_ = false;  // see Expect
  IndexWalk skipped_{file_.get(), IndexKind::kPositional};  // at the last block of CheckSkipped
  bool compares_ = true;  // false: Compare always returns false for the open block
  // The rows that were decoded last, and the batch that has these rows.
  OrdinalRange decoded_;
  const AnyBatch* decoded_batch_ = nullptr;
  AnyBatch codes_;
  AnyBatch batch_;
  // Of rows with levels.
  RawBuffer values_;
  uint8_t validity_[RowFilter::kMaxRows / 8];
};

// Opens `judge`, and returns the rows of `file`. One of `others` may have them. Returns null if no
// row matches and `may_lack` is true.
inline absl::StatusOr<std::shared_ptr<ConditionRows>> OpenRows(
    const std::shared_ptr<FileReader>& file, std::span<const std::unique_ptr<RowFilter>> others,
    PredicateJudge& judge, bool may_lack = false,
    encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder) {
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file, make_decoder));
  CFILE_RETURN_IF_ERROR(judge.Open(file));
  if (may_lack && judge.whole().verdict == Verdict::kNone) return nullptr;
  std::shared_ptr<ConditionRows> rows;
  for (const auto& other : others) {
    if (rows == nullptr && other != nullptr)
      rows = std::static_pointer_cast<ConditionRows>(other->RowsOf(file.get()));
  }
  if (rows == nullptr) rows = std::make_shared<ConditionRows>(file, std::move(decoding));
  rows->Add(&judge);
  return rows;
}

// An estimate of RowFilter::cost_per_row for the values of one file.
inline double CostPerRow(const FileInfo& info) {
  const double rows = static_cast<double>(std::max<uint64_t>(info.num_rows, 1));
  const double bytes = static_cast<double>(info.file_size_bytes) / rows;
  const bool text = encodings::LaneOf(info.type.physical()) == encodings::Lane::kBytes;
  return 1 + bytes + (text ? 8 : 0);
}

// Compares the values of one column.
class ColumnFilter final : public RowFilter {
  using Form = PredicateJudge::Form;

 public:
  ColumnFilter(std::shared_ptr<const ValueMatcher> matcher, bool negated)
      : judge_(std::move(matcher), negated), negated_(negated) {}

  // `others`: other filters. One of them may read the same file. `make_decoder`: as for
  // PrepareToRead.
  absl::Status Open(const std::shared_ptr<FileReader>& file,
                    std::span<const std::unique_ptr<RowFilter>> others,
                    encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder) {
    file_ = file;
    CFILE_ASSIGN_OR_RETURN(rows_, OpenRows(file, others, judge_, /*may_lack=*/true, make_decoder));
    lane_ = encodings::LaneOf(file_->info().type.physical());
    return absl::OkStatus();
  }

  const PredicateJudge& judge() const { return judge_; }
  const std::shared_ptr<FileReader>& file() const { return file_; }
  // Null if judge() says that no row of the file matches.
  ConditionRows* rows() const { return rows_.get(); }

  std::shared_ptr<void> RowsOf(const FileReader* file) const override {
    return file == file_.get() ? rows_ : nullptr;
  }

  JudgedRows Judge(uint64_t row) const override { return judge_.Judge(row); }
  bool reads_in_background() const override { return file_->reads_in_background(); }
  bool has_all_begun() const override { return rows_ == nullptr || rows_->has_all_begun(); }

  void Expect(const OrdinalRange& rows, bool backward) override {
    if (rows_ != nullptr) rows_->Expect(rows, backward);
  }

  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) override {
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

  double cost_per_row() const override { return CostPerRow(file_->info()); }

  // Compares all rows, at most `count`, of the open block; returns how many. `decodes`: no row is
  // excluded yet, so `bits` need not be set; decodes the values or the codes of all rows, unless
  // none matches.
  absl::StatusOr<size_t> MatchAll(uint64_t begin, size_t count, uint8_t* bits, bool decodes) {
    if (const auto dictionary = rows_->DictionaryValues();
        judge_.matcher().comparing() && !dictionary.empty()) {
      codes_.SetDictionary(judge_.matcher(), dictionary);
      if (codes_.verdict() == (negated_ ? Verdict::kAll : Verdict::kNone)) {
        std::memset(bits, 0, (count + 7) / 8);
        return count;
      }
      CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, rows_->Codes(begin, count));
      uint8_t* const matches = Place(batch, bits, decodes);
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
    uint8_t* const matches = Place(batch, bits, decodes);
    Compare({batch.values, batch.count}, matches);
    if (matches != bits) Apply(batch.validity, batch.size(), bits);
    return batch.size();
  }

 private:
  // Compares only the rows whose bit is 1.
  absl::StatusOr<size_t> MatchEach(uint64_t begin, size_t count, uint8_t* bits) {
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

  // Returns where MatchAll puts the matches: `bits`, or matches_ for Apply.
  template <typename Rows>
  uint8_t* Place(const Rows& rows, uint8_t* bits, bool decodes) {
    if (decodes && rows.validity == nullptr && !negated_) return bits;
    if (decodes) std::memset(bits, 0xff, (rows.size() + 7) / 8);
    return matches_;
  }

  // Sets `matches` for values. The bit of a null is unspecified.
  void Compare(encodings::ValueSpan values, uint8_t* matches) const {
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

  // Clears the bits of rows that do not match, by matches_ for values and by `validity` for nulls.
  void Apply(const uint8_t* validity, size_t count, uint8_t* bits) const {
    const bool nulls = judge_.matcher().form() == Form::kNull;
    ApplyTo(matches_, validity, negated_ ? 0xff : 0, nulls ? 0xff : 0, (count + 7) / 8, bits);
  }
  // __restrict lets the compiler use vector instructions.
  static void ApplyTo(const uint8_t* __restrict matches, const uint8_t* __restrict validity,
                      uint8_t flip, uint8_t nulls, size_t bytes, uint8_t* __restrict bits) {
    if (validity == nullptr) {
      for (size_t i = 0; i < bytes; ++i) bits[i] &= static_cast<uint8_t>(matches[i] ^ flip);
      return;
    }
    for (size_t i = 0; i < bytes; ++i) {
      bits[i] &= static_cast<uint8_t>(((matches[i] ^ flip) & validity[i]) | (nulls & ~validity[i]));
    }
  }

  PredicateJudge judge_;
  const bool negated_;
  encodings::Lane lane_ = encodings::Lane::k1;
  std::shared_ptr<FileReader> file_;
  std::shared_ptr<ConditionRows> rows_;
  CodeMatcher codes_;
  std::vector<uint32_t> taken_;  // used by MatchEach
  uint8_t matches_[kMaxRows / 8];
};

}  // namespace cfile::internal
