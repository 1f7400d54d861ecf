// Checks that the limits of writers and readers agree. If the writer accepts the values, a reader
// with the same limits reads the whole file. If the values exceed a limit, the writer returns an
// error that names the limit, and publishes nothing. The templates exist for each type of
// CFILE_FOR_EACH_VALUE_TYPE.
#pragma once

#include <random>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"

namespace cfile::testing_support {

// Writes `column` with `options` and reads it back if the writer succeeds. Returns the writer's
// status.
template <typename T>
absl::Status TryColumn(const ColumnType& type, const WriterOptions& options,
                       const Column<T>& column, std::mt19937_64& random);

// Like TryColumn, for a leaf. Appends the leaf in two calls.
template <typename T>
absl::Status TryLeaf(const ColumnType& type, const WriterOptions& options, const Leaf<T>& leaf,
                     std::mt19937_64& random);

}  // namespace cfile::testing_support
