// Splits records into the levels and values of their leaves, as in the Dremel paper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "cfile/parts/records/leaf_buffer.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"

namespace cfile::internal {

// Takes records and fills a buffer for each leaf. Thread-compatible.
//
// kInvalidArgument, with the field's path: a required field is missing, a field that is not
// repeated occurs twice, a value has another type than its leaf, or the calls do not nest as the
// schema does. After an error, the buffers hold a part of the record; call Clear, and do not
// continue.
class RecordShredder final : public RecordVisitor {
 public:
  explicit RecordShredder(const RecordSchema& schema);

  absl::Status BeginGroup(size_t node) override;
  absl::Status EndGroup(size_t node) override;
  absl::Status Value(size_t node, const RecordValue& value) override;

  // The number of finished records, and whether a record is open.
  uint64_t num_records() const { return num_records_; }
  bool in_record() const { return !open_.empty(); }

  // The buffers, one for each leaf, which the caller empties with Clear.
  const std::vector<std::unique_ptr<LeafBuffer>>& leaves() const { return leaves_; }
  // Approximate bytes in the buffers.
  size_t buffered_bytes() const { return buffered_bytes_; }
  void Clear();

 private:
  struct Group {
    size_t node;
    uint16_t repetition;  // of the group's first entry in each leaf below
    size_t fields_left;   // fields that have not occurred yet
    uint64_t occurrence;  // a unique number
  };

  // The properties of a node that Enter needs.
  struct Node {
    size_t parent;
    size_t num_children;  // 0: a leaf
    size_t leaf;          // the first leaf in the node
    uint16_t max_repetition;
    bool repeated;
    uint64_t seen_in = 0;  // the occurrence of the group in which the node last occurred
  };

  // Finds the repetition level of `node`, which occurs now. False if `node` is not allowed here;
  // Misplaced then returns the error.
  bool Enter(size_t node, uint16_t& repetition);
  // Not inlined, so that the functions that are called for each value stay short.
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
