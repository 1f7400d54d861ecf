// A storage in memory that counts what an object store would need time for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/storage.h"
#include "cfile/whole_files.h"
#include "tests/cfile/forwarding_storage.h"

namespace cfile::testing_support {

// Counts round trips: the times that somebody had to wait for the store. Whoever waits for one read
// gets the results of all reads that were begun before. Thread-safe.
class RoundTrips {
 public:
  void Wait() {
    const std::lock_guard lock(mutex_);
    ++round_trips_;
    done_ = begun_;
    pending_ = 0;
  }
  // Returns the number of a read that begins now.
  uint64_t Begin() {
    const std::lock_guard lock(mutex_);
    most_pending_ = std::max(most_pending_, ++pending_);
    return ++begun_;
  }
  void WaitFor(uint64_t number) {
    if (number > done()) Wait();
  }
  void Request(uint64_t count) {
    const std::lock_guard lock(mutex_);
    requests_ += count;
  }

  // Returns the number of round trips since the last call.
  uint64_t Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(round_trips_, 0);
  }
  uint64_t TakeRequests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, 0);
  }
  // The most reads that were begun, and whose results nobody had.
  uint64_t TakeMostPending() {
    const std::lock_guard lock(mutex_);
    return std::exchange(most_pending_, 0);
  }

 private:
  uint64_t done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  std::mutex mutex_;
  uint64_t round_trips_ = 0;
  uint64_t requests_ = 0;
  uint64_t begun_ = 0, done_ = 0;
  uint64_t pending_ = 0, most_pending_ = 0;
};

// A file of the storage. The two ends are at hand after it was opened, as in a source of cfile/http.h.
// `begun`: the number of the read whose result the first read needs, or 0.
class RoundTripSource final : public Source {
 public:
  RoundTripSource(std::shared_ptr<const Source> source, std::shared_ptr<RoundTrips> trips,
                  uint64_t begun = 0)
      : source_(std::move(source)), trips_(std::move(trips)), begun_(begun) {}

  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  std::string identity() const override { return ""; }
  bool ReadsInBackground() const override { return true; }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (!IsAtHand()) {
      trips_->Request(1);
      trips_->Wait();
    }
    return source_->ReadAt(offset, out);
  }
  void ReadMany(std::span<ReadRequest> requests) const override {
    if (!IsAtHand()) {
      trips_->Request(requests.size());
      trips_->Wait();
    }
    for (ReadRequest& request : requests)
      request.status = source_->ReadAt(request.offset, request.out);
  }
  std::unique_ptr<PendingRead> BeginRead(uint64_t offset, std::span<uint8_t> out) const override {
    trips_->Request(1);
    return std::make_unique<Pending>(*this, offset, out);
  }

 private:
  class Pending final : public PendingRead {
   public:
    Pending(const RoundTripSource& source, uint64_t offset, std::span<uint8_t> out)
        : source_(source), offset_(offset), out_(out), number_(source.trips_->Begin()) {}
    absl::Status Wait() override {
      source_.trips_->WaitFor(number_);
      return source_.source_->ReadAt(offset_, out_);
    }

   private:
    const RoundTripSource& source_;
    const uint64_t offset_;
    const std::span<uint8_t> out_;
    const uint64_t number_;
  };

  // True in the first read, which is that of a reader that opens the file.
  bool IsAtHand() const {
    if (was_read_.exchange(true)) return false;
    trips_->WaitFor(begun_);
    return true;
  }

  const std::shared_ptr<const Source> source_;
  const std::shared_ptr<RoundTrips> trips_;
  const uint64_t begun_;
  mutable std::atomic<bool> was_read_ = false;
};

class RoundTripStorage final : public ForwardingStorage, public WholeFiles {
 public:
  // `opens_whole`: false if OpenWhole does nothing.
  RoundTripStorage(std::shared_ptr<Storage> base, bool opens_whole)
      : ForwardingStorage(std::move(base)), opens_whole_(opens_whole) {}

  RoundTrips& trips() const { return *trips_; }

  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    return std::move(OpenMany({&path, 1}).front());
  }
  std::vector<absl::StatusOr<std::shared_ptr<const Source>>> OpenMany(
      std::span<const std::string> paths) const override {
    trips_->Request(paths.size());
    trips_->Wait();
    std::vector<absl::StatusOr<std::shared_ptr<const Source>>> sources;
    for (const std::string& path : paths) sources.push_back(base()->Open(path));
    for (auto& source : sources) {
      if (source.ok()) source = std::make_shared<RoundTripSource>(*std::move(source), trips_);
    }
    return sources;
  }
  bool OpensAtOnce() const override { return true; }
  std::shared_ptr<const Source> OpenWhole(const std::string& path,
                                          uint64_t size_bytes) const override {
    if (!opens_whole_) return nullptr;
    auto source = base()->Open(path);
    if (!source.ok() || (*source)->size() != size_bytes) return nullptr;
    trips_->Request(1);
    return std::make_shared<RoundTripSource>(*std::move(source), trips_, trips_->Begin());
  }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    trips_->Request(1);
    trips_->Wait();
    return base()->Read(path, max_size_bytes);
  }

 private:
  const bool opens_whole_;
  const std::shared_ptr<RoundTrips> trips_ = std::make_shared<RoundTrips>();
};

}  // namespace cfile::testing_support
