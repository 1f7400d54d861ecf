#include "cfile/internal/format/key_codec.h"

#include <algorithm>
#include <cstddef>

namespace cfile::internal {

size_t SeparatingLength(std::string_view previous_last, std::string_view first) {
  const size_t shorter = std::min(previous_last.size(), first.size());
  const auto common = static_cast<size_t>(
      std::mismatch(first.begin(), first.begin() + static_cast<ptrdiff_t>(shorter),
                    previous_last.begin())
          .first -
      first.begin());
  return std::min(common + 1, first.size());
}

}  // namespace cfile::internal
