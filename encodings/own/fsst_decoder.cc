// Opens and describes blocks of FSST, loads groups, and reads form 1.
#include "encodings/own/fsst_decoder.h"

#include <algorithm>
#include <cstring>

#include "encodings/core/status.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/own/fsst.h"
#include "encodings/parquet/parquet_dictionary.h"

namespace cfile::encodings {
absl::StatusOr<std::shared_ptr<const Dictionary>> FsstCodec::LoadDictionary(
    PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values) {
  CFILE_ASSIGN_OR_RETURN(const auto loaded, ParquetDictionaryCodec::LoadDictionary(
                                                type, type_length, bytes, max_values));
  const auto& symbols = static_cast<const ValueDictionary<std::string_view>&>(*loaded);
  if (symbols.size > kMaxSymbols) {
    return DataLoss("fsst: a table of ", symbols.size, " symbols, expected at most ", kMaxSymbols);
  }
  const auto dictionary = std::make_shared<SymbolDictionary>();
  for (uint32_t code = 0; code < symbols.size; ++code) {
    const std::string_view symbol = symbols.values[code];
    if (symbol.empty() || symbol.size() > kMaxSymbolBytes) {
      return DataLoss("fsst: symbol ", code, " has ", symbol.size(), " bytes, expected 1 to ",
                      kMaxSymbolBytes);
    }
    dictionary->table.Add(LoadText(symbol), symbol.size());
  }
  return dictionary;
}

template <typename T>
std::unique_ptr<BlockDecoder<T>> FsstCodec::MakeDecoder(PhysicalType /*type*/,
                                                        const DecoderOptions& options) {
  // A file whose dictionary is of another kind has no table.
  return std::make_unique<FsstDecoder>(
      std::dynamic_pointer_cast<const SymbolDictionary>(options.dictionary));
}
CFILE_INSTANTIATE_DECODER(FsstCodec, std::string_view)

absl::Status FsstDecoder::Open(const BlockView& view) {
  block_ = view.bytes;
  first_ordinal_ = view.first_ordinal;
  count_ = position_ = 0;
  group_ = kNoGroup;
  header_ = {};
  seek_index_ = nullptr;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block_, view.count, header_));
  const auto* index = OfKind<FsstSeekIndex>(view.seek_index);
  if (index != nullptr && !separate() && index->block_bytes == block_.size() &&
      index->count == view.count)
    seek_index_ = index;
  count_ = view.count;
  common_ = AsString(header_.common);
  if (common_.size() <= sizeof(short_common_)) {
    std::copy(common_.begin(), common_.end(), short_common_);
    common_ = AsString({short_common_, common_.size()});
  }
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
  return DataLoss("fsst: group ", group, ", of ", FsstGroupCount(count_, group),
                  " values from value ", group * kFsstGroupValues, " on: ", what);
}

absl::Status FsstDecoder::LoadGroup(uint32_t group) {
  group_ = kNoGroup;
  const std::span<const uint8_t> bytes = GroupBytes(group);
  if (bytes.empty()) return Damaged(group, "its offset, or the offset after it, is wrong");
  group_count_ = FsstGroupCount(count_, group);
  FsstGroup parts;
  if (!ParseFsstGroup(header_.form, bytes, group_count_, parts))
    return Damaged(group, "its header is cut off, or a width is more than 32 bits");
  if (parts.compressed && dictionary_ == nullptr) return MissingDictionary("fsst", count_);

  const size_t first = separate() ? 0 : 1;
  const auto unpack = [&](std::span<const uint8_t> packed, int width, uint32_t* sizes) {
    // UnpackBits is faster if the number of sizes is a multiple of 8, so some more are unpacked if
    // the group has enough bytes.
    const auto rest = bytes.subspan(static_cast<size_t>(packed.data() - bytes.data()));
    const size_t count = group_count_ - first, more = (count + 7) / 8 * 8;
    UnpackBits<uint32_t>(rest, width, 0, sizes + first,
                         PackedBytes(more, width) <= rest.size() ? more : count);
  };
  unpack(parts.suffixes, parts.suffix_width, suffixes_);
  codes_ = parts.text;
  compressed_ = parts.compressed;
  const uint64_t most = uint64_t{codes_.size()} * (compressed_ ? kMaxSymbolBytes : 1);
  if (separate()) {
    for (uint32_t i = 0; i < group_count_; ++i)
      starts_[i + 1] = starts_[i] + suffixes_[i] + parts.least_suffix;
    if (starts_[group_count_] != codes_.size()) {
      return Damaged(group, StrCat("its values take ", starts_[group_count_], " bytes, but it has ",
                                   codes_.size(), " bytes of text"));
    }
    group_ = group;
    return absl::OkStatus();
  }

  unpack(parts.shared, parts.shared_width, shared_);
  const size_t common = common_.size();
  shared_[0] = static_cast<uint32_t>(common);
  suffixes_[0] = parts.first_size;
  const auto [sound, used, longest] =
      CompleteSizes({group_count_, parts.first_size, parts.least_shared, parts.least_suffix, common,
                     std::max(parts.shared_width, parts.suffix_width)},
                    shared_, suffixes_);
  if (!sound) return Damaged(group, "a value shares more bytes than the value before it has");
  // `used` + `common` is at least as large as each size, so 32 bits are enough for the sizes.
  if (used > most || used + common > UINT32_MAX) {
    return Damaged(group, StrCat("its suffixes have ", used, " bytes, but its ", codes_.size(),
                                 " bytes of text cannot have as many"));
  }
  if (!compressed_ && used < most) {
    return Damaged(
        group, StrCat("its suffixes have ", used, " bytes, but it has ", most, " bytes of text"));
  }
  ReserveText(static_cast<size_t>(used));
  uint8_t* end = text();
  if (!compressed_) {
    std::copy(codes_.begin(), codes_.end(), end);
  } else if (!DecompressSymbols(dictionary_->table, static_cast<size_t>(used), codes_, end)) {
    return Damaged(group, kWrongCode);
  } else if (!codes_.empty() || static_cast<uint64_t>(end - text()) != used) {
    return Damaged(group, StrCat("its codes do not stand for ", used, " bytes"));
  }
  longest_ = static_cast<size_t>(longest);
  group_ = group;
  next_ = 0;
  suffix_ = text();
  key_ = AsBytes(common_).data();
  key_size_ = common;
  return absl::OkStatus();
}

void FsstDecoder::ReserveText(size_t size) {
  group_ = kNoGroup;
  if (size + 2 * kSlack <= text_capacity_) return;
  text_capacity_ = std::max(size + 2 * kSlack, 2 * text_capacity_);
  text_memory_.reset(new uint8_t[text_capacity_]());
}

void FsstDecoder::ReserveArena(size_t size, size_t keep) {
  if (size <= arena_size_) return;
  arena_size_ = std::max(size, 2 * arena_size_);
  std::unique_ptr<uint8_t[]> arena(new uint8_t[arena_size_]);
  if (keep > 0) std::memcpy(arena.get(), arena_.get(), keep);
  if (key_ == arena_.get()) key_ = arena.get();
  arena_ = std::move(arena);
}

absl::Status FsstDecoder::CatchUp() {
  const uint32_t group = position_ / kFsstGroupValues;
  const uint32_t index = position_ % kFsstGroupValues;
  if (group_ != group || next_ > index) CFILE_RETURN_IF_ERROR(LoadGroup(group));
  if (next_ > 0) {
    std::memmove(arena_.get(), key_, key_size_);
    key_ = arena_.get();
  }
  if (next_ < index) ReserveArena(longest_ + kSlack, next_ > 0 ? key_size_ : 0);
  for (; next_ < index; ++next_) {
    // Write the suffix over the end of the value before.
    uint8_t* const to = arena_.get();
    if (next_ == 0) std::copy(common_.begin(), common_.end(), to);
    if (suffixes_[next_] > 0) std::memcpy(to + shared_[next_], suffix_, suffixes_[next_]);
    key_ = to;
    key_size_ = size_t{shared_[next_]} + suffixes_[next_];
    suffix_ += suffixes_[next_];
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> FsstDecoder::Read(std::span<std::string_view> out) {
  const size_t wanted = Left(out.size());
  if (wanted == 0) return size_t{0};
  if (separate()) return ReadSeparate(out.first(wanted));
  CFILE_RETURN_IF_ERROR(CatchUp());
  size_t used = next_ > 0 ? key_size_ : 0;  // the key is at the front of the arena
  ReserveArena(used + std::min(kArenaBytes, wanted * kMaxShortStringBytes + 4096), used);
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
          ReserveArena(used + shared + suffix + kSlack, used);
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

absl::Status FsstCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                 const BlockView& block, BlockDescription& description) {
  if (block.count == 0) return absl::OkStatus();
  FsstHeader header;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block.bytes, block.count, header));
  const bool separate = header.form == FsstForm::kSeparate;
  CFILE_RETURN_IF_ERROR(description.AddByte("form").status());
  description.Explain(separate ? "values are compressed one by one" : "front-coded");
  CFILE_RETURN_IF_ERROR(description.AddVint32("size of the common prefix").status());
  CFILE_RETURN_IF_ERROR(description.AddBytes(header.common.size(), "common prefix"));
  const uint32_t groups = FsstGroups(block.count);
  CFILE_RETURN_IF_ERROR(description.AddNumbers<uint32_t>(groups, "offsets of the groups"));
  for (uint32_t i = 0; i < groups && !description.full(); ++i) {
    const size_t begin = description.reader().offset();
    const std::span<const uint8_t> bytes = FsstGroupBytes(block.bytes, header, groups, i);
    const uint32_t count = FsstGroupCount(block.count, i);
    FsstGroup group;
    if (bytes.data() != block.bytes.data() + begin ||
        !ParseFsstGroup(header.form, bytes, count, group))
      return DataLoss("group ", i, " is cut off, or does not begin at byte ", begin);
    const char* const width = separate ? "width of the sizes" : "width of the shared sizes";
    CFILE_RETURN_IF_ERROR(description.AddByte(width).status());
    description.Explain(!group.compressed ? "the text is not compressed"
                        : separate        ? "each value is compressed"
                                          : "the text is compressed");
    description.BeginStructure();
    if (!separate) {
      CFILE_RETURN_IF_ERROR(description.AddByte("width of the suffix sizes").status());
      CFILE_RETURN_IF_ERROR(description.AddVint32("size of the first suffix").status());
      CFILE_RETURN_IF_ERROR(description.AddVint32("least shared size").status());
    }
    CFILE_RETURN_IF_ERROR(
        description.AddVint32(separate ? "least size" : "least suffix size").status());
    CFILE_RETURN_IF_ERROR(description.AddBytes(group.shared.size(), "packed shared sizes"));
    CFILE_RETURN_IF_ERROR(description.AddBytes(group.suffixes.size(),
                                               separate ? "packed sizes" : "packed suffix sizes"));
    CFILE_RETURN_IF_ERROR(description.AddBytes(
        group.text.size(), group.compressed ? "codes" : "text", StrCat(count, " values")));
    description.EndStructure();
  }
  description.AddRest("further groups");
  return absl::OkStatus();
}

absl::Status FsstCodec::CheckWithoutDictionary(BlockView& block) {
  FsstHeader header;
  CFILE_RETURN_IF_ERROR(ParseFsstHeader(block.bytes, block.count, header));
  const uint32_t groups = FsstGroups(block.count);
  for (uint32_t i = 0; i < groups; ++i) {
    const std::span<const uint8_t> bytes = FsstGroupBytes(block.bytes, header, groups, i);
    FsstGroup group;
    if (!ParseFsstGroup(header.form, bytes, FsstGroupCount(block.count, i), group))
      return DataLoss("fsst: group ", i, " is cut off, or its offset is wrong");
  }
  return absl::OkStatus();
}

}  // namespace cfile::encodings
