// Kernels of FSST (Boncz, Neumann and Leis, "FSST: Fast Random Access String Compression", 2020):
// a table of up to 255 symbols of 1 to 8 bytes; each byte of compressed text is the code of a
// symbol, or the escape code with a byte of the text after it (cfile/FORMAT.md, FSST).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

inline constexpr size_t kMaxSymbols = 255;
inline constexpr size_t kMaxSymbolBytes = 8;
inline constexpr uint8_t kEscapeCode = 255;

// Finds escape codes among 8 codes. The lowest bit that is 1 in the result is the top bit of the
// byte of the first escape code in `codes`. The bits above it may be wrong.
inline uint64_t EscapeBits(uint64_t codes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  return (~codes - kOnes) & codes & kOnes << 7;
}

// The symbols by code. symbols[c] has its first byte in the low bits, and zeros after its last
// byte. For codes that the table does not have, symbol and size are 0.
struct SymbolTable {
  uint64_t symbols[kMaxSymbols + 1] = {};
  uint8_t sizes[kMaxSymbols + 1] = {};
  uint32_t count = 0;

  // Precondition: the table has fewer than kMaxSymbols symbols; 1 <= size <= kMaxSymbolBytes.
  void Add(uint64_t symbol, size_t size) {
    symbols[count] = symbol;
    sizes[count++] = static_cast<uint8_t>(size);
  }

  // Returns the first symbols: at most `max_symbols`, which take at most `max_bytes` bytes if each
  // takes `extra` bytes besides its own.
  SymbolTable First(size_t max_symbols, size_t max_bytes, size_t extra) const {
    SymbolTable kept;
    for (size_t bytes = 0; kept.count < std::min<size_t>(count, max_symbols);) {
      bytes += extra + sizes[kept.count];
      if (bytes > max_bytes) break;
      kept.Add(symbols[kept.count], sizes[kept.count]);
    }
    return kept;
  }
};

// A step of compression: the symbol that the text begins with.
struct SymbolMatch {
  uint32_t code;  // kEscapeCode: there is no symbol, and the size is 1
  uint32_t size;
};

// Loads the first 8 bytes of `text`. Bytes after its end are zeros.
inline uint64_t LoadText(std::string_view text) {
  if (text.size() >= 8) return LoadLittleEndian<uint64_t>(AsBytes(text).data());
  uint8_t last[8] = {};
  if (!text.empty()) std::memcpy(last, text.data(), text.size());
  return LoadLittleEndian<uint64_t>(last);
}

inline size_t TotalBytes(std::span<const std::string_view> texts) {
  size_t bytes = 0;
  for (const std::string_view each : texts) bytes += each.size();
  return bytes;
}

// Returns the longest symbol that a text begins with. `text`: its first bytes, as LoadText returns
// them. `size`: the size of the text in bytes. Works with any table. Slow: compares all symbols.
SymbolMatch FindSymbol(const SymbolTable& table, uint64_t text, size_t size);

// Makes a table for texts like `sample`. If texts will be compressed one by one, the sample
// consists of several texts, and `sizes` has the size of each: then no symbol is made of bytes of
// two texts. Takes about 0.2 µs for each byte of the sample. The same sample always gives the same
// table.
SymbolTable TrainSymbols(std::string_view sample, std::span<const uint32_t> sizes = {});

// Compresses text: takes the longest symbol of a table, again and again. Immutable, so that threads
// may share it. The table must be one that TrainSymbols made, or the first symbols of such a table.
class SymbolCompressor {
 public:
  explicit SymbolCompressor(const SymbolTable& table);

  // Bytes that Compress may write for a text of `size` bytes.
  static constexpr size_t WorstBytes(size_t size) { return 2 * size; }

  // Compresses `text` to at most WorstBytes(text.size()) bytes at `to`, and returns their end.
  uint8_t* Compress(std::string_view text, uint8_t* to) const { return Finish({text, to}); }

  // Compresses two texts, each as Compress does. Takes less time than two calls: while one text
  // waits for the size of its symbol, the other one goes on. `to`: where the codes of each text
  // begin; afterwards, where they end.
  void CompressTwo(const std::string_view (&texts)[2], uint8_t* (&to)[2]) const;

  // Compresses each of `texts`. Sets codes[0] to the codes of the first half of the texts, codes[1]
  // to those of the second half, and sizes[i] to the bytes of the codes of text i. `sizes` has room
  // for one more number than there are texts.
  void CompressAll(std::span<const std::string_view> texts, ByteWriter (&codes)[2],
                   uint32_t* sizes) const;

 private:
  friend SymbolTable TrainSymbols(std::string_view sample, std::span<const uint32_t> sizes);

  // The rest of a text, and where its codes go.
  struct Rest {
    std::string_view text;
    uint8_t* to;
  };
  // Compresses the whole rest, and returns the end of the codes.
  uint8_t* Finish(Rest rest) const;
  // Compresses one symbol or one byte, of the 8 bytes `next` or, if less are left, `left` bytes.
  void Put(uint64_t next, size_t left, Rest& rest) const;
  // Returns the longest symbol that `text` begins with. Bytes of `text` after its end are zeros;
  // `size` is the number of bytes before.
  SymbolMatch Find(uint64_t text, size_t size) const;

  // Symbols of 3 and more bytes, by a hash of the first 3. Two symbols may meet in one slot; then
  // the table has been made so that the slot has the longer one first.
  struct Slot {
    uint64_t symbol = 0;
    uint64_t mask = ~uint64_t{0};  // ones for the bytes of the symbol
  };
  static constexpr int kSlotBits = 11;
  static constexpr size_t kWays = 2;
  static size_t SlotOf(uint64_t text) {
    return static_cast<size_t>((text & 0xffffff) * 0x9E3779B97F4A7C15u >> (64 - kSlotBits));
  }
  // False if both ways of the slot are taken.
  bool Insert(uint64_t symbol, size_t size, uint8_t code);

  struct Bucket {
    Slot ways[kWays];
    uint16_t codes[kWays];  // code + 256 * size
  };

 public:
  // The memory of a compressor.
  static constexpr size_t kMemoryBytes =
      sizeof(SymbolTable) + (sizeof(Bucket) << kSlotBits) + (sizeof(uint16_t) << 16);

 private:
  SymbolTable table_;
  std::unique_ptr<Bucket[]> long_;
  std::unique_ptr<uint16_t[]> short_;  // by the first two bytes: code + 256 * size
};

// DecompressSymbols may write up to this many bytes more than wanted.
inline constexpr size_t kDecompressSlack = 16 * kMaxSymbolBytes;

// Decompresses from the front of `codes` to `to` until at least `wanted` bytes are written or no
// code is left. Then `codes` are the rest, and `to` is the end of the bytes. Returns false, with
// unspecified results, if a code is not in the table, or if no byte follows the last escape code.
// Precondition: wanted + kDecompressSlack bytes are writable at `to`.
bool DecompressSymbols(const SymbolTable& table, size_t wanted, std::span<const uint8_t>& codes,
                       uint8_t*& to);

}  // namespace cfile::encodings
