// Collects counts and bounds of values for BlockStatistics, while values are written or verified.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cfile/batch.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// A bound that is a string is cut to this many bytes (cfile/FORMAT.md, Statistics).
inline constexpr size_t kMaxBoundBytes = 64;

// The counts and the bounds of values, without their type. Thread-compatible.
class AnySummary {
 public:
  virtual ~AnySummary() = default;
  static std::unique_ptr<AnySummary> Create(PhysicalType type);

  // Adds present values.
  virtual void AddAny(encodings::ValueSpan values) = 0;
  // As AddAny, for values in ascending order. Preconditions: no value is less than a value added
  // before; no value is NaN.
  virtual void AddAscending(encodings::ValueSpan values) = 0;

  // Adds all values that were added to `other`, a summary of the same type.
  virtual void Merge(const AnySummary& other) = 0;

  // Makes this object the summary of a block that has these statistics. Returns false if
  // Statistics(statistics.null_count) would then return other statistics.
  virtual bool Set(const BlockStatistics& statistics) = 0;

  // The statistics of all values added, with `null_count` nulls. For Int96, which has no order,
  // only the counts are set.
  virtual BlockStatistics Statistics(uint64_t null_count) const = 0;

  uint64_t present_count() const { return present_count_; }
  void Clear() { present_count_ = nan_count_ = 0; }

 protected:
  bool has_bounds() const { return present_count_ > nan_count_; }

  uint64_t present_count_ = 0;
  uint64_t nan_count_ = 0;
};

// For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
class ValueSummary final : public AnySummary {
 public:
  void Add(std::span<const T> values);
  void AddAny(encodings::ValueSpan values) override { Add(values.As<T>()); }
  void AddAscending(encodings::ValueSpan values) override;
  void Merge(const AnySummary& other) override;
  bool Set(const BlockStatistics& statistics) override;
  BlockStatistics Statistics(uint64_t null_count) const override;

 private:
  void Widen(const T& min, const T& max, bool first);

  // Defined if has_bounds(). For bytes, only the first kMaxBoundBytes + 1 bytes: enough to know
  // whether the bound is cut.
  Owned<T> min_{};
  Owned<T> max_{};
};

}  // namespace cfile::internal
