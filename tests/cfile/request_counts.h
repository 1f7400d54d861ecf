// A table of how many requests readers make to a source or a storage with latency, and how often
// they wait. Time is proportional to the number of waits. No test measures time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cfile/reader.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"

namespace cfile::testing_support {

struct Counts {
  uint64_t rounds = 0;    // how often somebody waited
  uint64_t requests = 0;  // objects, files and ranges of files
  uint64_t at_once = 0;   // the most ranges that were requested, and whose results nobody had
  uint64_t bytes = 0;     // of all ranges
};

// A script that counts. Whoever waits for one read gets the results of all reads that were begun
// before. In a storage, the two ends of a file are at hand after it was opened, as in cfile/http.h.
class Trips {
 public:
  explicit Trips(bool of_storage) : of_storage_(of_storage) {}

  absl::Status Call(const IoCall& call) {
    switch (call.kind) {
      case IoCall::kReadAt:
        if (call.is_first && of_storage_) {
          WaitFor(*call.number);
          break;
        }
        counts_.bytes += call.size;
        counts_.at_once = std::max<uint64_t>(counts_.at_once, call.count);
        [[fallthrough]];
      case IoCall::kOpen:
      case IoCall::kRead:
        ++counts_.requests;
        if (call.index == 0) Wait();
        break;
      case IoCall::kOpenWhole:
      case IoCall::kBeginRead:
        ++counts_.requests;
        counts_.bytes += call.size;
        *call.number = ++begun_;
        counts_.at_once = std::max(counts_.at_once, ++pending_);
        break;
      case IoCall::kWait:
        WaitFor(*call.number);
        break;
      default:
        break;
    }
    return absl::OkStatus();
  }
  // Returns the counts since the last call.
  Counts Take() { return std::exchange(counts_, {}); }

 private:
  void WaitFor(uint64_t number) {
    if (number > done_) Wait();
  }
  void Wait() {
    ++counts_.rounds;
    done_ = begun_;
    pending_ = 0;
  }

  const bool of_storage_;
  Counts counts_;
  uint64_t begun_ = 0, done_ = 0, pending_ = 0;  // numbers of reads
};

// A reader of a file or of a table. Cursors stay for the later steps.
struct Target {
  std::shared_ptr<Trips> trips;
  std::optional<Reader> file;
  std::optional<TableReader> table;
  std::optional<Cursor<int64_t>> file_cursor;
  std::optional<TableCursor<int64_t>> table_cursor;
  std::optional<TableCursor<std::string_view>> key_cursor;

  Cursor<int64_t>& Of31Blocks() {
    if (!file_cursor) file_cursor = *file->NewCursor<int64_t>();
    return *file_cursor;
  }
  TableCursor<int64_t>& OfColumn(size_t column) {
    if (!table_cursor) table_cursor = *table->NewCursor<int64_t>(column);
    return *table_cursor;
  }
};

struct Limits {
  Limits() = default;
  Limits(uint64_t exact) : least(exact), most(exact) {}  // NOLINT(google-explicit-constructor)
  Limits(uint64_t the_least, uint64_t the_most) : least(the_least), most(the_most) {}
  uint64_t least = 0, most = UINT64_MAX;
};
inline Limits AtMost(uint64_t most) { return {0, most}; }
inline Limits AtLeast(uint64_t least) { return {least, UINT64_MAX}; }

struct Step {
  const char* what;
  Limits rounds, requests, at_once;
  std::function<void(Target&)> run;
};
struct Row {
  std::string form;
  std::function<Target()> open;
  std::vector<Step> steps;
  uint64_t most_bytes = UINT64_MAX;  // of a step
};

inline std::function<void(Target&)> ScanRows(TableScanOptions options, uint64_t expected_rows,
                                             std::optional<uint64_t> expected_sum = std::nullopt) {
  // `expected_sum`: of the first column, as if the numbers were unsigned.
  return [=](Target& target) {
    auto scan = target.file ? NewTableScan(*target.file, options) : target.table->NewScan(options);
    ASSERT_TRUE(scan.ok()) << scan.status();
    uint64_t rows = 0, sum = 0;
    for (const auto& batch : scan->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      rows += batch->num_rows();
      if (scan->columns().empty()) continue;
      for (const int64_t value : batch->template column<int64_t>(0).values)
        sum += static_cast<uint64_t>(value);
    }
    EXPECT_EQ(rows, expected_rows);
    EXPECT_EQ(sum, expected_sum.value_or(sum));
  };
}

inline void ExpectWithin(const char* what, uint64_t count, const Limits& limits) {
  EXPECT_TRUE(limits.least <= count && count <= limits.most)
      << what << ": " << count << ", expected " << limits.least << " to " << limits.most;
}

// Opens each target anew and runs its steps one after the other.
inline void ExpectCounts(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.form);
    Target target = row.open();
    for (const Step& step : row.steps) {
      SCOPED_TRACE(step.what);
      step.run(target);
      const Counts counts = target.trips->Take();
      ExpectWithin("rounds", counts.rounds, step.rounds);
      ExpectWithin("requests", counts.requests, step.requests);
      ExpectWithin("at once", counts.at_once, step.at_once);
      EXPECT_LE(counts.bytes, row.most_bytes);
    }
  }
}

}  // namespace cfile::testing_support
