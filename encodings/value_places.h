// Finds the bytes of a block that a decoder reads for one value, so that a reader can read and
// verify only a part of a block.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/value_places.h"

namespace cfile::encodings {

// True if VisitValuePlaces supports the encoding and the type: Codec::HasValuePlaces.
bool HasValuePlaces(Encoding encoding, PhysicalType type);

// Finds all bytes of `block` on which the value at `position` depends, except the bytes that
// BlockDecoder::Open reads. Calls need(begin, end) for each range of them, from byte `begin` to
// byte `end` - 1, before it reads it. All ranges lie in the block; `need` is not called for a range
// of a damaged block that does not, because the decoder will return the error. Returns the first
// error of `need`. `type_length`: as in DecoderOptions. Preconditions: HasValuePlaces(encoding,
// type); BlockDecoder::Open returned OK for `block`; position < block.count.
absl::Status VisitValuePlaces(Encoding encoding, PhysicalType type, uint32_t type_length,
                              const BlockView& block, uint32_t position, NeedBytes need);

}  // namespace cfile::encodings
