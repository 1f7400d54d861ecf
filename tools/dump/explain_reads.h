// Shows what a command read. This is the option --explain of `find` and `rows`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/dump/dump.h"
#include "tools/observed_reads.h"

namespace cfile::tools {

// Records the reads of each file. The files are in the order of their first reads. Only one thread
// at a time may use a ReadLog.
class ReadLog {
 public:
  struct File {
    std::string path;  // the path in its table; "" for a file that is not in a table
    std::vector<ObservedRead> reads;
  };

  // Returns the observer that the caller passes to OpenInput. The observer adds each read to this
  // object, so this object must live longer than the opened file or table.
  ReadObserver observer();
  // Ends the recording: later reads are not recorded. Call this before `files` and `time`.
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

// Appends, for each file of `log`, the index nodes and data blocks that the search used, and the
// reads that were made for these nodes and blocks. With `common.json`, appends a JSON object with
// the key "explain". The function stops `log`. Then it reads the indexes again, because the log
// does not say which nodes were used. The errors are those of the index, and of opening a file.
absl::Status AppendExplanation(const Input& input, const CommonOptions& common, ReadLog& log,
                               const Searched& searched, std::string& out);

// Appends two lines about all files: what was read, and how long this took. `total`: the counters
// of the input after the command. Precondition: ReadLog::Stop was called for `log`.
void AppendTotals(const ReaderCounters& total, const ReadLog& log, std::string& out);

}  // namespace cfile::tools
