// Which rows of a nullable block hold a value: a bitmap of width-1 RLE/bit-packed hybrid, 1 =
// present (cfile/FORMAT.md, Kudu's data blocks), and the spreading of present values to their rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/bytes.h"
#include "encodings/rle_hybrid.h"
#include "encodings/status.h"

namespace cfile::encodings {

// Collects one block's bitmap. Thread-compatible.
class ValidityEncoder {
 public:
  // kudu_exact: runs begin and end where Kudu's writer has them; otherwise runs shorter than 64
  // join the literal run beside them as far as the bytes that this saves elsewhere allow: that
  // reads faster and never costs more bytes in all.
  explicit ValidityEncoder(bool kudu_exact);

  // `count` further rows that all hold a value, or all are null.
  void AddRun(bool valid, uint64_t count);

  // `count` further rows as bits, 1 = valid, from bit `first` of `bits` on, least significant bit
  // first. Faster than many short runs.
  void AddBits(const uint8_t* bits, uint64_t first, uint64_t count);

  // Rows, and rows that hold a value, so far.
  uint64_t count() const { return count_; }
  uint64_t valid_count() const { return valid_count_; }
  // Bytes of the bitmap so far, about.
  size_t size_bytes() const { return encoder_.size_bytes(); }

  // Appends the encoded bitmap to `out` and begins anew.
  void Finish(ByteWriter& out);

 private:
  RleHybridEncoder encoder_;
  uint64_t count_ = 0;
  uint64_t valid_count_ = 0;
};

// Reads one block's bitmap at a time. Holds no more than its position and, after the first seek to
// anywhere but the front, checkpoints (about one per 32 runs). Thread-compatible.
class ValidityDecoder {
 public:
  // Opens on the encoded bitmap of `count` rows; `bitmap` must outlive the use.
  absl::Status Open(std::span<const uint8_t> bitmap, uint32_t count);

  uint32_t count() const { return count_; }
  uint32_t position() const { return static_cast<uint32_t>(runs_.position()); }

  // Writes the next `count` bits to `bits`, least significant bit first, from bit 0 of bits[0] on
  // (unused bits of the last byte are 0), and returns how many of them are 1. Precondition:
  // count <= this->count() - position(); `bits` has (count + 7) / 8 bytes. kDataLoss: the bitmap
  // ends too early or is malformed.
  absl::StatusOr<uint32_t> Read(uint32_t count, uint8_t* bits);

  // Goes to row `position` and returns how many rows before it hold a value. Precondition:
  // position <= count().
  absl::StatusOr<uint32_t> SeekTo(uint32_t position);

 private:
  RleHybridReader runs_;
  uint32_t count_ = 0;
};

// Spreads packed values to their rows: out[i] = the next of `present` where bit i of `bits` is 1,
// else T{} (no bytes of elsewhere show through a null). `present` holds as many values as there are
// ones among the first `count` bits; nothing beyond it is read, nothing beyond out + count written.
// `present` and `out` do not overlap. For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
void SpreadValues(const T* present, const uint8_t* bits, size_t count, T* out);

// The other way: copies the values whose bit is 1 to the front of `present` and returns how many
// they are. Bit i of values[i] is bit first + i of `bits`. `present` has room for `count` values,
// does not overlap with `values`, and holds anything behind the copied ones.
template <typename T>
size_t PackValues(const T* values, const uint8_t* bits, uint64_t first, size_t count, T* present);

// The position of the bit, `begin` or later, that is 1 and has `rank` ones between `begin` and
// itself. Precondition: there is one.
size_t PositionOfOne(const uint8_t* bits, size_t begin, size_t rank);

}  // namespace cfile::encodings
