// A progress bar on stderr, and the cancellation of work.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace cfile::tools {

// Shows one stage of work after another, in one line that disappears at the end:
//
//   writing  45% [===========>             ] 152 MB/s  151,552 rows  ETA 0:12
//   exporting  45% [===========>           ] 151,552 rows  1,804,190 rows/s  ETA 0:12
class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}
  Progress();  // shown if stderr is a terminal
  ~Progress() { End(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  enum class Unit : uint8_t { kBytes, kRows };
  // Begins a stage of `total` bytes or rows. 0: not known; only the name of the stage is shown.
  void Begin(std::string_view stage, uint64_t total, Unit unit = Unit::kBytes);
  // Reports that `bytes` bytes and `rows` rows of the stage are done; `bytes` has no meaning in a
  // stage of rows. Cheap enough to be called every few thousand rows. kCancelled after Cancel().
  absl::Status Update(uint64_t bytes, uint64_t rows);
  // Removes the line.
  void End();

  // Makes all later calls of Update fail, for all objects of this class. May be called in a signal
  // handler.
  static void Cancel();
  // True after Cancel().
  static const std::atomic<bool>& cancelled();

 private:
  using Clock = std::chrono::steady_clock;
  void Draw(uint64_t bytes, uint64_t rows, Clock::time_point now);

  const bool shown_;
  bool drawn_ = false;
  std::string stage_;
  uint64_t total_ = 0;
  Unit unit_ = Unit::kBytes;
  Clock::time_point start_;
  Clock::time_point next_draw_;
};

// From now on, SIGINT, SIGTERM and SIGHUP call Progress::Cancel, so that the tool can remove its
// files. Signals that the process ignores, such as SIGHUP after nohup, stay ignored.
void CancelOnSignals();
// If one of these signals has come, ends the process by this signal, so that the shell sees it.
void EndByCaughtSignal();

// 1234567 as "1,234,567".
std::string WithCommas(uint64_t number);

}  // namespace cfile::tools
