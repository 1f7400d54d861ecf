#include "cfile/parts/records/protobuf/message_fields.h"

#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::AboveLimit;
using encodings::StrCat;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

ColumnType TypeOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_ENUM:
      return ColumnType::Int32();
    case FieldDescriptor::CPPTYPE_INT64:
      return ColumnType::Int64();
    case FieldDescriptor::CPPTYPE_UINT32:
      return ColumnType::Uint32();
    case FieldDescriptor::CPPTYPE_UINT64:
      return ColumnType::Uint64();
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return ColumnType::Double();
    case FieldDescriptor::CPPTYPE_FLOAT:
      return ColumnType::Float();
    case FieldDescriptor::CPPTYPE_BOOL:
      return ColumnType::Bool();
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return field.type() == FieldDescriptor::TYPE_BYTES ? ColumnType::Binary() : ColumnType::String();
}

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

absl::StatusOr<std::vector<const FieldDescriptor*>> MatchFields(const Descriptor& descriptor,
                                                                const RecordSchema& schema) {
  std::vector<const FieldDescriptor*> fields(schema.nodes().size());
  std::vector<const Descriptor*> messages(schema.nodes().size());  // the type of each group
  messages[0] = &descriptor;
  for (size_t i = 1; i < schema.nodes().size(); ++i) {
    const RecordNode& node = schema.node(i);
    const Descriptor* const message = messages[node.parent];
    if (message == nullptr) continue;  // inside a group that the message does not have
    const RecordNode& parent = schema.node(node.parent);
    const FieldDescriptor* field = nullptr;
    if (fields[node.parent] != nullptr && parent.kind == GroupKind::kMap) {
      fields[i] = fields[node.parent];  // the group of the entries
      messages[i] = message;
      continue;
    }
    // In a map's entry, key and value are identified by position.
    if (message->map_key() != nullptr) {
      field = i == node.parent + 1 ? message->map_key() : message->map_value();
    } else {
      field = message->FindFieldByName(node.name);
    }
    if (field == nullptr) continue;
    const bool repeated = field->is_repeated() && !field->is_map();
    const bool same_type =
        node.is_leaf() ? !IsMessage(*field) && node.type.physical() == TypeOf(*field).physical()
                       : IsMessage(*field);
    if (!same_type || repeated != (node.repetition == Repetition::kRepeated) ||
        field->is_map() != (node.kind == GroupKind::kMap)) {
      return absl::InvalidArgumentError(
          StrCat(schema.Path(i), ": the field ", field->full_name(), " has a different type"));
    }
    fields[i] = field;
    if (IsMessage(*field)) messages[i] = field->message_type();
  }
  return fields;
}

absl::Status MessageBudget::Take(size_t bytes) {
  if (bytes > max_size_bytes_ - size_bytes_) {
    return absl::OutOfRangeError(StrCat("the memory that a record takes is ",
                                        AboveLimit(max_size_bytes_, "max_message_size_bytes")));
  }
  size_bytes_ += bytes;
  return absl::OkStatus();
}

}  // namespace cfile::internal
