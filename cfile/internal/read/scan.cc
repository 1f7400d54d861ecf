#include "cfile/scan.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/key_codec.h"
#include "cfile/internal/read/block_cursor.h"
#include "cfile/internal/read/block_walk.h"
#include "cfile/internal/read/code_matcher.h"
#include "cfile/internal/read/file_cursor.h"
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/index_walk.h"
#include "cfile/internal/read/predicate_matcher.h"
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

template <typename T>
class Scan<T>::Impl : internal::BlockWalk<internal::BlockCursor<T>> {
  using Walk = internal::BlockWalk<internal::BlockCursor<T>>;
  using Walk::block_;
  using Walk::file_;
  using Walk::first_ordinal_;
  using Walk::name;
  using Walk::num_rows;
  using Walk::pointer_;
  using Matcher = internal::PredicateMatcher<T>;
  using Form = typename Matcher::Form;

 public:
  Impl(std::shared_ptr<internal::FileReader> file, const Predicate<T>& predicate,
       std::shared_ptr<const encodings::Dictionary> dictionary)
      : Walk(file, internal::BlockCursor<T>(file->info().type, std::move(dictionary))),
        matcher_(predicate) {}

  // Finds the range of rows to scan. `reader` reads the same file.
  absl::Status Begin(const Reader& reader, const OrdinalRange& range) {
    const FileInfo& info = file_->info();
    end_ = std::min(range.end, info.num_rows);
    begin_ = std::min(range.begin, end_);
    CFILE_ASSIGN_OR_RETURN(statistics_, file_->Statistics());
    if (statistics_ != nullptr) IndexBlocks();
    if (begin_ == end_) return absl::OkStatus();
    if (Judge() == Verdict::kNone) {
      counters_.blocks_skipped_by_statistics += CountBlocks(begin_, end_);
      end_ = begin_;
    } else if (statistics_ != nullptr && !matcher_.PassesBloomFilter(*statistics_)) {
      counters_.blocks_skipped_by_bloom_filter += CountBlocks(begin_, end_);
      end_ = begin_;
    } else if (info.value_index_root &&
               (matcher_.form() == Form::kRange || matcher_.form() == Form::kList)) {
      CFILE_RETURN_IF_ERROR(Narrow(reader));
    }
    if (begin_ == end_) return absl::OkStatus();
    return GoToFirstBlock();
  }

  absl::StatusOr<ScanBatch<T>> Next() {
    CFILE_RETURN_IF_ERROR(failed_);
    while (true) {
      if (!in_block_) {
        CFILE_ASSIGN_OR_RETURN(const bool more, NextBlock());
        if (!more) return ScanBatch<T>{};
      }
      auto batch = MatchRows();
      if (!batch.ok()) {
        failed_ = this->InThisBlock(batch.status());
        return failed_;
      }
      counters_.matches += batch->size();
      if (!batch->empty()) return batch;
    }
  }

  const ScanCounters& counters() const { return counters_; }

 private:
  // Computes the first row of each block from the counts in the statistics.
  void IndexBlocks() {
    uint64_t begin = 0;
    for (const BlockStatistics& block : statistics_->blocks) {
      block_begins_.push_back(begin);
      begin += block.num_entries();
    }
  }

  // The verdict for the whole file.
  Verdict Judge() const {
    const Form form = matcher_.form();
    if (form == Form::kNothing || (form == Form::kNull && !file_->info().nullable))
      return Verdict::kNone;
    return statistics_ == nullptr ? Verdict::kSome : matcher_.Judge(statistics_->file);
  }

  // The number of the block with row `ordinal`. Precondition: there are per-block statistics.
  size_t BlockOf(uint64_t ordinal) const {
    return static_cast<size_t>(
        std::upper_bound(block_begins_.begin(), block_begins_.end(), ordinal) -
        block_begins_.begin() - 1);
  }

  // The number of blocks with rows in [begin, end); 0 without per-block statistics.
  uint64_t CountBlocks(uint64_t begin, uint64_t end) const {
    if (block_begins_.empty() || begin == end) return 0;
    return BlockOf(end - 1) - BlockOf(begin) + 1;
  }

  // Narrows [begin_, end_) by the value index: the values of a predicate's range are consecutive in
  // a sorted column.
  absl::Status Narrow(const Reader& reader) {
    CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, reader.template NewCursor<T>());
    CFILE_ASSIGN_OR_RETURN(const KeyPosition low, cursor.SeekToKey(matcher_.low()));
    uint64_t end = num_rows();
    if (const auto behind = matcher_.end()) {
      CFILE_ASSIGN_OR_RETURN(const KeyPosition high, cursor.SeekToKey(T(*behind)));
      end = high.ordinal;
    }
    const uint64_t before = CountBlocks(begin_, end_);
    begin_ = std::clamp(low.ordinal, begin_, end_);
    end_ = std::clamp(end, begin_, end_);
    counters_.blocks_skipped_by_value_index += before - CountBlocks(begin_, end_);
    all_match_ = matcher_.form() == Form::kRange;
    return absl::OkStatus();
  }

  absl::Status GoToFirstBlock() {
    positional_ = file_->info().positional_index_root.has_value();
    path_ =
        internal::IndexWalk(file_.get(), positional_ ? IndexKind::kPositional : IndexKind::kValue);
    if (positional_) {
      CFILE_RETURN_IF_ERROR(path_.SeekToOrdinal(begin_));
    } else {
      // A value index cannot find begin_. If all rows to scan match, begin at the block of the
      // least matching value, which is not after begin_; otherwise at the first block.
      std::string key;
      if (all_match_) internal::AppendKey<T>(matcher_.low(), key);
      CFILE_RETURN_IF_ERROR(path_.SeekToKey(key));
    }
    return this->CheckFound(path_);
  }

  // Opens the next block that must be read. Returns false if there is none. After an error the next
  // call tries the same block again.
  absl::StatusOr<bool> NextBlock() {
    while (expected_.value_or(begin_) < end_) {
      if (passed_) CFILE_RETURN_IF_ERROR(this->GoToNext(path_, *expected_));
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
      by_codes_ = !block_matches_ && comparing() && !block_.DictionaryValues().empty();
      if (by_codes_) {
        ++counters_.blocks_by_codes;
        codes_.SetDictionary(matcher_, block_.DictionaryValues());
        if (codes_.verdict() == Verdict::kNone) continue;
      }
      in_block_ = true;
      return true;
    }
    if (expected_ == num_rows()) CFILE_RETURN_IF_ERROR(this->CheckLast(path_));
    return false;
  }

  // Examines the block at path_: sets `verdict` by the block's statistics, and opens the block
  // unless the verdict is kNone.
  absl::Status EnterBlock(Verdict& verdict) {
    std::optional<uint64_t> first;
    const BlockStatistics* statistics = nullptr;
    if (positional_) {
      first = path_.leaf().ordinal(path_.entry());
      absl::Status status = CheckOrdinal(*first);
      if (status.ok()) status = FindStatistics(*first, statistics);
      CFILE_RETURN_IF_ERROR(this->InThisBlock(status));
      if (statistics != nullptr) verdict = matcher_.Judge(*statistics);
      if (verdict == Verdict::kNone) {
        expected_ = *first + statistics->num_entries();
        return absl::OkStatus();
      }
    }
    CFILE_RETURN_IF_ERROR(this->OpenBlock(path_, internal::BlockAccess::kScan));
    return this->InThisBlock(CheckBlock(statistics));
  }

  // True if values must be compared.
  bool comparing() const {
    return matcher_.form() != Form::kNull && matcher_.form() != Form::kNotNull;
  }

  // Checks that the block that begins at `first` follows the previous block without a gap.
  absl::Status CheckOrdinal(uint64_t first) const {
    if (!expected_ && first <= begin_) return absl::OkStatus();
    return internal::CheckFirstOrdinal(expected_.value_or(begin_), first);
  }

  // Finds the statistics of the block that begins with row `first`. Leaves `found` null if the file
  // has no per-block statistics.
  absl::Status FindStatistics(uint64_t first, const BlockStatistics*& found) const {
    if (block_begins_.empty()) return absl::OkStatus();
    const size_t index = BlockOf(first);
    if (block_begins_[index] != first) {
      return DataLoss("the positional index has a block that begins at ordinal ", first,
                      ", the statistics have none");
    }
    found = &statistics_->blocks[index];
    return absl::OkStatus();
  }

  // Checks the open block, and goes to its first row in the range.
  absl::Status CheckBlock(const BlockStatistics* statistics) {
    if (statistics != nullptr && (block_.num_rows() != statistics->num_entries() ||
                                  block_.num_present() != statistics->present_count)) {
      return DataLoss("the block has ", block_.num_rows(), " rows and ", block_.num_present(),
                      " present values, its statistics say ", statistics->num_entries(), " and ",
                      statistics->present_count);
    }
    if (!positional_) CFILE_RETURN_IF_ERROR(CheckOrdinal(first_ordinal_));
    const uint64_t end = first_ordinal_ + block_.num_rows();
    if (begin_ > first_ordinal_ && begin_ < end)
      CFILE_RETURN_IF_ERROR(block_.SeekToRow(static_cast<uint32_t>(begin_ - first_ordinal_)));
    expected_ = end;
    return absl::OkStatus();
  }

  // Returns the matching rows among the next rows of the block; possibly none.
  absl::StatusOr<ScanBatch<T>> MatchRows() {
    const uint64_t ordinal = first_ordinal_ + block_.row();
    const uint64_t left =
        std::min<uint64_t>(end_ - std::min(ordinal, end_), block_.num_rows() - block_.row());
    if (left == 0) {
      in_block_ = false;
      return ScanBatch<T>{};
    }
    const size_t max_rows = std::min<uint64_t>(left, kBatchRows);
    if (by_codes_) return MatchCodes(ordinal, max_rows);
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, block_.Next(max_rows));
    const size_t count = batch.size();
    if (block_matches_) {
      if (all_match_ && batch.null_count > 0)
        return DataLoss("a block of a column with a value index has nulls");
      for (size_t i = 0; i < count; ++i) ordinals_[i] = ordinal + i;
      return ScanBatch<T>{{ordinals_, count}, batch.values};
    }
    if (comparing()) {
      matcher_.Match(batch.values, bits_);
      MaskNulls(batch.validity, count);
    } else {
      const bool null = matcher_.form() == Form::kNull;
      for (size_t i = 0; i < (count + 7) / 8; ++i) {
        const uint8_t valid = batch.validity == nullptr ? 0xff : batch.validity[i];
        bits_[i] = null ? static_cast<uint8_t>(~valid) : valid;
      }
      if (count % 8 != 0) bits_[count / 8] &= static_cast<uint8_t>((1u << count % 8) - 1);
    }
    const size_t matches = encodings::PositionsOfOnes(bits_, count, ordinal, ordinals_);
    if (matches == count) return ScanBatch<T>{{ordinals_, count}, batch.values};
    if (matches > 0) encodings::PackValues(batch.values.data(), bits_, 0, count, Values());
    return ScanBatch<T>{{ordinals_, matches}, {values_.get(), matches}};
  }

  absl::StatusOr<ScanBatch<T>> MatchCodes(uint64_t ordinal, size_t max_rows) {
    CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> batch, block_.NextCodes(max_rows));
    const size_t count = batch.size();
    codes_.Match(batch.values, bits_);
    MaskNulls(batch.validity, count);
    const size_t matches = encodings::PositionsOfOnes(bits_, count, ordinal, ordinals_);
    const std::span<const T> dictionary = block_.DictionaryValues();
    T* const values = Values();
    for (size_t i = 0; i < matches; ++i)
      values[i] = dictionary[batch.values[static_cast<size_t>(ordinals_[i] - ordinal)]];
    return ScanBatch<T>{{ordinals_, matches}, {values, matches}};
  }

  void MaskNulls(const uint8_t* validity, size_t count) {
    if (validity == nullptr) return;
    for (size_t i = 0; i < (count + 7) / 8; ++i) bits_[i] &= validity[i];
  }

  T* Values() {
    if (values_ == nullptr) values_ = std::make_unique_for_overwrite<T[]>(kBatchRows);
    return values_.get();
  }

  const Matcher matcher_;
  std::shared_ptr<const FileStatistics> statistics_;
  std::vector<uint64_t> block_begins_;  // first row of each block, by the statistics
  uint64_t begin_ = 0;                  // the rows to scan: begin_ to end_ - 1
  uint64_t end_ = 0;
  bool all_match_ = false;  // all rows to scan match
  ScanCounters counters_;

  internal::IndexWalk path_;
  bool positional_ = true;            // path_ is in the positional index
  bool passed_ = false;               // the block at path_ was opened or skipped
  std::optional<uint64_t> expected_;  // the first row of the next block
  bool in_block_ = false;
  absl::Status failed_;         // damage in the current block; each call returns it
  bool block_matches_ = false;  // all rows of the current block match
  bool by_codes_ = false;
  internal::CodeMatcher<T> codes_;

  uint8_t bits_[kBatchRows / 8];
  uint64_t ordinals_[kBatchRows];
  std::unique_ptr<T[]> values_;  // kBatchRows values
};

template <typename T>
Scan<T>::Scan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
Scan<T>::Scan(Scan&&) noexcept = default;
template <typename T>
Scan<T>& Scan<T>::operator=(Scan&&) noexcept = default;
template <typename T>
Scan<T>::~Scan() = default;

template <typename T>
absl::StatusOr<Scan<T>> Reader::NewScan(const Predicate<T>& predicate,
                                        const OrdinalRange& range) const {
  if (info().has_levels()) {
    return absl::FailedPreconditionError(
        absl::StrCat(file_->source().name(),
                     ": the rows of this file are records with any number of values, which a scan "
                     "does not read"));
  }
  using Kind = typename Predicate<T>::Kind;
  const Kind kind = predicate.kind();
  if (std::is_same_v<T, Int96> && kind != Kind::kEqual && kind != Kind::kNotEqual &&
      kind != Kind::kIn && kind != Kind::kIsNull && kind != Kind::kIsNotNull) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_->source().name(),
                     ": int96 has no order, so its values can only be compared for equality"));
  }
  CFILE_ASSIGN_OR_RETURN(auto dictionary, internal::PrepareToRead<T>(*file_));
  auto impl = std::make_unique<typename Scan<T>::Impl>(file_, predicate, std::move(dictionary));
  CFILE_RETURN_IF_ERROR(impl->Begin(*this, range));
  return Scan<T>(std::move(impl));
}

template <typename T>
absl::StatusOr<ScanBatch<T>> Scan<T>::Next() {
  return impl_->Next();
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
