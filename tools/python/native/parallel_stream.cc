#include "tools/python/native/parallel_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "tools/python/native/errors.h"
#include "tools/python/native/stream.h"

namespace cfile_python {
namespace {

using Array = std::unique_ptr<Released<ArrowArray>>;

class ParallelStream {
 public:
  ParallelStream(std::vector<cfile::OrdinalRange> ranges, OpenRange open,
                 const ParallelOptions& options)
      : ranges_(std::move(ranges)),
        open_(std::move(open)),
        options_(options),
        rows_(ranges_.size()) {}

  absl::Status Begin() {
    const absl::Status status = open_(ranges_[0], &typed_.value);
    if (!status.ok()) return status;
    for (size_t i = 0; i < std::min(options_.threads, ranges_.size()); ++i)
      threads_.emplace_back([this] { Work(); });
    return status;
  }

  ~ParallelStream() {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      changed_.notify_all();
    }
    // A thread may wait for the interpreter lock, to run handlers. This one may have it or not.
    std::optional<nb::gil_scoped_acquire> acquired;
    std::optional<nb::gil_scoped_release> released;
    if (nb::is_alive()) {
      acquired.emplace();
      released.emplace();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  int GetSchema(ArrowSchema* out) {
    const int error = typed_.value.get_schema(&typed_.value, out);
    if (error != 0) text_ = TextOf(typed_.value, error);
    return error;
  }

  int GetNext(ArrowArray* out) {
    if (!is_own()) {
      text_ = "the stream belongs to another process";
      return EINVAL;
    }
    std::unique_lock lock(mutex_);
    while (current_ < ranges_.size()) {
      Range& range = rows_[current_];
      if (!range.arrays.empty()) {
        *out = std::exchange(range.arrays.front()->value, ArrowArray{});
        range.arrays.pop_front();
        changed_.notify_all();
        return 0;
      }
      if (range.end && range.end->error != 0) {
        text_ = range.end->text;
        return range.end->error;
      }
      if (range.end) {
        ++current_;
        changed_.notify_all();
      } else if (changed_.wait_for(lock, std::chrono::milliseconds(50)) ==
                 std::cv_status::timeout) {
        lock.unlock();
        const absl::Status status = RunSignalHandlers(options_.name);
        lock.lock();
        if (status.ok()) continue;
        text_ = std::string(status.message());
        return EINTR;
      }
    }
    out->release = nullptr;
    return 0;
  }

  const char* text() const { return text_.c_str(); }
  // After a fork, the new process has no threads that could end.
  bool is_own() const { return getpid() == process_; }

 private:
  struct End {
    int error = 0;
    std::string text;
  };
  struct Range {
    std::deque<Array> arrays;  // that were read and not consumed yet
    std::optional<End> end;    // set when the range was read
  };

  static std::string TextOf(ArrowArrayStream& stream, int error) {
    const char* const text = stream.get_last_error(&stream);
    return text != nullptr ? text : std::strerror(error);
  }

  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] {
        return cancelled_ || next_ == ranges_.size() || next_ <= current_ + options_.threads;
      });
      if (cancelled_ || next_ == ranges_.size()) return;
      const size_t number = next_++;
      lock.unlock();
      End end{.error = ENOMEM, .text = "no memory"};
      try {
        end = Read(number);
      } catch (const std::exception&) {  // there is no memory
      }
      lock.lock();
      rows_[number].end = std::move(end);
      changed_.notify_all();
    }
  }

  End Read(size_t number) {
    Released<ArrowArrayStream> opened;
    ArrowArrayStream& stream = opened.value;
    if (const absl::Status status = open_(ranges_[number], &stream); !status.ok())
      return {.error = ErrnoOf(status.code()), .text = std::string(status.message())};
    for (;;) {
      auto array = std::make_unique<Released<ArrowArray>>();
      if (const int error = stream.get_next(&stream, &array->value); error != 0) {
        array->value.release = nullptr;
        return {.error = error, .text = TextOf(stream, error)};
      }
      if (array->value.release == nullptr) return {};
      std::unique_lock lock(mutex_);
      Range& range = rows_[number];
      changed_.wait(lock, [&] { return cancelled_ || range.arrays.size() < options_.max_batches; });
      if (cancelled_) return {};
      range.arrays.push_back(std::move(array));
      changed_.notify_all();
    }
  }

  const std::vector<cfile::OrdinalRange> ranges_;
  const OpenRange open_;
  const ParallelOptions options_;
  const pid_t process_ = getpid();
  Released<ArrowArrayStream> typed_;  // only its type is read
  std::string text_;                  // of the last error
  std::mutex mutex_;                  // of the members below
  bool cancelled_ = false;
  std::condition_variable changed_;
  std::vector<Range> rows_;  // one for each range
  size_t next_ = 0;          // the next range that a thread reads
  size_t current_ = 0;       // the range of the next batch
  std::vector<std::thread> threads_;
};

}  // namespace

absl::Status MakeParallelStream(std::vector<cfile::OrdinalRange> ranges, OpenRange open,
                                const ParallelOptions& options, ArrowArrayStream* out) {
  const std::shared_ptr<ParallelStream> made(
      new ParallelStream(std::move(ranges), std::move(open), options), [](ParallelStream* stream) {
        if (stream->is_own()) delete stream;
      });
  const absl::Status status = made->Begin();
  if (status.ok()) MakeStream(made, out);
  return status;
}

}  // namespace cfile_python
