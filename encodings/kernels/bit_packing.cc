#include "encodings/kernels/bit_packing.h"

#include <array>
#include <cassert>
#include <utility>

namespace cfile::encodings {
namespace {

// Unpacks the 8 values of kWidth bits at `packed`. May read 8 bytes after the kWidth bytes of the
// group.
template <typename T, int kWidth>
inline void UnpackGroup(const uint8_t* packed, T* out) {
  if constexpr (kWidth == 0) {
    std::memset(out, 0, 8 * sizeof(T));
  } else if constexpr (kWidth == 8 * sizeof(T)) {
    std::memcpy(out, packed, 8 * sizeof(T));
  } else if constexpr (kWidth == 1 && sizeof(T) == 1) {
    // Byte i of `bits` keeps only bit i of the packed byte. Adding 0x7f moves that bit to the top
    // of its byte.
    const uint64_t bits = (*packed * 0x0101010101010101u) & 0x8040201008040201u;
    StoreLittleEndian(((bits + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u,
                      reinterpret_cast<uint8_t*>(out));
  } else {
    constexpr uint64_t kMask = LowBits(kWidth);
    for (int i = 0; i < 8; ++i) {  // the compiler unrolls this: all offsets are constants
      const int byte = i * kWidth / 8;
      const int shift = i * kWidth % 8;
      uint64_t value = LoadLittleEndian<uint64_t>(packed + byte) >> shift;
      if (kWidth > 56 && shift + kWidth > 64)
        value |= static_cast<uint64_t>(packed[byte + 8]) << (64 - shift);
      out[i] = static_cast<T>(value & kMask);
    }
  }
}

template <typename T, int kWidth>
void UnpackGroups(std::span<const uint8_t> packed, T* out, size_t count) {
  constexpr bool kCopy = kWidth == 8 * sizeof(T);
  if constexpr (kCopy) {
    if (count > 0) std::memcpy(out, packed.data(), count * sizeof(T));
    return;
  }
  const uint8_t* p = packed.data();
  const uint8_t* const end = p + packed.size();
  while (count >= 8 && static_cast<size_t>(end - p) >= kWidth + 8) {
    UnpackGroup<T, kWidth>(p, out);
    p += kWidth;
    out += 8;
    count -= 8;
  }
  while (count > 0) {  // near the end of the bytes: copy, so that wide loads stay in bounds
    uint8_t padded[kWidth + 8] = {};
    T group[8];
    const size_t taken = count < 8 ? count : 8;
    const size_t bytes = PackedBytes(taken, kWidth);
    if (bytes > 0) std::memcpy(padded, p, bytes);
    UnpackGroup<T, kWidth>(padded, group);
    std::memcpy(out, group, taken * sizeof(T));
    p += bytes;
    out += taken;
    count -= taken;
  }
}

template <typename T>
using Unpacker = void (*)(std::span<const uint8_t>, T*, size_t);

template <typename T, size_t... kWidths>
constexpr std::array<Unpacker<T>, sizeof...(kWidths)> Unpackers(std::index_sequence<kWidths...>) {
  return {&UnpackGroups<T, static_cast<int>(kWidths)>...};
}

template <typename T>
constexpr auto kUnpackers = Unpackers<T>(std::make_index_sequence<8 * sizeof(T) + 1>());

}  // namespace

uint64_t UnpackOne(std::span<const uint8_t> packed, int width, uint64_t index) {
  assert(PackedBytes(index + 1, width) <= packed.size());
  if (width == 0) return 0;
  const uint64_t bit = index * static_cast<uint64_t>(width);
  const int shift = static_cast<int>(bit % 8);
  const uint8_t* p = packed.data() + bit / 8;
  const size_t left = packed.size() - static_cast<size_t>(bit / 8);
  uint8_t window[9] = {};
  if (left < sizeof(window)) {
    std::memcpy(window, p, left);
    p = window;
  }
  uint64_t value = LoadLittleEndian<uint64_t>(p) >> shift;
  if (shift > 0) value |= static_cast<uint64_t>(p[8]) << (64 - shift);
  return value & LowBits(width);
}

template <typename T>
void UnpackBits(std::span<const uint8_t> packed, int width, uint64_t first, T* out, size_t count) {
  assert(0 <= width && width <= static_cast<int>(8 * sizeof(T)));
  assert(PackedBytes(first + count, width) <= packed.size());
  // A group begins at a byte boundary. Values before the first group are unpacked one by one,
  // unless every value begins at a byte boundary.
  if (width % 8 != 0) {
    for (; first % 8 != 0 && count > 0; ++first, --count)
      *out++ = static_cast<T>(UnpackOne(packed, width, first));
  }
  const size_t begin = static_cast<size_t>(first * static_cast<uint64_t>(width) / 8);
  kUnpackers<T>[static_cast<size_t>(width)](packed.subspan(count > 0 ? begin : 0), out, count);
}

template <typename T>
void PackBits(std::span<const T> values, int width, ByteWriter& out) {
  assert(0 <= width && width <= static_cast<int>(8 * sizeof(T)));
  const size_t size = static_cast<size_t>(PackedBytes(values.size(), width));
  if (size == 0) return;
  uint8_t* p = out.Extend(size);
  if (width == static_cast<int>(8 * sizeof(T))) {
    std::memcpy(p, values.data(), size);
    return;
  }
  uint64_t word = 0;
  int filled = 0;  // bits of `word` in use, < 64
  for (const T value : values) {
    const uint64_t bits = value;
    assert(bits <= LowBits(width));
    word |= bits << filled;
    filled += width;
    if (filled >= 64) {
      StoreLittleEndian(word, p);
      p += 8;
      filled -= 64;
      word = filled > 0 ? bits >> (width - filled) : 0;
    }
  }
  if (filled > 0) std::memcpy(p, &word, static_cast<size_t>((filled + 7) / 8));
}

#define CFILE_INSTANTIATE(T)                                                        \
  template void UnpackBits<T>(std::span<const uint8_t>, int, uint64_t, T*, size_t); \
  template void PackBits<T>(std::span<const T>, int, ByteWriter&);
CFILE_INSTANTIATE(uint8_t)
CFILE_INSTANTIATE(uint16_t)
CFILE_INSTANTIATE(uint32_t)
CFILE_INSTANTIATE(uint64_t)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
