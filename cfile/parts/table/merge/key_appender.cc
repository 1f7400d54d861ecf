#include "cfile/parts/table/merge/key_appender.h"

#include <algorithm>

#include "encodings/core/assert.h"

namespace cfile::internal {

void KeyAppender::Choose(const void* key) {
  if (!status_.ok()) return;
  ordinals_.clear();
  for (const Run& run : group_) {
    for (uint64_t i = 0; i < run.count; ++i) ordinals_.push_back(OrdinalOf(run) + i);
  }
  // Rows with 0 may be older than rows with -0, which come before them in the merge.
  if (num_first_ > 0) std::sort(ordinals_.begin(), ordinals_.end());
  chosen_.assign(ordinals_.size(), true);
  status_ = kept_.choose(ordinals_, chosen_);
  if (!status_.ok()) return;
  CFILE_ASSERT(chosen_.size() == ordinals_.size());
  size_t row = 0;
  for (const Run& run : group_) {
    for (uint64_t i = 0; i < run.count; ++i, ++row) {
      const auto found = std::lower_bound(ordinals_.begin(), ordinals_.end(), OrdinalOf(run) + i);
      if (!chosen_[static_cast<size_t>(found - ordinals_.begin())]) continue;
      Keep(row < num_first_ ? FirstEqualKey({key, type_}) : LastEqualKey({key, type_}),
           {run.part, run.begin + i, 1});
    }
  }
  group_.clear();
  num_first_ = 0;
}

}  // namespace cfile::internal
