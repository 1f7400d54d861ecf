// The bytes of a block that a decoder reads for one value. Codecs whose values can be found without
// decoding others say where they are (encodings/value_places.h).
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace cfile::encodings {

// BlockDecoder::Open of such a codec reads at most this many bytes from the front of a block.
inline constexpr uint64_t kMostBytesOfOpen = 8;

// Asks for the bytes from byte `begin` of a block to byte `end` - 1.
using NeedBytes = absl::FunctionRef<absl::Status(uint64_t begin, uint64_t end)>;

}  // namespace cfile::encodings
