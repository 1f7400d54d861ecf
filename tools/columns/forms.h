// Which encodings and codecs blocks have, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "cfile/file_info.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// "rle 3 blocks, plain 1 block; zstd". The codec is none if no block is compressed. `compression`:
// the codec of the compressed blocks.
std::string FormsText(const std::vector<EncodingTotals>& encodings, Compression compression);

// [{"encoding": ..., "blocks": ..., "compressed_blocks": ..., "stored_bytes": ...}, ...]
Json FormsJson(const std::vector<EncodingTotals>& encodings);

}  // namespace cfile::tools
