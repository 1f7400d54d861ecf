// Keys in memcmp form: bytes whose unsigned order is the order of the values (cfile/FORMAT.md,
// Index nodes).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "encodings/core/key_order.h"
#include "encodings/core/lane.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal {

// Writes the memcmp form of a number, sizeof(T) bytes: integers big-endian, signed integers with
// the sign bit flipped; floats big-endian, with all bits flipped if the sign bit is set, otherwise
// with the sign bit flipped; bool as one byte.
template <typename T>
void PutNumberKey(const T& value, char* key) {
  if constexpr (encodings::kIsFloat<T>) {
    PutNumberKey(encodings::OrderedBits(value), key);
  } else if constexpr (std::is_same_v<T, bool>) {
    *key = value ? '\1' : '\0';
  } else {
    using Bits = std::conditional_t<(sizeof(T) > 8), encodings::uint128_t, uint64_t>;
    Bits bits = static_cast<Bits>(value);
    // std::is_signed is false for __int128 in strict mode.
    if constexpr (std::is_signed_v<T> || std::is_same_v<T, encodings::int128_t>)
      bits ^= Bits{1} << (8 * sizeof(T) - 1);
    for (size_t i = 0; i < sizeof(T); ++i)
      key[i] = static_cast<char>(static_cast<uint8_t>(bits >> 8 * (sizeof(T) - 1 - i)));
  }
}

// Appends the memcmp form of `value`; strings and bytes are unchanged.
template <typename T>
void AppendKey(const T& value, std::string& out) {
  if constexpr (encodings::kIsBytes<T>) {
    out.append(value);
  } else {
    char key[sizeof(T)];
    PutNumberKey(value, key);
    out.append(key, sizeof key);
  }
}

// A key without its C++ type: `value` points to a value of the C++ type of `type`. A view.
struct KeyRef {
  const void* value;
  encodings::PhysicalType type;
};
void AppendNumberKey(KeyRef key, std::string& out);  // implements AppendKey for numbers
inline void AppendKey(KeyRef key, std::string& out) {
  if (key.type == encodings::PhysicalType::kBytes ||
      key.type == encodings::PhysicalType::kFixedBytes) {
    out.append(*static_cast<const std::string_view*>(key.value));
  } else {
    AppendNumberKey(key, out);
  }
}
// Implement IsKey and FirstEqualKey for floats.
bool IsFloatKey(KeyRef key);
const void* FirstEqualFloat(KeyRef key);
inline bool IsFloatType(encodings::PhysicalType type) {
  return type == encodings::PhysicalType::kFloat || type == encodings::PhysicalType::kDouble;
}
// encodings::IsKey and FirstEqualKey. The result points to key.value or to a constant.
inline bool IsKey(KeyRef key) { return !IsFloatType(key.type) || IsFloatKey(key); }
inline const void* FirstEqualKey(KeyRef key) {
  return IsFloatType(key.type) ? FirstEqualFloat(key) : key.value;
}
// The other end of the keys that are equal to `key`: 0 for 0 and -0.
const void* LastEqualKey(KeyRef key);
// encodings::KeyLess for values of the C++ type of `type`.
using LessFunction = bool (*)(const void* a, const void* b);
LessFunction KeyLessOf(encodings::PhysicalType type);

// A key that owns its bytes. Movable. Thread-compatible.
class OwnedKey {
 public:
  void Set(KeyRef key);
  // Sets the key from its memcmp form. Returns false if it is not the key of a value of `type`.
  bool Parse(std::string_view key, encodings::PhysicalType type);
  // The key, until it is set or moved.
  const void* value() const { return is_bytes_ ? static_cast<const void*>(&view_) : number_; }

 private:
  alignas(16) uint8_t number_[16] = {};
  std::unique_ptr<std::string> bytes_;
  std::string_view view_;  // of bytes_
  bool is_bytes_ = false;
};

// A value that cannot follow the values before it in a column with a value index.
struct OrderFault {
  size_t index = 0;
  bool is_key = false;  // true: the value is less than the one before it; false: it is no key
};
// Finds the first such value. `previous`: the value before the first one, or null.
std::optional<OrderFault> FindOrderFault(encodings::ValueSpan values, encodings::PhysicalType type,
                                         const void* previous);

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

// Returns the least key that is greater than all keys that begin with `prefix`; nullopt if there is
// none.
std::optional<std::string> AfterPrefix(std::string prefix);

}  // namespace cfile::internal
