// The arithmetic of ALP on whole vectors (alp.h): packed integers to floats and back.
//
// A float v is stored as the integer i with v == (i * P[f]) * N[e], where P[k] is 10^k and N[k] is
// 10^-k, each rounded to the nearest float. The format requires these two products, in this order
// and in the type's own precision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cfile::encodings {

template <typename T>
struct AlpTraits;
template <>
struct AlpTraits<float> {
  using Integer = int32_t;
  using Unsigned = uint32_t;
  static constexpr int kMaxExponent = 10;
  static constexpr float kLimit = 0x1p31f;  // scaled values of at least this size fit no Integer
  static constexpr std::array<float, 11> kPowers = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f,
                                                    1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
  static constexpr std::array<float, 11> kInverses = {1e-0f, 1e-1f, 1e-2f, 1e-3f, 1e-4f, 1e-5f,
                                                      1e-6f, 1e-7f, 1e-8f, 1e-9f, 1e-10f};
};
template <>
struct AlpTraits<double> {
  using Integer = int64_t;
  using Unsigned = uint64_t;
  static constexpr int kMaxExponent = 18;
  static constexpr double kLimit = 0x1p63;
  static constexpr std::array<double, 19> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                                     1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                                     1e14, 1e15, 1e16, 1e17, 1e18};
  static constexpr std::array<double, 19> kInverses = {
      1e-0,  1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,  1e-8, 1e-9,
      1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18};
};

// Selects the powers of ten for a vector: its integers are multiplied by P[factor], then by
// N[exponent].
struct AlpPair {
  uint8_t exponent = 0;
  uint8_t factor = 0;  // at most the exponent
  bool operator==(const AlpPair&) const = default;
};

// Unpacks `count` integers of `width` bits from the front of `packed`, adds `frame` to each
// (wrapping around) and writes the floats that they stand for to `out`. May read bytes of `packed`
// after the integers. Preconditions: PackedBytes(count, width) <= packed.size(); width and pair are
// within the type's range.
template <typename T>
void AlpDecode(std::span<const uint8_t> packed, int width, typename AlpTraits<T>::Integer frame,
               AlpPair pair, T* out, size_t count);

// The result of trying a pair on some values. `smallest` and `largest` are the bounds of the
// integers, as floats, which are exact; smallest > largest if no value has an integer. `exceptions`
// is the number of values that no integer restores exactly.
template <typename T>
struct AlpFit {
  T smallest;
  T largest;
  size_t exceptions;
};
template <typename T>
AlpFit<T> AlpTry(std::span<const T> values, AlpPair pair);

// Like AlpTry, but also writes the integers of all values to `integers` and the indexes of the
// exceptions to `positions`. The integers of exceptions are undefined. Both arrays have space for
// values.size() elements. Precondition: values.size() <= 65,536.
template <typename T>
AlpFit<T> AlpEncode(std::span<const T> values, AlpPair pair,
                    typename AlpTraits<T>::Integer* integers, uint16_t* positions);

}  // namespace cfile::encodings
