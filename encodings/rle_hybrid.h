// The RLE/bit-packed hybrid of Parquet and Kudu: runs of one repeated value, and literal runs of
// bit-packed groups of 8 (cfile/FORMAT.md, RLE-hybrid).
//
//   run      := repeated | literal
//   repeated := vint(count << 1), value in ceil(width / 8) bytes, little-endian
//   literal  := vint(groups << 1 | 1), 8 * groups values bit-packed, least significant bit first
//
// The stream does not say how many values it holds; the caller does. No 4-byte length here: whoever
// needs it writes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encodings/bit_packing.h"
#include "encodings/bytes.h"
#include "encodings/status.h"

namespace cfile::encodings {

// Widest values of the hybrid, in bits. (Parquet stops at 32; Kudu's RLE of integers goes to 64.)
inline constexpr int kMaxHybridWidth = 64;

// Most values of a run, of either kind (Parquet: bit-packed-run-len and rle-run-len are in
// [1, 2^31 - 1], and the former counts values), and most groups of 8 that are no more.
inline constexpr uint64_t kMaxRunValues = (uint64_t{1} << 31) - 1;
inline constexpr uint64_t kMaxLiteralGroups = kMaxRunValues / 8;

// A run of a stream that is read.
struct HybridRun {
  const uint8_t* literals = nullptr;  // nullptr: repeated (as literals of width 0 are)
  uint64_t value = 0;                 // repeated
  uint64_t count = 0;                 // of values that are there, at least 1
  const uint8_t* next = nullptr;      // behind it
};

// The run that begins at `p`, of a stream of this width that ends at `end`: the last literal run
// may end with its last value's bits. False if it is malformed; WhyNoHybridRun then says why, for
// messages.
inline bool ParseHybridRun(const uint8_t* p, const uint8_t* end, int width, HybridRun& run) {
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
    if (length > kMaxLiteralGroups) return false;
    const uint64_t bytes = length * static_cast<uint64_t>(width);
    run.count = width == 0 || bytes <= available ? 8 * length
                                                 : 8 * available / static_cast<uint64_t>(width);
    if (run.count == 0) return false;
    run.literals = width == 0 ? nullptr : p;
    run.value = 0;
    run.next = p + std::min(bytes, available);
    return true;
  }
  const size_t value_bytes = static_cast<size_t>((width + 7) / 8);
  uint64_t value = 0;
  if (available < value_bytes) return false;
  if (available >= 8) {
    value = LoadLittleEndian<uint64_t>(p) & LowBits(static_cast<int>(8 * value_bytes));
  } else if (value_bytes > 0) {
    std::memcpy(&value, p, value_bytes);
  }
  if (value > LowBits(width)) return false;
  run.literals = nullptr;
  run.value = value;
  run.count = length;
  run.next = p + value_bytes;
  return true;
}
std::string WhyNoHybridRun(const uint8_t* p, const uint8_t* end, int width);

// How the last literal group of a stream ends.
enum class LastGroup {
  kWhole,      // 8 values, filled with zeros, as Parquet demands
  kTruncated,  // at the byte that holds the last value's last bit, as Kudu writes it
};

// Appends runs of values of one width to its own buffer. Thread-compatible.
class RleHybridEncoder {
 public:
  // Precondition: 0 <= width <= kMaxHybridWidth. kudu_exact: a run begins at a group boundary as
  // soon as 8 equal values follow, and a literal run has at most 63 groups, as Kudu has it.
  // Otherwise literal runs go on, and narrow values (less than 8 bits) repeat only where that is
  // worth a change of runs to the reader; the stream is never longer than with kudu_exact and the
  // same LastGroup.
  RleHybridEncoder(int width, bool kudu_exact);

  // Appends `count` times `value`; takes a time independent of `count`. Precondition:
  // value < 2^width.
  void PutRun(uint64_t value, uint64_t count);

  // Appends the values one after the other; T is an unsigned integer. Precondition:
  // each value < 2^width.
  template <typename T>
  void PutValues(std::span<const T> values);

  // Appends the lowest `count` bits, the least significant first. Preconditions: the width is 1;
  // 1 <= count <= 64.
  void PutBits(uint64_t bits, int count);

  // Bytes so far, without a pending run and a pending group (what Kudu calls the encoded size).
  size_t size_bytes() const;

  // Appends the whole stream to `out` and begins anew.
  void Finish(ByteWriter& out, LastGroup last_group);

 private:
  // Narrow values, not kudu_exact: Kudu's stream of the settled values, in numbers, against our
  // own. It pays for what joins a literal run although repeating would be shorter.
  struct Ledger {
    uint64_t open_values = 0;  // in Kudu's open literal run
    int64_t ahead_values = 0;  // in our literal runs less those in Kudu's
    // Of headers and repeated values. Our open literal run's header counts charged_bytes.
    int64_t saved_bytes = 0;
    int charged_bytes = 0;

    [[gnu::always_inline]] inline void AddKuduLiterals(uint64_t count);
    void Charge(int header_bytes) {
      saved_bytes -= header_bytes;
      charged_bytes += header_bytes;
    }
  };
  bool has_ledger() const { return !kudu_exact_ && 0 < width_ && width_ < 8; }

  // Decides on the pending run: how many of its values continue the literal run; the others are
  // repeated.
  uint64_t ChooseLiterals(std::optional<LastGroup> last);
  // Writes the pending run. `last`: no value follows, and how the stream ends.
  void Settle(std::optional<LastGroup> last);
  // (What is inline below is small and called for every few values.)
  // Literals with any policy: the lowest `count` of `bits`, no 8 of which are equal in a row.
  // Precondition: the width is 1.
  [[gnu::always_inline]] inline void AppendShortRuns(uint64_t bits, int count);
  [[gnu::always_inline]] inline void AppendBits(uint64_t bits, int count);
  void FlushBits();
  // Opens a literal run if none is open, and returns how many of `count` values it can take;
  // EndLiterals follows when it took them.
  [[gnu::always_inline]] inline uint64_t BeginLiterals(uint64_t count);
  [[gnu::always_inline]] inline void EndLiterals(uint64_t count);
  void AppendLiterals(uint64_t value, uint64_t count);
  // Precondition: whole groups, at a group boundary.
  template <typename T>
  void AppendGroups(std::span<const T> values);
  void AppendRepeated(uint64_t value, uint64_t count);
  void CloseLiteralRun(LastGroup last_group);

  int width_;
  bool kudu_exact_;
  uint64_t max_literals_;  // of one run
  uint64_t min_repeated_;  // with a ledger: a run of so many never joins the literal run
  ByteWriter out_;
  // The pending run, which the next value may continue.
  uint64_t pending_value_ = 0;
  uint64_t pending_count_ = 0;
  // The open literal run, if literal_count_ > 0: one byte for its header at literal_begin_, then
  // its values.
  uint64_t literal_count_ = 0;
  size_t literal_begin_ = 0;
  // Bits that are not in out_ yet.
  uint64_t bits_ = 0;
  int num_bits_ = 0;
  Ledger ledger_;
};

// A place of a stream that a seek may begin at.
struct HybridCheckpoint {
  uint64_t position;  // of a value
  uint64_t ones;      // values before it that are 1, for width 1
  uint64_t offset;    // of the header of the run that holds it, from the stream's front
  uint64_t passed;    // values of that run before it
};

// Reads a stream forwards, and seeks in it. Thread-compatible.
//
// Takes any run of at least 1 and at most kMaxRunValues values, a repeated run of fewer than 8, and
// a last literal run whose bytes end before its groups do: it holds the values whose bits are all
// there. What lies behind the values that the caller asks for is not
// looked at. All calls report kDataLoss where the stream ends too early, a run has no length, a
// header does not fit 32 bits, or a repeated value does not fit the width; the reader has then not
// moved.
//
// Memory: after the first seek, one checkpoint of 32 bytes for every 32 runs or 4,096 literal
// values that were passed.
class RleHybridReader {
 public:
  RleHybridReader() = default;

  // Begins at the front of `bytes`, which must outlive the use. Precondition:
  // 0 <= width <= kMaxHybridWidth.
  RleHybridReader(std::span<const uint8_t> bytes, int width) { Open(bytes, width); }
  // `known`: what FindCheckpoints gave for the same bytes and width, or none; it must outlive the
  // use. (Such as do not fit the bytes are given up when that shows, and are safe.)
  void Open(std::span<const uint8_t> bytes, int width,
            std::span<const HybridCheckpoint> known = {});

  // Values passed so far.
  uint64_t position() const { return position_; }

  // Decodes the next `count` values to `out`. T is one of uint8_t, uint16_t, uint32_t, uint64_t.
  // Precondition: width <= 8 * sizeof(T).
  template <typename T>
  absl::Status Read(T* out, size_t count);

  // Writes the next `count` values as bits to `bits`, least significant bit first from bit 0 of
  // bits[0] on (unused bits of the last byte are 0), and returns how many of them are 1.
  // Precondition: the width is 1.
  absl::StatusOr<uint64_t> ReadBits(size_t count, uint8_t* bits);

  // Goes to value `position`. Returns, if the width is 1, how many of the values before it are 1,
  // else 0.
  absl::StatusOr<uint64_t> SeekTo(uint64_t position);

  // The checkpoints of the first `count` values, for Open. Moves to value `count`.
  absl::StatusOr<std::vector<HybridCheckpoint>> FindCheckpoints(uint64_t count);

  // The value at position(), without passing it.
  absl::StatusOr<uint64_t> Peek() const;

  // Goes to the first of the values 0 to count - 1 that is not less than `key`, or to `count`, and
  // returns that position. Values compare as unsigned numbers after `flip` is exclusive-ored to
  // them: 0 for unsigned ones, the sign bit for signed ones; `key` is already flipped.
  // Precondition: the values ascend in that order (else some position is found).
  absl::StatusOr<uint64_t> SeekToLowerBound(uint64_t key, uint64_t flip, uint64_t count);

 private:
  // Where in the runs a reader is. A plain value, so that hot loops keep it in registers.
  struct Cursor {
    const uint8_t* run = nullptr;       // header of the current run
    const uint8_t* next = nullptr;      // behind the current run
    const uint8_t* end = nullptr;       // of the stream
    const uint8_t* literals = nullptr;  // of the current run; nullptr if it is repeated
    uint64_t first = 0;                 // literal value that comes next, from the run's first
    uint64_t value = 0;                 // repeated
    uint64_t left = 0;                  // values of the current run
    int width = 0;

    // Enters the next run; false if there is none or it is malformed.
    bool NextRun();
    // `count` values on. Precondition: count <= left.
    void Pass(uint64_t count) {
      first += count;
      left -= count;
    }
    // From the run's literals on, and so far beyond them as wide loads may read.
    std::span<const uint8_t> packed() const { return {literals, end}; }
    uint64_t ValueAt(uint64_t index) const;
  };
  using Checkpoint = HybridCheckpoint;

  std::span<const Checkpoint> checkpoints() const {
    return known_.empty() ? std::span<const Checkpoint>(checkpoints_) : known_;
  }
  // False if the checkpoint is none of this stream.
  bool GoTo(const Checkpoint& checkpoint);
  // Begins anew without checkpoints: the bytes are no longer those that they were made of.
  void ForgetCheckpoints();
  // Why cursor.NextRun() failed, when it was to hold the value `position`.
  absl::Status Damaged(const Cursor& cursor, uint64_t position) const;

  const uint8_t* begin_ = nullptr;
  Cursor cursor_;
  uint64_t position_ = 0;
  // A seek has passed so many values: their runs are sound, and have checkpoints.
  uint64_t checked_ = 0;
  std::vector<Checkpoint> checkpoints_;
  std::span<const Checkpoint> known_;  // of all of the stream; used instead, if any
};

}  // namespace cfile::encodings
