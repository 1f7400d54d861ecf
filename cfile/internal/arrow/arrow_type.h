// The Arrow type of a column, and what exports and imports share.
#pragma once

#include <cstdint>
#include <string_view>

#include "cfile/internal/arrow/c_data.h"
#include "cfile/types.h"

namespace cfile::internal {

// The types whose format is one letter. Of several types with one letter, the first is the type of
// imported values.
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

// The letters of the time units in formats, by TimeUnit.
inline constexpr std::string_view kTimeUnitLetters = "?smun";

// An int96 has the nanoseconds of a day and the number of the day.
inline constexpr int64_t kNanosPerDay = 86'400'000'000'000;
inline constexpr int64_t kJulianDayOf1970 = 2'440'588;

// The decimal digits of the values of a decimal column, or of an int128 in Arrow; 0 for other
// types.
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

// Returns how values of `type` are stored. kDictionary is the caller's choice, instead of kStrings
// or kViews. Precondition: Validate(type).ok().
ArrowLayout LayoutOf(const ColumnType& type, bool string_views);

// Sets format, dictionary and metadata of `field`.
void SetType(const ColumnType& type, ArrowLayout layout, ArrowField& field);

}  // namespace cfile::internal
