// Shows protobuf messages: in the text and JSON formats of the protobuf library, or field by field
// with their bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/core/wire/message_type.h"
#include "encodings/core/block_description.h"

namespace cfile::internal {

// Appends the message in `bytes` to `text` and to `json`. The text shows unknown fields by their
// numbers; JSON does not show them. Lines of the text are indented by at most 100 spaces, unlike
// those of the protobuf library.
//
// Preconditions: `bytes` are a valid message of `type`. Neither `type` nor the messages in it have
// a field that is an enum, a repeated number, or a number with a fixed size of 4 or 8 bytes.
void DescribeMessage(std::string_view bytes, const wire::MessageType& type, std::string& text,
                     std::string& json);

// Adds the fields of the message in the next `size` bytes of `description`. A field that is a
// message, or a metadata pair with the key cfile.column, becomes one field for its tag and its
// length, and a structure of the inner fields. If the description becomes full, the rest of the
// message is one field. kDataLoss: the bytes are not a message; the fields before the error have
// been added.
absl::Status AddMessage(const wire::MessageType& type, size_t size,
                        encodings::BlockDescription& description);

}  // namespace cfile::internal
