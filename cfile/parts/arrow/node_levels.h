// Makes the structs and lists of Arrow arrays from the levels of a leaf column (cfile/levels.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "cfile/parts/arrow/bitmap.h"
#include "cfile/parts/arrow/c_data.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/level_kernels.h"

namespace cfile::internal {

using encodings::LevelRule;

// Entries of a leaf column. Each array has one level for each entry.
struct Entries {
  const uint16_t* repetition;
  const uint16_t* definition;
  size_t count;
};

// Finds the values of a node (encodings/kernels/level_kernels.h). Thread-compatible.
class ValueFinder {
 public:
  // Finds the values in `entries`. `begins`: null, or as for FindLevelValues.
  encodings::FoundLevelValues Find(const LevelRule& rule, const Entries& entries,
                                   size_t elements_before, int32_t* begins);
  // The validity of the values that were found. Null if none of them is null.
  const uint8_t* validity() const { return has_nulls_ ? bits_.data() : nullptr; }

 private:
  std::vector<uint8_t> valid_;  // memory that each call uses again
  std::vector<uint8_t> bits_;
  bool has_nulls_ = false;
};

// Collects the values of one struct or list while the rows of an array are added.
// Thread-compatible.
class NodeLevels {
 public:
  // `capacity`: the number of values for which memory is reserved.
  NodeLevels(const LevelRule& rule, size_t capacity) : rule_(rule), capacity_(capacity) {}

  size_t size() const { return validity_.size(); }
  // The number of elements in all values of a list.
  size_t num_elements() const { return num_elements_; }

  // kOutOfRange: the values of a list would have more than 2^31 - 1 elements together.
  absl::Status Append(const Entries& entries);
  // Removes the values after the first `size`, which have `num_elements` elements together.
  void Truncate(size_t size, size_t num_elements);
  // Sets the length, the null count and the buffers of `parts`, and empties this object.
  void Finish(ArrayParts& parts);

 private:
  const LevelRule rule_;
  const size_t capacity_;
  Validity validity_;
  encodings::ByteWriter offsets_;  // int32: the begin of each list
  size_t num_elements_ = 0;
  ValueFinder finder_;
};

}  // namespace cfile::internal
