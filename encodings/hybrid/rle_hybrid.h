// The RLE/bit-packed hybrid of Parquet and Kudu: repeated runs of one value, and literal runs of
// bit-packed groups of 8 values (cfile/FORMAT.md, RLE-hybrid).
//
//   run      := repeated | literal
//   repeated := vint(count << 1), value in ceil(width / 8) bytes, little-endian
//   literal  := vint(groups << 1 | 1), 8 * groups values bit-packed, least significant bit first
//
// The stream does not store the number of its values; the caller must know it. Nor does it store
// its length in bytes: the formats that need a length write it themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {

// The largest width of values, in bits. (Parquet allows at most 32 bits; Kudu's RLE of integers has
// up to 64.)
inline constexpr int kMaxHybridWidth = 64;

// A run has at most kMaxRunValues values; a literal run has at most kMaxLiteralGroups groups of 8
// values. (In Parquet, bit-packed-run-len and rle-run-len are in [1, 2^31 - 1]; both are numbers of
// values.)
inline constexpr uint64_t kMaxRunValues = (uint64_t{1} << 31) - 1;
inline constexpr uint64_t kMaxLiteralGroups = kMaxRunValues / 8;

// A parsed run of a stream.
struct HybridRun {
  const uint8_t* literals = nullptr;  // the packed values; nullptr: a repeated run, or width 0
  uint64_t value = 0;                 // the value of a repeated run
  uint64_t count = 0;                 // the number of values that the stream holds, at least 1
  const uint8_t* next = nullptr;      // the first byte after the run
};

// Parses the run at `p` of a stream of this width that ends at `end`. The last literal run may end
// before its last group is complete: run.count is then the number of values whose bits are all
// there. Returns false if the run is malformed; WhyNoHybridRun then returns the reason, for
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
  kWhole,      // after 8 values; zeros fill the group, as Parquet requires
  kTruncated,  // with the byte that holds the last value's last bit, as Kudu writes it
};

// Encodes values of one width into its own buffer. Thread-compatible.
class RleHybridEncoder {
 public:
  // kudu_exact: makes the same runs as Kudu. A repeated run begins at a group boundary as soon as 8
  // equal values follow, and a literal run has at most 63 groups. Without kudu_exact, literal runs
  // may be longer, and a short run of a narrow value (less than 8 bits) may be stored as literals,
  // because changes between runs are slow to read. The stream is never longer than with kudu_exact
  // and the same LastGroup. Precondition: 0 <= width <= kMaxHybridWidth.
  RleHybridEncoder(int width, bool kudu_exact);

  // Appends `value` `count` times, in time independent of `count`. Precondition: value < 2^width.
  void PutRun(uint64_t value, uint64_t count);

  // Appends `values`. T is an unsigned integer. Precondition: each value < 2^width.
  template <typename T>
  void PutValues(std::span<const T> values);

  // Appends the lowest `count` bits of `bits` as values, the least significant bit first.
  // Preconditions: the width is 1; 1 <= count <= 64.
  void PutBits(uint64_t bits, int count);

  // Bytes encoded so far, without a pending repeated run and an incomplete group. Kudu decides by
  // this number (plus the block's header) whether a block is full.
  size_t size_bytes() const;

  // Appends the whole stream to `out`, and empties the encoder.
  void Finish(ByteWriter& out, LastGroup last_group);

 private:
  // For narrow values without kudu_exact: compares our stream with the stream that Kudu would write
  // for the same values. The bytes saved so far limit how many repeated values may be stored as
  // literals.
  struct Ledger {
    uint64_t open_values = 0;  // values in Kudu's open literal run
    int64_t ahead_values = 0;  // values in our literal runs minus values in Kudu's literal runs
    // The bytes of headers and repeated values in Kudu's stream, minus those in ours. The header of
    // our open literal run counts as charged_bytes.
    int64_t saved_bytes = 0;
    int charged_bytes = 0;

    [[gnu::always_inline]] inline void AddKuduLiterals(uint64_t count);
    void Charge(int header_bytes) {
      saved_bytes -= header_bytes;
      charged_bytes += header_bytes;
    }
  };
  bool has_ledger() const { return !kudu_exact_ && 0 < width_ && width_ < 8; }

  // Returns how many values of the pending run continue the literal run; the remaining values
  // become a repeated run. `last`: see Settle.
  uint64_t ChooseLiterals(std::optional<LastGroup> last);
  // Appends up to 64 values. `equal_to_next`: bit i is 1 if value i equals value i + 1, and 0 from
  // the last value on. value_at(i) returns value i. append_short(begin, size) appends values as
  // literals, by AppendShortRuns.
  template <typename ValueAt, typename AppendShort>
  void PutRuns(uint64_t equal_to_next, int count, const ValueAt& value_at,
               const AppendShort& append_short);
  // Writes the pending run. `last` is set if no value follows, and says how the stream ends.
  void Settle(std::optional<LastGroup> last);
  // (The inline functions below are small and are called for every few values.)
  //
  // Appends the lowest `count` bits of `bits` as literals. Preconditions: the width is 1; no 8
  // consecutive bits are equal, so that the bits are literals with and without kudu_exact.
  [[gnu::always_inline]] inline void AppendShortRuns(uint64_t bits, int count);
  // Appends `values` as literals. Precondition: has_ledger().
  template <typename T>
  void AppendShortRuns(std::span<const T> values);
  [[gnu::always_inline]] inline void AppendBits(uint64_t bits, int count);
  void FlushBits();
  // Opens a literal run if none is open. Returns how many of `count` values it can take. The caller
  // appends them, then calls EndLiterals with their number.
  [[gnu::always_inline]] inline uint64_t BeginLiterals(uint64_t count);
  [[gnu::always_inline]] inline void EndLiterals(uint64_t count);
  void AppendLiterals(uint64_t value, uint64_t count);
  // Appends whole groups of 8 literals. Preconditions: values.size() is a multiple of 8; the open
  // literal run, if any, is at a group boundary.
  template <typename T>
  void AppendGroups(std::span<const T> values);
  void AppendRepeated(uint64_t value, uint64_t count);
  void CloseLiteralRun(LastGroup last_group);

  int width_;
  bool kudu_exact_;
  uint64_t values_per_word_;  // values that fit into 64 bits
  uint64_t max_literals_;     // a literal run has at most this many values
  uint64_t min_repeated_;     // with a ledger: this many equal values or more become a repeated run
  ByteWriter out_;
  // The pending run, which the next value may continue.
  uint64_t pending_value_ = 0;
  uint64_t pending_count_ = 0;
  // If literal_count_ > 0, a literal run is open. In out_, the run has one byte for its header at
  // literal_begin_, then its values.
  uint64_t literal_count_ = 0;
  size_t literal_begin_ = 0;
  // Bits that are not in out_ yet.
  uint64_t bits_ = 0;
  int num_bits_ = 0;
  Ledger ledger_;
};

// A position in the runs of a stream. It is a plain value, so that hot loops keep it in registers.
struct HybridCursor {
  const uint8_t* run = nullptr;       // header of the current run
  const uint8_t* next = nullptr;      // the first byte after the current run
  const uint8_t* end = nullptr;       // the end of the stream
  const uint8_t* literals = nullptr;  // values of the current run; nullptr if it is repeated
  uint64_t first = 0;                 // index of the next literal value in the run
  uint64_t value = 0;                 // the value of a repeated run, or of literals of width 0
  uint64_t left = 0;                  // the number of values that remain in the current run
  int width = 0;

  // Enters the next run. Returns false if there is none or it is malformed.
  bool NextRun() {
    HybridRun found;
    if (!ParseHybridRun(next, end, width, found)) return false;
    run = next;
    next = found.next;
    literals = found.literals;
    value = found.value;
    left = found.count;
    first = 0;
    return true;
  }
  // Moves past `count` values. Precondition: count <= left.
  void Pass(uint64_t count) {
    first += count;
    left -= count;
  }
  // The bytes from the run's first literal value to the end of the stream. They include the bytes
  // after the run, because wide loads may read them.
  std::span<const uint8_t> packed() const { return {literals, end}; }
  uint64_t ValueAt(uint64_t index) const {
    return literals == nullptr ? value : UnpackOne(packed(), width, index);
  }
};

// A position in a stream where a seek may begin.
struct HybridCheckpoint {
  uint64_t position;  // index of a value in the stream
  uint64_t ones;      // if the width is 1: the number of ones before the value
  uint64_t offset;    // offset of the header of the run that holds the value
  uint64_t passed;    // the number of values of that run before the value
};

// Reads a stream forwards, and seeks in it. Thread-compatible.
//
// Accepts every run of 1 to kMaxRunValues values, also a repeated run of fewer than 8 values. The
// last literal run may end before its last group is complete: it holds the values whose bits are
// all there. Bytes after the values that the caller asks for are ignored. All calls return
// kDataLoss if the stream ends too early, a run has length 0, a header does not fit 32 bits, or a
// repeated value does not fit the width. After an error the reader has not moved, with two
// exceptions: after SeekToLowerBound, and with checkpoints of other bytes, it may be at any
// position.
//
// Memory: from the first seek on, the reader keeps one checkpoint of 32 bytes for every 32 runs or
// 4,096 literal values that a seek has passed.
class RleHybridReader {
 public:
  RleHybridReader() = default;

  // Opens on `bytes`, which must stay valid as long as the reader uses them. Precondition: 0 <=
  // width <= kMaxHybridWidth.
  RleHybridReader(std::span<const uint8_t> bytes, int width) { Open(bytes, width); }
  // Opens like the constructor. `known`: the result of FindCheckpoints for the same bytes and
  // width, or empty; it must stay valid like `bytes`. (Checkpoints of other bytes are safe, but may
  // give wrong answers; the reader drops all of them when it finds one that does not fit.)
  void Open(std::span<const uint8_t> bytes, int width,
            std::span<const HybridCheckpoint> known = {});

  // Number of values passed so far.
  uint64_t position() const { return position_; }

  // For callers that read the runs themselves. cursor: the reader's position, which the caller
  // copies and moves. MoveTo: continues at such a copy, which has passed `count` values. Damaged:
  // the error to return if cursor.NextRun() returns false; `position` is the position of the value
  // that the run should hold.
  const HybridCursor& cursor() const { return cursor_; }
  void MoveTo(const HybridCursor& cursor, uint64_t count) {
    cursor_ = cursor;
    position_ += count;
  }
  absl::Status Damaged(const HybridCursor& cursor, uint64_t position) const;

  // Decodes the next `count` values to `out`. T is one of uint8_t, uint16_t, uint32_t, uint64_t.
  // Precondition: width <= 8 * sizeof(T).
  template <typename T>
  absl::Status Read(T* out, size_t count);

  // Writes the next `count` values as bits to `bits`, least significant bit first from bit 0 of
  // bits[0] on (unused bits of the last byte are 0), and returns how many of them are 1.
  // Precondition: the width is 1.
  absl::StatusOr<uint64_t> ReadBits(size_t count, uint8_t* bits);

  // Go to value `position`. SeekAndCountOnes returns how many of the values before it are 1.
  // Precondition of SeekAndCountOnes: the width is 1.
  absl::Status SeekTo(uint64_t position);
  absl::StatusOr<uint64_t> SeekAndCountOnes(uint64_t position);

  // Writes to `ranks`, for each position, how many values before it are 1, or kNotOne if its own
  // value is not 1. Afterwards the reader is at one of the positions. Preconditions: the width is
  // 1; the positions ascend, and the same position may occur several times.
  static constexpr uint32_t kNotOne = UINT32_MAX;
  absl::Status RanksOfOnes(std::span<const uint32_t> positions, uint32_t* ranks);

  // Returns the checkpoints of the first `count` values, for Open. Moves to value `count`.
  absl::StatusOr<std::vector<HybridCheckpoint>> FindCheckpoints(uint64_t count);

  // Returns the value at position() without moving past it.
  absl::StatusOr<uint64_t> Peek() const;

  // Goes to the first of the values 0 to count - 1 that is not less than `key`, or to `count` if
  // there is none. Returns that position. Values compare as unsigned numbers after an exclusive or
  // with `flip`: 0 for unsigned types, the sign bit for signed types. The caller has applied `flip`
  // to `key`. Precondition: the values ascend in that order; otherwise the result is an arbitrary
  // position.
  absl::StatusOr<uint64_t> SeekToLowerBound(uint64_t key, uint64_t flip, uint64_t count);

 private:
  using Checkpoint = HybridCheckpoint;

  std::span<const Checkpoint> checkpoints() const {
    return known_.empty() ? std::span<const Checkpoint>(checkpoints_) : known_;
  }
  // Move to `checkpoint`: MoveToCheckpoint moves `cursor`, GoTo moves the reader. Return false if
  // the checkpoint does not fit this stream; the position is then unspecified.
  bool MoveToCheckpoint(const Checkpoint& checkpoint, HybridCursor& cursor) const;
  bool GoTo(const Checkpoint& checkpoint);
  // Drops all checkpoints and goes to the front. Called if the checkpoints do not fit the bytes.
  void ForgetCheckpoints();
  // Goes to value `position` from the last checkpoint before it, and makes further checkpoints on
  // the way. If `may_begin_here` and the current position is nearer, begins there; then it makes no
  // checkpoints and counts no ones. Returns the number of ones before `position`.
  absl::StatusOr<uint64_t> PassTo(uint64_t position, bool may_begin_here);

  const uint8_t* begin_ = nullptr;
  HybridCursor cursor_;
  uint64_t position_ = 0;
  // PassTo has passed this many values: their runs are valid and have checkpoints.
  uint64_t checked_ = 0;
  std::vector<Checkpoint> checkpoints_;
  std::span<const Checkpoint> known_;  // given to Open; unless empty, used instead of checkpoints_
};

}  // namespace cfile::encodings
