// Decodes PREFIX blocks (prefix.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/key_heads.h"
#include "encodings/kudu/prefix_walk.h"

namespace cfile::encodings {

// A block's header, and the keys and offsets of all its restart points except the first. A seek
// with this index reads only those entries of the block that it compares.
struct PrefixSeekIndex final : public SeekIndex {
  size_t block_bytes = 0;
  size_t entries_begin = 0;  // bytes from the block's start
  size_t entries_end = 0;
  uint32_t count = 0;
  uint32_t first_ordinal = 0;
  uint32_t restart_interval = 1;
  KeyHeads restart_keys;
  std::vector<uint32_t> restart_offsets;

  size_t memory_usage_bytes() const override {
    return sizeof(*this) + restart_keys.memory_usage_bytes() +
           restart_offsets.capacity() * sizeof(uint32_t);
  }
};

class PrefixDecoder final : public BlockDecoder<std::string_view> {
 public:
  // Takes time independent of the number of values: checks the header, the counts and the position
  // of the restart offsets. Each entry and each restart offset is checked when it is used.
  absl::Status Open(const BlockView& view) override;
  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override;
  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override;
  absl::Status SeekToKeys(std::span<const std::string_view> keys,
                          std::span<LowerBound> bounds) override;
  std::unique_ptr<const SeekIndex> BuildSeekIndex() override;

 private:
  struct Entry {
    uint32_t shared;
    uint32_t unshared;
    const uint8_t* suffix;
    const uint8_t* end() const { return suffix + unshared; }
  };

  // Opens without reading the block. Precondition: the block has as many bytes as the block for
  // which the index was built.
  void OpenByIndex(const BlockView& view, const PrefixSeekIndex& index);
  // Parses the entry at `at`. Returns false if its lengths are malformed or its bytes extend beyond
  // the entries. Does not check the number of shared bytes.
  bool ParseEntry(const uint8_t* at, Entry& entry) const;
  // Sets `key` to the whole key at restart point `index`. Returns false if the offset or the entry
  // of the restart point is malformed.
  bool RestartKey(uint32_t index, std::string_view& key) const;
  // Parses the entry at walk_.next. Checks its lengths against the previous key and, at a restart
  // point, its address against the stored offset.
  absl::Status NextEntry(Entry& entry);

  // Return the error for damage: Damaged, if `what` is wrong with the value at `position`, whose
  // entry is at `at`; BadEntry, if this entry, which follows a key of `key_size` bytes, is wrong;
  // BadRestart, if restart point `index` is.
  absl::Status Damaged(uint32_t position, const uint8_t* at, const std::string& what) const;
  absl::Status BadEntry(uint32_t position, const uint8_t* at, size_t key_size) const;
  absl::Status BadRestart(uint32_t index) const;

  // Returns the last restart point whose key is less than `key`, or 0. The lower bound of `key` is
  // in the interval of that restart point, or is the next restart point. Sets `bad_restart` to a
  // damaged restart point that was read, or to 0 if there was none.
  uint32_t FindRestart(std::string_view key, uint32_t& bad_restart) const;
  // Finds the lower bound of `key` from restart point `restart` on, and moves to it.
  absl::StatusOr<LowerBound> SeekFromRestart(uint32_t restart, std::string_view key);

  // Moves walk_ to position_. The key before position_ is then at the front of the arena.
  absl::Status CatchUp();
  void KeyToFront();
  void ReserveArena(size_t size);

  // Makes ReadShort also accept keys of `size` bytes, unless they are too long for the fast path.
  void AllowShortKey(size_t size);
  // Reads the next values by the fast path (ReadShortKeys), and returns how many.
  size_t ReadShort(std::span<std::string_view> out);

  PrefixLayout layout_;
  const PrefixSeekIndex* seek_index_ = nullptr;
  PrefixWalk walk_;
  // Memory for the values of one Read. It holds the key before the first of these values, then the
  // values one after another.
  std::unique_ptr<uint8_t[]> arena_;
  size_t arena_size_ = 0;
  // The longest keys that ReadShort accepts in this block: 16, 32 or 64 bytes; 0 if the fast path
  // cannot read the block.
  size_t short_key_bytes_ = 16;
};

}  // namespace cfile::encodings
