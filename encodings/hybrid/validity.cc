#include "encodings/hybrid/validity.h"

#include <algorithm>
#include <bit>

#include "encodings/core/assert.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {

ValidityEncoder::ValidityEncoder(bool kudu_exact) : encoder_(1, kudu_exact) {}

void ValidityEncoder::AddRun(bool valid, uint64_t count) {
  encoder_.PutRun(valid ? 1 : 0, count);
  count_ += count;
}

void ValidityEncoder::AddBits(const uint8_t* bits, uint64_t first, uint64_t count) {
  const std::span<const uint8_t> packed(bits, static_cast<size_t>(PackedBytes(first + count, 1)));
  count_ += count;
  while (count > 0) {
    const int taken = static_cast<int>(std::min<uint64_t>(count, kMaxBitsPerLoad));
    const uint64_t word = LoadBits(packed, first, taken);
    encoder_.PutBits(word, taken);
    first += static_cast<uint64_t>(taken);
    count -= static_cast<uint64_t>(taken);
  }
}

void ValidityEncoder::Finish(ByteWriter& out) {
  encoder_.Finish(out, LastGroup::kWhole);
  count_ = 0;
}

absl::Status ValidityDecoder::Open(std::span<const uint8_t> bitmap, uint32_t count) {
  if (count > 0 && bitmap.empty())
    return DataLoss("validity bitmap of ", count, " rows has no bytes");
  runs_.Open(bitmap, 1);
  count_ = count;
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> ValidityDecoder::Read(uint32_t count, uint8_t* bits) {
  CFILE_ASSERT(count <= count_ - position());
  CFILE_ASSIGN_OR_RETURN(const uint64_t ones, runs_.ReadBits(count, bits));
  return static_cast<uint32_t>(ones);
}

absl::StatusOr<uint32_t> ValidityDecoder::SeekTo(uint32_t position) {
  CFILE_ASSERT(position <= count_);
  CFILE_ASSIGN_OR_RETURN(const uint64_t ones, runs_.SeekAndCountOnes(position));
  return static_cast<uint32_t>(ones);
}

size_t PositionOfOne(const uint8_t* bits, size_t begin, size_t rank) {
  size_t byte = begin / 8;
  unsigned rest = bits[byte] & (0xffu << (begin % 8));
  while (rank >= static_cast<size_t>(std::popcount(rest))) {
    rank -= static_cast<size_t>(std::popcount(rest));
    rest = bits[++byte];
  }
  for (; rank > 0; --rank) rest &= rest - 1;
  return 8 * byte + static_cast<size_t>(std::countr_zero(rest));
}

}  // namespace cfile::encodings
