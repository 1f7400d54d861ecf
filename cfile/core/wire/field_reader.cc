#include "cfile/core/wire/field_reader.h"

#include <algorithm>

namespace cfile::internal::wire {

WireType WireTypeOf(Kind kind) {
  switch (kind) {
    case Kind::kFixed32:
      return WireType::kFixed32;
    case Kind::kFixed64:
      return WireType::kFixed64;
    case Kind::kBytes:
    case Kind::kMessage:
      return WireType::kDelimited;
    default:
      return WireType::kVarint;
  }
}

bool FieldReader::ReadLongVarint(size_t max_bytes, uint64_t& value) {
  value = 0;
  const size_t size = std::min(max_bytes, static_cast<size_t>(end_ - p_));
  for (size_t i = 0; i < size; ++i) {
    value |= uint64_t{p_[i] & 0x7fu} << (7 * i);
    if (p_[i] < 0x80) {
      p_ += i + 1;
      return true;
    }
  }
  return false;
}

bool FieldReader::Skip(uint32_t tag, int depth, uint64_t& memory_bytes) {
  std::string_view bytes;
  uint64_t eight;
  uint32_t four;
  switch (WireTypeOf(tag)) {
    case WireType::kVarint:
      memory_bytes += kUnknownBytes;
      return ReadVarint(eight);
    case WireType::kFixed64:
      memory_bytes += kUnknownBytes;
      return ReadFixed(eight);
    case WireType::kFixed32:
      memory_bytes += kUnknownBytes;
      return ReadFixed(four);
    case WireType::kDelimited:
      if (!ReadDelimited(bytes)) return false;
      memory_bytes += kTextBytes + bytes.size();
      return true;
    case WireType::kStartGroup:
      if (depth >= kDeepest) return false;
      memory_bytes += kMessageBytes;
      while (true) {
        uint32_t inner;
        if (!ReadTag(inner)) return false;
        if (WireTypeOf(inner) == WireType::kEndGroup) return NumberOf(inner) == NumberOf(tag);
        if (!Skip(inner, depth + 1, memory_bytes)) return false;
      }
    case WireType::kEndGroup:
      break;
  }
  return false;
}

}  // namespace cfile::internal::wire
