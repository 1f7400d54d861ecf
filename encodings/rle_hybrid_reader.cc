#include <algorithm>
#include <bit>

#include "encodings/bit_packing.h"
#include "encodings/rle_hybrid.h"

namespace cfile::encodings {
namespace {

constexpr uint64_t kRunsPerCheckpoint = 64;
constexpr uint64_t kLiteralsPerCheckpoint = 4096;
// A load of 8 bytes holds so many bits from any bit on.
constexpr int kChunkBits = 56;

// Writes `count` times `value` to `out`, where `room` values may be overwritten.
template <typename T>
void FillRun(T* out, uint64_t count, uint64_t room, T value) {
  constexpr uint64_t kStep = 32 / sizeof(T);  // values of one round of stores, whose end may lie behind the run's
  const uint64_t bulk = (room - count < kStep ? count : count + kStep - 1) / kStep * kStep;
  const uint64_t pattern = value * (~uint64_t{0} / LowBits(8 * sizeof(T)));
  for (uint64_t i = 0; i < bulk; i += kStep) {
    uint8_t* const p = reinterpret_cast<uint8_t*>(out + i);
    for (int k = 0; k < 32; k += 8) StoreLittleEndian(pattern, p + k);
  }
  for (uint64_t i = bulk; i < count; ++i) out[i] = value;
}

// `count` (1 to 56) bits of `packed` from bit `first` on.
uint64_t LoadBits(std::span<const uint8_t> packed, uint64_t first, int count) {
  const size_t byte = static_cast<size_t>(first / 8);
  uint64_t word = 0;
  if (packed.size() - byte >= 8) {
    word = LoadLittleEndian<uint64_t>(packed.data() + byte);
  } else {
    std::memcpy(&word, packed.data() + byte, packed.size() - byte);
  }
  return word >> (first % 8) & LowBits(count);
}

uint64_t CountOnes(std::span<const uint8_t> packed, uint64_t first, uint64_t count) {
  uint64_t ones = 0;
  while (count > 0) {
    const int taken = static_cast<int>(std::min<uint64_t>(count, kChunkBits));
    ones += static_cast<uint64_t>(std::popcount(LoadBits(packed, first, taken)));
    first += static_cast<uint64_t>(taken);
    count -= static_cast<uint64_t>(taken);
  }
  return ones;
}

// Appends bits to a bitmap by the word.
class BitAppender {
 public:
  explicit BitAppender(uint8_t* out) : out_(out) {}

  // The lowest `count` (0 to 56) bits of `bits`, whose other bits are 0.
  void Append(uint64_t bits, int count) {
    word_ |= bits << filled_;
    filled_ += count;
    if (filled_ < 64) return;
    PutWord();
    filled_ -= 64;
    word_ = bits >> (count - filled_);  // count - filled_ = 64 - filled_ before, thus 8 to 56
  }
  void AppendRepeated(bool bit, uint64_t count) {
    const uint64_t pattern = bit ? ~uint64_t{0} : 0;
    if (count > kChunkBits) {
      const int fill = 64 - filled_;
      if (count >= static_cast<uint64_t>(fill)) {
        word_ |= pattern << filled_;
        PutWord();
        count -= static_cast<uint64_t>(fill);
        const uint64_t words = count / 64;
        std::memset(out_, static_cast<int>(pattern & 0xff), static_cast<size_t>(8 * words));
        out_ += 8 * words;
        ones_ += bit ? 64 * words : 0;
        count %= 64;
        word_ = 0;
        filled_ = 0;
      }
      for (; count > kChunkBits; count -= kChunkBits) Append(pattern & LowBits(kChunkBits), kChunkBits);
    }
    Append(pattern & LowBits(static_cast<int>(count)), static_cast<int>(count));
  }
  // Writes what is left; returns the ones of all.
  uint64_t Finish() {
    std::memcpy(out_, &word_, static_cast<size_t>((filled_ + 7) / 8));
    return ones_ + static_cast<uint64_t>(std::popcount(word_));
  }

 private:
  void PutWord() {
    StoreLittleEndian(word_, out_);
    out_ += 8;
    ones_ += static_cast<uint64_t>(std::popcount(word_));
  }

  uint8_t* out_;
  uint64_t word_ = 0;
  int filled_ = 0;
  uint64_t ones_ = 0;
};

}  // namespace

void RleHybridReader::Open(std::span<const uint8_t> bytes, int width) {
  assert(0 <= width && width <= kMaxHybridWidth);
  begin_ = bytes.data();
  cursor_ = {};
  cursor_.next = begin_;
  cursor_.end = begin_ + bytes.size();
  cursor_.width = width;
  position_ = 0;
  checked_ = 0;
  checkpoints_.clear();
}

inline bool RleHybridReader::Cursor::NextRun() {
  const uint8_t* p = next;
  uint32_t header;
  if (p != end && *p < 0x80) {
    header = *p++;
  } else {
    ByteReader reader({p, end});
    if (!reader.ReadVint32(header)) return false;
    p += reader.offset();
  }
  const uint64_t length = header >> 1;
  const uint64_t available = static_cast<uint64_t>(end - p);
  if (length == 0) return false;
  if ((header & 1) != 0) {
    const uint64_t bytes = length * static_cast<uint64_t>(width);
    const uint64_t held = width == 0 || bytes <= available ? 8 * length : 8 * available / static_cast<uint64_t>(width);
    if (held == 0) return false;
    run = next;
    next = p + std::min(bytes, available);
    literals = width == 0 ? nullptr : p;
    value = 0;
    left = held;
  } else {
    const size_t value_bytes = static_cast<size_t>((width + 7) / 8);
    uint64_t repeated = 0;
    if (available < value_bytes) return false;
    if (available >= 8) {
      repeated = LoadLittleEndian<uint64_t>(p) & LowBits(static_cast<int>(8 * value_bytes));
    } else {
      std::memcpy(&repeated, p, value_bytes);
    }
    if (repeated > LowBits(width)) return false;
    run = next;
    next = p + value_bytes;
    literals = nullptr;
    value = repeated;
    left = length;
  }
  first = 0;
  return true;
}

uint64_t RleHybridReader::Cursor::ValueAt(uint64_t index) const {
  return literals == nullptr ? value : UnpackOne(packed(), width, index);
}

absl::Status RleHybridReader::Damaged(const Cursor& cursor, uint64_t position) const {
  const std::string where = absl::StrCat("RLE-hybrid of width ", cursor.width, ": run at byte ", cursor.next - begin_,
                                         " of ", cursor.end - begin_, ", for value ", position, ": ");
  ByteReader reader({cursor.next, cursor.end});
  uint32_t header;
  if (reader.empty()) return DataLoss(where, "the bytes end before it");
  if (!reader.ReadVint32(header)) return DataLoss(where, "its header is no vint of 32 bits");
  if (header >> 1 == 0) return DataLoss(where, "its length is 0, must be at least 1");
  if ((header & 1) != 0) return DataLoss(where, "no whole value of its literals is there, it has ", header >> 1, " groups");
  const int value_bytes = (cursor.width + 7) / 8;
  if (reader.remaining() < static_cast<size_t>(value_bytes)) {
    return DataLoss(where, "its value takes ", value_bytes, " bytes, found ", reader.remaining());
  }
  return DataLoss(where, "its value does not fit the width");
}

template <typename T>
absl::Status RleHybridReader::Read(T* out, size_t count) {
  assert(cursor_.width <= static_cast<int>(8 * sizeof(T)));
  Cursor cursor = cursor_;
  size_t done = 0;
  while (done < count) {
    if (cursor.left == 0 && !cursor.NextRun()) return Damaged(cursor, position_ + done);
    const size_t room = count - done;
    const size_t taken = static_cast<size_t>(std::min<uint64_t>(cursor.left, room));
    if (cursor.literals == nullptr) {
      FillRun(out + done, taken, room, static_cast<T>(cursor.value));
    } else if (cursor.width == static_cast<int>(8 * sizeof(T))) {
      std::memcpy(out + done, cursor.literals + cursor.first * sizeof(T), taken * sizeof(T));
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
  assert(cursor_.width == 1);
  Cursor cursor = cursor_;
  BitAppender out(bits);
  uint64_t left = count;
  while (left > 0) {
    if (cursor.left == 0 && !cursor.NextRun()) return Damaged(cursor, position_ + count - left);
    uint64_t taken = std::min(cursor.left, left);
    if (cursor.literals == nullptr) {
      out.AppendRepeated(cursor.value != 0, taken);
    } else {
      taken = std::min<uint64_t>(taken, kChunkBits);
      out.Append(LoadBits({cursor.literals, cursor.end}, cursor.first, static_cast<int>(taken)), static_cast<int>(taken));
    }
    cursor.Pass(taken);
    left -= taken;
  }
  cursor_ = cursor;
  position_ += count;
  return out.Finish();
}

absl::StatusOr<uint64_t> RleHybridReader::Peek() const {
  Cursor cursor = cursor_;
  if (cursor.left == 0 && !cursor.NextRun()) return Damaged(cursor, position_);
  return cursor.ValueAt(cursor.first);
}

// A run was entered at each checkpoint, so that entering it again does not fail.
void RleHybridReader::GoTo(const Checkpoint& checkpoint) {
  cursor_.next = begin_ + checkpoint.offset;
  cursor_.left = 0;
  position_ = checkpoint.position;
  if (checkpoint.passed == 0) return;
  cursor_.NextRun();
  cursor_.Pass(checkpoint.passed);
}

absl::StatusOr<uint64_t> RleHybridReader::SeekTo(uint64_t position) {
  if (checkpoints_.empty()) checkpoints_.push_back({});
  const auto after = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), position,
                                      [](uint64_t wanted, const Checkpoint& at) { return wanted < at.position; });
  const Cursor old_cursor = cursor_;
  const uint64_t old_position = position_;
  bool passes_last = after == checkpoints_.end();
  uint64_t ones = after[-1].ones;
  uint64_t runs = 0;
  uint64_t literals = 0;
  GoTo(after[-1]);
  while (position_ < position) {
    if (cursor_.left == 0) {
      if (!cursor_.NextRun()) {
        absl::Status status = Damaged(cursor_, position_);
        cursor_ = old_cursor;
        position_ = old_position;
        return status;
      }
      ++runs;
    }
    uint64_t taken = std::min(cursor_.left, position - position_);
    if (cursor_.literals != nullptr) {
      taken = std::min(taken, kLiteralsPerCheckpoint);
      literals += taken;
      if (cursor_.width == 1) ones += CountOnes({cursor_.literals, cursor_.end}, cursor_.first, taken);
    } else if (cursor_.width == 1) {
      ones += cursor_.value * taken;
    }
    cursor_.Pass(taken);
    position_ += taken;
    if (passes_last && (runs >= kRunsPerCheckpoint || literals >= kLiteralsPerCheckpoint)) {
      checkpoints_.push_back({position_, ones, static_cast<uint64_t>(cursor_.run - begin_), cursor_.first});
      runs = 0;
      literals = 0;
    }
  }
  checked_ = std::max(checked_, position);
  return ones;
}

absl::StatusOr<uint64_t> RleHybridReader::SeekToLowerBound(uint64_t key, uint64_t flip, uint64_t count) {
  const auto less = [key, flip](uint64_t value) { return (value ^ flip) < key; };
  // To the end once, so that there are checkpoints for all of the values.
  if (checked_ < count || checkpoints_.empty()) CFILE_RETURN_IF_ERROR(SeekTo(count).status());

  absl::Status status;
  const auto after = std::partition_point(checkpoints_.begin() + 1, checkpoints_.end(), [&](const Checkpoint& at) {
    if (at.position >= count) return false;
    GoTo(at);
    const absl::StatusOr<uint64_t> value = Peek();
    if (!value.ok()) status = value.status();
    return value.ok() && less(*value);
  });
  CFILE_RETURN_IF_ERROR(status);
  GoTo(after[-1]);
  while (position_ < count) {
    if (cursor_.left == 0 && !cursor_.NextRun()) return Damaged(cursor_, position_);
    const uint64_t held = std::min(cursor_.left, count - position_);
    uint64_t passed = 0;  // values that are less
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
