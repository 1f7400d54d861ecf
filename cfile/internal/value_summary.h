// Counts and bounds of values while they are written or verified: what BlockStatistics are made of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cfile/batch.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// Of a bound that is a string as many bytes are kept (cfile/FORMAT.md, Statistics).
inline constexpr size_t kMaxBoundBytes = 64;

// Thread-compatible. For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
class ValueSummary {
 public:
  // Values that are present.
  void Add(std::span<const T> values);
  // The same of values that ascend, and that are not less than those before them; none is NaN.
  void AddAscending(std::span<const T> values);

  // All that `other` has seen.
  void Merge(const ValueSummary& other);

  // What has been seen, with `null_count` nulls beside it. Int96 has counts only.
  BlockStatistics Statistics(uint64_t null_count) const;

  uint64_t present_count() const { return present_count_; }
  void Clear() { present_count_ = nan_count_ = 0; }

 private:
  bool has_bounds() const { return present_count_ > nan_count_; }
  void Widen(const T& min, const T& max, bool first);

  uint64_t present_count_ = 0;
  uint64_t nan_count_ = 0;
  // If has_bounds(). Of bytes the first kMaxBoundBytes + 1: enough to tell which are cut.
  Owned<T> min_{};
  Owned<T> max_{};
};

}  // namespace cfile::internal
