// Describes the Arrow type of a column, and the parts that exports and imports share.
#pragma once

#include <cstdint>
#include <string_view>

#include "cfile/parts/arrow/c_data.h"
#include "cfile/types.h"

namespace cfile::internal {

// The types whose Arrow format is one letter. Of several types with one letter, the first is that
// of imported values.
struct FormatLetter {
  char letter;
  DataType type;
};
inline constexpr FormatLetter kFormatLetters[] = {
    {'c', DataType::kInt8},   {'C', DataType::kUint8},   {'s', DataType::kInt16},
    {'S', DataType::kUint16}, {'i', DataType::kInt32},   {'I', DataType::kUint32},
    {'l', DataType::kInt64},  {'L', DataType::kUint64},  {'f', DataType::kFloat},
    {'g', DataType::kDouble}, {'b', DataType::kBool},    {'b', DataType::kIsDeleted},
    {'u', DataType::kString}, {'u', DataType::kVarchar}, {'z', DataType::kBinary},
};

// The letter of each time unit in Arrow formats. The index is a TimeUnit.
inline constexpr std::string_view kTimeUnitLetters = "?smun";

// An int96 holds the nanoseconds of a day and the number of the day.
inline constexpr int64_t kNanosPerDay = 86'400'000'000'000;
inline constexpr int64_t kJulianDayOf1970 = 2'440'588;

// Converts an int96 to a time since 1970 in units of `unit_nanos`, a divisor of a day. Returns
// false if it is no whole number of units or does not fit 64 bits.
inline bool TimeOfInt96(const Int96& value, int64_t unit_nanos, int64_t& time) {
  const auto of_day = static_cast<int64_t>(uint64_t{value.words[1]} << 32 | value.words[0]);
  const int64_t day = value.words[2] - kJulianDayOf1970;
  int64_t days_time;
  return of_day % unit_nanos == 0 &&
         !__builtin_mul_overflow(day, kNanosPerDay / unit_nanos, &days_time) &&
         !__builtin_add_overflow(days_time, of_day / unit_nanos, &time);
}
inline bool NanosOfInt96(const Int96& value, int64_t& nanos) {
  return TimeOfInt96(value, 1, nanos);
}

// Returns the number of decimal digits of a decimal column, or of an int128 column, which is a
// decimal in Arrow. Returns 0 for other types.
int32_t DecimalDigits(const ColumnType& type);

// How the values of a column are stored in an Arrow array.
enum class ArrowLayout : uint8_t {
  kSame,        // as the column's C++ type
  kBits,        // bools, one bit each
  kDecimal128,  // integers, 16 bytes each
  kTimestamp,   // int96, as nanoseconds since 1970
  kFixedBytes,  // bytes of the type's length
  kStrings,     // int32 offsets and bytes
  kViews,       // views of 16 bytes each
  kDictionary   // int32 indexes
};

// Returns how values of `type` are stored; never kDictionary, which the caller may choose instead
// of kStrings or kViews. Precondition: Validate(type).ok().
ArrowLayout LayoutOf(const ColumnType& type, bool string_views);

// Sets format, dictionary and metadata of `field`.
void SetType(const ColumnType& type, ArrowLayout layout, ArrowField& field);

}  // namespace cfile::internal
