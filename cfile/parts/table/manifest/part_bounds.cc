#include "cfile/parts/table/manifest/part_bounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/core/format/value_summary.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 62;
constexpr uint64_t kMostParts = uint64_t{1} << 32;

// -0 equals +0, so a bound that is zero includes both.
template <typename T>
void WidenZeroBounds(BlockStatistics& bounds) {
  std::string negative;
  std::string positive;
  AppendKey(-T{}, negative);
  AppendKey(T{}, positive);
  if (bounds.min_key == positive) bounds.min_key = negative;
  if (bounds.max_key == negative) bounds.max_key = positive;
}

// Cuts the bounds in a chunk to the size that bounds in statistics have, and drops those that
// cannot be bounds of `type`, because readers would refuse such a chunk.
void Cut(const ColumnType& type, BlockStatistics& bounds) {
  if (bounds.min_key && bounds.min_key->size() > kMaxBoundBytes) {
    bounds.min_key->resize(kMaxBoundBytes);
  }
  if (bounds.max_key && bounds.max_key->size() > kMaxBoundBytes) {
    bounds.max_key = AfterPrefix(bounds.max_key->substr(0, kMaxBoundBytes));
  }
  if (bounds.min_key && !IsBound(*bounds.min_key, type)) bounds.min_key.reset();
  if (bounds.max_key && !IsBound(*bounds.max_key, type)) bounds.max_key.reset();
  bounds.min_exact = !bounds.min_key;
  bounds.max_exact = !bounds.max_key;
}

// Returns the statistics of one column of a part, for the chunk of this part.
// nullopt: the counts of rows do not describe the values.
std::optional<BlockStatistics> StatisticsOf(const TablePartColumn& column,
                                            const ColumnSchema& schema) {
  if (schema.levels.max_repetition > 0 || column.null_count > column.num_rows) return std::nullopt;
  BlockStatistics bounds = BoundsOf(column, schema);
  if (bounds.nan_count > bounds.present_count) return std::nullopt;
  if (bounds.nan_count == bounds.present_count) {
    bounds.min_key.reset();
    bounds.max_key.reset();
  }
  Cut(schema.type, bounds);
  return bounds;
}

bool HasValues(const BlockStatistics& bounds) { return bounds.present_count > bounds.nan_count; }

void Merge(std::optional<BlockStatistics> other, std::optional<BlockStatistics>& bounds) {
  if (!bounds || !other) {
    bounds.reset();
    return;
  }
  if (HasValues(*other)) {
    const bool first = !HasValues(*bounds);
    if (first || !other->min_key || (bounds->min_key && *other->min_key < *bounds->min_key)) {
      bounds->min_key = std::move(other->min_key);
    }
    if (first || !other->max_key || (bounds->max_key && *other->max_key > *bounds->max_key)) {
      bounds->max_key = std::move(other->max_key);
    }
    bounds->min_exact = !bounds->min_key;
    bounds->max_exact = !bounds->max_key;
  }
  bounds->present_count += other->present_count;
  bounds->null_count += other->null_count;
  bounds->nan_count += other->nan_count;
}

bool AddTotal(uint64_t num_parts, uint64_t num_rows, uint64_t data_bytes, ChunkInfo& chunk) {
  if (num_parts > kMostParts - chunk.num_parts || num_rows > kMostRows - chunk.num_rows)
    return false;
  chunk.num_parts += num_parts;
  chunk.num_rows += num_rows;
  chunk.data_bytes += data_bytes;  // may wrap around: nothing depends on it
  return true;
}

}  // namespace

BlockStatistics BoundsOf(const TablePartColumn& column, const ColumnSchema& schema) {
  // In a nullable column with levels, the counts are counts of entries: one for each row if the
  // column is not repeated.
  BlockStatistics bounds{
      .present_count = column.num_rows - std::min(column.null_count, column.num_rows),
      .null_count = column.null_count,
      .nan_count = column.nan_count};
  if (column.min_key.has_value()) {
    bounds.min_key = column.min_key;
    bounds.max_key = column.max_key;
  } else {
    bounds.min_key = column.lower_bound;
    bounds.max_key = column.upper_bound;
    bounds.min_exact = !bounds.min_key;
    bounds.max_exact = !bounds.max_key;
  }
  if (schema.type.physical() == PhysicalType::kFloat) WidenZeroBounds<float>(bounds);
  if (schema.type.physical() == PhysicalType::kDouble) WidenZeroBounds<double>(bounds);
  return bounds;
}

absl::Status WrongBounds(const std::string& path) {
  return encodings::DataLoss(path, ": the least and the greatest value are not those in table.cft");
}

bool AddTotals(std::span<const TablePart> parts, ChunkInfo& chunk) {
  for (const TablePart& part : parts) {
    uint64_t data_bytes = 0;
    for (const TablePartColumn& column : part.columns) data_bytes += column.size_bytes;
    if (!AddTotal(1, part.num_rows, data_bytes, chunk)) return false;
  }
  return true;
}

bool AddTotals(std::span<const ChunkInfo> chunks, ChunkInfo& chunk) {
  for (const ChunkInfo& child : chunks) {
    if (!AddTotal(child.num_parts, child.num_rows, child.data_bytes, chunk)) return false;
  }
  return true;
}

bool Summarize(std::span<const TablePart> parts, const std::vector<ColumnSchema>& columns,
               ChunkInfo& chunk) {
  chunk.columns.assign(columns.size(), BlockStatistics{});
  for (const TablePart& part : parts) {
    for (size_t i = 0; i < columns.size(); ++i) {
      Merge(StatisticsOf(part.columns[i], columns[i]), chunk.columns[i]);
    }
  }
  return AddTotals(parts, chunk);
}

bool Summarize(std::span<const ChunkInfo> chunks, const std::vector<ColumnSchema>& columns,
               ChunkInfo& chunk) {
  chunk.columns.assign(columns.size(), BlockStatistics{});
  for (const ChunkInfo& child : chunks) {
    for (size_t i = 0; i < columns.size(); ++i) Merge(child.columns[i], chunk.columns[i]);
  }
  return AddTotals(chunks, chunk);
}

}  // namespace cfile::internal
