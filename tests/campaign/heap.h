// Counts the memory that each thread takes by operator new. A program that includes this header
// replaces operator new, except under sanitizers, which have their own operator new. Memory that C
// libraries take by malloc is not counted.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tests/sanitizers.h"

namespace cfile::campaign {

struct Heap {
  int64_t blocks = 0;  // of this thread; negative if the thread frees other threads' blocks
  int64_t bytes = 0;
  int64_t most_bytes = 0;         // the maximum of `bytes` since the last assignment to it
  int64_t allocations_left = -1;  // the allocation that makes this 0 fails
  void (*failing)() = nullptr;    // called before this allocation fails

  void* Allocate(size_t size, size_t alignment) {
    if (allocations_left > 0 && --allocations_left == 0) {
      if (failing != nullptr) failing();
      throw std::bad_alloc();
    }
    void* const block = aligned_alloc(alignment, (size + alignment) / alignment * alignment);
    if (block == nullptr) throw std::bad_alloc();
    ++blocks;
    bytes += static_cast<int64_t>(malloc_usable_size(block));
    most_bytes = std::max(most_bytes, bytes);
    return block;
  }
  void Free(void* block) {
    if (block == nullptr) return;
    --blocks;
    bytes -= static_cast<int64_t>(malloc_usable_size(block));
    free(block);
  }
};
inline thread_local constinit Heap heap;

// Returns the maximum of this thread's heap bytes during `work`, minus the heap bytes before
// `work`.
template <typename Work>
int64_t MostHeapBytes(Work&& work) {
  const int64_t held = heap.most_bytes = heap.bytes;
  work();
  return heap.most_bytes - held;
}

// The bound on the memory for reading any file: 64 MiB, plus a block, plus the metadata.
inline constexpr int64_t kMostHeapBytes = (64 << 20) + (16 << 20) + (16 << 20);

}  // namespace cfile::campaign

#if !defined(__SANITIZE_ADDRESS__) && !defined(CFILE_THREAD_SANITIZER)
void* operator new(size_t size) {
  return cfile::campaign::heap.Allocate(size, alignof(std::max_align_t));
}
void* operator new[](size_t size) {
  return cfile::campaign::heap.Allocate(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return cfile::campaign::heap.Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept { cfile::campaign::heap.Free(block); }
void operator delete[](void* block) noexcept { cfile::campaign::heap.Free(block); }
void operator delete(void* block, size_t) noexcept { cfile::campaign::heap.Free(block); }
void operator delete[](void* block, size_t) noexcept { cfile::campaign::heap.Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { cfile::campaign::heap.Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  cfile::campaign::heap.Free(block);
}
#endif
