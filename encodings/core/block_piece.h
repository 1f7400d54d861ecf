// Pieces of a block, which can be decoded alone.
#pragma once

#include <cstdint>
#include <string>

namespace cfile::encodings {

// Consecutive values of a block that can be decoded without the rest of the block. `front`, then
// `size_bytes` bytes of the block from byte `begin` on, then `back` are a block of the same
// encoding that has these `count` values and the first ordinal 0.
struct BlockPiece {
  uint32_t count = 0;
  uint32_t begin = 0;
  uint32_t size_bytes = 0;
  std::string front;
  std::string back;
  // If the values ascend, separates the piece from the values before it. Of numbers: the first
  // value, as it is in memory. Of strings: the shortest front of the first value that is not also a
  // front of the value before; the whole first value if there is no such front.
  std::string key;
};

}  // namespace cfile::encodings
