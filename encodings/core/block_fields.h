// Describes the bytes of a block field by field, for people who inspect files. An encoding may
// offer this (encodings/ADDING.md); readers do not use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

// A range of a block's bytes.
struct BlockField {
  size_t offset = 0;  // from the block's first byte
  size_t size = 0;
  std::string_view name;  // "count", "values", ...; static
  std::string value;      // the meaning of the bytes; may be empty
};

// A description has at most this many fields, so that it stays small compared with its block.
inline constexpr size_t kMaxBlockFields = 1000;

// Collects the fields of a block, which follow each other without gaps. To add a field, read its
// bytes with reader(), then call Add.
class BlockDescription {
 public:
  explicit BlockDescription(std::span<const uint8_t> block) : reader_(block) {}

  ByteReader& reader() { return reader_; }
  // True if only AddRest may follow.
  bool full() const { return fields_.size() + 1 >= kMaxBlockFields; }

  // Adds a field of the bytes that reader() has read since the last call. Precondition: not full().
  void Add(std::string_view name, std::string value = {}) {
    fields_.push_back({end_, reader_.offset() - end_, name, std::move(value)});
    end_ = reader_.offset();
  }
  // Adds a field of the bytes that are left, if any, and returns all fields.
  std::vector<BlockField> AddRest(std::string_view name) && {
    const size_t size = reader_.offset() + reader_.remaining() - end_;
    if (size > 0) fields_.push_back({end_, size, name, {}});
    return std::move(fields_);
  }

 private:
  ByteReader reader_;
  size_t end_ = 0;  // where the last field ends
  std::vector<BlockField> fields_;
};

}  // namespace cfile::encodings
