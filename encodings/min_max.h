// The least and the greatest of many numbers at once.
#pragma once

#include <cstddef>
#include <span>

#include "encodings/physical_type.h"

namespace cfile::encodings {

template <typename T>
struct MinMax {
  T min{};
  T max{};
  // Floats only: how many are NaN, which is neither. If all are, min and max mean nothing. Of zeros
  // of both signs either may come out.
  size_t nan_count = 0;
};

// Of `values`, for bool, integers and floats. Precondition: `values` is not empty.
template <typename T>
MinMax<T> FindMinMax(std::span<const T> values);

}  // namespace cfile::encodings
