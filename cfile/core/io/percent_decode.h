// Percent-encoding (RFC 3986, 2.1): of URLs, of the folders of a partitioned Parquet directory, and
// of the keys in a list of S3 objects.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace cfile::internal {

// Decodes each %XX of `text` once. Returns false if a % is not followed by two hexadecimal digits.
inline bool PercentDecode(std::string_view text, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const char* const digits = text.data() + i + 1;
    uint8_t byte;
    if (text.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      return false;
    out += static_cast<char>(byte);
    i += 2;
  }
  return true;
}

}  // namespace cfile::internal
