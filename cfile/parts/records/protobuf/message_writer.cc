#include "cfile/protobuf_records.h"

#include <utility>

#include "cfile/core/io/named_status.h"
#include "cfile/parts/records/protobuf/message_fields.h"
#include "encodings/core/status.h"
#include "google/protobuf/message.h"

namespace cfile {

using encodings::StrCat;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class MessageWriter::Impl {
 public:
  Impl(const Descriptor& descriptor, std::vector<const FieldDescriptor*> fields,
       RecordWriter records, std::span<const WriterOptions> options)
      : descriptor_(descriptor),
        schema_(records.schema()),
        fields_(std::move(fields)),
        records_(std::move(records)),
        budget_((options.empty() ? WriterOptions() : options[0]).max_message_size_bytes) {}

  RecordWriter& records() { return records_; }

  absl::Status Finish() { return failure_.ok() ? records_.Finish() : failure_; }

  absl::Status Write(const Message& message) {
    if (message.GetDescriptor() != &descriptor_) {
      return absl::InvalidArgumentError(StrCat("a message of type ", descriptor_.full_name(),
                                               " expected, found ", message.GetTypeName()));
    }
    if (!failure_.ok()) return failure_;
    budget_.BeginRecord();
    return failure_ = Fields(0, message);
  }

 private:
  // The next functions recurse as deep as the schema, whose depth is limited.

  absl::Status Fields(size_t node, const Message& message) {
    CFILE_RETURN_IF_ERROR(BeginGroup(node));
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    for (size_t child = node + 1; child < schema_.node(node).end; child = schema_.node(child).end) {
      const FieldDescriptor* const field = fields_[child];
      if (field == nullptr) continue;
      const bool is_map = field->is_map();
      if (is_map) CFILE_RETURN_IF_ERROR(BeginGroup(child));
      if (field->is_repeated()) {
        const int size = reflection.FieldSize(message, field);
        for (int i = 0; i < size; ++i) {
          CFILE_RETURN_IF_ERROR(Once(child + (is_map ? 1 : 0), message, *field, i));
        }
      } else if (!field->has_presence() || reflection.HasField(message, field) ||
                 message.GetDescriptor()->map_key() != nullptr) {
        CFILE_RETURN_IF_ERROR(Once(child, message, *field, 0));
      }
      if (is_map) CFILE_RETURN_IF_ERROR(records_.EndGroup(child));
    }
    return records_.EndGroup(node);
  }

  absl::Status BeginGroup(size_t node) {
    if (node != 0) CFILE_RETURN_IF_ERROR(budget_.Take(internal::MessageBudget::kGroupBytes));
    return records_.BeginGroup(node);
  }

  // Passes element i of a repeated field, or the value of a field that is not repeated.
  absl::Status Once(size_t node, const Message& message, const FieldDescriptor& field, int i) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      CFILE_RETURN_IF_ERROR(budget_.Take(internal::MessageBudget::kValueBytes));
    const auto value = [&](auto get_repeated, auto get) {
      return records_.Value(node, field.is_repeated()
                                      ? (reflection.*get_repeated)(message, &field, i)
                                      : (reflection.*get)(message, &field));
    };
    using R = google::protobuf::Reflection;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return value(&R::GetRepeatedInt32, &R::GetInt32);
      case FieldDescriptor::CPPTYPE_INT64:
        return value(&R::GetRepeatedInt64, &R::GetInt64);
      case FieldDescriptor::CPPTYPE_UINT32:
        return value(&R::GetRepeatedUInt32, &R::GetUInt32);
      case FieldDescriptor::CPPTYPE_UINT64:
        return value(&R::GetRepeatedUInt64, &R::GetUInt64);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return value(&R::GetRepeatedDouble, &R::GetDouble);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return value(&R::GetRepeatedFloat, &R::GetFloat);
      case FieldDescriptor::CPPTYPE_BOOL:
        return value(&R::GetRepeatedBool, &R::GetBool);
      case FieldDescriptor::CPPTYPE_ENUM:
        return value(&R::GetRepeatedEnumValue, &R::GetEnumValue);
      case FieldDescriptor::CPPTYPE_STRING: {
        const std::string& text =
            field.is_repeated()
                ? reflection.GetRepeatedStringReference(message, &field, i, &scratch_)
                : reflection.GetStringReference(message, &field, &scratch_);
        CFILE_RETURN_IF_ERROR(budget_.Take(text.size()));
        return records_.Value(node, std::string_view(text));
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        break;
    }
    return Fields(node, field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, i)
                                            : reflection.GetMessage(message, &field));
  }

  const Descriptor& descriptor_;
  const RecordSchema schema_;
  const std::vector<const FieldDescriptor*> fields_;  // by node
  RecordWriter records_;
  internal::MessageBudget budget_;
  absl::Status failure_;
  std::string scratch_;
};

MessageWriter::MessageWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MessageWriter::MessageWriter(MessageWriter&&) noexcept = default;
MessageWriter& MessageWriter::operator=(MessageWriter&&) noexcept = default;
MessageWriter::~MessageWriter() = default;

absl::StatusOr<MessageWriter> MessageWriter::Create(const TableLocation& table,
                                                    const Descriptor& descriptor,
                                                    std::span<const WriterOptions> options) {
  const std::string name = table.storage()->name();
  CFILE_ASSIGN_OR_RETURN(const RecordSchema schema,
                         internal::Named(RecordSchemaOf(descriptor), name));
  CFILE_ASSIGN_OR_RETURN(auto fields,
                         internal::Named(internal::MatchFields(descriptor, schema), name));
  CFILE_ASSIGN_OR_RETURN(auto records, RecordWriter::Create(table, schema, options));
  return MessageWriter(
      std::make_unique<Impl>(descriptor, std::move(fields), std::move(records), options));
}

absl::StatusOr<MessageWriter> MessageWriter::Append(const TableLocation& table,
                                                    const Descriptor& descriptor,
                                                    std::span<const WriterOptions> options) {
  CFILE_ASSIGN_OR_RETURN(auto records, RecordWriter::Append(table, options));
  const std::string name = table.storage()->name();
  const RecordSchema& schema = records.schema();
  CFILE_ASSIGN_OR_RETURN(auto fields,
                         internal::Named(internal::MatchFields(descriptor, schema), name));
  for (size_t i = 1; i < fields.size(); ++i) {
    const size_t parent = schema.node(i).parent;
    if (fields[i] == nullptr && schema.node(i).repetition == Repetition::kRequired &&
        (parent == 0 || fields[parent] != nullptr)) {
      return absl::InvalidArgumentError(StrCat(name, ": ", schema.Path(i),
                                               ": the field is required, but is not a field of ",
                                               descriptor.full_name()));
    }
  }
  return MessageWriter(
      std::make_unique<Impl>(descriptor, std::move(fields), std::move(records), options));
}

absl::Status MessageWriter::Write(const Message& message) { return impl_->Write(message); }
absl::Status MessageWriter::Finish() { return impl_->Finish(); }
const RecordWriter& MessageWriter::records() const { return impl_->records(); }

}  // namespace cfile
