// Decodes blocks of FSST (fsst.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/key_heads.h"
#include "encodings/kernels/front_coding.h"
#include "encodings/own/fsst.h"
#include "encodings/own/fsst_layout.h"

namespace cfile::encodings {

// A block's header, the offsets of its groups, and the first keys of all groups but the first one.
// A seek with this index reads only one group of the block, and seldom the first key of others.
struct FsstSeekIndex final : public SeekIndex {
  size_t block_bytes = 0;
  uint32_t count = 0;
  FsstHeader header;  // without the common prefix
  std::string common;  // the common prefix
  std::vector<uint32_t> offsets;  // of each group
  KeyHeads first_keys;  // without the common prefix

  size_t memory_usage_bytes() const override {
    return sizeof(*this) + common.capacity() + offsets.capacity() * sizeof(uint32_t) +
           first_keys.memory_usage_bytes();
  }
};

class FsstDecoder final : public BlockDecoder<std::string_view> {
 public:
  // `dictionary` may be null. Then groups with codes cannot be read.
  explicit FsstDecoder(std::shared_ptr<const SymbolDictionary> dictionary);

  // Takes time independent of the number of values: checks the header and the offset of the first
  // group. Each group is checked when it is used.
  absl::Status Open(const BlockView& view) override;
  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override;
  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override;
  absl::Status SeekToKeys(std::span<const std::string_view> keys,
                          std::span<LowerBound> bounds) override;
  std::unique_ptr<const SeekIndex> BuildSeekIndex() override;

 private:
  static constexpr uint32_t kNoGroup = UINT32_MAX;
  // Bytes that may be read or written after strings and text.
  static constexpr size_t kSlack = std::max(kMaxShortStringBytes, kDecompressSlack);

  uint8_t* text() { return text_memory_.get() + kSlack; }

  // Returns the bytes of a group. Returns an empty span if its offsets are wrong.
  std::span<const uint8_t> GroupBytes(uint32_t group) const;
  // The error of a group that cannot be read because `what` is wrong with it.
  absl::Status Damaged(uint32_t group, const std::string& what) const;
  // Parses a group, unpacks its sizes and checks them. The next value is then the group's first.
  absl::Status LoadSizes(uint32_t group);
  // Does the same, and makes the whole text available.
  absl::Status LoadGroup(uint32_t group);
  // Decompresses the current group's text until at least its first `size` bytes are available.
  // Precondition: size <= text_size_.
  absl::Status LoadText(size_t size);
  // Loads the group of position_ and moves to position_.
  absl::Status CatchUp();
  // Moves the key to the front of the arena.
  void KeyToFront();
  // Makes the arena large enough. Keeps the key, which must be at its front or outside.
  void ReserveArena(size_t size);

  // Sets `key` to the first key of a group without the common prefix. Returns false if the group is
  // damaged. The key is valid until the call after the next one.
  bool FirstKey(uint32_t group, std::string_view& key);
  // Returns the group that has the last value less than `key`, or whose first value is the first
  // one that is not less. `key` is without the common prefix. Precondition: the block has values.
  absl::StatusOr<uint32_t> FindGroup(std::string_view key);
  // The error of a group whose first key FirstKey does not find.
  absl::Status BadFirstKey(uint32_t group);
  // Searches from the first value of a group on. The first value of the next group is not less.
  absl::StatusOr<LowerBound> SeekInGroup(uint32_t group, std::string_view key);
  // Fetches a group of the usual size into the CPU cache.
  void PrefetchGroup(uint32_t group) const;
  // True if the common prefix decides the search. `bound` is then the result.
  bool FindByCommon(std::string_view key, LowerBound& bound) const;

  const std::shared_ptr<const SymbolDictionary> dictionary_;
  std::span<const uint8_t> block_;
  FsstHeader header_;
  const FsstSeekIndex* seek_index_ = nullptr;
  uint8_t short_common_[kMaxShortStringBytes];  // a copy of the common prefix, if it is short

  // The current group: of each value, the sizes of what it shares with the value before, and of its
  // suffix. The first value shares the common prefix. One more number may be unpacked.
  uint32_t group_ = kNoGroup;
  uint32_t group_count_ = 0;
  uint32_t shared_[kFsstGroupValues + 1];
  uint32_t suffixes_[kFsstGroupValues + 1];
  size_t longest_ = 0;  // of the values, in bytes
  // The text of the group: its size; the end of what is decompressed, and the codes of the rest. At
  // least kSlack bytes before and after the text are readable.
  size_t text_size_ = 0;
  uint8_t* text_end_ = nullptr;
  std::span<const uint8_t> codes_;
  std::unique_ptr<uint8_t[]> text_memory_;
  size_t text_capacity_ = 0;

  // The next value of the group: its index and its suffix; and the value before.
  uint32_t next_ = 0;
  const uint8_t* suffix_ = nullptr;
  const uint8_t* key_ = nullptr;
  size_t key_size_ = 0;

  // The values of the last Read.
  std::unique_ptr<uint8_t[]> arena_;
  size_t arena_size_ = 0;

  std::string first_keys_[2];  // the results of FirstKey
  uint32_t last_first_key_ = 0;
};

}  // namespace cfile::encodings
