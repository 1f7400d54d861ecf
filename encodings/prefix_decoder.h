// Decodes PREFIX blocks (prefix.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/prefix_walk.h"

namespace cfile::encodings {

class PrefixDecoder final : public BlockDecoder<std::string_view> {
 public:
  // Takes time independent of the number of values: header, counts and the place of the restarts
  // are checked, each entry and restart offset when it is used.
  absl::Status Open(const BlockView& view) override;
  absl::Status SeekTo(uint32_t position) override;
  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override;
  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override;

 private:
  struct Entry {
    uint32_t shared;
    uint32_t unshared;
    const uint8_t* suffix;
    const uint8_t* end() const { return suffix + unshared; }
  };

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

  // Brings the walk to position_, with the key before it at the front of the arena.
  absl::Status CatchUp();
  void KeyToFront();
  void ReserveArena(size_t size);

  // Reads values the fast way, as many as it takes (ReadShortKeys).
  size_t ReadShort(std::span<std::string_view> out);

  PrefixLayout layout_;
  PrefixWalk walk_;
  // The values of one Read behind each other, at the front the key before them.
  std::unique_ptr<uint8_t[]> arena_;
  size_t arena_size_ = 0;
  // How long the keys of this block are, for ReadShort: 16, 32 or 64 bytes; 0 if it is of no use.
  size_t short_key_bytes_ = 16;
};

}  // namespace cfile::encodings
