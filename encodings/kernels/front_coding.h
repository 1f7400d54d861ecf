// Rebuilds front-coded strings: strings that are stored as the number of bytes that they share with
// the string before, and their other bytes (the suffix).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cfile::encodings {

// The longest strings that JoinShortStrings can rebuild, in bytes.
inline constexpr size_t kMaxShortStringBytes = 64;

// Writes `out.size()` strings to memory, one after the other from `to` on, and views of them to
// `out`. String i has the first shared[i] bytes of the string before it, then unshared[i] bytes of
// `suffixes`, where the suffixes lie back to back. `previous` is the string before the first one.
//
// Preconditions: no string has more than kMaxShortStringBytes bytes; shared[i] is at most the size
// of the string before. kMaxShortStringBytes bytes are readable at `previous`, before `suffixes`
// and after the last suffix, and writable after the last string.
void JoinShortStrings(const uint32_t* shared, const uint32_t* unshared, const uint8_t* previous,
                      const uint8_t* suffixes, uint8_t* to, std::span<std::string_view> out);

}  // namespace cfile::encodings
