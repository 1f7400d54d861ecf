// Text that may be UTF-8 or may not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cfile::tools {

// True if `text` is valid UTF-8: nothing cut off or overlong, no surrogates.
bool IsUtf8(std::string_view text);

// Characters (code points) of `text`.
size_t CountCharacters(std::string_view text);

// `text` in double quotes for a message: control characters and what is not UTF-8 escaped, a long
// text cut.
std::string Quoted(std::string_view text);

}  // namespace cfile::tools
