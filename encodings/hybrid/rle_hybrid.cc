#include "encodings/hybrid/rle_hybrid.h"

#include <bit>

#include "encodings/core/assert.h"

namespace cfile::encodings {
namespace {

// A literal run of Kudu has at most this many values, so that its header has one byte.
constexpr uint64_t kKuduMaxLiterals = 8 * 63;
// Repeated values join a literal run only while the run has fewer values than this. The run's
// header then has at most 2 bytes; it has more only if Kudu's stream needs further headers, too.
constexpr uint64_t kMaxJoinedLiterals = 8 * 8000;
constexpr int kJoinedHeaderBytes = 2;

int VintBytes(uint64_t value) { return (static_cast<int>(std::bit_width(value | 1)) + 6) / 7; }
int RepeatedBytes(uint64_t count, int width) { return VintBytes(count << 1) + (width + 7) / 8; }

// Returns the number of values that complete the last group of a literal run.
uint64_t Fill(uint64_t literal_count) { return -literal_count & 7; }

// Kudu's policy: returns how many of `count` equal values join a literal run of `literal_count`
// values; the remaining values become a repeated run.
uint64_t KuduLiterals(uint64_t literal_count, uint64_t count, bool last) {
  const uint64_t fill = Fill(literal_count);
  if (count >= fill + 8) return fill;
  if (last && count > fill && (literal_count + fill) % kKuduMaxLiterals == 0) return fill;
  return count;
}

template <typename T>
bool AllEqual(const T* group) {
  T difference = 0;
  for (int i = 1; i < 8; ++i) difference = static_cast<T>(difference | (group[i] ^ group[0]));
  return difference == 0;
}

// Returns the index of the first value from `begin` on that is not `value`, or values.size().
template <typename T>
size_t EndOfRun(std::span<const T> values, size_t begin, T value) {
  while (values.size() - begin >= 8 && values[begin] == value && AllEqual(&values[begin]))
    begin += 8;
  while (begin < values.size() && values[begin] == value) ++begin;
  return begin;
}

// LoadFour returns four 16-bit values as one number, LowestBitsOf4 the lowest bit of each of them.
// Their other bits must be 0.
uint64_t LoadFour(const uint16_t* values) {
  return LoadLittleEndian<uint64_t>(reinterpret_cast<const uint8_t*>(values));
}
uint64_t LowestBitsOf4(uint64_t values) {
  // The top four bits of the product hold the lowest bits of the four values.
  return values * (1ull << 60 | 1ull << 45 | 1ull << 30 | 1ull << 15) >> 60;
}

// Returns the lowest bits of up to 64 values. All other bits of the values are 0.
template <typename T>
uint64_t LowestBits(std::span<const T> values) {
  uint64_t bits = 0;
  size_t i = 0;
  if constexpr (sizeof(T) == 1) {
    // The top byte of the product holds the lowest bits of eight values.
    for (; i + 8 <= values.size(); i += 8)
      bits |= (LoadLittleEndian<uint64_t>(&values[i]) * 0x0102040810204080u >> 56) << i;
  }
  if constexpr (sizeof(T) == 2) {
    for (; i + 4 <= values.size(); i += 4) bits |= LowestBitsOf4(LoadFour(&values[i])) << i;
  }
  for (; i < values.size(); ++i) bits |= uint64_t{values[i]} << i;
  return bits;
}

// Returns a number whose bit i is 1 if value i equals value i + 1. Bits from the last value on are
// 0. Precondition: 1 to 64 values.
template <typename T>
uint64_t EqualToNext(std::span<const T> values) {
  uint64_t bits = 0;
  size_t i = 0;
  if constexpr (sizeof(T) == 2) {
    constexpr uint64_t kTop = 0x8000800080008000u;
    for (; i + 5 <= values.size(); i += 4) {
      const uint64_t difference = LoadFour(&values[i]) ^ LoadFour(&values[i + 1]);
      // In each group of 16 bits, the top bit is 1 if the two values differ.
      const uint64_t differs = (((difference & ~kTop) + ~kTop) | difference) & kTop;
      bits |= LowestBitsOf4((differs ^ kTop) >> 15) << i;
    }
  }
  for (; i + 1 < values.size(); ++i) bits |= uint64_t{values[i] == values[i + 1]} << i;
  return bits;
}

}  // namespace

void RleHybridEncoder::Ledger::AddKuduLiterals(uint64_t count) {
  if (count == 0) return;
  saved_bytes += open_values == 0;
  open_values += count;
  while (open_values >= kKuduMaxLiterals) {
    open_values -= kKuduMaxLiterals;
    saved_bytes += open_values > 0;
  }
}

RleHybridEncoder::RleHybridEncoder(int width, bool kudu_exact)
    : width_(width),
      kudu_exact_(kudu_exact),
      values_per_word_(width == 0 ? 64 : 64 / static_cast<uint64_t>(width)),
      max_literals_(kudu_exact ? kKuduMaxLiterals : 8 * kMaxLiteralGroups),
      min_repeated_(width == 0 ? 8 : std::max(8, 64 / width)) {
  CFILE_ASSERT(0 <= width && width <= kMaxHybridWidth);
}

void RleHybridEncoder::PutRun(uint64_t value, uint64_t count) {
  CFILE_ASSERT(value <= LowBits(width_));
  if (count == 0) return;
  if (value != pending_value_) {
    Settle(std::nullopt);
    pending_value_ = value;
  }
  pending_count_ += count;
}

template <typename T>
void RleHybridEncoder::PutValues(std::span<const T> values) {
  if (width_ == 1 || has_ledger()) {
    while (!values.empty()) {
      const auto some = values.first(std::min<size_t>(values.size(), 64));
      const auto count = static_cast<int>(some.size());
      if (width_ == 1) {
        PutBits(LowestBits(some), count);
      } else {
        PutRuns(
            EqualToNext(some), count, [&](int i) { return some[static_cast<size_t>(i)]; },
            [&](int begin, int size) {
              AppendShortRuns(some.subspan(static_cast<size_t>(begin), static_cast<size_t>(size)));
            });
      }
      values = values.subspan(some.size());
    }
    return;
  }
  for (size_t i = 0; i < values.size();) {
    if (values[i] != pending_value_ || pending_count_ == 0) {
      Settle(std::nullopt);
      // A repeated run can begin only at a group boundary, so the values that complete a group are
      // literals, and so are whole groups whose values differ.
      if (literal_count_ % 8 != 0) {
        const size_t fill = std::min<size_t>(Fill(literal_count_), values.size() - i);
        for (size_t k = 0; k < fill; ++k) AppendLiterals(values[i + k], 1);
        i += fill;
      }
      if (literal_count_ % 8 == 0) {
        const size_t begin = i;
        while (values.size() - i >= 8 && !AllEqual(&values[i])) i += 8;
        AppendGroups(values.subspan(begin, i - begin));
      }
      if (i == values.size()) return;
      pending_value_ = values[i];
    }
    const size_t end = EndOfRun(values, i, static_cast<T>(pending_value_));
    pending_count_ += end - i;
    i = end;
  }
}

void RleHybridEncoder::PutBits(uint64_t bits, int count) {
  CFILE_ASSERT(width_ == 1 && 1 <= count && count <= 64);
  bits &= LowBits(count);
  PutRuns(
      ~(bits ^ bits >> 1) & LowBits(count - 1), count, [bits](int i) { return bits >> i & 1; },
      [&](int begin, int size) { AppendShortRuns(bits >> begin & LowBits(size), size); });
}

template <typename ValueAt, typename AppendShort>
void RleHybridEncoder::PutRuns(uint64_t equal_to_next, int count, const ValueAt& value_at,
                               const AppendShort& append_short) {
  const auto run_length = [=](int begin) { return std::countr_one(equal_to_next >> begin) + 1; };
  // Bit i of `equal` is 1 if values i to i + 7 are equal.
  uint64_t equal = equal_to_next;
  equal &= equal >> 1;
  equal &= equal >> 2;
  equal &= equal >> 3;
  const uint64_t changes = ~equal_to_next & LowBits(count - 1);
  const int last_run = static_cast<int>(std::bit_width(changes));

  int begin = 0;
  if (pending_count_ > 0 && pending_value_ == value_at(0)) {
    begin = run_length(0);
    pending_count_ += static_cast<uint64_t>(begin);
  }
  while (begin < count) {
    Settle(std::nullopt);
    // Append all runs of fewer than 8 values up to the next longer run, or up to the last run.
    const int next = std::min(last_run, begin + std::countr_zero(equal >> begin));
    if (next > begin) append_short(begin, next - begin);
    const int length = run_length(next);
    pending_value_ = value_at(next);
    pending_count_ = static_cast<uint64_t>(length);
    begin = next + length;
  }
}

size_t RleHybridEncoder::size_bytes() const {
  const uint64_t pending = KuduLiterals(literal_count_, pending_count_, false);
  const uint64_t groups = (literal_count_ + pending) / 8;
  const size_t closed = literal_count_ > 0 ? literal_begin_ : out_.size();
  if (groups == 0) return closed;
  // This is also right with kudu_exact: 64 groups are two runs, whose headers of 1 byte each take
  // as many bytes as the one header counted here.
  return closed + static_cast<size_t>(VintBytes(groups << 1)) +
         static_cast<size_t>(groups * static_cast<uint64_t>(width_));
}

void RleHybridEncoder::Finish(ByteWriter& out, LastGroup last_group) {
  Settle(last_group);
  CloseLiteralRun(last_group);
  out.PutBytes(out_.span());
  out_.Clear();
  ledger_ = {};
}

uint64_t RleHybridEncoder::ChooseLiterals(std::optional<LastGroup> last) {
  if (kudu_exact_) return KuduLiterals(literal_count_, pending_count_, last.has_value());
  const uint64_t fill = Fill(literal_count_);
  if (!has_ledger()) {
    // A repeated run of at least 8 values saves bytes. At the end of the stream, 2 values are
    // enough (they have at least 8 bits each), or 1 value if a literal would need a whole group.
    const uint64_t pays = !last ? 8 : *last == LastGroup::kTruncated ? 2 : 1;
    return pending_count_ >= fill + pays ? fill : pending_count_;
  }
  Ledger& ledger = ledger_;
  const uint64_t kudu_literals = KuduLiterals(ledger.open_values, pending_count_, last.has_value());
  ledger.AddKuduLiterals(kudu_literals);
  if (kudu_literals == pending_count_) return pending_count_;

  const uint64_t kudu_repeated = pending_count_ - kudu_literals;
  ledger.saved_bytes += RepeatedBytes(kudu_repeated, width_);
  ledger.open_values = 0;
  // If all pending values join our literal run, our literal runs have at most ahead / 8 groups
  // (rounded up) more than Kudu's, whatever values follow. If instead the values after the open
  // group become a repeated run, this bound does not grow. So saved_bytes must cover only values
  // that join.
  const int64_t ahead = ledger.ahead_values + static_cast<int64_t>(kudu_repeated);
  const int header = kJoinedHeaderBytes - ledger.charged_bytes;
  const bool joins = pending_count_ - fill < min_repeated_ && literal_count_ < kMaxJoinedLiterals &&
                     header + width_ * ((ahead + 7) >> 3) <= ledger.saved_bytes;
  if (joins || pending_count_ <= fill) {
    ledger.ahead_values = ahead;
    ledger.Charge(header);
    return pending_count_;
  }
  ledger.ahead_values += static_cast<int64_t>(fill) - static_cast<int64_t>(kudu_literals);
  ledger.saved_bytes -= RepeatedBytes(pending_count_ - fill, width_);
  return fill;
}

void RleHybridEncoder::Settle(std::optional<LastGroup> last) {
  if (pending_count_ == 0) return;
  uint64_t literals = pending_count_;
  if (literals >= 8 || last.has_value()) {
    literals = ChooseLiterals(last);
  } else {
    ledger_.AddKuduLiterals(literals);
  }
  AppendLiterals(pending_value_, literals);
  AppendRepeated(pending_value_, pending_count_ - literals);
  pending_count_ = 0;
}

void RleHybridEncoder::AppendShortRuns(uint64_t bits, int count) {
  ledger_.AddKuduLiterals(static_cast<uint64_t>(count));
  while (count > 0) {
    const int taken = static_cast<int>(BeginLiterals(static_cast<uint64_t>(count)));
    AppendBits(bits & LowBits(taken), taken);
    EndLiterals(static_cast<uint64_t>(taken));
    bits = taken < 64 ? bits >> taken : 0;
    count -= taken;
  }
}

template <typename T>
void RleHybridEncoder::AppendShortRuns(std::span<const T> values) {
  ledger_.AddKuduLiterals(values.size());
  while (!values.empty()) {
    const uint64_t taken = BeginLiterals(std::min<uint64_t>(values.size(), values_per_word_));
    uint64_t bits = 0;
    int num_bits = 0;
    for (const T value : values.first(static_cast<size_t>(taken))) {
      bits |= uint64_t{value} << num_bits;
      num_bits += width_;
    }
    AppendBits(bits, num_bits);
    EndLiterals(taken);
    values = values.subspan(static_cast<size_t>(taken));
  }
}

void RleHybridEncoder::AppendBits(uint64_t bits, int count) {
  if (count == 0) return;
  bits_ |= bits << num_bits_;
  num_bits_ += count;
  if (num_bits_ < 64) return;
  out_.PutFixed(bits_);
  num_bits_ -= 64;
  bits_ = num_bits_ > 0 ? bits >> (count - num_bits_) : 0;
}

void RleHybridEncoder::FlushBits() {
  const size_t bytes = static_cast<size_t>((num_bits_ + 7) / 8);
  out_.PutBytes({reinterpret_cast<const uint8_t*>(&bits_), bytes});
  bits_ = 0;
  num_bits_ = 0;
}

uint64_t RleHybridEncoder::BeginLiterals(uint64_t count) {
  if (literal_count_ == 0) {
    literal_begin_ = out_.size();
    out_.PutFixed(uint8_t{0});
    if (ledger_.charged_bytes == 0) ledger_.Charge(1);
  }
  return std::min(count, max_literals_ - literal_count_);
}

void RleHybridEncoder::EndLiterals(uint64_t count) {
  literal_count_ += count;
  if (literal_count_ == max_literals_) CloseLiteralRun(LastGroup::kTruncated);
}

void RleHybridEncoder::AppendLiterals(uint64_t value, uint64_t count) {
  const uint64_t most = std::min(count, values_per_word_);
  uint64_t copies = value;  // will have at least `most` copies of `value`, from the lowest bits on
  if (width_ == 1) {
    copies = ~value + 1;
  } else {
    for (int bits = width_; bits < static_cast<int>(most) * width_; bits *= 2)
      copies |= copies << bits;
  }
  while (count > 0) {
    const uint64_t taken = BeginLiterals(std::min(count, most));
    const int bits = static_cast<int>(taken) * width_;
    AppendBits(copies & LowBits(bits), bits);
    EndLiterals(taken);
    count -= taken;
  }
}

template <typename T>
void RleHybridEncoder::AppendGroups(std::span<const T> values) {
  while (!values.empty()) {
    const size_t taken = static_cast<size_t>(BeginLiterals(values.size()));
    FlushBits();  // the last group is complete, so its bits are whole bytes
    PackBits(values.first(taken), width_, out_);
    EndLiterals(taken);
    values = values.subspan(taken);
  }
}

void RleHybridEncoder::AppendRepeated(uint64_t value, uint64_t count) {
  if (count == 0) return;
  CloseLiteralRun(LastGroup::kTruncated);
  while (count > 0) {
    const uint64_t taken = std::min(count, kMaxRunValues);
    out_.PutVint(taken << 1);
    out_.PutBytes(
        {reinterpret_cast<const uint8_t*>(&value), static_cast<size_t>((width_ + 7) / 8)});
    count -= taken;
  }
}

void RleHybridEncoder::CloseLiteralRun(LastGroup last_group) {
  if (literal_count_ == 0) return;
  FlushBits();
  const uint64_t groups = (literal_count_ + 7) / 8;
  const size_t size = out_.size() - literal_begin_ - 1;
  if (last_group == LastGroup::kWhole)
    out_.PutZeros(static_cast<size_t>(PackedBytes(8 * groups, width_)) - size);

  // If the header takes several bytes, move the values to make space for the header.
  const int header_bytes = VintBytes(groups << 1);
  out_.Extend(static_cast<size_t>(header_bytes - 1));
  uint8_t* const run = out_.data() + literal_begin_;
  if (header_bytes > 1)
    std::memmove(run + header_bytes, run + 1,
                 out_.size() - literal_begin_ - static_cast<size_t>(header_bytes));
  uint64_t header = groups << 1 | 1;
  for (int i = 0; i < header_bytes; ++i, header >>= 7) {
    run[i] = static_cast<uint8_t>((header & 0x7f) | (i + 1 < header_bytes ? 0x80 : 0));
  }
  literal_count_ = 0;
  ledger_.saved_bytes += ledger_.charged_bytes - header_bytes;
  ledger_.charged_bytes = 0;
}

template void RleHybridEncoder::PutValues<uint8_t>(std::span<const uint8_t>);
template void RleHybridEncoder::PutValues<uint16_t>(std::span<const uint16_t>);
template void RleHybridEncoder::PutValues<uint32_t>(std::span<const uint32_t>);
template void RleHybridEncoder::PutValues<uint64_t>(std::span<const uint64_t>);

}  // namespace cfile::encodings
