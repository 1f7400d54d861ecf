// Writes strings as fields of CSV and as JSON strings into memory of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tools/utf8.h"

namespace cfile::tools {
namespace field_text {

// Eight bytes are examined at once.
constexpr uint64_t Repeat(uint8_t byte) { return 0x0101010101010101 * byte; }
// Not 0 if a byte of `word` is less than `bound`. Precondition: bound <= 128.
constexpr uint64_t AnyBelow(uint64_t word, uint8_t bound) {
  return (word - Repeat(bound)) & ~word & Repeat(0x80);
}
constexpr uint64_t AnyEqual(uint64_t word, uint64_t repeated_byte) {
  return AnyBelow(word ^ repeated_byte, 1);
}

template <typename Word>
Word Load(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Copies `text` to `out`, and returns whether `is_special` returned a number other than 0 for eight
// of its bytes. `is_special` may get bytes twice, and the digit 0 in place of bytes.
template <typename IsSpecial>
bool CopyAndTest(std::string_view text, char* out, IsSpecial is_special) {
  const char* const begin = text.data();
  const size_t size = text.size();
  if (size >= 8) {
    uint64_t special = 0;
    const auto copy = [&](size_t at) {
      const auto word = Load<uint64_t>(begin + at);
      std::memcpy(out + at, &word, sizeof word);
      special |= is_special(word);
    };
    for (size_t at = 0; at + 8 < size; at += 8) copy(at);
    copy(size - 8);
    return special != 0;
  }
  if (size >= 4) {
    const auto low = Load<uint32_t>(begin), high = Load<uint32_t>(begin + size - 4);
    std::memcpy(out, &low, sizeof low);
    std::memcpy(out + size - 4, &high, sizeof high);
    return is_special(low | uint64_t{high} << 32) != 0;
  }
  uint64_t word = Repeat('0');
  for (size_t i = 0; i < size; ++i) {
    out[i] = begin[i];
    word = word << 8 | static_cast<uint8_t>(begin[i]);
  }
  return is_special(word) != 0;
}

}  // namespace field_text

// Writes a string as a field of CSV (RFC 4180). Quotes the empty string, which is not a null, and
// strings with the delimiter, quotes, control characters such as line ends, and, because readers
// skip it at the start of a file, a byte order mark at the start.
class CsvFieldWriter {
 public:
  // The largest size of the text of a string.
  static size_t MaxBytes(size_t size_bytes) { return 2 * size_bytes + 2; }

  // Precondition: `delimiter` is not a letter or a digit.
  explicit CsvFieldWriter(char delimiter)
      : delimiters_(field_text::Repeat(static_cast<uint8_t>(delimiter))) {}

  char* operator()(std::string_view text, char* out) const {
    constexpr uint8_t kFirstPlain = '\r' + 1;
    constexpr char kMarkBegin = '\xef';
    const bool special = text.empty() || field_text::CopyAndTest(text, out, [this](uint64_t word) {
                           return field_text::AnyBelow(word, kFirstPlain) |
                                  field_text::AnyEqual(word, delimiters_) |
                                  field_text::AnyEqual(word, field_text::Repeat('"'));
                         });
    if (!special && text.front() != kMarkBegin) [[likely]]
      return out + text.size();
    *out++ = '"';
    for (const char byte : text) {
      if (byte == '"') *out++ = '"';
      *out++ = byte;
    }
    *out++ = '"';
    return out;
  }

 private:
  const uint64_t delimiters_;
};

// Writes a string as AppendJsonBytes does (tools/utf8.h).
class JsonStringWriter {
 public:
  static size_t MaxBytes(size_t size_bytes) { return 6 * size_bytes + 10; }

  char* operator()(std::string_view text, char* out) {
    const bool special = field_text::CopyAndTest(text, out + 1, [](uint64_t word) {
      return field_text::AnyBelow(word, ' ') | (word & field_text::Repeat(0x80)) |
             field_text::AnyEqual(word, field_text::Repeat('"')) |
             field_text::AnyEqual(word, field_text::Repeat('\\'));
    });
    if (!special) [[likely]] {
      out[0] = '"';
      out[text.size() + 1] = '"';
      return out + text.size() + 2;
    }
    text_.clear();
    AppendJsonBytes(text, text_);
    std::memcpy(out, text_.data(), text_.size());
    return out + text_.size();
  }

 private:
  std::string text_;
};

}  // namespace cfile::tools
