// Tests that several processes can use one table at the same time.
// The processes create the table, append to it, merge its parts, change its columns, or read it.
// Some processes read while other processes change or replace the table.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "encodings/core/status.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/cfile/table_contents.h"
#include "tests/cfile/table_fixture.h"

// This test needs no real fsync, because only a power cut could show a difference.
// Real calls would take most of the time of the test.
extern "C" int fsync(int) { return 0; }

namespace cfile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRows = 10;  // per part
constexpr int kProcesses = 3;

const Schema& TwoColumns() {
  static const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                         {.name = "b", .type = ColumnType::Int64()}}};
  return schema;
}

// Appends rows with the value `stamp` in both columns.
absl::Status AppendStamp(TableWriter& writer, int64_t stamp) {
  const std::vector<int64_t> values(kRows, stamp);
  CFILE_RETURN_IF_ERROR(writer.Append<int64_t>(0, values));
  return writer.Append<int64_t>(1, values);
}

absl::Status CreateTable(const std::string& path, int64_t stamp) {
  CFILE_ASSIGN_OR_RETURN(auto writer, TableWriter::Create(path, TwoColumns()));
  CFILE_RETURN_IF_ERROR(AppendStamp(writer, stamp));
  return writer.Finish();
}

absl::Status AppendPart(const std::string& path, int64_t stamp) {
  CFILE_ASSIGN_OR_RETURN(auto writer, TableWriter::Open(path));
  CFILE_RETURN_IF_ERROR(AppendStamp(writer, stamp));
  return writer.Finish();
}

// Returns the stamp of each part in a column. kInternal: the rows of a part are not those of one
// writer.
absl::StatusOr<std::vector<int64_t>> StampsOf(const TableReader& table, size_t column) {
  std::vector<int64_t> stamps;
  if (table.num_rows() != kRows * table.num_parts()) return absl::InternalError("other rows");
  CFILE_ASSIGN_OR_RETURN(auto cursor, table.NewCursor<int64_t>(column));
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const Batch<int64_t> batch, cursor.Next(kRows));
    if (batch.empty()) return stamps;
    if (batch.size() != kRows) return absl::InternalError("a part of other rows");
    for (const int64_t stamp : batch.values) {
      if (stamp != batch.values[0]) return absl::InternalError("a part of several writers");
    }
    stamps.push_back(batch.values[0]);
  }
}

// Returns the stamps of the parts. kInternal: the columns differ.
absl::StatusOr<std::vector<int64_t>> ReadStamps(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(path));
  CFILE_ASSIGN_OR_RETURN(std::vector<int64_t> stamps, StampsOf(table, 0));
  CFILE_ASSIGN_OR_RETURN(const std::vector<int64_t> others, StampsOf(table, 1));
  if (stamps != others) return absl::InternalError("columns of several tables");
  return stamps;
}

size_t EntriesOf(const std::string& directory) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(directory), {}));
}

size_t ChunksOf(const std::string& directory) {
  const fs::directory_iterator entries(directory);
  return static_cast<size_t>(std::count_if(begin(entries), end(entries), [](const auto& entry) {
    return internal::IsChunkName(entry.path().filename().string());
  }));
}

// Starts several processes that begin their work at the same time.
// Each process has a number. A process can return numbers.
class Processes {
 public:
  // `work(number, give)` runs in process `number` and returns its exit code.
  using Give = std::function<void(int64_t)>;
  Processes(int count, const std::function<int(int, const Give&)>& work) {
    int start[2], results[2];
    EXPECT_EQ(pipe(start), 0);
    EXPECT_EQ(pipe(results), 0);
    for (int number = 0; number < count; ++number) {
      const pid_t child = fork();
      if (child == 0) {
        close(start[1]);
        close(results[0]);
        char none;
        if (read(start[0], &none, 1) != 0) _exit(100);
        const auto give = [&](int64_t result) {
          if (write(results[1], &result, sizeof result) != sizeof result) _exit(101);
        };
        _exit(work(number, give));
      }
      children_.push_back(child);
    }
    close(start[0]);
    close(results[1]);
    results_ = results[0];
    close(start[1]);  // all processes wait for this
  }
  ~Processes() {
    Wait();
    close(results_);
  }

  bool running() {
    for (size_t i = 0; i < children_.size();) {
      int status = 0;
      if (waitpid(children_[i], &status, WNOHANG) == children_[i]) {
        Ended(i, status);
      } else {
        ++i;
      }
    }
    return !children_.empty();
  }
  void Wait() {
    while (!children_.empty()) {
      int status = 0;
      EXPECT_EQ(waitpid(children_[0], &status, 0), children_[0]);
      Ended(0, status);
    }
  }

  // To be called after Wait. exit_codes returns the exit codes in the order in which the processes
  // ended. Results returns the numbers that the processes passed to `give`; all of them must fit
  // into the buffer of a pipe.
  const std::vector<int>& exit_codes() const { return exit_codes_; }
  std::vector<int64_t> Results() {
    std::vector<int64_t> results;
    int64_t result;
    while (read(results_, &result, sizeof result) == sizeof result) results.push_back(result);
    return results;
  }

 private:
  void Ended(size_t i, int status) {
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    exit_codes_.push_back(WEXITSTATUS(status));
    children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
  }

  std::vector<pid_t> children_;
  std::vector<int> exit_codes_;
  int results_ = -1;
};

// Returns 0, or prints the error and returns 1. Each process calls this function for its exit code.
int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

TEST(TwoProcessesTest, AppendAtOnce) {
  const uint64_t rounds = campaign::Amount(3, 30);
  constexpr int64_t kAppends = 15;
  uint64_t reads = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    ASSERT_EQ(CreateTable(path, -1), absl::OkStatus());
    Processes writers(kProcesses, [&](int number, const Processes::Give& give) {
      for (int64_t i = 0; i < kAppends; ++i) {
        const int64_t stamp = number * kAppends + i;
        const absl::Status status = AppendPart(path, stamp);
        if (!status.ok()) return ExitCode(status);
        give(stamp);
      }
      return 0;
    });
    // A reader sees at least the parts that earlier readers saw.
    std::vector<int64_t> before;
    for (bool running = true; running; ++reads) {
      running = writers.running();
      const auto now = ReadStamps(path);
      ASSERT_TRUE(now.ok()) << now.status();
      ASSERT_GE(now->size(), before.size());
      ASSERT_TRUE(std::equal(before.begin(), before.end(), now->begin()));
      before = *now;
    }
    for (const int code : writers.exit_codes()) ASSERT_EQ(code, 0);
    // Each Finish succeeded. The table has exactly one part for each of them, in any order.
    ASSERT_EQ(before[0], -1);
    const std::vector<int64_t> published = writers.Results();
    EXPECT_EQ(published.size(), kProcesses * kAppends);
    EXPECT_EQ(std::multiset<int64_t>(before.begin() + 1, before.end()),
              std::multiset<int64_t>(published.begin(), published.end()));
    EXPECT_EQ(EntriesOf(path), 1 + before.size());
    campaign::Done("appends", published.size());
  }
  campaign::Done("reads", reads);
}

// Drops all parts but the last one, and removes everything that table.cft does not name.
absl::Status DropAndCollect(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(path));
  std::vector<std::string> names;
  for (size_t part = 0; part + 1 < table.num_parts(); ++part) {
    names.push_back(table.part(part)->name);
  }
  CFILE_RETURN_IF_ERROR(DropParts(path, names));
  return CollectGarbage(path, std::chrono::seconds(0)).status();
}

// Parts that are not published yet are removed, too. Their writers are told.
TEST(TwoProcessesTest, DropAndCollectWhileOthersAppendAndRead) {
  const uint64_t rounds = campaign::Amount(2, 30);
  constexpr int64_t kAppends = 25;
  uint64_t appends = 0, expired = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    ASSERT_EQ(CreateTable(path, -1), absl::OkStatus());
    Processes processes(kProcesses, [&](int number, const Processes::Give& give) {
      for (int64_t i = 0; i < kAppends; ++i) {
        const absl::Status status =
            number == 0 ? DropAndCollect(path) : AppendPart(path, number * kAppends + i);
        if (number > 0 && (absl::IsAborted(status) || absl::IsNotFound(status))) continue;
        if (!status.ok()) return ExitCode(status);
        if (number > 0) give(number * kAppends + i);
      }
      return 0;
    });
    for (bool running = true; running;) {
      running = processes.running();
      const auto stamps = ReadStamps(path);
      ASSERT_TRUE(stamps.ok() || absl::IsAborted(stamps.status())) << stamps.status();
      expired += !stamps.ok();
    }
    for (const int code : processes.exit_codes()) ASSERT_EQ(code, 0);
    ASSERT_EQ(DropAndCollect(path), absl::OkStatus());
    const auto stamps = ReadStamps(path);
    ASSERT_TRUE(stamps.ok()) << stamps.status();
    ASSERT_EQ(stamps->size(), 1);
    const std::vector<int64_t> published = processes.Results();
    EXPECT_TRUE((*stamps)[0] == -1 ||
                std::find(published.begin(), published.end(), (*stamps)[0]) != published.end());
    EXPECT_EQ(EntriesOf(path), 2);
    appends += published.size();
  }
  campaign::Done("appends_while_dropping", appends);
  campaign::Done("expired_snapshots_told", expired);
}

// The parts and the columns of these tables change at the same time.
// Each row has a number that is called its stamp.
// In each row, all columns except the column x have the stamp as their value.
// If a writer has replaced the value of x in a row, the new value is the stamp plus kReplaced.
// Otherwise, x is kDefault in a row that is older than the column x.
// In all other rows, x is the stamp.
constexpr int64_t kDefault = -7, kReplaced = 1'000'000;

absl::StatusOr<std::vector<int64_t>> ReadColumn(const TableReader& table, size_t column) {
  std::vector<int64_t> values;
  const auto read = [&]<typename T>(std::type_identity<T>) -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(auto cursor, table.NewCursor<T>(column));
    while (true) {
      CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, cursor.Next(1000));
      if (batch.empty()) return absl::OkStatus();
      values.insert(values.end(), batch.values.begin(), batch.values.end());
    }
  };
  const absl::Status status = table.schema().columns[column].type == ColumnType::Int32()
                                  ? read(std::type_identity<int32_t>())
                                  : read(std::type_identity<int64_t>());
  CFILE_RETURN_IF_ERROR(status);
  return values;
}

// Returns for each stamp the number of rows that have this stamp.
// Returns kInternal if the columns of a row contradict each other.
absl::StatusOr<std::map<int64_t, size_t>> CountStamps(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(path));
  CFILE_ASSIGN_OR_RETURN(const std::vector<int64_t> stamps, ReadColumn(table, 0));
  CFILE_ASSIGN_OR_RETURN(const std::vector<int64_t> others, ReadColumn(table, 1));
  if (stamps != others) return absl::InternalError("columns of several tables");
  if (table.schema().columns.size() > 2) {
    CFILE_ASSIGN_OR_RETURN(const std::vector<int64_t> x, ReadColumn(table, 2));
    if (x.size() != stamps.size()) return absl::InternalError("columns of several tables");
    bool old_values = false, new_values = false;
    for (size_t i = 0; i < x.size(); ++i) {
      old_values = old_values || x[i] == kDefault;
      new_values = new_values || x[i] == stamps[i] + kReplaced;
      if (x[i] != kDefault && x[i] != stamps[i] && x[i] != stamps[i] + kReplaced) {
        return absl::InternalError("values of another row");
      }
    }
    if (old_values && new_values) return absl::InternalError("a part of a change of columns");
  }
  std::map<int64_t, size_t> counts;
  for (const int64_t stamp : stamps) ++counts[stamp];
  return counts;
}

// Appends a part with values in all columns of the table.
absl::Status AppendStamped(const TableLocation& table, int64_t stamp) {
  CFILE_ASSIGN_OR_RETURN(const TableReader reader, TableReader::Open(table));
  CFILE_ASSIGN_OR_RETURN(auto writer, TableWriter::Open(table));
  CFILE_RETURN_IF_ERROR(AppendStamp(writer, stamp));
  if (reader.schema().columns.size() > 2) {
    const bool wide = reader.schema().columns[2].type == ColumnType::Int64();
    // Another process may have changed the columns between Open and Append.
    const absl::Status status =
        wide ? writer.Append<int64_t>(2, std::vector<int64_t>(kRows, stamp))
             : writer.Append<int32_t>(2, std::vector<int32_t>(kRows, static_cast<int32_t>(stamp)));
    if (!status.ok()) return absl::AbortedError(status.message());
  }
  const absl::Status status = writer.Finish();
  return absl::IsInvalidArgument(status) ? absl::AbortedError(status.message()) : status;
}

// Gives new values to the column x in all rows.
absl::Status ReplaceX(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(auto writer, ColumnsWriter::Replace(path, {"x"}));
  // Finish fails if a part has changed since the writer began. New parts are no reason to fail.
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(path));
  CFILE_ASSIGN_OR_RETURN(std::vector<int64_t> stamps, ReadColumn(table, 0));
  stamps.resize(writer.num_rows());
  std::vector<int32_t> values;
  for (const int64_t stamp : stamps) values.push_back(static_cast<int32_t>(stamp + kReplaced));
  CFILE_RETURN_IF_ERROR(writer.Append<int32_t>(0, values));
  return writer.Finish();
}

// Merges two parts that follow each other. `random` chooses them.
absl::Status CompactTwo(const std::string& path, size_t random) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(path));
  std::vector<std::string> names;
  const size_t first = random % std::max<size_t>(table.num_parts() - 1, 1);
  for (size_t part = first; part < std::min(first + 2, table.num_parts()); ++part) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(part));
    names.push_back(info.name);
  }
  return Compact(path, names).status();
}

// Calls `work` again as long as it fails because another process has changed the table.
absl::Status Insist(const std::function<absl::Status()>& work) {
  absl::Status status = work();
  while (absl::IsAborted(status) || absl::IsNotFound(status)) status = work();
  return status;
}

// A chunk is a file that describes a fixed number of parts.
// The table begins with one part less than this number.
// So commits of all kinds compete while chunks are written and replaced.
TEST(TwoProcessesTest, PartsAndColumnsChangeAtOnce) {
  const uint64_t rounds = campaign::Amount(1, 20);
  constexpr int64_t kParts = 63, kAppends = 20;
  const auto prepared = NewMemoryStorage();
  for (int64_t stamp = -kParts; stamp < 0; ++stamp) {
    auto writer = stamp == -kParts ? TableWriter::Create(prepared, TwoColumns())
                                   : TableWriter::Open(prepared);
    ASSERT_TRUE(writer.ok() && AppendStamp(*writer, stamp).ok() && writer->Finish().ok());
  }
  uint64_t reads = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    WriteFiles(*prepared, path);
    Processes processes(4, [&](int number, const Processes::Give& give) {
      std::mt19937_64 random(round);
      const ColumnSchema x{.name = "x", .type = ColumnType::Int32()};
      if (number == 0) {
        const std::function<absl::Status()> changes[] = {
            [&] { return AddColumn(path, x, kDefault); },
            [&] { return ReplaceX(path); },
            [&] { return DropColumns(path, std::vector<std::string>{"x"}); },
            [&] { return AddColumn(path, x, kDefault); },
            [&] { return WidenColumn(path, "x", ColumnType::Int64()); },
        };
        for (const auto& change : changes) {
          const absl::Status status = Insist(change);
          if (!status.ok()) return ExitCode(status);
        }
        return 0;
      }
      for (int64_t i = 0; i < kAppends; ++i) {
        const int64_t stamp = number * kAppends + i;
        const absl::Status status = Insist(
            [&] { return number == 1 ? CompactTwo(path, random()) : AppendStamped(path, stamp); });
        if (!status.ok()) return ExitCode(status);
        if (number > 1) give(stamp);
      }
      return 0;
    });
    // Each reader sees all rows that earlier readers saw.
    std::map<int64_t, size_t> before;
    for (bool running = true; running; ++reads) {
      running = processes.running();
      const auto now = CountStamps(path);
      ASSERT_TRUE(now.ok()) << now.status();
      for (const auto& [stamp, rows] : *now) ASSERT_EQ(rows, kRows) << stamp;
      for (const auto& [stamp, rows] : before) ASSERT_TRUE(now->contains(stamp)) << stamp;
      before = *now;
    }
    for (const int code : processes.exit_codes()) ASSERT_EQ(code, 0);
    std::set<int64_t> expected, found;
    for (int64_t stamp = -kParts; stamp < 0; ++stamp) expected.insert(stamp);
    for (const int64_t stamp : processes.Results()) expected.insert(stamp);
    for (const auto& [stamp, rows] : before) found.insert(stamp);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(expected.size(), kParts + 2 * kAppends);
    ASSERT_TRUE(CollectGarbage(path, std::chrono::seconds(0)).ok());
    const auto now = CountStamps(path);
    ASSERT_TRUE(now.ok()) << now.status();
    EXPECT_EQ(*now, before);
    const auto table = TableReader::Open(path);
    ASSERT_TRUE(table.ok() && table->schema().columns.size() == 3);
    EXPECT_GT(table->num_parts(), 64);
    EXPECT_EQ(EntriesOf(path), 1 + table->num_parts() + ChunksOf(path));
    EXPECT_GT(ChunksOf(path), 0);
    campaign::Done("appends_while_columns_change", 2 * kAppends);
  }
  campaign::Done("reads", reads);
}

TEST(TwoProcessesTest, CreateAtOnce) {
  const uint64_t rounds = campaign::Amount(20, 500);
  constexpr int kExists = 10, kAborted = 11;
  for (uint64_t round = 0; round < rounds; ++round) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    if (round % 2 == 1) fs::create_directory(path);
    Processes writers(kProcesses, [&](int number, const Processes::Give& give) {
      const absl::Status status = CreateTable(path, number);
      if (absl::IsAlreadyExists(status)) return kExists;
      if (absl::IsAborted(status)) return kAborted;
      if (status.ok()) give(number);
      return ExitCode(status);
    });
    writers.Wait();
    const std::vector<int>& codes = writers.exit_codes();
    ASSERT_EQ(std::count(codes.begin(), codes.end(), 0), 1);
    ASSERT_EQ(std::count(codes.begin(), codes.end(), 1), 0);
    const auto stamps = ReadStamps(path);
    ASSERT_TRUE(stamps.ok()) << stamps.status();
    EXPECT_EQ(*stamps, writers.Results());
    EXPECT_EQ(EntriesOf(path), 2);
  }
  campaign::Done("creations", rounds);
}

// Removes a table. Repeats the removal, because another process may add an entry at the same time.
void Remove(const std::string& path) {
  std::error_code error;
  do {
    fs::remove_all(path, error);
  } while (error || fs::exists(path));
}

// Puts the table `next` at `path`, and the table that was there at `old`.
void Replace(const std::string& path, const std::string& next, const std::string& old) {
  Remove(old);
  std::error_code error;
  fs::rename(path, old, error);  // fails if there is no table yet
  // A writer that was opened before creates the directory again for its part. It removes both when
  // it gives up. A directory that is not empty cannot be replaced.
  while (fs::rename(next, path, error), error == std::errc::directory_not_empty) Remove(path);
  if (error) throw fs::filesystem_error("cannot replace", next, path, error);
}

// Gives the only part of a table the name that earlier versions used.
absl::Status CountPart(const std::string& path) {
  const std::string file = internal::TableFilePath(path);
  CFILE_ASSIGN_OR_RETURN(internal::TableContents contents,
                         internal::ParseTable(ReadFile(file), file));
  fs::rename(path + "/" + contents.parts[0].directory, path + "/part-000000");
  contents.parts[0].directory = "part-000000";
  WriteFile(file, internal::SerializeTable(contents));
  return absl::OkStatus();
}

// Puts tables with the stamps 1, 2, ... at `path`. Each table replaces the one before.
absl::Status ReplaceTables(const std::string& path, int64_t count, bool counted) {
  const std::string next = path + ".next", old = path + ".old";
  for (int64_t stamp = 1; stamp <= count; ++stamp) {
    if (!counted && stamp % 2 == 0) {
      Remove(path);
      CFILE_RETURN_IF_ERROR(CreateTable(path, stamp));
      continue;
    }
    CFILE_RETURN_IF_ERROR(CreateTable(next, stamp));
    if (counted) CFILE_RETURN_IF_ERROR(CountPart(next));
    Replace(path, next, old);
  }
  Remove(old);
  return absl::OkStatus();
}

TEST(TwoProcessesTest, ReplaceWhileOthersReadAndGiveUp) {
  const auto tables = static_cast<int64_t>(campaign::Amount(60, 1500));
  uint64_t whole = 0, replaced = 0;
  for (const bool counted : {false, true}) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    Processes processes(2, [&](int number, const Processes::Give&) {
      if (number == 0) return ExitCode(ReplaceTables(path, tables, counted));
      // Begins parts and destroys their writers, whatever the state of the table.
      for (int64_t i = 0; i < 3 * tables; ++i) {
        auto writer = TableWriter::Open(path);
        if (writer.ok() && AppendStamp(*writer, -i).ok()) continue;
      }
      return 0;
    });
    // A reader never mixes rows of several tables. The only errors say that there is no table, or
    // that the table was replaced.
    for (bool running = true; running;) {
      running = processes.running();
      const auto stamps = ReadStamps(path);
      if (stamps.ok()) {
        ASSERT_EQ(stamps->size(), 1);
        ++whole;
      } else {
        ASSERT_TRUE(absl::IsNotFound(stamps.status()) || absl::IsAborted(stamps.status()))
            << stamps.status();
        ++replaced;
      }
    }
    for (const int code : processes.exit_codes()) ASSERT_EQ(code, 0);
    const auto last = ReadStamps(path);
    ASSERT_TRUE(last.ok()) << last.status();
    EXPECT_EQ(*last, std::vector<int64_t>{tables});
    // No part without a successful Finish is left.
    EXPECT_EQ(EntriesOf(path), 2);
  }
  EXPECT_GT(whole, 0);
  campaign::Done("whole_tables_read", whole);
  campaign::Done("replaced_tables_told", replaced);
}

}  // namespace
}  // namespace cfile
