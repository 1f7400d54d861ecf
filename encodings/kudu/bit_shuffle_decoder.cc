#include "encodings/kudu/bit_shuffle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "encodings/core/bytes.h"
#include "encodings/core/key_order.h"
#include "encodings/core/lower_bound.h"
#include "encodings/kernels/bit_transposition.h"
#include "encodings/kudu/lz4_block.h"

namespace cfile::encodings {
namespace {

// A decoder keeps up to this many decoded bytes of a block. For large blocks it may keep more
// (MakeSlots).
constexpr size_t kWindowBytes = size_t{1} << 20;

template <typename T>
class BitShuffleDecoder final : public BlockDecoder<T> {
 public:
  absl::Status Open(const BlockView& view) override {
    this->count_ = this->position_ = 0;
    block_ = view.bytes;
    ByteReader reader(block_);
    uint32_t count, size, padded, width;
    if (!reader.ReadFixed(this->first_ordinal_) || !reader.ReadFixed(count) ||
        !reader.ReadFixed(size) || !reader.ReadFixed(padded) || !reader.ReadFixed(width)) {
      return DataLoss("bit-shuffle: a block of ", block_.size(),
                      " bytes has no room for its header of ", kBitShuffleHeaderBytes, " bytes");
    }
    if (size != block_.size()) {
      return DataLoss("bit-shuffle: the header says ", size, " bytes, the block has ",
                      block_.size());
    }
    if (padded != (uint64_t{count} + 7) / 8 * 8) {
      return DataLoss("bit-shuffle: the header says ", count, " values, and ", padded,
                      " with padding, expected ", (uint64_t{count} + 7) / 8 * 8);
    }
    const bool narrow = std::is_same_v<T, uint32_t> && (width == 1 || width == 2);
    if (width != sizeof(T) && !narrow) {
      return DataLoss("bit-shuffle: the header says elements of ", width, " bytes, the type has ",
                      sizeof(T));
    }
    width_ = width;
    padded_ = padded;
    chunk_shift_ = std::countr_zero(kBitShuffleChunkBytes / width);
    CFILE_RETURN_IF_ERROR(FindChunks(reader));
    MakeSlots();
    this->count_ = count;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t wanted = this->Left(out.size());
    for (size_t done = 0; done < wanted;) {
      const auto position = static_cast<uint32_t>(this->position_ + done);
      CFILE_ASSIGN_OR_RETURN(const std::span<const T> values, Decoded(position, wanted - done));
      std::memcpy(out.data() + done, values.data(), values.size_bytes());
      done += values.size();
    }
    this->position_ += static_cast<uint32_t>(wanted);
    return wanted;
  }

  std::span<const T> Borrow(size_t max) override {
    const size_t wanted = this->Left(max);
    if (wanted == 0) return {};
    const auto values = Decoded(this->position_, wanted);
    if (!values.ok()) return {};  // Read reports the error
    this->position_ += static_cast<uint32_t>(values->size());
    return *values;
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    this->position_ = 0;
    absl::Status status;
    const auto less = [&](uint32_t position) {
      const auto value = Decoded(position, 1);
      if (!value.ok()) status = value.status();
      return value.ok() && KeyLess<T>(value->front(), key);
    };
    // The first value >= key is in the last chunk whose first value is less than the key, or is the
    // first value of the next chunk.
    const uint32_t chunks = this->count_ == 0 ? 0 : num_chunks();
    const uint32_t behind = chunks == 0 ? 0 : FindLowerBound(chunks, [&](uint32_t chunk) {
      return less(chunk << chunk_shift_);
    });
    CFILE_RETURN_IF_ERROR(status);
    uint32_t position = 0;
    if (behind > 0) {
      const uint32_t begin = (behind - 1) << chunk_shift_;
      const uint32_t size = std::min(uint32_t{1} << chunk_shift_, this->count_ - begin);
      position = begin + FindLowerBound(size, [&](uint32_t i) { return less(begin + i); });
    }
    bool exact = false;
    if (status.ok() && position < this->count_) {
      const auto value = Decoded(position, 1);
      status = value.status();
      exact = value.ok() && value->front() == key;
    }
    CFILE_RETURN_IF_ERROR(status);
    this->position_ = position;
    return LowerBound{position, exact};
  }

 private:
  uint32_t num_chunks() const { return static_cast<uint32_t>(chunk_ends_.size()); }

  // Finds the ends of the chunks, which must be as many as the values need, and fill the block.
  // Each chunk takes bytes of the block, so the memory for chunk_ends_ is bounded.
  absl::Status FindChunks(ByteReader& reader) {
    const uint64_t needed = (uint64_t{padded_} + (uint64_t{1} << chunk_shift_) - 1) >> chunk_shift_;
    chunk_ends_.clear();
    while (chunk_ends_.size() < needed) {
      const size_t begin = reader.offset();
      uint32_t size;
      if (!reader.ReadFixed(size) || !reader.Skip(__builtin_bswap32(size))) {
        return DataLoss("bit-shuffle: chunk ", chunk_ends_.size(), " of ", needed, " at byte ",
                        begin, " does not end within the block's ", block_.size(), " bytes");
      }
      chunk_ends_.push_back(static_cast<uint32_t>(reader.offset()));
    }
    if (!reader.empty()) {
      return DataLoss("bit-shuffle: ", reader.remaining(), " bytes after the ", needed,
                      " chunks of ", padded_, " values");
    }
    return absl::OkStatus();
  }

  void MakeSlots() {
    const size_t chunk_bytes = sizeof(T) << chunk_shift_;
    num_slots_ = static_cast<uint32_t>(
        std::min<size_t>(num_chunks(), std::max(kWindowBytes, 4 * block_.size()) / chunk_bytes));
    slots_.assign(num_slots_, kNoChunk);
    const size_t needed = size_t{num_slots_} << chunk_shift_;
    if (needed <= capacity_) return;
    values_.reset(new T[needed]);
    capacity_ = needed;
  }

  // Returns values from `position` on that are contiguous in memory, at least 1 and at most `max`.
  // Decodes their chunks if necessary. Preconditions: max > 0; position + max <= count_.
  absl::StatusOr<std::span<const T>> Decoded(uint32_t position, size_t max) {
    const uint32_t first = position >> chunk_shift_;
    const auto last = static_cast<uint32_t>((position + max - 1) >> chunk_shift_);
    const uint32_t first_slot = first % num_slots_;
    const uint32_t chunks = std::min(last - first + 1, num_slots_ - first_slot);
    for (uint32_t i = 0; i < chunks; ++i) {
      if (slots_[first_slot + i] == first + i) continue;
      CFILE_RETURN_IF_ERROR(DecodeChunk(first + i, first_slot + i));
    }
    const size_t offset = position & ((uint32_t{1} << chunk_shift_) - 1);
    const size_t size = std::min(max, (size_t{chunks} << chunk_shift_) - offset);
    return std::span<const T>(values_.get() + (size_t{first_slot} << chunk_shift_) + offset, size);
  }

  absl::Status DecodeChunk(uint32_t chunk, uint32_t slot) {
    slots_[slot] = kNoChunk;
    const size_t begin =
        (chunk == 0 ? kBitShuffleHeaderBytes : chunk_ends_[chunk - 1]) + sizeof(uint32_t);
    const size_t values =
        std::min<size_t>(size_t{1} << chunk_shift_, padded_ - (size_t{chunk} << chunk_shift_));
    uint8_t rows[kBitShuffleChunkBytes + kLz4SlackBytes];
    const size_t expected = values * width_;
    if (!DecompressLz4Block(block_.subspan(begin, chunk_ends_[chunk] - begin), {rows, expected})) {
      return DataLoss("bit-shuffle: the LZ4 data of chunk ", chunk, " at byte ", begin,
                      " is damaged or does not decompress to ", expected, " bytes");
    }
    T* const to = values_.get() + (size_t{slot} << chunk_shift_);
    if constexpr (std::is_same_v<T, uint32_t>) {
      if (width_ == 1) {
        Widen<uint8_t>(rows, values, to);
      } else if (width_ == 2) {
        Widen<uint16_t>(rows, values, to);
      } else {
        UntransposeBits(rows, values, sizeof(T), reinterpret_cast<uint8_t*>(to));
      }
    } else {
      UntransposeBits(rows, values, sizeof(T), reinterpret_cast<uint8_t*>(to));
    }
    slots_[slot] = chunk;
    return absl::OkStatus();
  }

  template <typename Narrower>
  static void Widen(const uint8_t* rows, size_t count, T* to) {
    Narrower narrow[kBitShuffleChunkBytes / sizeof(Narrower)];
    UntransposeBits(rows, count, sizeof(Narrower), reinterpret_cast<uint8_t*>(narrow));
    std::copy_n(narrow, count, to);
  }

  static constexpr uint32_t kNoChunk = UINT32_MAX;

  std::span<const uint8_t> block_;
  uint32_t width_ = 0;  // size of an element in bytes
  uint32_t padded_ = 0;
  int chunk_shift_ = 0;               // log2 of the elements of a chunk
  std::vector<uint32_t> chunk_ends_;  // offsets in the block

  // Decoded chunks: chunk c is in slot c % num_slots_ if slots_[c % num_slots_] == c.
  uint32_t num_slots_ = 0;
  std::vector<uint32_t> slots_;
  std::unique_ptr<T[]> values_;
  size_t capacity_ = 0;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockDecoder<T>> BitShuffleCodec::MakeDecoder(PhysicalType /*type*/,
                                                              const DecoderOptions& /*options*/) {
  return std::make_unique<BitShuffleDecoder<T>>();
}

#define CFILE_INSTANTIATE(T) CFILE_INSTANTIATE_DECODER(BitShuffleCodec, T)
CFILE_FOR_EACH_NUMBER(CFILE_INSTANTIATE)
CFILE_INSTANTIATE(int128_t)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
