// Makes the structs and lists of Arrow arrays.
// They come from the levels of a leaf column (cfile/levels.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "cfile/internal/arrow/bitmap.h"
#include "cfile/internal/arrow/c_data.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// Says which entries of a leaf column are values of a node above the leaf.
// An entry is a value of the node if its repetition level is at most `repetition` and its
// definition level is at least `definition`.
// The value is null if the definition level is less than `valid_definition`.
struct LevelRule {
  uint16_t repetition = 0;
  uint16_t definition = 0;
  uint16_t valid_definition = 0;
  // If the node is a list: the same two limits for the elements of the list.
  bool is_list = false;
  uint16_t element_repetition = 0;
  uint16_t element_definition = 0;
};

// Entries of a leaf column. Each array has one level for each entry.
struct Entries {
  const uint16_t* repetition;
  const uint16_t* definition;
  size_t count;
};

// Finds the entries that are values of the node. Writes 1 to `valid` for a value, and 0 for a null.
// Returns how many bytes were written to `valid`, one for each of these entries.
// `valid` must have room for `entries.count` + 1 bytes.
size_t FindValues(const LevelRule& rule, const Entries& entries, uint8_t* valid);

// Collects the values of one struct or list while the rows of an array are added.
// Thread-compatible.
class NodeLevels {
 public:
  explicit NodeLevels(const LevelRule& rule) : rule_(rule) {}

  size_t size() const { return validity_.size(); }
  // The number of elements in all values of a list.
  size_t num_elements() const { return num_elements_; }

  // kOutOfRange: the values of a list would have more than 2^31 - 1 elements together.
  absl::Status Append(const Entries& entries);
  // Sets the length, the null count and the buffers of `parts`. Then this object is empty.
  void Finish(ArrayParts& parts);

 private:
  // Appends the offsets of the lists. Sets valid_ as FindValues does. Returns the number of lists.
  size_t AppendLists(const Entries& entries);

  const LevelRule rule_;
  Validity validity_;
  encodings::ByteWriter offsets_;  // int32: the begin of each list
  size_t num_elements_ = 0;
  std::vector<uint8_t> valid_;  // memory that each call uses again
  std::vector<uint8_t> bits_;
  std::vector<uint8_t> kinds_;
};

}  // namespace cfile::internal
