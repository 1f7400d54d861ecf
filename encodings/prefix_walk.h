// Where the parts of a PREFIX block lie (prefix.h), where reading it stands, and the fast way
// through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/bytes.h"

namespace cfile::encodings {

// The parts of a block whose header is checked.
struct PrefixLayout {
  std::span<const uint8_t> block;
  const uint8_t* entries = nullptr;      // the first entry
  const uint8_t* entries_end = nullptr;  // and the offsets of the second and further restarts
  uint32_t restart_interval = 1;
  // The restarts' offsets as they stand behind the entries, if they are at hand elsewhere too.
  const uint32_t* known_offsets = nullptr;

  // Where the entry of restart `index` lies; nullptr if its offset points elsewhere than among the
  // entries, or to the first, which is restart 0's. Precondition: the block has that restart.
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

// The entry that comes next, and the key before it.
struct PrefixWalk {
  const uint8_t* next = nullptr;
  uint32_t position = 0;  // of `next`
  uint32_t restart = 0;   // the first restart whose entry has not been begun, and its position
  uint64_t restart_position = 0;
  uint8_t* key = nullptr;
  size_t key_size = 0;
};

// The longest keys that ReadShortKeys takes, in bytes.
inline constexpr size_t kMaxShortKeyBytes = 64;

// Reads values into the front of `out`, each behind the one before in memory from walk.key +
// walk.key_size on, until it meets a key longer than `limit`, an entry it cannot check cheaply
// (near either end of the entries, a length of more than one byte, anything wrong), or the end of
// `out` or of that memory, `arena_end`. Says in `done` how many it read and moves the walk behind
// them.
//
// Returns false, with nothing done, if a restart does not lie where the entry before it ends; the
// caller finds out which.
//
// Precondition: limit is 16, 32 or 64; walk.key_size bytes at walk.key and `limit` more are
// readable, up to arena_end writable.
bool ReadShortKeys(const PrefixLayout& layout, size_t limit, const uint8_t* arena_end,
                   PrefixWalk& walk, std::span<std::string_view> out, size_t& done);

}  // namespace cfile::encodings
