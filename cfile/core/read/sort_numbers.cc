#include "cfile/core/read/sort_numbers.h"

#include "hwy/contrib/sort/vqsort.h"

namespace cfile::internal {

void SortNumbers(std::span<uint64_t> numbers) {
  hwy::Sorter()(numbers.data(), numbers.size(), hwy::SortAscending());
}

}  // namespace cfile::internal
