#include "cfile/internal/format/parse_message.h"

#include <limits>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace cfile::internal {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// The maximum nesting of messages: 1000 for the deepest schema (RecordLimits::max_depth), plus
// the messages that contain the schema.
constexpr int kDeepest = 1010;
constexpr uint64_t kMostTimes = 8;

// Upper estimates of the memory of one message, one text, one unknown field and one scalar,
// including the memory that containers reserve.
constexpr uint64_t kMessageBytes = 192;
constexpr uint64_t kTextBytes = 64;
constexpr uint64_t kUnknownBytes = 64;
constexpr uint64_t kScalarBytes = 8;

// Walks the fields of a message without storing them.
class Counter {
 public:
  Counter(std::string_view bytes, uint64_t limit)
      : input_(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size())),
        limit_(limit) {}

  uint64_t bytes() const { return bytes_; }

  // False: the bytes are not a message of the type, or the limit is exceeded.
  bool Walk(const Descriptor& type, int depth) {
    int groups = 0;  // open groups; our own types have none
    while (const uint32_t tag = input_.ReadTag()) {
      const FieldDescriptor* field =
          groups > 0 ? nullptr : type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      switch (WireFormatLite::GetTagWireType(tag)) {
        case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
          if (!Delimited(field, depth)) return false;
          break;
        case WireFormatLite::WIRETYPE_START_GROUP:
          if (++groups > kDeepest) return false;
          bytes_ += kMessageBytes;
          break;
        case WireFormatLite::WIRETYPE_END_GROUP:
          if (groups-- == 0) return false;
          break;
        default:
          if (!WireFormatLite::SkipField(&input_, tag)) return false;
          bytes_ += field == nullptr || field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ||
                            field->cpp_type() == FieldDescriptor::CPPTYPE_STRING
                        ? kUnknownBytes
                        : kScalarBytes;
      }
      if (bytes_ > limit_) return false;
    }
    return true;
  }

 private:
  bool Delimited(const FieldDescriptor* field, int depth) {
    uint32_t size;
    if (!input_.ReadVarint32(&size) || size > std::numeric_limits<int>::max()) return false;
    if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      // Packed scalars take up to eight times their bytes.
      const bool scalars = field != nullptr && field->cpp_type() != FieldDescriptor::CPPTYPE_STRING;
      if (!input_.Skip(static_cast<int>(size))) return false;  // the bytes are not there
      bytes_ += kTextBytes + uint64_t{size} * (scalars ? kScalarBytes : 1);
      return true;
    }
    bytes_ += kMessageBytes;
    if (depth + 1 >= kDeepest) return false;
    const CodedInputStream::Limit end = input_.PushLimit(static_cast<int>(size));
    const bool good = Walk(*field->message_type(), depth + 1) && input_.BytesUntilLimit() == 0;
    input_.PopLimit(end);
    return good;
  }

  CodedInputStream input_;
  const uint64_t limit_;
  uint64_t bytes_ = 0;
};

}  // namespace

absl::Status CheckParsedSize(std::string_view bytes, uint64_t max_size_bytes,
                             const google::protobuf::Descriptor& type) {
  const auto does_not_parse = [] { return encodings::DataLoss("its message does not parse"); };
  if (bytes.size() > std::numeric_limits<int>::max()) return does_not_parse();
  // Small messages take more memory in relation to their size.
  constexpr uint64_t kSmallBytes = 64 * 1024;
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const uint64_t limit = max_size_bytes > (kMost - kSmallBytes) / kMostTimes
                             ? kMost
                             : kMostTimes * max_size_bytes + kSmallBytes;
  Counter counter(bytes, limit);
  if (counter.Walk(type, 0)) return absl::OkStatus();
  if (counter.bytes() <= limit) return does_not_parse();
  return encodings::OutOfRange("its message of ", bytes.size(), " bytes takes more than ",
                               kMostTimes, " times the limit of ", max_size_bytes,
                               " bytes in memory: raise max_metadata_size_bytes");
}

absl::Status ParseMessage(std::string_view bytes, uint64_t max_size_bytes,
                          google::protobuf::Message& message) {
  CFILE_RETURN_IF_ERROR(CheckParsedSize(bytes, max_size_bytes, *message.GetDescriptor()));
  CodedInputStream input(encodings::AsBytes(bytes).data(), static_cast<int>(bytes.size()));
  input.SetRecursionLimit(kDeepest);
  if (!message.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage())
    return encodings::DataLoss("its message does not parse");
  return absl::OkStatus();
}

}  // namespace cfile::internal
