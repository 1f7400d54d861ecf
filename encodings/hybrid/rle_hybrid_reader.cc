#include "encodings/hybrid/rle_hybrid.h"

#include <algorithm>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/hybrid/fill_run.h"
#include "encodings/kernels/bit_appender.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/count_ones.h"

namespace cfile::encodings {
namespace {

constexpr uint64_t kRunsPerCheckpoint = 32;
constexpr uint64_t kLiteralsPerCheckpoint = 4096;

// Copies `count` values from `in` to `out`. May read up to `available` bytes and overwrite up to
// `room` values.
template <typename T>
inline void CopyRun(T* out, size_t count, size_t room, const uint8_t* in, size_t available) {
  constexpr size_t kShort = kShortRunBytes / sizeof(T);
  if (room < kShort || available < kShortRunBytes) {
    std::memcpy(out, in, count * sizeof(T));
    return;
  }
  std::memcpy(out, in, kShortRunBytes);
  if (count > kShort) std::memcpy(out + kShort, in + kShortRunBytes, (count - kShort) * sizeof(T));
}

// Copies short runs, of at most 48 bits, from `next` on to `out`, two per step, without a branch on
// their bits; many of Kudu's streams consist of short runs. Moves `next` past the runs and returns
// the number of bits. Stops before `room` bits would be exceeded, and before any run that is
// longer, malformed or incomplete.
uint64_t CopyShortRuns(const uint8_t*& next, const uint8_t* end, uint64_t room, BitAppender& out) {
  BitAppender appender = out;
  const uint8_t* p = next;
  uint64_t passed = 0;
  bool plain = true;
  while (plain && end - p >= 16 && room - passed >= 128) {
    // The second header is also taken from this word: that is faster than another load.
    uint64_t headers = LoadLittleEndian<uint64_t>(p);
    for (int run = 0; run < 2; ++run) {
      const uint64_t literal = headers & 1;
      const uint64_t repeated = literal - 1;  // all bits are 1 if the run is repeated
      const uint64_t length = (headers & 0xff) >> 1;
      const uint64_t count = length << (3 * literal);
      const uint64_t body = LoadLittleEndian<uint64_t>(p + 1);
      plain = count - 1 < 48 && (body & repeated & 0xff) <= 1;
      if (!plain) break;
      const uint64_t bits = (body & ~repeated) | (-(body & 1) & repeated);
      appender.AppendWide(bits & LowBits(static_cast<int>(count)), static_cast<int>(count));
      const uint64_t bytes = 1 + (literal != 0 ? length : 1);  // at most 7
      headers >>= 8 * bytes;
      p += bytes;
      passed += count;
    }
  }
  next = p;
  out = appender;
  return passed;
}

}  // namespace

void RleHybridReader::Open(std::span<const uint8_t> bytes, int width,
                           std::span<const HybridCheckpoint> known) {
  CFILE_ASSERT(0 <= width && width <= kMaxHybridWidth);
  begin_ = bytes.data();
  cursor_ = {};
  cursor_.next = begin_;
  cursor_.end = begin_ + bytes.size();
  cursor_.width = width;
  position_ = 0;
  checked_ = 0;
  checkpoints_.clear();
  known_ = known;
}

void RleHybridReader::ForgetCheckpoints() {
  known_ = {};
  checkpoints_.clear();
  checked_ = 0;
  GoTo({});
}

std::string WhyNoHybridRun(const uint8_t* p, const uint8_t* end, int width) {
  ByteReader reader({p, end});
  uint32_t header;
  if (reader.empty()) return "the bytes end before the run";
  if (!reader.ReadVint32(header)) return "its header is not a vint of at most 32 bits";
  if (header >> 1 == 0) return "its length is 0, expected at least 1";
  if ((header & 1) != 0) {
    const std::string groups = StrCat(header >> 1, " literal groups");
    if (header >> 1 > kMaxLiteralGroups)
      return StrCat("it has ", groups, ", expected at most ", kMaxLiteralGroups);
    return StrCat("the bytes end before the first value of its ", groups);
  }
  const int value_bytes = (width + 7) / 8;
  if (reader.remaining() < static_cast<size_t>(value_bytes))
    return StrCat("its value takes ", value_bytes, " bytes, found ", reader.remaining());
  return "its value has more bits than the width";
}

absl::Status RleHybridReader::Damaged(const HybridCursor& cursor, uint64_t position) const {
  return DataLoss("RLE-hybrid of width ", cursor.width, ": run at byte ", cursor.next - begin_,
                  " of ", cursor.end - begin_, ", for value ", position, ": ",
                  WhyNoHybridRun(cursor.next, cursor.end, cursor.width));
}

template <typename T>
absl::Status RleHybridReader::Read(T* out, size_t count) {
  CFILE_ASSERT(cursor_.width <= static_cast<int>(8 * sizeof(T)));
  HybridCursor cursor = cursor_;
  size_t done = 0;
  while (done < count) {
    if (cursor.left == 0 && !cursor.NextRun()) return Damaged(cursor, position_ + done);
    const size_t room = count - done;
    const size_t taken = static_cast<size_t>(std::min<uint64_t>(cursor.left, room));
    if (cursor.literals == nullptr) {
      FillRun(out + done, taken, room, static_cast<T>(cursor.value));
    } else if (cursor.width == static_cast<int>(8 * sizeof(T))) {
      const uint8_t* const in = cursor.literals + cursor.first * sizeof(T);
      CopyRun(out + done, taken, room, in, static_cast<size_t>(cursor.end - in));
    } else {
      UnpackBits(cursor.packed(), cursor.width, cursor.first, out + done, taken);
    }
    cursor.Pass(taken);
    done += taken;
  }
  cursor_ = cursor;
  position_ += count;
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> RleHybridReader::ReadBits(size_t count, uint8_t* bits) {
  CFILE_ASSERT(cursor_.width == 1);
  HybridCursor cursor = cursor_;
  BitAppender out(bits);
  uint64_t left = count;
  while (left > 0) {
    if (cursor.left == 0) {
      left -= CopyShortRuns(cursor.next, cursor.end, left, out);
      if (!cursor.NextRun()) return Damaged(cursor, position_ + count - left);
    }
    const uint64_t taken = std::min(cursor.left, left);
    if (cursor.literals == nullptr) {
      out.AppendRepeated(cursor.value != 0, taken);
    } else {
      out.AppendPacked(cursor.packed(), cursor.first, taken);
    }
    cursor.Pass(taken);
    left -= taken;
  }
  out.Finish();
  cursor_ = cursor;
  position_ += count;
  return CountOnes({bits, (count + 7) / 8}, 0, count);
}

absl::StatusOr<uint64_t> RleHybridReader::Peek() const {
  HybridCursor cursor = cursor_;
  if (cursor.left == 0 && !cursor.NextRun()) return Damaged(cursor, position_);
  return cursor.ValueAt(cursor.first);
}

bool RleHybridReader::MoveToCheckpoint(const Checkpoint& checkpoint, HybridCursor& cursor) const {
  if (checkpoint.offset > static_cast<uint64_t>(cursor.end - begin_)) return false;
  cursor.next = begin_ + checkpoint.offset;
  cursor.first = cursor.left = 0;
  if (checkpoint.passed == 0) return true;
  if (!cursor.NextRun() || cursor.left < checkpoint.passed) return false;
  cursor.Pass(checkpoint.passed);
  return true;
}

bool RleHybridReader::GoTo(const Checkpoint& checkpoint) {
  position_ = checkpoint.position;
  return MoveToCheckpoint(checkpoint, cursor_);
}

absl::StatusOr<std::vector<HybridCheckpoint>> RleHybridReader::FindCheckpoints(uint64_t count) {
  known_ = {};
  CFILE_RETURN_IF_ERROR(PassTo(count, /*may_begin_here=*/false).status());
  return checkpoints_;
}

absl::Status RleHybridReader::SeekTo(uint64_t position) {
  const uint64_t index = position - (position_ - cursor_.first);  // in the current run
  if (const uint64_t size = cursor_.first + cursor_.left; index < size) {
    cursor_.first = index;
    cursor_.left = size - index;
    position_ = position;
    return absl::OkStatus();
  }
  return PassTo(position, /*may_begin_here=*/true).status();
}

absl::StatusOr<uint64_t> RleHybridReader::SeekAndCountOnes(uint64_t position) {
  CFILE_ASSERT(cursor_.width == 1);
  return PassTo(position, /*may_begin_here=*/false);
}

absl::Status RleHybridReader::RanksOfOnes(std::span<const uint32_t> positions, uint32_t* ranks) {
  CFILE_ASSERT(cursor_.width == 1);
  HybridCursor cursor;
  uint64_t at = 0;
  uint64_t ones = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    const uint64_t position = positions[i];
    // A seek uses checkpoints, and makes new ones, unless the way is short, which is faster without
    // them.
    if (i == 0 || position - at > kLiteralsPerCheckpoint) {
      CFILE_ASSIGN_OR_RETURN(ones, PassTo(position, /*may_begin_here=*/false));
      cursor = cursor_;
      at = position;
    }
    while (true) {
      if (cursor.left == 0 && !cursor.NextRun()) return Damaged(cursor, at);
      if (at == position) break;
      const uint64_t taken = std::min(cursor.left, position - at);
      ones += cursor.literals == nullptr ? cursor.value * taken
                                         : CountOnes(cursor.packed(), cursor.first, taken);
      cursor.Pass(taken);
      at += taken;
    }
    ranks[i] = cursor.ValueAt(cursor.first) != 0 ? static_cast<uint32_t>(ones) : kNotOne;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> RleHybridReader::PassTo(uint64_t position, bool may_begin_here) {
  if (checkpoints_.empty() && known_.empty()) checkpoints_.push_back({});
  const auto all = checkpoints();
  const auto after =
      std::upper_bound(all.begin(), all.end(), position,
                       [](uint64_t wanted, const Checkpoint& at) { return wanted < at.position; });
  const bool passes_last = after == all.end() && known_.empty();
  // After the last checkpoint, begin at the current position only if few values are left to pass,
  // because no checkpoints are made then.
  const bool begins_here = may_begin_here && after[-1].position <= position_ &&
                           position_ <= position &&
                           (!passes_last || position - position_ <= kLiteralsPerCheckpoint);
  HybridCursor cursor = cursor_;
  uint64_t at = position_;
  uint64_t ones = after[-1].ones;
  uint64_t runs = 0;
  uint64_t literals = 0;
  if (!begins_here) {
    at = after[-1].position;
    if (!MoveToCheckpoint(after[-1], cursor)) {
      ForgetCheckpoints();
      return PassTo(position, may_begin_here);
    }
  }
  while (at < position) {
    if (cursor.left == 0) {
      if (!cursor.NextRun()) return Damaged(cursor, at);
      ++runs;
    }
    uint64_t taken = std::min(cursor.left, position - at);
    const bool counts = cursor.width == 1 && !begins_here;
    if (cursor.literals != nullptr) {
      if (counts) {
        taken = std::min(taken, kLiteralsPerCheckpoint);
        ones += CountOnes(cursor.packed(), cursor.first, taken);
      }
      literals += taken;
    } else if (counts) {
      ones += cursor.value * taken;
    }
    cursor.Pass(taken);
    at += taken;
    if (passes_last && !begins_here &&
        (runs >= kRunsPerCheckpoint || literals >= kLiteralsPerCheckpoint)) {
      checkpoints_.push_back({at, ones, static_cast<uint64_t>(cursor.run - begin_), cursor.first});
      runs = 0;
      literals = 0;
    }
  }
  cursor_ = cursor;
  position_ = position;
  if (!begins_here) checked_ = std::max(checked_, position);
  return ones;
}

absl::StatusOr<uint64_t> RleHybridReader::SeekToLowerBound(uint64_t key, uint64_t flip,
                                                           uint64_t count) {
  const auto less = [key, flip](uint64_t value) { return (value ^ flip) < key; };
  // Seek to `count` once, so that there are checkpoints for all of the values.
  if (known_.empty() && (checked_ < count || checkpoints_.empty()))
    CFILE_RETURN_IF_ERROR(PassTo(count, /*may_begin_here=*/false).status());

  bool sound = true;
  const auto all = checkpoints();
  const auto after = std::partition_point(all.begin() + 1, all.end(), [&](const Checkpoint& at) {
    if (at.position >= count || !sound) return false;
    sound = GoTo(at);
    if (!sound) return false;
    const absl::StatusOr<uint64_t> value = Peek();
    return value.ok() && less(*value);
  });
  if (!sound || !GoTo(after[-1])) {
    ForgetCheckpoints();
    return SeekToLowerBound(key, flip, count);
  }
  while (position_ < count) {
    if (cursor_.left == 0 && !cursor_.NextRun()) return Damaged(cursor_, position_);
    const uint64_t held = std::min(cursor_.left, count - position_);
    uint64_t passed = 0;  // number of values less than the key
    if (cursor_.literals == nullptr) {
      passed = less(cursor_.value) ? held : 0;
    } else {
      for (uint64_t end = held; passed < end;) {
        const uint64_t middle = passed + (end - passed) / 2;
        if (less(cursor_.ValueAt(cursor_.first + middle))) {
          passed = middle + 1;
        } else {
          end = middle;
        }
      }
    }
    cursor_.Pass(passed);
    position_ += passed;
    if (passed < held) break;
  }
  return position_;
}

template absl::Status RleHybridReader::Read<uint8_t>(uint8_t*, size_t);
template absl::Status RleHybridReader::Read<uint16_t>(uint16_t*, size_t);
template absl::Status RleHybridReader::Read<uint32_t>(uint32_t*, size_t);
template absl::Status RleHybridReader::Read<uint64_t>(uint64_t*, size_t);

}  // namespace cfile::encodings
