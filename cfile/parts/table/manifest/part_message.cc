#include "cfile/parts/table/manifest/part_message.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "cfile/core/format/feature_bits.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/core/format/value_summary.h"
#include "cfile/parts/table/manifest/part_bounds.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

// Parses column `i` of a part.
absl::StatusOr<TablePartColumn> ParsePartColumn(const wire::Part& in_part, size_t i,
                                                const TablePart& part, const ColumnSchema& column) {
  const wire::PartColumn& message = in_part.columns[i];
  const auto error = [&](const auto&... pieces) {
    return DataLoss("part ", part.directory, ", column ", column.name, ": ", pieces...);
  };
  TablePartColumn result{.file_name = std::string(message.file_name.value_or("")),
                         .size_bytes = message.size_bytes.value_or(0),
                         .num_rows = message.num_values.value_or(0),
                         .null_count = message.null_count.value_or(0),
                         .packed_end = in_part.packed_ends.empty() ? 0 : in_part.packed_ends[i]};
  if (result.is_packed() &&
      (result.packed_end < result.size_bytes || result.packed_end > part.packed_size_bytes)) {
    return error("an end from ", result.size_bytes, " to ", part.packed_size_bytes,
                 " in the packed file expected, found ", result.packed_end);
  }
  if (!IsPlainName(result.file_name)) {
    return error("a file name expected, found \"", result.file_name, "\"");
  }
  if (result.num_rows != part.num_rows) {
    return error("expected ", part.num_rows, " rows, as many as the part has, found ",
                 result.num_rows);
  }
  // With levels, a record may have any number of nulls.
  if (!column.has_levels() && result.null_count > (column.nullable ? result.num_rows : 0)) {
    return error(result.null_count, " nulls found in ", result.num_rows,
                 column.nullable ? " rows" : " rows, but the column is not nullable");
  }
  if (message.min_key.has_value() != message.max_key.has_value()) {
    return error("minimum and maximum expected, found only one of them");
  }
  if (message.min_key) {
    if (*message.min_key > *message.max_key) return error("the minimum is above the maximum");
    result.min_key = *message.min_key;
    result.max_key = *message.max_key;
    return result;
  }
  if (message.lower_bound) result.lower_bound = *message.lower_bound;
  if (message.upper_bound) result.upper_bound = *message.upper_bound;
  if (result.lower_bound && result.upper_bound && *result.lower_bound > *result.upper_bound) {
    return error("the lower bound is above the upper bound");
  }
  result.nan_count = message.nan_count.value_or(0);
  const PhysicalType physical = column.type.physical();
  const bool is_float = physical == PhysicalType::kFloat || physical == PhysicalType::kDouble;
  if (result.nan_count > 0 && !is_float) {
    return error(result.nan_count, " NaN found in a column of type ", column.type.ToString());
  }
  if (!column.has_levels() && result.nan_count > result.num_rows - result.null_count) {
    return error(result.nan_count, " NaN found in ", result.num_rows - result.null_count,
                 " values");
  }
  return result;
}

// Parses the columns of a part, which the message names by their ids. The part may lack columns of
// the table, and may have columns that the table no longer has.
absl::Status ParseColumnsById(const wire::Part& message, const PartLayout& layout,
                              TablePart& part) {
  part.columns.resize(layout.columns().size());
  std::vector<bool> found(part.columns.size());
  for (size_t i = 0; i < message.columns.size(); ++i) {
    const wire::PartColumn& in_message = message.columns[i];
    const uint32_t id = in_message.column_id.value_or(static_cast<uint32_t>(i));
    const std::optional<size_t> column = layout.Find(id);
    if (!column) {
      if (id < layout.next_id()) continue;  // the schema no longer has the column
      return DataLoss("part ", part.directory, ": a column id below ", layout.next_id(),
                      " expected, found ", id);
    }
    if (found[*column]) {
      return DataLoss("part ", part.directory, ": column id ", id, " found twice");
    }
    found[*column] = true;
    CFILE_ASSIGN_OR_RETURN(part.columns[*column],
                           ParsePartColumn(message, i, part, layout.columns()[*column]));
  }
  for (size_t column = 0; column < found.size(); ++column) {
    if (found[column] || layout.FillMissing(column, part.num_rows, part.columns[column])) continue;
    return DataLoss("part ", part.directory, ": column ", layout.columns()[column].name,
                    " expected, because it has no default and is not nullable, found none");
  }
  return absl::OkStatus();
}

void SerializePartColumn(const TablePartColumn& column, wire::PartColumn& message) {
  message.file_name = column.file_name;
  message.size_bytes = column.size_bytes;
  message.num_values = column.num_rows;
  message.null_count = column.null_count;
  message.min_key = column.min_key;
  message.max_key = column.max_key;
  if (column.min_key.has_value()) return;
  message.lower_bound = column.lower_bound;
  message.upper_bound = column.upper_bound;
  if (column.nan_count > 0) message.nan_count = column.nan_count;
}

}  // namespace

PartLayout::PartLayout(const TableContents& contents)
    : columns_(StoredColumns(contents.schema)),
      by_id_(contents.identities.has_value()),
      may_pack_((contents.incompatible_features & kTableFeaturePacked) != 0) {
  if (by_id_) {
    ids_ = contents.identities->ids;
    next_id_ = contents.identities->next_id;
    defaults_ = contents.identities->defaults;
    for (size_t i = 0; i < ids_.size(); ++i) columns_by_id_.emplace(ids_[i], i);
  } else {
    for (size_t i = 0; i < columns_.size(); ++i) ids_.push_back(static_cast<uint32_t>(i));
    next_id_ = static_cast<uint32_t>(columns_.size());
  }
}

std::optional<size_t> PartLayout::Find(uint32_t id) const {
  if (!by_id_) return id < columns_.size() ? std::optional<size_t>(id) : std::nullopt;
  const auto found = columns_by_id_.find(id);
  return found == columns_by_id_.end() ? std::nullopt : std::optional<size_t>(found->second);
}

bool PartLayout::FillMissing(size_t column, uint64_t num_rows, TablePartColumn& in_part) const {
  if (!by_id_ || column >= defaults_.size()) return false;  // the compound keys are never missing
  const ColumnSchema& schema = columns_[column];
  const std::optional<std::string>& value = defaults_[column];
  if (!value && !schema.nullable && !schema.has_levels()) return false;
  in_part = {.num_rows = num_rows, .null_count = value ? 0 : num_rows, .missing = true};
  if (!value) return true;
  // In memory, each part that lacks the column gets a copy of the default, so a long default is cut
  // like other bounds.
  in_part.lower_bound = value->substr(0, kMaxBoundBytes);
  in_part.upper_bound = value->size() > kMaxBoundBytes ? AfterPrefix(*in_part.lower_bound) : *value;
  return true;
}

absl::StatusOr<TablePart> ParsePart(const wire::Part& message, const PartLayout& layout) {
  TablePart part{.directory = std::string(message.directory.value_or("")),
                 .num_rows = message.num_rows.value_or(0),
                 .order = message.order,
                 .has_arrow_schema = message.has_arrow_schema.value_or(false),
                 .packed_size_bytes = message.packed_size_bytes.value_or(0)};
  if (!IsPlainName(part.directory)) {
    return DataLoss("a part's directory expected, found \"", part.directory, "\"");
  }
  // No file has more rows. This check also prevents overflow of the sum over all parts.
  if (part.num_rows > std::numeric_limits<uint32_t>::max()) {
    return DataLoss("part ", part.directory, ": at most 2^32 - 1 rows expected, found ",
                    part.num_rows);
  }
  if (!layout.may_pack() && std::count(message.packed_ends.begin(), message.packed_ends.end(), 0) <
                                std::ssize(message.packed_ends)) {
    return DataLoss("part ", part.directory,
                    " is packed, but incompatible feature bit 9 is not set");
  }
  if (!message.packed_ends.empty() && message.packed_ends.size() != message.columns.size()) {
    return DataLoss("part ", part.directory, ": ", message.columns.size(),
                    " ends in the packed file expected, found ", message.packed_ends.size());
  }
  if (layout.by_id()) {
    CFILE_RETURN_IF_ERROR(ParseColumnsById(message, layout, part));
    return part;
  }
  const std::vector<ColumnSchema>& columns = layout.columns();
  if (message.columns.size() != columns.size()) {
    return DataLoss("part ", part.directory, ": ", columns.size(),
                    " columns expected as in the schema, found ", message.columns.size());
  }
  part.columns.reserve(columns.size());
  for (const wire::PartColumn& column : message.columns) {
    if (column.column_id) {
      return DataLoss("part ", part.directory,
                      ": a column id found, but incompatible feature bit 3 is not set");
    }
    CFILE_ASSIGN_OR_RETURN(
        part.columns.emplace_back(),
        ParsePartColumn(message, part.columns.size(), part, columns[part.columns.size()]));
  }
  return part;
}

void SerializePart(const TablePart& part, const PartLayout& layout, wire::Part& message) {
  message.directory = part.directory;
  message.num_rows = part.num_rows;
  message.order = part.order;
  if (part.has_arrow_schema) message.has_arrow_schema = true;
  const bool packed = part.is_packed();
  if (packed) message.packed_size_bytes = part.packed_size_bytes;
  message.columns.reserve(part.columns.size());
  for (size_t i = 0; i < part.columns.size(); ++i) {
    if (part.columns[i].missing) continue;
    const auto position = static_cast<uint32_t>(message.columns.size());
    wire::PartColumn& column = message.columns.emplace_back();
    SerializePartColumn(part.columns[i], column);
    if (layout.id(i) != position) column.column_id = layout.id(i);
    if (packed) message.packed_ends.push_back(part.columns[i].packed_end);
  }
}

absl::StatusOr<ChunkInfo> ParseChunkInfo(const wire::Chunk& message, const PartLayout& layout) {
  ChunkInfo chunk{.file_name = std::string(message.file_name.value_or("")),
                  .size_bytes = message.size_bytes.value_or(0),
                  .crc32c = message.crc32c.value_or(0),
                  .height = message.height.value_or(0),
                  .num_parts = message.num_parts.value_or(0),
                  .num_rows = message.num_rows.value_or(0),
                  .data_bytes = message.data_bytes.value_or(0)};
  if (!IsChunkName(chunk.file_name)) {
    return DataLoss("the file name of a chunk expected, found \"", chunk.file_name, "\"");
  }
  if (chunk.height > kMaxChunkHeight) {
    return DataLoss("chunk ", chunk.file_name, ": a height up to ", kMaxChunkHeight,
                    " expected, found ", chunk.height);
  }
  if (chunk.num_parts == 0) {
    return DataLoss("chunk ", chunk.file_name, ": one part or more expected, found none");
  }
  chunk.columns.resize(layout.columns().size());
  for (const wire::ChunkColumn& in_message : message.columns) {
    const uint32_t id = in_message.column_id.value_or(0);
    const std::optional<size_t> column = layout.Find(id);
    if (!column) {
      if (id < layout.next_id()) continue;
      return DataLoss("chunk ", chunk.file_name, ": a column id below ", layout.next_id(),
                      " expected, found ", id);
    }
    const ColumnSchema& schema = layout.columns()[*column];
    auto statistics = FromMessage(wire::OrEmpty(in_message.statistics), schema.type);
    if (!statistics.ok()) {
      return DataLoss("chunk ", chunk.file_name, ", column ", schema.name,
                      ": statistics: ", std::string(statistics.status().message()));
    }
    if (statistics->num_entries() != chunk.num_rows) {
      return DataLoss("chunk ", chunk.file_name, ", column ", schema.name, ": ", chunk.num_rows,
                      " values and nulls expected, found ", statistics->num_entries());
    }
    chunk.columns[*column] = *std::move(statistics);
  }
  return chunk;
}

void SerializeChunkInfo(const ChunkInfo& chunk, const PartLayout& layout, wire::Chunk& message) {
  message.file_name = chunk.file_name;
  message.size_bytes = chunk.size_bytes;
  message.crc32c = chunk.crc32c;
  if (chunk.height > 0) message.height = chunk.height;
  message.num_parts = chunk.num_parts;
  message.num_rows = chunk.num_rows;
  message.data_bytes = chunk.data_bytes;
  for (size_t i = 0; i < chunk.columns.size(); ++i) {
    if (!chunk.columns[i]) continue;
    wire::ChunkColumn& column = message.columns.emplace_back();
    column.column_id = layout.id(i);
    wire::Mutable(column.statistics) = ToMessage(*chunk.columns[i]);
  }
}

absl::Status CheckRoot(const TableContents& contents) {
  for (size_t i = 1; i < contents.chunks.size(); ++i) {
    const ChunkInfo& chunk = contents.chunks[i];
    if (chunk.height > contents.chunks[i - 1].height) {
      return DataLoss("chunk ", chunk.file_name, ": a height up to ", contents.chunks[i - 1].height,
                      " expected after the chunk before it, found ", chunk.height);
    }
  }
  ChunkInfo totals;
  if (!AddTotals(contents.chunks, totals) || !AddTotals(contents.parts, totals)) {
    return DataLoss("at most 2^62 rows and 2^32 parts expected, found more");
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
