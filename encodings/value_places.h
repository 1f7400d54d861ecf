// Which bytes of a block a decoder reads for one value. With this knowledge, a reader can verify
// and read a part of a block.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// True for the encodings and types that VisitValuePlaces knows: PLAIN of a fixed width, and FOR.
bool HasValuePlaces(Encoding encoding, PhysicalType type);

// BlockDecoder::Open reads at most this many bytes from the front of such a block.
inline constexpr uint64_t kMostBytesOfOpen = 8;

// Calls need(begin, end) for the bytes `begin` to `end` - 1 of `block` before it reads them. The
// ranges together are all bytes on which the value at `position` depends, besides those of Open.
// All ranges lie in the block. If the bytes of the block say otherwise, a range is left out, and
// the decoder returns the error. Returns the first error of `need`.
// `type_length`: as in DecoderOptions. Preconditions: HasValuePlaces(encoding, type);
// BlockDecoder::Open returned OK for `block`; position < block.count.
absl::Status VisitValuePlaces(
    Encoding encoding, PhysicalType type, uint32_t type_length, const BlockView& block,
    uint32_t position, absl::FunctionRef<absl::Status(uint64_t begin, uint64_t end)> need);

}  // namespace cfile::encodings
