// Appends the keys of a merge to the sort column of a new part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/untyped.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Consecutive rows of a part.
struct Run {
  size_t part;
  uint64_t begin;  // a row of the part
  uint64_t count;
};

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
        lane_(encodings::LaneOf(type)),
        less_(KeyLessOf(type)),
        newest_only_(newest_only),
        runs_(runs) {}

  // Appends the next rows of the merge: those of `part` from row `begin` on, at least one.
  absl::Status Append(size_t part, uint64_t begin, const AnyBatch& batch) {
    if (!newest_only_) return AppendRows(part, begin, batch);
    size_t first = 0;
    if (waits_ && waiting_part_ <= part && Equal(waiting_.value(), batch.values)) {
      waits_ = false;
    } else if (waits_) {
      // The waiting row has -0 and is newer than these rows, which have 0 and are in an earlier
      // part.
      while (first < batch.size() && Equal(waiting_.value(), At(batch, first))) ++first;
      if (first == batch.size()) return absl::OkStatus();
    }
    CFILE_RETURN_IF_ERROR(Finish());
    const size_t last = batch.size() - 1;
    while (first < last) {
      size_t end = first;
      while (end < last && !Equal(At(batch, end), At(batch, end + 1))) ++end;
      if (end > first) {
        CFILE_RETURN_IF_ERROR(
            AppendRows(part, begin + first, {.values = At(batch, first), .count = end - first}));
      }
      first = end + 1;  // row `end` has a newer one, or is the last one
    }
    waiting_.Set({At(batch, last), type_});
    waiting_part_ = part;
    waiting_row_ = begin + last;
    waits_ = true;
    return absl::OkStatus();
  }

  // Call after the last rows. Appends the row that waits, if there is one.
  absl::Status Finish() {
    if (!std::exchange(waits_, false)) return absl::OkStatus();
    return AppendRows(waiting_part_, waiting_row_, {.values = waiting_.value(), .count = 1});
  }

 private:
  const void* At(const AnyBatch& batch, size_t i) const {
    return encodings::ValueAt(batch.values, lane_, i);
  }
  // Precondition: `b` is not before `a` in the order of the rows.
  bool Equal(const void* a, const void* b) const { return !less_(LastEqualKey({a, type_}), b); }
  absl::Status AppendRows(size_t part, uint64_t begin, const AnyBatch& rows) {
    if (!runs_.empty() && runs_.back().part == part &&
        runs_.back().begin + runs_.back().count == begin) {
      runs_.back().count += rows.size();
    } else {
      runs_.push_back({part, begin, rows.size()});
    }
    return writer_.Append(rows);
  }

  AnyWriter& writer_;
  const encodings::PhysicalType type_;
  const encodings::Lane lane_;
  const LessFunction less_;
  const bool newest_only_;
  std::vector<Run>& runs_;
  OwnedKey waiting_;  // the value of the row that waits
  size_t waiting_part_ = 0;
  uint64_t waiting_row_ = 0;
  bool waits_ = false;
};

}  // namespace cfile::internal
