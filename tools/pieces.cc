#include "tools/pieces.h"

#include <cassert>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"

namespace cfile::tools {
namespace {

// A step of the work on a piece: 0 is parse, 1 + i is append to lane i. Tasks compare in the order
// in which a single thread does them.
struct Task {
  uint64_t piece = 0;
  size_t step = 0;
  auto operator<=>(const Task&) const = default;
};

class PieceRunner {
 public:
  PieceRunner(size_t num_slots, const PieceWork& work)
      : work_(work), slots_(num_slots), lanes_(work.num_lanes) {}

  // Does tasks until none is left. Each thread calls it.
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      const std::optional<Task> task = Choose();
      if (!task.has_value()) {
        if (running_ == 0) return;
        changed_.wait(lock);
        continue;
      }
      ++running_;
      if (task->step == 0 && !Take(lock)) {
        --running_;
        changed_.notify_all();
        continue;
      }
      lock.unlock();
      absl::Status status = Guarded([&] { return Do(*task); });
      lock.lock();
      --running_;
      Done(*task, std::move(status));
      changed_.notify_all();
    }
  }

  const absl::Status& status() const { return status_; }

 private:
  struct Slot {
    bool parsed = false;
    size_t lanes_left = 0;
  };
  struct Lane {
    uint64_t next_piece = 0;
    bool busy = false;
  };

  template <typename Function>
  static absl::Status Guarded(Function function) {
    try {
      return function();
    } catch (const std::exception& error) {
      return absl::ResourceExhaustedError(error.what());
    }
  }

  size_t SlotOf(uint64_t piece) const { return static_cast<size_t>(piece % slots_.size()); }

  absl::Status Do(const Task& task) const {
    const size_t slot = SlotOf(task.piece);
    return task.step == 0 ? work_.parse(slot) : work_.append(task.step - 1, slot);
  }

  // Chooses a task that can be done now; nullopt if there is none. Prefers the lane with the oldest
  // piece, because other threads may wait for the slot of this piece.
  std::optional<Task> Choose() {
    std::optional<Task> chosen;
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const Task task{.piece = lanes_[i].next_piece, .step = 1 + i};
      const bool ready = !lanes_[i].busy && task.piece < taken_ &&
                         slots_[SlotOf(task.piece)].parsed && task < failed_;
      if (ready && (!chosen.has_value() || task.piece < chosen->piece)) chosen = task;
    }
    if (chosen.has_value()) {
      lanes_[chosen->step - 1].busy = true;
      return chosen;
    }
    const Task parse{.piece = taken_, .step = 0};
    if (at_end_ || taking_ || taken_ - finished_ == slots_.size() || !(parse < failed_)) {
      return std::nullopt;
    }
    taking_ = true;
    return parse;
  }

  // Takes the next piece, whose number is taken_; returns false if there is none. Unlocks `lock`
  // during the call of work_.take.
  bool Take(std::unique_lock<std::mutex>& lock) {
    const size_t number = SlotOf(taken_);
    lock.unlock();
    const bool more = work_.take(number);
    lock.lock();
    taking_ = false;
    at_end_ = !more;
    if (!more) return false;
    slots_[number] = {.parsed = false, .lanes_left = lanes_.size()};
    ++taken_;
    changed_.notify_all();
    return true;
  }

  void Done(const Task& task, absl::Status status) {
    if (task.step > 0) lanes_[task.step - 1].busy = false;
    if (!status.ok()) return Fail(task, std::move(status));
    Slot& slot = slots_[SlotOf(task.piece)];
    if (task.step == 0) {
      slot.parsed = true;
    } else {
      ++lanes_[task.step - 1].next_piece;
      --slot.lanes_left;
    }
    // An error of `finish`, after which it is no longer called, is kept as the error of the first
    // task.
    while (finished_ < taken_ && Task{} < failed_) {
      const Slot& oldest = slots_[SlotOf(finished_)];
      if (!oldest.parsed || oldest.lanes_left > 0) return;
      status = Guarded([&] { return work_.finish(SlotOf(finished_)); });
      if (!status.ok()) return Fail(Task{}, std::move(status));
      ++finished_;
    }
  }

  // Keeps the error of `task`. Later tasks are no longer started. Earlier ones are still done; if
  // one fails, its error replaces this one.
  void Fail(const Task& task, absl::Status status) {
    if (!(task < failed_)) return;
    failed_ = task;
    status_ = std::move(status);
  }

  const PieceWork& work_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::vector<Lane> lanes_;
  uint64_t taken_ = 0;     // number of pieces
  uint64_t finished_ = 0;  // number of pieces
  size_t running_ = 0;     // number of tasks
  bool taking_ = false;    // a thread has chosen to take a piece
  bool at_end_ = false;
  Task failed_{.piece = std::numeric_limits<uint64_t>::max()};
  absl::Status status_;
};

}  // namespace

absl::Status RunPieces(size_t num_threads, const PieceWork& work) {
  assert(num_threads > 0);
  PieceRunner runner(NumSlots(num_threads), work);
  {
    std::vector<std::thread> others;  // clang 14's standard library lacks std::jthread
    const absl::Cleanup join = [&others] {
      for (std::thread& other : others) other.join();
    };
    for (size_t i = 1; i < num_threads; ++i) others.emplace_back([&runner] { runner.Work(); });
    runner.Work();
  }
  return runner.status();
}

}  // namespace cfile::tools
