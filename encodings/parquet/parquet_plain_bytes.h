// PLAIN pages of BYTE_ARRAY: see parquet_plain.h.
#pragma once

#include <memory>
#include <string_view>

#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

std::unique_ptr<PageEncoder<std::string_view>> MakeParquetPlainBytesEncoder();
std::unique_ptr<BlockDecoder<std::string_view>> MakeParquetPlainBytesDecoder();

}  // namespace cfile::encodings
