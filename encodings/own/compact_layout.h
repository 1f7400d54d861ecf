// The layout of a block of COMPACT (compact.h). Internal to COMPACT.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/kernels/compact_kernels.h"

namespace cfile::encodings {

// CompactNumber<T> is the type of the numbers in a block of values of type T: unsigned integers of
// the size of T.
template <typename T, bool kFloat = std::is_floating_point_v<T>>
struct CompactBits {
  using Type = std::make_unsigned_t<T>;
};
template <typename T>
struct CompactBits<T, true> {
  using Type = FloatBits<T>;
};
template <typename T>
using CompactNumber = typename CompactBits<T>::Type;

inline constexpr int kMaxOrder = 3;
inline constexpr size_t kCompactHeadBytes = 4;

// The largest number of decimals. T can represent 10^kMaxDecimals<T> without rounding.
template <typename T>
inline constexpr int kMaxDecimals = 0;
template <>
inline constexpr int kMaxDecimals<float> = 10;
template <>
inline constexpr int kMaxDecimals<double> = 22;

// Returns 10^decimals. Precondition: 0 <= decimals <= kMaxDecimals<T>.
template <typename T>
T PowerOfTen(int decimals) {
  CFILE_ASSERT(0 <= decimals && decimals <= kMaxDecimals<T>);
  constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return static_cast<T>(kPowers[static_cast<size_t>(decimals)]);
}

// How the values of a block become numbers. Floats become integers. With multiples, the addend is
// subtracted, and the result is divided by the factor. Each number is then replaced by its distance
// from a line, if there is one, or `order` times by the difference from its neighbour.
template <typename T>
struct Transformation {
  using U = CompactNumber<T>;

  int order = 0;  // at most kMaxOrder; 0 if there is a line
  // True if there is a line. It begins at the sum of the page, and rises by `slope` for each value.
  bool line = false;
  bool multiples = false;
  // Only for floats. True if a value is an integer divided by 10^power, false if the integers are
  // made from the bits of the floats (OrderToFloats).
  bool decimals = false;
  int power = 0;
  U slope = 0;
  U factor = 1;
  U addend = 0;

  // The number of sums of a page.
  size_t sums() const { return line ? 1 : static_cast<size_t>(order); }

  // The first byte of the block.
  uint8_t flags() const {
    return static_cast<uint8_t>(order | (line ? kLine : 0) | (multiples ? kMultiples : 0) |
                                (decimals ? kDecimals : 0));
  }
  // Sets the members that `flags` stands for. Returns false if blocks of T cannot have these flags.
  bool SetFlags(uint8_t flags) {
    order = flags & kOrder;
    line = (flags & kLine) != 0;
    multiples = (flags & kMultiples) != 0;
    decimals = (flags & kDecimals) != 0;
    return (flags & ~(kOrder | kLine | kMultiples | kDecimals)) == 0 && !(line && order > 0) &&
           !(decimals && !std::is_floating_point_v<T>);
  }

 private:
  static constexpr int kOrder = 3;
  static constexpr int kLine = 4;
  static constexpr int kMultiples = 8;
  static constexpr int kDecimals = 16;
};

}  // namespace cfile::encodings
