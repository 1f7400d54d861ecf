// Reads the values of the array of a leaf.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/parts/arrow/import_slots.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/parts/arrow/value_buffer.h"

namespace cfile::internal {

// Returns the values at `slots`. The value of a null is undefined.
// The result is in `buffer`. If the array's values are of type T, dense and aligned, the result is
// in the array's memory instead.
// Preconditions: CheckArray and CheckStorable returned OK.
// kInvalidArgument: a string is not in its buffer, a date is not a whole day,
// or a decimal does not fit.
template <typename T>
absl::StatusOr<std::span<const T>> ReadValues(const ImportField& field, const ArrowArray& array,
                                              const Slots& slots, ValueBuffer<T>& buffer);

}  // namespace cfile::internal
