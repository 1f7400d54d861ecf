// Compares the library's own protobuf code in cfile/core/wire with the protobuf library.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "cfile/core/wire/field_reader.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"
#include "proto/cfile.pb.h"
#include "proto/table.pb.h"

namespace cfile {

// Calls `visit` once for each type of message. The argument is std::type_identity of this type.
template <typename Visit>
void ForEachWireMessage(Visit visit) {
  namespace wire = internal::wire;
  const auto each = [&]<typename... Messages>(std::type_identity<Messages>... messages) {
    (visit(messages), ...);
  };
  each(std::type_identity<wire::FileMetadataPair>(), std::type_identity<wire::BlockPointer>(),
       std::type_identity<wire::BTreeInfo>(), std::type_identity<wire::IndexBlockTrailer>(),
       std::type_identity<wire::CFileHeader>(), std::type_identity<wire::Choice>(),
       std::type_identity<wire::Extensions>(), std::type_identity<wire::BlockStatistics>(),
       std::type_identity<wire::Statistics>(), std::type_identity<wire::CFileFooter>(),
       std::type_identity<wire::Column>(), std::type_identity<wire::SchemaNode>(),
       std::type_identity<wire::PartColumn>(), std::type_identity<wire::Part>(),
       std::type_identity<wire::ChunkColumn>(), std::type_identity<wire::Chunk>(),
       std::type_identity<wire::ChunkContents>(), std::type_identity<wire::Table>(),
       std::type_identity<wire::PackedColumn>(), std::type_identity<wire::PackedFile>(),
       std::type_identity<wire::MergeRule>());
}

// Returns an empty message of the protobuf library, or null if the library lacks this type.
inline std::unique_ptr<google::protobuf::Message> NewMessage(
    const internal::wire::MessageType& type) {
  (void)CFileFooterPB::descriptor();  // makes the linker keep the descriptors
  (void)TablePB::descriptor();
  const google::protobuf::Descriptor* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
          "cfile." + std::string(type.name));
  if (descriptor == nullptr) return nullptr;
  return std::unique_ptr<google::protobuf::Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
}

inline bool ParseByProtobuf(std::string_view bytes, google::protobuf::Message& message) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(internal::wire::kDeepest);
  return message.ParseFromCodedStream(&input) && input.ConsumedEntireMessage();
}

// Parses `bytes` with both libraries. Returns a text that describes the difference of the results.
// Returns "" if there is no difference.
// If `accepted` is given, sets *accepted to true if cfile/core/wire accepts the bytes.
template <typename Message>
std::string WireDifference(std::string_view bytes, bool* accepted = nullptr) {
  constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
  const auto expected = NewMessage(Message::kType);
  Message message;
  const bool parses = internal::wire::ParseMessage(bytes, kNoLimit, message).ok();
  if (accepted != nullptr) *accepted = parses;
  if (ParseByProtobuf(bytes, *expected) != parses) {
    return std::string(parses ? "only wire" : "only protobuf") + " accepts the bytes";
  }
  if (internal::wire::CheckParsedSize(bytes, kNoLimit, Message::kType).ok() != parses) {
    return "CheckParsedSize and ParseMessage differ";
  }
  if (!parses) return "";
  expected->DiscardUnknownFields();
  return internal::wire::Serialize(message) == expected->SerializeAsString()
             ? ""
             : "wire differs from " + expected->DebugString();
}

}  // namespace cfile
