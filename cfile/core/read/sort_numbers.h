// Sorts numbers with SIMD. A separate unit, because the SIMD library's header is large.
#pragma once

#include <cstdint>
#include <span>

namespace cfile::internal {

// Sorts in ascending order.
void SortNumbers(std::span<uint64_t> numbers);

}  // namespace cfile::internal
