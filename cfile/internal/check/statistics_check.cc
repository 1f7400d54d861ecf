#include "cfile/internal/check/statistics_check.h"

#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

// Compares the stored statistics, `stated`, with the statistics computed from the values, `found`.
absl::Status Compare(const BlockStatistics& stated, const BlockStatistics& found) {
  if (stated.present_count != found.present_count || stated.null_count != found.null_count ||
      stated.nan_count != found.nan_count) {
    return DataLoss("they say ", stated.present_count, " present values, ", stated.null_count,
                    " nulls and ", stated.nan_count, " NaN, found ", found.present_count, ", ",
                    found.null_count, " and ", found.nan_count);
  }
  if (stated.min_key &&
      (!found.min_key || *stated.min_key > *found.min_key ||
       (stated.min_exact && (!found.min_exact || *stated.min_key != *found.min_key)))) {
    return DataLoss("their minimum does not fit the values");
  }
  // `found` has no maximum if no key of the allowed length is at least as great as all values. A
  // stated maximum is then wrong.
  if (stated.max_key &&
      (!found.max_key || *stated.max_key < *found.max_key ||
       (stated.max_exact && (!found.max_exact || *stated.max_key != *found.max_key)))) {
    return DataLoss("their maximum does not fit the values");
  }
  return absl::OkStatus();
}

}  // namespace

template <typename T>
void StatisticsChecker<T>::Add(std::span<const T> values) {
  if (statistics_ == nullptr) return;
  block_.Add(values);
  if (statistics_->bloom_filter.empty()) return;
  for (const T& value : values) missing_in_filter_ |= !statistics_->MightContain(value);
}

template <typename T>
void StatisticsChecker<T>::Add(const Batch<T>& batch) {
  if (statistics_ == nullptr) return;
  if (batch.validity == nullptr) return Add(batch.values);
  if (batch.size() > capacity_) {
    capacity_ = batch.size();
    present_.reset(new T[capacity_]);
  }
  const size_t present =
      encodings::PackValues(batch.values.data(), batch.validity, 0, batch.size(), present_.get());
  Add(std::span<const T>(present_.get(), present));
}

template <typename T>
absl::Status StatisticsChecker<T>::FinishBlock(size_t index, uint64_t num_entries) {
  const uint64_t null_count = num_entries - block_.present_count();
  const BlockStatistics found = block_.Statistics(null_count);
  const bool missing = missing_in_filter_;
  file_.Merge(block_);
  null_count_ += null_count;
  block_.Clear();
  missing_in_filter_ = false;
  if (statistics_ == nullptr) return absl::OkStatus();
  if (missing) return DataLoss("a value of block ", index, " is not in the Bloom filter");
  if (index >= statistics_->blocks.size()) return absl::OkStatus();
  absl::Status status = Compare(statistics_->blocks[index], found);
  if (status.ok()) return status;
  return DataLoss("statistics of block ", index, ": ", std::string(status.message()));
}

template <typename T>
absl::Status StatisticsChecker<T>::FinishFile(size_t num_blocks) {
  if (statistics_ == nullptr) return absl::OkStatus();
  if (!statistics_->blocks.empty() && statistics_->blocks.size() != num_blocks) {
    return DataLoss("there are statistics of ", statistics_->blocks.size(),
                    " blocks, the file has ", num_blocks, " blocks");
  }
  absl::Status status = Compare(statistics_->file, file_.Statistics(null_count_));
  if (status.ok()) return status;
  return DataLoss("statistics of the file: ", std::string(status.message()));
}

#define CFILE_INSTANTIATE(T) template class StatisticsChecker<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::internal
