// Packs and unpacks whole groups of 8 values (bit_packing.h), for kernels that change the values
// before packing or after unpacking. Files that are compiled for several targets include this file
// once per target.
//
// A group of 8 values of `width` bits begins at a byte boundary and takes `width` bytes. To unpack
// it, a shuffle gives each lane the bytes of its value; then one shift and one mask extract all
// values.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "encodings/core/bytes.h"
#include "hwy/highway.h"

#if defined(CFILE_ENCODINGS_BIT_PACKING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CFILE_ENCODINGS_BIT_PACKING_INL_H
#undef CFILE_ENCODINGS_BIT_PACKING_INL_H
#else
#define CFILE_ENCODINGS_BIT_PACKING_INL_H
#endif

#ifndef CFILE_ENCODINGS_BIT_PACKING_TABLES
#define CFILE_ENCODINGS_BIT_PACKING_TABLES
namespace cfile::encodings {

// How to unpack the 8 values of a group. A block of 16 bytes is loaded for every 16 bytes of lanes,
// beginning with the byte that holds the first bit of the block's first value. `picks` selects the
// bytes of the block for each lane; `shifts` is the position of the value's first bit in them.
// The table has an entry for each width, because the width may change every 1,024 values.
template <typename Lane>
struct UnpackShape {
  alignas(64) uint8_t picks[8 * sizeof(Lane)];
  alignas(64) Lane shifts[8];
};
template <typename Lane>
constexpr auto MakeUnpackShapes() {
  constexpr size_t kBlockLanes = 16 / sizeof(Lane);
  std::array<UnpackShape<Lane>, 8 * sizeof(Lane) - 6> shapes{};
  for (size_t width = 0; width < shapes.size(); ++width) {
    for (size_t i = 0; i < 8; ++i) {
      const size_t bit = i * width - i / kBlockLanes * kBlockLanes * width / 8 * 8;
      shapes[width].shifts[i] = static_cast<Lane>(bit % 8);
      for (size_t byte = 0; byte < sizeof(Lane); ++byte)
        shapes[width].picks[i * sizeof(Lane) + byte] = static_cast<uint8_t>(bit / 8 + byte);
    }
  }
  return shapes;
}
template <typename Lane>
inline constexpr auto kUnpackShapes = MakeUnpackShapes<Lane>();

// PackGroups may overwrite this many bytes after the packed bytes.
inline constexpr size_t kPackAhead = 8;

// Returns the bits of (values[kIndex] - least) that belong to packed word kWord of a group.
template <typename U, size_t kWidth, size_t kWord, size_t kIndex>
inline uint64_t PartOfWord(const U* values, U least) {
  constexpr size_t kBegin = kIndex * kWidth;
  if constexpr (kBegin >= 64 * kWord + 64 || kBegin + kWidth <= 64 * kWord) {
    return 0;
  } else {
    const uint64_t value = static_cast<U>(values[kIndex] - least);
    return kBegin >= 64 * kWord ? value << (kBegin - 64 * kWord) : value >> (64 * kWord - kBegin);
  }
}
template <typename U, size_t kWidth, size_t kWord, size_t... kIndex>
inline void PackWord(const U* values, U least, uint8_t* out, std::index_sequence<kIndex...>) {
  StoreLittleEndian<uint64_t>((PartOfWord<U, kWidth, kWord, kIndex>(values, least) | ...),
                              out + 8 * kWord);
}
// Packs groups of kValues values: 8 values, or 4 pairs of values (see kPairPackers).
template <typename U, size_t kWidth, size_t kValues, size_t... kWord>
void PackWords(const U* values, [[maybe_unused]] U least, size_t groups, uint8_t* out,
               std::index_sequence<kWord...>) {
  for (; groups > 0; --groups, values += kValues, out += kWidth * kValues / 8)
    (PackWord<U, kWidth, kWord>(values, least, out, std::make_index_sequence<kValues>()), ...);
}
template <typename U, size_t kWidth, size_t kValues>
void PackGroupsOf(const U* values, U least, size_t groups, uint8_t* out) {
  PackWords<U, kWidth, kValues>(values, least, groups, out,
                                std::make_index_sequence<(kWidth * kValues / 8 + 7) / 8>());
}
template <typename U, size_t... kWidths>
constexpr auto MakePackers(std::index_sequence<kWidths...>) {
  return std::array<void (*)(const U*, U, size_t, uint8_t*), sizeof...(kWidths)>{
      &PackGroupsOf<U, kWidths, 8>...};
}
template <typename U>
inline constexpr auto kPackers = MakePackers<U>(std::make_index_sequence<8 * sizeof(U) + 1>());

// kPairPackers has a function for each width from kMinPairWidth to 32, which packs pairs of values
// of this width: numbers of twice as many bits.
inline constexpr size_t kMinPairWidth = 17;
template <size_t... kWidths>
constexpr auto MakePairPackers(std::index_sequence<kWidths...>) {
  return std::array<void (*)(const uint64_t*, uint64_t, size_t, uint8_t*), sizeof...(kWidths)>{
      &PackGroupsOf<uint64_t, 2 * (kMinPairWidth + kWidths), 4>...};
}
inline constexpr auto kPairPackers =
    MakePairPackers(std::make_index_sequence<32 + 1 - kMinPairWidth>());

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_BIT_PACKING_TABLES

// CFILE_UNPACK_SIMD: true if this target has the vectors that are used below; other targets use
// scalar code. CFILE_PACK_WIDE: true if these vectors have 32 bytes.
#undef CFILE_UNPACK_SIMD
#undef CFILE_PACK_WIDE
#define CFILE_UNPACK_SIMD \
  (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE)
#define CFILE_PACK_WIDE (CFILE_UNPACK_SIMD && HWY_MAX_BYTES >= 32)

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if CFILE_UNPACK_SIMD
inline constexpr size_t kUnpackVectorBytes = HWY_MAX_BYTES >= 32 ? 32 : 16;

// Unpacks values of at most 8 * sizeof(Lane) - 7 bits: such a value fits in a lane together with
// the bits that precede it in its first byte. Lane is uint32_t or uint64_t.
template <typename Lane>
class GroupUnpacker {
 public:
  using D = hn::FixedTag<Lane, kUnpackVectorBytes / sizeof(Lane)>;
  using V = hn::Vec<D>;
  static constexpr size_t kLanes = kUnpackVectorBytes / sizeof(Lane);
  static constexpr size_t kVectors = 8 / kLanes;  // vectors of a group
  static constexpr int kMaxWidth = 8 * static_cast<int>(sizeof(Lane)) - 7;

  explicit HWY_INLINE GroupUnpacker(int width)
      : group_bytes_(static_cast<size_t>(width)),
        mask_(hn::Set(D(), static_cast<Lane>((Lane{1} << width) - 1))) {
    const auto& shape = kUnpackShapes<Lane>[group_bytes_];
    for (size_t vector = 0; vector < kVectors; ++vector) {
      picks_[vector] = hn::Load(D8(), shape.picks + vector * kUnpackVectorBytes);
      shifts_[vector] = hn::Load(D(), shape.shifts + vector * kLanes);
    }
    for (size_t block = 0; block < 8 / kBlockLanes; ++block) begins_[block] = BlockBegin(block);
  }

  // The number of bytes that Unpack may read, counted from the first byte of a group.
  size_t readable_bytes() const { return BlockBegin(8 / kBlockLanes - 1) + 16; }

  // Unpacks kLanes values of the group at `group`, from value vector * kLanes on.
  HWY_INLINE V Unpack(const uint8_t* group, size_t vector) const {
    const hn::FixedTag<uint8_t, 16> d_block;
#if HWY_MAX_BYTES >= 32
    const auto bytes = hn::Combine(D8(), hn::LoadU(d_block, group + begins_[2 * vector + 1]),
                                   hn::LoadU(d_block, group + begins_[2 * vector]));
#else
    const auto bytes = hn::LoadU(d_block, group + begins_[vector]);
#endif
    const auto lanes = hn::BitCast(D(), hn::TableLookupBytes(bytes, picks_[vector]));
    return hn::And(hn::Shr(lanes, shifts_[vector]), mask_);
  }

 private:
  using D8 = hn::FixedTag<uint8_t, kUnpackVectorBytes>;
  // A shuffle works within blocks of 16 bytes. Each block is loaded from the byte where its first
  // value begins.
  static constexpr size_t kBlockLanes = 16 / sizeof(Lane);

  size_t BlockBegin(size_t block) const { return block * kBlockLanes * group_bytes_ / 8; }

  size_t group_bytes_;
  V mask_;
  hn::Vec<D8> picks_[kVectors];
  V shifts_[kVectors];
  size_t begins_[8 / kBlockLanes];
};

// Unpacks whole groups of 8 values, at most `count` values, as far as wide loads stay inside
// `packed`. Returns the number of unpacked values. Calls convert(lanes, to) for each vector of
// values; `to` is the place in `out` of its first value. Precondition: width <=
// GroupUnpacker<Lane>::kMaxWidth.
template <typename Lane, typename T, typename Convert>
HWY_INLINE size_t UnpackGroups(std::span<const uint8_t> packed, int width, T* out, size_t count,
                               const Convert& convert) {
  using Unpacker = GroupUnpacker<Lane>;
  const Unpacker unpacker(width);
  if (packed.size() < unpacker.readable_bytes()) return 0;
  const size_t group_bytes = static_cast<size_t>(width);
  size_t groups = count / 8;
  if (width > 0)
    groups = std::min(groups, (packed.size() - unpacker.readable_bytes()) / group_bytes + 1);
  const uint8_t* p = packed.data();
  for (size_t group = 0; group < groups; ++group, p += group_bytes, out += 8) {
    for (size_t vector = 0; vector < Unpacker::kVectors; ++vector)
      convert(unpacker.Unpack(p, vector), out + vector * Unpacker::kLanes);
  }
  return groups * 8;
}
#endif  // CFILE_UNPACK_SIMD

// Two words of 4 * width bits each: the first four values of a group and the next four.
struct PackedFours {
  uint64_t low;
  uint64_t high;
};
#if CFILE_PACK_WIDE
template <typename U>
HWY_INLINE PackedFours PackFours(const U* values, hn::Vec<hn::FixedTag<uint64_t, 4>> shifts,
                                 U least) {
  const hn::FixedTag<U, 32 / sizeof(U)> d_values;
  const hn::FixedTag<uint64_t, 4> d;
  const auto leasts = hn::Set(d_values, least);
  hn::Vec<decltype(d)> low, high;
  if constexpr (sizeof(U) == 4) {
    const auto all = hn::Sub(hn::LoadU(d_values, values), leasts);
    low = hn::PromoteTo(d, hn::LowerHalf(all));
    high = hn::PromoteTo(d, hn::UpperHalf(hn::Half<decltype(d_values)>(), all));
  } else {
    low = hn::Sub(hn::LoadU(d, values), leasts);
    high = hn::Sub(hn::LoadU(d, values + 4), leasts);
  }
  low = hn::Shl(low, shifts);
  high = hn::Shl(high, shifts);
  const auto pairs = hn::Or(hn::InterleaveLower(d, low, high), hn::InterleaveUpper(d, low, high));
  const hn::Half<decltype(d)> half;
  const auto fours = hn::Or(hn::LowerHalf(half, pairs), hn::UpperHalf(half, pairs));
  return {hn::GetLane(fours), hn::ExtractLane(fours, 1)};
}
#endif

// Packs values of up to 16 bits. No branch depends on the width, which may change after a few
// groups.
template <typename U>
HWY_INLINE void PackNarrow(const U* values, U least, size_t groups, size_t width, uint8_t* out) {
  const size_t bit = 4 * width;  // the bit where the next four values begin
  const size_t begin = bit / 8;
  // If the next four values begin inside a byte, the second store writes that byte again, with the
  // last bits of the first four values. Otherwise the two stores share no byte; the shift is then
  // 0, because a shift by 64 is undefined.
  const size_t shared_shift = bit % 8 == 0 ? 0 : 8 * begin;
  const uint64_t shared_mask = bit % 8 == 0 ? 0 : ~uint64_t{0};
#if CFILE_PACK_WIDE
  const hn::FixedTag<uint64_t, 4> d;
  const auto shifts = hn::Mul(hn::Iota(d, 0), hn::Set(d, width));
#endif
  for (; groups > 0; --groups, values += 8, out += width) {
#if CFILE_PACK_WIDE
    const PackedFours fours = PackFours(values, shifts, least);
#else
    const auto value = [&](size_t i) { return uint64_t{static_cast<U>(values[i] - least)}; };
    const auto four = [&](size_t i) {
      return (value(i) | value(i + 1) << width) | (value(i + 2) | value(i + 3) << width)
                                                      << (2 * width);
    };
    const PackedFours fours = {four(0), four(4)};
#endif
    StoreLittleEndian<uint64_t>(fours.low, out);
    StoreLittleEndian<uint64_t>((fours.low >> shared_shift & shared_mask) | fours.high << (bit % 8),
                                out + begin);
  }
}

#if CFILE_UNPACK_SIMD
// Packs values of kMinPairWidth to 32 bits. SIMD code combines two neighbours to one number, so
// that scalar code packs only half as many numbers.
HWY_INLINE void PackPairs(const uint32_t* values, uint32_t least, size_t groups, size_t width,
                          uint8_t* out) {
  const hn::FixedTag<uint32_t, kUnpackVectorBytes / 4> d;
  const hn::Repartition<uint64_t, decltype(d)> d_pairs;
  constexpr size_t kLanes = kUnpackVectorBytes / 4;
  constexpr size_t kMostGroups = 16;
  const auto leasts = hn::Set(d, least);
  const auto first_of_pair = hn::Set(d_pairs, 0xffffffffu);
  alignas(64) uint64_t pairs[4 * kMostGroups];
  while (groups > 0) {
    const size_t some = std::min(groups, kMostGroups);
    for (size_t i = 0; i < 8 * some; i += kLanes) {
      const auto two = hn::BitCast(d_pairs, hn::Sub(hn::LoadU(d, values + i), leasts));
      const auto second = hn::ShiftLeftSame(hn::ShiftRight<32>(two), static_cast<int>(width));
      hn::Store(hn::Or(hn::And(two, first_of_pair), second), d_pairs, pairs + i / 2);
    }
    kPairPackers[width - kMinPairWidth](pairs, 0, some, out);
    values += 8 * some;
    out += some * width;
    groups -= some;
  }
}
#endif

// Subtracts `least` from the values and packs the differences, in groups of 8, to `out`. U is
// uint32_t or uint64_t. Preconditions: the differences are less than 2^width; kPackAhead bytes
// after the packed bytes are writable.
template <typename U>
HWY_INLINE void PackGroups(const U* values, U least, size_t groups, size_t width, uint8_t* out) {
  if (width <= 16) {
    PackNarrow<U>(values, least, groups, width, out);
#if CFILE_UNPACK_SIMD
  } else if constexpr (sizeof(U) == 4) {
    PackPairs(values, least, groups, width, out);
#endif
  } else {
    kPackers<U>[width](values, least, groups, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#endif  // per target
