#include "encodings/kernels/fsst_values.h"

#include <bit>
#include <cstring>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {
namespace {

// Decompresses the codes from `at` to `end`, and returns the end of the text, or nullptr as
// DecompressValues does. Bytes before `readable` may be read. kFull: the table has a symbol for
// each code.
template <bool kFull>
uint8_t* DecompressOne(const SymbolTable& table, const uint8_t* at, const uint8_t* end,
                       const uint8_t* readable, uint8_t* to) {
  bool wrong = false;
  const auto put = [&](uint64_t code) {
    StoreLittleEndian(table.symbols[code], to);
    to += table.sizes[code];
    if constexpr (!kFull) wrong |= code >= table.count && code != kEscapeCode;
  };
  while (at < end) {
    // Codes after the end are replaced by escape codes, which stand for nothing in the table, so
    // the number of codes needs no branch.
    const auto left = static_cast<size_t>(end - at);
    const uint64_t after = left >= 8 ? 0 : ~uint64_t{0} << (8 * left);
    uint64_t codes =
        (readable - at >= 8 ? LoadLittleEndian<uint64_t>(at) : LoadText(AsString({at, left}))) |
        after;
    if (const uint64_t escapes = EscapeBits(codes) & ~after; escapes != 0) [[unlikely]] {
      const int before = std::countr_zero(escapes) / 8;
      for (int i = 0; i < before; ++i) put(at[i]);
      at += before;
      if (end - at < 2) return nullptr;
      *to++ = at[1];
      at += 2;
      continue;
    }
    for (int i = 0; i < 8; ++i, codes >>= 8) put(codes & 0xff);
    at += 8;
  }
  return wrong ? nullptr : to;
}

template <bool kFull>
uint8_t* Decompress(const SymbolTable& table, std::string_view prefix,
                    std::span<const uint8_t> text, std::span<const uint64_t> starts, uint8_t* to,
                    std::span<std::string_view> out) {
  const uint8_t* const readable = text.data() + text.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const uint8_t* const begin = to;
    if (prefix.size() > kValueSlack) {
      std::memcpy(to, prefix.data(), prefix.size());
    } else if (!prefix.empty()) {
      CopyWide<kValueSlack>(AsBytes(prefix).data(), to);
    }
    to = DecompressOne<kFull>(table, text.data() + starts[i], text.data() + starts[i + 1], readable,
                              to + prefix.size());
    if (to == nullptr) return nullptr;
    out[i] = AsString({begin, to});
  }
  return to;
}

}  // namespace

std::vector<uint8_t> CompressValue(const SymbolTable& table, std::string_view value) {
  std::vector<uint8_t> codes;
  while (!value.empty()) {
    const SymbolMatch match = FindSymbol(table, LoadText(value), value.size());
    codes.push_back(static_cast<uint8_t>(match.code));
    if (match.code == kEscapeCode) codes.push_back(AsBytes(value)[0]);
    value.remove_prefix(match.size);
  }
  return codes;
}

uint8_t* DecompressValues(const SymbolTable& table, std::string_view prefix,
                          std::span<const uint8_t> text, std::span<const uint64_t> starts,
                          uint8_t* to, std::span<std::string_view> out) {
  CFILE_ASSERT(starts.size() == out.size() + 1 && starts.back() <= text.size());
  return table.count == kMaxSymbols ? Decompress<true>(table, prefix, text, starts, to, out)
                                    : Decompress<false>(table, prefix, text, starts, to, out);
}

void MatchValues(std::span<const uint8_t> text, std::span<const uint64_t> starts,
                 const uint8_t* readable, std::span<const uint8_t> constant, size_t bit,
                 uint8_t* bits) {
  // The first 8 bytes of text and constant decide almost always. Bytes after the constant are
  // masked.
  const size_t size = constant.size();
  const uint64_t head = LoadText(AsString(constant));
  const uint64_t mask = size >= 8 ? ~uint64_t{0} : LowBits(static_cast<int>(8 * size));
  for (size_t i = 0; i + 1 < starts.size(); ++i, ++bit) {
    if (starts[i + 1] - starts[i] != size) continue;
    const uint8_t* const at = text.data() + starts[i];
    const uint64_t next =
        readable - at >= 8 ? LoadLittleEndian<uint64_t>(at) : LoadText(AsString({at, size}));
    if (((next ^ head) & mask) != 0) continue;
    if (size > 8 && std::memcmp(at + 8, constant.data() + 8, size - 8) != 0) continue;
    bits[bit / 8] |= static_cast<uint8_t>(1u << bit % 8);
  }
}

}  // namespace cfile::encodings
