// Small unsigned integers of a Parquet page that are no values of their own: repetition and
// definition levels, and a page's indexes into its dictionary (cfile/FORMAT.md, Parquet's data
// blocks).
//
//   hybrid               RLE-hybrid (rle_hybrid.h); levels of version 2 pages
//   hybrid with length   length fixed32, hybrid; levels of version 1 pages
//   indexes              width, one byte, then hybrid; of RLE_DICTIONARY pages
//   bit-packed           values back to back, most significant bit first; deprecated
//
// None says how many values it holds. A width may come from a file: more than 32, or more than the
// values' type has bits, is kDataLoss. A value may be any that the width allows: whether it is a
// level that the column has is the caller's to check. Where a column's largest level is 0, pages
// have no levels of that kind, not even a length: there is nothing to read or to put.
#pragma once

#include <cstdint>
#include <span>

#include "encodings/bytes.h"
#include "encodings/status.h"

namespace cfile::encodings {

inline constexpr int kMaxLevelWidth = 32;

// The bits that the values up to `maximum` need.
int LevelWidth(uint32_t maximum);

// Append `values`. T is uint16_t or uint32_t. Preconditions: 0 <= width <= kMaxLevelWidth; each
// value < 2^width.
template <typename T>
void PutHybrid(std::span<const T> values, int width, ByteWriter& out);
template <typename T>
void PutHybridWithLength(std::span<const T> values, int width, ByteWriter& out);
template <typename T>
void PutIndexes(std::span<const T> values, int width, ByteWriter& out);
template <typename T>
void PutBitPacked(std::span<const T> values, int width, ByteWriter& out);

// Read out.size() values from the front of `bytes`; what lies behind them is not looked at. No
// values need no bytes. kDataLoss: they are not there, or malformed; `out` is then unspecified.
template <typename T>
absl::Status ReadHybrid(std::span<const uint8_t> bytes, int width, std::span<T> out);
template <typename T>
absl::Status ReadIndexes(std::span<const uint8_t> bytes, std::span<T> out);

// The same from where `reader` stands, which passes the length and so many bytes, or the packed
// ones: other levels or the values follow. On failure it has not moved.
template <typename T>
absl::Status ReadHybridWithLength(ByteReader& reader, int width, std::span<T> out);
template <typename T>
absl::Status ReadBitPacked(ByteReader& reader, int width, std::span<T> out);

}  // namespace cfile::encodings
