#include "tools/python/native/parallel_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
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
    const auto join = [this] {
      for (std::thread& thread : threads_) thread.join();
    };
    if (!nb::is_alive()) {
      join();
      return;
    }
    // A thread may wait for the interpreter lock, to run handlers. This one may have it or not.
    const PyGILState_STATE state = PyGILState_Ensure();
    PyThreadState* const thread = PyEval_SaveThread();
    join();
    PyEval_RestoreThread(thread);
    PyGILState_Release(state);
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
      if (range.error != 0) {
        text_ = range.text;
        return range.error;
      }
      if (range.done) {
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
  // The batches of a range that were read and not consumed yet.
  struct Range {
    std::deque<Array> arrays;
    bool done = false;
    int error = 0;
    std::string text;
  };

  static std::string TextOf(ArrowArrayStream& stream, int error) {
    const char* const text = stream.get_last_error(&stream);
    return text != nullptr ? text : std::strerror(error);
  }

  void Work() {
    for (;;) {
      size_t number;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
          return cancelled_ || next_ == ranges_.size() || next_ <= current_ + options_.threads;
        });
        if (cancelled_ || next_ == ranges_.size()) return;
        number = next_++;
      }
      int error = 0;
      std::string text;
      try {
        Read(number, error, text);
      } catch (const std::exception&) {
        error = ENOMEM;
        text = "no memory";
      }
      const std::lock_guard lock(mutex_);
      rows_[number].error = error;
      rows_[number].text = std::move(text);
      rows_[number].done = true;
      changed_.notify_all();
    }
  }

  void Read(size_t number, int& error, std::string& text) {
    Released<ArrowArrayStream> opened;
    ArrowArrayStream& stream = opened.value;
    if (const absl::Status status = open_(ranges_[number], &stream); !status.ok()) {
      error = ErrnoOf(status.code());
      text = std::string(status.message());
      return;
    }
    for (;;) {
      auto array = std::make_unique<Released<ArrowArray>>();
      error = stream.get_next(&stream, &array->value);
      if (error != 0) {
        array->value.release = nullptr;
        text = TextOf(stream, error);
        return;
      }
      if (array->value.release == nullptr) return;
      std::unique_lock lock(mutex_);
      Range& range = rows_[number];
      changed_.wait(lock, [&] { return cancelled_ || range.arrays.size() < options_.max_batches; });
      if (cancelled_) return;
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

ParallelStream& Of(ArrowArrayStream* stream) {
  return *static_cast<ParallelStream*>(stream->private_data);
}

}  // namespace

absl::Status MakeParallelStream(std::vector<cfile::OrdinalRange> ranges, OpenRange open,
                                const ParallelOptions& options, ArrowArrayStream* out) {
  auto made = std::make_unique<ParallelStream>(std::move(ranges), std::move(open), options);
  const absl::Status status = made->Begin();
  if (!status.ok()) return status;
  *out = {.get_schema = [](ArrowArrayStream* stream,
                           ArrowSchema* schema) { return Of(stream).GetSchema(schema); },
          .get_next = [](ArrowArrayStream* stream,
                         ArrowArray* array) { return Of(stream).GetNext(array); },
          .get_last_error = [](ArrowArrayStream* stream) { return Of(stream).text(); },
          .release =
              [](ArrowArrayStream* stream) {
                if (Of(stream).is_own()) delete &Of(stream);
                stream->release = nullptr;
              },
          .private_data = made.release()};
  return absl::OkStatus();
}

}  // namespace cfile_python
