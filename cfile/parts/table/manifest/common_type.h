// Which types hold the values of other types.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "cfile/types.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal {

template <typename T>
inline constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);

// True if the values of From may be copied to To, and the order of the memcmp forms is the same.
// For integers and double, this is true of exact values only (IsExact).
template <typename From, typename To>
constexpr bool Holds() {
  if constexpr (std::is_same_v<From, bool> || std::is_same_v<To, bool>) {
    return std::is_same_v<From, To>;
  } else if constexpr (kIsInteger<From> && std::is_same_v<To, double>) {
    return sizeof(From) <= sizeof(int64_t);
  } else if constexpr (kIsInteger<From> && kIsInteger<To>) {
    return kSigned<From> == kSigned<To> ? sizeof(From) <= sizeof(To)
                                        : kSigned<To> && sizeof(From) < sizeof(To);
  } else {
    return std::is_same_v<From, To> || (std::is_same_v<From, float> && std::is_same_v<To, double>);
  }
}

// True if To has a number that is equal to `value`. Only integers that become double may have none.
template <typename From, typename To>
constexpr bool IsExact(From value) {
  if constexpr (kIsInteger<From> && std::is_same_v<To, double>) {
    return static_cast<int128_t>(static_cast<double>(value)) == static_cast<int128_t>(value);
  }
  return true;
}

// True if a column of the type `from` may become one of the type `to` (WidenColumn).
bool IsWider(const ColumnType& from, const ColumnType& to);

// True if a column of the type `to` can get values of a column of the type `from`: integers in
// double only if they are exact.
bool IsStorable(const ColumnType& from, const ColumnType& to);

// Returns a type for the values of both types: `old`, of a table, and `added`. Values that IsExact
// refuses do not fit. No value: there is no such type.
std::optional<ColumnType> CommonType(const ColumnType& old, const ColumnType& added);

}  // namespace cfile::internal
