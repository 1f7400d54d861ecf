// Decodes PREFIX blocks (prefix.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/block_codec.h"
#include "encodings/key_heads.h"
#include "encodings/prefix_walk.h"

namespace cfile::encodings {

// A block's header, and of its restarts but the first keys and offsets: a seek then touches nothing
// of the block but the entries it looks at.
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
  // Takes time independent of the number of values: header, counts and the place of the restarts
  // are checked, each entry and restart offset when it is used.
  absl::Status Open(const BlockView& view) override;
  absl::Status SeekTo(uint32_t position) override;
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

  // Open without a look at the block, which is as long as that which the index was made of.
  void OpenByIndex(const BlockView& view, const PrefixSeekIndex& index);
  // The entry at `at`; false if its lengths are malformed or its bytes go beyond the entries. What
  // it shares is not looked at.
  bool ParseEntry(const uint8_t* at, Entry& entry) const;
  // The whole key at restart `index`; false if its offset or its entry is bad.
  bool RestartKey(uint32_t index, std::string_view& key) const;
  // The next entry of the walk, checked against the key before it and, at a restart, against the
  // stored offset.
  absl::Status NextEntry(Entry& entry);

  // What is wrong: with the value at `position`, whose entry lies at `at`; with its entry behind a
  // key of `key_size` bytes; with the restart `index`.
  absl::Status Damaged(uint32_t position, const uint8_t* at, const std::string& what) const;
  absl::Status BadEntry(uint32_t position, const uint8_t* at, size_t key_size) const;
  absl::Status BadRestart(uint32_t index) const;

  // The last restart whose key is less than `key`, or 0: its interval holds the lower bound, or the
  // restart behind it is that. `bad_restart` is set if one of those looked at is damaged.
  uint32_t FindRestart(std::string_view key, uint32_t& bad_restart) const;
  // The lower bound from that restart on.
  absl::StatusOr<LowerBound> SeekFromRestart(uint32_t restart, std::string_view key);

  // Brings the walk to position_, with the key before it at the front of the arena.
  absl::Status CatchUp();
  void KeyToFront();
  void ReserveArena(size_t size);

  // Lets ReadShort take keys of that size too, if it can.
  void AllowShortKey(size_t size);
  // Reads values the fast way, as many as it takes (ReadShortKeys).
  size_t ReadShort(std::span<std::string_view> out);

  PrefixLayout layout_;
  const PrefixSeekIndex* seek_index_ = nullptr;
  PrefixWalk walk_;
  // The values of one Read behind each other, at the front the key before them.
  std::unique_ptr<uint8_t[]> arena_;
  size_t arena_size_ = 0;
  // How long the keys of this block are, for ReadShort: 16, 32 or 64 bytes; 0 if it is of no use.
  size_t short_key_bytes_ = 16;
};

}  // namespace cfile::encodings
