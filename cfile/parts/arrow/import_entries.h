// Makes the levels of a leaf column (cfile/levels.h) from the arrays between the root and the leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/parts/arrow/import_plan.h"
#include "cfile/parts/arrow/import_slots.h"

namespace cfile::internal {

// The entries of some rows of a leaf column. An entry is a value, a null or an empty list.
class ImportEntries {
 public:
  // `flat`: the column has no levels.
  explicit ImportEntries(bool flat) : flat_(flat) {}

  // Makes the entries of the rows [begin, begin + count) of `root`, an array of the first step.
  // Returns the array that has the column's values.
  // kInvalidArgument: an array is malformed, or a value of a required field is null.
  // kResourceExhausted: there are more than `max_entries` entries.
  absl::StatusOr<const ArrowArray*> Make(const std::vector<ImportStep>& steps,
                                         const ArrowArray& root, int64_t begin, size_t count,
                                         size_t max_entries);

  // The positions of the values: in a flat column one for each row, also for nulls, otherwise one
  // for each entry that holds a value.
  Slots& slots() { return slots_; }

  // Completes the levels of a column that is not flat. Call it before the two functions below.
  void Finish(const ImportLeaf& leaf);
  const std::vector<uint16_t>& repetition() const { return repetition_; }
  const std::vector<uint16_t>& definition() const { return definition_; }

 private:
  // The definition level of an entry that is not null, as far as the steps were followed.
  static constexpr uint16_t kPresent = UINT16_MAX;

  void EndNulls(uint16_t definition);
  // Replaces each list by its elements.
  // bounds(slot, begin, end) stores the range of the elements in `begin` and `end`.
  template <typename Bounds>
  absl::Status Expand(const ImportStep& step, int64_t child_length, size_t max_entries,
                      const Bounds& bounds);
  absl::Status ExpandList(const ImportStep& step, const ArrowArray& array, size_t max_entries);

  const bool flat_;
  size_t count_ = 0;
  std::vector<uint16_t> repetition_;  // empty: all levels are 0
  std::vector<uint16_t> definition_;  // empty: all levels are kPresent
  Slots slots_;                       // of the kPresent entries; flat column: of all entries
  // Expand uses this memory again in each call.
  std::vector<uint16_t> next_repetition_, next_definition_;
  Slots next_slots_;
};

}  // namespace cfile::internal
