// Lets threads share one request if they need the same result.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/statusor.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Key: everything on which the result depends. Result: a StatusOr that can be copied. Thread-safe.
template <typename Key, typename Result>
class SharedRequests {
 public:
  // Returns the result of request(). If another thread is making a request with the same key, waits
  // for it and returns its result, even if this is an error. A thread that calls this function just
  // after the end of a request makes a new request, so request() should first look whether another
  // thread has already stored the result. request() must not call Share of this object.
  template <typename Request>
  Result Share(const Key& key, const Request& request) {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto found = pending_.find(key);
      if (found == pending_.end()) break;
      const std::shared_ptr<Pending> other = found->second;
      other->ended.wait(lock, [&] { return other->done; });
      if (other->result) return *other->result;
      // The other thread's request has thrown std::bad_alloc. Make a request here.
    }
    const auto own = std::make_shared<Pending>();
    pending_.emplace(key, own);
    lock.unlock();
    const Ending ending{this, key, own.get()};
    Result result = request();
    // No lock is needed: other threads read `result` only after `done` is set.
    own->result = result;
    return result;
  }

 private:
  struct Pending {
    std::condition_variable ended;
    bool done = false;             // guarded by mutex_
    std::optional<Result> result;  // written before `done`
  };
  // Ends a request, even if it throws.
  struct Ending {
    SharedRequests* const requests;
    const Key& key;
    Pending* const pending;
    ~Ending() {
      const std::lock_guard lock(requests->mutex_);
      pending->done = true;
      pending->ended.notify_all();
      requests->pending_.erase(key);
    }
  };

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Pending>> pending_;  // guarded by mutex_
};

// A value that is read when it is first needed. Thread-safe.
template <typename Value>
class ReadOnce {
 public:
  // Returns the value; gets it with read() if it is not known. Errors are not kept. Threads that
  // call this function at the same time share one call of read().
  template <typename Read>
  absl::StatusOr<Value> Get(const Read& read) {
    if (const std::optional<Value> kept = Kept()) return *kept;
    return requests_.Share(0, [&]() -> absl::StatusOr<Value> {
      // Another thread may have read the value since it was looked up.
      if (const std::optional<Value> kept = Kept()) return *kept;
      CFILE_ASSIGN_OR_RETURN(Value value, read());
      const std::lock_guard lock(mutex_);
      value_ = value;
      return value;
    });
  }

 private:
  std::optional<Value> Kept() {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  SharedRequests<int, absl::StatusOr<Value>> requests_;
  std::mutex mutex_;
  std::optional<Value> value_;  // guarded by mutex_
};

}  // namespace cfile::internal
