// The fields of the bytes of a block, for people who inspect files. Readers do not use them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cfile::encodings {

// A range of a block's bytes.
struct BlockField {
  size_t offset = 0;  // from the block's first byte
  size_t size = 0;
  std::string_view name;  // "count", "values", ...; static
  std::string value;      // the meaning of the bytes; may be empty
  size_t depth = 0;       // the number of structures around the field, such as messages
};

// By default, a description has at most this many fields, so that it stays small compared with its
// block.
inline constexpr size_t kMaxBlockFields = 1000;

}  // namespace cfile::encodings
