// Table-driven asymmetric numeral systems (tANS): encodes symbols of known frequencies as a stream
// of bits (cfile/FORMAT.md, COMPACT).
//
// Each of 2^log states belongs to a symbol; the weight of a symbol is the number of its states. A
// decoder outputs the symbol of its current state. The next state is the base of the current state
// plus the number in the next bits of the stream. A symbol of weight w takes about log - log2(w)
// bits. There are kAnsStates current states, which take turns: symbol i uses state i % kAnsStates,
// so that a processor can decode several symbols at the same time.
//
//   stream   the first kAnsStates current states, `log` bits each · the bits of each symbol
//
// The bits of a byte are used from the least significant bit on. Unused bits of the last byte are
// 0. After the last symbol, all current states are 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encodings/core/bytes.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

inline constexpr size_t kAnsStates = 8;
inline constexpr int kMinAnsLog = 4;
inline constexpr int kMaxAnsLog = 12;
inline constexpr size_t kMaxAnsSymbols = 256;
// A stream of kVectorValues symbols has at most this many bytes.
inline constexpr size_t kMaxAnsBytes = (kVectorValues + kAnsStates) * kMaxAnsLog / 8;

// Returns the symbol of each state. Preconditions: kMinAnsLog <= log <= kMaxAnsLog; there are at
// most kMaxAnsSymbols weights, which add up to 2^log.
std::vector<uint8_t> AnsSymbolsOfStates(std::span<const uint16_t> weights, int log);

class AnsDecoder {
 public:
  // Preconditions: those of AnsSymbolsOfStates. No weight is 0.
  void Build(std::span<const uint16_t> weights, int log);

  // Decodes `count` symbols. Returns false if `stream` is not the stream of `count` symbols; then
  // `symbols` has arbitrary symbols. All symbols are less than the number of weights.
  // Preconditions: Build was called; count <= kVectorValues.
  bool Decode(std::span<const uint8_t> stream, uint8_t* symbols, size_t count) const;

 private:
  int log_ = kMinAnsLog;
  // For each state: the number of bits to read (bits 0 to 7), the symbol (bits 8 to 15) and the
  // base of the next state (bits 16 to 31).
  std::array<uint32_t, size_t{1} << kMaxAnsLog> entries_;
};

class AnsEncoder {
 public:
  // Preconditions: those of AnsSymbolsOfStates.
  AnsEncoder(std::span<const uint16_t> weights, int log);

  // Appends the stream of `count` symbols to `out`. Preconditions: no symbol has the weight 0;
  // count <= kVectorValues.
  void Encode(const uint8_t* symbols, size_t count, ByteWriter& out) const;

 private:
  struct Symbol {
    uint32_t weight;
    uint32_t first;      // the index in states_ of the symbol's first state
    uint32_t most_bits;  // the most bits that this symbol takes
    // If the state plus 2^log is below `limit`, the symbol takes only most_bits - 1 bits.
    uint32_t limit;
  };

  const int log_;
  std::vector<Symbol> symbols_;
  // The states of symbol 0 in ascending order, then the states of symbol 1, and so on.
  std::vector<uint16_t> states_;
};

}  // namespace cfile::encodings
