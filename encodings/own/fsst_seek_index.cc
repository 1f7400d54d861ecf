// Makes the seek index of a block of FSST: first the keys of its groups, later the steps of groups
// that are searched.
#include "encodings/own/fsst_decoder.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "encodings/core/compare_bytes.h"
#include "encodings/core/value_dictionary.h"

namespace cfile::encodings {
namespace {

// For each step of a group, finds where the suffix of the second value begins. `codes`: the stored
// text of the group; it begins at byte `codes_begin` of the block. `table`: the symbols, or nullptr
// if the text is not compressed. `suffixes`: the size of the suffix of each value. Precondition:
// the group was read without an error.
void FindPlaces(std::span<const uint8_t> codes, size_t codes_begin, const SymbolTable* table,
                std::span<const uint32_t> suffixes, FsstPlace* places) {
  size_t place = 0;  // in the text
  size_t at = 0;     // the code, and where its bytes begin in the text
  size_t begin = 0;
  for (size_t i = 0; i < suffixes.size(); ++i) {
    place += suffixes[i];
    if (i % kFsstStepValues != 0) continue;
    if (table == nullptr) at = begin = place;
    while (table != nullptr && at < codes.size()) {
      const bool escape = codes[at] == kEscapeCode;
      const size_t size = escape ? 1 : table->sizes[codes[at]];
      if (begin + size > place) break;
      begin += size;
      at += escape ? 2 : 1;
    }
    *places++ = FsstPlace(codes_begin + at, place - begin);
  }
}

// The most bytes of the header of a block and of the offset of its first group, without the common
// prefix.
constexpr size_t kMostFrontBytes = 1 + kMaxVint32Bytes + sizeof(uint32_t);

}  // namespace

void PrefetchFsstStep(std::span<const uint8_t> block, const FsstGroupSteps& steps, uint32_t step) {
  PrefetchBytes(block, steps.offset, steps.offset + 128);  // the sizes
  const size_t text = steps.places[step].code();
  PrefetchBytes(block, text, text + 192);
}

void FsstSeekIndex::PrefetchKeys(std::span<const uint8_t> block) const {
  first_keys.Prefetch();
  PrefetchBytes(block.last(block_bytes), 0, kMostFrontBytes + common_size);
}

uint32_t FsstSeekIndex::FindPart(std::string_view key) const {
  const uint32_t group =
      first_keys.EstimateKeysLess(key.substr(std::min<size_t>(key.size(), common_size)));
  __builtin_prefetch(&groups[group]);
  __builtin_prefetch(std::end(groups[group].heads) - 1);  // may be in the next line
  return group;
}

void FsstSeekIndex::PrefetchPart(uint32_t group, std::string_view key,
                                 std::span<const uint8_t> block) const {
  const FsstGroupSteps& steps = groups[group];
  const std::span<const uint8_t> body = block.last(block_bytes);
  if (steps.state.load(std::memory_order_acquire) == FsstGroupSteps::State::kKnown &&
      steps.depth <= key.size()) {
    PrefetchFsstStep(body, steps, steps.CountLess(BytesHead(key.substr(steps.depth))));
  } else {
    PrefetchBytes(body, steps.offset, steps.offset + kFsstFetchedGroupBytes);
  }
}

const FsstGroupSteps* FsstDecoder::StepsOf(uint32_t group) {
  using State = FsstGroupSteps::State;
  if (seek_index_ == nullptr) return nullptr;
  FsstGroupSteps& steps = seek_index_->groups[group];
  State state = steps.state.load(std::memory_order_acquire);
  if (state == State::kUnknown) {
    steps.state.compare_exchange_strong(state, State::kSearched, std::memory_order_relaxed);
    return nullptr;
  }
  // Steps of a damaged group stay in work. Each search in the group then finds the damage.
  if (state == State::kSearched &&
      steps.state.compare_exchange_strong(state, State::kInWork, std::memory_order_relaxed) &&
      FindSteps(group, steps)) {
    state = State::kKnown;
    steps.state.store(state, std::memory_order_release);
  }
  return state == State::kKnown ? &steps : nullptr;
}

bool FsstDecoder::FindSteps(uint32_t group, FsstGroupSteps& steps) {
  const size_t common = header_.common.size();
  steps.depth = static_cast<uint32_t>(common);
  // The keys of another group are between its first value and the next group's.
  if (group > 0 && group + 1 < FsstGroups(count_)) {
    std::string_view first, next;
    if (!FirstKey(group, first) || !FirstKey(group + 1, next)) return false;
    steps.depth = static_cast<uint32_t>(common + CommonPrefix(first, next));
  }
  FsstGroup parts;
  if (!LoadGroup(group).ok() || !ParseFsstGroup(GroupBytes(group), group_count_, parts))
    return false;
  if (parts.compressed && dictionary_ == nullptr) return false;
  FindPlaces(parts.text, static_cast<size_t>(parts.text.data() - block_.data()),
             parts.compressed ? &dictionary_->table : nullptr,
             std::span(suffixes_).first(group_count_), steps.places);
  std::fill(std::begin(steps.heads), std::end(steps.heads), std::numeric_limits<uint64_t>::max());
  for (uint32_t i = kFsstStepValues; i < group_count_; i += kFsstStepValues) {
    position_ = group * kFsstGroupValues + i;
    std::string_view value;
    if (!Read({&value, 1}).ok()) return false;
    steps.heads[i / kFsstStepValues - 1] =
        BytesHead(value.substr(std::min<size_t>(value.size(), steps.depth)));
  }
  return true;
}

std::unique_ptr<const SeekIndex> FsstDecoder::BuildSeekIndex() {
  if (count_ <= kFsstGroupValues || seek_index_ != nullptr) return nullptr;
  if (block_.size() > FsstPlace::kMostBlockBytes) return nullptr;
  const uint32_t groups = FsstGroups(count_);
  auto index = std::make_unique<FsstSeekIndex>();
  bool sound = true;
  const auto first_key = [&](uint32_t before) {
    std::string_view value;
    sound &= FirstKey(before + 1, value);
    return value;
  };
  index->first_keys = KeyHeads(groups - 1, first_key, size_t{2} * groups);
  index->block_bytes = block_.size();
  index->count = count_;
  index->common_size = static_cast<uint32_t>(header_.common.size());
  index->groups = std::vector<FsstGroupSteps>(groups);
  // Each offset is read once, checked and kept, because the bytes of a mapped file may change.
  size_t previous = 0;
  for (FsstGroupSteps& steps : index->groups) {
    const auto group = static_cast<uint32_t>(&steps - index->groups.data());
    const std::span<const uint8_t> bytes = GroupBytes(group);
    const size_t offset = bytes.empty() ? 0 : static_cast<size_t>(bytes.data() - block_.data());
    sound &= offset > previous;
    steps.offset = static_cast<uint32_t>(offset);
    previous = offset;
  }
  if (!sound) return nullptr;
  return index;
}

}  // namespace cfile::encodings
