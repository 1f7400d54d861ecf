// PLAIN of bool (cfile/FORMAT.md, Kudu's data blocks):
//
//   count fixed32 · first ordinal fixed32 · bitmap, least significant bit first
#pragma once

#include <memory>

#include "encodings/core/block_codec.h"

namespace cfile::encodings {

std::unique_ptr<BlockEncoder<bool>> MakePlainBoolEncoder(const EncoderOptions& options);

// The decoder ignores the bits after the last value.
std::unique_ptr<BlockDecoder<bool>> MakePlainBoolDecoder();

}  // namespace cfile::encodings
