// Describes the bytes of a protobuf message, field by field.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "cfile/internal/wire/message_type.h"
#include "encodings/core/block_description.h"

namespace cfile::internal {

// Adds the fields of the message in the next `size` bytes of `description`. The fields of a message
// in a field lie in one more structure, after the field with its tag and its length. If the
// description becomes full, its last field has the rest of the message.
// kDataLoss: the bytes are not a message; the fields before the error have been added.
absl::Status AddMessage(const wire::MessageType& type, size_t size,
                        encodings::BlockDescription& description);

}  // namespace cfile::internal
