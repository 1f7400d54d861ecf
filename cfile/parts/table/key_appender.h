// Appends the keys of a merge to the sort column of a new part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "cfile/untyped.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// If only the newest rows are kept, a row waits until the next one shows that its key is another
// one. Thread-compatible.
class KeyAppender {
 public:
  // The appender writes keys to `writer`, and adds the rows that have these keys to `runs`. Both
  // must outlive the appender.
  KeyAppender(AnyWriter& writer, encodings::PhysicalType type, bool newest_only,
              std::vector<Run>& runs)
      : writer_(writer),
        type_(type),
        width_(encodings::WidthOf(encodings::LaneOf(type))),
        less_(KeyLessOf(type)),
        newest_only_(newest_only),
        runs_(runs) {}

  // Appends the next rows of the merge, at least one.
  absl::Status Append(const KeyMerge::Rows& rows) {
    if (!newest_only_) {
      for (const Run& run : rows.runs) AddRun(run);
      return writer_.Append(rows.keys);
    }
    kept_.clear();
    const void* waiting = waiting_.value();
    const auto* key = static_cast<const std::byte*>(rows.keys.values);
    for (const Run& run : rows.runs) {
      for (uint64_t i = 0; i < run.count; ++i, key += width_) {
        if (!waits_ || less_(LastEqualKey({waiting, type_}), key)) {
          KeepWaiting(waiting);
        } else if (run.part < waiting_row_.part) {
          continue;  // the waiting row has -0 and is newer than this row, which has 0
        }
        waiting = key;
        waiting_row_ = {run.part, run.begin + i, 1};
        waits_ = true;
      }
    }
    CFILE_RETURN_IF_ERROR(AppendKept());
    if (waiting != waiting_.value()) waiting_.Set({waiting, type_});
    return absl::OkStatus();
  }

  // Call after the last rows. Appends the row that waits, if there is one.
  absl::Status Finish() {
    kept_.clear();
    KeepWaiting(waiting_.value());
    waits_ = false;
    return AppendKept();
  }

 private:
  void KeepWaiting(const void* key) {
    if (!waits_) return;
    kept_.resize(kept_.size() + width_);
    std::memcpy(kept_.data() + kept_.size() - width_, key, width_);
    AddRun(waiting_row_);
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
  const encodings::PhysicalType type_;
  const size_t width_;  // of a key in bytes
  const LessFunction less_;
  const bool newest_only_;
  std::vector<Run>& runs_;
  std::vector<std::byte> kept_;  // keys
  // A row that waits, and its key.
  bool waits_ = false;
  Run waiting_row_ = {};
  OwnedKey waiting_;
};

}  // namespace cfile::internal
