// Searches blocks of FSST by key: first among the first values of groups or, with a seek index, of
// steps, then among the values that follow.
#include "encodings/own/fsst_decoder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/value_dictionary.h"

#include "encodings/core/compare_bytes.h"
#include "encodings/core/lower_bound.h"

namespace cfile::encodings {

bool FsstDecoder::FirstKey(uint32_t group, std::string_view& key) {
  FsstGroup parts;
  if (!ParseFsstGroup(GroupBytes(group), FsstGroupCount(count_, group), parts)) return false;
  const size_t size = parts.first_size;
  if (!parts.compressed) {
    if (size > parts.text.size()) return false;
    key = AsString(parts.text.first(size));
    return true;
  }
  if (dictionary_ == nullptr || size > parts.text.size() * kMaxSymbolBytes) return false;
  std::string& buffer = first_keys_[last_first_key_ ^= 1];
  if (buffer.size() < size + kDecompressSlack) buffer.resize(size + kDecompressSlack);
  auto* const begin = reinterpret_cast<uint8_t*>(buffer.data());
  uint8_t* end = begin;
  key = std::string_view(buffer).substr(0, size);
  return DecompressSymbols(dictionary_->table, size, parts.text, end) &&
         static_cast<size_t>(end - begin) >= size;
}

absl::StatusOr<uint32_t> FsstDecoder::FindGroup(std::string_view key) {
  uint32_t damaged = 0;
  const auto first_key = [&](uint32_t before) {
    std::string_view value;
    if (!FirstKey(before + 1, value)) damaged = before + 1;
    return value;
  };
  const uint32_t group =
      seek_index_ != nullptr
          ? seek_index_->first_keys.CountKeysLess(key, first_key)
          : FindLowerBound(
                FsstGroups(count_) - 1,
                [&](uint32_t before) { return BytesLess(first_key(before), key); },
                [&](uint32_t before) { __builtin_prefetch(GroupBytes(before + 1).data()); });
  if (damaged != 0) return BadGroup(damaged);
  return group;
}

absl::Status FsstDecoder::BadGroup(uint32_t group) {
  CFILE_RETURN_IF_ERROR(LoadGroup(group));
  return Damaged(group, "a search found its values damaged");
}

bool FsstDecoder::FindByCommon(std::string_view key, LowerBound& bound) const {
  const std::string_view common = AsString(header_.common);
  if (CommonPrefix(key, common) == common.size()) return false;
  bound = {BytesLess(key, common) ? 0 : count_, false};
  return true;
}

void FsstDecoder::ChooseStep(std::string_view key, Start& start) {
  const FsstGroupSteps* const steps = StepsOf(start.group);
  if (steps == nullptr || key.size() < steps->depth)
    return PrefetchBytes(GroupBytes(start.group), 0, kFsstFetchedGroupBytes);
  start.steps = steps;
  const uint64_t head = BytesHead(key.substr(steps->depth));
  const uint32_t step = steps->CountLess(head);
  if (step > 0) {
    const int equal_bits = std::countl_zero(steps->heads[step - 1] ^ head);
    start.first = step * kFsstStepValues;
    start.less = true;
    // If the values ascend, the first byte that differs is greater in the key. So the key has more
    // bytes. The values of a damaged file may not ascend.
    start.matched = std::min(key.size(), steps->depth + static_cast<size_t>(equal_bits) / 8);
  }
  PrefetchFsstStep(block_, *steps, step);
}

absl::StatusOr<LowerBound> FsstDecoder::SeekToKey(const std::string_view& key) {
  position_ = 0;
  LowerBound bound;
  if (count_ == 0) return bound;
  if (FindByCommon(key, bound)) {
    position_ = bound.position;
    return bound;
  }
  Start start;
  CFILE_ASSIGN_OR_RETURN(start.group, FindGroup(key.substr(header_.common.size())));
  ChooseStep(key, start);
  return SeekFrom(start, key);
}

absl::Status FsstDecoder::SeekToKeys(std::span<const std::string_view> keys,
                                     std::span<LowerBound> bounds) {
  CFILE_ASSERT(bounds.size() == keys.size());
  std::fill(bounds.begin(), bounds.end(), LowerBound{});
  if (count_ == 0) return absl::OkStatus();
  // Find the group of each key, then the step, then search: by that time, the bytes that are read
  // have arrived from memory.
  starts_.assign(keys.size(), {});
  for (size_t i = 0; i < keys.size(); ++i) {
    if (FindByCommon(keys[i], bounds[i])) continue;
    CFILE_ASSIGN_OR_RETURN(starts_[i].group, FindGroup(keys[i].substr(header_.common.size())));
    if (seek_index_ != nullptr) __builtin_prefetch(&seek_index_->groups[starts_[i].group]);
  }
  LowerBound decided;
  for (size_t i = 0; i < keys.size(); ++i)
    if (!FindByCommon(keys[i], decided)) ChooseStep(keys[i], starts_[i]);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (FindByCommon(keys[i], decided)) continue;
    CFILE_ASSIGN_OR_RETURN(bounds[i], SeekFrom(starts_[i], keys[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<LowerBound> FsstDecoder::SeekFrom(Start start, std::string_view key) {
  const uint32_t first_group = start.group;
  while (true) {
    if (!start.less) {
      CFILE_ASSIGN_OR_RETURN(const Match match, CompareFirst(start, key));
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

absl::StatusOr<FsstDecoder::Match> FsstDecoder::CompareFirst(Start& start, std::string_view key) {
  position_ = start.group * kFsstGroupValues;
  std::string_view first;
  if (!FirstKey(start.group, first)) return BadGroup(start.group);
  return Compare(first, header_.common.size(), key, start.matched);
}

absl::StatusOr<FsstDecoder::Match> FsstDecoder::SeekInGroup(Start& start, std::string_view key) {
  const uint32_t group = start.group, first = start.first;
  const FsstGroupSteps* const steps = start.steps;
  position_ = group * kFsstGroupValues + first + 1;
  const std::span<const uint8_t> bytes = GroupBytes(group);
  const uint32_t group_count = FsstGroupCount(count_, group);
  FsstGroup parts;
  if (bytes.empty() || !ParseFsstGroup(bytes, group_count, parts)) return BadGroup(group);
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
    begin = place.skip();
    codes = bytes.subspan(std::min<size_t>(
        place.code() - static_cast<size_t>(bytes.data() - block_.data()), bytes.size()));
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
  const size_t least_shared = header_.common.size() + parts.least_shared;
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
