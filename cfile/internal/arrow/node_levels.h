// Makes the structs and lists of Arrow arrays from the levels of a leaf column (cfile/levels.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "cfile/internal/arrow/bitmap.h"
#include "cfile/internal/arrow/c_data.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// Which entries of a leaf column below a node are values of the node. An entry is a value, perhaps
// null, if its repetition level is at most `repetition` and its definition level is at least
// `definition`. The value is null if the definition level is less than `valid_definition`.
struct LevelRule {
  uint16_t repetition = 0;
  uint16_t definition = 0;
  uint16_t valid_definition = 0;
  // Of a list: the same for its elements.
  bool is_list = false;
  uint16_t element_repetition = 0;
  uint16_t element_definition = 0;
};

// Entries of a leaf column. Both arrays have one level for each entry.
struct Entries {
  const uint16_t* repetition;
  const uint16_t* definition;
  size_t count;
};

// Writes 1 or 0 to `valid` for each of the entries that is a value of the node: whether it is
// valid. Returns the number of values. `valid` has room for one byte more than entries.
size_t FindValues(const LevelRule& rule, const Entries& entries, uint8_t* valid);

// The values of one struct or list while the rows of an array are added. Thread-compatible.
class NodeLevels {
 public:
  explicit NodeLevels(const LevelRule& rule) : rule_(rule) {}

  size_t size() const { return validity_.size(); }
  // The number of elements of a list.
  size_t num_elements() const { return num_elements_; }

  // kOutOfRange: a list would have more than 2^31 - 1 elements in all its values.
  absl::Status Append(const Entries& entries);
  // Sets length, null count and buffers of `parts`. The node is then empty.
  void Finish(ArrayParts& parts);

 private:
  // Appends the lists' offsets, and sets valid_ as FindValues does. Returns the number of lists.
  size_t AppendLists(const Entries& entries);

  const LevelRule rule_;
  Validity validity_;
  encodings::ByteWriter offsets_;  // int32: where each list begins
  size_t num_elements_ = 0;
  std::vector<uint8_t> valid_;  // reused memory
  std::vector<uint8_t> bits_;
  std::vector<uint8_t> kinds_;
};

}  // namespace cfile::internal
