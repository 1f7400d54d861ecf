// Which field of a protobuf message each node of a schema is.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "cfile/record_schema.h"
#include "google/protobuf/descriptor.h"

namespace cfile::internal {

// By node, nullptr where the message has none. A map's group and the group of its entries have the
// map's field. kInvalidArgument, with the node's path: the field has another type.
absl::StatusOr<std::vector<const google::protobuf::FieldDescriptor*>> MatchFields(
    const google::protobuf::Descriptor& descriptor, const RecordSchema& schema);

// Counts what a record takes as a message, in the units of ReaderOptions::max_message_size_bytes.
class MessageBudget {
 public:
  static constexpr size_t kGroupBytes = 64;
  static constexpr size_t kValueBytes = 16;  // and those of a string

  explicit MessageBudget(size_t max_size_bytes) : max_size_bytes_(max_size_bytes) {}

  void BeginRecord() { size_bytes_ = 0; }
  // kOutOfRange, naming the option: the record has more than the limit.
  absl::Status Take(size_t bytes);

 private:
  const size_t max_size_bytes_;
  size_t size_bytes_ = 0;
};

}  // namespace cfile::internal
