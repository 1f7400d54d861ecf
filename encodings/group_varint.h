// Group varint: a few integers behind one selector that tells each one's length in bytes, so that a
// decoder needs no branch per byte (cfile/FORMAT.md, Group varint).
//
// - 32 bits: groups of 4. Selector: 1 byte, two bits a value from the most significant pair down,
//   byte length - 1.
// - 64 bits: groups of 5 (early Parquet). Selector: 2 bytes, a little-endian number; three bits a
//   value from bits 14-12 down, byte length - 1; the most significant bit is unused: written as 0,
//   ignored when read.
//
// The values follow, little-endian. A last group that is not complete is filled with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/bytes.h"

namespace cfile::encodings {

inline constexpr size_t kGroupVarint32Values = 4;
inline constexpr size_t kGroupVarint64Values = 5;
// The longest group, selector included.
inline constexpr size_t kMaxGroupVarint32Bytes = 1 + 4 * 4;
inline constexpr size_t kMaxGroupVarint64Bytes = 2 + 5 * 8;

// Appends `values` in groups; a last group that is not complete is filled with zeros.
void PutGroupVarint32(std::span<const uint32_t> values, ByteWriter& out);
void PutGroupVarint64(std::span<const uint64_t> values, ByteWriter& out);

// Reads `groups` groups, that is 4 or 5 times as many values, into `out`. False, with nothing
// consumed and `out` unspecified, if the bytes left do not hold them.
[[nodiscard]] bool ReadGroupVarint32(ByteReader& reader, size_t groups, uint32_t* out);
[[nodiscard]] bool ReadGroupVarint64(ByteReader& reader, size_t groups, uint64_t* out);

// Skips `groups` groups. False, with nothing consumed, if the bytes left do not hold them.
[[nodiscard]] bool SkipGroupVarint32(ByteReader& reader, size_t groups);
[[nodiscard]] bool SkipGroupVarint64(ByteReader& reader, size_t groups);

}  // namespace cfile::encodings
