// Keeps the memory of released arrays for later arrays, because the system would spend more time on
// fresh memory than decoding takes.
#pragma once

#include <cstddef>
#include <memory>

#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"

namespace cfile::internal {

// Return empty buffers, in the memory of released arrays if there is some. `capacity`: the number
// of bytes that the caller needs soon. Thread-safe.
encodings::ByteWriter TakeBytes(size_t capacity);
encodings::PackedStrings TakeStrings();

// Return owners of buffers for an array. When the last owner is destroyed, in any thread, the
// memory is kept for the functions above. The process keeps at most 32 MiB of bytes and 32 MiB of
// strings.
std::shared_ptr<const encodings::ByteWriter> OwnBytes(encodings::ByteWriter& bytes);
std::shared_ptr<const encodings::PackedStrings> OwnStrings(encodings::PackedStrings& strings);

}  // namespace cfile::internal
