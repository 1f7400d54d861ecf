#include "cfile/parts/scan/value_scan.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/scan.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"
#include "encodings/kernels/match_range.h"

namespace cfile {
namespace internal {

absl::Status ValueScan::Begin(const std::shared_ptr<FileReader>& file, const OrdinalRange& range,
                              encodings::DecoderMaker* make_decoder) {
  CFILE_RETURN_IF_ERROR(filter_.Open(file, {}, make_decoder));
  const PredicateJudge& judge = filter_.judge();
  const uint64_t end = std::min(range.end, file->info().num_rows);
  const uint64_t begin = std::min(range.begin, end);
  const uint64_t blocks = judge.CountBlocks({begin, end});
  if (judge.whole().verdict == Verdict::kNone) {
    (judge.whole().by == JudgedBy::kBloomFilter ? counters_.blocks_skipped_by_bloom_filter
                                                : counters_.blocks_skipped_by_statistics) = blocks;
    return absl::OkStatus();
  }
  left_ = {begin, end};
  if (const auto& found = judge.found()) {
    left_ = {std::clamp(found->begin, begin, end), std::clamp(found->end, begin, end)};
    counters_.blocks_skipped_by_value_index = blocks - judge.CountBlocks(left_);
  }
  filter_.rows()->Expect(left_, /*backward=*/false, /*all=*/true);
  return absl::OkStatus();
}

absl::StatusOr<AnyScanBatch> ValueScan::Next() {
  if (filter_.rows() == nullptr) return AnyScanBatch();
  ConditionRows& rows = *filter_.rows();
  while (left_.size() > 0) {
    if (left_.begin >= judged_.rows.end) judged_ = filter_.judge().Judge(left_.begin);
    if (judged_.verdict == Verdict::kNone) {
      CFILE_RETURN_IF_ERROR(rows.CheckSkipped(left_.begin));
      ++counters_.blocks_skipped_by_statistics;
      left_.begin = std::min(judged_.rows.end, left_.end);
      continue;
    }
    CFILE_RETURN_IF_ERROR(rows.Enter(left_.begin).status());
    const ValueMatcher& matcher = filter_.judge().matcher();
    const bool all_match = judged_.verdict == Verdict::kAll;
    const bool by_codes = !all_match && matcher.comparing() && !rows.DictionaryValues().empty();
    const bool is_new = left_.begin >= counted_end_;
    counted_end_ = rows.end();
    counters_.blocks_read += is_new;
    counters_.blocks_all_match += is_new && all_match;
    counters_.blocks_by_codes += is_new && by_codes;
    auto batch = MatchRows(std::min({rows.end(), left_.end, judged_.rows.end}) - left_.begin,
                           all_match, by_codes);
    if (!batch.ok()) return rows.Failed(batch.status());
    counters_.matches += batch->ordinals.size();
    if (!batch->ordinals.empty()) return batch;
  }
  CFILE_RETURN_IF_ERROR(rows.CheckLastBlock());
  return AnyScanBatch();
}

absl::StatusOr<AnyScanBatch> ValueScan::MatchRows(size_t count, bool all_match, bool by_codes) {
  ConditionRows& rows = *filter_.rows();
  const uint64_t first = left_.begin;
  count = std::min(count, RowFilter::kMaxRows);
  if (all_match) {
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch, rows.Values(first, count));
    if (filter_.judge().matcher().comparing() && batch.null_count > 0)
      return DataLoss("a block has nulls, but all its rows should match a value");
    std::iota(ordinals_, ordinals_ + batch.size(), first);
    left_.begin += batch.size();
    return AnyScanBatch{{ordinals_, batch.size()}, batch.values};
  }
  CFILE_ASSIGN_OR_RETURN(count, filter_.MatchAll(first, count, bits_, /*decodes=*/true));
  if (count % 8 != 0) bits_[count / 8] &= static_cast<uint8_t>((1u << count % 8) - 1);
  const size_t matches = encodings::PositionsOfOnes(bits_, count, first, ordinals_);
  left_.begin += count;
  const AnyScanBatch batch{{ordinals_, matches}};
  if (matches == 0) return batch;
  const encodings::Lane lane = encodings::LaneOf(rows.file().info().type.physical());
  const size_t width = encodings::WidthOf(lane);
  if (!by_codes) {
    CFILE_ASSIGN_OR_RETURN(const AnyBatch decoded, rows.Values(first, count));
    if (matches == count) return AnyScanBatch{batch.ordinals, decoded.values};
    void* const values = values_.Reserve(RowFilter::kMaxRows, width);
    encodings::PackValues(lane, decoded.values, bits_, 0, count, values);
    return AnyScanBatch{batch.ordinals, values};
  }
  CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, rows.Codes(first, count));
  auto* const values = static_cast<uint8_t*>(values_.Reserve(RowFilter::kMaxRows, width));
  const auto* const dictionary = static_cast<const uint8_t*>(rows.DictionaryValues().data);
  encodings::VisitWidth(lane, [&](auto bytes) {
    for (size_t i = 0; i < matches; ++i) {
      const uint32_t code = codes.values[static_cast<size_t>(ordinals_[i] - first)];
      std::memcpy(values + i * bytes, dictionary + code * bytes, bytes);
    }
  });
  return AnyScanBatch{batch.ordinals, values};
}

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
  auto scan = std::make_unique<ValueScan>(std::move(matcher));
  CFILE_RETURN_IF_ERROR(scan->Begin(file, range, make_decoder));
  return scan;
}

const std::shared_ptr<FileReader>& ReaderAccess::FileOf(const AnyScan& scan) {
  return static_cast<const ValueScan&>(scan).file();
}
bool ReaderAccess::FindsNulls(const AnyScan& scan) {
  return static_cast<const ValueScan&>(scan).finds_nulls();
}

}  // namespace internal

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
                             range, DecoderMakerOf<T>()));
  return Scan<T>(std::move(scan));
}

#define CFILE_INSTANTIATE(T)                                                                    \
  template absl::StatusOr<Scan<T>> Reader::NewScan<T>(const Predicate<T>&, const OrdinalRange&) \
      const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
