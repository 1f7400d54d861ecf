#include "encodings/kernels/fsst.h"

#include <bit>
#include <vector>

namespace cfile::encodings {
namespace {

// The number of times that a table is made, each time from what the table before it has counted.
// All generations but the last two use only a part of the sample: one of kPart pieces.
constexpr int kGenerations = 8;
constexpr size_t kPieceBytes = 512;
constexpr size_t kPart = 4;

// What a symbol of each size counts for in one occurrence. Each saves one code or two; longer ones
// get a little more because they need fewer neighbours to grow. Single bytes avoid escapes.
constexpr uint32_t kWeights[kMaxSymbolBytes + 1] = {0, 24, 14, 16, 17, 18, 19, 20, 20};

// Keeps the first `size` bytes of `text`. Precondition: 1 <= size <= 8.
uint64_t FirstBytes(uint64_t text, size_t size) { return text & ~uint64_t{0} >> (64 - 8 * size); }

// A symbol for the next table. It saves `gain` bytes of the sample.
struct Candidate {
  uint64_t symbol;
  uint32_t size;
  uint64_t gain;
};

// Counts what the sample has after it was split into symbols. Single bytes are units, too.
class SampleCounts {
 public:
  explicit SampleCounts(const SymbolTable& table) : table_(table) {}

  // Adds a unit: a symbol, or a single byte that is no symbol.
  void Add(uint32_t unit) {
    ++counts_[unit];
    if (previous_ < kUnits) pairs_.push_back(previous_ << 16 | unit);
    previous_ = unit;
  }
  void AddByte(uint8_t byte) { Add(kMaxSymbols + 1 + byte); }
  // No symbol has the units before and after this call.
  void BeginText() { previous_ = kUnits; }

  // Returns the units, and the pairs of neighbours that fit into a symbol, the best ones first.
  std::vector<Candidate> Candidates() {
    std::vector<Candidate> found;
    for (uint32_t unit = 0; unit < kUnits; ++unit) {
      if (counts_[unit] == 0) continue;
      const size_t size = Size(unit);
      found.push_back(
          {Symbol(unit), static_cast<uint32_t>(size), kWeights[size] * uint64_t{counts_[unit]}});
    }
    std::sort(pairs_.begin(), pairs_.end());
    for (size_t i = 0; i < pairs_.size();) {
      size_t end = i;
      while (end < pairs_.size() && pairs_[end] == pairs_[i]) ++end;
      const uint32_t first = pairs_[i] >> 16, second = pairs_[i] & 0xffff;
      const size_t size = std::min(Size(first) + Size(second), kMaxSymbolBytes);
      if (Size(first) < kMaxSymbolBytes) {
        const uint64_t symbol = Symbol(first) | Symbol(second) << (8 * Size(first));
        found.push_back({symbol, static_cast<uint32_t>(size), kWeights[size] * (end - i)});
      }
      i = end;
    }
    // The same symbol may have been found in several ways.
    std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
      return a.symbol != b.symbol ? a.symbol < b.symbol : a.size < b.size;
    });
    size_t kept = 0;
    for (const Candidate& each : found) {
      if (kept > 0 && found[kept - 1].symbol == each.symbol && found[kept - 1].size == each.size) {
        found[kept - 1].gain += each.gain;
      } else {
        found[kept++] = each;
      }
    }
    found.resize(kept);
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    return found;
  }

 private:
  static constexpr uint32_t kUnits = kMaxSymbols + 1 + 256;

  uint64_t Symbol(uint32_t unit) const {
    return unit <= kMaxSymbols ? table_.symbols[unit] : unit - kMaxSymbols - 1;
  }
  size_t Size(uint32_t unit) const { return unit <= kMaxSymbols ? table_.sizes[unit] : 1; }

  const SymbolTable& table_;
  uint32_t counts_[kUnits] = {};
  std::vector<uint32_t> pairs_;
  uint32_t previous_ = kUnits;
};

}  // namespace

SymbolMatch FindSymbol(const SymbolTable& table, uint64_t text, size_t size) {
  SymbolMatch found{kEscapeCode, 0};
  for (uint32_t code = 0; code < table.count; ++code) {
    const uint32_t symbol_size = table.sizes[code];
    if (symbol_size > found.size && symbol_size <= size &&
        FirstBytes(text, symbol_size) == table.symbols[code])
      found = {code, symbol_size};
  }
  return found.size > 0 ? found : SymbolMatch{kEscapeCode, 1};
}

SymbolCompressor::SymbolCompressor(const SymbolTable& table)
    : table_(table), long_(new Bucket[size_t{1} << kSlotBits]()), short_(new uint16_t[1 << 16]) {
  // Longer symbols first: symbols of one byte are the default for two bytes that are no symbol.
  uint16_t ones[256];
  std::fill(std::begin(ones), std::end(ones), uint16_t{kEscapeCode | 1 << 8});
  for (uint32_t code = 0; code < table.count; ++code) {
    if (table.sizes[code] == 1) ones[table.symbols[code]] = static_cast<uint16_t>(code | 1 << 8);
  }
  for (size_t second = 0; second < 256; ++second)
    std::copy(std::begin(ones), std::end(ones), &short_[second << 8]);
  for (uint32_t code = 0; code < table.count; ++code) {
    if (table.sizes[code] == 2) short_[table.symbols[code]] = static_cast<uint16_t>(code | 2 << 8);
  }
  for (size_t size = kMaxSymbolBytes; size >= 3; --size) {
    for (uint32_t code = 0; code < table.count; ++code) {
      if (table.sizes[code] == size) Insert(table.symbols[code], size, static_cast<uint8_t>(code));
    }
  }
}

bool SymbolCompressor::Insert(uint64_t symbol, size_t size, uint8_t code) {
  Bucket& bucket = long_[SlotOf(symbol)];
  for (size_t way = 0; way < kWays; ++way) {
    if (bucket.codes[way] != 0) continue;
    bucket.ways[way] = {symbol, FirstBytes(~uint64_t{0}, size)};
    bucket.codes[way] = static_cast<uint16_t>(code | size << 8);
    return true;
  }
  return false;
}

inline SymbolMatch SymbolCompressor::Find(uint64_t text, size_t size) const {
  const Bucket& bucket = long_[SlotOf(text)];
  uint32_t found = short_[text & 0xffff];
  for (size_t way = kWays; way-- > 0;) {
    const Slot& slot = bucket.ways[way];
    if ((text & slot.mask) == slot.symbol && bucket.codes[way] != 0) found = bucket.codes[way];
  }
  const SymbolMatch match{found & 0xff, found >> 8};
  // Perhaps zeros after the end of the text have been taken for bytes of the text.
  return match.size <= size ? match : FindSymbol(table_, text, size);
}

inline void SymbolCompressor::Put(uint64_t next, size_t left, Rest& rest) const {
  const SymbolMatch match = Find(next, left);
  rest.to[0] = static_cast<uint8_t>(match.code);
  rest.to[1] = static_cast<uint8_t>(next);
  rest.to += match.code == kEscapeCode ? 2 : 1;
  rest.text.remove_prefix(match.size);
}

uint8_t* SymbolCompressor::Finish(Rest rest) const {
  while (rest.text.size() >= 8) Put(LoadLittleEndian<uint64_t>(AsBytes(rest.text).data()), 8, rest);
  while (!rest.text.empty()) Put(LoadText(rest.text), rest.text.size(), rest);
  return rest.to;
}

void SymbolCompressor::CompressTwo(const std::string_view (&texts)[2], uint8_t* (&to)[2]) const {
  Rest first{texts[0], to[0]}, second{texts[1], to[1]};
  while (first.text.size() >= 8 && second.text.size() >= 8) {
    Put(LoadLittleEndian<uint64_t>(AsBytes(first.text).data()), 8, first);
    Put(LoadLittleEndian<uint64_t>(AsBytes(second.text).data()), 8, second);
  }
  to[0] = Finish(first);
  to[1] = Finish(second);
}

void SymbolCompressor::CompressAll(std::span<const std::string_view> texts, ByteWriter (&codes)[2],
                                   uint32_t* sizes) const {
  const size_t half = (texts.size() + 1) / 2;
  const std::span<const std::string_view> halves[2] = {texts.first(half), texts.subspan(half)};
  uint8_t* ends[2];
  for (size_t h = 0; h < 2; ++h) {
    codes[h].Clear();
    ends[h] = codes[h].Extend(WorstBytes(TotalBytes(halves[h])));
  }
  for (size_t i = 0; i < half; ++i) {
    const std::string_view two[2] = {halves[0][i], i < halves[1].size() ? halves[1][i] : ""};
    const uint8_t* const begins[2] = {ends[0], ends[1]};
    CompressTwo(two, ends);
    for (size_t h = 0; h < 2; ++h) sizes[i + h * half] = static_cast<uint32_t>(ends[h] - begins[h]);
  }
  for (size_t h = 0; h < 2; ++h) codes[h].Truncate(static_cast<size_t>(ends[h] - codes[h].data()));
}

SymbolTable TrainSymbols(std::string_view sample, std::span<const uint32_t> sizes) {
  SymbolTable table;
  for (int generation = 0; generation < kGenerations; ++generation) {
    const SymbolCompressor compressor(table);
    SampleCounts counts(table);
    const bool whole = generation >= kGenerations - 2 || sample.size() < kPart * kPieceBytes;
    for (size_t begin = 0, i = 0; begin < sample.size(); ++i) {
      std::string_view rest = sample.substr(begin, sizes.empty() ? kPieceBytes : sizes[i]);
      const bool used = whole || begin / kPieceBytes % kPart == 0;
      begin += rest.size();
      if (!used) continue;
      if (!sizes.empty()) counts.BeginText();
      while (!rest.empty()) {
        const uint64_t text = LoadText(rest);
        const auto match = compressor.Find(text, rest.size());
        if (match.code == kEscapeCode) {
          counts.AddByte(static_cast<uint8_t>(text));
        } else {
          counts.Add(match.code);
        }
        rest.remove_prefix(match.size);
      }
    }
    SymbolTable next;
    uint8_t used_ways[size_t{1} << SymbolCompressor::kSlotBits] = {};
    for (const Candidate& each : counts.Candidates()) {
      if (next.count == kMaxSymbols) break;
      if (each.size > 2) {
        uint8_t& slot = used_ways[SymbolCompressor::SlotOf(each.symbol)];
        if (slot == SymbolCompressor::kWays) continue;
        ++slot;
      }
      next.Add(each.symbol, each.size);
    }
    table = next;
  }
  return table;
}

namespace {

// Implements DecompressSymbols. kFull: the table has a symbol for each code.
template <bool kFull>
bool Decompress(const SymbolTable& table, size_t wanted, std::span<const uint8_t>& codes,
                uint8_t*& out) {
  const uint8_t* at = codes.data();
  const uint8_t* const end = at + codes.size();
  uint8_t* to = out;
  uint8_t* const to_end = to + wanted;
  uint32_t wrong = 0;  // the top bit is set if a code is not in the table
  const auto put = [&](uint64_t code) {
    StoreLittleEndian(table.symbols[code], to);
    to += table.sizes[code];
    if constexpr (!kFull) wrong |= table.sizes[code] - 1u;
  };
  // One test for escape codes serves 16 codes.
  while (end - at >= 16 && to < to_end) {
    uint64_t first = LoadLittleEndian<uint64_t>(at), second = LoadLittleEndian<uint64_t>(at + 8);
    if ((EscapeBits(first) | EscapeBits(second)) == 0) {
      for (int i = 0; i < 8; ++i, first >>= 8) put(first & 0xff);
      for (int i = 0; i < 8; ++i, second >>= 8) put(second & 0xff);
      at += 16;
      continue;
    }
    // The codes before the first escape code. Their number comes from the bytes that were tested,
    // because the bytes of a mapped file may change.
    const uint64_t escapes = EscapeBits(first);
    for (int i = std::countr_zero(escapes) / 8; i > 0; --i) put(*at++);
    if (escapes == 0) {
      for (int i = std::countr_zero(EscapeBits(second)) / 8; i > 0; --i) put(*at++);
    }
    if (end - at < 2) return false;
    *to++ = at[1];
    at += 2;
  }
  while (at < end && to < to_end) {
    if (const uint8_t code = *at; code != kEscapeCode) {
      put(code);
      ++at;
      continue;
    }
    if (end - at < 2) return false;
    *to++ = at[1];
    at += 2;
  }
  codes = {at, end};
  out = to;
  return wrong >> 31 == 0;
}

}  // namespace

bool DecompressSymbols(const SymbolTable& table, size_t wanted, std::span<const uint8_t>& codes,
                       uint8_t*& to) {
  return table.count == kMaxSymbols ? Decompress<true>(table, wanted, codes, to)
                                    : Decompress<false>(table, wanted, codes, to);
}

}  // namespace cfile::encodings
