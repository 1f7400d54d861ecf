#include "cfile/parts/arrow/value_store.h"

#include <functional>

#include "absl/strings/str_cat.h"

namespace cfile::internal {

bool InMemoryOf(const std::shared_ptr<const Source>& source, const void* bytes) {
  if (source == nullptr) return false;
  const std::span<const uint8_t> memory = source->InMemory();
  return std::less_equal<const void*>()(memory.data(), bytes) &&
         std::less<const void*>()(bytes, memory.data() + memory.size());
}

absl::Status TooLong(size_t size) {
  return absl::OutOfRangeError(
      absl::StrCat("a value of ", size, " bytes is too long for an Arrow array of 2^31 bytes"));
}

const void* NoBytes() {
  alignas(64) static constexpr uint8_t kNone[64] = {};
  return kNone;
}

}  // namespace cfile::internal
