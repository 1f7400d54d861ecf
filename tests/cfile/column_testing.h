// Columns for tests: functions that make random values of any type, write them into memory and
// compare what is read back. The templates exist for each type of CFILE_FOR_EACH_VALUE_TYPE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/core/physical_type.h"
#include "encodings/registry.h"
#include "gtest/gtest.h"

namespace cfile::testing_support {

std::vector<Compression> BuiltInCompressions();

// Returns one type per physical type, and all types that need format extensions.
std::vector<ColumnType> AllColumnTypes();

// Returns a random value. `spread` 0: one of a few different values. `spread` 1: any value.
template <typename T>
Owned<T> RandomValue(const ColumnType& type, int spread, std::mt19937_64& random);

// The rows of a column in memory. Tests compare files with them.
template <typename T>
struct Column {
  std::vector<std::optional<Owned<T>>> rows;

  std::vector<T> Values() const;
  std::vector<uint8_t> Validity() const;
};

// Appends all rows of `column`.
template <typename T>
absl::Status AppendColumn(Writer<T>& writer, const Column<T>& column, bool nullable);

template <typename T>
Column<T> RandomColumn(const ColumnType& type, size_t num_rows, int null_percent, bool sorted,
                       std::mt19937_64& random);

// Returns a file that holds `column`. EXPECTs that no call of the writer fails.
template <typename T>
std::vector<uint8_t> WriteColumn(const ColumnType& type, const WriterOptions& options,
                                 const Column<T>& column);

template <typename T>
void ExpectBatch(const Batch<T>& batch, const Column<T>& column);

// Reads from the cursor's position to the end, in batches of random size, and compares the rows
// with `column`.
template <typename T>
void ExpectRest(Cursor<T>& cursor, const Column<T>& column, std::mt19937_64& random);

}  // namespace cfile::testing_support
