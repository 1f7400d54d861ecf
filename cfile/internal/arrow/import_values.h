// Reads the values of a leaf array.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/internal/arrow/import_slots.h"
#include "cfile/internal/arrow/import_type.h"
#include "cfile/types.h"

namespace cfile::internal {

// Memory for values that is used again and again.
template <typename T>
class ValueBuffer {
 public:
  // Returns room for `count` values.
  T* Resize(size_t count) {
    if (count > capacity_) {
      values_ = std::make_unique_for_overwrite<T[]>(count);
      capacity_ = count;
    }
    return values_.get();
  }

 private:
  std::unique_ptr<T[]> values_;
  size_t capacity_ = 0;
};

// Returns the values at `slots`. The values of nulls are any values. The result is in `buffer`, or
// in the array's memory if its values are of type T, dense and aligned. Preconditions: CheckArray
// and CheckStorable returned OK. kInvalidArgument: a string is not in its buffer, a date is not a
// whole day, or a decimal does not fit.
template <typename T>
absl::StatusOr<std::span<const T>> ReadValues(const ImportField& field, const ArrowArray& array,
                                              const Slots& slots, ValueBuffer<T>& buffer);

}  // namespace cfile::internal
