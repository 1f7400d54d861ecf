// Searches blocks of FSST by key: first among the first values of the groups, then in one group.
#include "encodings/own/fsst_decoder.h"

#include <algorithm>
#include <cassert>
#include <utility>

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
  if (damaged != 0) return BadFirstKey(damaged);
  return group;
}

absl::Status FsstDecoder::BadFirstKey(uint32_t group) {
  CFILE_RETURN_IF_ERROR(LoadGroup(group));
  return Damaged(group, "its first value is damaged");
}

bool FsstDecoder::FindByCommon(std::string_view key, LowerBound& bound) const {
  const std::string_view common = AsString(header_.common);
  if (CommonPrefix(key, common) == common.size()) return false;
  bound = {BytesLess(key, common) ? 0 : count_, false};
  return true;
}

void FsstDecoder::PrefetchGroup(uint32_t group) const {
  constexpr size_t kLine = 64;
  const std::span<const uint8_t> bytes = GroupBytes(group);
  for (size_t at = 0; at < std::min<size_t>(bytes.size(), 16 * kLine); at += kLine)
    __builtin_prefetch(bytes.data() + at);
}

absl::StatusOr<LowerBound> FsstDecoder::SeekToKey(const std::string_view& key) {
  position_ = 0;
  LowerBound bound;
  if (count_ == 0) return bound;
  if (FindByCommon(key, bound)) {
    position_ = bound.position;
    return bound;
  }
  CFILE_ASSIGN_OR_RETURN(const uint32_t group, FindGroup(key.substr(header_.common.size())));
  PrefetchGroup(group);
  return SeekInGroup(group, key);
}

absl::Status FsstDecoder::SeekToKeys(std::span<const std::string_view> keys,
                                     std::span<LowerBound> bounds) {
  assert(bounds.size() == keys.size());
  std::fill(bounds.begin(), bounds.end(), LowerBound{});
  if (count_ == 0) return absl::OkStatus();
  // First find the groups of all keys and prefetch them. Then search the groups: by that time they
  // have arrived from memory.
  for (size_t i = 0; i < keys.size(); ++i) {
    if (FindByCommon(keys[i], bounds[i])) continue;
    CFILE_ASSIGN_OR_RETURN(bounds[i].position, FindGroup(keys[i].substr(header_.common.size())));
    PrefetchGroup(bounds[i].position);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    LowerBound decided;
    if (FindByCommon(keys[i], decided)) continue;
    CFILE_ASSIGN_OR_RETURN(bounds[i], SeekInGroup(bounds[i].position, keys[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<LowerBound> FsstDecoder::SeekInGroup(uint32_t group, std::string_view key) {
  if (group_ != group) CFILE_RETURN_IF_ERROR(LoadSizes(group));
  // Compare each value with the key without rebuilding the value. The value before is less than the
  // key, and its first `matched` bytes equal those of the key.
  size_t matched = header_.common.size();
  size_t begin = 0;  // of the next suffix in the text
  position_ = group * kFsstGroupValues;
  for (uint32_t i = 0; i < group_count_; ++i, ++position_) {
    const size_t suffix_begin = std::exchange(begin, begin + suffixes_[i]);
    if (shared_[i] > matched) continue;  // less than the key, like the value before
    // Decompress only what is compared, and somewhat more, so that the calls are few.
    CFILE_RETURN_IF_ERROR(LoadText(std::min(begin + size_t{4} * suffixes_[i], text_size_)));
    const std::string_view suffix = AsString({text() + suffix_begin, suffixes_[i]});
    const std::string_view rest = key.substr(shared_[i]);
    const size_t common = CommonPrefix(suffix, rest);
    matched = shared_[i] + common;
    if (common == rest.size()) return LowerBound{position_, common == suffix.size()};
    if (common < suffix.size() && AsBytes(suffix)[common] > AsBytes(rest)[common])
      return LowerBound{position_, false};
  }
  if (position_ == count_) return LowerBound{position_, false};
  std::string_view first;
  if (!FirstKey(group + 1, first)) return BadFirstKey(group + 1);
  return LowerBound{position_, first == key.substr(header_.common.size())};
}

std::unique_ptr<const SeekIndex> FsstDecoder::BuildSeekIndex() {
  if (count_ <= kFsstGroupValues || seek_index_ != nullptr) return nullptr;
  const uint32_t groups = FsstGroups(count_);
  auto index = std::make_unique<FsstSeekIndex>();
  bool sound = true;
  const auto first_key = [&](uint32_t before) {
    std::string_view value;
    sound &= FirstKey(before + 1, value);
    return value;
  };
  index->first_keys = KeyHeads(groups - 1, first_key, size_t{2} * groups);
  for (uint32_t i = 0; i < groups; ++i) sound &= !GroupBytes(i).empty();
  if (!sound) return nullptr;
  index->block_bytes = block_.size();
  index->count = count_;
  index->header = header_;
  index->header.common = {};
  index->common = AsString(header_.common);
  index->offsets.resize(groups);
  for (uint32_t i = 0; i < groups; ++i)
    index->offsets[i] = static_cast<uint32_t>(GroupBytes(i).data() - block_.data());
  return index;
}

}  // namespace cfile::encodings
