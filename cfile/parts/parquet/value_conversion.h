// Converts Parquet's values for columns that store them in another way: decimals of another width,
// and times of INT96.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "encodings/core/lane.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Converts integers to wider integers, and bytes, in two's complement with the most significant
// byte first, to any integer that holds their value. Converts Int96, a day and its nanoseconds, to
// nanoseconds since 1970. Returns false if `value` does not fit.
template <typename P, typename T>
bool ConvertValue(const P& value, T& out) {
  if constexpr (std::is_same_v<P, encodings::Int96>) {
    return NanosOfInt96(value, out);
  } else if constexpr (encodings::kIsBytes<P>) {
    // The bytes before the last sizeof(T) must only repeat the sign.
    using encodings::uint128_t;
    const bool negative = !value.empty() && static_cast<uint8_t>(value[0]) >= 0x80;
    const size_t skipped = value.size() - std::min(value.size(), sizeof(T));
    for (const char byte : value.substr(0, skipped)) {
      if (static_cast<uint8_t>(byte) != (negative ? 0xff : 0)) return false;
    }
    uint128_t bits = negative ? ~uint128_t{0} : 0;
    for (const char byte : value.substr(skipped)) bits = bits << 8 | static_cast<uint8_t>(byte);
    out = static_cast<T>(bits);
    return value.empty() || negative == (out < 0);
  } else {
    static_assert(sizeof(P) <= sizeof(T));
    out = value;
    return true;
  }
}

// Converts values of P to the front of `out`, an array of T. kDataLoss, or kInvalidArgument for
// times: a value does not fit. `first`: the number of the first value in the page, for the message.
template <typename P, typename T>
absl::Status ConvertValues(encodings::ValueSpan values, uint64_t first, void* out) {
  for (size_t i = 0; i < values.count; ++i) {
    if (ConvertValue(values.As<P>()[i], static_cast<T*>(out)[i])) continue;
    if constexpr (std::is_same_v<P, encodings::Int96>) {
      return absl::InvalidArgumentError(
          encodings::StrCat("value ", first + i,
                            " is not a time between the years 1677 and 2262, so it is no "
                            "timestamp(ns): give the column the type int96"));
    } else {
      return encodings::DataLoss("value ", first + i, " does not fit ", 8 * sizeof(T), " bits");
    }
  }
  return absl::OkStatus();
}

using Conversion = absl::Status (*)(encodings::ValueSpan values, uint64_t first, void* out);

// Returns ConvertValues for the C++ types of `from` and `to`, or null if there is no such
// conversion.
inline Conversion ConversionOf(encodings::PhysicalType from, encodings::PhysicalType to) {
  return encodings::VisitPhysicalType(to, [&]<typename T>(std::type_identity<T>) -> Conversion {
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                  std::is_same_v<T, encodings::int128_t>) {
      using encodings::PhysicalType;
      if (from == PhysicalType::kInt32) return ConvertValues<int32_t, T>;
      if constexpr (sizeof(T) >= sizeof(int64_t)) {
        if (from == PhysicalType::kInt64) return ConvertValues<int64_t, T>;
      }
      if constexpr (std::is_same_v<T, int64_t>) {
        if (from == PhysicalType::kInt96) return ConvertValues<encodings::Int96, T>;
      }
      return ConvertValues<std::string_view, T>;
    }
    return nullptr;
  });
}

}  // namespace cfile::internal
