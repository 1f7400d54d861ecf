#include "encodings/kernels/bit_transposition.h"

#include <cstring>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/byte_streams.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/bit_transposition.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Convert between one stream of bytes (byte j of all values) and its 8 rows, one vector at a time:
// bit b of all lanes, as a mask, is a piece of row b. Both functions return the number of values
// that they converted; the caller converts the last few.

#if HWY_TARGET != HWY_SCALAR

size_t BytesToRows(const uint8_t* HWY_RESTRICT bytes, size_t count, uint8_t* HWY_RESTRICT rows) {
  const hn::ScalableTag<uint8_t> d;
  const size_t row_bytes = count / 8;
  size_t done = 0;
  for (; count - done >= hn::Lanes(d); done += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, bytes + done);
    uint8_t* to = rows + done / 8;
    for (unsigned bit = 0; bit < 8; ++bit) {
      const auto lanes = hn::TestBit(x, hn::Set(d, static_cast<uint8_t>(1u << bit)));
      hn::StoreMaskBits(d, lanes, to + bit * row_bytes);
    }
  }
  return done;
}

size_t RowsToBytes(const uint8_t* HWY_RESTRICT rows, size_t count, uint8_t* HWY_RESTRICT bytes) {
  const hn::ScalableTag<uint8_t> d;
  const size_t row_bytes = count / 8;
  size_t done = 0;
  for (; count - done >= hn::Lanes(d); done += hn::Lanes(d)) {
    const uint8_t* from = rows + done / 8;
    auto x = hn::Zero(d);
    for (unsigned bit = 0; bit < 8; ++bit) {
      const auto lanes = hn::LoadMaskBits(d, from + bit * row_bytes);
      x = hn::Or(x, hn::IfThenElseZero(lanes, hn::Set(d, static_cast<uint8_t>(1u << bit))));
    }
    hn::StoreU(x, d, bytes + done);
  }
  return done;
}

#else

size_t BytesToRows(const uint8_t*, size_t, uint8_t*) { return 0; }
size_t RowsToBytes(const uint8_t*, size_t, uint8_t*) { return 0; }

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
namespace {

HWY_EXPORT(BytesToRows);
HWY_EXPORT(RowsToBytes);

// Transposes a matrix of 8 x 8 bits: bit 8r + c becomes bit 8c + r. Swaps squares of 1, 2 and 4
// bits across the diagonal.
uint64_t TransposeSquare(uint64_t x) {
  const auto swap = [&x](int distance, uint64_t upper) {
    const uint64_t change = (x ^ (x >> distance)) & upper;
    x ^= change ^ (change << distance);
  };
  swap(7, 0x00aa00aa00aa00aa);
  swap(14, 0x0000cccc0000cccc);
  swap(28, 0x00000000f0f0f0f0);
  return x;
}

// Returns true and sets `byte` if each of the 8 rows is all zeros or all ones: all values then have
// the same byte. This is common for the high bytes of numbers. Rows of random bits fail at their
// first byte.
bool AreUniform(const uint8_t* rows, size_t row_bytes, uint8_t& byte) {
  unsigned bits = 0;
  for (unsigned bit = 8; bit-- > 0;) {
    const uint8_t* row = rows + bit * row_bytes;
    if (row[0] != 0 && row[0] != 0xff) return false;
    if (std::memcmp(row, row + 1, row_bytes - 1) != 0) return false;
    bits = 2 * bits + (row[0] & 1);
  }
  byte = static_cast<uint8_t>(bits);
  return true;
}

}  // namespace

void TransposeBits(const uint8_t* values, size_t count, size_t width, uint8_t* rows) {
  CFILE_ASSERT(count % 8 == 0 && width > 0 && count * width <= kMaxTransposedBytes);
  if (count == 0) return;
  uint8_t streams[kMaxTransposedBytes];
  SplitByteStreams(values, count, width, streams, count);
  const size_t row_bytes = count / 8;
  for (size_t j = 0; j < width; ++j) {
    const uint8_t* bytes = streams + j * count;
    uint8_t* to = rows + j * count;
    for (size_t i = HWY_DYNAMIC_DISPATCH(BytesToRows)(bytes, count, to); i < count; i += 8) {
      const uint64_t square = TransposeSquare(LoadLittleEndian<uint64_t>(bytes + i));
      for (size_t bit = 0; bit < 8; ++bit)
        to[bit * row_bytes + i / 8] = static_cast<uint8_t>(square >> (8 * bit));
    }
  }
}

void UntransposeBits(const uint8_t* rows, size_t count, size_t width, uint8_t* values) {
  CFILE_ASSERT(count % 8 == 0 && width > 0 && count * width <= kMaxTransposedBytes);
  if (count == 0) return;
  uint8_t streams[kMaxTransposedBytes];
  const size_t row_bytes = count / 8;
  for (size_t j = 0; j < width; ++j) {
    const uint8_t* from = rows + j * count;
    uint8_t* bytes = width == 1 ? values : streams + j * count;
    if (uint8_t byte; AreUniform(from, row_bytes, byte)) {
      std::memset(bytes, byte, count);
      continue;
    }
    for (size_t i = HWY_DYNAMIC_DISPATCH(RowsToBytes)(from, count, bytes); i < count; i += 8) {
      uint64_t square = 0;
      for (size_t bit = 0; bit < 8; ++bit)
        square |= uint64_t{from[bit * row_bytes + i / 8]} << (8 * bit);
      StoreLittleEndian(TransposeSquare(square), bytes + i);
    }
  }
  if (width > 1) JoinByteStreams(streams, count, count, width, values);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
