#include "encodings/own/fsst_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "encodings/core/value_dictionary.h"

namespace cfile::encodings {
namespace {

// A Read reserves at most this many bytes in advance.
constexpr size_t kArenaBytes = size_t{1} << 20;

// Unpacks `count` sizes from the front of `bytes`, and perhaps up to 7 numbers more, because whole
// groups of 8 are faster.
void UnpackSizes(std::span<const uint8_t> bytes, int width, size_t count, uint32_t* sizes) {
  const size_t more = (count + 7) / 8 * 8;
  UnpackBits<uint32_t>(bytes, width, 0, sizes,
                       PackedBytes(more, width) <= bytes.size() ? more : count);
}

// What LoadSizes needs to know of the sizes of a group.
struct SizeSums {
  bool sound = true;     // no value shares more bytes than the value before it has
  uint64_t used = 0;     // bytes of all suffixes
  uint64_t longest = 0;  // of the values without the common prefix, in bytes
};

// Completes the sizes of a group of `count` values, whose first value is not in the arrays. All
// sums must fit into Number; a result that does not fit into 32 bits is cut off.
template <typename Number>
SizeSums CompleteSizes(const FsstGroup& parts, size_t common, size_t count, uint32_t* shared,
                       uint32_t* suffixes) {
  const auto first = static_cast<Number>(parts.first_size);
  const auto least_shared = static_cast<Number>(parts.least_shared);
  const auto least_suffix = static_cast<Number>(parts.least_suffix);
  Number wrong = count > 1 && static_cast<Number>(shared[1]) + least_shared > first;
  for (size_t i = 2; i < count; ++i) {
    const Number previous =
        static_cast<Number>(shared[i - 1]) + static_cast<Number>(suffixes[i - 1]) + least_suffix;
    wrong |= static_cast<Number>(shared[i]) > previous;
  }
  Number used = first, longest = first;
  for (size_t i = 1; i < count; ++i) {
    const Number shared_size = static_cast<Number>(shared[i]) + least_shared;
    const Number suffix = static_cast<Number>(suffixes[i]) + least_suffix;
    used += suffix;
    longest = std::max(longest, shared_size + suffix);
    shared[i] = static_cast<uint32_t>(shared_size + static_cast<Number>(common));
    suffixes[i] = static_cast<uint32_t>(suffix);
  }
  return {wrong == 0, static_cast<uint64_t>(used), static_cast<uint64_t>(longest)};
}

// Returns the result of CompleteSizes for sizes of any width. 32 bits are enough for the usual
// ones, and are faster.
SizeSums CompleteAnySizes(const FsstGroup& parts, size_t common, size_t count, uint32_t* shared,
                          uint32_t* suffixes) {
  constexpr int kBits = 24;
  static_assert(uint64_t{kFsstGroupValues} << (kBits + 1) <= INT32_MAX + uint64_t{1});
  const bool small =
      parts.shared_width < kBits && parts.suffix_width < kBits &&
      ((parts.first_size | parts.least_shared | parts.least_suffix | common) >> (kBits - 1)) == 0;
  return small ? CompleteSizes<int32_t>(parts, common, count, shared, suffixes)
               : CompleteSizes<int64_t>(parts, common, count, shared, suffixes);
}

}  // namespace

FsstDecoder::FsstDecoder(std::shared_ptr<const SymbolDictionary> dictionary)
    : dictionary_(std::move(dictionary)) {}

absl::Status FsstDecoder::Open(const BlockView& view) {
  block_ = view.bytes;
  first_ordinal_ = view.first_ordinal;
  count_ = position_ = 0;
  group_ = kNoGroup;
  seek_index_ = nullptr;
  header_ = {};
  const auto* index = OfKind<FsstSeekIndex>(view.seek_index);
  if (index != nullptr && index->block_bytes == block_.size() && index->count == view.count)
    seek_index_ = index;
  CFILE_RETURN_IF_ERROR(OpenFsstBlock(block_, view.count, header_));
  count_ = view.count;
  if (count_ > 0 && header_.common.size() <= sizeof(short_common_))
    std::copy(header_.common.begin(), header_.common.end(), short_common_);
  return absl::OkStatus();
}

std::span<const uint8_t> FsstDecoder::GroupBytes(uint32_t group) const {
  const uint32_t groups = FsstGroups(count_);
  if (seek_index_ == nullptr) return FsstGroupBytes(block_, header_, groups, group);
  const std::vector<FsstGroupSteps>& steps = seek_index_->groups;  // all offsets are sound
  const size_t end = group + 1 == groups ? block_.size() : steps[group + 1].offset;
  return block_.subspan(steps[group].offset, end - steps[group].offset);
}

absl::Status FsstDecoder::Damaged(uint32_t group, const std::string& what) const {
  return DamagedFsstGroup(count_, group, what);
}

absl::Status FsstDecoder::LoadSizes(uint32_t group) {
  group_ = kNoGroup;
  const std::span<const uint8_t> bytes = GroupBytes(group);
  if (bytes.empty()) return Damaged(group, "its offset, or the offset after it, is wrong");
  group_count_ = FsstGroupCount(count_, group);
  FsstGroup parts;
  if (!ParseFsstGroup(bytes, group_count_, parts))
    return Damaged(group, "its header is cut off, or a width is more than 32 bits");
  if (parts.compressed && dictionary_ == nullptr) return MissingDictionary("fsst", count_);

  const size_t others = group_count_ - 1;
  const auto rest_from = [&](std::span<const uint8_t> part) {
    return bytes.subspan(static_cast<size_t>(part.data() - bytes.data()));
  };
  UnpackSizes(rest_from(parts.shared), parts.shared_width, others, shared_ + 1);
  UnpackSizes(rest_from(parts.suffixes), parts.suffix_width, others, suffixes_ + 1);
  const size_t common = header_.common.size();
  const auto [sound, used, longest] =
      CompleteAnySizes(parts, common, group_count_, shared_, suffixes_);
  if (!sound) return Damaged(group, "a value shares more bytes than the value before it has");
  // `used` is at least as large as each size, so 32 bits are enough for the sizes.
  const uint64_t most = uint64_t{parts.text.size()} * (parts.compressed ? kMaxSymbolBytes : 1);
  if (used > most || used + common > UINT32_MAX || (!parts.compressed && used < most)) {
    return Damaged(group, absl::StrCat("its suffixes have ", used, " bytes, but its ",
                                       parts.text.size(), " bytes of text cannot have as many"));
  }
  shared_[0] = static_cast<uint32_t>(common);
  suffixes_[0] = parts.first_size;

  text_size_ = static_cast<size_t>(used);
  ReserveText(text_size_);
  text_end_ = text();
  codes_ = parts.text;
  if (!parts.compressed) {
    text_end_ = std::copy(codes_.begin(), codes_.end(), text_end_);
    codes_ = {};
  }
  longest_ = static_cast<size_t>(longest) + common;
  group_ = group;
  next_ = 0;
  suffix_ = text();
  key_ = common <= sizeof(short_common_) ? short_common_ : header_.common.data();
  key_size_ = common;
  return absl::OkStatus();
}

void FsstDecoder::ReserveText(size_t size) {
  group_ = kNoGroup;
  if (size + 2 * kSlack <= text_capacity_) return;
  text_capacity_ = std::max(size + 2 * kSlack, 2 * text_capacity_);
  text_memory_.reset(new uint8_t[text_capacity_]());
}

absl::Status FsstDecoder::LoadText(size_t size) {
  const auto available = static_cast<size_t>(text_end_ - text());
  if (available >= size && (size < text_size_ || codes_.empty())) return absl::OkStatus();
  const bool sound =
      DecompressSymbols(dictionary_->table, size - std::min(size, available), codes_, text_end_);
  const auto loaded = static_cast<size_t>(text_end_ - text());
  if (sound && loaded >= size && loaded <= text_size_ && (size < text_size_ || codes_.empty()))
    return absl::OkStatus();
  return Damaged(
      std::exchange(group_, kNoGroup),
      sound ? absl::StrCat("its codes do not stand for ", text_size_, " bytes") : kFsstWrongCode);
}

absl::Status FsstDecoder::LoadGroup(uint32_t group) {
  if (group_ != group || next_ != 0) CFILE_RETURN_IF_ERROR(LoadSizes(group));
  return LoadText(text_size_);
}

void FsstDecoder::ReserveArena(size_t size) {
  if (size <= arena_size_) return;
  const size_t new_size = std::max(size, 2 * arena_size_);
  std::unique_ptr<uint8_t[]> arena(new uint8_t[new_size]);
  if (key_ == arena_.get() && key_ != nullptr) {
    std::memcpy(arena.get(), key_, key_size_);
    key_ = arena.get();
  }
  arena_ = std::move(arena);
  arena_size_ = new_size;
}

void FsstDecoder::KeyToFront() {
  if (group_ == kNoGroup || next_ == 0) return;  // the key is the common prefix
  std::memmove(arena_.get(), key_, key_size_);
  key_ = arena_.get();
}

absl::Status FsstDecoder::CatchUp() {
  const uint32_t group = position_ / kFsstGroupValues;
  const uint32_t index = position_ % kFsstGroupValues;
  if (group_ != kNoGroup && group_ + 1 == group && index == 0 && next_ == group_count_)
    return LoadGroup(group);
  if (group_ != group || next_ > index) CFILE_RETURN_IF_ERROR(LoadSizes(group));
  CFILE_RETURN_IF_ERROR(LoadText(text_size_));
  KeyToFront();
  if (next_ < index) ReserveArena(longest_ + kSlack);
  while (next_ < index) {
    // Write the suffix over the end of the value before.
    uint8_t* const to = arena_.get();
    if (next_ == 0) std::copy(header_.common.begin(), header_.common.end(), to);
    if (suffixes_[next_] > 0) std::memcpy(to + shared_[next_], suffix_, suffixes_[next_]);
    key_ = to;
    key_size_ = size_t{shared_[next_]} + suffixes_[next_];
    suffix_ += suffixes_[next_];
    ++next_;
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> FsstDecoder::Read(std::span<std::string_view> out) {
  const size_t wanted = Left(out.size());
  if (wanted == 0) return size_t{0};
  CFILE_RETURN_IF_ERROR(CatchUp());
  // The key, if it is in the arena, is at its front.
  ReserveArena((next_ > 0 ? key_size_ : 0) +
               std::min(kArenaBytes, wanted * kMaxShortStringBytes + 4096));
  size_t used = next_ > 0 ? key_size_ : 0;
  size_t done = 0;
  while (true) {
    const size_t left = std::min<size_t>(wanted - done, group_count_ - next_);
    if (longest_ <= kMaxShortStringBytes && arena_size_ - used >= left * longest_ + kSlack) {
      JoinShortStrings(shared_ + next_, suffixes_ + next_, key_, suffix_, arena_.get() + used,
                       out.subspan(done, left));
      for (size_t i = 0; i < left; ++i) suffix_ += suffixes_[next_ + i];
      next_ += static_cast<uint32_t>(left);
      done += left;
    } else {
      for (; next_ < group_count_ && done < wanted; ++next_, ++done) {
        const size_t shared = shared_[next_], suffix = suffixes_[next_];
        if (done > 0 && suffix == 0 && shared == key_size_ && next_ > 0) {
          out[done] = out[done - 1];  // the same value again
          continue;
        }
        if (arena_size_ - used < shared + suffix + kSlack) {
          if (done > 0) {
            position_ += static_cast<uint32_t>(done);
            return done;
          }
          ReserveArena(used + shared + suffix + kSlack);
        }
        uint8_t* const to = arena_.get() + used;
        if (shared > 0) std::memcpy(to, key_, shared);
        if (suffix > 0) std::memcpy(to + shared, suffix_, suffix);
        suffix_ += suffix;
        key_ = to;
        key_size_ = shared + suffix;
        used += key_size_;
        out[done] = AsString({to, key_size_});
      }
    }
    if (done > 0) {
      key_ = AsBytes(out[done - 1]).data();
      key_size_ = out[done - 1].size();
      used = static_cast<size_t>(key_ - arena_.get()) + key_size_;
    }
    if (done == wanted) break;
    CFILE_RETURN_IF_ERROR(LoadGroup(group_ + 1));
  }
  position_ += static_cast<uint32_t>(done);
  return done;
}

}  // namespace cfile::encodings
