// Table-driven asymmetric numeral systems (tANS): symbols of known frequencies as a stream of bits
// (cfile/FORMAT.md, COMPACT).
//
// Each of 2^log states stands for a symbol. A symbol has as many states as its weight; the weights
// add up to 2^log. To decode, the state names the symbol, and the next state is the state's base
// plus the number that the next bits hold. A symbol of weight w takes about log - log2(w) bits.
// kAnsStates states take turns, so that a processor decodes several symbols at the same time.
//
//   stream   the states of the first kAnsStates symbols, `log` bits each · the bits of each symbol
//
// Bits are filled from the least significant one of each byte on. The bits of the last byte that
// are left are 0. After its last symbol, each state is 0.
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
// The longest stream of kVectorValues symbols.
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
    uint32_t first;  // the index in states_ of the symbol's first state
    uint32_t most_bits;
    uint32_t limit;  // states below it take one bit less than most_bits
  };

  const int log_;
  std::vector<Symbol> symbols_;
  std::vector<uint16_t> states_;  // of each symbol, in ascending order
};

}  // namespace cfile::encodings
