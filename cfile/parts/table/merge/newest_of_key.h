// Chooses the newest row of each key among the rows of a merge.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cfile/core/format/key_codec.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "encodings/core/lane.h"

namespace cfile::internal {

// The newest row of a key is the last row of the last part that has the key. A row waits until a
// row with another key follows. Thread-compatible.
class NewestOfKey {
 public:
  // `type`: of the keys.
  explicit NewestOfKey(encodings::PhysicalType type)
      : type_(type), width_(encodings::WidthOf(encodings::LaneOf(type))), less_(KeyLessOf(type)) {}

  // Takes the next rows of the merge. Calls keep(key, row) for each newest row that no longer
  // waits; the run `row` has one row. The keys are valid until the next call and as long as `rows`.
  template <typename Keep>
  void Add(const KeyMerge::Rows& rows, const Keep& keep) {
    Add(rows, keep, [](const void*, const Run&) {});
  }
  // Also calls see(key, row) for each row, in the order of the merge. keep() for a key comes after
  // see() for its last row, and before see() for the next key.
  template <typename Keep, typename See>
  void Add(const KeyMerge::Rows& rows, const Keep& keep, const See& see) {
    const void* const before = keys_[last_].value();
    const void* waiting = before;
    const auto* key = static_cast<const std::byte*>(rows.keys.values);
    for (const Run& run : rows.runs) {
      for (uint64_t i = 0; i < run.count; ++i, key += width_) {
        const Run row = {run.part, run.begin + i, 1};
        const bool begins = !waits_ || less_(LastEqualKey({waiting, type_}), key);
        if (begins && waits_) keep(waiting, row_);
        see(key, row);
        // The waiting row may have -0 and be newer than this row, which has 0.
        if (!begins && row.part < row_.part) continue;
        waiting = key;
        row_ = row;
        waits_ = true;
      }
    }
    if (waiting == before) return;
    last_ = 1 - last_;  // `keep` may have got the key before
    keys_[last_].Set({waiting, type_});
  }

  // Call after the last rows. Calls keep(key, row) for the row that waits, if there is one.
  template <typename Keep>
  void Finish(const Keep& keep) {
    if (waits_) keep(keys_[last_].value(), row_);
    waits_ = false;
  }

 private:
  const encodings::PhysicalType type_;
  const size_t width_;  // of a key in bytes
  const LessFunction less_;
  // A row that waits, and its key.
  bool waits_ = false;
  Run row_ = {};
  OwnedKey keys_[2];
  size_t last_ = 0;  // the number of the key
};

}  // namespace cfile::internal
