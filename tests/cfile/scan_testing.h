// Helpers for tests of scans: random predicates, their evaluation row by row, and a comparison of
// scans with this evaluation. The templates exist for each type of CFILE_FOR_EACH_VALUE_TYPE.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "cfile/predicate.h"
#include "cfile/scan.h"
#include "tests/cfile/column_testing.h"

namespace cfile::testing_support {

template <typename T>
using Rows = std::vector<std::optional<Owned<T>>>;

// Returns the first type in AllColumnTypes that has the physical type `physical`.
ColumnType TypeOf(PhysicalType physical);

// Returns a constant for a predicate: a value of the column, a value close to such a value, or any
// other value.
template <typename T>
Owned<T> Constant(const ColumnType& type, const Rows<T>& rows, std::mt19937_64& random);

template <typename T>
Predicate<T> RandomPredicate(const ColumnType& type, const Rows<T>& rows, std::mt19937_64& random);

// ASSERTs that a scan of `reader` returns exactly the matching rows of `rows`.
template <typename T>
void ExpectScan(const Reader& reader, const Predicate<T>& predicate, const Rows<T>& rows,
                const OrdinalRange& range = kAllRows, ScanCounters* counters = nullptr);

}  // namespace cfile::testing_support
