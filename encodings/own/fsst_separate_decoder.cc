#include "encodings/own/fsst_separate_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/compare_bytes.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {
namespace {

// A Read reserves at most this many bytes in advance.
constexpr size_t kArenaBytes = size_t{1} << 20;

}  // namespace

FsstSeparateDecoder::FsstSeparateDecoder(std::shared_ptr<const SymbolDictionary> dictionary)
    : dictionary_(std::move(dictionary)) {}

absl::Status FsstSeparateDecoder::Open(const BlockView& view) {
  block_ = view.bytes;
  first_ordinal_ = view.first_ordinal;
  count_ = position_ = 0;
  group_ = kNoGroup;
  header_ = {};
  common_ = {};
  CFILE_RETURN_IF_ERROR(OpenFsstBlock(block_, view.count, header_));
  count_ = view.count;
  common_ = AsString(header_.common);
  if (common_.size() <= sizeof(short_common_)) {
    std::copy(common_.begin(), common_.end(), short_common_);
    common_ = AsString({short_common_, common_.size()});
  }
  return absl::OkStatus();
}

absl::Status FsstSeparateDecoder::Damaged(uint32_t group, const std::string& what) const {
  return DamagedFsstGroup(count_, group, what);
}

absl::StatusOr<FsstSeparateDecoder::Run> FsstSeparateDecoder::RunFrom(uint32_t position,
                                                                      size_t most) {
  CFILE_ASSERT(position < count_);
  const uint32_t group = position / kFsstGroupValues, first = position % kFsstGroupValues;
  const uint32_t count = FsstGroupCount(count_, group);
  const Run run{first, static_cast<uint32_t>(std::min<size_t>(most, count - first))};
  if (group == group_) return run;
  group_ = kNoGroup;
  const std::span<const uint8_t> bytes = FsstGroupBytes(block_, header_, FsstGroups(count_), group);
  if (bytes.empty()) return Damaged(group, "its offset, or the offset after it, is wrong");
  FsstSeparateGroup parts;
  if (!ParseFsstSeparateGroup(bytes, count, parts))
    return Damaged(group, "its header is cut off, or a width is more than 32 bits");
  if (parts.compressed && dictionary_ == nullptr) return MissingDictionary("fsst", count_);
  // Unpack a multiple of 8 sizes if there are bytes for them, because this is faster.
  uint32_t sizes[kFsstGroupValues];
  const size_t more = (count + 7) / 8 * 8;
  const auto packed = bytes.subspan(static_cast<size_t>(parts.sizes.data() - bytes.data()));
  UnpackBits<uint32_t>(packed, parts.width, 0, sizes,
                       PackedBytes(more, parts.width) <= packed.size() ? more : count);
  uint64_t end = 0;
  for (uint32_t i = 0; i < count; ++i) {
    starts_[i] = end;
    end += uint64_t{sizes[i]} + parts.least;
  }
  starts_[count] = end;
  if (end != parts.text.size()) {
    return Damaged(group, absl::StrCat("its values take ", end, " bytes, but it has ",
                                       parts.text.size(), " bytes of text"));
  }
  compressed_ = parts.compressed;
  text_ = parts.text;
  group_ = group;
  return run;
}

absl::StatusOr<size_t> FsstSeparateDecoder::Measure(const Run& run) {
  CFILE_ASSERT(run.count == 1);
  const std::span<const uint8_t> text = TextOf(run);
  if (!compressed_) return common_.size() + text.size();
  measured_codes_.assign(text.begin(), text.end());
  const auto size = DecompressedSize(dictionary_->table, measured_codes_);
  if (!size) return Damaged(group_, kFsstWrongCode);
  return common_.size() + *size;
}

absl::StatusOr<uint8_t*> FsstSeparateDecoder::DecodeMeasured(const Run& run, uint8_t* to,
                                                             std::string_view* out) const {
  if (!compressed_) return Decode(run, common_, to, out);
  const uint64_t starts[] = {0, measured_codes_.size()};
  to = DecompressValues(dictionary_->table, common_, measured_codes_, starts, to, {out, 1});
  if (to == nullptr) return Damaged(group_, kFsstWrongCode);
  return to;
}

absl::StatusOr<uint8_t*> FsstSeparateDecoder::Decode(const Run& run, std::string_view prefix,
                                                     uint8_t* to, std::string_view* out) const {
  if (compressed_) {
    to = DecompressValues(dictionary_->table, prefix, text_,
                          {starts_ + run.first, size_t{run.count} + 1}, to, {out, run.count});
    if (to == nullptr) return Damaged(group_, kFsstWrongCode);
    return to;
  }
  for (uint32_t i = 0; i < run.count; ++i) {
    const std::span<const uint8_t> text = TextOf({run.first + i, 1});
    uint8_t* const begin = to;
    to = std::copy(prefix.begin(), prefix.end(), to);
    to = std::copy(text.begin(), text.end(), to);
    out[i] = AsString({begin, to});
  }
  return to;
}

absl::StatusOr<size_t> FsstSeparateDecoder::Read(std::span<std::string_view> out) {
  const size_t wanted = Left(out.size());
  size_t used = 0, done = 0;
  const auto reserve = [&](size_t bytes) {
    if (bytes + kValueSlack <= arena_size_) return;
    arena_size_ = std::max(bytes + kValueSlack, 2 * arena_size_);
    arena_.reset(new uint8_t[arena_size_]);
  };
  if (wanted > 0) reserve(std::min(kArenaBytes, wanted * 64 + 4096));
  while (done < wanted) {
    CFILE_ASSIGN_OR_RETURN(Run run,
                           RunFrom(position_ + static_cast<uint32_t>(done), wanted - done));
    if (!compressed_ && common_.empty()) {  // the values are used in place
      for (uint32_t i = 0; i < run.count; ++i) out[done + i] = AsString(TextOf({run.first + i, 1}));
      done += run.count;
      continue;
    }
    const size_t room = arena_size_ - kValueSlack - used;
    while (run.count > 0 && MostBytes(run) > room) --run.count;
    if (run.count == 0) {
      if (done > 0) break;
      run.count = 1;
      CFILE_ASSIGN_OR_RETURN(const size_t size, Measure(run));
      reserve(size);
      CFILE_RETURN_IF_ERROR(DecodeMeasured(run, arena_.get(), &out[0]).status());
      done = 1;
      break;
    }
    CFILE_ASSIGN_OR_RETURN(const uint8_t* const end,
                           Decode(run, common_, arena_.get() + used, &out[done]));
    used = static_cast<size_t>(end - arena_.get());
    done += run.count;
  }
  position_ += static_cast<uint32_t>(done);
  return done;
}

absl::StatusOr<size_t> FsstSeparateDecoder::ReadPacked(size_t max, PackedStrings& out) {
  const size_t wanted = Left(max);
  PackedBudget budget(out);
  uint32_t* const ends = out.ReserveOffsets(wanted);
  size_t done = 0;
  absl::Status status;
  while (done < wanted && status.ok()) {
    // Appends the next values, and returns false if no value fits.
    const auto append = [&]() -> absl::StatusOr<bool> {
      CFILE_ASSIGN_OR_RETURN(Run run,
                             RunFrom(position_ + static_cast<uint32_t>(done), wanted - done));
      size_t bytes = MostBytes(run);
      const bool measured = bytes > budget.left();  // only one value
      if (measured) {
        run.count = 1;
        CFILE_ASSIGN_OR_RETURN(bytes, Measure(run));
        if (bytes > budget.left_for_one()) return false;
      }
      std::string_view values[kFsstGroupValues];
      uint8_t* const to = out.ReserveData(bytes + kValueSlack);
      CFILE_ASSIGN_OR_RETURN(const uint8_t* const end, measured ? DecodeMeasured(run, to, values)
                                                                : Decode(run, common_, to, values));
      const auto before = static_cast<uint32_t>(out.data().size());
      for (uint32_t i = 0; i < run.count; ++i) {
        const uint8_t* const value_end = AsBytes(values[i]).data() + values[i].size();
        ends[done + i] = before + static_cast<uint32_t>(value_end - to);
      }
      out.Add(run.count, static_cast<size_t>(end - to));
      budget.Use(static_cast<size_t>(end - to));
      done += run.count;
      return true;
    };
    const absl::StatusOr<bool> appended = append();
    status = appended.status();
    if (status.ok() && !*appended) break;
  }
  if (done == 0 && !status.ok()) return status;
  position_ += static_cast<uint32_t>(done);
  return done;
}

absl::StatusOr<std::string_view> FsstSeparateDecoder::ValueAt(uint32_t position) {
  CFILE_ASSIGN_OR_RETURN(const Run run, RunFrom(position, 1));
  const size_t size = MostBytes(run);
  if (size + kValueSlack > value_.size()) value_.resize(size + kValueSlack);
  std::string_view value;
  CFILE_RETURN_IF_ERROR(Decode(run, {}, value_.data(), &value).status());
  return value;
}

absl::StatusOr<LowerBound> FsstSeparateDecoder::SeekToKey(const std::string_view& key) {
  LowerBound bound;
  position_ = 0;
  if (count_ == 0) return bound;
  if (CommonPrefix(key, common_) < common_.size()) {
    position_ = BytesLess(key, common_) ? 0 : count_;
    return LowerBound{position_, false};
  }
  // First search among the first values of the groups but the first one, then in one group.
  const std::string_view rest = key.substr(common_.size());
  absl::Status status;
  const auto less = [&](uint32_t position) {
    const auto value = ValueAt(position);
    if (!value.ok()) status = value.status();
    return value.ok() && BytesLess(*value, rest);
  };
  const uint32_t group = FindLowerBound(FsstGroups(count_) - 1, [&](uint32_t before) {
    return less((before + 1) * kFsstGroupValues);
  });
  CFILE_RETURN_IF_ERROR(status);
  const uint32_t begin = group * kFsstGroupValues;
  position_ = begin + FindLowerBound(FsstGroupCount(count_, group),
                                     [&](uint32_t i) { return less(begin + i); });
  CFILE_RETURN_IF_ERROR(status);
  bound.position = position_;
  if (position_ < count_) {
    CFILE_ASSIGN_OR_RETURN(const std::string_view found, ValueAt(position_));
    bound.exact = found == rest;
  }
  return bound;
}

std::span<const uint8_t> FsstSeparateDecoder::CodesOf(std::string_view constant) {
  if (constant != constant_) {
    constant_ = constant;
    constant_codes_ = CompressValue(dictionary_->table, constant);
  }
  return constant_codes_;
}

void FsstSeparateDecoder::MatchRun(const Run& run, std::span<const uint8_t> constant, size_t bit,
                                   uint8_t* bits) const {
  // The first 8 bytes of text and constant decide almost always. Bytes after the constant are
  // masked.
  const uint64_t size = constant.size();
  const uint64_t head = LoadText(AsString(constant));
  const uint64_t mask = size >= 8 ? ~uint64_t{0} : LowBits(static_cast<int>(8 * size));
  const uint8_t* const text = text_.data();
  const auto readable = static_cast<uint64_t>(block_.data() + block_.size() - text);
  for (uint32_t i = 0; i < run.count; ++i, ++bit) {
    const uint64_t begin = starts_[run.first + i];
    if (starts_[run.first + i + 1] - begin != size) continue;
    const uint64_t next = readable - begin >= 8 ? LoadLittleEndian<uint64_t>(text + begin)
                                                : LoadText(AsString(text_.subspan(begin, size)));
    if (((next ^ head) & mask) != 0) continue;
    if (size > 8 && std::memcmp(text + begin + 8, constant.data() + 8, size - 8) != 0) continue;
    bits[bit / 8] |= static_cast<uint8_t>(1u << bit % 8);
  }
}

absl::StatusOr<bool> FsstSeparateDecoder::ReadMatches(const std::string_view& low,
                                                      const std::string_view& high, size_t count,
                                                      uint8_t* bits) {
  if (low != high) return false;
  std::fill_n(bits, (count + 7) / 8, uint8_t{0});
  if (low.starts_with(common_)) {
    const std::string_view constant = low.substr(common_.size());
    std::span<const uint8_t> codes;
    for (size_t done = 0; done < count;) {
      CFILE_ASSIGN_OR_RETURN(const Run run,
                             RunFrom(position_ + static_cast<uint32_t>(done), count - done));
      if (compressed_ && codes.empty()) codes = CodesOf(constant);
      MatchRun(run, compressed_ ? codes : AsBytes(constant), done, bits);
      done += run.count;
    }
  }
  position_ += static_cast<uint32_t>(count);
  return true;
}

}  // namespace cfile::encodings
