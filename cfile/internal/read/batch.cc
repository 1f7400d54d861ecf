#include "cfile/batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "encodings/core/assert.h"

namespace cfile::internal {
namespace {

constexpr size_t kChunkBytes = 64 * 1024;

}  // namespace

OwnedValues::OwnedValues(OwnedValues&& other) noexcept = default;
OwnedValues& OwnedValues::operator=(OwnedValues&& other) noexcept = default;
OwnedValues::~OwnedValues() = default;

AnyBatch OwnedValues::batch() const {
  return {.values = values_.get(),
          .count = size_,
          .validity = null_count_ == 0 ? nullptr : validity_.data(),
          .null_count = null_count_};
}

void OwnedValues::Reset(size_t size) {
  const size_t width = encodings::WidthOf(lane_);
  if (size > capacity_) {
    values_ = std::make_unique<std::byte[]>(size * width);
    capacity_ = size;
  } else if (size > 0) {
    std::memset(values_.get(), 0, size * width);
  }
  size_ = size;
  validity_.assign((size + 7) / 8, 0xff);
  null_count_ = 0;
  chunks_.clear();
  chunk_free_ = {};
}

void OwnedValues::Append(const AnyBatch& batch) {
  if (batch.empty()) return;
  CFILE_ASSERT(batch.values != values_.get());
  const size_t width = encodings::WidthOf(lane_);
  const size_t begin = size_;
  const size_t end = begin + batch.count;
  validity_.resize((end + 7) / 8, 0xff);
  if (end > capacity_) {
    const size_t capacity = std::max(end, 2 * capacity_);
    auto values = std::make_unique_for_overwrite<std::byte[]>(capacity * width);
    if (begin > 0) std::memcpy(values.get(), values_.get(), begin * width);
    values_ = std::move(values);
    capacity_ = capacity;
  }
  size_ = end;
  if (batch.validity != nullptr) std::memset(values_.get() + begin * width, 0, batch.count * width);
  SetEach(batch, [begin](size_t i) { return begin + i; });
}

std::string_view OwnedValues::Copy(std::string_view value) {
  if (value.empty()) return {};
  if (value.size() > chunk_free_.size()) {
    const size_t chunk_bytes = std::max(value.size(), kChunkBytes);
    chunks_.push_back(std::unique_ptr<char[]>(new char[chunk_bytes]));
    chunk_free_ = {chunks_.back().get(), chunk_bytes};
  }
  char* copy = chunk_free_.data();
  std::memcpy(copy, value.data(), value.size());
  chunk_free_ = chunk_free_.subspan(value.size());
  return {copy, value.size()};
}

}  // namespace cfile::internal
