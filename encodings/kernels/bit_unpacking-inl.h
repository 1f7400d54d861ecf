// Unpacks bit-packed values into the lanes of vectors, for kernels that continue to work on the
// vectors. Files that are compiled for several targets include this file once per target.
//
// A group of 8 values of `width` bits begins at a byte boundary and takes `width` bytes. A shuffle
// gives each lane the bytes of its value; then one shift and one mask extract all values.

#include <array>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

#if defined(CFILE_ENCODINGS_BIT_UNPACKING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CFILE_ENCODINGS_BIT_UNPACKING_INL_H
#undef CFILE_ENCODINGS_BIT_UNPACKING_INL_H
#else
#define CFILE_ENCODINGS_BIT_UNPACKING_INL_H
#endif

#ifndef CFILE_ENCODINGS_BIT_UNPACKING_SHAPES
#define CFILE_ENCODINGS_BIT_UNPACKING_SHAPES
namespace cfile::encodings {

// How to unpack the 8 values of a group. A block of 16 bytes is loaded for every 16 bytes of lanes,
// beginning with the byte that holds the first bit of the block's first value. `picks` selects the
// bytes of the block for each lane; `shifts` is the position of the value's first bit in them.
// These are tables because the width may change every 1,024 values.
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

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_BIT_UNPACKING_SHAPES

// Whether this target has the vectors below. Other targets use scalar code.
#undef CFILE_UNPACK_SIMD
#define CFILE_UNPACK_SIMD \
  (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE)

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

  // Unpacks the values from vector * kLanes on of the group at `group`, kLanes of them.
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
  // A shuffle works within blocks of 16 bytes; each block is loaded from where its first value
  // begins.
  static constexpr size_t kBlockLanes = 16 / sizeof(Lane);

  size_t BlockBegin(size_t block) const { return block * kBlockLanes * group_bytes_ / 8; }

  size_t group_bytes_;
  V mask_;
  hn::Vec<D8> picks_[kVectors];
  V shifts_[kVectors];
  size_t begins_[8 / kBlockLanes];
};
#endif  // CFILE_UNPACK_SIMD

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#endif  // per target
