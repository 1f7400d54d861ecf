// Reads and writes the small unsigned integers of a Parquet page that are not values of the column:
// repetition levels, definition levels, and indexes into the dictionary (cfile/FORMAT.md, Parquet's
// data blocks).
//
//   hybrid               RLE-hybrid (rle_hybrid.h); levels of version 2 pages
//   hybrid with length   length in bytes, fixed32, then hybrid; levels of version 1 pages
//   indexes              width in one byte, then hybrid; RLE_DICTIONARY pages
//   bit-packed           values back to back, most significant bit first; deprecated
//
// None of these forms stores the number of its values; the caller must know it. A width may come
// from an untrusted file: the Read functions return kDataLoss if the width is negative or larger
// than the number of bits of T. They accept every value that fits the width; the caller checks that
// a level is at most the column's largest level. If the column's largest level is 0, its pages have
// no levels of that kind, not even a length: do not call these functions.
#pragma once

#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"
#include "encodings/core/export.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

inline constexpr int kMaxLevelWidth = 32;

// Returns the number of bits that the values 0 to `maximum` need.
CFILE_EXPORT int LevelWidth(uint32_t maximum);

// Append `values` to `out`. T is uint16_t or uint32_t. Preconditions: 0 <= width <= kMaxLevelWidth;
// each value < 2^width.
template <typename T>
CFILE_EXPORT void PutHybrid(std::span<const T> values, int width, ByteWriter& out);
template <typename T>
CFILE_EXPORT void PutHybridWithLength(std::span<const T> values, int width, ByteWriter& out);
template <typename T>
CFILE_EXPORT void PutIndexes(std::span<const T> values, int width, ByteWriter& out);
template <typename T>
CFILE_EXPORT void PutBitPacked(std::span<const T> values, int width, ByteWriter& out);

// Read out.size() values from the front of `bytes`. Bytes after the values are ignored. If `out` is
// empty, `bytes` may be empty. T is uint16_t or uint32_t. kDataLoss: the bytes end too early or are
// malformed; then the contents of `out` are unspecified.
template <typename T>
CFILE_EXPORT absl::Status ReadHybrid(std::span<const uint8_t> bytes, int width, std::span<T> out);
template <typename T>
CFILE_EXPORT absl::Status ReadIndexes(std::span<const uint8_t> bytes, std::span<T> out);

// Read out.size() values from the position of `reader`, and move the reader past them:
// ReadHybridWithLength past the length and the bytes that it counts, ReadBitPacked past the packed
// values. Further levels or the values of the page follow there. Errors: as for ReadHybrid; on
// failure the reader has not moved.
template <typename T>
CFILE_EXPORT absl::Status ReadHybridWithLength(ByteReader& reader, int width, std::span<T> out);
template <typename T>
CFILE_EXPORT absl::Status ReadBitPacked(ByteReader& reader, int width, std::span<T> out);

}  // namespace cfile::encodings
