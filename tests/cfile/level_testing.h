// Leaves for tests: functions that make records of random levels and values, write them into memory
// and compare what is read back. The templates exist for each type of CFILE_FOR_EACH_VALUE_TYPE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "cfile/levels.h"
#include "tests/cfile/column_testing.h"

namespace cfile::testing_support {

// The entries of a leaf in memory. Tests compare files with them.
template <typename T>
struct Leaf {
  LevelLimits limits;
  std::vector<uint16_t> repetition, definition;  // one per entry, even if the maximum is 0
  std::vector<Owned<T>> values;
  // For each record, the index of its first entry and of its first value. The last elements are the
  // total numbers of entries and of values.
  std::vector<size_t> entries, first_values;

  size_t num_records() const { return entries.size() - 1; }
};

// Computes `entries` and `first_values` from the levels.
template <typename T>
void Index(Leaf<T>& leaf);

// Returns records whose levels are valid for some schema. A Kudu array has either elements, or a
// single entry whose definition level says why there are no elements. `long_record` is the number
// of entries of the middle record; 0: no record is long.
template <typename T>
Leaf<T> RandomLeaf(const ColumnType& type, const LevelLimits& limits, size_t num_records,
                   size_t long_record, std::mt19937_64& random);

// Returns a file that holds `leaf`. Appends batches of random size. EXPECTs that no call fails.
template <typename T>
std::vector<uint8_t> WriteLeaf(const ColumnType& type, const WriterOptions& options,
                               const Leaf<T>& leaf, std::mt19937_64& random);

// A position in a leaf: a record, the first entry to read, and the first value to read.
struct LeafPlace {
  uint64_t record = 0;
  size_t entry = 0;
  size_t value = 0;
};
template <typename T>
LeafPlace PlaceOf(const Leaf<T>& leaf, uint64_t record);

// EXPECTs that `batch` has at most `max_records` records and equals the entries of `leaf` from
// `place` on. Moves `place` to the end of the batch.
template <typename T>
void ExpectLevels(const LevelBatch<T>& batch, size_t max_records, const Leaf<T>& leaf,
                  LeafPlace& place);

// Reads from the cursor's record to the end, but at most `max_batches` batches of random size.
// Returns OK or the first error. EXPECTs the entries of `leaf`; if `leaf` is null, compares
// nothing.
template <typename T>
absl::Status ReadRest(LevelCursor<T>& cursor, const Leaf<T>* leaf, std::mt19937_64& random,
                      size_t max_batches = SIZE_MAX);

}  // namespace cfile::testing_support
