// Memory that ends where none is: a read or write beyond it ends the test, with no sanitizer too.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>

#include "gtest/gtest.h"
#include "tests/sanitizers.h"

namespace cfile::encodings {

class GuardedBytes {
 public:
  explicit GuardedBytes(size_t capacity) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    capacity_ = (capacity + page - 1) / page * page;
    mapped_ = capacity_ + page;
    void* const at =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    begin_ = static_cast<uint8_t*>(at);
    EXPECT_EQ(mprotect(begin_ + capacity_, page, PROT_NONE), 0);
  }
  ~GuardedBytes() { munmap(begin_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  // The last `count` values of the memory.
  template <typename T>
  std::span<T> Last(size_t count) {
    EXPECT_LE(count * sizeof(T), capacity_);
    return {reinterpret_cast<T*>(begin_ + capacity_) - count, count};
  }

  // The same bytes, at the end of the memory. What AddressSanitizer watches stays where it is: it
  // sees reads before the begin too.
  std::span<const uint8_t> Copy(std::span<const uint8_t> bytes) {
    if (kSanitized) return bytes;
    const auto copy = Last<uint8_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), copy.begin());
    return copy;
  }

 private:
  uint8_t* begin_;
  size_t capacity_;
  size_t mapped_;
};

}  // namespace cfile::encodings
