// Memory for the values of a batch.
#pragma once

#include <cstddef>
#include <memory>

namespace cfile::internal {

// Memory that is used again for each batch. Thread-compatible.
template <typename T>
class ValueBuffer {
 public:
  // Returns room for `count` values. The contents of the room are undefined.
  T* Resize(size_t count) {
    if (count > capacity_) {
      values_.reset(new T[count]);
      capacity_ = count;
    }
    return values_.get();
  }

 private:
  std::unique_ptr<T[]> values_;
  size_t capacity_ = 0;
};

}  // namespace cfile::internal
