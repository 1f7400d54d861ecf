// Decodes blocks of FSST (fsst.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/key_heads.h"
#include "encodings/kernels/front_coding.h"
#include "encodings/kernels/fsst.h"
#include "encodings/kernels/fsst_values.h"
#include "encodings/own/fsst_layout.h"

namespace cfile::encodings {

// The symbol table of a file. Made by FsstCodec::LoadDictionary.
struct SymbolDictionary final : Dictionary {
  SymbolTable table;
};

// A search in a group of form 1 can begin at each step of this many values.
inline constexpr uint32_t kFsstStepValues = 16;
inline constexpr uint32_t kFsstGroupSteps = kFsstGroupValues / kFsstStepValues;

// A place in the text of a group, perhaps in the middle of a symbol: `skip` bytes after the front
// of the symbol. The code of this symbol is at byte `code` of the block.
struct FsstPlace {
  uint32_t code : 29;
  uint32_t skip : 3;
};

// The part of a seek index that belongs to one group. A search that begins at the first value of a
// step only reads the sizes and the suffixes of this step.
struct FsstGroupSteps {
  // kSearched: once. kInWork: one thread sets the members, others search without them.
  enum class State : uint32_t { kUnknown, kSearched, kInWork, kKnown };

  uint32_t offset = 0;  // of the group, from the block's start
  // The members below are set when the group is searched for the second time, because setting them
  // takes as long as a search. If `state` is kKnown, they no longer change.
  std::atomic<State> state = State::kUnknown;
  // All values of the group begin with the same `depth` bytes. A search for a key that does not
  // begin with them looks in another group.
  uint32_t depth = 0;
  FsstPlace places[kFsstGroupSteps] = {};  // where the suffix of the second value of a step begins
  // For each step but the first one: 8 bytes of its first value, after its first `depth` bytes.
  uint64_t heads[kFsstGroupSteps - 1] = {};

  // Returns how many of the heads are less than that of a key. `head`: 8 bytes of the key, after
  // its first `depth` bytes.
  uint32_t CountLess(uint64_t head) const {
    uint32_t less = 0;
    for (const uint64_t each : heads) less += each < head ? 1 : 0;
    return less;
  }
  void PrefetchStep(std::span<const uint8_t> block, uint32_t step) const;
};

// The seek index of a block of form 1. A search with it reads the header of the block and one
// group, and seldom the first keys of other groups.
struct FsstSeekIndex final : public SeekIndex {
  size_t block_bytes = 0;
  uint32_t count = 0;
  uint32_t common_size = 0;  // of the common prefix, in bytes
  KeyHeads first_keys;       // of all groups but the first one, without the common prefix
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

// Open takes time independent of the number of values: each group is checked when it is used.
class FsstDecoder final : public BlockDecoder<std::string_view> {
 public:
  // `dictionary`: null if there is none; groups with codes then cannot be read.
  explicit FsstDecoder(std::shared_ptr<const SymbolDictionary> dictionary)
      : dictionary_(std::move(dictionary)) {}

  absl::Status Open(const BlockView& view) override;
  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override;
  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override;
  absl::StatusOr<bool> ReadMatches(const std::string_view& low, const std::string_view& high,
                                   size_t count, uint8_t* bits) override;
  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override;
  absl::Status SeekToKeys(std::span<const std::string_view> keys,
                          std::span<LowerBound> bounds) override;
  std::unique_ptr<const SeekIndex> BuildSeekIndex() override;

 private:
  static constexpr uint32_t kNoGroup = UINT32_MAX;
  static constexpr char kWrongCode[] =
      "a code is not in the symbol table, or the last code is an escape code";
  static constexpr size_t kArenaBytes = size_t{1} << 20;  // a Read reserves at most as many
  // Bytes that may be read or written after strings and text.
  static constexpr size_t kSlack = std::max(kMaxShortStringBytes, kDecompressSlack);
  static_assert(kSlack >= kValueSlack && kMaxShortStringBytes >= kValueSlack);

  bool separate() const { return header_.form == FsstForm::kSeparate; }
  uint8_t* text() { return text_memory_.get() + kSlack; }

  // The bytes of a group, or an empty span if its offsets are wrong.
  std::span<const uint8_t> GroupBytes(uint32_t group) const;
  bool ParseGroup(uint32_t group, FsstGroup& parts) const {
    return ParseFsstGroup(header_.form, GroupBytes(group), FsstGroupCount(count_, group), parts);
  }
  absl::Status Damaged(uint32_t group, const std::string& what) const;
  // Loads and checks the sizes of a group, and in form 1 its text. The next value is its first one.
  absl::Status LoadGroup(uint32_t group);
  // Keeps the first `keep` bytes of the arena, and the key.
  void ReserveArena(size_t size, size_t keep = 0);

  // Form 1. ReserveText makes room for text; then there is no current group. CatchUp loads the
  // group of position_, moves to position_, and moves the key to the front of the arena.
  void ReserveText(size_t size);
  absl::Status CatchUp();
  // Returns the first key of a group without the common prefix. It is valid until the call after
  // the next one. If the group is damaged, sets `damaged` to it and returns an empty key.
  std::string_view FirstKey(uint32_t group, uint32_t& damaged);
  absl::Status BadGroup(uint32_t group);
  enum class Match { kLess, kEqual, kGreater };
  // `value` has the bytes of the whole value from byte `begin` on; the key has the same bytes
  // before. Sets `matched` to the number of leading bytes that both share.
  static Match Compare(std::string_view value, size_t begin, std::string_view key, size_t& matched);
  // Where a search begins: at value `first` of a group.
  struct Start {
    uint32_t group = kNoGroup;
    uint32_t first = 0;
    const FsstGroupSteps* steps = nullptr;  // if they are known
    // True if value `first` is known to be less than the key. Then both begin with the same
    // `matched` bytes; zeros may stand for bytes after the end of the value, because the next value
    // shares only bytes that this value has. If false, `first` is 0.
    bool less = false;
    size_t matched = 0;
  };
  // Sets `start` to the group that has the last value less than `key`, or whose first value is the
  // first one that is not less. Sets `bound` instead if the common prefix decides.
  absl::Status ChooseGroup(std::string_view key, Start& start, LowerBound& bound);
  // Moves `start`, the front of a group, to the last step whose first value is known to be less
  // than the key. Asks the CPU to fetch what the search reads first.
  void ChooseStep(std::string_view key, Start& start);
  absl::StatusOr<LowerBound> SeekFrom(Start start, std::string_view key);
  // Searches the values of a group after the first one of `start`: those of a step and the first
  // value of the next step or, if the steps are not known, all. Moves to the value that is found,
  // or else to the first value that was not searched. Sets start.matched.
  absl::StatusOr<Match> SeekInGroup(Start& start, std::string_view key);
  // The steps of a group, or nullptr if they are not known yet.
  const FsstGroupSteps* StepsOf(uint32_t group);
  bool FindSteps(uint32_t group, FsstGroupSteps& steps);

  // A run of values of the current group, in form 2: `count` values, beginning with value `first`.
  struct Run {
    uint32_t first = 0, count = 0;
  };
  // Makes the group of the value at `position` the current one. Returns the values of the group
  // from `position` on, at most `most`.
  absl::StatusOr<Run> RunFrom(uint32_t position, size_t most);
  std::span<const uint8_t> TextOf(const Run& run) const {
    return codes_.subspan(static_cast<size_t>(starts_[run.first]),
                          static_cast<size_t>(starts_[run.first + run.count] - starts_[run.first]));
  }
  size_t MostBytes(const Run& run) const {
    return run.count * common_.size() + TextOf(run).size() * (compressed_ ? kMaxSymbolBytes : 1);
  }
  // Writes the values of a run to `to` and views of them to `out`. Returns the end of the last
  // value. Precondition: MostBytes(run) + kSlack bytes are writable.
  absl::StatusOr<uint8_t*> Decode(const Run& run, uint8_t* to, std::string_view* out) const;
  // Decodes a value that may be large to the front of the arena.
  absl::Status DecodeLarge(uint32_t value, std::string_view& out);
  absl::StatusOr<size_t> ReadSeparate(std::span<std::string_view> out);
  absl::StatusOr<LowerBound> SeekInSeparate(std::string_view key);

  const std::shared_ptr<const SymbolDictionary> dictionary_;
  std::span<const uint8_t> block_;
  FsstHeader header_;
  const FsstSeekIndex* seek_index_ = nullptr;
  std::string_view common_;                     // the common prefix; kValueSlack bytes are readable
  uint8_t short_common_[kMaxShortStringBytes];  // a copy of it, if it is short

  // The current group. For each value of form 1: how many bytes it shares with the value before it,
  // and how many bytes its suffix has. The first value shares the common prefix. There is room for
  // one more number, because numbers are unpacked 8 at a time.
  uint32_t group_ = kNoGroup;
  uint32_t group_count_ = 0;
  uint32_t shared_[kFsstGroupValues + 1];
  uint32_t suffixes_[kFsstGroupValues + 1];
  size_t longest_ = 0;                      // of the values, in bytes
  std::unique_ptr<uint8_t[]> text_memory_;  // kSlack bytes before and after the text are readable
  size_t text_capacity_ = 0;
  // The next value of the group: its index and its suffix; and the key, which is the value before.
  uint32_t next_ = 0;
  const uint8_t* suffix_ = nullptr;
  const uint8_t* key_ = nullptr;
  size_t key_size_ = 0;
  // In form 2: the codes or the text, and where value i begins there.
  bool compressed_ = false;
  std::span<const uint8_t> codes_;
  uint64_t starts_[kFsstGroupValues + 1] = {};

  std::unique_ptr<uint8_t[]> arena_;  // the values of the last Read
  size_t arena_size_ = 0;
  std::vector<Start> starts_of_keys_;  // of SeekToKeys
  std::string first_keys_[2];          // the results of FirstKey
  uint32_t last_first_key_ = 0;
  std::string constant_;  // the constant of ReadMatches that was compressed last, and its codes
  std::vector<uint8_t> constant_codes_;
};

}  // namespace cfile::encodings
