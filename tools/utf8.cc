#include "tools/utf8.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/strings/escaping.h"

namespace cfile::tools {
namespace {

// Length in bytes of the UTF-8 character at the start of `text`; 0 if it is invalid: incomplete,
// overlong, a surrogate or above U+10FFFF. Precondition: `text` is not empty.
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

// The code point of the valid UTF-8 character at the start of `text`, which has `length` bytes.
uint32_t CodePoint(std::string_view text, size_t length) {
  if (length == 1) return static_cast<uint8_t>(text[0]);
  uint32_t character = static_cast<uint8_t>(text[0]) & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    character = character << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
  }
  return character;
}

// True for characters that change what a terminal shows of the text around them: C0 and C1 control
// characters, separators of lines and paragraphs, and controls of bidirectional text, which can
// make one name look like another.
bool IsControl(uint32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x061c ||
         character == 0x200e || character == 0x200f ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

// Moves the first character of `text` to the end of `out`, escaped if necessary. `quoted`: `out` is
// inside double quotes. Precondition: `text` is not empty.
void TakePrintable(std::string_view& text, bool quoted, std::string& out) {
  const size_t length = Utf8Length(text);
  const auto first = static_cast<uint8_t>(text[0]);
  const std::string_view character = text.substr(0, length == 0 ? 1 : length);
  if (const char letter = EscapeLetter(text[0]); letter != 0) {
    out += '\\';
    out += letter;
  } else if (length == 0 || IsControl(CodePoint(text, length))) {
    for (const char& byte : character) {
      out += "\\x";
      AppendHex({&byte, 1}, out);
    }
  } else if (quoted && first == '"') {
    out += "\\\"";
  } else {
    out += character;
  }
  text.remove_prefix(character.size());
}

// While an object of this class lives, its thread has the character tables of the locale C.UTF-8,
// so that wcwidth knows all characters. The locale of the program does not change.
class Utf8Rules {
 public:
  Utf8Rules() : before_(uselocale(Rules())) {}
  ~Utf8Rules() { uselocale(before_); }
  Utf8Rules(const Utf8Rules&) = delete;
  Utf8Rules& operator=(const Utf8Rules&) = delete;

 private:
  // Null if the system has no locale C.UTF-8: the thread then keeps its locale.
  static locale_t Rules() {
    static const locale_t rules = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t());
    return rules;
  }

  const locale_t before_;
};

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    // Most text is ASCII, so eight ASCII characters are checked at once.
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

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  return text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    size_t length = Utf8Length(text);
    if (length > 0) {
      valid += text.substr(0, length);
    } else {
      valid += "\xef\xbf\xbd";
      // The bytes that can be followed by 0x80 up to the end of a character.
      for (length = 1; length < text.size(); ++length) {
        const std::string longer(text.substr(0, length + 1));
        if (Utf8Length(longer + "\x80\x80") <= longer.size()) break;
      }
    }
    text.remove_prefix(length);
  }
  return valid;
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return count;
}

size_t CountCells(std::string_view text) {
  std::optional<Utf8Rules> rules;
  size_t cells = 0;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length > 1) {
      if (!rules) rules.emplace();
      // wcwidth returns -1 for a character that it does not know.
      const int width = wcwidth(static_cast<wchar_t>(CodePoint(text, length)));
      cells += width < 0 ? 1 : static_cast<size_t>(width);
    } else {
      ++cells;
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return cells;
}

std::string_view CutText(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && (static_cast<uint8_t>(text[max_bytes]) & 0xc0) == 0x80) --max_bytes;
  return text.substr(0, max_bytes);
}

std::string Quoted(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out = "\"";
  while (!text.empty() && out.size() <= kLongest) TakePrintable(text, /*quoted=*/true, out);
  return out + (text.empty() ? "\"" : "...\"");
}

void AppendPrintable(std::string_view text, std::string& out) {
  const bool quoted = text.empty() || text == "null" || text[0] == '"';
  if (quoted) out += '"';
  while (!text.empty()) TakePrintable(text, quoted, out);
  if (quoted) out += '"';
}

std::string Printable(std::string_view text) {
  std::string printable;
  AppendPrintable(text, printable);
  return printable;
}

std::string TerminalSafe(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    if (text[0] == '\\') {
      safe += '\\';
      text.remove_prefix(1);
    } else {
      TakePrintable(text, /*quoted=*/false, safe);
    }
  }
  return safe;
}

std::string TerminalSafeLines(std::string_view text) {
  std::string safe;
  while (true) {
    const size_t end = text.find('\n');
    safe += TerminalSafe(text.substr(0, end));
    if (end == std::string_view::npos) return safe;
    safe += '\n';
    text.remove_prefix(end + 1);
  }
}

char EscapeLetter(char byte) {
  constexpr std::string_view kBytes = "\n\t\r\\", kLetters = "ntr\\";
  const size_t at = kBytes.find(byte);
  return at == kBytes.npos ? '\0' : kLetters[at];
}

char* WriteHex(std::string_view bytes, char* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char byte : bytes) {
    *out++ = kDigits[static_cast<uint8_t>(byte) >> 4];
    *out++ = kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return out;
}

void AppendHex(std::string_view bytes, std::string& out) {
  const size_t size = out.size();
  out.resize(size + 2 * bytes.size());
  WriteHex(bytes, out.data() + size);
}

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

void AppendJsonBytes(std::string_view text, std::string& out) {
  if (!IsUtf8(text)) {
    out += "{\"hex\":\"";
    AppendHex(text, out);
    out += "\"}";
    return;
  }
  out += '"';
  for (const char& byte : text) {
    const char letter = byte == '"'    ? '"'
                        : byte == '\b' ? 'b'
                        : byte == '\f' ? 'f'
                                       : EscapeLetter(byte);
    if (letter != 0) {
      out += '\\';
      out += letter;
    } else if (static_cast<uint8_t>(byte) < 0x20) {
      out += "\\u00";
      AppendHex({&byte, 1}, out);
    } else {
      out += byte;
    }
  }
  out += '"';
}

void AppendJsonName(std::string_view text, std::string& out) {
  if (IsUtf8(text)) return AppendJsonBytes(text, out);
  AppendJsonBytes(TerminalSafe(text), out);
}

char LineEndOf(std::string_view text) {
  const std::string_view begin = text.substr(0, 64 << 10);
  return begin.find('\n') == begin.npos && begin.find('\r') != begin.npos ? '\r' : '\n';
}

}  // namespace cfile::tools
