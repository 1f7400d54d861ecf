// Finds the values of an array that an import reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/parts/arrow/import_type.h"

namespace cfile::internal {

// Slots are positions of values in an array. A position does not include the array's offset.
struct Slots {
  static constexpr int64_t kNull = -1;

  bool dense = true;
  size_t count = 0;
  size_t null_count = 0;
  int64_t first = 0;              // if dense: the positions are first, first + 1, ...
  std::vector<uint8_t> validity;  // if dense, with nulls: one bit for each position
  std::vector<int64_t> list;      // if not dense: each position, or kNull

  void SetDense(int64_t from, size_t size) {
    dense = true;
    first = from;
    count = size;
    null_count = 0;
  }
  void MakeList();
  // Adds `offset` to all positions.
  void Shift(int64_t offset);
  void RemoveNulls();
  // Sets `validity` if the positions are not dense.
  void MakeValidity();
};

// Follows dictionaries and runs to the array that holds the values, and returns it. Replaces
// `slots`, positions in `array`, by positions in the returned array; positions of nulls become
// kNull. Preconditions: CheckArray returned OK; the positions are less than the length of `array`.
// kInvalidArgument: an index is not in the dictionary.
absl::StatusOr<const ArrowArray*> FindValues(const ImportField& field, const ArrowArray& array,
                                             Slots& slots);

}  // namespace cfile::internal
