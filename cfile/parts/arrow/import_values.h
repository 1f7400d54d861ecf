// Reads the values of the array of a leaf.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/parts/arrow/import_slots.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/types.h"
#include "encodings/core/lane.h"

namespace cfile::internal {

// Memory that is used again for each batch. Thread-compatible.
class ValueBuffer {
 public:
  // Returns uninitialised room for `count` values.
  template <typename T>
  T* Resize(size_t count) {
    if (count * sizeof(T) > size_bytes_) {
      size_bytes_ = count * sizeof(T);
      bytes_.reset(new std::byte[size_bytes_]);
    }
    return reinterpret_cast<T*>(bytes_.get());
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_bytes_ = 0;
};

// Returns the values at `slots` as values of `type`; undefined values for nulls. They are in
// `buffer`, or in the array's memory if its values are of this type, dense and aligned.
// Preconditions: CheckArray and CheckStorable returned OK. kInvalidArgument: a string is not in its
// buffer, a date is not a whole day, or a decimal does not fit.
absl::StatusOr<encodings::ValueSpan> ReadValues(PhysicalType type, const ImportField& field,
                                                const ArrowArray& array, const Slots& slots,
                                                ValueBuffer& buffer);

}  // namespace cfile::internal
