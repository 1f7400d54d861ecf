// Parses numbers.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "absl/strings/charconv.h"

namespace cfile::tools {

// Parses `text`, which must be a number in the form of std::from_chars and nothing else. Returns
// std::errc(), invalid_argument, or result_out_of_range.
template <typename T>
std::errc ParseNumber(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
#ifndef __cpp_lib_to_chars  // libc++ before version 20 has std::from_chars only for integers
  if constexpr (std::is_floating_point_v<T>) {
    // Unlike std::from_chars, Abseil's function reads hexadecimal digits after 0x.
    if (text.find_first_of("xX") != std::string_view::npos) return std::errc::invalid_argument;
    const auto [stop, error] = absl::from_chars(text.data(), end, value);
    return stop == end ? error : std::errc::invalid_argument;
  } else  // NOLINT: the other branch must not be compiled
#endif
  {
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return stop == end ? error : std::errc::invalid_argument;
  }
}

}  // namespace cfile::tools
