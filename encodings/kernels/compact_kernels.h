// Computations on the values of a page of COMPACT: convert offsets in bins to numbers, and numbers
// to values (cfile/FORMAT.md, COMPACT).
//
// U is uint8_t, uint16_t, uint32_t or uint64_t. All computations with integers are modulo 2^bits,
// where `bits` is the number of bits of U. In the functions with the argument `bins`, bins[i] is
// the bin of number i.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace cfile::encodings {

inline constexpr size_t kMaxBins = 256;

// The bins of a block. Bin b has the numbers from lowers[b] to lowers[b] + 2^widths[b] - 1.
template <typename U>
struct BinTable {
  std::array<U, kMaxBins> lowers;
  std::array<uint8_t, kMaxBins> widths;
  uint8_t most_width = 0;  // the largest width
};

inline constexpr size_t kOffsetReadAhead = 16;

// Unpacks `count` offsets, each with the width of its bin, and adds the lower bound of the bin.
// Returns the number of bits of the offsets. Precondition: PackedBytes(count, table.most_width) +
// kOffsetReadAhead bytes at `packed` can be read, even if the offsets take fewer bytes.
template <typename U>
size_t UnpackOffsets(const BinTable<U>& table, const uint8_t* bins, const uint8_t* packed, U* out,
                     size_t count);

// Packs `count` offsets, each with the width of its bin. Writes whole words of 8 bytes, so up to
// kOffsetReadAhead arbitrary bytes may follow the offsets.
template <typename U>
void PackOffsets(const BinTable<U>& table, const uint8_t* bins, const U* offsets, size_t count,
                 uint8_t* out);

// Adds to each number the lower bound of its bin.
template <typename U>
void AddLowers(const BinTable<U>& table, const uint8_t* bins, U* numbers, size_t count);
// Writes the lower bounds of the bins to `out`.
template <typename U>
void LookUpLowers(const BinTable<U>& table, const uint8_t* bins, U* out, size_t count);
// LookUpLowers and SumUp in one pass.
template <typename U>
void SumUpLowers(const BinTable<U>& table, const uint8_t* bins, U before, U* out, size_t count);

// Replaces each number by the sum of `before`, the number, and the numbers before it.
template <typename U>
void SumUp(U before, U* numbers, size_t count);

// Adds first + i * slope to number i.
template <typename U>
void AddLine(U first, U slope, U* numbers, size_t count);

// Replaces each number n by n * factor + addend.
template <typename U>
void MultiplyAdd(U factor, U addend, U* numbers, size_t count);

// The signed and the unsigned integer type that have as many bits as the float type T.
template <typename T>
using FloatInteger = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
template <typename T>
using FloatBits = std::make_unsigned_t<FloatInteger<T>>;

// Converts signed integers to T, float or double, and divides them by `divisor`. Precondition:
// `divisor` is a power of ten, is at least 1, and was not rounded when it was converted to T.
template <typename T>
void DivideIntegers(const FloatBits<T>* integers, T divisor, T* out, size_t count);

// Convert floats to unsigned integers that have the same order, and back. All bits of a float come
// back, even those of a NaN.
template <typename T>
void FloatsToOrder(const T* floats, FloatBits<T>* out, size_t count);
template <typename T>
void OrderToFloats(const FloatBits<T>* order, T* out, size_t count);

}  // namespace cfile::encodings
