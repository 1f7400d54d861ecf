// What the values of a column mean: which text form they have (tools/value_text.h).
#pragma once

#include <cstdint>

#include "cfile/types.h"

namespace cfile::tools {

// The meaning of the integers of a column.
enum class Meaning : uint8_t { kNumber, kDate, kTime, kTimestamp, kDecimal };

inline Meaning MeaningOf(const ColumnType& type) {
  switch (type.data_type) {
    case DataType::kDate:
      return Meaning::kDate;
    case DataType::kUnixtimeMicros:
      return Meaning::kTimestamp;
    case DataType::kDecimal32:
    case DataType::kDecimal64:
    case DataType::kDecimal128:
      // Without a precision the scale is not known either.
      return type.decimal_precision > 0 ? Meaning::kDecimal : Meaning::kNumber;
    default:
      break;
  }
  if (type.logical == LogicalType::kTimestamp) return Meaning::kTimestamp;
  if (type.logical == LogicalType::kTime) return Meaning::kTime;
  return Meaning::kNumber;
}

// The unit of times and timestamps.
inline TimeUnit UnitOf(const ColumnType& type) {
  return type.data_type == DataType::kUnixtimeMicros ? TimeUnit::kMicros : type.time_unit;
}

// True if timestamps are in UTC; false if they have no time zone.
inline bool IsZoned(const ColumnType& type) {
  return type.data_type == DataType::kUnixtimeMicros || !type.time_zone.empty();
}

// True if the bytes of the values are text; false for binary values.
inline bool IsText(const ColumnType& type) {
  return type.data_type == DataType::kString || type.data_type == DataType::kVarchar;
}

}  // namespace cfile::tools
