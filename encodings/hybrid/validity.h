// The null bitmap (validity) of a nullable block: one bit per row, 1 = the row holds a value,
// stored as RLE-hybrid of width 1 (cfile/FORMAT.md, Nullable blocks). Also moves values between
// their rows and an array without nulls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"
#include "encodings/core/lane.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/rle_hybrid.h"

namespace cfile::encodings {

// Encodes the bitmap of one block at a time. Thread-compatible.
class ValidityEncoder {
 public:
  // kudu_exact: runs end where Kudu's writer ends them. Otherwise a repeated run of fewer
  // than 64 bits may be stored in the literal run before it, which is faster to read; the bitmap is
  // never longer than with kudu_exact.
  explicit ValidityEncoder(bool kudu_exact);

  // Adds `count` rows. All hold a value if `valid`; otherwise all are null.
  void AddRun(bool valid, uint64_t count);

  // Adds `count` rows as bits, 1 = the row holds a value: bits first, first + 1, ... of `bits`,
  // least significant bit first. Faster than many short runs.
  void AddBits(const uint8_t* bits, uint64_t first, uint64_t count);

  // The number of rows so far.
  uint64_t count() const { return count_; }
  // Approximate number of bytes of the bitmap so far.
  size_t size_bytes() const { return encoder_.size_bytes(); }

  // Appends the encoded bitmap to `out`, and empties the encoder.
  void Finish(ByteWriter& out);

 private:
  RleHybridEncoder encoder_;
  uint64_t count_ = 0;
};

// Decodes the bitmap of one block at a time. Keeps its position and, after the first seek,
// checkpoints (about one per 32 runs). Thread-compatible.
class ValidityDecoder {
 public:
  // Opens on the encoded bitmap of `count` rows; `bitmap` must stay valid as long as it is read.
  // kDataLoss: there are rows, but `bitmap` is empty.
  absl::Status Open(std::span<const uint8_t> bitmap, uint32_t count);

  uint32_t count() const { return count_; }
  uint32_t position() const { return static_cast<uint32_t>(runs_.position()); }

  // Writes the next `count` bits to `bits`, least significant bit first, from bit 0 of bits[0] on
  // (unused bits of the last byte are 0), and returns how many of them are 1. Precondition:
  // count <= this->count() - position(); `bits` has (count + 7) / 8 bytes. kDataLoss: the bitmap
  // ends too early or is malformed.
  absl::StatusOr<uint32_t> Read(uint32_t count, uint8_t* bits);

  // Goes to row `position` and returns how many rows before it hold a value. Precondition: position
  // <= count(). kDataLoss: as for Read.
  absl::StatusOr<uint32_t> SeekTo(uint32_t position);

  // Writes to `positions`, for each row, how many rows before it hold a value, or kNull if the row
  // holds none. Afterwards position() is unspecified. Preconditions: the rows ascend and are less
  // than count(); the same row may occur several times. kDataLoss: as for Read.
  static constexpr uint32_t kNull = RleHybridReader::kNotOne;
  absl::Status FindValues(std::span<const uint32_t> rows, uint32_t* positions) {
    return runs_.RanksOfOnes(rows, positions);
  }

 private:
  RleHybridReader runs_;
  uint32_t count_ = 0;
};

// Spreads packed values of `lane` to their rows: value i of `out` becomes the next value of
// `present` if bit i of `bits` is 1, else zero bytes. (So the bytes of a null never hold old data.)
// `present` holds as many values as there are ones in the first `count` bits. Reads nothing after
// these values, and writes nothing after the first `count` values of `out`. Precondition: `present`
// and `out` do not overlap.
void SpreadValues(Lane lane, const void* present, const uint8_t* bits, size_t count, void* out);

// Spreads bits in place: moves the first `present` bits of `bits` to the rows whose bit in `valid`
// is 1. All other bits, also the unused ones of the last byte, become 0. `bits` has (count + 7) / 8
// bytes. Precondition: `present` bits are 1 among the first `count` bits of `valid`.
void SpreadBits(uint8_t* bits, const uint8_t* valid, size_t count, size_t present);

// The reverse of SpreadValues: copies the values whose bit is 1 to the front of `present`, and
// returns how many it copied. The bit of value i is bit first + i of `bits`. What `present` holds
// after the copied values is unspecified. Preconditions: `present` has room for `count` values and
// does not overlap `values`.
size_t PackValues(Lane lane, const void* values, const uint8_t* bits, uint64_t first, size_t count,
                  void* present);

// Returns the position p of a bit that is 1, where p >= begin and exactly `rank` of the bits
// [begin, p) are 1. Precondition: there is such a bit.
size_t PositionOfOne(const uint8_t* bits, size_t begin, size_t rank);

}  // namespace cfile::encodings
