// A record, told piece by piece: the one seam between where records come from and where they go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "cfile/types.h"

namespace cfile {

// A value of a leaf, in the C++ type that the leaf's ColumnType takes (cfile/types.h).
using RecordValue =
    std::variant<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                 int128_t, Int96, float, double, std::string_view>;

// Takes records. `node` is a number of the schema's (cfile/record_schema.h), 0 the record.
//
// A group is told by BeginGroup, its fields, EndGroup; a field once for each time that it stands
// there: a repeated one any number of times, an optional one once or not at all. Fields may come in
// any order; those that repeat keep theirs. Lists and maps are told as the groups they are made of.
//
// An error that a call returns ends the record, and comes back from what tells it.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;
  virtual absl::Status BeginGroup(size_t node) = 0;
  virtual absl::Status EndGroup(size_t node) = 0;
  // A view in `value` is valid during the call.
  virtual absl::Status Value(size_t node, const RecordValue& value) = 0;
};

}  // namespace cfile
