// Finds the rows of a table's parts that are the newest of their keys (MergeRule of
// cfile/schema.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/parts/scan/row_filter.h"
#include "cfile/table.h"

namespace cfile::internal {

// Keeps what it has found: a bit for each row of the parts that overlap. Thread-safe.
class NewestRows {
 public:
  // The bits of rows whose keys are less than `low`, or not less than `high`, are not found and may
  // have any value. nullopt: no bound.
  explicit NewestRows(std::optional<std::string> low = std::nullopt,
                      std::optional<std::string> high = std::nullopt)
      : low_(std::move(low)), high_(std::move(high)) {}

  // Returns the bits of a part, which are 1 for rows that are the newest of their keys. null: all
  // rows of the part are, because no other part has keys between its least and its greatest key.
  //
  // The first call for a part merges the keys of all parts that overlap with it, directly or
  // through other parts. Other threads wait for this call, and cannot be cancelled meanwhile.
  // `table`: the same in all calls. Precondition: the table has key columns. kCancelled:
  // `cancelled`, which may be null, was set. Other errors: those of KeyMerge. After
  // an error the call may be repeated.
  absl::StatusOr<RowBits> OfPart(const TableReader& table, size_t part,
                                 const std::atomic<bool>* cancelled);

 private:
  // Sets groups_ and group_of_.
  absl::Status Group(const TableReader& table);
  // Sets bits_ of the parts in a group.
  absl::Status Merge(const TableReader& table, const std::vector<size_t>& group,
                     const std::atomic<bool>* cancelled);

  const std::optional<std::string> low_, high_;
  std::mutex mutex_;  // guards the following
  // Each group has the numbers of parts that overlap with each other, directly or through others.
  // The first group is empty: 0 in group_of_ means that a part is in no group. Empty until Group is
  // called.
  std::vector<std::vector<size_t>> groups_;
  std::vector<size_t> group_of_;  // by the number of the part; 0: no part overlaps with it
  std::vector<RowBits> bits_;     // by the number of the part; null: not known
};

// What a scan of a table with a merge rule needs.
struct RowVersions {
  TableReader table;
  std::shared_ptr<NewestRows> rows;  // all scans of the open table share it
};

}  // namespace cfile::internal
