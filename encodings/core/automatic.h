// When automatic choice may take an encoding.
#pragma once

#include <cstdint>

namespace cfile::encodings {

enum class Automatic : uint8_t {
  kNever,
  // For the smallest files, and for files without a value index if the block becomes much smaller
  // than with other encodings: encoding values and reading single values take long.
  kForSize,
  // For the smallest files, and for files that are searched by key, where a search in a compressed
  // block would decompress the whole block. Not if blocks may be copied into other files.
  kForSizeAndSearches,
  kAlways,
};

}  // namespace cfile::encodings
