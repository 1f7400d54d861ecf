// PLAIN of bool (cfile/FORMAT.md, Kudu's data blocks):
//
//   count fixed32 · first ordinal fixed32 · bitmap, least significant bit first
#pragma once

#include <memory>

#include "encodings/block_codec.h"

namespace cfile::encodings {

std::unique_ptr<BlockEncoder<bool>> MakePlainBoolEncoder(const EncoderOptions& options);

// What the bits behind the last value hold is not looked at.
std::unique_ptr<BlockDecoder<bool>> MakePlainBoolDecoder();

}  // namespace cfile::encodings
