#include "cfile/parts/http/transfer_thread.h"

#include <curl/curl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <new>
#include <system_error>

#include "cfile/parts/http/transfer.h"
#include "encodings/core/assert.h"

namespace cfile::internal {
namespace {

constexpr int kPollMilliseconds = 1000;  // libcurl's timeouts need no more precision

// Starts a thread that receives no signals: the program's own threads handle them.
std::thread StartWithoutSignals(const std::function<void()>& run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(run);
  } catch (const std::system_error&) {
    // There are too many threads: the caller sees that the thread is not joinable.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

void TransferThread::CloseMulti::operator()(void* multi) const { curl_multi_cleanup(multi); }

TransferThread::TransferThread(size_t max_transfers, TransferCounts* counts)
    : max_transfers_(max_transfers),
      counts_(counts),
      process_(getpid()),
      multi_((InitializeCurl(), curl_multi_init())) {
  if (multi_ == nullptr) throw std::bad_alloc();
  running_.reserve(max_transfers);
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(max_transfers));
}

TransferThread::~TransferThread() {
  {
    const std::lock_guard lock(mutex_);
    CFILE_ASSERT(urgent_.empty() && others_.empty() && running_.empty());
    stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

bool TransferThread::is_of_this_process() const { return process_ == getpid(); }

void TransferThread::Begin(Transfer& transfer, bool urgent) {
  if (!is_of_this_process()) return;
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = StartWithoutSignals([this] { Run(); });
  if (!thread_.joinable()) {
    transfer.Finish(CURLE_FAILED_INIT);
    transfer.ended = true;
    return;
  }
  (urgent ? urgent_ : others_).push_back(&transfer);
  changed_.notify_one();
  curl_multi_wakeup(multi_.get());
}

HttpResponse TransferThread::Wait(Transfer& transfer,
                                  const std::function<absl::Status()>& interrupted) {
  if (!is_of_this_process()) {
    HttpResponse none;
    none.transport = absl::UnavailableError("the process was forked during the request");
    return none;
  }
  std::unique_lock lock(mutex_);
  const auto waiting = std::find(others_.begin(), others_.end(), &transfer);
  if (waiting != others_.end()) {
    others_.erase(waiting);
    urgent_.push_back(&transfer);
  }
  while (!ended_.wait_for(lock, kInterruptInterval, [&] { return transfer.ended; })) {
    if (!interrupted) continue;
    lock.unlock();
    if (absl::Status status = interrupted(); !status.ok()) {
      (void)Cancel(transfer);
      return {.transport = std::move(status), .interrupted = true};
    }
    lock.lock();
  }
  return transfer.TakeResponse();
}

bool TransferThread::Cancel(Transfer& transfer) {
  if (!is_of_this_process()) return false;
  std::unique_lock lock(mutex_);
  if (transfer.ended) return true;
  if (std::erase(others_, &transfer) > 0 || std::erase(urgent_, &transfer) > 0) {
    transfer.ended = true;  // another Cancel does not wait for it
    return true;
  }
  transfer.cancelled = true;
  curl_multi_wakeup(multi_.get());
  ended_.wait(lock, [&] { return transfer.ended; });
  return true;
}

void TransferThread::BeginWaiting() {
  while (running_.size() < max_transfers_ && !(urgent_.empty() && others_.empty())) {
    std::deque<Transfer*>& queue = urgent_.empty() ? others_ : urgent_;
    Transfer* const transfer = queue.front();
    queue.pop_front();
    running_.push_back(transfer);
    ++counts_->requests;
    if (curl_multi_add_handle(multi_.get(), transfer->easy()) != CURLM_OK)
      End(*transfer, CURLE_FAILED_INIT);
  }
}

void TransferThread::EndCancelled() {
  for (size_t i = 0; i < running_.size();) {
    if (running_[i]->cancelled) {
      End(*running_[i], CURLE_ABORTED_BY_CALLBACK);  // removes it
    } else {
      ++i;
    }
  }
}

void TransferThread::End(Transfer& transfer, int code) {
  curl_multi_remove_handle(multi_.get(), transfer.easy());
  try {
    transfer.Finish(static_cast<CURLcode>(code));
  } catch (const std::bad_alloc&) {
    transfer.FailWithoutMemory();  // an exception would end the process, because this is a thread
  }
  counts_->connections += transfer.opened_connections();
  counts_->bytes_received += transfer.received_bytes();
  counts_->bytes_sent += transfer.sent_bytes();
  std::erase(running_, &transfer);
  transfer.ended = true;
  ended_.notify_all();
}

void TransferThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    BeginWaiting();
    EndCancelled();
    if (running_.empty()) {
      changed_.wait(lock, [&] { return HasWork(); });
      if (stopped_) return;
      continue;
    }
    lock.unlock();
    int still_running = 0, left = 0;
    curl_multi_perform(multi_.get(), &still_running);
    lock.lock();
    const size_t before = running_.size();
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg == CURLMSG_DONE)
        End(Transfer::Of(message->easy_handle), message->data.result);
    }
    if (running_.size() < before) continue;
    lock.unlock();
    curl_multi_poll(multi_.get(), nullptr, 0, kPollMilliseconds, nullptr);
    lock.lock();
  }
}

}  // namespace cfile::internal
