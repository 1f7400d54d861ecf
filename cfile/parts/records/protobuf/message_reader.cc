#include "cfile/protobuf_records.h"

#include <type_traits>
#include <utility>

#include "cfile/core/io/named_status.h"
#include "cfile/parts/records/protobuf/message_fields.h"
#include "encodings/core/status.h"
#include "google/protobuf/message.h"

namespace cfile {
namespace {

using encodings::StrCat;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Fills one message with the values of one record.
class Filler final : public RecordVisitor {
 public:
  Filler(const RecordSchema& schema, const std::vector<const FieldDescriptor*>& fields,
         size_t max_size_bytes, Message& message)
      : schema_(schema), fields_(fields), budget_(max_size_bytes), root_(message) {}

  absl::Status BeginGroup(size_t node) override {
    if (node == 0) {
      open_.push_back(&root_);
      return absl::OkStatus();
    }
    Message* const parent = open_.back();
    const FieldDescriptor* const field = fields_[node];
    CFILE_RETURN_IF_ERROR(budget_.Take(internal::MessageBudget::kGroupBytes));
    if (schema_.node(node).kind == GroupKind::kMap) {
      open_.push_back(parent);  // the map's entries are elements of a field of the parent
    } else {
      open_.push_back(field->is_repeated()
                          ? parent->GetReflection()->AddMessage(parent, field)
                          : parent->GetReflection()->MutableMessage(parent, field));
    }
    return absl::OkStatus();
  }

  absl::Status EndGroup(size_t) override {
    open_.pop_back();
    return absl::OkStatus();
  }

  absl::Status Value(size_t node, const RecordValue& value) override {
    const auto* const text = std::get_if<std::string_view>(&value);
    CFILE_RETURN_IF_ERROR(
        budget_.Take(internal::MessageBudget::kValueBytes + (text == nullptr ? 0 : text->size())));
    std::visit([&](const auto& typed) { Set(*open_.back(), *fields_[node], typed); }, value);
    return absl::OkStatus();
  }

 private:
  template <typename T>
  static void Set(Message& message, const FieldDescriptor& field, const T& value) {
    using R = google::protobuf::Reflection;
    const R& reflection = *message.GetReflection();
    const auto put = [&](auto add, auto set, auto typed) {
      (reflection.*(field.is_repeated() ? add : set))(&message, &field, std::move(typed));
    };
    // MatchFields has compared the types, so the other types of RecordValue do not occur.
    if constexpr (std::is_same_v<T, int32_t>) {
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
        put(&R::AddEnumValue, &R::SetEnumValue, value);
      } else {
        put(&R::AddInt32, &R::SetInt32, value);
      }
    } else if constexpr (std::is_same_v<T, int64_t>) {
      put(&R::AddInt64, &R::SetInt64, value);
    } else if constexpr (std::is_same_v<T, uint32_t>) {
      put(&R::AddUInt32, &R::SetUInt32, value);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      put(&R::AddUInt64, &R::SetUInt64, value);
    } else if constexpr (std::is_same_v<T, double>) {
      put(&R::AddDouble, &R::SetDouble, value);
    } else if constexpr (std::is_same_v<T, float>) {
      put(&R::AddFloat, &R::SetFloat, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      put(&R::AddBool, &R::SetBool, value);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      put(&R::AddString, &R::SetString, std::string(value));
    }
  }

  const RecordSchema& schema_;
  const std::vector<const FieldDescriptor*>& fields_;
  internal::MessageBudget budget_;
  Message& root_;
  std::vector<Message*> open_;
};

}  // namespace

class MessageReader::Impl {
 public:
  Impl(const Descriptor& descriptor, std::vector<const FieldDescriptor*> fields,
       size_t max_size_bytes, RecordReader records)
      : descriptor_(descriptor),
        fields_(std::move(fields)),
        max_size_bytes_(max_size_bytes),
        records_(std::move(records)) {}

  RecordReader& records() { return records_; }

  absl::StatusOr<bool> Next(Message& message) {
    if (message.GetDescriptor() != &descriptor_) {
      return absl::InvalidArgumentError(StrCat("a message of type ", descriptor_.full_name(),
                                               " expected, found ", message.GetTypeName()));
    }
    message.Clear();
    Filler filler(records_.schema(), fields_, max_size_bytes_, message);
    return records_.Next(filler);
  }

 private:
  const Descriptor& descriptor_;
  const std::vector<const FieldDescriptor*> fields_;  // by node
  const size_t max_size_bytes_;
  RecordReader records_;
};

MessageReader::MessageReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MessageReader::MessageReader(MessageReader&&) noexcept = default;
MessageReader& MessageReader::operator=(MessageReader&&) noexcept = default;
MessageReader::~MessageReader() = default;

absl::StatusOr<MessageReader> MessageReader::Open(const TableLocation& location,
                                                  const Descriptor& descriptor,
                                                  std::span<const std::string> paths,
                                                  const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(location, options));
  const std::string& directory = table.directory();
  CFILE_ASSIGN_OR_RETURN(const RecordSchema schema,
                         internal::Named(table.schema().Records(table.record_limits()), directory));
  CFILE_ASSIGN_OR_RETURN(auto fields,
                         internal::Named(internal::MatchFields(descriptor, schema), directory));
  std::vector<size_t> chosen(schema.leaves().size());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  if (!paths.empty()) {
    CFILE_ASSIGN_OR_RETURN(chosen, internal::Named(schema.SelectLeaves(paths), directory));
  }
  std::vector<std::string> known;
  for (const size_t leaf : chosen) {
    if (fields[schema.leaves()[leaf]] != nullptr)
      known.push_back(schema.Path(schema.leaves()[leaf]));
  }
  if (known.empty()) {
    return absl::InvalidArgumentError(
        StrCat(directory, ": ", descriptor.full_name(), " has none of the fields to read"));
  }
  CFILE_ASSIGN_OR_RETURN(auto records, RecordReader::Open(table, known));
  return MessageReader(std::make_unique<Impl>(descriptor, std::move(fields),
                                              options.max_message_size_bytes, std::move(records)));
}

absl::StatusOr<bool> MessageReader::Next(Message& message) { return impl_->Next(message); }
RecordReader& MessageReader::records() { return impl_->records(); }

}  // namespace cfile
