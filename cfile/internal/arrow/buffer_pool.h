// Keeps the memory of released arrays for later arrays. Fresh memory from the system takes longer
// than decoding values into it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"

namespace cfile::internal {

// Return empty buffers. They have the memory of arrays that were released before, if there is some.
// Thread-safe. `capacity`: the bytes that the caller needs soon.
encodings::ByteWriter TakeBytes(size_t capacity);
encodings::PackedStrings TakeStrings();

// Return owners of buffers for an array. When the last owner is destroyed, in any thread, the
// memory is kept for the functions above: at most 32 MiB of bytes and as much of strings in the
// process.
std::shared_ptr<const encodings::ByteWriter> OwnBytes(encodings::ByteWriter& bytes);
std::shared_ptr<const encodings::PackedStrings> OwnStrings(encodings::PackedStrings& strings);

}  // namespace cfile::internal
