// Values of the C interface (cfile/c.h): single values, arrays of values, and batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/c.h"
#include "cfile/filter.h"
#include "cfile/types.h"

namespace cfile::internal {

// Returns the value as a constant of a filter.
// kInvalidArgument: the value is null, or its kind is unknown.
absl::StatusOr<Literal> LiteralOf(const cfile_value& value);

// Returns the value as a value of a column; a string points to the bytes of `value`.
// kInvalidArgument: `value` is no value of `type`. Precondition: HoldsType<T>(type).
template <ValueType T>
absl::StatusOr<T> ValueOf(const ColumnType& type, const cfile_value& value);

// True if std::string_view has the layout of cfile_bytes, as in libstdc++. Known at compile time.
inline bool ViewsAreBytes() {
  const std::string_view view("x", 1);
  cfile_bytes bytes = {};
  static_assert(sizeof(view) == sizeof(bytes));
  std::memcpy(&bytes, &view, sizeof(view));
  return bytes.size == 1 && bytes.data == view.data();
}

// Memory for values that are copied because C and C++ need different types; kept for the next
// copies.
template <typename To>
class Copies {
 public:
  // Returns room for `size` elements. The earlier copies are lost.
  To* Make(size_t size) {
    if (size > capacity_) {
      copies_.reset(new To[size]);
      capacity_ = size;
    }
    return copies_.get();
  }

 private:
  std::unique_ptr<To[]> copies_;
  size_t capacity_ = 0;
};

// The values of a C array: the result points to `values` or to `copies`.
template <ValueType T>
std::span<const T> SpanOf(const void* values, size_t size, Copies<T>& copies) {
  if (size == 0) return {};
  if constexpr (std::is_same_v<T, bool>) {  // a bool that is not 0 or 1 has no defined value
    const auto* bytes = static_cast<const uint8_t*>(values);
    bool* copy = copies.Make(size);
    for (size_t i = 0; i < size; ++i) copy[i] = bytes[i] != 0;
    return {copy, size};
  } else if constexpr (kIsBytes<T>) {
    if (!ViewsAreBytes()) {
      const auto* bytes = static_cast<const cfile_bytes*>(values);
      T* copy = copies.Make(size);
      for (size_t i = 0; i < size; ++i) copy[i] = {bytes[i].data, bytes[i].size};
      return {copy, size};
    }
  }
  // A cfile_int128 may have a smaller alignment than int128_t.
  if (reinterpret_cast<uintptr_t>(values) % alignof(T) != 0) {
    T* copy = copies.Make(size);
    std::memcpy(static_cast<void*>(copy), values, size * sizeof(T));
    return {copy, size};
  }
  return {static_cast<const T*>(values), size};
}

// Returns a batch for C, which points to the values of `batch` or to `copies`.
cfile_batch BatchOf(PhysicalType type, const AnyBatch& batch, Copies<cfile_bytes>& copies);

}  // namespace cfile::internal
