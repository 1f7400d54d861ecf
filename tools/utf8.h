// Text that may be UTF-8 or may not, and how it is shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cfile::tools {

// True if `text` is valid UTF-8: nothing cut off or overlong, no surrogates.
bool IsUtf8(std::string_view text);

// Characters (code points) of `text`.
size_t CountCharacters(std::string_view text);

// `text` in double quotes for a message, escaped as in AppendPrintable; a long text is cut.
std::string Quoted(std::string_view text);

// Appends `text` so that it stays on its line and cannot be mistaken: control characters, the
// backslash and what is not UTF-8 are escaped as in C. In double quotes (and then with \") if it is
// empty, is the word null or begins with a quote.
void AppendPrintable(std::string_view text, std::string& out);
std::string Printable(std::string_view text);

// `text` for a terminal: control characters and bytes that are not UTF-8 are escaped as in C.
// Everything else stays, backslashes too, so a message that holds escaped text is not changed.
std::string TerminalSafe(std::string_view text);
// The same for each line; the line ends stay.
std::string TerminalSafeLines(std::string_view text);

// The letter that C and JSON write after a backslash for `byte`, 0 if it has none.
char EscapeLetter(char byte);

// Two hexadecimal digits for each byte.
void AppendHex(std::string_view bytes, std::string& out);
std::string Hex(std::string_view bytes);

// Appends `text` as a JSON string, or {"hex": "..."} if it is not UTF-8.
void AppendJsonBytes(std::string_view text, std::string& out);

// Appends `text` as the name of a member of a JSON object, which has to be a string: of a text that
// is not UTF-8 the one that TerminalSafe makes.
void AppendJsonName(std::string_view text, std::string& out);

}  // namespace cfile::tools
