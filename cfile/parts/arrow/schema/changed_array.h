// Arrays of types that no column has, as arrays that a column stores, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/parts/arrow/c_data.h"

namespace cfile::internal {

// How the arrays of a field change.
enum class Change : uint8_t {
  kNone,
  kHalfToFloat,
  kFloatToHalf,
  kNullToString,
  kToNull,
  kToFixedLists,
  kFixedListsToBytes,
  kListsToBytes,
  kBytesToFixedLists
};

struct FieldChange {
  Change own = Change::kNone;
  bool large_lists = false;           // the offsets of the lists that change have 64 bits
  ArrowField lists;                   // for the changes of lists: the lists of a fixed length
  std::vector<FieldChange> children;  // one for each child; none if no child changes

  bool any() const { return own != Change::kNone || !children.empty(); }
};

// The length of lists of a fixed length, and the size in bytes of one of them. Both are 0 for other
// types, and for lists whose elements are no numbers.
size_t ListWidth(const ArrowField& field);
size_t ListBytes(const ArrowField& field);

// Replaces *array, and those children that change. `field`: the new type. `path`: its name in
// errors; "" for a struct of columns. After an error the caller releases *array, as before.
absl::Status ChangeArray(const FieldChange& change, const ArrowField& field,
                         const std::string& path, ArrowArray* array);

}  // namespace cfile::internal
