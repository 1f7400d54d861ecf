// The transposition of BYTE_STREAM_SPLIT: stream j holds byte j of all values. The streams lie one
// after another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cfile::encodings {

// Convert `count` values of `width` bytes each, back to back at `values`, to or from `width`
// streams. Stream j begins at streams + j * stride. No other bytes are read or written.
// Preconditions: width > 0; count <= stride unless width is 1.
void SplitByteStreams(const uint8_t* values, size_t count, size_t width, uint8_t* streams,
                      size_t stride);
void JoinByteStreams(const uint8_t* streams, size_t stride, size_t count, size_t width,
                     uint8_t* values);

}  // namespace cfile::encodings
