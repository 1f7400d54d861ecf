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

}  // namespace cfile::internal
