// Checks whether text is UTF-8, and escapes text for display.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cfile::tools {

// True if `text` is valid UTF-8: no incomplete or overlong character, no surrogate.
bool IsUtf8(std::string_view text);

// `text` without a byte order mark at its beginning.
std::string_view WithoutByteOrderMark(std::string_view text);

// Returns the byte that ends each line of `text`: a carriage return if the first 64 KiB have
// carriage returns but no line feed (files of old Macintosh programs), otherwise a line feed.
char LineEndOf(std::string_view text);
// `text` with U+FFFD instead of what is not UTF-8: one for each byte that begins no character, and
// one for the bytes of a character that ends too early.
std::string ReplaceInvalidUtf8(std::string_view text);

// Number of characters (code points) in `text`; only approximate if `text` is not UTF-8.
size_t CountCharacters(std::string_view text);

// Returns how many cells `text` takes on a terminal, by the C library's table of widths. An emoji,
// and a wide character of Chinese, Japanese or Korean, take two cells. A combining mark takes none,
// and any other character takes one. The result is only approximate if `text` is not UTF-8.
size_t CountCells(std::string_view text);

// The longest prefix of `text` that has at most `max_bytes` bytes and does not end within a
// character.
std::string_view CutText(std::string_view text, size_t max_bytes);

// `text` in double quotes for a message, with the escapes of AppendPrintable. A text of more than
// about 60 bytes is cut and ends with "...".
std::string Quoted(std::string_view text);

// Appends `text` on one line and unambiguously: control characters, backslashes and bytes that are
// not UTF-8 are escaped as in C. Control characters include separators of lines and controls of
// bidirectional text. If `text` is empty, is the word null or begins with a double quote, it is
// enclosed in double quotes, and double quotes inside are written \".
void AppendPrintable(std::string_view text, std::string& out);
std::string Printable(std::string_view text);

// `text` for a terminal: control characters and bytes that are not UTF-8 are escaped as in C. Other
// characters stay, even backslashes, so that escaped text is not escaped again.
std::string TerminalSafe(std::string_view text);
// Applies TerminalSafe to each line of `text`; the line ends stay.
std::string TerminalSafeLines(std::string_view text);

// The character that C and JSON write after a backslash for `byte`: a line feed, tab, carriage
// return or backslash. 0 for other bytes.
char EscapeLetter(char byte);

// Two hexadecimal digits for each byte, in lower case. WriteHex writes them to `out` and returns
// their end.
char* WriteHex(std::string_view bytes, char* out);
void AppendHex(std::string_view bytes, std::string& out);
std::string Hex(std::string_view bytes);

// Appends `text` as a JSON string, or {"hex": "..."} if it is not UTF-8.
void AppendJsonBytes(std::string_view text, std::string& out);

// Appends `text` as the name of a member of a JSON object. A name must be a JSON string, so text
// that is not UTF-8 is escaped by TerminalSafe first.
void AppendJsonName(std::string_view text, std::string& out);

}  // namespace cfile::tools
