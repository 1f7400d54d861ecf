// Finds the least and the greatest of many numbers.
#pragma once

#include <cstddef>
#include <span>

#include "encodings/core/physical_type.h"

namespace cfile::encodings {

template <typename T>
struct MinMax {
  T min{};
  T max{};
  // Floats only: the number of NaNs. NaNs are ignored for `min` and `max`; if all values are NaN,
  // `min` and `max` have no meaning. If there are zeros of both signs, either of them may be the
  // result.
  size_t nan_count = 0;
};

// Returns the least and the greatest of `values`. T is bool, an integer or a float. Precondition:
// `values` is not empty.
template <typename T>
MinMax<T> FindMinMax(std::span<const T> values);

}  // namespace cfile::encodings
