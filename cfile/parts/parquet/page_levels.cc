#include "cfile/parts/parquet/page_levels.h"

#include <algorithm>
#include <array>
#include <span>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/levels.h"

namespace cfile::internal {

using encodings::DataLoss;
using encodings::LevelWidth;

absl::Status PageLevelReader::Open(const LevelBlock& block, const FileInfo& info, uint32_t num_rows,
                                   uint32_t num_present) {
  limits_ = info.levels;
  has_levels_ = info.has_levels();
  num_rows_ = num_rows;
  num_present_ = num_present;
  row_ = value_ = 0;
  const bool required = !has_levels_ && limits_.max_definition == 0;
  const uint32_t found = required ? num_present : block.num_records;
  if (found != num_rows) {
    return DataLoss("expected ", num_rows, " rows in the block, found ", found);
  }
  const uint32_t entries = required ? num_present : block.num_entries;
  if (entries < num_present || (limits_.max_definition == 0 && entries != num_present)) {
    return DataLoss("the block has ", entries, " entries, but ", num_present, " present values");
  }
  if (has_levels_) {
    window_.Open(block, limits_);
  } else if (!required) {
    return nulls_.Open(block.definition, num_rows);
  }
  return absl::OkStatus();
}

absl::Status PageLevelReader::Next(uint32_t count, PageLevels& levels) {
  CFILE_ASSERT(count > 0 && count <= num_rows_ - row_);
  levels.num_rows = levels.num_entries = levels.num_values = count;
  levels.first_value = value_;
  levels.repetition.Clear();
  levels.definition.Clear();
  if (has_levels_) {
    CFILE_RETURN_IF_ERROR(NextLevels(count, levels));
  } else if (limits_.max_definition > 0) {
    CFILE_RETURN_IF_ERROR(NextNulls(count, levels));
  }
  row_ += count;
  value_ += levels.num_values;
  if (row_ == num_rows_ ? value_ != num_present_ : value_ > num_present_) {
    return DataLoss("the first ", row_, " rows of the block have ", value_,
                    " values, but the block has ", num_present_);
  }
  return absl::OkStatus();
}

absl::Status PageLevelReader::NextNulls(uint32_t count, PageLevels& levels) {
  std::array<uint8_t, 4096> bits;
  levels.num_values = 0;
  for (uint32_t left = count; left > 0;) {
    const uint32_t taken = std::min<uint32_t>(left, 8 * bits.size());
    CFILE_ASSIGN_OR_RETURN(const uint32_t present, nulls_.Read(taken, bits.data()));
    if (present == taken) {
      definition_.AddRun(true, taken);
    } else {
      definition_.AddBits(bits.data(), 0, taken);
    }
    levels.num_values += present;
    left -= taken;
  }
  definition_.Finish(levels.definition);
  return absl::OkStatus();
}

absl::Status PageLevelReader::NextLevels(uint32_t count, PageLevels& levels) {
  repetition_levels_.clear();
  definition_levels_.clear();
  levels.num_entries = levels.num_values = 0;
  const auto append = [](std::span<const uint16_t> from, std::vector<uint16_t>& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const uint32_t end = row_ + count; window_.record() < end;) {
    CFILE_ASSIGN_OR_RETURN(const LevelWindow::Extent extent, window_.Look(end - window_.record()));
    if (extent.entries == 0) {
      return DataLoss("the block's levels have ", window_.record(), " records, expected ",
                      num_rows_);
    }
    append(window_.repetition(extent.entries), repetition_levels_);
    append(window_.definition(extent.entries), definition_levels_);
    levels.num_entries += static_cast<uint32_t>(extent.entries);
    levels.num_values += static_cast<uint32_t>(extent.values);
    window_.Pass(extent);
  }
  if (row_ + count == num_rows_ && !window_.at_end()) {
    return DataLoss("the block's levels have more than ", num_rows_, " records");
  }
  const auto put = [](std::span<const uint16_t> from, uint16_t max, encodings::ByteWriter& out) {
    if (max > 0) encodings::PutHybrid<uint16_t>(from, LevelWidth(max), out);
  };
  put(repetition_levels_, limits_.max_repetition, levels.repetition);
  put(definition_levels_, limits_.max_definition, levels.definition);
  return absl::OkStatus();
}

}  // namespace cfile::internal
