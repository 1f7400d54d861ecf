// What a search read, for --explain of `find` and `at`.
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

// Records the reads of each file, in the order of the first reads. Only one thread at a time.
class ReadLog {
 public:
  struct File {
    std::string path;  // in its table; "" for a file alone
    std::vector<ObservedRead> reads;
  };

  // The observer for OpenInput. Valid as long as this object.
  ReadObserver observer();
  // Ends the recording: later reads are not recorded. Calls of `files` and `time` may follow.
  void Stop();

  const std::vector<File>& files() const { return files_; }
  // From the construction to Stop.
  std::chrono::nanoseconds time() const { return time_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin_ = Clock::now();
  std::chrono::nanoseconds time_{};
  bool stopped_ = false;
  std::vector<File> files_;
};

// Adds --explain.
void AddExplainOption(CLI::App& command, bool& explain);

// What was searched.
struct Searched {
  // The column of a table in which a key was searched, if any. In a file: 0.
  std::optional<size_t> key_column = {};
  std::string key = {};                    // in memcmp form (cfile/statistics.h)
  std::optional<uint64_t> ordinal = {};    // the row that was read, if any
};

// Appends the index nodes and data blocks that the search touched in each file of `log`, with what
// was read for them; with `json`, as {"explain": ...}. Reads indexes again to find out which nodes
// these are. Errors are those of the index, and of opening a file.
absl::Status AppendExplanation(const Input& input, const CommonOptions& common, ReadLog& log,
                               const Searched& searched, std::string& out);

// Appends a line with the totals of all files. Call ReadLog::Stop first.
void AppendTotals(const Input& input, const ReadLog& log, std::string& out);

}  // namespace cfile::tools
