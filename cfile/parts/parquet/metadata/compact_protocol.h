// Thrift's compact protocol, in which Parquet's metadata is stored: reads and writes the parts of
// messages. (The library libthrift is not used: it needs generated code, reports errors by
// exceptions, and copies every text.)
//
// A message is a sequence of fields and ends with a byte 0. A field begins with its type and the
// difference between its number and that of the field before. Integers are zigzag LEB128 numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal::parquet {

enum class WireType : uint8_t {
  kStop = 0,  // the end of a message
  kTrue = 1,
  kFalse = 2,
  kInt8 = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13
};

// The name of a type in errors.
std::string_view NameOf(WireType type);

struct FieldHeader {
  int32_t number = 0;
  WireType type = WireType::kStop;
};

struct ListHeader {
  uint32_t count = 0;  // not more than the bytes that are left
  WireType type = WireType::kStop;
};

// A position in untrusted bytes. After an error each function returns false, and `status` says what
// was found where.
class CompactReader {
 public:
  // `offset`: of the first byte in the file, for errors; without it, errors count the bytes of the
  // message. The messages that are read may take `max_memory_bytes` of memory; the caller counts it
  // with Take.
  CompactReader(std::span<const uint8_t> bytes, std::optional<uint64_t> offset,
                uint64_t max_memory_bytes)
      : bytes_(bytes), offset_(offset), max_memory_bytes_(max_memory_bytes) {}

  const absl::Status& status() const { return status_; }
  size_t consumed() const { return bytes_.offset(); }

  // Reads the next field's number and type. `header` is that of the field before; at the begin of a
  // message its number is 0.
  bool ReadFieldHeader(FieldHeader& header);
  bool ReadListHeader(ListHeader& header);
  bool ReadByte(uint8_t& byte);
  bool ReadInteger(int64_t min, int64_t max, int64_t& value);
  bool ReadText(std::string_view& text);
  // Reads a boolean of a list. In a message, the type of the field is the value.
  bool ReadBool(bool& value);
  // Skips the value of a field. `depth`: the number of values around it.
  bool Skip(WireType type, int depth = 0);

  // Counts memory that the caller is about to use.
  bool Take(uint64_t memory_bytes);
  // Sets `status` to kDataLoss with these parts and the offset.
  template <typename... Parts>
  bool Fail(const Parts&... parts) {
    if (status_.ok()) {
      status_ = encodings::DataLoss(offset_ ? "at offset " : "at its byte ",
                                    offset_.value_or(0) + bytes_.offset(), ": ", parts...);
    }
    return false;
  }

 private:
  encodings::ByteReader bytes_;
  const std::optional<uint64_t> offset_;
  const uint64_t max_memory_bytes_;
  uint64_t memory_bytes_ = 0;
  absl::Status status_;
};

// Appends to bytes of the caller. Each function is the counterpart of a function of CompactReader.
class CompactWriter {
 public:
  explicit CompactWriter(encodings::ByteWriter& out) : out_(out) {}

  // Precondition: `number` is larger than that of the field before, which is `last`.
  void PutFieldHeader(int16_t number, WireType type, int16_t last);
  void PutListHeader(size_t count, WireType type);
  void PutByte(uint8_t byte) { out_.PutFixed(byte); }
  void PutInteger(int64_t value) { out_.PutVint(encodings::ZigZagEncode(value)); }
  void PutText(std::string_view text) { out_.PutLengthPrefixed(encodings::AsBytes(text)); }
  void PutBool(bool value) {
    PutByte(static_cast<uint8_t>(value ? WireType::kTrue : WireType::kFalse));
  }

 private:
  encodings::ByteWriter& out_;
};

}  // namespace cfile::internal::parquet
