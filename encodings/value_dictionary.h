// The values of a file's dictionary, ready to be copied: what LoadDictionary of all dictionary
// encodings makes and their decoders look values up in.
#pragma once

#include <cstdint>
#include <memory>

#include "encodings/block_codec.h"

namespace cfile::encodings {

// Blocks of dictionaries that claim more values are refused: a view of 16 bytes is made for each,
// of a byte of the file or less.
inline constexpr uint32_t kMaxDictionaryValues = 1 << 22;

// Immutable once loaded. (Not std::vector<P>: std::vector<bool> has no addresses.)
template <typename P>
struct ValueDictionary final : Dictionary {
  std::unique_ptr<P[]> values;  // value of code i
  uint32_t size = 0;
  uint32_t type_length = 0;  // of bytes: of each value; 0: of any length
  // Of bytes: what the values point into. PackedStrings::kAhead bytes behind may be read too.
  std::unique_ptr<uint8_t[]> text;
};

}  // namespace cfile::encodings
