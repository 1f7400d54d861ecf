// Writes groups of FSST of form 2 (fsst.h): each value is compressed by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/bytes.h"
#include "encodings/kernels/fsst.h"

namespace cfile::encodings {

// Keeps its buffers from group to group.
class FsstSeparateGroupWriter {
 public:
  // Appends a group of values to `out`. `text` has the values without the common prefix, back to
  // back; `sizes` are their sizes. Returns the stored bytes of the text. Precondition: 1 to
  // kFsstGroupValues values.
  size_t Put(const SymbolCompressor& compressor, std::string_view text,
             std::span<const uint32_t> sizes, ByteWriter& out);

 private:
  ByteWriter codes_[2];  // of the values of each half of the group
};

}  // namespace cfile::encodings
