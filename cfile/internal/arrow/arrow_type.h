// The Arrow type of a column.
#pragma once

#include <cstdint>
#include <string>

#include "cfile/internal/arrow/c_data.h"
#include "cfile/types.h"

namespace cfile::internal {

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
