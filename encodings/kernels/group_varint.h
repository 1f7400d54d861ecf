// Group varint: a group of a few integers after one selector. The selector holds the length of each
// integer in bytes, so that a decoder needs no branch per byte (cfile/FORMAT.md, Group varint).
//
// - 32 bits: groups of 4 values. The selector is 1 byte: two bits for each value, which hold the
//   value's length in bytes - 1. The first value has the two most significant bits.
// - 64 bits: groups of 5 values (early Parquet). The selector is 2 bytes, a little-endian number:
//   three bits for each value, which hold the value's length in bytes - 1. The first value has bits
//   14 to 12. The most significant bit is unused: written as 0, ignored when read.
//
// The values follow the selector, little-endian. If the last group is incomplete, zeros fill it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

inline constexpr size_t kGroupVarint32Values = 4;
inline constexpr size_t kGroupVarint64Values = 5;
// Size of the longest group in bytes, selector included.
inline constexpr size_t kMaxGroupVarint32Bytes = 1 + 4 * 4;
inline constexpr size_t kMaxGroupVarint64Bytes = 2 + 5 * 8;

// Append `values` in groups. If the last group is incomplete, zeros fill it.
void PutGroupVarint32(std::span<const uint32_t> values, ByteWriter& out);
void PutGroupVarint64(std::span<const uint64_t> values, ByteWriter& out);

// Read `groups` groups into `out`, which must have room for 4 (32 bits) or 5 (64 bits) values per
// group. Return false if the remaining bytes do not hold the groups; then nothing is consumed and
// the contents of `out` are unspecified.
[[nodiscard]] bool ReadGroupVarint32(ByteReader& reader, size_t groups, uint32_t* out);
[[nodiscard]] bool ReadGroupVarint64(ByteReader& reader, size_t groups, uint64_t* out);

// Skip `groups` groups; false, with nothing consumed, as for ReadGroupVarint32.
[[nodiscard]] bool SkipGroupVarint32(ByteReader& reader, size_t groups);
[[nodiscard]] bool SkipGroupVarint64(ByteReader& reader, size_t groups);

}  // namespace cfile::encodings
