#include "cfile/parts/parquet/metadata/compact_protocol.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "encodings/core/assert.h"

namespace cfile::internal::parquet {
namespace {

// The types of parquet.thrift have at most 6 messages and lists around a value.
constexpr int kDeepest = 32;

constexpr uint32_t kCountInHeader = 15;  // smaller counts are in the first byte of a list

}  // namespace

std::string_view NameOf(WireType type) {
  constexpr std::string_view kNames[] = {"end of message",
                                         "boolean",
                                         "boolean",
                                         "8-bit integer",
                                         "16-bit integer",
                                         "32-bit integer",
                                         "64-bit integer",
                                         "double",
                                         "binary",
                                         "list",
                                         "set",
                                         "map",
                                         "message",
                                         "UUID"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(kNames) ? kNames[number] : "unknown type";
}

bool CompactReader::ReadByte(uint8_t& byte) {
  return bytes_.ReadFixed(byte) || Fail("the message is incomplete");
}

bool CompactReader::ReadFieldHeader(FieldHeader& header) {
  uint8_t byte;
  if (!ReadByte(byte)) return false;
  header.type = static_cast<WireType>(byte & 15);
  if (byte == 0) return true;
  if (header.type == WireType::kStop) return Fail("a field has type 0");
  if (byte >> 4 != 0) {
    header.number += byte >> 4;
  } else {
    int64_t number;
    if (!ReadInteger(std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max(),
                     number)) {
      return false;
    }
    header.number = static_cast<int32_t>(number);
  }
  return header.number <= std::numeric_limits<int16_t>::max() ||
         Fail("a field has the number ", header.number, ", expected at most 32767");
}

bool CompactReader::ReadListHeader(ListHeader& header) {
  uint8_t byte;
  if (!ReadByte(byte)) return false;
  header.type = static_cast<WireType>(byte & 15);
  header.count = byte >> 4;
  if (header.count == kCountInHeader && !bytes_.ReadVint32(header.count))
    return Fail("the count of a list is malformed");
  // Each element has at least one byte.
  return header.count <= bytes_.remaining() ||
         Fail("a list has ", header.count, " elements, but only ", bytes_.remaining(),
              " bytes follow");
}

bool CompactReader::ReadInteger(int64_t min, int64_t max, int64_t& value) {
  uint64_t bits;
  if (!bytes_.ReadVint64(bits)) return Fail("an integer is malformed or incomplete");
  value = encodings::ZigZagDecode(bits);
  return (min <= value && value <= max) || Fail("the integer ", value, " is outside of its type");
}

bool CompactReader::ReadText(std::string_view& text) {
  std::span<const uint8_t> bytes;
  if (!bytes_.ReadLengthPrefixed(bytes)) return Fail("a binary value is incomplete");
  text = encodings::AsString(bytes);
  return true;
}

bool CompactReader::ReadBool(bool& value) {
  uint8_t byte;
  if (!ReadByte(byte)) return false;
  value = byte == static_cast<uint8_t>(WireType::kTrue);
  // Some writers write 0 for false.
  return byte <= static_cast<uint8_t>(WireType::kFalse) ||
         Fail("expected a boolean 0, 1 or 2, found ", int{byte});
}

bool CompactReader::Skip(WireType type, int depth) {
  if (depth > kDeepest) return Fail("values are nested more than ", kDeepest, " deep");
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  int64_t integer;
  std::string_view text;
  // Inside of a list, set or map. In a message a boolean has no byte.
  const auto skip_element = [&](WireType element) {
    const bool boolean = element == WireType::kTrue || element == WireType::kFalse;
    bool value;
    return boolean ? ReadBool(value) : Skip(element, depth + 1);
  };
  switch (type) {
    case WireType::kTrue:
    case WireType::kFalse:
      return true;
    case WireType::kInt8:
      return bytes_.Skip(1) || Fail("the message is incomplete");
    case WireType::kInt16:
    case WireType::kInt32:
    case WireType::kInt64:
      return ReadInteger(kMin, kMax, integer);
    case WireType::kDouble:
      return bytes_.Skip(8) || Fail("the message is incomplete");
    case WireType::kUuid:
      return bytes_.Skip(16) || Fail("the message is incomplete");
    case WireType::kBinary:
      return ReadText(text);
    case WireType::kList:
    case WireType::kSet: {
      ListHeader list;
      if (!ReadListHeader(list)) return false;
      while (list.count > 0 && skip_element(list.type)) --list.count;
      return list.count == 0;
    }
    case WireType::kMap: {
      uint32_t count;
      uint8_t types = 0;
      if (!bytes_.ReadVint32(count)) return Fail("the count of a map is malformed");
      if (count > 0 && !ReadByte(types)) return false;
      const auto key = static_cast<WireType>(types >> 4);
      const auto value = static_cast<WireType>(types & 15);
      while (count > 0 && skip_element(key) && skip_element(value)) --count;
      return count == 0;
    }
    case WireType::kStruct:
      for (FieldHeader field; ReadFieldHeader(field);) {
        if (field.type == WireType::kStop) return true;
        if (!Skip(field.type, depth + 1)) return false;
      }
      return false;
    case WireType::kStop:
      break;
  }
  return Fail("a value has the unknown type ", static_cast<int>(type));
}

bool CompactReader::Take(uint64_t memory_bytes) {
  memory_bytes_ += memory_bytes;
  return memory_bytes_ <= max_memory_bytes_ ||
         Fail("the message takes more than ", max_memory_bytes_, " bytes of memory");
}

void CompactWriter::PutFieldHeader(int16_t number, WireType type, int16_t last) {
  CFILE_ASSERT(number > last);
  const int step = number - last;
  PutByte(static_cast<uint8_t>((step <= 15 ? step << 4 : 0) | static_cast<int>(type)));
  if (step > 15) PutInteger(number);
}

void CompactWriter::PutListHeader(size_t count, WireType type) {
  const size_t in_header = std::min<size_t>(count, kCountInHeader);
  PutByte(static_cast<uint8_t>(in_header << 4 | static_cast<size_t>(type)));
  if (in_header == kCountInHeader) out_.PutVint(count);
}

}  // namespace cfile::internal::parquet
