// Collects the fields of a block. A codec may offer such a description (encodings/ADDING.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "encodings/core/block_fields.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

// The fields follow each other without gaps. To add a field, read its bytes with reader(), then
// call Add; or call one of the functions that do both.
class BlockDescription {
 public:
  // Precondition: max_fields >= kMaxBlockFields.
  explicit BlockDescription(std::span<const uint8_t> block, size_t max_fields = kMaxBlockFields)
      : reader_(block), max_fields_(max_fields) {}

  ByteReader& reader() { return reader_; }
  // True if at most kLastFields further fields may follow. Callers that add a field for each run or
  // each value then stop, and add all remaining runs or values as one field.
  bool full() const { return fields_.size() + kLastFields >= max_fields_; }

  size_t max_fields() const { return max_fields_; }

  // Begin and end a structure, such as a message. Fields that are added between the two calls
  // belong to the structure: their BlockField::depth is greater by one.
  void BeginStructure() { ++depth_; }
  void EndStructure() { --depth_; }

  // Adds a field of the bytes that reader() has read since the last call.
  void Add(std::string_view name, std::string value = {});

  // Read one number, add it as a field, and return it. kDataLoss, with nothing added: the bytes do
  // not hold the number.
  template <typename V>
  absl::StatusOr<V> AddFixed(std::string_view name) {
    V number{};
    const bool read = reader_.ReadFixed(number);
    return AddNumber(read, number, name);
  }
  absl::StatusOr<uint32_t> AddByte(std::string_view name) { return AddFixed<uint8_t>(name); }
  absl::StatusOr<uint32_t> AddFixed32(std::string_view name) { return AddFixed<uint32_t>(name); }
  absl::StatusOr<uint32_t> AddVint32(std::string_view name);
  absl::StatusOr<uint64_t> AddVint64(std::string_view name);

  // Adds the next `size` bytes as a field, or nothing if `size` is 0. kDataLoss, with nothing
  // added: fewer bytes are left.
  absl::Status AddBytes(uint64_t size, std::string_view name, std::string value = {});

  // Adds the next `count` little-endian numbers as one field. Its value is a list of the numbers; a
  // long list shows only the first numbers and `count`. Adds nothing if `count` is 0. U is uint8_t
  // or uint32_t. kDataLoss, with nothing added: fewer bytes are left.
  template <typename U>
  absl::Status AddNumbers(uint64_t count, std::string_view name);

  // Adds the meaning of the last field's number: "108" becomes "108 (parquet-dict)".
  // Precondition: there is a field.
  void Explain(std::string_view meaning);

  // Adds the bytes after the last field, if any, as a field.
  void AddRest(std::string_view name, std::string value = {});

  std::vector<BlockField> TakeFields() && { return std::move(fields_); }

 private:
  // When full() becomes true, there is room for this many further fields: one field for the
  // remaining runs or values, and the fields of the block that follow them.
  static constexpr size_t kLastFields = 16;

  template <typename V>
  absl::StatusOr<V> AddNumber(bool read, V number, std::string_view name) {
    if (!read) return CutOff(name);
    Add(name, StrCat(+number));
    return number;
  }
  absl::Status CutOff(std::string_view name) const;

  ByteReader reader_;
  size_t max_fields_;
  size_t depth_ = 0;
  size_t end_ = 0;  // where the last field ends
  std::vector<BlockField> fields_;
};

}  // namespace cfile::encodings
