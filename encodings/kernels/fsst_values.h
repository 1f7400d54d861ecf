// Kernels of FSST for values that are compressed one by one (cfile/FORMAT.md, FSST): no
// code stands for bytes of two values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "encodings/kernels/fsst.h"

namespace cfile::encodings {

// Compresses `value`: takes the longest symbol, again and again. Gives the same codes as
// SymbolCompressor, but works with any table, and needs no preparation. Slow: for single values.
std::vector<uint8_t> CompressValue(const SymbolTable& table, std::string_view value);

// Bytes after the last value that DecompressValues may write, and bytes of a prefix that it may
// read and write.
inline constexpr size_t kValueSlack = 32;

// Decompresses values. The codes of value i begin at byte starts[i] of `text` and end before byte
// starts[i + 1]. Writes the values to `to`, back to back, each after a copy of `prefix`. Sets
// out[i] to a view of value i, and returns the end of the last value. Returns nullptr, with
// unspecified results, if a code is not in the table, or if no byte of the same value follows an
// escape code.
//
// Preconditions: `starts` has one number more than `out`; the numbers ascend, and the last one is
// at most text.size(). kValueSlack bytes are readable at `prefix`. `to` has room for the values and
// for kValueSlack bytes more. If the size of a value is not known, the room is kMaxSymbolBytes for
// each code.
uint8_t* DecompressValues(const SymbolTable& table, std::string_view prefix,
                          std::span<const uint8_t> text, std::span<const uint64_t> starts,
                          uint8_t* to, std::span<std::string_view> out);

// Compares values, which are stored as DecompressValues reads them, with a constant. `constant`:
// the bytes that are stored for it. If value i is equal, sets bit `bit` + i of `bits` to 1. Bytes
// before `readable` may be read.
void MatchValues(std::span<const uint8_t> text, std::span<const uint64_t> starts,
                 const uint8_t* readable, std::span<const uint8_t> constant, size_t bit,
                 uint8_t* bits);

}  // namespace cfile::encodings
