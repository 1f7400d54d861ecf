// The option --explain of `find` and `rows`: shows what a command read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/dump/dump.h"
#include "tools/location.h"

namespace cfile::tools {

// Records the reads of each file, in the order of their first reads. Only one thread at a time may
// use it.
class ReadLog {
 public:
  struct File {
    std::string path;  // the path in its table; "" for a file that is not in a table
    std::vector<ObservedRead> reads;
  };

  // The observer for OpenInput, which adds each read to this object.
  ReadObserver observer();
  // Ends the recording. Call this before `files` and `time`.
  void Stop();

  const std::vector<File>& files() const { return files_; }
  // The time from the construction to Stop.
  std::chrono::nanoseconds time() const { return time_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin_ = Clock::now();
  std::chrono::nanoseconds time_{};
  bool stopped_ = false;
  std::vector<File> files_;
};

// Adds --explain, for commands that print one row or more.
void AddExplainOption(Command& command, bool& explain);

// What a command searched.
struct Searched {
  // The column of a table in which a key was searched; 0 for a file. nullopt: no key was searched.
  std::optional<size_t> key_column = {};
  std::string key = {};                  // in memcmp form (cfile/statistics.h)
  std::optional<uint64_t> ordinal = {};  // the row that was read; nullopt: no row was read
};

// Stops `log`, and appends, for each file of it, the index nodes and data blocks that the search
// used, and the reads that were made for them; with `common.json`, an object with the key
// "explain". Reads the indexes again, because the log does not say which nodes were used.
absl::Status AppendExplanation(const Input& input, const CommonOptions& common, ReadLog& log,
                               const Searched& searched, std::string& out);

// Appends two lines: what was read of all files, and how long this took. `total`: the counters of
// the input after the command. Precondition: `log` is stopped.
void AppendTotals(const ReaderCounters& total, const ReadLog& log, std::string& out);

}  // namespace cfile::tools
