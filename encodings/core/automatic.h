// When automatic choice may take an encoding.
#pragma once

#include <cstdint>

namespace cfile::encodings {

enum class Automatic : uint8_t {
  kNever,
  // For the smallest files only: encoding takes long.
  kForSize,
  // For files that are searched by key, except the smallest ones: a search in a compressed block
  // would decompress the whole block.
  kForSearches,
  kAlways,
};

}  // namespace cfile::encodings
