#include "tools/utf8.h"

#include <cstdint>
#include <cstring>

namespace cfile::tools {
namespace {

// Bytes of the UTF-8 character at the front of `text`; 0 if there is none: cut off, overlong, a
// surrogate or above U+10FFFF.
size_t Utf8Length(std::string_view text) {
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) return 0;
  }
  const uint8_t second = static_cast<uint8_t>(text[1]);
  const bool bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                   (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return bad ? 0 : length;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    // Most text is ASCII: eight characters at once.
    uint64_t word = 0;
    if (text.size() >= sizeof word) {
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & 0x8080808080808080) == 0) {
        text.remove_prefix(sizeof word);
        continue;
      }
    }
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return count;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out = "\"";
  while (!text.empty() && out.size() <= kLongest) {
    const char c = text.front();
    const size_t length = Utf8Length(text);
    if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (length == 0 || static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      out += "\\x";
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += kDigits[static_cast<uint8_t>(c) >> 4];
      out += kDigits[static_cast<uint8_t>(c) & 15];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + (text.empty() ? "\"" : "...\"");
}

}  // namespace cfile::tools
