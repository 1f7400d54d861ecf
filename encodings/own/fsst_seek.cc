// Searches blocks of FSST of form 1 by key: first among the first values of groups or, with a seek
// index, of steps, then among the values that follow. Makes this index.
#include "encodings/own/fsst_decoder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/value_dictionary.h"

namespace cfile::encodings {

constexpr size_t kFetchedGroupBytes = 1024;  // at most, in advance, if no steps are known
// The most bytes of the header of a block and of its first offset, without the common prefix.
constexpr size_t kMostFrontBytes = 1 + kMaxVint32Bytes + sizeof(uint32_t);
constexpr uint32_t kMostIndexedBytes = 1u << 29;  // FsstPlace has 29 bits

void FsstGroupSteps::PrefetchStep(std::span<const uint8_t> block, uint32_t step) const {
  PrefetchBytes(block, offset, offset + 128);  // the sizes
  PrefetchBytes(block, places[step].code, places[step].code + 192);
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
    steps.PrefetchStep(body, steps.CountLess(BytesHead(key.substr(steps.depth))));
  } else {
    PrefetchBytes(body, steps.offset, steps.offset + kFetchedGroupBytes);
  }
}

std::unique_ptr<const SeekIndex> FsstDecoder::BuildSeekIndex() {
  if (separate() || count_ <= kFsstGroupValues || seek_index_ != nullptr ||
      block_.size() > kMostIndexedBytes)
    return nullptr;
  const uint32_t groups = FsstGroups(count_);
  auto index = std::make_unique<FsstSeekIndex>();
  uint32_t damaged = kNoGroup;
  const auto first_key = [&](uint32_t before) { return FirstKey(before + 1, damaged); };
  index->first_keys = KeyHeads(groups - 1, first_key, size_t{2} * groups);
  index->block_bytes = block_.size();
  index->count = count_;
  index->common_size = static_cast<uint32_t>(common_.size());
  index->groups = std::vector<FsstGroupSteps>(groups);
  // Each offset is read once, checked and kept, because the bytes of a mapped file may change.
  for (uint32_t group = 0, previous = 0; group < groups && damaged == kNoGroup; ++group) {
    const std::span<const uint8_t> bytes = GroupBytes(group);
    if (bytes.empty() || bytes.data() <= block_.data() + previous) return nullptr;
    previous = static_cast<uint32_t>(bytes.data() - block_.data());
    index->groups[group].offset = previous;
  }
  if (damaged != kNoGroup) return nullptr;
  return index;
}

const FsstGroupSteps* FsstDecoder::StepsOf(uint32_t group) {
  using State = FsstGroupSteps::State;
  if (seek_index_ == nullptr) return nullptr;
  FsstGroupSteps& steps = seek_index_->groups[group];
  if (steps.state.load(std::memory_order_acquire) == State::kKnown) return &steps;
  // Steps of a damaged group stay in work. Each search in the group then finds the damage.
  State state = State::kUnknown;
  if (steps.state.compare_exchange_strong(state, State::kSearched, std::memory_order_relaxed) ||
      state != State::kSearched ||
      !steps.state.compare_exchange_strong(state, State::kInWork, std::memory_order_relaxed) ||
      !FindSteps(group, steps))
    return nullptr;
  steps.state.store(State::kKnown, std::memory_order_release);
  return &steps;
}

bool FsstDecoder::FindSteps(uint32_t group, FsstGroupSteps& steps) {
  size_t depth = common_.size();
  // The keys of another group are between its first value and the next group's.
  if (group > 0 && group + 1 < FsstGroups(count_)) {
    uint32_t damaged = kNoGroup;
    const std::string_view first = FirstKey(group, damaged), next = FirstKey(group + 1, damaged);
    if (damaged != kNoGroup) return false;
    depth += CommonPrefix(first, next);
  }
  steps.depth = static_cast<uint32_t>(depth);
  FsstGroup parts;
  if (!LoadGroup(group).ok() || !ParseGroup(group, parts) || parts.compressed != compressed_)
    return false;
  std::fill(std::begin(steps.heads), std::end(steps.heads), std::numeric_limits<uint64_t>::max());
  size_t place = 0;          // in the text
  size_t at = 0, begin = 0;  // a code, and where its bytes begin in the text
  for (uint32_t i = 0; i < group_count_; ++i) {
    place += suffixes_[i];
    if (i % kFsstStepValues != 0) continue;
    if (!parts.compressed) at = begin = place;
    while (parts.compressed && at < parts.text.size()) {
      const bool escape = parts.text[at] == kEscapeCode;
      const size_t size = escape ? 1 : dictionary_->table.sizes[parts.text[at]];
      if (begin + size > place) break;
      begin += size;
      at += escape ? 2 : 1;
    }
    const size_t code = static_cast<size_t>(parts.text.data() - block_.data()) + at;
    steps.places[i / kFsstStepValues] = {
        .code = static_cast<uint32_t>(code) & (kMostIndexedBytes - 1),
        .skip = static_cast<uint32_t>(place - begin) & 7};
  }
  for (uint32_t i = kFsstStepValues; i < group_count_; i += kFsstStepValues) {
    position_ = group * kFsstGroupValues + i;
    std::string_view value;
    if (!Read({&value, 1}).ok()) return false;
    steps.heads[i / kFsstStepValues - 1] = BytesHead(value.substr(std::min(value.size(), depth)));
  }
  return true;
}

std::string_view FsstDecoder::FirstKey(uint32_t group, uint32_t& damaged) {
  FsstGroup parts;
  if (ParseGroup(group, parts)) {
    const size_t size = parts.first_size;
    if (!parts.compressed && size <= parts.text.size()) return AsString(parts.text.first(size));
    if (parts.compressed && dictionary_ != nullptr && size <= parts.text.size() * kMaxSymbolBytes) {
      std::string& buffer = first_keys_[last_first_key_ ^= 1];
      if (buffer.size() < size + kDecompressSlack) buffer.resize(size + kDecompressSlack);
      auto* const begin = reinterpret_cast<uint8_t*>(buffer.data());
      uint8_t* end = begin;
      if (DecompressSymbols(dictionary_->table, size, parts.text, end) &&
          static_cast<size_t>(end - begin) >= size)
        return std::string_view(buffer).substr(0, size);
    }
  }
  damaged = group;
  return {};
}

absl::Status FsstDecoder::BadGroup(uint32_t group) {
  CFILE_RETURN_IF_ERROR(LoadGroup(group));
  return Damaged(group, "a search found its values damaged");
}

absl::Status FsstDecoder::ChooseGroup(std::string_view key, Start& start, LowerBound& bound) {
  start = {};
  bound = {};
  if (count_ == 0) return absl::OkStatus();
  if (CommonPrefix(key, common_) != common_.size()) {
    bound.position = BytesLess(key, common_) ? 0 : count_;
    return absl::OkStatus();
  }
  const std::string_view rest = key.substr(common_.size());
  uint32_t damaged = kNoGroup;
  const auto first_key = [&](uint32_t before) { return FirstKey(before + 1, damaged); };
  start.group =
      seek_index_ != nullptr
          ? seek_index_->first_keys.CountKeysLess(rest, first_key)
          : FindLowerBound(
                FsstGroups(count_) - 1,
                [&](uint32_t before) { return BytesLess(first_key(before), rest); },
                [&](uint32_t before) { __builtin_prefetch(GroupBytes(before + 1).data()); });
  return damaged == kNoGroup ? absl::OkStatus() : BadGroup(damaged);
}

void FsstDecoder::ChooseStep(std::string_view key, Start& start) {
  const FsstGroupSteps* const steps = StepsOf(start.group);
  if (steps == nullptr || key.size() < steps->depth)
    return PrefetchBytes(GroupBytes(start.group), 0, kFetchedGroupBytes);
  start.steps = steps;
  const uint64_t head = BytesHead(key.substr(steps->depth));
  const uint32_t step = steps->CountLess(head);
  if (step > 0) {
    const int equal_bits = std::countl_zero(steps->heads[step - 1] ^ head);
    start.first = step * kFsstStepValues;
    start.less = true;
    // If the values ascend, the first byte that differs is greater in the key, so the key has more
    // bytes. In a damaged file, they might not ascend.
    start.matched = std::min(key.size(), steps->depth + static_cast<size_t>(equal_bits) / 8);
  }
  steps->PrefetchStep(block_, step);
}

absl::StatusOr<LowerBound> FsstDecoder::SeekToKey(const std::string_view& key) {
  if (separate()) return SeekInSeparate(key);
  Start start;
  LowerBound bound;
  CFILE_RETURN_IF_ERROR(ChooseGroup(key, start, bound));
  position_ = bound.position;
  if (start.group == kNoGroup) return bound;
  ChooseStep(key, start);
  return SeekFrom(start, key);
}

absl::Status FsstDecoder::SeekToKeys(std::span<const std::string_view> keys,
                                     std::span<LowerBound> bounds) {
  CFILE_ASSERT(bounds.size() == keys.size());
  if (separate()) return BlockDecoder::SeekToKeys(keys, bounds);
  // Find the group of each key, then the step, then search: by that time, the bytes that are read
  // have arrived from memory.
  std::vector<Start>& starts = starts_of_keys_;
  starts.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    CFILE_RETURN_IF_ERROR(ChooseGroup(keys[i], starts[i], bounds[i]));
    if (seek_index_ != nullptr && starts[i].group != kNoGroup)
      __builtin_prefetch(&seek_index_->groups[starts[i].group]);
  }
  for (size_t i = 0; i < keys.size(); ++i)
    if (starts[i].group != kNoGroup) ChooseStep(keys[i], starts[i]);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (starts[i].group == kNoGroup) continue;
    CFILE_ASSIGN_OR_RETURN(bounds[i], SeekFrom(starts[i], keys[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<LowerBound> FsstDecoder::SeekFrom(Start start, std::string_view key) {
  const uint32_t first_group = start.group;
  while (true) {
    if (!start.less) {
      position_ = start.group * kFsstGroupValues;
      uint32_t damaged = kNoGroup;
      const std::string_view first = FirstKey(start.group, damaged);
      if (damaged != kNoGroup) return BadGroup(damaged);
      const Match match = Compare(first, common_.size(), key, start.matched);
      // If the values ascend, the first value of the next group is not less. If they do not, the
      // search must not go on through the whole block.
      if (match != Match::kLess || start.group > first_group)
        return LowerBound{position_, match == Match::kEqual};
      start.less = true;
    }
    CFILE_ASSIGN_OR_RETURN(const Match match, SeekInGroup(start, key));
    if (match != Match::kLess || position_ == count_)
      return LowerBound{position_, match == Match::kEqual};
    start.first += start.steps != nullptr ? kFsstStepValues : kFsstGroupValues;
    if (start.first == kFsstGroupValues) start = {.group = start.group + 1};
  }
}

FsstDecoder::Match FsstDecoder::Compare(std::string_view value, size_t begin, std::string_view key,
                                        size_t& matched) {
  const std::string_view rest = key.substr(begin);
  const size_t common = CommonPrefix(value, rest);
  matched = begin + common;
  if (common == rest.size()) return common == value.size() ? Match::kEqual : Match::kGreater;
  const bool greater = common < value.size() && AsBytes(value)[common] > AsBytes(rest)[common];
  return greater ? Match::kGreater : Match::kLess;
}

absl::StatusOr<FsstDecoder::Match> FsstDecoder::SeekInGroup(Start& start, std::string_view key) {
  const uint32_t group = start.group, first = start.first;
  const FsstGroupSteps* const steps = start.steps;
  position_ = group * kFsstGroupValues + first + 1;
  const std::span<const uint8_t> bytes = GroupBytes(group);
  const uint32_t group_count = FsstGroupCount(count_, group);
  FsstGroup parts;
  if (!ParseFsstGroup(header_.form, bytes, group_count, parts)) return BadGroup(group);
  if (parts.compressed && dictionary_ == nullptr) return MissingDictionary("fsst", count_);
  const uint32_t count =
      std::min(steps != nullptr ? kFsstStepValues : kFsstGroupValues, group_count - 1 - first);
  group_ = kNoGroup;  // the arrays are not those of a whole group
  UnpackBits<uint32_t>(parts.shared, parts.shared_width, first, shared_, count);
  UnpackBits<uint32_t>(parts.suffixes, parts.suffix_width, first, suffixes_, count);

  // The suffixes begin at byte `begin` of the text.
  size_t begin = parts.first_size;
  std::span<const uint8_t> codes = parts.text;
  if (steps != nullptr) {
    const FsstPlace place = steps->places[first / kFsstStepValues];
    begin = place.skip;
    codes = bytes.subspan(std::min<size_t>(
        place.code - static_cast<size_t>(bytes.data() - block_.data()), bytes.size()));
  }
  uint64_t size = begin;
  for (uint32_t i = 0; i < count; ++i) size += uint64_t{suffixes_[i]} + parts.least_suffix;
  if (size > uint64_t{codes.size()} * (parts.compressed ? kMaxSymbolBytes : 1))
    return BadGroup(group);
  ReserveText(parts.compressed ? static_cast<size_t>(size) : 0);
  const uint8_t* const text = parts.compressed ? this->text() : codes.data();
  uint8_t* end = this->text();

  // Compare each value with the key without rebuilding the value. The value before is less than the
  // key, and both begin with the same start.matched bytes.
  const size_t least_shared = common_.size() + parts.least_shared;
  for (uint32_t i = 0; i < count; ++i, ++position_) {
    const size_t suffix_size = size_t{suffixes_[i]} + parts.least_suffix;
    const size_t suffix_begin = std::exchange(begin, begin + suffix_size);
    const size_t shared = least_shared + shared_[i];
    if (shared > start.matched) continue;  // less than the key, like the value before
    if (parts.compressed && static_cast<size_t>(end - text) < begin) {
      // Decompress somewhat more than what is compared, so that the calls are few.
      const size_t wanted = std::min<size_t>(begin + 3 * suffix_size, size);
      if (!DecompressSymbols(dictionary_->table, wanted - static_cast<size_t>(end - text), codes,
                             end) ||
          static_cast<size_t>(end - text) < begin)
        return BadGroup(group);
    }
    const Match match =
        Compare(AsString({text + suffix_begin, suffix_size}), shared, key, start.matched);
    if (match != Match::kLess) return match;
  }
  return Match::kLess;
}

}  // namespace cfile::encodings
