// Appends the keys of a merge to the sort column of a new part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "cfile/parts/table/merge/newest_of_key.h"
#include "cfile/untyped.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Thread-compatible.
class KeyAppender {
 public:
  // The appender writes keys to `writer`, and adds the rows that have these keys to `runs`.
  // `newest_only`: keeps only the newest row of each key. `gone`: for each part, a bit for each row
  // that must then be left out; no bits: no row of the part. All must outlive the appender.
  KeyAppender(AnyWriter& writer, encodings::PhysicalType type, bool newest_only,
              const std::vector<std::vector<bool>>& gone, std::vector<Run>& runs)
      : writer_(writer),
        width_(encodings::WidthOf(encodings::LaneOf(type))),
        newest_(newest_only ? std::optional<NewestOfKey>(type) : std::nullopt),
        gone_(gone),
        runs_(runs) {}

  // Appends the next rows of the merge, at least one.
  absl::Status Append(const KeyMerge::Rows& rows) {
    if (!newest_) {
      for (const Run& run : rows.runs) AddRun(run);
      return writer_.Append(rows.keys);
    }
    kept_.clear();
    newest_->Add(rows, [this](const void* key, const Run& row) { Keep(key, row); });
    return AppendKept();
  }

  // Call after the last rows. Appends the row that waits, if there is one.
  absl::Status Finish() {
    kept_.clear();
    if (newest_) newest_->Finish([this](const void* key, const Run& row) { Keep(key, row); });
    return AppendKept();
  }

 private:
  void Keep(const void* key, const Run& row) {
    if (row.part < gone_.size() && row.begin < gone_[row.part].size() &&
        gone_[row.part][row.begin]) {
      return;
    }
    kept_.resize(kept_.size() + width_);
    std::memcpy(kept_.data() + kept_.size() - width_, key, width_);
    AddRun(row);
  }
  absl::Status AppendKept() {
    return writer_.Append(AnyBatch{.values = kept_.data(), .count = kept_.size() / width_});
  }
  void AddRun(const Run& run) {
    if (!runs_.empty() && runs_.back().part == run.part &&
        runs_.back().begin + runs_.back().count == run.begin) {
      runs_.back().count += run.count;
    } else {
      runs_.push_back(run);
    }
  }

  AnyWriter& writer_;
  const size_t width_;  // of a key in bytes
  std::optional<NewestOfKey> newest_;
  const std::vector<std::vector<bool>>& gone_;
  std::vector<Run>& runs_;
  std::vector<std::byte> kept_;  // keys
};

}  // namespace cfile::internal
