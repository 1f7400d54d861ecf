// Reads the values of the array of a leaf.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/parts/arrow/import_slots.h"
#include "cfile/parts/arrow/import_type.h"

namespace cfile::internal {

// Memory that is used again for each batch. Thread-compatible.
template <typename T>
class ValueBuffer {
 public:
  // Returns room for `count` values. The contents of the room are undefined.
  T* Resize(size_t count) {
    if (count > capacity_) {
      values_.reset(new T[count]);
      capacity_ = count;
    }
    return values_.get();
  }

 private:
  std::unique_ptr<T[]> values_;
  size_t capacity_ = 0;
};

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
