// Writes protobuf messages. The bytes are the same as those of the protobuf library.
#pragma once

#include <cstddef>
#include <string>

#include "cfile/core/wire/message_type.h"

namespace cfile::internal::wire {

std::string SerializeMessage(const MessageType& type, const void* message);
size_t SizeOfMessage(const MessageType& type, const void* message);

template <typename Message>
std::string Serialize(const Message& message) {
  return SerializeMessage(Message::kType, &message);
}

// True if no field is set.
template <typename Message>
bool IsEmpty(const Message& message) {
  return SizeOfMessage(Message::kType, &message) == 0;
}

}  // namespace cfile::internal::wire
