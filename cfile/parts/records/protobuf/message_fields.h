// Matches the nodes of a schema with the fields of a protobuf message.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "cfile/record_schema.h"
#include "google/protobuf/descriptor.h"

namespace cfile::internal {

// The type of the column for a field that is not a message.
ColumnType TypeOf(const google::protobuf::FieldDescriptor& field);
// True if the field holds messages.
bool IsMessage(const google::protobuf::FieldDescriptor& field);

// Returns the field of each node, nullptr if the message does not have the field. A map's group and
// the group of its entries both have the map's field. kInvalidArgument, with the node's path, if a
// field has another type.
absl::StatusOr<std::vector<const google::protobuf::FieldDescriptor*>> MatchFields(
    const google::protobuf::Descriptor& descriptor, const RecordSchema& schema);

// Counts the size of a record as a message, in the units of ReaderOptions::max_message_size_bytes.
class MessageBudget {
 public:
  static constexpr size_t kGroupBytes = 64;
  static constexpr size_t kValueBytes = 16;  // plus the bytes of a string

  explicit MessageBudget(size_t max_size_bytes) : max_size_bytes_(max_size_bytes) {}

  void BeginRecord() { size_bytes_ = 0; }
  // Adds `bytes`. kOutOfRange, naming the option, if the record exceeds the limit.
  absl::Status Take(size_t bytes);

 private:
  const size_t max_size_bytes_;
  size_t size_bytes_ = 0;
};

}  // namespace cfile::internal
