// Sorting numbers by SIMD, in a unit of its own: the library's header is large.
#pragma once

#include <cstdint>
#include <span>

namespace cfile::internal {

// In ascending order.
void SortNumbers(std::span<uint64_t> numbers);

}  // namespace cfile::internal
