#include "cfile/parts/scan/condition_rows.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "cfile/core/format/data_block.h"
#include "cfile/core/format/key_codec.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {

ConditionRows::ConditionRows(const std::shared_ptr<FileReader>& file, ShapedBlock block)
    : FileCursor(file, block.rows()), block_(std::move(block)) {
  fetcher_.Expect(BlockPlan::kMaybeSome, [this](const LoadedNode& leaf, uint32_t entry) {
    if (!by_ordinal()) return expected_.end > 0;
    return HasRowOf(expected_, leaf, entry) &&
           std::any_of(judges_.begin(), judges_.end(), [&](const PredicateJudge* judge) {
             return Reads(judge->Judge(leaf.ordinal(entry)).verdict);
           });
  });
}

void ConditionRows::Expect(const OrdinalRange& rows, bool backward, bool all) {
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

absl::StatusOr<bool> ConditionRows::Enter(uint64_t row) {
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

absl::Status ConditionRows::EnterByKey(uint64_t row) {
  const FileInfo& info = file_->info();
  if (loaded_ || info.positional_index_root || resume_ != Resume::kBySeek) return absl::OkStatus();
  const PredicateJudge* last = nullptr;
  for (const PredicateJudge* judge : judges_) {
    if (!judge->found() || judge->found()->begin > row) continue;
    if (last == nullptr || judge->found()->begin > last->found()->begin) last = judge;
  }
  if (last == nullptr) return absl::OkStatus();
  std::string key;
  AppendKey(KeyRef{last->matcher().low(), info.type.physical()}, key);
  path_ = &paths_[1];
  CFILE_RETURN_IF_ERROR(path_->SeekToKey(key));
  CFILE_RETURN_IF_ERROR(CheckFound(*path_));
  return LoadBlock(BlockAccess::kScan);
}

absl::Status ConditionRows::CheckSkipped(uint64_t row) {
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

absl::StatusOr<Batch<uint32_t>> ConditionRows::Codes(uint64_t begin, size_t count) {
  const auto next = [&]() -> absl::StatusOr<AnyBatch> {
    CFILE_ASSIGN_OR_RETURN(const Batch<uint32_t> codes, block_.flat->NextCodes(count));
    return AnyBatch::Of(codes);
  };
  CFILE_ASSIGN_OR_RETURN(const AnyBatch codes, Decode(begin, count, codes_, next));
  return codes.As<uint32_t>();
}

absl::StatusOr<AnyBatch> ConditionRows::Values(uint64_t begin, size_t count) {
  return Decode(begin, count, batch_, [&] { return NextRows(count); });
}

absl::StatusOr<bool> ConditionRows::Compare(uint64_t begin, size_t count,
                                            const ValueMatcher& matcher, uint8_t* bits,
                                            const uint8_t*& validity) {
  if (block_.flat == nullptr || !compares_) return false;
  decoded_ = OrdinalRange{};
  CFILE_RETURN_IF_ERROR(row_block_.SeekToRow(static_cast<uint32_t>(begin - first_ordinal_)));
  const auto match = [&](encodings::AnyBlockDecoder& decoder, size_t present, uint8_t* matches) {
    return matcher.MatchEncoded(decoder, present, matches);
  };
  CFILE_ASSIGN_OR_RETURN(compares_, block_.flat->NextMatches(match, count, bits, validity));
  return compares_;
}

absl::Status ConditionRows::Take(std::span<const uint32_t> rows,
                                 absl::FunctionRef<void(size_t i, const AnyBatch& batch)> put) {
  decoded_ = OrdinalRange{};
  return block_.flat->Take(rows, put);
}

absl::StatusOr<AnyBatch> ConditionRows::NextRows(size_t count) {
  if (block_.flat != nullptr) return block_.flat->Next(count);
  CFILE_ASSIGN_OR_RETURN(const AnyLevelBatch batch, block_.levels->Next(count));
  if (batch.num_entries != batch.num_records) return DataLoss("a record has several entries");
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

absl::StatusOr<AnyBatch> ConditionRows::Decode(uint64_t begin, size_t count, AnyBatch& batch,
                                               absl::FunctionRef<absl::StatusOr<AnyBatch>()> next) {
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

absl::StatusOr<std::shared_ptr<ConditionRows>> OpenRows(
    const std::shared_ptr<FileReader>& file, std::span<const std::unique_ptr<RowFilter>> others,
    PredicateJudge& judge, bool may_lack, encodings::DecoderMaker* make_decoder) {
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file, make_decoder));
  CFILE_RETURN_IF_ERROR(judge.Open(file));
  if (may_lack && judge.whole().verdict == Verdict::kNone) return nullptr;
  std::shared_ptr<ConditionRows> rows;
  for (const auto& other : others) {
    if (rows == nullptr && other != nullptr)
      rows = std::static_pointer_cast<ConditionRows>(other->RowsOf(file.get()));
  }
  if (rows == nullptr) rows = std::make_shared<ConditionRows>(file, std::move(decoding));
  return rows;
}

}  // namespace cfile::internal
