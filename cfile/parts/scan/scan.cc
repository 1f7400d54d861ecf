#include "cfile/scan.h"

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/core/read/block_walk.h"
#include "cfile/core/read/file_cursor.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/scan/code_matcher.h"
#include "cfile/parts/scan/predicate_judge.h"
#include "cfile/parts/scan/value_scan.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/match_range.h"

namespace cfile {
namespace {

using encodings::DataLoss;
using internal::Verdict;

// The number of rows that are compared at a time: few enough that bitmaps, ordinals and values stay
// in the cache.
constexpr size_t kBatchRows = 4096;

}  // namespace

namespace internal {

namespace {

class BlockScan final : public ValueScan, BlockWalk {
  using Form = ValueMatcher::Form;

 public:
  BlockScan(std::shared_ptr<FileReader> file, std::shared_ptr<const ValueMatcher> matcher,
            BlockDecoding decoding)
      : BlockWalk(file, block_),
        block_(file->info().type, std::move(decoding)),
        judge_(std::move(matcher)) {
    fetcher_.Expect(BlockPlan::kInOrder, [this](const LoadedNode& leaf, uint32_t entry) {
      if (!positional_) return true;
      const uint64_t first = leaf.ordinal(entry);
      return first < end_ && judge_.Judge(first).verdict != Verdict::kNone;
    });
  }

  // Finds the range of rows to scan.
  absl::Status Begin(const OrdinalRange& range) {
    end_ = std::min(range.end, file_->info().num_rows);
    begin_ = std::min(range.begin, end_);
    CFILE_RETURN_IF_ERROR(judge_.Open(file_));
    const JudgedRows& whole = judge_.whole();
    if (whole.verdict == Verdict::kNone) {
      uint64_t& skipped = whole.by == JudgedBy::kBloomFilter
                              ? counters_.blocks_skipped_by_bloom_filter
                              : counters_.blocks_skipped_by_statistics;
      skipped += judge_.CountBlocks({begin_, end_});
      end_ = begin_;
    } else if (form() == Form::kRange || form() == Form::kList) {
      if (const auto& found = judge_.found()) {
        const uint64_t before = judge_.CountBlocks({begin_, end_});
        begin_ = std::clamp(found->begin, begin_, end_);
        end_ = std::clamp(found->end, begin_, end_);
        counters_.blocks_skipped_by_value_index += before - judge_.CountBlocks({begin_, end_});
      }
      all_match_ = form() == Form::kRange && file_->info().value_index_root.has_value();
    }
    return begin_ == end_ ? absl::OkStatus() : GoToFirstBlock();
  }

  absl::StatusOr<AnyScanBatch> Next() override {
    CFILE_RETURN_IF_ERROR(failed_);
    while (true) {
      if (!in_block_) {
        CFILE_ASSIGN_OR_RETURN(const bool more, NextBlock());
        if (!more) return AnyScanBatch{};
      }
      auto batch = MatchRows();
      if (!batch.ok()) {
        failed_ = InThisBlock(batch.status());
        return failed_;
      }
      counters_.matches += batch->ordinals.size();
      if (!batch->ordinals.empty()) return batch;
    }
  }

  const ScanCounters& counters() const override { return counters_; }
  const std::shared_ptr<FileReader>& file() const override { return file_; }
  bool finds_nulls() const override { return form() == Form::kNull; }

 private:
  Form form() const { return judge_.matcher().form(); }

  absl::Status GoToFirstBlock() {
    positional_ = file_->info().positional_index_root.has_value();
    path_ = IndexWalk(file_.get(), positional_ ? IndexKind::kPositional : IndexKind::kValue);
    if (positional_) {
      CFILE_RETURN_IF_ERROR(path_.SeekToOrdinal(begin_));
    } else {
      // A value index cannot find begin_. If all rows to scan match, begin at the block of the
      // least matching value, which is not after begin_; otherwise at the first block.
      std::string key;
      if (all_match_) {
        AppendKey(KeyRef{judge_.matcher().low(), file_->info().type.physical()}, key);
      }
      CFILE_RETURN_IF_ERROR(path_.SeekToKey(key));
    }
    return CheckFound(path_);
  }

  // Opens the next block that must be read. Returns false if there is none. After an error the next
  // call tries the same block again.
  absl::StatusOr<bool> NextBlock() {
    while (expected_.value_or(begin_) < end_) {
      if (passed_) CFILE_RETURN_IF_ERROR(GoToNext(path_, *expected_));
      passed_ = false;
      pointer_ = path_.pointer();
      Verdict verdict = Verdict::kSome;
      CFILE_RETURN_IF_ERROR(EnterBlock(verdict));
      passed_ = true;
      if (verdict == Verdict::kNone) {
        ++counters_.blocks_skipped_by_statistics;
        continue;
      }
      // Without a positional index, all rows of the block may be before the range: skip the block.
      if (*expected_ <= begin_) continue;
      ++counters_.blocks_read;
      block_matches_ = all_match_ || verdict == Verdict::kAll;
      counters_.blocks_all_match += block_matches_;
      by_codes_ =
          !block_matches_ && judge_.matcher().comparing() && !block_.DictionaryValues().empty();
      if (by_codes_) {
        ++counters_.blocks_by_codes;
        codes_.SetDictionary(judge_.matcher(), block_.DictionaryValues());
        if (codes_.verdict() == Verdict::kNone) continue;
      }
      in_block_ = true;
      return true;
    }
    if (expected_ == num_rows()) CFILE_RETURN_IF_ERROR(CheckLast(path_));
    return false;
  }

  // Examines the block at path_: sets `verdict` by the block's statistics, and opens the block
  // unless the verdict is kNone.
  absl::Status EnterBlock(Verdict& verdict) {
    if (positional_) {
      const uint64_t first = path_.leaf().ordinal(path_.entry());
      CFILE_RETURN_IF_ERROR(InThisBlock(CheckOrdinal(first)));
      const auto statistics = judge_.StatisticsOf(first);
      CFILE_RETURN_IF_ERROR(InThisBlock(statistics.status()));
      if (*statistics != nullptr) verdict = judge_.matcher().Judge(**statistics);
      if (verdict == Verdict::kNone) {
        expected_ = first + (*statistics)->num_entries();
        return absl::OkStatus();
      }
    }
    CFILE_RETURN_IF_ERROR(OpenBlock(path_, BlockAccess::kScan));
    return InThisBlock(CheckBlock());
  }

  // Checks that the block that begins at `first` follows the previous block without a gap.
  absl::Status CheckOrdinal(uint64_t first) const {
    if (!expected_ && first <= begin_) return absl::OkStatus();
    return CheckFirstOrdinal(expected_.value_or(begin_), first);
  }

  // Checks the open block, and goes to its first row in the range.
  absl::Status CheckBlock() {
    if (positional_) {
      CFILE_RETURN_IF_ERROR(
          judge_.CheckBlock(first_ordinal_, block_.num_rows(), block_.num_present()));
    } else {
      CFILE_RETURN_IF_ERROR(CheckOrdinal(first_ordinal_));
    }
    const uint64_t end = first_ordinal_ + block_.num_rows();
    if (begin_ > first_ordinal_ && begin_ < end)
      CFILE_RETURN_IF_ERROR(block_.SeekToRow(static_cast<uint32_t>(begin_ - first_ordinal_)));
    expected_ = end;
    return absl::OkStatus();
  }

  // Returns the matching rows among the next rows of the block; possibly none.
  absl::StatusOr<AnyScanBatch> MatchRows() {
    const uint64_t ordinal = first_ordinal_ + block_.row();
    const uint64_t left =
        std::min<uint64_t>(end_ - std::min(ordinal, end_), block_.num_rows() - block_.row());
    if (left == 0) {
      in_block_ = false;
      return AnyScanBatch{};
    }
    const size_t max_rows = std::min<uint64_t>(left, kBatchRows);
    if (by_codes_) return MatchCodes(ordinal, max_rows);
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, block_.Next(max_rows));
    const size_t count = batch.size();
    if (block_matches_) {
      if (all_match_ && batch.null_count > 0)
        return DataLoss("a block of a column with a value index has nulls");
      for (size_t i = 0; i < count; ++i) ordinals_[i] = ordinal + i;
      return AnyScanBatch{{ordinals_, count}, batch.values};
    }
    if (judge_.matcher().comparing()) {
      judge_.matcher().Match({batch.values, count}, bits_);
      MaskNulls(batch.validity, count);
    } else {
      const bool null = form() == Form::kNull;
      for (size_t i = 0; i < (count + 7) / 8; ++i) {
        const uint8_t valid = batch.validity == nullptr ? 0xff : batch.validity[i];
        bits_[i] = null ? static_cast<uint8_t>(~valid) : valid;
      }
      if (count % 8 != 0) bits_[count / 8] &= static_cast<uint8_t>((1u << count % 8) - 1);
    }
    const size_t matches = encodings::PositionsOfOnes(bits_, count, ordinal, ordinals_);
    if (matches == count) return AnyScanBatch{{ordinals_, count}, batch.values};
    void* const values = Values();
    if (matches > 0) encodings::PackValues(block_.lane(), batch.values, bits_, 0, count, values);
    return AnyScanBatch{{ordinals_, matches}, values};
  }

  absl::StatusOr<AnyScanBatch> MatchCodes(uint64_t ordinal, size_t max_rows) {
    CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, block_.NextCodes(max_rows));
    const size_t count = batch.size();
    codes_.Match(batch.values, bits_);
    MaskNulls(batch.validity, count);
    const size_t matches = encodings::PositionsOfOnes(bits_, count, ordinal, ordinals_);
    const auto* const dictionary = static_cast<const uint8_t*>(block_.DictionaryValues().data);
    auto* const values = static_cast<uint8_t*>(Values());
    encodings::VisitWidth(block_.lane(), [&](auto width) {
      for (size_t i = 0; i < matches; ++i) {
        const uint32_t code = batch.values[static_cast<size_t>(ordinals_[i] - ordinal)];
        std::memcpy(values + i * width, dictionary + code * width, width);
      }
    });
    return AnyScanBatch{{ordinals_, matches}, values};
  }

  void MaskNulls(const uint8_t* validity, size_t count) {
    if (validity == nullptr) return;
    for (size_t i = 0; i < (count + 7) / 8; ++i) bits_[i] &= validity[i];
  }

  // Room for kBatchRows values.
  void* Values() { return values_.Reserve(kBatchRows, encodings::WidthOf(block_.lane())); }

  BlockCursor block_;
  PredicateJudge judge_;
  uint64_t begin_ = 0;  // the rows to scan: begin_ to end_ - 1
  uint64_t end_ = 0;
  bool all_match_ = false;  // all rows to scan match
  ScanCounters counters_;

  IndexWalk path_;
  bool positional_ = true;            // path_ is in the positional index
  bool passed_ = false;               // the block at path_ was opened or skipped
  std::optional<uint64_t> expected_;  // the first row of the next block
  bool in_block_ = false;
  absl::Status failed_;         // damage in the current block; each call returns it
  bool block_matches_ = false;  // all rows of the current block match
  bool by_codes_ = false;
  CodeMatcher codes_;

  uint8_t bits_[kBatchRows / 8];
  uint64_t ordinals_[kBatchRows];
  RawBuffer values_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ValueScan>> NewValueScan(const std::shared_ptr<FileReader>& file,
                                                        std::shared_ptr<const ValueMatcher> matcher,
                                                        const OrdinalRange& range,
                                                        encodings::DecoderMaker* make_decoder) {
  if (file->info().has_levels()) {
    return absl::FailedPreconditionError(
        absl::StrCat(file->source().name(),
                     ": the rows of this file are records with any number of values, which a scan "
                     "does not read"));
  }
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file, make_decoder));
  auto scan = std::make_unique<BlockScan>(file, std::move(matcher), std::move(decoding));
  CFILE_RETURN_IF_ERROR(scan->Begin(range));
  return scan;
}

const std::shared_ptr<FileReader>& ReaderAccess::FileOf(const ValueScan& scan) {
  return scan.file();
}
bool ReaderAccess::FindsNulls(const ValueScan& scan) { return scan.finds_nulls(); }

}  // namespace internal

template <typename T>
Scan<T>::Scan(std::unique_ptr<internal::ValueScan> scan) : impl_(std::move(scan)) {}
template <typename T>
Scan<T>::Scan(Scan&&) noexcept = default;
template <typename T>
Scan<T>& Scan<T>::operator=(Scan&&) noexcept = default;
template <typename T>
Scan<T>::~Scan() = default;

template <typename T>
absl::StatusOr<Scan<T>> Reader::NewScan(const Predicate<T>& predicate,
                                        const OrdinalRange& range) const {
  using Kind = typename Predicate<T>::Kind;
  const Kind kind = predicate.kind();
  if (std::is_same_v<T, Int96> && kind != Kind::kEqual && kind != Kind::kNotEqual &&
      kind != Kind::kIn && kind != Kind::kIsNull && kind != Kind::kIsNotNull) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_->source().name(),
                     ": int96 has no order, so its values can only be compared for equality"));
  }
  CFILE_ASSIGN_OR_RETURN(
      auto scan,
      internal::NewValueScan(file_, std::make_shared<internal::PredicateMatcher<T>>(predicate),
                             range, internal::DecoderMakerFor<T>(*file_)));
  return Scan<T>(std::move(scan));
}

template <typename T>
absl::StatusOr<ScanBatch<T>> Scan<T>::Next() {
  CFILE_ASSIGN_OR_RETURN(const internal::AnyScanBatch batch, impl_->Next());
  return ScanBatch<T>{batch.ordinals, {static_cast<const T*>(batch.values), batch.ordinals.size()}};
}

template <typename T>
const ScanCounters& Scan<T>::counters() const {
  return impl_->counters();
}

#define CFILE_INSTANTIATE(T)                                                                    \
  template class Scan<T>;                                                                       \
  template absl::StatusOr<Scan<T>> Reader::NewScan<T>(const Predicate<T>&, const OrdinalRange&) \
      const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
