// A thread that sends requests, several at the same time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cfile/http_options.h"
#include "cfile/parts/http/http_message.h"

namespace cfile::internal {

class Transfer;

// What the transfers of a client have done (see HttpCounters). Thread-safe.
struct TransferCounts {
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> retries = 0;
  std::atomic<uint64_t> bytes_received = 0;
  std::atomic<uint64_t> bytes_sent = 0;
  std::atomic<uint64_t> connections = 0;

  HttpCounters Get() const {
    return {.requests = requests,
            .retries = retries,
            .bytes_received = bytes_received,
            .bytes_sent = bytes_sent,
            .connections = connections};
  }
};

// How often a thread that waits calls HttpOptions::interrupted.
inline constexpr std::chrono::milliseconds kInterruptInterval{200};

// Keeps connections open for later transfers. The thread begins with the first transfer.
// Thread-safe, except that one transfer is used by one thread at a time.
//
// After a fork, the child has no such thread. There, all transfers end with an error, and the
// object must not be destroyed.
class TransferThread {
 public:
  // `max_transfers`: the most transfers at the same time, and the most connections.
  // `counts` must outlive this object.
  TransferThread(size_t max_transfers, TransferCounts* counts);
  // Precondition: all transfers have ended.
  ~TransferThread();
  TransferThread(const TransferThread&) = delete;
  TransferThread& operator=(const TransferThread&) = delete;

  bool is_of_this_process() const;

  // Begins a transfer, now or when there is a free connection: urgent transfers first, then in the
  // order of the calls. `transfer` must stay valid until Wait or Cancel has returned.
  void Begin(Transfer& transfer, bool urgent);
  // Makes the transfer urgent, waits for its end, and returns the response. `interrupted`:
  // HttpOptions::interrupted; its error becomes the error of the response.
  HttpResponse Wait(Transfer& transfer, const std::function<absl::Status()>& interrupted);
  // Ends a transfer, if it has not ended. Does nothing, and returns false, in the child of a fork.
  bool Cancel(Transfer& transfer);

 private:
  struct CloseMulti {
    void operator()(void* multi) const;
  };

  void Run();
  // The functions below are called with mutex_ locked.
  void BeginWaiting();
  void EndCancelled();
  void End(Transfer& transfer, int code);
  // Returns true if there is something to do in Run.
  bool HasWork() const { return stopped_ || !urgent_.empty() || !others_.empty(); }

  const size_t max_transfers_;
  TransferCounts* const counts_;
  const pid_t process_;
  // The handle of libcurl that has the connections, for Run; other threads may only wake up Run
  // with it.
  const std::unique_ptr<void, CloseMulti> multi_;
  std::mutex mutex_;                       // guards the following, and the states of the transfers
  std::condition_variable changed_;        // for Run
  std::condition_variable ended_;          // for Wait and Cancel
  std::deque<Transfer*> urgent_, others_;  // that have not begun
  std::vector<Transfer*> running_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace cfile::internal
