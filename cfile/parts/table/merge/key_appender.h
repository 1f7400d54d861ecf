// Appends the keys of a merge to the sort column of a new part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/parts/table/merge/key_merge.h"
#include "cfile/parts/table/merge/newest_of_key.h"
#include "cfile/table.h"
#include "cfile/untyped.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// As ChooseRows of cfile/table_maintenance.h, for one table.
using ChooseOfKey =
    std::function<absl::Status(std::span<const uint64_t> ordinals, std::vector<bool>& kept)>;

// Which rows of a merge are kept. A view.
struct Kept {
  // Of each key, only the newest row is kept, or the rows that `choose` chooses if it is not null.
  bool by_key;
  // For each part, a bit for each row that is then left out even if it is the newest; no bits: no
  // row of the part.
  const std::vector<std::vector<bool>>& gone;
  const ChooseOfKey& choose;
  std::span<const PartInfo> parts;  // of the table
};

// Thread-compatible.
class KeyAppender {
 public:
  // The appender writes keys to `writer`, and adds the rows that have these keys to `runs`. These,
  // and what `kept` refers to, must outlive the appender.
  KeyAppender(AnyWriter& writer, encodings::PhysicalType type, const Kept& kept,
              std::vector<Run>& runs)
      : writer_(writer),
        type_(type),
        width_(encodings::WidthOf(encodings::LaneOf(type))),
        less_(KeyLessOf(type)),
        newest_(kept.by_key ? std::optional<NewestOfKey>(type) : std::nullopt),
        kept_(kept),
        runs_(runs) {}

  // Appends the next rows of the merge, at least one. Errors: also those of Kept::choose.
  absl::Status Append(const KeyMerge::Rows& rows) {
    if (!newest_) {
      for (const Run& run : rows.runs) AddRun(run, runs_);
      return writer_.Append(rows.keys);
    }
    keys_.clear();
    if (kept_.choose == nullptr) {
      newest_->Add(rows, [this](const void* key, const Run& row) { KeepNewest(key, row); });
    } else {
      newest_->Add(
          rows, [this](const void* key, const Run&) { Choose(key); },
          [this](const void* key, const Run& row) { AddToGroup(key, row); });
    }
    return AppendKept();
  }

  // Call after the last rows. Appends the rows that wait, if there are any.
  absl::Status Finish() {
    keys_.clear();
    if (newest_) {
      newest_->Finish([this](const void* key, const Run& row) {
        kept_.choose == nullptr ? KeepNewest(key, row) : Choose(key);
      });
    }
    return AppendKept();
  }

 private:
  void KeepNewest(const void* key, const Run& row) {
    if (row.part < kept_.gone.size() && row.begin < kept_.gone[row.part].size() &&
        kept_.gone[row.part][row.begin]) {
      return;
    }
    Keep(key, row);
  }
  void Keep(const void* key, const Run& row) {
    keys_.resize(keys_.size() + width_);
    std::memcpy(keys_.data() + keys_.size() - width_, key, width_);
    AddRun(row, runs_);
  }
  absl::Status AppendKept() {
    CFILE_RETURN_IF_ERROR(status_);
    return writer_.Append(AnyBatch{.values = keys_.data(), .count = keys_.size() / width_});
  }

  void AddToGroup(const void* key, const Run& row) {
    if (IsFloatType(type_)) num_negative_zeros_ += less_(key, LastEqualKey({key, type_}));
    AddRun(row, group_);
  }
  // Keeps those rows of the group that the program chooses. `key`: of one of these rows.
  void Choose(const void* key);
  uint64_t OrdinalOf(const Run& run) const {
    return kept_.parts[run.part].first_ordinal + run.begin;
  }

  static void AddRun(const Run& run, std::vector<Run>& runs) {
    if (!runs.empty() && runs.back().part == run.part &&
        runs.back().begin + runs.back().count == run.begin) {
      runs.back().count += run.count;
    } else {
      runs.push_back(run);
    }
  }

  AnyWriter& writer_;
  const encodings::PhysicalType type_;
  const size_t width_;  // of a key in bytes
  const LessFunction less_;
  std::optional<NewestOfKey> newest_;
  const Kept kept_;
  std::vector<Run>& runs_;
  std::vector<std::byte> keys_;  // of the rows that are kept
  absl::Status status_;          // of Kept::choose

  // The rows of the last key, in the order of the merge. The first num_negative_zeros_ of them have
  // -0.
  std::vector<Run> group_;
  size_t num_negative_zeros_ = 0;
  // For Choose: the ordinals of these rows, and which of them are kept.
  std::vector<uint64_t> ordinals_;
  std::vector<bool> chosen_;
};

}  // namespace cfile::internal
