#include "encodings/kernels/ans.h"

#include <bit>
#include <cstring>
#include <numeric>

#include "encodings/core/assert.h"
#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/ans.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

// Returns the lowest `count` bits of a word. Precondition: count < 64.
HWY_INLINE uint64_t LowestBits(uint64_t word, uint32_t count) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  return _bzhi_u64(word, count);  // GCC 12 does not find this instruction by itself
#else
  return word & ((uint64_t{1} << count) - 1);
#endif
}

// Decodes `count` symbols of a stream. Returns the number of bits of the symbols and states, or
// SIZE_MAX if a state is not 0 at the end. Does not check where the stream ends. Precondition:
// kMaxAnsBytes + 8 bytes at `stream` can be read. Uses no SIMD vectors, but is compiled for each
// target because newer processors have better instructions to extract bits.
size_t DecodeSymbols(const uint32_t* entries, int log, const uint8_t* stream, uint8_t* symbols,
                     size_t count) {
  size_t position = 0;
  uint32_t states[kAnsStates];
  for (uint32_t& state : states) {
    state = static_cast<uint32_t>(
        LoadLittleEndian<uint64_t>(stream + position / 8) >> position % 8 & LowBits(log));
    position += static_cast<size_t>(log);
  }
  // Decodes one symbol. The lowest bits of `word` are the next bits of the stream.
  const auto step = [&](uint32_t& state, uint8_t* symbol, uint64_t& word, uint32_t& used) HWY_ATTR {
    const uint32_t entry = entries[state];
    const uint32_t bits = entry & 0xff;
    *symbol = static_cast<uint8_t>(entry >> 8);
    state = (entry >> 16) + static_cast<uint32_t>(LowestBits(word, bits));
    word >>= bits;
    used += bits;
  };
  // Four symbols take at most 48 bits. One load has at least 57 bits of the stream.
  static_assert(kAnsStates == 8 && 4 * kMaxAnsLog <= 57);
  auto [a, b, c, d, e, f, g, h] = states;
  size_t i = 0;
  for (; i + kAnsStates <= count; i += kAnsStates) {
    uint32_t used = 0;
    uint64_t word = LoadLittleEndian<uint64_t>(stream + position / 8) >> position % 8;
    step(a, symbols + i, word, used);
    step(b, symbols + i + 1, word, used);
    step(c, symbols + i + 2, word, used);
    step(d, symbols + i + 3, word, used);
    position += used;
    used = 0;
    word = LoadLittleEndian<uint64_t>(stream + position / 8) >> position % 8;
    step(e, symbols + i + 4, word, used);
    step(f, symbols + i + 5, word, used);
    step(g, symbols + i + 6, word, used);
    step(h, symbols + i + 7, word, used);
    position += used;
  }
  uint32_t last[kAnsStates] = {a, b, c, d, e, f, g, h};
  for (size_t k = 0; i < count; ++i, ++k) {
    uint32_t used = 0;
    uint64_t word = LoadLittleEndian<uint64_t>(stream + position / 8) >> position % 8;
    step(last[k], symbols + i, word, used);
    position += used;
  }
  const bool ended = std::accumulate(last, last + kAnsStates, uint32_t{0}) == 0;
  return ended ? position : SIZE_MAX;
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
HWY_EXPORT(DecodeSymbols);

namespace {
// Precondition: number > 0.
int FloorLog2(uint32_t number) { return static_cast<int>(std::bit_width(number)) - 1; }
}  // namespace

std::vector<uint8_t> AnsSymbolsOfStates(std::span<const uint16_t> weights, int log) {
  CFILE_ASSERT(kMinAnsLog <= log && log <= kMaxAnsLog && weights.size() <= kMaxAnsSymbols);
  const size_t size = size_t{1} << log;
  // An odd number, so that the steps visit each state once.
  const size_t step = size / 2 + size / 8 + 3;
  std::vector<uint8_t> symbols(size);
  size_t state = 0;
  for (size_t symbol = 0; symbol < weights.size(); ++symbol) {
    for (uint32_t i = 0; i < weights[symbol]; ++i) {
      symbols[state] = static_cast<uint8_t>(symbol);
      state = (state + step) % size;
    }
  }
  CFILE_ASSERT(state == 0);
  return symbols;
}

void AnsDecoder::Build(std::span<const uint16_t> weights, int log) {
  const std::vector<uint8_t> symbols = AnsSymbolsOfStates(weights, log);
  std::array<uint32_t, kMaxAnsSymbols> next;
  for (size_t i = 0; i < weights.size(); ++i) next[i] = weights[i];
  const uint32_t size = uint32_t{1} << log;
  for (size_t state = 0; state < size; ++state) {
    const uint32_t number = next[symbols[state]]++;
    const int bits = log - FloorLog2(number);
    const uint32_t base = (number << bits) - size;
    entries_[state] =
        static_cast<uint32_t>(bits) | static_cast<uint32_t>(symbols[state]) << 8 | base << 16;
  }
  log_ = log;
}

bool AnsDecoder::Decode(std::span<const uint8_t> stream, uint8_t* symbols, size_t count) const {
  CFILE_ASSERT(count <= kVectorValues);
  if (stream.size() > kMaxAnsBytes) return false;
  // DecodeSymbols does not check where the stream ends, so it gets a copy with zeros after the end.
  uint8_t padded[kMaxAnsBytes + 16];
  std::memcpy(padded, stream.data(), stream.size());
  std::memset(padded + stream.size(), 0, sizeof(padded) - stream.size());
  const size_t position =
      HWY_DYNAMIC_DISPATCH(DecodeSymbols)(entries_.data(), log_, padded, symbols, count);
  if (position == SIZE_MAX || PackedBytes(position, 1) != stream.size()) return false;
  return position % 8 == 0 || stream.back() >> position % 8 == 0;
}

AnsEncoder::AnsEncoder(std::span<const uint16_t> weights, int log)
    : log_(log), symbols_(weights.size()), states_(size_t{1} << log) {
  uint32_t first = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const uint32_t weight = weights[i];
    if (weight == 0) continue;
    const int most = log - FloorLog2(weight);
    symbols_[i] = {weight, first, static_cast<uint32_t>(most), weight << most};
    first += weight;
  }
  const std::vector<uint8_t> symbols = AnsSymbolsOfStates(weights, log);
  std::vector<uint32_t> next(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) next[i] = symbols_[i].first;
  for (size_t state = 0; state < symbols.size(); ++state)
    states_[next[symbols[state]]++] = static_cast<uint16_t>(state);
}

void AnsEncoder::Encode(const uint8_t* symbols, size_t count, ByteWriter& out) const {
  CFILE_ASSERT(count <= kVectorValues);
  // The symbols are encoded from the last to the first, but their bits are written from the first
  // symbol to the last. An element of `states` is a state plus 2^log.
  const uint32_t size = uint32_t{1} << log_;
  uint32_t states[kAnsStates];
  for (uint32_t& state : states) state = size;
  std::array<uint16_t, kVectorValues> numbers;
  std::array<uint8_t, kVectorValues> widths;
  for (size_t i = count; i-- > 0;) {
    uint32_t& state = states[i % kAnsStates];
    const Symbol& symbol = symbols_[symbols[i]];
    const uint32_t width = symbol.most_bits - (state < symbol.limit ? 1 : 0);
    numbers[i] = static_cast<uint16_t>(state & ((uint32_t{1} << width) - 1));
    widths[i] = static_cast<uint8_t>(width);
    state = size + states_[symbol.first + (state >> width) - symbol.weight];
  }
  out.ReserveMore(kMaxAnsBytes);
  uint64_t word = 0;
  int used = 0;
  const auto put = [&](uint32_t number, int width) {
    word |= uint64_t{number} << used;
    used += width;
    for (; used >= 8; used -= 8, word >>= 8) out.PutFixed(static_cast<uint8_t>(word));
  };
  for (const uint32_t state : states) put(state - size, log_);
  for (size_t i = 0; i < count; ++i) put(numbers[i], widths[i]);
  if (used > 0) out.PutFixed(static_cast<uint8_t>(word));
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
