#include "cfile/parts/table/merge/key_appender.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cfile::internal {

void KeyAppender::Choose(const void* key) {
  if (!status_.ok()) return;
  ordinals_.clear();
  for (const Run& run : group_) {
    for (uint64_t i = 0; i < run.count; ++i) ordinals_.push_back(OrdinalOf(run) + i);
  }
  // Rows with 0 may be older than rows with -0, which come before them in the merge.
  if (num_negative_zeros_ > 0) std::sort(ordinals_.begin(), ordinals_.end());
  chosen_.assign(ordinals_.size(), true);
  status_ = kept_.choose(ordinals_, chosen_);
  if (!status_.ok()) return;
  if (chosen_.size() != ordinals_.size()) {
    status_ = absl::InvalidArgumentError(absl::StrCat("Compact: the function that chooses among ",
                                                      ordinals_.size(), " rows returns ",
                                                      chosen_.size(), " choices"));
    return;
  }
  size_t row = 0;
  for (const Run& run : group_) {
    for (uint64_t i = 0; i < run.count; ++i, ++row) {
      size_t place = row;
      if (num_negative_zeros_ > 0) {
        const auto begin = ordinals_.begin();
        place = static_cast<size_t>(std::lower_bound(begin, ordinals_.end(), OrdinalOf(run) + i) -
                                    begin);
      }
      if (!chosen_[place]) continue;
      Keep(row < num_negative_zeros_ ? FirstEqualKey({key, type_}) : LastEqualKey({key, type_}),
           {run.part, run.begin + i, 1});
    }
  }
  group_.clear();
  num_negative_zeros_ = 0;
}

}  // namespace cfile::internal
