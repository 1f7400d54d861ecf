// A source that is not in memory, like an object store. The source counts reads and their bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cfile/io.h"

namespace cfile::testing_support {

// Thread-safe, like every Source.
class CountingSource final : public Source {
 public:
  // If `in_round` is given, it is called once in each round, before the bytes are read.
  // A round is a call of ReadAt or ReadMany.
  explicit CountingSource(std::shared_ptr<const Source> source, std::string identity = "",
                          std::function<void()> in_round = nullptr)
      : source_(std::move(source)),
        identity_(std::move(identity)),
        in_round_(std::move(in_round)) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  std::string identity() const override { return identity_; }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    BeginRound();
    return Read(offset, out);
  }
  void ReadMany(std::span<ReadRequest> requests) const override {
    BeginRound();
    at_once_ = std::max<uint64_t>(at_once_, requests.size());
    for (ReadRequest& request : requests) request.status = Read(request.offset, request.out);
  }

  // All counts begin at the last Reset. A round is a call of ReadAt or ReadMany. The time that a
  // source with latency needs is proportional to the number of rounds.
  uint64_t rounds() const { return rounds_; }
  // The number of ranges that all calls read.
  uint64_t reads() const { return reads_; }
  // The largest number of ranges in one call of ReadMany; 0 if there was no such call.
  uint64_t at_once() const { return at_once_; }
  // The size of all ranges, in bytes.
  uint64_t bytes() const { return bytes_; }
  // The size of the largest range, in bytes.
  uint64_t largest() const { return largest_; }
  void Reset() const { rounds_ = reads_ = at_once_ = bytes_ = largest_ = 0; }

 private:
  void BeginRound() const {
    ++rounds_;
    if (in_round_) in_round_();
  }
  absl::Status Read(uint64_t offset, std::span<uint8_t> out) const {
    ++reads_;
    bytes_ += out.size();
    largest_ = std::max<uint64_t>(largest_, out.size());
    return source_->ReadAt(offset, out);
  }

  const std::shared_ptr<const Source> source_;
  const std::string identity_;
  const std::function<void()> in_round_;
  mutable std::atomic<uint64_t> rounds_ = 0;
  mutable std::atomic<uint64_t> reads_ = 0;
  mutable std::atomic<uint64_t> at_once_ = 0;
  mutable std::atomic<uint64_t> bytes_ = 0;
  mutable std::atomic<uint64_t> largest_ = 0;
};

}  // namespace cfile::testing_support
