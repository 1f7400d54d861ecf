#include "cfile/parts/inspect/statistics_check.h"

#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/validity.h"

namespace cfile::internal {
namespace {

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

void StatisticsChecker::Add(encodings::ValueSpan values) {
  if (statistics_ == nullptr) return;
  block_->AddAny(values);
  if (statistics_->bloom_filter.empty()) return;
  encodings::VisitPhysicalType(type_, [&]<typename T>(std::type_identity<T>) {
    for (const T& value : values.As<T>()) missing_in_filter_ |= !statistics_->MightContain(value);
  });
}

void StatisticsChecker::Add(const AnyBatch& batch) {
  if (statistics_ == nullptr) return;
  if (batch.validity == nullptr) return Add(encodings::ValueSpan(batch.values, batch.count));
  const encodings::Lane lane = encodings::LaneOf(type_);
  void* const present = present_.Reserve(batch.count, encodings::WidthOf(lane));
  const size_t count =
      encodings::PackValues(lane, batch.values, batch.validity, 0, batch.count, present);
  Add(encodings::ValueSpan(present, count));
}

absl::Status StatisticsChecker::FinishBlock(size_t index, uint64_t num_entries) {
  const uint64_t null_count = num_entries - block_->present_count();
  const BlockStatistics found = block_->Statistics(null_count);
  const bool missing = missing_in_filter_;
  file_->Merge(*block_);
  null_count_ += null_count;
  block_->Clear();
  missing_in_filter_ = false;
  if (statistics_ == nullptr) return absl::OkStatus();
  if (missing) return DataLoss("a value of block ", index, " is not in the Bloom filter");
  if (index >= statistics_->blocks.size()) return absl::OkStatus();
  absl::Status status = Compare(statistics_->blocks[index], found);
  if (status.ok()) return status;
  return DataLoss("statistics of block ", index, ": ", std::string(status.message()));
}

absl::Status StatisticsChecker::FinishFile(size_t num_blocks) {
  if (statistics_ == nullptr) return absl::OkStatus();
  if (!statistics_->blocks.empty() && statistics_->blocks.size() != num_blocks) {
    return DataLoss("there are statistics of ", statistics_->blocks.size(),
                    " blocks, the file has ", num_blocks, " blocks");
  }
  absl::Status status = Compare(statistics_->file, file_->Statistics(null_count_));
  if (status.ok()) return status;
  return DataLoss("statistics of the file: ", std::string(status.message()));
}

}  // namespace cfile::internal
