// Describes the bytes of a protobuf message, field by field.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "cfile/core/wire/message_type.h"
#include "encodings/core/block_description.h"

namespace cfile::internal {

// Adds the fields of the message in the next `size` bytes of `description`. If the value of a field
// is a message, adds its tag and its length as one field, and then the fields of the inner message
// as a structure. The value of a metadata pair with the key cfile.column is also an inner message.
// If the description becomes full, adds the rest of the message as one field.
// kDataLoss: the bytes are not a message; the fields before the error have been added.
absl::Status AddMessage(const wire::MessageType& type, size_t size,
                        encodings::BlockDescription& description);

}  // namespace cfile::internal
