#include "cfile/core/read/level_block_cursor.h"

#include <algorithm>

#include "encodings/core/assert.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/status.h"
#include "encodings/kernels/level_kernels.h"

namespace cfile::internal {
namespace {

using encodings::CountLevels;
using encodings::kMaxBatchValues;

// The number of entries that are decoded at a time, unless a record is longer: they fit the CPU's
// cache.
constexpr size_t kWindowEntries = 8192;
// One entry more than a batch can have: it shows whether a record ends with the batch.
constexpr size_t kMaxWindowEntries = kMaxBatchValues + 1;
// The number of levels that are counted in one step.
constexpr size_t kStride = 64;

}  // namespace

void LevelWindow::Open(const LevelBlock& block, const LevelLimits& limits) {
  limits_ = limits;
  decoder_.Open(block, limits);
  num_entries_ = block.num_entries;
  decoded_ = record_ = value_ = 0;
  inside_record_ = false;
  begin_ = end_ = 0;
}

absl::Status LevelWindow::Fill() {
  const size_t kept = end_ - begin_;
  const size_t wanted = kept < kWindowEntries ? kWindowEntries : kMaxWindowEntries;
  for (std::vector<uint16_t>* levels : {&repetition_, &definition_}) {
    if ((levels == &repetition_ ? limits_.max_repetition : limits_.max_definition) == 0) continue;
    if (levels->size() < wanted) levels->resize(wanted);
    std::copy_n(levels->begin() + static_cast<ptrdiff_t>(begin_), kept, levels->begin());
  }
  begin_ = 0;
  end_ = kept;
  const size_t count = std::min<size_t>(wanted - kept, num_entries_ - decoded_);
  CFILE_RETURN_IF_ERROR(
      decoder_.Read(limits_.max_repetition > 0 ? repetition_.data() + kept : nullptr,
                    limits_.max_definition > 0 ? definition_.data() + kept : nullptr, count));
  if (limits_.max_repetition > 0 && decoded_ == 0 && count > 0 && repetition_[0] != 0) {
    return DataLoss("expected the block to begin with a record, found repetition level ",
                    repetition_[0]);
  }
  decoded_ += static_cast<uint32_t>(count);
  end_ += count;
  return absl::OkStatus();
}

size_t LevelWindow::CountValues(size_t begin, size_t end) const {
  return limits_.max_definition == 0
             ? end - begin
             : CountLevels(definition_.data() + begin, end - begin, limits_.max_definition);
}

size_t LevelWindow::LastBegin(size_t begin, size_t end) const {
  for (size_t i = end; --i > begin;) {
    if (repetition_[i] == 0) return i;
  }
  return begin;
}

size_t LevelWindow::FindEnd(size_t max_records, size_t& end) const {
  size_t records = 0;
  size_t stride = begin_;  // the last stride in which a record begins
  for (size_t i = begin_ + 1; i < end_ && records < max_records;) {
    const size_t count = std::min(kStride, end_ - i);
    const size_t begun = CountLevels(repetition_.data() + i, count, 0);
    if (begun > 0) stride = i;
    if (begun > max_records - records) {
      for (size_t left = max_records - records;; ++i) {
        if (repetition_[i] == 0 && --left == 0) break;
      }
      end = i;
      return max_records;
    }
    records += begun;
    i += count;
  }
  end = records == 0 ? begin_ : LastBegin(begin_, std::min(stride + kStride, end_));
  return records;
}

absl::StatusOr<LevelWindow::Extent> LevelWindow::Look(size_t max_records) {
  CFILE_ASSERT(max_records > 0);
  size_t cut = begin_;
  size_t records = 0;
  while (true) {
    if (begin_ == end_) {
      if (decoded_all()) return Extent{};
      CFILE_RETURN_IF_ERROR(Fill());
    }
    cut = begin_;
    if (limits_.max_repetition == 0) {
      records = std::min(max_records, end_ - begin_);
      cut += records;
      break;
    }
    records = 0;
    // Count the records in the whole window first, unless only a few of them are wanted.
    const bool counts = max_records > (end_ - begin_) / kStride;
    if (counts) records = CountLevels(repetition_.data() + begin_ + 1, end_ - begin_ - 1, 0);
    if (counts && records <= max_records) {
      if (records > 0) cut = LastBegin(begin_, end_);
    } else {
      records = FindEnd(max_records, cut);
    }
    if (records < max_records && decoded_all()) {
      ++records;
      cut = end_;
    }
    if (records > 0) break;
    if (end_ - begin_ == kMaxWindowEntries) {
      cut = end_ - 1;
      break;
    }
    CFILE_RETURN_IF_ERROR(Fill());
  }
  // The window may have one entry more than a batch can have. If the last record needs this entry,
  // leave the record for the next batch. If it is the only record, split it.
  if (cut - begin_ > kMaxBatchValues) {
    cut = LastBegin(begin_, begin_ + kMaxBatchValues + 1);
    records = cut == begin_ ? 0 : records - 1;
    if (cut == begin_) cut += kMaxBatchValues;
  }
  return Extent{cut - begin_, records, CountValues(begin_, cut)};
}

LevelWindow::Extent LevelWindow::Cut(size_t values) const {
  size_t end = begin_ + values;  // the entry of the first value that is too many
  if (limits_.max_definition > 0) {
    for (size_t i = begin_, left = values;; ++i) {
      if (definition_[i] != limits_.max_definition || left-- > 0) continue;
      end = i;
      break;
    }
  }
  if (limits_.max_repetition == 0) return {end - begin_, end - begin_, values};
  const size_t whole = LastBegin(begin_, end + 1);
  if (whole == begin_) return {end - begin_, 0, values};
  const size_t begun = CountLevels(repetition_.data() + begin_ + 1, whole - begin_, 0);
  return {whole - begin_, begun, CountValues(begin_, whole)};
}

void LevelWindow::Pass(const Extent& extent) {
  begin_ += extent.entries;
  record_ += static_cast<uint32_t>(extent.records);
  value_ += static_cast<uint32_t>(extent.values);
  if (extent.entries > 0) inside_record_ = extent.records == 0;
}

std::span<const uint16_t> LevelWindow::repetition(size_t entries) const {
  if (limits_.max_repetition == 0) return {};
  return {repetition_.data() + begin_, entries};
}

std::span<const uint16_t> LevelWindow::definition(size_t entries) const {
  if (limits_.max_definition == 0) return {};
  return {definition_.data() + begin_, entries};
}

absl::Status LevelBlockCursor::Open(std::span<const uint8_t> bytes, const FileInfo& info,
                                    std::optional<uint64_t> first_ordinal,
                                    const encodings::SeekIndex* seek_index, const BlockHead* head) {
  window_.Open({}, {});
  num_rows_ = row_ = 0;
  limits_ = info.levels;
  CFILE_ASSIGN_OR_RETURN(block_, ParseLevelBlock(bytes, info, head));
  CFILE_RETURN_IF_ERROR(values_.Open(block_.values, first_ordinal, seek_index));
  first_ordinal_ = values_.first_ordinal();
  if (limits_.max_repetition == 0 && limits_.max_definition == 0 && !info.has_levels())
    block_.num_entries = block_.num_records = values_.num_present();
  const bool holds_all = limits_.max_definition == 0;
  if (holds_all ? block_.num_entries != num_present() : block_.num_entries < num_present()) {
    return DataLoss("the block has ", block_.num_entries, " entries, but ", num_present(),
                    " present values");
  }
  if (block_.num_records == 0) return DataLoss("a data block has no records");
  num_rows_ = block_.num_records;
  Rewind();
  return absl::OkStatus();
}

absl::Status LevelBlockCursor::SeekToRow(uint32_t row) {
  CFILE_ASSERT(row <= num_rows());
  if (row < window_.record() || (row == window_.record() && window_.inside_record())) Rewind();
  while (window_.record() < row) {
    CFILE_ASSIGN_OR_RETURN(const LevelWindow::Extent extent, window_.Look(row - window_.record()));
    if (extent.entries == 0) {
      return DataLoss("the block's levels have ", window_.record(), " records, its header says ",
                      num_rows());
    }
    Pass(extent);
  }
  return absl::OkStatus();
}

// Compares the counts in the block's header with the records and values read so far.
absl::Status LevelBlockCursor::CheckCounts() const {
  const bool at_end = window_.at_end();
  if (at_end ? window_.record() != num_rows() : window_.record() >= num_rows()) {
    return DataLoss("the block's levels have ", at_end ? "" : "more than ", window_.record(),
                    " records, its header says ", num_rows());
  }
  if (at_end && window_.value() != num_present()) {
    return DataLoss("the block's levels have ", window_.value(), " present values, the block has ",
                    num_present());
  }
  return absl::OkStatus();
}

absl::StatusOr<AnyLevelBatch> LevelBlockCursor::Next(size_t max_records,
                                                     absl::FunctionRef<void*(size_t count)> room) {
  CFILE_ASSIGN_OR_RETURN(LevelWindow::Extent extent, window_.Look(max_records));
  encodings::ValueSpan values;
  if (window_.value() + extent.values > num_present()) {
    return DataLoss("the levels have more present values than the block, which has ",
                    num_present());
  }
  if (extent.values > 0) {
    // After a batch was cut, the position of values_ is after the value of the next entry.
    CFILE_RETURN_IF_ERROR(values_.SeekToRow(window_.value()));
    CFILE_ASSIGN_OR_RETURN(const AnyBatch batch,
                           values_.NextInto(extent.values, room(extent.values)));
    if (batch.size() < extent.values) extent = window_.Cut(batch.size());
    values = {batch.values, extent.values};
  }
  const AnyLevelBatch batch{.num_records = extent.records,
                            .num_entries = extent.entries,
                            .repetition = window_.repetition(extent.entries),
                            .definition = window_.definition(extent.entries),
                            .values = values};
  Pass(extent);
  CFILE_RETURN_IF_ERROR(CheckCounts());
  return batch;
}

}  // namespace cfile::internal
