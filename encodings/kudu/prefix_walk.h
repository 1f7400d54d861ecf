// The parts of a PREFIX block (prefix.h), a position in it, and the fast path of decoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

// The parts of a block. Its header has been checked.
struct PrefixLayout {
  std::span<const uint8_t> block;
  const uint8_t* entries = nullptr;      // the first entry
  const uint8_t* entries_end = nullptr;  // where the restart offsets begin
  uint32_t restart_interval = 1;
  // A copy of the restart offsets, or nullptr: the block's own restart offsets are read.
  const uint32_t* known_offsets = nullptr;

  // Returns the address of the entry of restart point `index`. Returns nullptr if its offset is
  // outside the entries, or is the offset of the first entry, which belongs to restart point 0.
  // Precondition: the block has that restart point.
  const uint8_t* RestartAddress(uint32_t index) const {
    if (index == 0) return entries;
    const uint32_t offset =
        known_offsets != nullptr
            ? known_offsets[index - 1]
            : LoadLittleEndian<uint32_t>(entries_end + size_t{index - 1} * sizeof(uint32_t));
    const auto begin = static_cast<size_t>(entries - block.data());
    const auto end = static_cast<size_t>(entries_end - block.data());
    return offset > begin && offset < end ? block.data() + offset : nullptr;
  }
};

// A position between entries: the next entry, and the key before it.
struct PrefixWalk {
  const uint8_t* next = nullptr;
  uint32_t position = 0;  // of the value at `next`
  uint32_t restart = 0;   // the next restart point; the value there has position restart_position
  uint64_t restart_position = 0;
  uint8_t* key = nullptr;
  size_t key_size = 0;
};

// The longest keys that ReadShortKeys can read, in bytes.
inline constexpr size_t kMaxShortKeyBytes = 64;

// Reads values into the front of `out`, sets `done` to their number, and moves `walk` past them.
// The values are written to memory one after the other, from walk.key + walk.key_size on. Stops at
// a key longer than `limit`, at an entry that it cannot check cheaply (near the end of the entries,
// with a length of more than one byte, or malformed), at the end of `out`, and at `arena_end`, the
// end of the memory.
//
// Returns false, with nothing done, if a restart point does not begin where the entry before it
// ends. The caller finds out which restart point is wrong.
//
// Precondition: limit is 16, 32 or 64; the walk.key_size bytes at walk.key and `limit` bytes after
// them are readable; the memory from walk.key + walk.key_size to arena_end is writable.
bool ReadShortKeys(const PrefixLayout& layout, size_t limit, const uint8_t* arena_end,
                   PrefixWalk& walk, std::span<std::string_view> out, size_t& done);

}  // namespace cfile::encodings
