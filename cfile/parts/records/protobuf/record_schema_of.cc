#include "cfile/protobuf_records.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/parts/records/protobuf/message_fields.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::AboveLimit;
using encodings::StrCat;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using internal::IsMessage;
using internal::TypeOf;

Repetition RepetitionOf(const FieldDescriptor& field) {
  if (field.is_repeated()) return Repetition::kRepeated;
  return field.has_presence() && !field.is_required() ? Repetition::kOptional
                                                      : Repetition::kRequired;
}

// Builds the nodes of a schema. RecordLimits::max_depth limits the recursion.
class SchemaBuilder {
 public:
  explicit SchemaBuilder(const RecordLimits& limits) : limits_(limits) {}

  std::vector<RecordNode> nodes;

  absl::Status AddFields(const Descriptor& message) {
    if (std::find(open_.begin(), open_.end(), &message) != open_.end()) {
      return absl::InvalidArgumentError(StrCat(Where(), "messages of type ", message.full_name(),
                                               " contain messages of the same type"));
    }
    if (message.field_count() == 0) {
      return absl::InvalidArgumentError(
          StrCat(Where(), "messages of type ", message.full_name(), " have no fields"));
    }
    // The tree may be far larger than the types, so check the limits before memory is allocated.
    if (open_.size() > limits_.max_depth || nodes.size() > limits_.max_nodes) {
      return encodings::OutOfRange(Where(), "the schema is ",
                                   open_.size() > limits_.max_depth
                                       ? AboveLimit(limits_.max_depth, "max_depth")
                                       : AboveLimit(limits_.max_nodes, "max_nodes"));
    }
    open_.push_back(&message);
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      if (field.is_map()) {
        CFILE_RETURN_IF_ERROR(AddMap(field));
      } else {
        CFILE_RETURN_IF_ERROR(AddField(field, RepetitionOf(field)));
      }
    }
    open_.pop_back();
    return absl::OkStatus();
  }

 private:
  absl::Status AddField(const FieldDescriptor& field, Repetition repetition) {
    nodes.push_back({.name = field.name(), .repetition = repetition});
    if (!IsMessage(field)) {
      nodes.back().type = TypeOf(field);
      return absl::OkStatus();
    }
    nodes.back().num_children = static_cast<size_t>(field.message_type()->field_count());
    path_.push_back(field.name());
    CFILE_RETURN_IF_ERROR(AddFields(*field.message_type()));
    path_.pop_back();
    return absl::OkStatus();
  }

  absl::Status AddMap(const FieldDescriptor& field) {
    nodes.push_back({.name = field.name(), .kind = GroupKind::kMap, .num_children = 1});
    nodes.push_back({.name = "key_value", .repetition = Repetition::kRepeated, .num_children = 2});
    path_.insert(path_.end(), {field.name(), "key_value"});
    CFILE_RETURN_IF_ERROR(AddField(*field.message_type()->map_key(), Repetition::kRequired));
    CFILE_RETURN_IF_ERROR(AddField(*field.message_type()->map_value(), Repetition::kRequired));
    path_.resize(path_.size() - 2);
    return absl::OkStatus();
  }

  // "PATH: " for the field whose message type is being added; empty for the outermost message.
  std::string Where() const {
    return path_.empty() ? "" : absl::StrCat(absl::StrJoin(path_, "."), ": ");
  }

  const RecordLimits& limits_;
  std::vector<const Descriptor*> open_;
  std::vector<std::string> path_;
};

}  // namespace

absl::StatusOr<RecordSchema> RecordSchemaOf(const Descriptor& descriptor,
                                            const RecordLimits& limits) {
  SchemaBuilder builder(limits);
  builder.nodes.push_back(
      {.name = descriptor.name(), .num_children = static_cast<size_t>(descriptor.field_count())});
  CFILE_RETURN_IF_ERROR(builder.AddFields(descriptor));
  return RecordSchema::Create(std::move(builder.nodes), limits);
}

}  // namespace cfile
