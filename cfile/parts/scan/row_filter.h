// One condition on the values of one file, for scans of several columns. Judges rows by statistics
// and indexes, and compares values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/scan/predicate_judge.h"
#include "cfile/reader.h"

namespace cfile::internal {

class FileReader;

// A bit for each row of a part: row i is bit i % 8 of byte i / 8. Bits after the last byte are 0.
using RowBits = std::shared_ptr<const std::vector<uint8_t>>;

// Thread-compatible. Keeps the file open. After an error a call may be repeated. All functions have
// the errors of reading a file (cfile/CONCEPTS.md).
class RowFilter {
 public:
  virtual ~RowFilter() = default;

  // Returns what is known without reading values about row `row`, and about all rows of the
  // result's range, which contains it. Precondition: row < the number of rows.
  virtual JudgedRows Judge(uint64_t row) const = 0;

  // Says that Match will be called for the blocks with these rows, in ascending order, or in
  // descending order if `backward` is true, so that they can be read in advance. Without a call of
  // Expect, the order is not known. If the source reads in the background and the order is
  // ascending, begins to read the first of these blocks whose rows may match.
  virtual void Expect(const OrdinalRange& rows, bool backward) = 0;

  virtual bool reads_in_background() const = 0;
  // True if all blocks that Match needs were begun, or if this is likely.
  virtual bool has_all_begun() const = 0;

  // Examines rows from `begin` on, at most `count` and at least 1. Returns how many. Bit i of
  // `bits` stands for row begin + i; 0 means that another condition has excluded the row. Sets the
  // bits of the examined rows that do not match to 0; the other bits are then unspecified.
  // Preconditions: 0 < count <= kMaxRows; begin + count <= the number of rows.
  virtual absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) = 0;
  static constexpr size_t kMaxRows = 4096;

  // An estimate of the time to compare one value, in a unit that all filters share.
  virtual double cost_per_row() const = 0;

  // Returns the object that reads and decodes the rows of this filter, which filters of one file
  // share; null if the filter's file is not `file`. For NewRowFilter.
  virtual std::shared_ptr<void> RowsOf(const FileReader* file) const = 0;

  // Data blocks that this filter has read. A block that filters share counts for the filter that
  // read it first.
  uint64_t blocks_read() const { return blocks_read_; }
  uint64_t rows_compared() const { return rows_compared_; }

 protected:
  uint64_t blocks_read_ = 0;
  uint64_t rows_compared_ = 0;
};

// Returns a filter for the rows of `reader` that match the predicate of `matcher`; with `negated`,
// for the rows that hold a value that does not match it. In a file with levels, a record holds a
// value if the definition level of its entry is the maximum. Preconditions: a record has one entry
// (max_repetition is 0); `matcher` is for the C++ type of the file's values; the predicate does not
// need an order if this type is Int96. Errors as Reader::NewCursor and Reader::Statistics. `rows`:
// the rows that will be judged and matched, for the choice of searches.
//
// `others`: other filters, or nulls. If one of them reads the same file, the new filter shares its
// blocks and decoded rows. Then only one thread at a time may use the two filters, and after one is
// destroyed, the other must not be used.
absl::StatusOr<std::unique_ptr<RowFilter>> NewRowFilter(
    const Reader& reader, std::shared_ptr<const ValueMatcher> matcher, bool negated,
    const OrdinalRange& rows, std::span<const std::unique_ptr<RowFilter>> others = {});

// Returns a filter for the rows of which `test`, kEqual to kGreaterOrEqual, is true for the values
// of two columns; with `negated`, for the rows that have both values, but `test` is false.
// Preconditions and errors as NewRowFilter; the files have values of one type and the same rows.
absl::StatusOr<std::unique_ptr<RowFilter>> NewColumnsFilter(
    const Reader& left, const Reader& right, PredicateKind test, bool negated,
    std::span<const std::unique_ptr<RowFilter>> others);

}  // namespace cfile::internal
