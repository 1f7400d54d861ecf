#include "encodings/kudu/lz4_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "encodings/core/bytes.h"

namespace cfile::encodings {
namespace {

constexpr size_t kStep = 16;  // bytes copied at a time
constexpr size_t kMinMatch = 4;
// Longest match in bytes that is copied inline. For a longer one, a call of memcpy is faster.
constexpr size_t kLongMatch = 512;

// Copies kStep bytes. The ranges may overlap: all bytes are read before any is written.
void CopyStep(const uint8_t* from, uint8_t* to) {
  const auto front = LoadLittleEndian<uint64_t>(from);
  const auto back = LoadLittleEndian<uint64_t>(from + 8);
  StoreLittleEndian(front, to);
  StoreLittleEndian(back, to + 8);
}

// Reads the bytes that extend a length of 15, up to the first byte below 255, and adds them to
// `length`. Returns false if the input ends before that byte.
bool ExtendLength(const uint8_t*& in, const uint8_t* in_end, size_t& length) {
  uint8_t byte;
  do {
    if (in == in_end) return false;
    byte = *in++;
    length += byte;
  } while (byte == 0xff);
  return true;
}

// Returns 8 bytes: the `offset` bytes at `from`, repeated. Precondition: offset is 1, 2, 4 or 8.
uint64_t Repeat(const uint8_t* from, size_t offset) {
  // Load exactly `offset` bytes: a wider load could overlap several recent stores and would have to
  // wait for them.
  switch (offset) {
    case 1:
      return *from * uint64_t{0x0101010101010101};
    case 2:
      return LoadLittleEndian<uint16_t>(from) * uint64_t{0x0001000100010001};
    case 4:
      return LoadLittleEndian<uint32_t>(from) * uint64_t{0x0000000100000001};
    default:
      return LoadLittleEndian<uint64_t>(from);
  }
}

// Writes `length` bytes at `to`, each a copy of the byte `offset` bytes before it. May overwrite up
// to kLz4SlackBytes bytes after them.
void CopyMatch(uint8_t* to, size_t offset, size_t length) {
  uint8_t* const end = to + length;
  const uint8_t* const from = to - offset;
  // The shortest matches are the most frequent. A load of more than kMinMatch bytes could overlap
  // several recent stores and would have to wait for them.
  if (length == kMinMatch && offset >= kMinMatch) {
    std::memcpy(to, from, kMinMatch);
    return;
  }
  if (std::has_single_bit(offset) && offset <= 8 && length <= kLongMatch) {
    const uint64_t bytes = Repeat(from, offset);
    StoreLittleEndian(bytes, to);
    for (to += 8; to < end; to += 32) {
      for (size_t i = 0; i < 32; i += 8) StoreLittleEndian(bytes, to + i);
    }
    return;
  }
  // If offset >= length, the source ends before the target begins. If `offset` is a multiple of
  // kStep, each load reads the bytes of at most one store of this loop. Otherwise, loads could read
  // the bytes of two recent stores and would have to wait for both.
  if (offset >= length || offset % kStep == 0) {
    if (length <= kLongMatch) {
      for (const uint8_t* next = from; to < end; to += kStep, next += kStep) CopyStep(next, to);
      return;
    }
  }
  // `offset` is the distance from source to target, and so the number of bytes that one copy can
  // produce. Each copy doubles `offset`. A step with offset < kStep copies kStep bytes, but only
  // the first `offset` of them are right; the next copy overwrites the others.
  for (; offset < kStep && to < end; offset *= 2) {
    CopyStep(from, to);
    to += offset;
  }
  for (; to < end; offset *= 2) {
    const size_t size = std::min(offset, static_cast<size_t>(end - to));
    std::memcpy(to, from, size);
    to += size;
  }
}

}  // namespace

bool DecompressLz4Block(std::span<const uint8_t> in_bytes, std::span<uint8_t> out_bytes) {
  const uint8_t* in = in_bytes.data();
  const uint8_t* const in_end = in + in_bytes.size();
  uint8_t* out = out_bytes.data();
  uint8_t* const out_end = out + out_bytes.size();
  while (in != in_end) {
    const uint8_t token = *in++;
    size_t literals = token >> 4;
    if (literals == 15 && !ExtendLength(in, in_end, literals)) return false;
    const auto in_left = static_cast<size_t>(in_end - in);
    if (literals > in_left || literals > static_cast<size_t>(out_end - out)) return false;
    if (literals <= kStep && in_left >= kStep) {
      CopyStep(in, out);
    } else {
      std::memcpy(out, in, literals);
    }
    in += literals;
    out += literals;
    // The last sequence has literals, but no match.
    if (in == in_end) return out == out_end;

    if (in_end - in < 2) return false;
    const size_t offset = LoadLittleEndian<uint16_t>(in);
    in += 2;
    size_t length = token & 15;
    if (length == 15 && !ExtendLength(in, in_end, length)) return false;
    length += kMinMatch;
    if (offset == 0 || offset > static_cast<size_t>(out - out_bytes.data())) return false;
    if (length > static_cast<size_t>(out_end - out)) return false;
    CopyMatch(out, offset, length);
    out += length;
  }
  return false;
}

}  // namespace cfile::encodings
