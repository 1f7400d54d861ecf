// Assembles records from the levels and values of their leaves, as in the Dremel paper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"

namespace cfile::internal {

// The entries of one leaf, in order.
class LeafStream {
 public:
  virtual ~LeafStream() = default;

  // Goes to the first entry of `record`.
  absl::Status Seek(uint64_t record);
  // Call before every record; do not call after the last.
  absl::Status BeginRecord() { return position_ < num_entries_ ? absl::OkStatus() : Refill(); }

  // True if there is a next entry. At the end of a record there may be no next entry; callers treat
  // this as if the next entry began the next record.
  bool at_entry() const { return position_ < num_entries_; }
  uint16_t repetition() const {
    return repetition_.empty() || !at_entry() ? uint16_t{0} : repetition_[position_];
  }
  // Precondition: at_entry().
  uint16_t definition() const { return definition_.empty() ? uint16_t{0} : definition_[position_]; }
  // Passes the current entry's value to `visitor`. Precondition: the entry has a value.
  absl::Status TellValue(size_t node, RecordVisitor& visitor) const {
    return Tell(values_position_, node, visitor);
  }
  // Moves past the current entry and, with `has_value`, past its value.
  absl::Status Advance(bool has_value) {
    values_position_ += has_value ? 1 : 0;
    if (++position_ < num_entries_ || batch_ends_record_) return absl::OkStatus();
    return Refill();
  }

 protected:
  struct Entries {
    size_t num_entries = 0;  // 0: the end of the leaf
    std::span<const uint16_t> repetition = {};
    std::span<const uint16_t> definition = {};
    bool ends_record = true;  // the last entry is the last one of its record
  };

 private:
  virtual absl::Status SeekToRecord(uint64_t record) = 0;
  // Loads the next entries, valid until the next call.
  virtual absl::StatusOr<Entries> Load() = 0;
  // Passes loaded value i to `visitor`.
  virtual absl::Status Tell(size_t i, size_t node, RecordVisitor& visitor) const = 0;

  absl::Status Refill();

  std::span<const uint16_t> repetition_;
  std::span<const uint16_t> definition_;
  size_t num_entries_ = 0;
  size_t position_ = 0;
  size_t values_position_ = 0;
  bool batch_ends_record_ = true;
};

// Reads records from some or all leaves of a schema and passes them to a visitor. Groups without
// any of these leaves are omitted. Thread-compatible.
//
// kDataLoss, with path and record, if the levels of the leaves contradict each other or the schema.
class RecordAssembler {
 public:
  // `leaves`: the numbers of the leaves, ascending; `streams`: one for each leaf, not owned. The
  // streams must outlive the assembler.
  RecordAssembler(const RecordSchema& schema, std::span<const size_t> leaves,
                  std::vector<LeafStream*> streams);

  absl::Status Seek(uint64_t record);
  // Passes the next record to `visitor`. Precondition: there is one. After an error, another call
  // passes the same record again, from its beginning.
  absl::Status Next(RecordVisitor& visitor);
  // The number of the next record.
  uint64_t record() const { return record_; }

 private:
  // A node of the projection, in preorder.
  struct Step {
    size_t node;
    size_t end = 0;           // the steps after this one and before `end` are below it
    size_t first_stream = 0;  // the streams of the node's leaves: first_stream to end_stream - 1
    size_t end_stream = 0;
    Repetition repetition;
    bool is_leaf;
    uint16_t max_repetition;
    uint16_t max_definition;
  };

  // The recursion is as deep as the schema, whose depth is limited.
  absl::Status ReadGroup(size_t step, uint16_t repetition, RecordVisitor& visitor);
  absl::Status ReadField(size_t step, uint16_t repetition, RecordVisitor& visitor);
  absl::Status SkipMissing(const Step& step, uint16_t repetition);
  absl::Status Wrong(size_t stream, uint16_t repetition, uint16_t definition) const;

  const RecordSchema schema_;
  const std::vector<size_t> leaves_;
  const std::vector<LeafStream*> streams_;
  std::vector<Step> steps_;
  uint64_t record_ = 0;
  bool in_place_ = true;  // all streams are at record_
};

}  // namespace cfile::internal
