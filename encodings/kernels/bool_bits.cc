#include "encodings/kernels/bool_bits.h"

#include <algorithm>
#include <cstring>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/bool_bits.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Packs as many of the `count` values as fill whole vectors, and returns how many.
size_t PackWhole(const uint8_t* values, size_t count, uint8_t* out) {
#if HWY_TARGET == HWY_SCALAR
  (void)values, (void)count, (void)out;
  return 0;
#else
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  size_t done = 0;
  for (; count - done >= lanes; done += lanes)
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, values + done), zero), out + done / 8);
  return done;
#endif
}

// Unpacks those of `count` bits that fill whole vectors, and returns how many. Each load of 8 bytes
// stays within `bits`.
size_t UnpackWhole(std::span<const uint8_t> bits, uint8_t* out, size_t count) {
#if HWY_TARGET == HWY_SCALAR
  (void)bits, (void)out, (void)count;
  return 0;
#else
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> d64;
  const size_t lanes = hn::Lanes(d);
  if (lanes > 64) return 0;
  // All groups of 8 lanes hold the same 8 bytes, the bytes of `word`. Lane i of `spread` is byte i
  // / 8 of `word`, which holds bit i.
  const auto byte = hn::ShiftRight<3>(hn::Iota(d, 0));
  const auto bit = hn::BitCast(d, hn::Set(d64, 0x8040201008040201u));
  const auto one = hn::Set(d, 1);
  size_t done = 0;
  for (; count - done >= lanes && bits.size() - done / 8 >= 8; done += lanes) {
    uint64_t word;
    std::memcpy(&word, bits.data() + done / 8, sizeof(word));
    const auto spread = hn::TableLookupBytes(hn::BitCast(d, hn::Set(d64, word)), byte);
    hn::StoreU(hn::Min(hn::And(spread, bit), one), d, out + done);
  }
  return done;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
namespace {

HWY_EXPORT(PackWhole);
HWY_EXPORT(UnpackWhole);

// For fewer bools, choosing a kernel takes longer than unpacking.
constexpr ptrdiff_t kFewBools = 64;

}  // namespace

void PackBools(std::span<const bool> values, uint8_t* bits) {
  if (values.empty()) return;
  const size_t size = static_cast<size_t>(BitmapBytes(values.size()));
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  // A multiple of 8, because vectors hold a multiple of 8 values.
  size_t i = HWY_DYNAMIC_DISPATCH(PackWhole)(bytes, values.size(), bits);
  std::fill(bits + i / 8, bits + size, uint8_t{0});
  for (; i < values.size(); ++i)
    bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | (values[i] ? 1 : 0) << (i % 8));
}

void UnpackBools(std::span<const uint8_t> bits, uint64_t first, bool* out, size_t count) {
  CFILE_ASSERT(BitmapBytes(first + count) <= bits.size());
  const auto bit_at = [&](uint64_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; };
  bool* const end = out + count;
  for (; first % 8 != 0 && out != end; ++first) *out++ = bit_at(first);
  if (end - out >= kFewBools) {
    const size_t done = HWY_DYNAMIC_DISPATCH(UnpackWhole)(
        bits.subspan(static_cast<size_t>(first / 8)), reinterpret_cast<uint8_t*>(out),
        static_cast<size_t>(end - out));
    first += done;
    out += done;
  }
  for (; end - out >= 8; first += 8, out += 8) {
    // Byte i of `byte` keeps only bit i of the packed byte. Adding 0x7f moves that bit to the top
    // of its byte.
    const uint64_t byte = (bits[first / 8] * 0x0101010101010101u) & 0x8040201008040201u;
    StoreLittleEndian(((byte + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u,
                      reinterpret_cast<uint8_t*>(out));
  }
  for (; out != end; ++first) *out++ = bit_at(first);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
