#include "encodings/kudu/prefix_decoder.h"

#include <algorithm>
#include <cstring>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/status.h"
#include "encodings/kernels/group_varint.h"

namespace cfile::encodings {
namespace {

// A Read reserves at most this many bytes in advance: enough for kMaxBatchValues keys of 16 bytes.
// A Read of fewer values reserves less.
constexpr size_t kArenaBytes = 16 * kMaxBatchValues + 4096;
// Bytes reserved after the last value, so that whole vectors can be copied.
constexpr size_t kArenaSlack = 64;

// Copies `size` bytes. If `roomy` is true, may copy 16 bytes instead. Precondition: if `roomy`, 16
// bytes are readable at `from` and writable at `to`.
void CopySmall(uint8_t* to, const uint8_t* from, size_t size, bool roomy) {
  if (size <= 16 && roomy) {
    std::memcpy(to, from, 16);
  } else if (size > 0) {
    std::memcpy(to, from, size);
  }
}

}  // namespace

void PrefixDecoder::OpenByIndex(const BlockView& view, const PrefixSeekIndex& index) {
  layout_ = {.block = view.bytes,
             .entries = view.bytes.data() + index.entries_begin,
             .entries_end = view.bytes.data() + index.entries_end,
             .restart_interval = index.restart_interval,
             .known_offsets = index.restart_offsets.data()};
  seek_index_ = &index;
  count_ = index.count;
  first_ordinal_ = index.first_ordinal;
  position_ = 0;
  walk_ = PrefixWalk{.next = layout_.entries};
  short_key_bytes_ = 16;
}

absl::Status PrefixDecoder::Open(const BlockView& view) {
  const std::span<const uint8_t> block = view.bytes;
  if (const auto* index = OfKind<PrefixSeekIndex>(view.seek_index);
      index != nullptr && index->block_bytes == block.size()) {
    OpenByIndex(view, *index);
    return absl::OkStatus();
  }
  seek_index_ = nullptr;
  count_ = position_ = 0;
  layout_ = {.block = block};
  ByteReader reader(block);
  uint32_t header[4];
  if (!ReadGroupVarint32(reader, 1, header)) {
    return DataLoss("prefix: a block of ", block.size(), " bytes is too short for its header");
  }
  const uint32_t count = header[0];
  first_ordinal_ = header[1];
  layout_.restart_interval = header[2];
  if (layout_.restart_interval == 0) return DataLoss("prefix: the restart interval is 0");
  const std::span<const uint8_t> rest = reader.rest();
  if (rest.size() < sizeof(uint32_t)) {
    return DataLoss("prefix: a block of ", block.size(), " bytes has no restart count");
  }
  const size_t before_count = rest.size() - sizeof(uint32_t);
  const auto num_restarts = LoadLittleEndian<uint32_t>(rest.data() + before_count);
  const uint32_t wanted_restarts = count == 0 ? 0 : (count - 1) / layout_.restart_interval;
  if (num_restarts != wanted_restarts) {
    return DataLoss("prefix: expected ", wanted_restarts, " restart offsets for ", count,
                    " values with a restart interval of ", layout_.restart_interval,
                    ", found a count of ", num_restarts);
  }
  const uint64_t restarts_bytes = uint64_t{num_restarts} * sizeof(uint32_t);
  if (restarts_bytes > before_count) {
    return DataLoss("prefix: ", num_restarts, " restart offsets do not fit into the ", before_count,
                    " bytes after the header");
  }
  const auto entries_bytes = static_cast<size_t>(before_count - restarts_bytes);
  // An entry takes at least two bytes. This check bounds `count` by the size of the block.
  if (count > entries_bytes / 2 || (count == 0 && entries_bytes > 0)) {
    return DataLoss("prefix: ", entries_bytes, " bytes cannot hold the entries of ", count,
                    " values");
  }
  layout_.entries = rest.data();
  layout_.entries_end = layout_.entries + entries_bytes;
  count_ = count;
  walk_ = PrefixWalk{.next = layout_.entries};
  short_key_bytes_ = 16;
  return absl::OkStatus();
}

inline bool PrefixDecoder::ParseEntry(const uint8_t* at, Entry& entry) const {
  const auto left = static_cast<size_t>(layout_.entries_end - at);
  if (left >= 2 && ((at[0] | at[1]) & 0x80) == 0) {
    entry = {at[0], at[1], at + 2};
    return entry.unshared <= left - 2;
  }
  ByteReader reader({at, left});
  if (!reader.ReadVint32(entry.shared) || !reader.ReadVint32(entry.unshared)) return false;
  entry.suffix = reader.rest().data();
  return entry.unshared <= reader.remaining();
}

inline bool PrefixDecoder::RestartKey(uint32_t index, std::string_view& key) const {
  const uint8_t* at = layout_.RestartAddress(index);
  Entry entry;
  if (at == nullptr || !ParseEntry(at, entry) || entry.shared != 0) return false;
  key = AsString({entry.suffix, entry.unshared});
  return true;
}

absl::Status PrefixDecoder::Damaged(uint32_t position, const uint8_t* at,
                                    const std::string& what) const {
  return DataLoss("prefix: value ", position, " at byte ", at - layout_.block.data(), ": ", what);
}

absl::Status PrefixDecoder::BadEntry(uint32_t position, const uint8_t* at, size_t key_size) const {
  Entry entry;
  if (!ParseEntry(at, entry)) {
    return Damaged(position, at,
                   StrCat("its lengths or its bytes run past the end of the entries at byte ",
                          layout_.entries_end - layout_.block.data()));
  }
  return Damaged(position, at,
                 StrCat("it shares ", entry.shared, " bytes with a value of ", key_size, " bytes"));
}

absl::Status PrefixDecoder::BadRestart(uint32_t index) const {
  const uint32_t position = index * layout_.restart_interval;
  if (const uint8_t* at = layout_.RestartAddress(index)) return BadEntry(position, at, 0);
  return Damaged(position, layout_.entries_end + size_t{index - 1} * sizeof(uint32_t),
                 "its restart offset does not point to an entry");
}

absl::Status PrefixDecoder::NextEntry(Entry& entry) {
  if (walk_.position == walk_.restart_position) {
    const uint8_t* at = layout_.RestartAddress(walk_.restart);
    if (at == nullptr) return BadRestart(walk_.restart);
    if (at != walk_.next) {
      return Damaged(walk_.position, walk_.next,
                     StrCat("its restart offset says byte ", at - layout_.block.data()));
    }
    ++walk_.restart;
    walk_.restart_position += layout_.restart_interval;
    walk_.key_size = 0;
  }
  if (!ParseEntry(walk_.next, entry) || entry.shared > walk_.key_size) {
    return BadEntry(walk_.position, walk_.next, walk_.key_size);
  }
  return absl::OkStatus();
}

void PrefixDecoder::ReserveArena(size_t size) {
  if (size <= arena_size_) return;
  const size_t new_size = std::max(size, 2 * arena_size_);
  std::unique_ptr<uint8_t[]> arena(new uint8_t[new_size]);
  if (walk_.key_size > 0) std::memcpy(arena.get(), walk_.key, walk_.key_size);
  walk_.key = arena.get();
  arena_ = std::move(arena);
  arena_size_ = new_size;
}

absl::Status PrefixDecoder::CatchUp() {
  const uint32_t restart = position_ / layout_.restart_interval;
  const uint32_t position = restart * layout_.restart_interval;
  if (walk_.position < position || walk_.position > position_) {
    const uint8_t* at = layout_.RestartAddress(restart);
    if (at == nullptr) return BadRestart(restart);
    walk_ = {.next = at, .position = position, .restart = restart, .restart_position = position};
  }
  KeyToFront();
  while (walk_.position < position_) {
    std::string_view skipped[16];
    const auto left = std::min<size_t>(std::size(skipped), position_ - walk_.position);
    if (ReadShort({skipped, left}) > 0) {
      KeyToFront();
      continue;
    }
    // Write the suffix over the end of the previous key, in place. The shared bytes are not copied,
    // so that long keys take no longer than short ones.
    Entry entry;
    CFILE_RETURN_IF_ERROR(NextEntry(entry));
    const size_t key_size = size_t{entry.shared} + entry.unshared;
    ReserveArena(key_size + kArenaSlack);
    CopySmall(walk_.key + entry.shared, entry.suffix, entry.unshared,
              layout_.entries_end - entry.suffix >= 16);
    walk_.key_size = key_size;
    walk_.next = entry.end();
    ++walk_.position;
    AllowShortKey(key_size);
  }
  return absl::OkStatus();
}

void PrefixDecoder::KeyToFront() {
  if (walk_.key_size > 0) std::memmove(arena_.get(), walk_.key, walk_.key_size);
  walk_.key = arena_.get();
}

void PrefixDecoder::AllowShortKey(size_t size) {
  if (size > short_key_bytes_ && size <= kMaxShortKeyBytes && short_key_bytes_ > 0) {
    short_key_bytes_ = size <= 32 ? 32 : 64;
  }
}

size_t PrefixDecoder::ReadShort(std::span<std::string_view> out) {
  if (short_key_bytes_ == 0) return 0;
  size_t done;
  if (!ReadShortKeys(layout_, short_key_bytes_, arena_.get() + arena_size_, walk_, out, done)) {
    // The caller's general path reads the same entry again and reports the error.
    short_key_bytes_ = 0;
    return 0;
  }
  return done;
}

absl::StatusOr<size_t> PrefixDecoder::Read(std::span<std::string_view> out) {
  const size_t wanted = Left(out.size());
  if (wanted == 0) return size_t{0};
  ReserveArena(walk_.key_size + std::min(kArenaBytes, wanted * kMaxShortKeyBytes + 4096));
  CFILE_RETURN_IF_ERROR(CatchUp());
  size_t done = 0;
  while (true) {
    done += ReadShort(out.subspan(done, wanted - done));
    if (done == wanted) break;
    size_t used = static_cast<size_t>(walk_.key - arena_.get()) + walk_.key_size;
    Entry entry;
    CFILE_RETURN_IF_ERROR(NextEntry(entry));
    const size_t size = size_t{entry.shared} + entry.unshared;
    if (done > 0 && entry.unshared == 0 && size == out[done - 1].size()) {
      // The same value again: no copy, so that many repeats of a long value are cheap. (At a
      // restart point this happens only if both values are empty.)
      walk_.next = entry.end();
      ++walk_.position;
      out[done] = out[done - 1];
      if (++done == wanted) break;
      continue;
    }
    if (arena_size_ - used < size + kArenaSlack) {
      if (done > 0) break;
      ReserveArena(walk_.key_size + size + kArenaSlack);
      used = walk_.key_size;
    }
    uint8_t* to = arena_.get() + used;
    if (entry.shared > 0) std::memcpy(to, walk_.key, entry.shared);
    CopySmall(to + entry.shared, entry.suffix, entry.unshared,
              layout_.entries_end - entry.suffix >= 16);
    walk_.key = to;
    walk_.key_size = size;
    walk_.next = entry.end();
    ++walk_.position;
    out[done++] = AsString({to, size});
    AllowShortKey(size);
    if (done == wanted) break;
  }
  if (walk_.position == count_ && walk_.next != layout_.entries_end) {
    return Damaged(count_ - 1, walk_.next,
                   StrCat(layout_.entries_end - walk_.next, " bytes follow the last value"));
  }
  position_ += static_cast<uint32_t>(done);
  return done;
}

uint32_t PrefixDecoder::FindRestart(std::string_view key, uint32_t& bad_restart) const {
  bad_restart = 0;
  const auto restart_key = [&](uint32_t before) {
    std::string_view value;
    if (!RestartKey(before + 1, value)) bad_restart = before + 1;
    return value;
  };
  if (seek_index_ != nullptr) return seek_index_->restart_keys.CountKeysLess(key, restart_key);
  return FindLowerBound(
      (count_ - 1) / layout_.restart_interval,
      [&](uint32_t before) { return BytesLess(restart_key(before), key); },
      [&](uint32_t before) { __builtin_prefetch(layout_.RestartAddress(before + 1)); });
}

absl::StatusOr<LowerBound> PrefixDecoder::SeekToKey(const std::string_view& key) {
  position_ = 0;
  if (count_ == 0) return LowerBound{};
  uint32_t bad_restart;
  const uint32_t restart = FindRestart(key, bad_restart);
  if (bad_restart != 0) return BadRestart(bad_restart);
  return SeekFromRestart(restart, key);
}

absl::Status PrefixDecoder::SeekToKeys(std::span<const std::string_view> keys,
                                       std::span<LowerBound> bounds) {
  CFILE_ASSERT(bounds.size() == keys.size());
  if (count_ == 0) {
    std::fill(bounds.begin(), bounds.end(), LowerBound{});
    return absl::OkStatus();
  }
  // Find the restart points of all keys and prefetch their entries before searching them: by that
  // time they have arrived from memory.
  for (size_t i = 0; i < keys.size(); ++i) {
    uint32_t bad_restart;
    bounds[i].position = FindRestart(keys[i], bad_restart);
    if (bad_restart != 0) return BadRestart(bad_restart);
    const uint8_t* at = layout_.RestartAddress(bounds[i].position);
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    CFILE_ASSIGN_OR_RETURN(bounds[i], SeekFromRestart(bounds[i].position, keys[i]));
  }
  return absl::OkStatus();
}

std::unique_ptr<const SeekIndex> PrefixDecoder::BuildSeekIndex() {
  if (count_ <= layout_.restart_interval) return nullptr;
  const uint32_t num_restarts = (count_ - 1) / layout_.restart_interval;
  auto index = std::make_unique<PrefixSeekIndex>();
  bool sound = true;
  index->restart_keys = KeyHeads(num_restarts, [&](uint32_t before) {
    std::string_view value;
    sound &= RestartKey(before + 1, value);
    return value;
  });
  if (!sound) return nullptr;
  index->block_bytes = layout_.block.size();
  index->entries_begin = static_cast<size_t>(layout_.entries - layout_.block.data());
  index->entries_end = static_cast<size_t>(layout_.entries_end - layout_.block.data());
  index->count = count_;
  index->first_ordinal = first_ordinal_;
  index->restart_interval = layout_.restart_interval;
  index->restart_offsets.resize(num_restarts);
  for (uint32_t i = 0; i < num_restarts; ++i) {
    index->restart_offsets[i] =
        static_cast<uint32_t>(layout_.RestartAddress(i + 1) - layout_.block.data());
  }
  return index;
}

absl::StatusOr<LowerBound> PrefixDecoder::SeekFromRestart(uint32_t restart, std::string_view key) {
  std::string_view value;
  if (!RestartKey(restart, value)) return BadRestart(restart);
  // Compare each value with the key without rebuilding the value. The previous value is less than
  // the key, and its first `matched` bytes equal those of the key.
  position_ = restart * layout_.restart_interval;
  const uint32_t end = std::min(count_ - position_, layout_.restart_interval) + position_;
  const uint8_t* next = layout_.RestartAddress(restart);
  size_t matched = 0;
  size_t key_size = 0;
  for (; position_ < end; ++position_) {
    Entry entry;
    if (!ParseEntry(next, entry) || entry.shared > key_size) {
      return BadEntry(position_, next, key_size);
    }
    key_size = size_t{entry.shared} + entry.unshared;
    next = entry.end();
    if (entry.shared > matched) continue;  // less than the key, like the previous value
    const std::string_view suffix = AsString({entry.suffix, entry.unshared});
    const std::string_view rest = key.substr(entry.shared);
    const size_t common = CommonPrefix(suffix, rest);
    matched = entry.shared + common;
    if (common == rest.size()) return LowerBound{position_, common == suffix.size()};
    if (common < suffix.size() && AsBytes(suffix)[common] > AsBytes(rest)[common]) {
      return LowerBound{position_, false};
    }
  }
  if (end == count_) return LowerBound{end, false};
  if (!RestartKey(restart + 1, value)) return BadRestart(restart + 1);
  return LowerBound{end, value == key};
}

}  // namespace cfile::encodings
