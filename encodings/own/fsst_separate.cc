// Decodes blocks of FSST of form 2: each value is compressed by itself.
#include "encodings/own/fsst_decoder.h"

#include <algorithm>
#include <cstring>

#include "encodings/kernels/fsst_values.h"

namespace cfile::encodings {

absl::StatusOr<FsstDecoder::Run> FsstDecoder::RunFrom(uint32_t position, size_t most) {
  const uint32_t group = position / kFsstGroupValues, first = position % kFsstGroupValues;
  if (group != group_) CFILE_RETURN_IF_ERROR(LoadGroup(group));
  return Run{first, static_cast<uint32_t>(std::min<size_t>(most, group_count_ - first))};
}

absl::StatusOr<uint8_t*> FsstDecoder::Decode(const Run& run, uint8_t* to,
                                             std::string_view* out) const {
  if (compressed_) {
    to = DecompressValues(dictionary_->table, common_, codes_,
                          {starts_ + run.first, size_t{run.count} + 1}, to, {out, run.count});
    if (to == nullptr) return Damaged(group_, kWrongCode);
    return to;
  }
  for (uint32_t i = 0; i < run.count; ++i) {
    const std::span<const uint8_t> text = TextOf({run.first + i, 1});
    uint8_t* const begin = to;
    to = std::copy(common_.begin(), common_.end(), to);
    to = std::copy(text.begin(), text.end(), to);
    out[i] = AsString({begin, to});
  }
  return to;
}

absl::Status FsstDecoder::DecodeLarge(uint32_t value, std::string_view& out) {
  const Run run{value, 1};
  if (!compressed_) {
    ReserveArena(MostBytes(run) + kSlack);
    return Decode(run, arena_.get(), &out).status();
  }
  // The size of the value is not known in advance.
  std::span<const uint8_t> rest = TextOf(run);
  size_t used = common_.size();
  ReserveArena(used + kSlack);
  std::copy(common_.begin(), common_.end(), arena_.get());
  while (!rest.empty()) {
    const size_t more = 2 * rest.size();
    ReserveArena(used + more + kSlack, used);
    uint8_t* to = arena_.get() + used;
    if (!DecompressSymbols(dictionary_->table, more, rest, to)) return Damaged(group_, kWrongCode);
    used = static_cast<size_t>(to - arena_.get());
  }
  out = AsString({arena_.get(), used});
  return absl::OkStatus();
}

absl::StatusOr<size_t> FsstDecoder::ReadSeparate(std::span<std::string_view> out) {
  ReserveArena(std::min(kArenaBytes, out.size() * 64 + 4096));
  size_t used = 0, done = 0;
  while (done < out.size()) {
    CFILE_ASSIGN_OR_RETURN(Run run,
                           RunFrom(position_ + static_cast<uint32_t>(done), out.size() - done));
    if (!compressed_ && common_.empty()) {  // the values are used in place
      for (uint32_t i = 0; i < run.count; ++i) out[done + i] = AsString(TextOf({run.first + i, 1}));
      done += run.count;
      continue;
    }
    while (run.count > 0 && MostBytes(run) > arena_size_ - kSlack - used) --run.count;
    if (run.count == 0) {
      if (done == 0) CFILE_RETURN_IF_ERROR(DecodeLarge(run.first, out[0]));
      done = std::max<size_t>(done, 1);
      break;
    }
    CFILE_ASSIGN_OR_RETURN(const uint8_t* const end, Decode(run, arena_.get() + used, &out[done]));
    used = static_cast<size_t>(end - arena_.get());
    done += run.count;
  }
  position_ += static_cast<uint32_t>(done);
  return done;
}

absl::StatusOr<size_t> FsstDecoder::ReadPacked(size_t max, PackedStrings& out) {
  if (!separate()) return BlockDecoder::ReadPacked(max, out);
  const size_t wanted = Left(max);
  PackedBudget budget(out);
  uint32_t* const ends = out.ReserveOffsets(wanted);
  size_t done = 0;
  // Appends the next values of a group, and returns how many: 0 if the next value does not fit.
  const auto append = [&]() -> absl::StatusOr<uint32_t> {
    CFILE_ASSIGN_OR_RETURN(const Run run, RunFrom(position_, wanted - done));
    std::string_view values[kFsstGroupValues];
    const size_t most = MostBytes(run);
    if (most > budget.left()) {
      CFILE_RETURN_IF_ERROR(DecodeLarge(run.first, values[0]));
      if (!budget.Take(values[0].size())) return 0;
      out.Append({values, 1});
      return 1;
    }
    uint8_t* const to = out.ReserveData(most + kSlack);
    CFILE_ASSIGN_OR_RETURN(const uint8_t* const end, Decode(run, to, values));
    const auto before = static_cast<uint32_t>(out.data().size());
    for (uint32_t i = 0; i < run.count; ++i) {
      const uint8_t* const value_end = AsBytes(values[i]).data() + values[i].size();
      ends[done + i] = before + static_cast<uint32_t>(value_end - to);
    }
    out.Add(run.count, static_cast<size_t>(end - to));
    budget.Use(static_cast<size_t>(end - to));
    return run.count;
  };
  while (done < wanted) {
    const absl::StatusOr<uint32_t> appended = append();
    if (done == 0 && !appended.ok()) return appended.status();
    if (!appended.ok() || *appended == 0) break;
    done += *appended;
    position_ += *appended;
  }
  return done;
}

// This library writes ascending values in form 1. In blocks of other writers, the search decodes a
// value for each comparison.
absl::StatusOr<LowerBound> FsstDecoder::SeekInSeparate(std::string_view key) {
  absl::Status status;
  const LowerBound bound = SeekToKeyInPlace(key, [&](uint32_t position) {
    std::string_view value;
    position_ = position;
    if (auto read = ReadSeparate({&value, 1}); !read.ok()) status = std::move(read).status();
    return value;
  });
  position_ = bound.position;
  CFILE_RETURN_IF_ERROR(status);
  return bound;
}

absl::StatusOr<bool> FsstDecoder::ReadMatches(const std::string_view& low,
                                              const std::string_view& high, size_t count,
                                              uint8_t* bits) {
  if (!separate() || low != high) return false;
  std::fill_n(bits, (count + 7) / 8, uint8_t{0});
  if (low.starts_with(common_)) {
    const std::string_view constant = low.substr(common_.size());
    for (size_t done = 0; done < count;) {
      CFILE_ASSIGN_OR_RETURN(const Run run,
                             RunFrom(position_ + static_cast<uint32_t>(done), count - done));
      if (compressed_ && constant != constant_) {
        constant_ = constant;
        constant_codes_ = CompressValue(dictionary_->table, constant);
      }
      MatchValues(codes_, {starts_ + run.first, size_t{run.count} + 1},
                  block_.data() + block_.size(), compressed_ ? constant_codes_ : AsBytes(constant),
                  done, bits);
      done += run.count;
    }
  }
  position_ += static_cast<uint32_t>(count);
  return true;
}

}  // namespace cfile::encodings
