// Keys in memcmp form: bytes whose unsigned order is the order of the values (cfile/FORMAT.md,
// Index nodes).
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "encodings/core/key_order.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal {

// Appends the memcmp form of `value`: integers big-endian, signed integers with the sign bit
// flipped; floats big-endian, with all bits flipped if the sign bit is set, otherwise with the sign
// bit flipped; bool as one byte; strings and bytes unchanged.
template <typename T>
void AppendKey(const T& value, std::string& out) {
  if constexpr (encodings::kIsBytes<T>) {
    out.append(value);
  } else if constexpr (encodings::kIsFloat<T>) {
    AppendKey(encodings::OrderedBits(value), out);
  } else if constexpr (std::is_same_v<T, bool>) {
    out.push_back(value ? '\1' : '\0');
  } else {
    using Bits = std::conditional_t<(sizeof(T) > 8), encodings::uint128_t, uint64_t>;
    Bits bits = static_cast<Bits>(value);
    // std::is_signed is false for __int128 in strict mode.
    if constexpr (std::is_signed_v<T> || std::is_same_v<T, encodings::int128_t>)
      bits ^= Bits{1} << (8 * sizeof(T) - 1);
    for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
      out.push_back(static_cast<char>(static_cast<uint8_t>(bits >> shift)));
    }
  }
}

// Parses a key in memcmp form. False if `key` is not the key of a value of T. If T is a string,
// Value is std::string.
template <typename T, typename Value>
bool ParseKey(std::string_view key, Value& value) {
  if constexpr (encodings::kIsBytes<T>) {
    value.assign(key);
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = key == std::string_view("\1", 1);
    return value || key == std::string_view("\0", 1);
  } else {
    if (key.size() != sizeof(T)) return false;
    using Bits = std::conditional_t<(sizeof(T) > 8), encodings::uint128_t,
                                    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    Bits bits = 0;
    for (const char byte : key) bits = bits << 8 | static_cast<uint8_t>(byte);
    if constexpr (encodings::kIsFloat<T>) {
      constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
      value = std::bit_cast<T>((bits & kSign) != 0 ? bits ^ kSign : ~bits);
      return encodings::IsKey(value);
    } else {
      if constexpr (static_cast<T>(-1) < static_cast<T>(0)) bits ^= Bits{1} << (8 * sizeof(T) - 1);
      value = static_cast<T>(bits);
      return true;
    }
  }
}

// Returns how many bytes of `first`, the first key of a block, the index keeps: enough to be
// greater than `previous_last`, the last key of the previous block, or all bytes if the two keys
// are equal. Precondition: previous_last <= first.
size_t SeparatingLength(std::string_view previous_last, std::string_view first);

}  // namespace cfile::internal
