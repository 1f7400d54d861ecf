// RecordVisitor: the interface through which records are passed piece by piece, from a reader or to
// a writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

// A value of a leaf column, in the C++ type for its ColumnType (cfile/types.h).
using RecordValue =
    std::variant<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                 int128_t, Int96, float, double, std::string_view>;

// Receives records. `node` is a node number of the schema (cfile/record_schema.h); 0 is the record.
//
// A group is passed as a call of BeginGroup, the calls for the fields of the group, and a call of
// EndGroup. A repeated field is passed once for each element, an optional field once or not at all.
// The fields of a group may come in any order; the elements of a repeated field come in their
// order. Lists and maps are passed as the groups they consist of.
//
// If a call returns an error, the record ends there, and the caller returns this error.
class CFILE_EXPORT RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;
  virtual absl::Status BeginGroup(size_t node) = 0;
  virtual absl::Status EndGroup(size_t node) = 0;
  // A string_view in `value` is valid during the call only.
  virtual absl::Status Value(size_t node, const RecordValue& value) = 0;
};

}  // namespace cfile
