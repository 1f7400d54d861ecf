// Bounds of the values in parts and chunks, by which a reader skips parts and chunks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// The counts and bounds of a column in one part. min_exact and max_exact are true only if the
// column has a value index there.
BlockStatistics BoundsOf(const TablePartColumn& column, const ColumnSchema& schema);

// The error kDataLoss that the file of a column with a value index has another least or greatest
// value than table.cft says.
absl::Status WrongBounds(const std::string& path);

// Sets num_parts, num_rows, data_bytes and columns of `chunk` to the totals of its entries, which
// are parts or chunks. Returns false if there are more than 2^62 rows or 2^32 parts.
bool Summarize(std::span<const TablePart> parts, const std::vector<ColumnSchema>& columns,
               ChunkInfo& chunk);
bool Summarize(std::span<const ChunkInfo> chunks, const std::vector<ColumnSchema>& columns,
               ChunkInfo& chunk);

// Summarize without the columns.
bool AddTotals(std::span<const TablePart> parts, ChunkInfo& chunk);
bool AddTotals(std::span<const ChunkInfo> chunks, ChunkInfo& chunk);

}  // namespace cfile::internal
