// Decodes blocks of FSST of form 1 (fsst.h). Blocks of form 2: fsst_separate_decoder.h.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/key_heads.h"
#include "encodings/kernels/front_coding.h"
#include "encodings/own/fsst_dictionary.h"
#include "encodings/own/fsst_layout.h"

namespace cfile::encodings {

// The part of a seek index that belongs to one group. A group is divided into steps of
// kFsstStepValues values. A search can begin at the first value of a step. Then it only reads the
// sizes and the suffixes of this step.
struct FsstGroupSteps {
  enum class State : uint32_t {
    kUnknown,
    kSearched,  // the group was searched once
    kInWork,    // one thread sets the members; others search without them
    kKnown
  };

  uint32_t offset = 0;  // of the group, from the block's start
  // The members below are set when the group is searched for the second time, because setting them
  // takes as long as a search. If `state` is kKnown, they are set and do not change any more.
  std::atomic<State> state = State::kUnknown;
  // All values of the group begin with the same `depth` bytes. A search for a key that does not
  // begin with them looks in another group.
  uint32_t depth = 0;
  FsstPlace places[kFsstGroupSteps];  // where the suffix of the second value of a step begins
  // For each step but the first one: 8 bytes of its first value, after its first `depth` bytes.
  uint64_t heads[kFsstGroupSteps - 1] = {};

  // Returns how many of the heads are less than that of a key. `head`: 8 bytes of the key, after
  // its first `depth` bytes. Precondition: the steps are known.
  uint32_t CountLess(uint64_t head) const {
    uint32_t less = 0;
    for (const uint64_t each : heads) less += each < head ? 1 : 0;
    return less;
  }
};

// The seek index of a block. It has the steps of each group, and the first key of each group except
// the first group. A search with this index reads the header of the block and one group. It seldom
// reads the first keys of other groups.
struct FsstSeekIndex final : public SeekIndex {
  size_t block_bytes = 0;
  uint32_t count = 0;
  uint32_t common_size = 0;  // of the common prefix, in bytes
  KeyHeads first_keys;       // without the common prefix
  mutable std::vector<FsstGroupSteps> groups;

  size_t memory_usage_bytes() const override {
    return sizeof(*this) + groups.capacity() * sizeof(FsstGroupSteps) +
           first_keys.memory_usage_bytes();
  }
  void PrefetchKeys(std::span<const uint8_t> block) const override;
  uint32_t FindPart(std::string_view key) const override;
  void PrefetchPart(uint32_t group, std::string_view key,
                    std::span<const uint8_t> block) const override;
};

// Asks the CPU to fetch what a search reads first if it begins at step `step` of a group. `steps`:
// those of the group.
void PrefetchFsstStep(std::span<const uint8_t> block, const FsstGroupSteps& steps, uint32_t step);

// Thread-compatible; decoders in several threads may share the dictionary. Errors and lifetimes are
// those of BlockDecoder.
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
  // How a value compares with the key of a search.
  enum class Match { kLess, kEqual, kGreater };
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
  // Makes room for `size` bytes of text. Afterwards there is no current group.
  void ReserveText(size_t size);
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
  // The error of a group whose values a search cannot read.
  absl::Status BadGroup(uint32_t group);
  // Compares a value with the key. `value` has the bytes of the whole value from byte `begin` on;
  // the key has the same bytes before. Sets `matched` to the number of leading bytes that both
  // share.
  static Match Compare(std::string_view value, size_t begin, std::string_view key, size_t& matched);
  // Where a search begins: at value `first` of a group.
  struct Start {
    uint32_t group = 0;
    uint32_t first = 0;
    const FsstGroupSteps* steps = nullptr;  // if they are known
    // True if value `first` is known to be less than the key. Then both begin with the same
    // `matched` bytes. If false, `first` is 0.
    bool less = false;
    size_t matched = 0;
  };
  // Moves `start`, the front of a group, to the last step whose first value is known to be less
  // than the key. Asks the CPU to fetch what the search reads first.
  void ChooseStep(std::string_view key, Start& start);
  absl::StatusOr<LowerBound> SeekFrom(Start start, std::string_view key);
  // Searches the values of a group after the first one of `start`: those of a step and the first
  // value of the next step or, if the steps are not known, all. Moves to the value that is found,
  // or else to the first value that was not searched. Sets start.matched for the last value that
  // was compared.
  absl::StatusOr<Match> SeekInGroup(Start& start, std::string_view key);
  // Compares the first value of a group, and moves to it. Sets start.matched.
  absl::StatusOr<Match> CompareFirst(Start& start, std::string_view key);
  // Returns the steps of a group, or nullptr if they are not known yet.
  const FsstGroupSteps* StepsOf(uint32_t group);
  // Returns false if the group is damaged.
  bool FindSteps(uint32_t group, FsstGroupSteps& steps);
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

  std::vector<Start> starts_;  // of the keys of SeekToKeys
  std::string first_keys_[2];  // the results of FirstKey
  uint32_t last_first_key_ = 0;
};

}  // namespace cfile::encodings
