// PLAIN of bytes (cfile/FORMAT.md, Kudu's data blocks):
//
//   first ordinal fixed32 · count fixed32 · position of the offsets fixed32 ·
//   values back to back ·
//   offset of each value from the block's start (the first is 12) as group varint 32, the last
//   group padded with zeros
#pragma once

#include <memory>
#include <string_view>

#include "encodings/core/block_codec.h"

namespace cfile::encodings {

std::unique_ptr<BlockEncoder<std::string_view>> MakePlainBinaryEncoder(
    const EncoderOptions& options);

// Views point into the block and are valid as long as its bytes. The offsets are decoded and
// checked when the first value is read, not by Open.
std::unique_ptr<BlockDecoder<std::string_view>> MakePlainBinaryDecoder();

}  // namespace cfile::encodings
