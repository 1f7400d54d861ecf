// Converts Parquet's values for columns that store them in another way: decimals of another width,
// times of INT96, and numbers of a wider type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "cfile/parts/arrow/arrow_type.h"
#include "cfile/parts/table/manifest/common_type.h"
#include "cfile/types.h"
#include "encodings/core/lane.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Converts numbers to wider types, and bytes, in two's complement with the most significant
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
    static_assert(Holds<P, T>());
    out = static_cast<T>(value);
    return IsExact<P, T>(value);
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
                            "timestamp(ns): give the column the type timestamp(us) or int96"));
    } else if constexpr (std::is_same_v<T, double>) {
      return absl::InvalidArgumentError(
          encodings::StrCat("value ", first + i, " is ", values.As<P>()[i],
                            ", to which no double is equal; the column has the type double"));
    } else {
      return encodings::DataLoss("value ", first + i, " does not fit ", 8 * sizeof(T), " bits");
    }
  }
  return absl::OkStatus();
}

// True for the type that holds the times of INT96 of all years, if they have whole microseconds.
inline bool IsMicros(const ColumnType& type) {
  return type == ColumnType::Timestamp(TimeUnit::kMicros, "");
}

// Converts times of INT96 to microseconds since 1970. Errors as ConvertValues.
inline absl::Status ConvertToMicros(encodings::ValueSpan values, uint64_t first, void* out) {
  for (size_t i = 0; i < values.count; ++i) {
    const encodings::Int96& time = values.As<encodings::Int96>()[i];
    if (TimeOfInt96(time, 1000, static_cast<int64_t*>(out)[i])) continue;
    return absl::InvalidArgumentError(
        encodings::StrCat("value ", first + i,
                          " is not a whole number of microseconds, so it is no timestamp(us): give "
                          "the column the type int96"));
  }
  return absl::OkStatus();
}

using Conversion = absl::Status (*)(encodings::ValueSpan values, uint64_t first, void* out);

// The conversion of a column without values.
inline absl::Status RefuseValues(encodings::ValueSpan, uint64_t first, void*) {
  return encodings::DataLoss("there is a value, ", first,
                             ", but the metadata say that all values are null");
}

// Returns ConvertValues for the C++ types of `from` and `to`, or RefuseValues if there is no such
// conversion. Integers of at most 32 bits have the type int32_t or uint32_t in pages.
inline Conversion ConversionOf(encodings::PhysicalType from, const ColumnType& to) {
  if (from == encodings::PhysicalType::kInt96 && IsMicros(to)) return ConvertToMicros;
  return encodings::VisitPhysicalType(from, [&]<typename P>(std::type_identity<P>) {
    return encodings::VisitPhysicalType(
        to.physical(), []<typename T>(std::type_identity<T>) -> Conversion {
          constexpr bool kInt = std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                                std::is_same_v<T, encodings::int128_t>;
          constexpr bool kPage = sizeof(P) == sizeof(int32_t) || sizeof(P) == sizeof(int64_t);
          if constexpr ((encodings::kIsBytes<P> && kInt) ||
                        (std::is_same_v<P, encodings::Int96> && std::is_same_v<T, int64_t>) ||
                        (kPage && sizeof(T) >= sizeof(int64_t) && !std::is_same_v<P, T> &&
                         Holds<P, T>())) {
            return ConvertValues<P, T>;
          }
          return RefuseValues;
        });
  });
}

}  // namespace cfile::internal
