// The transposition of BYTE_STREAM_SPLIT: byte j of all values lies in stream j, and the streams
// follow one another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cfile::encodings {

// `count` values of `width` bytes each, back to back at `values`, to or from `width` streams:
// stream j begins at streams + j * stride. Touches exactly those bytes. Precondition: width > 0;
// count <= stride unless width is 1.
void SplitByteStreams(const uint8_t* values, size_t count, size_t width, uint8_t* streams,
                      size_t stride);
void JoinByteStreams(const uint8_t* streams, size_t stride, size_t count, size_t width,
                     uint8_t* values);

}  // namespace cfile::encodings
