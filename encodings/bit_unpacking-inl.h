// Bit-packed values to the lanes of vectors, for kernels that go on with them there: included once
// per target by files that are compiled for each.
//
// A group of 8 values of `width` bits begins on a byte and takes `width` bytes. A vector gets the
// bytes of each of its values by a shuffle, then shifts and masks all of them at once.

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

// How the 8 values of a group come from its bytes: which bytes of its block each lane gets, and how
// far the value's first bit lies in them. Blocks of 16 bytes are loaded from the byte on where the
// first of their values begins. Tables, since a page has another width every 1,024 values.
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

// Whether this target has the vectors below; the scalar code serves the others.
#undef CFILE_UNPACK_SIMD
#define CFILE_UNPACK_SIMD \
  (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE)

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if CFILE_UNPACK_SIMD
inline constexpr size_t kUnpackVectorBytes = HWY_MAX_BYTES >= 32 ? 32 : 16;

// Values of up to 8 * sizeof(Lane) - 7 bits, which with the bits before them on their first byte
// still fit a lane. Lane is uint32_t or uint64_t.
template <typename Lane>
class GroupUnpacker {
 public:
  using D = hn::FixedTag<Lane, kUnpackVectorBytes / sizeof(Lane)>;
  using V = hn::Vec<D>;
  static constexpr size_t kLanes = kUnpackVectorBytes / sizeof(Lane);
  static constexpr size_t kVectors = 8 / kLanes;  // of a group
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

  // Bytes that Unpack may read from a group's first on.
  size_t readable_bytes() const { return BlockBegin(8 / kBlockLanes - 1) + 16; }

  // The values vector * kLanes, ... of the group at `group`.
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
  // Shuffles stay within blocks of 16 bytes, each of which is loaded from where its values begin.
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
