#include "encodings/hybrid/levels.h"

#include <bit>

#include "encodings/core/assert.h"
#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {
namespace {

template <typename T>
absl::Status CheckWidth(int width) {
  constexpr int kMaxWidth = 8 * sizeof(T);
  if (width >= 0 && width <= kMaxWidth) return absl::OkStatus();
  return DataLoss("levels: values of ", width, " bits, expected 0 to ", kMaxWidth);
}

}  // namespace

int LevelWidth(uint32_t maximum) { return static_cast<int>(std::bit_width(maximum)); }

template <typename T>
void PutHybrid(std::span<const T> values, int width, ByteWriter& out) {
  CFILE_ASSERT(0 <= width && width <= kMaxLevelWidth);
  RleHybridEncoder encoder(width, /*kudu_exact=*/false);
  encoder.PutValues(values);
  encoder.Finish(out, LastGroup::kWhole);
}

template <typename T>
void PutHybridWithLength(std::span<const T> values, int width, ByteWriter& out) {
  const size_t begin = out.size();
  out.PutFixed(uint32_t{0});
  PutHybrid(values, width, out);
  StoreLittleEndian(static_cast<uint32_t>(out.size() - begin - sizeof(uint32_t)),
                    out.data() + begin);
}

template <typename T>
void PutIndexes(std::span<const T> values, int width, ByteWriter& out) {
  out.PutFixed(static_cast<uint8_t>(width));
  PutHybrid(values, width, out);
}

template <typename T>
void PutBitPacked(std::span<const T> values, int width, ByteWriter& out) {
  CFILE_ASSERT(0 <= width && width <= kMaxLevelWidth);
  uint8_t* p = out.Extend(static_cast<size_t>(PackedBytes(values.size(), width)));
  uint64_t word = 0;  // its lowest `filled` bits are not written yet
  int filled = 0;     // < 8 between two values
  for (const T value : values) {
    CFILE_ASSERT(value <= LowBits(width));
    word = word << width | value;
    for (filled += width; filled >= 8; filled -= 8)
      *p++ = static_cast<uint8_t>(word >> (filled - 8));
  }
  if (filled > 0) *p = static_cast<uint8_t>(word << (8 - filled));
}

template <typename T>
absl::Status ReadHybrid(std::span<const uint8_t> bytes, int width, std::span<T> out) {
  CFILE_RETURN_IF_ERROR(CheckWidth<T>(width));
  RleHybridReader reader(bytes, width);
  return reader.Read(out.data(), out.size());
}

template <typename T>
absl::Status ReadIndexes(std::span<const uint8_t> bytes, std::span<T> out) {
  if (out.empty()) return absl::OkStatus();
  if (bytes.empty()) {
    return DataLoss("indexes: expected a byte with the width of ", out.size(),
                    " indexes, found 0 bytes");
  }
  return ReadHybrid(bytes.subspan(1), bytes[0], out);
}

template <typename T>
absl::Status ReadBitPacked(ByteReader& reader, int width, std::span<T> out) {
  CFILE_RETURN_IF_ERROR(CheckWidth<T>(width));
  const uint64_t needed = PackedBytes(out.size(), width);
  std::span<const uint8_t> bytes;
  if (!reader.ReadBytes(needed, bytes)) {
    return DataLoss("levels: ", out.size(), " values of ", width, " bits take ", needed,
                    " bytes, found ", reader.remaining());
  }
  if (width == 0) {
    for (T& value : out) value = 0;
    return absl::OkStatus();
  }
  uint64_t bit = 0;
  for (T& value : out) {
    const size_t byte = static_cast<size_t>(bit / 8);
    uint64_t word;
    if (bytes.size() - byte >= sizeof(word)) {
      word = LoadBigEndian64(bytes.data() + byte);
    } else {
      uint8_t padded[sizeof(word)] = {};
      std::memcpy(padded, bytes.data() + byte, bytes.size() - byte);
      word = LoadBigEndian64(padded);
    }
    value = static_cast<T>(word << (bit % 8) >> (64 - width));
    bit += static_cast<uint64_t>(width);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status ReadHybridWithLength(ByteReader& reader, int width, std::span<T> out) {
  ByteReader ahead = reader;
  if (out.empty() && ahead.empty()) return absl::OkStatus();
  uint32_t length;
  std::span<const uint8_t> bytes;
  if (!ahead.ReadFixed(length)) {
    return DataLoss("levels: the length at byte ", reader.offset(), " takes 4 bytes, found ",
                    reader.remaining());
  }
  if (!ahead.ReadBytes(length, bytes)) {
    return DataLoss("levels: expected ", length, " bytes at byte ", ahead.offset(), ", found ",
                    ahead.remaining());
  }
  CFILE_RETURN_IF_ERROR(ReadHybrid(bytes, width, out));
  reader = ahead;
  return absl::OkStatus();
}

#define CFILE_INSTANTIATE(T)                                                        \
  template void PutHybrid<T>(std::span<const T>, int, ByteWriter&);                 \
  template void PutHybridWithLength<T>(std::span<const T>, int, ByteWriter&);       \
  template void PutIndexes<T>(std::span<const T>, int, ByteWriter&);                \
  template void PutBitPacked<T>(std::span<const T>, int, ByteWriter&);              \
  template absl::Status ReadHybrid<T>(std::span<const uint8_t>, int, std::span<T>); \
  template absl::Status ReadIndexes<T>(std::span<const uint8_t>, std::span<T>);     \
  template absl::Status ReadBitPacked<T>(ByteReader&, int, std::span<T>);           \
  template absl::Status ReadHybridWithLength<T>(ByteReader&, int, std::span<T>);
CFILE_INSTANTIATE(uint16_t)
CFILE_INSTANTIATE(uint32_t)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
