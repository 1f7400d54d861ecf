// A source that is not in memory, like an object store. The source counts reads and their bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cfile/io.h"

namespace cfile::testing_support {

// Thread-safe, like every Source.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    ++reads_;
    bytes_ += out.size();
    largest_ = std::max<uint64_t>(largest_, out.size());
    return source_->ReadAt(offset, out);
  }

  // The values since the last Reset: the number of reads, the number of bytes, and the size of the
  // largest read.
  uint64_t reads() const { return reads_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t largest() const { return largest_; }
  void Reset() const { reads_ = bytes_ = largest_ = 0; }

 private:
  const std::shared_ptr<const Source> source_;
  mutable std::atomic<uint64_t> reads_ = 0;
  mutable std::atomic<uint64_t> bytes_ = 0;
  mutable std::atomic<uint64_t> largest_ = 0;
};

}  // namespace cfile::testing_support
