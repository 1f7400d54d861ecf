// Reads the fields of a protobuf message from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cfile/core/wire/message_type.h"
#include "encodings/core/bytes.h"

namespace cfile::internal::wire {

enum class WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

constexpr uint32_t MakeTag(uint32_t number, WireType type) {
  return number << 3 | static_cast<uint32_t>(type);
}
constexpr uint32_t NumberOf(uint32_t tag) { return tag >> 3; }
constexpr WireType WireTypeOf(uint32_t tag) { return static_cast<WireType>(tag & 7); }
// The wire type of a field of this kind that is not packed.
WireType WireTypeOf(Kind kind);

// The maximum nesting of messages and groups: a few messages contain the schema, which has at most
// 1000 nodes on a path (RecordLimits::max_depth).
inline constexpr int kDeepest = 1010;

// Upper estimates of memory, in bytes: for one message, one text, one unknown field and one scalar.
// While a vector of numbers grows, it takes up to three times as much memory.
inline constexpr uint64_t kMessageBytes = 192;
inline constexpr uint64_t kTextBytes = 64;
inline constexpr uint64_t kUnknownBytes = 64;
inline constexpr uint64_t kScalarBytes = 8;

// A position in the bytes of a message. Each function returns false if the bytes are malformed; the
// reader must then not be used again. As in the protobuf library, three things are malformed: a
// number of more than 10 bytes, a tag or a length of more than 5 bytes, and the field number 0; and
// if a number has more bits than its type, the highest bits are ignored.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes)
      : p_(encodings::AsBytes(bytes).data()), end_(p_ + bytes.size()) {}

  bool at_end() const { return p_ == end_; }
  const char* position() const { return reinterpret_cast<const char*>(p_); }

  bool ReadVarint(uint64_t& value) {
    if (p_ != end_ && *p_ < 0x80) {
      value = *p_++;
      return true;
    }
    return ReadLongVarint(encodings::kMaxVint64Bytes, value);
  }
  bool ReadTag(uint32_t& tag) {
    uint64_t value;
    if (p_ != end_ && *p_ < 0x80) {
      value = *p_++;
    } else if (!ReadLongVarint(encodings::kMaxVint32Bytes, value)) {
      return false;
    }
    tag = static_cast<uint32_t>(value);
    return NumberOf(tag) != 0;
  }
  // Reads a length, and then as many bytes as the length says.
  bool ReadDelimited(std::string_view& bytes) {
    uint64_t size;
    if (p_ != end_ && *p_ < 0x80) {
      size = *p_++;
    } else if (!ReadLongVarint(encodings::kMaxVint32Bytes, size)) {
      return false;
    }
    if (size > static_cast<size_t>(end_ - p_)) return false;
    bytes = {position(), static_cast<size_t>(size)};
    p_ += size;
    return true;
  }
  template <typename T>
  bool ReadFixed(T& value) {
    if (static_cast<size_t>(end_ - p_) < sizeof(T)) return false;
    value = encodings::LoadLittleEndian<T>(p_);
    p_ += sizeof(T);
    return true;
  }

  // Skips the rest of a field. `tag`: the tag of the field. Adds the memory that the field may take
  // to `memory_bytes`. `depth`: the number of messages and groups around the field.
  bool Skip(uint32_t tag, int depth, uint64_t& memory_bytes);

 private:
  bool ReadLongVarint(size_t max_bytes, uint64_t& value);

  const uint8_t* p_;
  const uint8_t* end_;
};

}  // namespace cfile::internal::wire
