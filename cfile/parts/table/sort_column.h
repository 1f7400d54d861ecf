// The column by which the rows of a table are sorted, and how a new part keeps this order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/table.h"

namespace cfile::internal {

// Returns the key index, or the first column that has a value index in all parts with rows (if
// there are no rows, in any part); nullopt if there is none. `parts`: all parts of the table.
absl::StatusOr<std::optional<size_t>> SortColumn(const TableReader& table,
                                                 std::span<const PartInfo> parts);

// Returns the sort column. Errors: those of NewLookup.
absl::StatusOr<size_t> KeyColumn(const TableReader& table);

// Checks that a merge returns rows with equal keys one after another. `column`: the result of
// SortColumn. kFailedPrecondition: there is none. kUnimplemented: rows with equal keys may be apart
// in the order of a compound key, because one of its columns holds floats.
absl::Status CheckEqualKeysAreAdjacent(const TableReader& table, std::optional<size_t> column);

// Returns the options for the files of a new part, which replaces the `chosen` parts.
// Only the sort column gets a value index, because the rows are sorted by no other column.
// A column keeps the metadata of the first chosen part, unless its `options` have metadata.
// `chosen`: one bool for each part. `options`: none, one for all columns, or one per column.
absl::StatusOr<std::vector<WriterOptions>> OptionsOfNewPart(const TableReader& table,
                                                            const std::vector<bool>& chosen,
                                                            std::optional<size_t> sort_column,
                                                            std::span<const WriterOptions> options);

}  // namespace cfile::internal
