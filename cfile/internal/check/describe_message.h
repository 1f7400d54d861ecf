// Shows protobuf messages in the text and JSON formats of the protobuf library.
#pragma once

#include <string>
#include <string_view>

#include "cfile/internal/wire/message_type.h"

namespace cfile::internal {

// The text shows unknown fields by their numbers, JSON does not show them. Precondition: `bytes` are
// a valid message of the type, and no field of the type or of a message in it is an enum or a
// repeated number.
void DescribeMessage(std::string_view bytes, const wire::MessageType& type, std::string& text,
                     std::string& json);

}  // namespace cfile::internal
