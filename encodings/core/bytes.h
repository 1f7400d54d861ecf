// Reads and writes bytes. ByteReader is a cursor that never reads past the end of untrusted bytes;
// ByteWriter is a buffer that grows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "encodings/core/assert.h"

static_assert(std::endian::native == std::endian::little,
              "cfile is written for little-endian machines");

namespace cfile::encodings {

inline std::string_view AsString(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Load and store a little-endian value at any alignment.
template <typename T>
T LoadLittleEndian(const uint8_t* p) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T>
void StoreLittleEndian(T value, uint8_t* p) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(p, &value, sizeof(T));
}

inline uint64_t LoadBigEndian64(const uint8_t* p) {
  return __builtin_bswap64(LoadLittleEndian<uint64_t>(p));
}

// Copies kSize bytes, a multiple of 8; loads all before it stores the first. Unlike std::memcpy,
// never becomes a function call.
template <size_t kSize>
inline void CopyWide(const uint8_t* from, uint8_t* to) {
  uint64_t words[kSize / 8];
  std::memcpy(words, from, kSize);
  std::memcpy(to, words, kSize);
}

// Prefetches the memory 1,024 bytes after `p`; that address need not be valid. For loops that read
// a length from memory to find the next address: for them, the processor's own prefetching is too
// late.
inline void PrefetchAhead(const void* p) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(p) + 1024));
}

// Asks the CPU to fetch the bytes `begin` to `end` - 1 of `bytes`, as far as there are that many.
inline void PrefetchBytes(std::span<const uint8_t> bytes, size_t begin, size_t end) {
  constexpr size_t kCacheLineBytes = 64;
  end = std::min(bytes.size(), end);
  for (size_t at = begin; at < end; at += kCacheLineBytes) __builtin_prefetch(bytes.data() + at);
  if (begin < end) __builtin_prefetch(bytes.data() + end - 1);  // `begin` may be within a line
}

// The sizes of the longest vint (LEB128 number) of 32 bits and of 64 bits, in bytes.
inline constexpr size_t kMaxVint32Bytes = 5;
inline constexpr size_t kMaxVint64Bytes = 10;

// Zigzag maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ... so that numbers of small magnitude become short
// vints.
constexpr uint64_t ZigZagEncode(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t ZigZagDecode(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Reads forwards through bytes that the caller owns. Each Read returns false and consumes nothing
// if the remaining bytes do not hold a whole value; the caller reports the error. Copyable,
// thread-compatible.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::span<const uint8_t> bytes)
      : begin_(bytes.data()), position_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // remaining: the number of bytes not read yet. offset: the number of bytes read so far.
  size_t remaining() const { return static_cast<size_t>(end_ - position_); }
  size_t offset() const { return static_cast<size_t>(position_ - begin_); }
  bool empty() const { return position_ == end_; }
  std::span<const uint8_t> rest() const { return {position_, remaining()}; }

  // Reads one little-endian value of T.
  template <typename T>
  [[nodiscard]] bool ReadFixed(T& value) {
    if (remaining() < sizeof(T)) return false;
    value = LoadLittleEndian<T>(position_);
    position_ += sizeof(T);
    return true;
  }

  // Reads a LEB128 number. Also returns false if the number has more than 5 bytes (ReadVint32) or
  // 10 bytes (ReadVint64), or more than 32 or 64 bits.
  [[nodiscard]] bool ReadVint32(uint32_t& value) { return ReadVint(value); }
  [[nodiscard]] bool ReadVint64(uint64_t& value) { return ReadVint(value); }

  // Returns the next `size` bytes without copying them.
  [[nodiscard]] bool ReadBytes(uint64_t size, std::span<const uint8_t>& bytes) {
    if (size > remaining()) return false;
    bytes = {position_, static_cast<size_t>(size)};
    position_ += size;
    return true;
  }

  // Reads a vint length, then returns that many bytes without copying them.
  [[nodiscard]] bool ReadLengthPrefixed(std::span<const uint8_t>& bytes) {
    ByteReader ahead = *this;
    uint64_t size;
    if (!ahead.ReadVint64(size) || !ahead.ReadBytes(size, bytes)) return false;
    *this = ahead;
    return true;
  }

  [[nodiscard]] bool Skip(uint64_t size) {
    std::span<const uint8_t> skipped;
    return ReadBytes(size, skipped);
  }

 private:
  template <typename U>
  bool ReadVint(U& value) {
    constexpr int kBits = 8 * sizeof(U);
    U result = 0;
    const uint8_t* p = position_;
    for (int shift = 0; shift < kBits && p != end_; shift += 7) {
      const uint8_t byte = *p++;
      const U bits = byte & 0x7f;
      if (shift + 7 > kBits && (bits >> (kBits - shift)) != 0) return false;
      result |= static_cast<U>(bits << shift);
      if (byte < 0x80) {
        position_ = p;
        value = result;
        return true;
      }
    }
    return false;
  }

  const uint8_t* begin_ = nullptr;
  const uint8_t* position_ = nullptr;
  const uint8_t* end_ = nullptr;
};

// A buffer of bytes that grows. New memory is not filled with zeros. Movable, not copyable,
// thread-compatible. Pointers into the buffer are valid until the next call that may grow it.
class ByteWriter {
 public:
  ByteWriter() = default;
  ByteWriter(ByteWriter&& other) noexcept { Swap(other); }
  ByteWriter& operator=(ByteWriter&& other) noexcept {
    Swap(other);
    return *this;
  }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  std::span<const uint8_t> span() const { return {data_.get(), size_}; }
  std::string_view view() const { return AsString(span()); }

  // Removes the contents and keeps the memory.
  void Clear() { size_ = 0; }
  // Keeps only the first `size` bytes. Precondition: size <= this->size().
  void Truncate(size_t size) {
    CFILE_ASSERT(size <= size_);
    size_ = size;
  }
  void Reserve(size_t capacity) {
    if (capacity > capacity_) Grow(capacity);
  }
  // Reserves memory for `count` more bytes.
  void ReserveMore(size_t count) {
    if (count > capacity_ - size_) Grow(size_ + count);
  }

  // Appends `count` uninitialised bytes and returns a pointer to the first one. The caller fills
  // them.
  uint8_t* Extend(size_t count) {
    if (count > capacity_ - size_) Grow(size_ + count);
    uint8_t* begin = data_.get() + size_;
    size_ += count;
    return begin;
  }

  template <typename T>
  void PutFixed(T value) {
    StoreLittleEndian(value, Extend(sizeof(T)));
  }
  // Appends a LEB128 number; for 32-bit and 64-bit values.
  void PutVint(uint64_t value) {
    if (kMaxVint64Bytes > capacity_ - size_) Grow(size_ + kMaxVint64Bytes);
    uint8_t* p = data_.get() + size_;
    for (; value >= 0x80; value >>= 7) *p++ = static_cast<uint8_t>(value | 0x80);
    *p++ = static_cast<uint8_t>(value);
    size_ = static_cast<size_t>(p - data_.get());
  }
  void PutBytes(std::span<const uint8_t> bytes) {
    if (!bytes.empty()) std::memcpy(Extend(bytes.size()), bytes.data(), bytes.size());
  }
  void PutBytes(std::string_view text) { PutBytes(AsBytes(text)); }
  void PutZeros(size_t count) {
    if (count > 0) std::memset(Extend(count), 0, count);
  }
  void PutLengthPrefixed(std::span<const uint8_t> bytes) {
    PutVint(bytes.size());
    PutBytes(bytes);
  }

  void Swap(ByteWriter& other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void Grow(size_t needed) {
    const size_t capacity = std::max({needed, 2 * capacity_, size_t{64}});
    std::unique_ptr<uint8_t[]> data(new uint8_t[capacity]);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
  }

  std::unique_ptr<uint8_t[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace cfile::encodings
