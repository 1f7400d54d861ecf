// The values of a file's dictionary, ready to be copied: what LoadDictionary of all dictionary
// encodings makes and their decoders look values up in.
#pragma once

#include <cstdint>
#include <memory>

#include "encodings/block_codec.h"
#include "encodings/status.h"

namespace cfile::encodings {

// kOutOfRange if a dictionary of `count` values has more than `max_values`.
inline absl::Status CheckDictionarySize(uint64_t count, size_t max_values) {
  if (count <= max_values) return absl::OkStatus();
  return absl::OutOfRangeError(StrCat("a dictionary of ", count, " values is ",
                                      AboveLimit(max_values, "max_dictionary_values")));
}

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
