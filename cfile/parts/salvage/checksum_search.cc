#include "cfile/parts/salvage/checksum_search.h"

#include <algorithm>
#include <bit>

#include "cfile/core/format/crc32c.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // CRC32C, reflected
// Number of positions that share one multiplication table.
constexpr size_t kFrameBytes = 512;
constexpr size_t kReadBytes = 512 * kFrameBytes;
// Budget for visits that are not accepted, per size class: a constant, plus a multiple of the bytes
// searched. By chance one pair (begin, end) in 2^32 matches, so blocks of m to 2 m bytes cost about
// m^2 / 2^32 bytes for each end. Crafted bytes can match at every fourth position.
constexpr uint64_t kBytesInVain = uint64_t{8} << 20;
constexpr uint64_t kBytesInVainPerByte = 4;
constexpr int kLog2Pairs = 32;

using ByteTable = std::array<uint32_t, 256>;
// A linear map of 32 bits, as one table for each byte of its argument.
using LinearMap = std::array<ByteTable, 4>;

uint32_t Apply(const LinearMap& map, uint32_t value) {
  return map[0][value & 0xff] ^ map[1][value >> 8 & 0xff] ^ map[2][value >> 16 & 0xff] ^
         map[3][value >> 24];
}

// Sets `map` to the linear map that maps bit i to columns[i].
void MakeMap(const std::array<uint32_t, 32>& columns, LinearMap& map) {
  for (size_t byte = 0; byte < 4; ++byte) {
    map[byte][0] = 0;
    for (size_t value = 1; value < 256; ++value) {
      const auto low = static_cast<size_t>(std::countr_zero(value));
      map[byte][value] = map[byte][value & (value - 1)] ^ columns[8 * byte + low];
    }
  }
}

constexpr uint32_t DivideByX(uint32_t value) {
  return (value & 0x80000000u) != 0 ? (value ^ kPolynomial) << 1 | 1 : value << 1;
}

struct Tables {
  Tables() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t value = byte << 24;
      for (int bit = 0; bit < 8; ++bit) value = DivideByX(value);
      divide[byte] = value;
      shifted[0][byte] = byte;
    }
    for (size_t r = 1; r < kFrameBytes; ++r) {
      for (size_t byte = 0; byte < 256; ++byte) shifted[r][byte] = Divide(shifted[r - 1][byte]);
    }
    std::array<uint32_t, 32> columns;
    for (size_t bit = 0; bit < columns.size(); ++bit) {
      columns[bit] = uint32_t{1} << bit;
      for (size_t i = 0; i < kFrameBytes; ++i) columns[bit] = Divide(columns[bit]);
    }
    MakeMap(columns, next_frame);
    // `j` begins four bytes before the frame. Multiplication by x^8 is the inverse of Divide.
    uint32_t ones = ~uint32_t{0};
    for (size_t i = 0; i < kChecksumBytes; ++i) {
      for (int bit = 0; bit < 8; ++bit) ones = ones >> 1 ^ ((ones & 1) != 0 ? kPolynomial : 0);
    }
    for (uint32_t& value : j) {
      value = ones;
      ones = Divide(ones);
    }
  }

  uint32_t Divide(uint32_t value) const { return value << 8 ^ divide[value >> 24]; }

  ByteTable divide;
  std::array<ByteTable, kFrameBytes> shifted;                // [r][b]: b / x^(8 r)
  LinearMap next_frame;                                      // division by x^(8 kFrameBytes)
  std::array<uint32_t, kFrameBytes + 1 + kChecksumBytes> j;  // [i]: J(i - kChecksumBytes)
};

const Tables& GetTables() {
  static const auto* const tables = new Tables();
  return *tables;
}

// Computes J + U (see checksum_search.h) of each position, frame by frame.
class Keys {
 public:
  Keys() {
    for (size_t bit = 0; bit < columns_.size(); ++bit) columns_[bit] = uint32_t{1} << bit;
    MakeMap(columns_, frame_);
  }

  // Goes to the next frame. `bytes`: at most kFrameBytes; fewer only in the last frame.
  void BeginFrame(std::span<const uint8_t> bytes) {
    if (begun_) {
      u_ ^= Apply(frame_, u_in_frame_[kFrameBytes]);
      for (uint32_t& column : columns_) column = Apply(tables_.next_frame, column);
      MakeMap(columns_, frame_);
    }
    begun_ = true;
    uint32_t u = 0;
    for (size_t r = 0; r < bytes.size(); ++r) {
      u ^= tables_.shifted[r][bytes[r]];
      u_in_frame_[r + 1] = u;
    }
  }

  // The key of a block that begins at byte r of the frame.
  uint32_t begin(size_t r) const {
    return u_ ^ Apply(frame_, tables_.j[r + kChecksumBytes] ^ u_in_frame_[r]);
  }
  // The key of a block that ends, checksum included, before byte r of the frame.
  uint32_t end(size_t r) const { return u_ ^ Apply(frame_, tables_.j[r] ^ u_in_frame_[r]); }

 private:
  const Tables& tables_ = GetTables();
  bool begun_ = false;
  uint32_t u_ = 0;                                         // at the frame's begin
  std::array<uint32_t, kFrameBytes + 1> u_in_frame_ = {};  // before frame_ is applied
  std::array<uint32_t, 32> columns_;                       // the columns of frame_
  LinearMap frame_;                                        // division by x^(8 * begin of the frame)
};

}  // namespace

// Positions are counted from the first begin of the search. The table grows with the search, up to
// kMostBegins entries.
class ChecksumSearch::Begins {
 public:
  Begins() : entries_(kFirstSize), heads_(4 * kFirstSize, kNone) {}

  // `position`: the number of begins added before.
  void Add(uint64_t position, uint32_t key) {
    if (position == entries_.size() && position < kMostBegins) Grow();
    Put(position, key);
    end_ = position + 1;
  }

  // Calls visit(position) for the begins with this key at or after `first` that are still in the
  // table, the latest first, until `visit` returns true.
  template <typename VisitBegin>
  bool Find(uint32_t key, uint64_t first, VisitBegin visit) const {
    if (end_ > entries_.size()) first = std::max(first, end_ - entries_.size());
    uint64_t after = end_;
    uint32_t low = heads_[Hash(key)];
    for (int step = 0; low != kNone && step < kMostSteps; ++step) {
      // The position before `after` with these low bits.
      const uint64_t back = static_cast<uint32_t>(static_cast<uint32_t>(after) - low);
      if (back == 0 || after < first || back > after - first) return false;
      after -= back;
      const Entry& entry = entries_[after & (entries_.size() - 1)];
      if (entry.key == key && visit(after)) return true;
      low = entry.next;
    }
    return false;
  }

 private:
  struct Entry {
    uint32_t key = 0;
    uint32_t next = 0;  // low bits of the previous position in the chain, or kNone
  };
  static constexpr size_t kFirstSize = 1024;  // a power of two, as are all sizes
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Chains usually have one or two entries, but crafted bytes can make them arbitrarily long.
  static constexpr int kMostSteps = 64;

  size_t Hash(uint32_t key) const { return key & (heads_.size() - 1); }

  void Put(uint64_t position, uint32_t key) {
    uint32_t& head = heads_[Hash(key)];
    entries_[position & (entries_.size() - 1)] = {.key = key, .next = head};
    head = static_cast<uint32_t>(position);
  }

  // Doubles the table. Precondition: no entry has been overwritten.
  void Grow() {
    const size_t count = entries_.size();
    entries_.resize(2 * count);
    heads_.assign(std::max(heads_.size(), entries_.size()), kNone);
    for (size_t position = 0; position < count; ++position) Put(position, entries_[position].key);
  }

  std::vector<Entry> entries_;   // by position
  std::vector<uint32_t> heads_;  // low bits of the latest begin of each hash
  uint64_t end_ = 0;
};

absl::StatusOr<std::span<const uint8_t>> ChecksumSearch::Bytes(uint64_t begin, uint64_t end) {
  if (const auto memory = source_.InMemory(); !memory.empty())
    return memory.subspan(begin, end - begin);
  const uint64_t held_end = buffer_offset_ + buffer_.size();
  if (begin < buffer_offset_ || begin > held_end) {
    buffer_.clear();
    buffer_offset_ = begin;
  } else if (begin - buffer_offset_ > std::max<uint64_t>(buffer_.size() / 2, kReadBytes)) {
    buffer_.erase(buffer_.begin(),
                  buffer_.begin() + static_cast<ptrdiff_t>(begin - buffer_offset_));
    buffer_offset_ = begin;
  }
  const size_t held = buffer_.size();
  const uint64_t wanted = end - buffer_offset_;
  if (wanted > held) {
    buffer_.resize(wanted);
    absl::Status status = source_.ReadAt(buffer_offset_ + held, std::span(buffer_).subspan(held));
    if (!status.ok()) buffer_.resize(held);
    CFILE_RETURN_IF_ERROR(status);
  }
  return std::span<const uint8_t>(buffer_).subspan(begin - buffer_offset_, end - begin);
}

absl::StatusOr<uint64_t> ChecksumSearch::CountZeros(uint64_t offset, uint64_t limit) {
  CFILE_ASSIGN_OR_RETURN(const auto bytes, Bytes(offset, offset + std::min(limit, end_ - offset)));
  const auto end = std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != 0; });
  return static_cast<uint64_t>(end - bytes.begin());
}

bool ChecksumSearch::MayVisit(uint64_t size) const {
  const auto width = static_cast<size_t>(std::bit_width(size));
  const uint64_t by_chance = size <= kMostBegins ? uint64_t{1} << 2 * width >> kLog2Pairs : 0;
  return in_vain_[width] <= kBytesInVain + reached_ * (kBytesInVainPerByte + by_chance);
}

absl::StatusOr<std::optional<BlockPointer>> ChecksumSearch::Find(uint64_t first, uint64_t last,
                                                                 uint64_t max_size,
                                                                 const Visit& visit) {
  Begins begins;
  Keys keys;
  const uint64_t end = max_size < end_ - std::min(end_, last) ? last + max_size : end_;
  // Reserve all that Bytes may hold, so that the buffer does not grow by doubling.
  if (source_.InMemory().empty())
    buffer_.reserve(std::min(2 * (max_size + kReadBytes), end_ - std::min(first, buffer_offset_)));
  for (uint64_t chunk = first; chunk < end;) {
    const uint64_t chunk_end = std::min(end, chunk + kReadBytes);
    const uint64_t held = chunk - std::min(chunk - first, max_size);
    CFILE_ASSIGN_OR_RETURN(const auto bytes, Bytes(held, chunk_end));
    for (uint64_t frame = chunk; frame < chunk_end; frame += kFrameBytes) {
      const size_t frame_size = std::min<uint64_t>(kFrameBytes, chunk_end - frame);
      reached_ = std::max(reached_, frame + frame_size);
      keys.BeginFrame(bytes.subspan(frame - held, frame_size));
      for (size_t r = 0; r < frame_size; ++r) {
        if (frame + r <= last) begins.Add(frame + r - first, keys.begin(r));
        const uint64_t passed = frame + r + 1 - first;
        const uint64_t oldest = passed - std::min(passed, max_size);
        std::optional<BlockPointer> found;
        begins.Find(keys.end(r + 1), oldest, [&](uint64_t position) {
          // A block has at least one byte and its checksum.
          const uint64_t size = passed - position;
          if (size <= kChecksumBytes || !MayVisit(size)) return false;
          const BlockPointer pointer{.offset = first + position,
                                     .size = static_cast<uint32_t>(size)};
          const Judgement judged = visit(pointer, bytes.subspan(pointer.offset - held, size));
          if (judged.accepted) {
            found = pointer;
          } else {
            in_vain_[static_cast<size_t>(std::bit_width(size))] += judged.cost_bytes;
          }
          return judged.accepted;
        });
        if (found) return found;
      }
    }
    chunk = chunk_end;
  }
  return std::nullopt;
}

}  // namespace cfile::internal
