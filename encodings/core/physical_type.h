// The C++ types that encodings work on. Logical types (dates, decimals, timestamps, ...) are in
// cfile/types.h; each is stored as one of these types.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/core/export.h"

namespace cfile::encodings {

__extension__ typedef __int128 int128_t;
__extension__ typedef unsigned __int128 uint128_t;

// Parquet's INT96: 12 bytes for which Parquet defines no meaning and no order. (Deprecated. Impala
// and Spark stored timestamps in it: nanoseconds of the day in the first 8 bytes, then the Julian
// day.)
struct CFILE_EXPORT Int96 {
  constexpr Int96() = default;
  // Converts from the low 96 bits of a number, and back.
  constexpr explicit Int96(uint128_t bits)
      : words{static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32),
              static_cast<uint32_t>(bits >> 64)} {}
  constexpr explicit operator uint128_t() const {
    return uint128_t{words[2]} << 64 | uint128_t{words[1]} << 32 | words[0];
  }

  friend bool operator==(const Int96&, const Int96&) = default;
  // Compares as 96-bit numbers. Exists so that code for all types compiles; columns of INT96 have
  // no order.
  friend constexpr bool operator<(const Int96& a, const Int96& b) {
    return uint128_t{a} < uint128_t{b};
  }

  uint32_t words[3];  // least significant first
};
static_assert(sizeof(Int96) == 12);

// The type of the values of a block. Fixed-length bytes are handled as std::string_view; every
// value has the column's type length.
enum class PhysicalType : uint8_t {
  kBool,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kInt128,
  kInt96,
  kFloat,
  kDouble,
  kBytes,       // std::string_view, any length
  kFixedBytes,  // std::string_view, all of type_length bytes
};
inline constexpr int kNumPhysicalTypes = 15;

// Expands to F(T) for each integer type of at most 64 bits.
#define CFILE_FOR_EACH_WORD_INTEGER(F) \
  F(int8_t)                            \
  F(uint8_t)                           \
  F(int16_t)                           \
  F(uint16_t)                          \
  F(int32_t)                           \
  F(uint32_t)                          \
  F(int64_t)                           \
  F(uint64_t)

// Expands to F(T) for each integer type of at most 64 bits, for float and for double.
#define CFILE_FOR_EACH_NUMBER(F) \
  CFILE_FOR_EACH_WORD_INTEGER(F) \
  F(float)                       \
  F(double)

// The only list of C++ value types: expands to F(T) for each type. All code that is instantiated
// for each type uses this list.
#define CFILE_FOR_EACH_VALUE_TYPE(F) \
  F(bool)                            \
  CFILE_FOR_EACH_WORD_INTEGER(F)     \
  F(::cfile::encodings::int128_t)    \
  F(::cfile::encodings::Int96)       \
  F(float)                           \
  F(double)                          \
  F(std::string_view)

// True if T is in CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
inline constexpr bool kIsValueType = false;
#define CFILE_IS_VALUE_TYPE(T) \
  template <>                  \
  inline constexpr bool kIsValueType<T> = true;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_IS_VALUE_TYPE)
#undef CFILE_IS_VALUE_TYPE

// Calls visit(std::type_identity<T>{}), where T is the C++ type of `type`, and returns its result.
template <typename Visitor>
decltype(auto) VisitPhysicalType(PhysicalType type, Visitor&& visit) {
  switch (type) {
    case PhysicalType::kBool:
      return visit(std::type_identity<bool>{});
    case PhysicalType::kInt8:
      return visit(std::type_identity<int8_t>{});
    case PhysicalType::kUint8:
      return visit(std::type_identity<uint8_t>{});
    case PhysicalType::kInt16:
      return visit(std::type_identity<int16_t>{});
    case PhysicalType::kUint16:
      return visit(std::type_identity<uint16_t>{});
    case PhysicalType::kInt32:
      return visit(std::type_identity<int32_t>{});
    case PhysicalType::kUint32:
      return visit(std::type_identity<uint32_t>{});
    case PhysicalType::kInt64:
      return visit(std::type_identity<int64_t>{});
    case PhysicalType::kUint64:
      return visit(std::type_identity<uint64_t>{});
    case PhysicalType::kInt128:
      return visit(std::type_identity<int128_t>{});
    case PhysicalType::kInt96:
      return visit(std::type_identity<Int96>{});
    case PhysicalType::kFloat:
      return visit(std::type_identity<float>{});
    case PhysicalType::kDouble:
      return visit(std::type_identity<double>{});
    case PhysicalType::kBytes:
    case PhysicalType::kFixedBytes:
      return visit(std::type_identity<std::string_view>{});
  }
  CFILE_ASSERT(false && "unknown PhysicalType");
  std::abort();
}

// True if the values of a block of `type` have the C++ type T.
template <typename T>
bool HoldsType(PhysicalType type) {
  return VisitPhysicalType(type,
                           [](auto t) { return std::is_same_v<typename decltype(t)::type, T>; });
}

template <typename T>
inline constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;

// Returns the size of the values in bytes; for strings, the size of their characters.
template <typename T>
size_t OwnBytes(std::span<const T> values) {
  if constexpr (kIsBytes<T>) {
    size_t bytes = 0;
    for (const T& value : values) bytes += value.size();
    return bytes;
  } else {
    return values.size_bytes();
  }
}

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;

// True if T is an integer, not bool. (std::is_integral is false for __int128 in strict mode.)
template <typename T>
inline constexpr bool kIsInteger = std::is_same_v<T, int128_t> ||
                                   (std::is_integral_v<T> && !std::is_same_v<T, bool>);

}  // namespace cfile::encodings
