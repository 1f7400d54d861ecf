// Records into the levels and values of their leaves: the first half of Dremel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "cfile/internal/leaf_buffer.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"

namespace cfile::internal {

// Takes records and fills a buffer for each leaf. Thread-compatible.
//
// Errors, kInvalidArgument with the field's path: a required field is missing, one that is not
// repeated stands twice, a value has another type than its leaf, or the calls do not nest as the
// schema does. The record is then half in the buffers: Clear them and end, or go on with nothing.
class RecordShredder final : public RecordVisitor {
 public:
  explicit RecordShredder(const RecordSchema& schema);

  absl::Status BeginGroup(size_t node) override;
  absl::Status EndGroup(size_t node) override;
  absl::Status Value(size_t node, const RecordValue& value) override;

  // Records that have ended, and whether one has begun.
  uint64_t num_records() const { return num_records_; }
  bool in_record() const { return !open_.empty(); }

  // By leaf. Whoever empties them calls Clear.
  const std::vector<std::unique_ptr<LeafBuffer>>& leaves() const { return leaves_; }
  // About the bytes that they hold.
  size_t buffered_bytes() const { return buffered_bytes_; }
  void Clear();

 private:
  struct Group {
    size_t node;
    uint16_t repetition;  // of the first entry in each leaf below
    size_t fields_left;   // that have not come yet
    uint64_t occurrence;  // a number of its own
  };

  // What is asked of a node each time it comes.
  struct Node {
    size_t parent;
    size_t num_children;  // 0: a leaf
    size_t leaf;          // the first one in it
    uint16_t max_repetition;
    bool repeated;
    uint64_t seen_in = 0;  // the occurrence of its group in which it was last seen
  };

  // Finds the repetition level of `node`, which comes now. False if it must not: Misplaced says
  // why.
  bool Enter(size_t node, uint16_t& repetition);
  // Errors. Made outside of the calls that a record consists of, which stay short so.
  [[gnu::noinline]] absl::Status Misplaced(size_t node) const;
  [[gnu::noinline]] absl::Status WrongType(size_t node) const;
  [[gnu::noinline]] static absl::Status NotOpen(size_t node);
  absl::Status FillMissing(const Group& group);
  absl::Status Error(size_t node, std::string_view what) const;

  const RecordSchema schema_;
  std::vector<std::unique_ptr<LeafBuffer>> leaves_;
  std::vector<Node> nodes_;
  std::vector<Group> open_;
  uint64_t occurrences_ = 0;
  uint64_t num_records_ = 0;
  size_t buffered_bytes_ = 0;
};

}  // namespace cfile::internal
