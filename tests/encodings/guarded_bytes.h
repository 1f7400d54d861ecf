// Memory followed by an unmapped page: a read or write past the end ends the test, also without a
// sanitizer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "tests/sanitizers.h"

namespace cfile::encodings {

class GuardedBytes {
 public:
  explicit GuardedBytes(size_t capacity) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    capacity_ = (capacity + page - 1) / page * page;
    void* const at =
        mmap(nullptr, capacity_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(at != MAP_FAILED);
    begin_ = static_cast<uint8_t*>(at);
    mapped_ = capacity_ + page;
    Require(mprotect(begin_ + capacity_, page, PROT_NONE) == 0);
  }
  ~GuardedBytes() { munmap(begin_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  // Returns the last `count` values of the memory; valid until the next call. Under a sanitizer,
  // the values have a heap block of their exact size, so that accesses before them are detected,
  // too.
  template <typename T>
  std::span<T> Last(size_t count) {
    Require(count <= capacity_ / sizeof(T));
    if (kSanitized) {
      exact_ = std::make_unique<uint8_t[]>(count * sizeof(T));
      return {reinterpret_cast<T*>(exact_.get()), count};
    }
    return {reinterpret_cast<T*>(begin_ + capacity_) - count, count};
  }

  // Copies `bytes` to the end of the memory.
  std::span<const uint8_t> Copy(std::span<const uint8_t> bytes) {
    const auto copy = Last<uint8_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), copy.begin());
    return copy;
  }

 private:
  static void Require(bool holds) {
    if (!holds) std::abort();
  }

  uint8_t* begin_;
  size_t capacity_;
  size_t mapped_;
  std::unique_ptr<uint8_t[]> exact_;
};

}  // namespace cfile::encodings
