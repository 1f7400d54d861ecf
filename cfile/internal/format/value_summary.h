// Collects counts and bounds of values for BlockStatistics, while values are written or verified.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cfile/batch.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// A bound that is a string is cut to this many bytes (cfile/FORMAT.md, Statistics).
inline constexpr size_t kMaxBoundBytes = 64;

// The shortest key that is greater than all keys that begin with `bytes`; nullopt if all of `bytes`
// are 0xff.
std::optional<std::string> RoundedUp(std::string bytes);

// Thread-compatible. For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
class ValueSummary {
 public:
  // Adds present values.
  void Add(std::span<const T> values);
  // As Add, for values in ascending order. Preconditions: no value is less than a value added
  // before; no value is NaN.
  void AddAscending(std::span<const T> values);

  // Adds all values that were added to `other`.
  void Merge(const ValueSummary& other);

  // Makes this object the summary of a block that has these statistics.
  // Returns false if that is not possible.
  // Then Statistics(statistics.null_count) would return other statistics.
  bool Set(const BlockStatistics& statistics);

  // The statistics of all values added, with `null_count` nulls. For Int96, which has no order,
  // only the counts are set.
  BlockStatistics Statistics(uint64_t null_count) const;

  uint64_t present_count() const { return present_count_; }
  void Clear() { present_count_ = nan_count_ = 0; }

 private:
  bool has_bounds() const { return present_count_ > nan_count_; }
  void Widen(const T& min, const T& max, bool first);

  uint64_t present_count_ = 0;
  uint64_t nan_count_ = 0;
  // Defined if has_bounds(). For bytes, only the first kMaxBoundBytes + 1 bytes: enough to know
  // whether the bound is cut.
  Owned<T> min_{};
  Owned<T> max_{};
};

}  // namespace cfile::internal
