// Shows protobuf messages in the text and JSON formats of the protobuf library.
#pragma once

#include <string>
#include <string_view>

#include "cfile/core/wire/message_type.h"

namespace cfile::internal {

// Appends the message in `bytes` to `text` and to `json`.
// The text shows unknown fields by their numbers. JSON does not show unknown fields.
// Lines of the text are indented by at most 100 spaces.
// The protobuf library would indent deeply nested groups further.
//
// Preconditions: `bytes` are a valid message of `type`. Neither `type` nor the messages in it have
// a field that is an enum, a repeated number, or a number with a fixed size of 4 or 8 bytes.
void DescribeMessage(std::string_view bytes, const wire::MessageType& type, std::string& text,
                     std::string& json);

}  // namespace cfile::internal
