// Checks that the levels of the leaves of a schema belong to the same records.
//
// Leaves that are in the same groups repeat the levels of these groups. It is enough to compare
// each leaf with the next one, at the nearest group that both are in: this comparison includes the
// groups around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "cfile/levels.h"
#include "cfile/record_schema.h"

namespace cfile::internal {

// What a leaf says about the levels of a group that it is in.
struct GroupLevels {
  uint64_t num_entries = 0;  // occurrences of the group, with those that are null or empty
  uint64_t hash = 0;         // of their levels; differs from process to process
  friend bool operator==(const GroupLevels&, const GroupLevels&) = default;
};

// Reads the levels of one leaf in a column chunk. Thread-compatible.
class LevelCheck {
 public:
  // A check of a leaf that is in no group.
  LevelCheck() = default;
  LevelCheck(const RecordSchema& tree, size_t leaf);

  // Begins a column chunk.
  void Begin();
  // Adds the levels of a page: RLE-hybrid, empty if their maximum is 0. kDataLoss: the levels are
  // damaged, or an entry repeats a list that has no elements.
  absl::Status Add(std::span<const uint8_t> repetition, std::span<const uint8_t> definition,
                   uint32_t num_entries);
  // The levels of the nearest group that the leaf shares with the leaf before it, and with the leaf
  // after it.
  GroupLevels before() const { return before_.levels(); }
  GroupLevels after() const { return after_.levels(); }

 private:
  // The levels of one group so far.
  class Digest {
   public:
    Digest() = default;
    explicit Digest(const RecordNode& group)
        : max_repetition_(group.max_repetition), max_definition_(group.max_definition) {}
    // False: all records have this group once.
    bool needed() const { return max_definition_ > 0; }
    void Clear() { num_entries_ = hash_ = num_waiting_ = 0; }
    void Add(const uint16_t* repetition, const uint16_t* definition, size_t count);
    GroupLevels levels() const;

   private:
    uint16_t max_repetition_ = 0;
    uint16_t max_definition_ = 0;
    uint64_t num_entries_ = 0;
    uint64_t hash_ = 0;
    size_t num_waiting_ = 0;
    std::array<uint32_t, 256> waiting_;  // the levels that hash_ does not have yet
  };

  absl::Status CheckLists(const uint16_t* repetition, const uint16_t* definition, size_t count);

  LevelLimits limits_;
  // By repetition level: the least definition level of a list that has elements.
  std::vector<uint16_t> list_definition_;
  uint16_t last_definition_ = 0;
  uint64_t num_entries_ = 0;
  Digest before_;
  Digest after_;
};

// Compares after() of `leaf` with before() of the next leaf. kDataLoss: they differ; the error
// names both leaves and the group.
absl::Status CompareLevels(const RecordSchema& tree, size_t leaf, const GroupLevels& after,
                           const GroupLevels& before);

}  // namespace cfile::internal
