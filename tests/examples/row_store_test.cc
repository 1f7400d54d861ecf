// Tests of row_store.h: against a model, with kills at random, and with system calls that fail.
#include "tests/examples/row_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cfile/table_repair.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/disk.h"
#include "tests/campaign/system_calls.h"
#include "tests/cfile/temporary_directory.h"

static bool operator==(const Values& a, const Values& b) {
  return a.temperature == b.temperature && a.humidity == b.humidity;
}

namespace {

namespace fs = std::filesystem;
using cfile::TemporaryDirectory;
using cfile::testing_support::Disk;
using cfile::testing_support::FaultMode;
using cfile::testing_support::SystemCalls;

constexpr Key kFirst{std::numeric_limits<int64_t>::min(), 0};
constexpr Key kLast{std::numeric_limits<int64_t>::max(), 0};

// A call of the store.
struct Operation {
  enum Kind { kPut, kSync, kFlush, kCompact, kRetain, kCollectGarbage } kind;
  Key key;  // of Put; Retain uses only the time
  Values values;
};

// The operation with this number of a random sequence, in which the time goes on. The number is the
// temperature, so that the values of a key differ.
Operation OperationOf(uint64_t seed, uint64_t number) {
  std::mt19937_64 random(seed * 1'000'003 + number);
  const auto begin = static_cast<int64_t>(number / 20);
  Operation operation{
      .kind = Operation::kPut,
      .key = {begin + static_cast<int64_t>(random() % 20), static_cast<int64_t>(random() % 3) - 1},
      .values = {static_cast<double>(number), static_cast<double>(random() % 100)}};
  const uint64_t kind = random() % 100;
  if (kind >= 80) operation.kind = Operation::kSync;
  if (kind >= 84) operation.kind = Operation::kFlush;
  if (kind >= 92) operation.kind = Operation::kCompact;
  if (kind >= 95) {
    operation.kind = Operation::kRetain;
    operation.key.time -= 12;
  }
  if (kind >= 98) operation.kind = Operation::kCollectGarbage;
  return operation;
}

absl::Status Do(const Operation& operation, RowStore& store) {
  switch (operation.kind) {
    case Operation::kPut:
      return store.Put(operation.key, operation.values);
    case Operation::kSync:
      return store.Sync();
    case Operation::kFlush:
      return store.Flush();
    case Operation::kCompact:
      return store.Compact();
    case Operation::kRetain:
      return store.Retain(operation.key.time);
    case Operation::kCollectGarbage:
      return store.CollectGarbage(std::chrono::seconds(0));
  }
  return absl::InternalError("unknown operation");
}

void Do(const Operation& operation, Rows& model) {
  if (operation.kind == Operation::kPut) {
    model.insert_or_assign(operation.key, operation.values);
  } else if (operation.kind == Operation::kRetain) {
    std::erase_if(model, [&](const auto& row) { return row.first.time < operation.key.time; });
  }
}

void ExpectSame(RowStore& store, const Rows& model, std::mt19937_64& random) {
  const auto all = store.Range(kFirst, kLast);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_TRUE(*all == model) << all->size() << " rows, expected " << model.size();
  const int64_t least = model.empty() ? 0 : model.begin()->first.time;
  for (int i = 0; i < 10; ++i) {
    const Key from{least - 3 + static_cast<int64_t>(random() % 40),
                   static_cast<int64_t>(random() % 5) - 2};
    const auto values = store.Get(from);
    ASSERT_TRUE(values.ok()) << values.status();
    const auto expected = model.find(from);
    ASSERT_EQ(values->has_value(), expected != model.end());
    ASSERT_TRUE(!values->has_value() || **values == expected->second);
    const Key to{from.time + static_cast<int64_t>(random() % 5), from.sensor};
    const auto rows = store.Range(from, to);
    ASSERT_TRUE(rows.ok()) << rows.status();
    ASSERT_TRUE(*rows == Rows(model.lower_bound(from), model.lower_bound(to)));
  }
}

TEST(RowStoreTest, EqualsAModel) {
  const TemporaryDirectory directory;
  std::mt19937_64 random(1);
  Rows model;
  auto store = RowStore::Open(directory.path());
  ASSERT_TRUE(store.ok()) << store.status();
  for (uint64_t number = 0; number < 1500; ++number) {
    const Operation operation = OperationOf(1, number);
    const absl::Status status = Do(operation, **store);
    ASSERT_TRUE(status.ok()) << status;
    Do(operation, model);
    if (random() % 20 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectSame(**store, model, random)) << number;
    }
    if (random() % 50 == 0) {
      store->reset();
      store = RowStore::Open(directory.path());
      ASSERT_TRUE(store.ok()) << store.status();
    }
  }
}

// A process that opens the store and does operations until it is killed. It writes a byte into a
// pipe after each operation.
class Worker {
 public:
  // Kills itself before the `kill_at`-th system call on files of the store; 0: never.
  Worker(const std::string& directory, uint64_t seed, uint64_t first, int64_t kill_at) {
    int ends[2] = {};
    EXPECT_EQ(pipe(ends), 0);
    acknowledged_ = ends[0];
    process_ = fork();
    if (process_ != 0) {
      close(ends[1]);
      return;
    }
    SystemCalls::Get().Arm(directory, kill_at, SystemCalls::kKill, FaultMode::kOnce);
    auto store = RowStore::Open(directory);
    absl::Status status = store.status();
    for (uint64_t number = first; status.ok(); ++number) {
      status = Do(OperationOf(seed, number), **store);
      if (status.ok() && write(ends[1], "+", 1) != 1) break;
    }
    std::cerr << status << "\n";
    _exit(1);
  }

  // Waits for the end of an operation. False: the process has ended.
  bool Wait() const {
    char byte = 0;
    return read(acknowledged_, &byte, 1) == 1;
  }
  void Kill() const { kill(process_, SIGKILL); }
  // Call last. Returns true if the process was killed.
  bool End() const {
    close(acknowledged_);
    int result = 0;
    return waitpid(process_, &result, 0) == process_ && WIFSIGNALED(result);
  }

 private:
  int acknowledged_ = -1;
  pid_t process_ = 0;
};

TEST(RowStoreTest, KeepsAllRowsOfKilledProcesses) {
  const uint64_t kills = cfile::campaign::Amount(80, 5000);
  constexpr uint64_t kSeed = 2;
  const TemporaryDirectory directory;
  std::mt19937_64 random(kSeed);
  Rows model;
  uint64_t done = 0;  // the number of the operation that may or may not have been done
  for (uint64_t i = 0; i < kills; ++i) {
    const bool by_call = random() % 2 == 0;
    const int64_t kill_at = by_call ? 1 + static_cast<int64_t>(random() % 300) : 0;
    const Worker worker(directory.path(), kSeed, done, kill_at);
    for (uint64_t left = random() % 40; by_call || left > 0; --left, ++done) {
      if (!worker.Wait()) break;
      Do(OperationOf(kSeed, done), model);
    }
    worker.Kill();
    for (; worker.Wait(); ++done) Do(OperationOf(kSeed, done), model);
    ASSERT_TRUE(worker.End()) << "operation " << done;
    if (random() % 2 == 0) continue;  // the next process opens what the killed one has left
    auto store = RowStore::Open(directory.path());
    ASSERT_TRUE(store.ok()) << store.status();
    const auto rows = (*store)->Range(kFirst, kLast);
    ASSERT_TRUE(rows.ok()) << rows.status();
    Rows next = model;
    Do(OperationOf(kSeed, done), next);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(**store, *rows == next ? next : model, random)) << done;
  }
  auto store = RowStore::Open(directory.path());
  ASSERT_TRUE(store.ok() && (*store)->CollectGarbage(std::chrono::seconds(0)).ok());
  const auto table = cfile::TableReader::Open(directory.path("rows"));
  ASSERT_TRUE(table.ok()) << table.status();
  const fs::directory_iterator left(directory.path("rows"));
  EXPECT_EQ(std::distance(left, {}), table->num_parts() + 1);  // the parts and table.cft
  cfile::campaign::Done("kills", kills);
  cfile::campaign::Done("operations", done);
}

TEST(RowStoreTest, KeepsAllRowsWhenCallsFail) {
  std::vector<Operation> operations;
  for (uint64_t number = 0; number < 40; ++number) operations.push_back(OperationOf(3, number));
  std::mt19937_64 random(3);
  uint64_t failures = 0;
  for (const int error : {EIO, SystemCalls::kShort}) {
    for (const FaultMode mode : cfile::testing_support::kFaultModes) {
      if (error == SystemCalls::kShort && mode == FaultMode::kFromThenOn) continue;
      const uint64_t step = cfile::campaign::Full() ? 1 : 13;
      for (uint64_t call = 1 + random() % step;; call += step) {
        const TemporaryDirectory directory;
        SystemCalls::Get().Arm(directory.path(), static_cast<int64_t>(call), error, mode);
        auto store = RowStore::Open(directory.path());
        if (!store.ok()) {
          SystemCalls::Get().Disarm();
          store = RowStore::Open(directory.path());
          ASSERT_TRUE(store.ok()) << store.status();
        }
        Rows model;
        for (const Operation& operation : operations) {
          absl::Status status = Do(operation, **store);
          if (!status.ok()) {
            SystemCalls::Get().Disarm();
            Rows next = model;
            Do(operation, next);
            const auto rows = (*store)->Range(kFirst, kLast);
            ASSERT_TRUE(rows.ok()) << rows.status() << " after " << status;
            ASSERT_TRUE(*rows == model || *rows == next) << status;
            if (!Do(operation, **store).ok()) {
              const absl::Status flushed = (*store)->Flush();
              ASSERT_TRUE(flushed.ok()) << flushed << " after " << status;
            }
            status = Do(operation, **store);
          }
          ASSERT_TRUE(status.ok()) << status;
          Do(operation, model);
        }
        SystemCalls::Get().Disarm();
        ASSERT_NO_FATAL_FAILURE(ExpectSame(**store, model, random)) << call;
        store->reset();
        store = RowStore::Open(directory.path());
        ASSERT_TRUE(store.ok()) << store.status();
        ASSERT_NO_FATAL_FAILURE(ExpectSame(**store, model, random)) << call;
        if (SystemCalls::Get().failed().empty()) break;
        ++failures;
      }
    }
  }
  EXPECT_GT(failures, 50);
  cfile::campaign::Done("failed_operations", failures);
}

// Cuts the power after each system call that changes files. Rows that were not synced may be lost,
// the last ones first.
TEST(RowStoreTest, KeepsDurableRowsAfterAPowerCut) {
  const TemporaryDirectory directory;
  SystemCalls::Get().Record(directory.path());
  auto store = RowStore::Open(directory.path());
  ASSERT_TRUE(store.ok()) << store.status();
  std::vector<Rows> models(1);     // models[i]: the rows after i operations
  std::map<size_t, size_t> begun;  // how many operations have begun before a change of files
  std::map<size_t, size_t> synced = {{0, 0}};  // how many operations were durable then
  for (size_t number = 0; number < 30; ++number) {
    const Operation operation = OperationOf(4, number);
    begun[SystemCalls::Get().num_events()] = number + 1;
    const absl::Status status = Do(operation, **store);
    ASSERT_TRUE(status.ok()) << status;
    Do(operation, models.emplace_back(models.back()));
    if (operation.kind == Operation::kPut || operation.kind == Operation::kCompact) continue;
    if (operation.kind == Operation::kCollectGarbage) continue;
    synced[SystemCalls::Get().num_events()] = number + 1;
  }
  const std::vector<SystemCalls::Event> events = SystemCalls::Get().StopRecording();
  std::mt19937_64 random(4);
  const uint64_t rounds = cfile::campaign::Amount(1, 40);
  uint64_t lost = 0;  // how many operations were lost
  for (size_t end = 0; end <= events.size(); ++end) {
    const std::vector<SystemCalls::Event> done(events.begin(),
                                               events.begin() + static_cast<ptrdiff_t>(end));
    const auto next = begun.lower_bound(end);
    const size_t most = next == begun.begin() ? 0 : std::prev(next)->second;
    const size_t least = std::prev(synced.upper_bound(end))->second;
    for (uint64_t round = 0; round < rounds; ++round) {
      const TemporaryDirectory after;
      Disk({}, done, random).Write(directory.path(), after.path());
      auto recovered = RowStore::Open(after.path());
      ASSERT_TRUE(recovered.ok()) << recovered.status() << " after event " << end;
      const auto rows = (*recovered)->Range(kFirst, kLast);
      ASSERT_TRUE(rows.ok()) << rows.status();
      size_t kept = most;
      while (kept > least && models[kept] != *rows) --kept;
      ASSERT_TRUE(models[kept] == *rows)
          << "after event " << end << ", " << least << " to " << most;
      lost += most - kept;
    }
  }
  EXPECT_GT(lost, 0);
  cfile::campaign::Done("power_cuts", (events.size() + 1) * rounds);
}

// tools/RECIPES.md shows the core of the store.
TEST(RowStoreTest, HasTheLinesOfTheRecipe) {
  const auto read = [](const char* path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string store = read(CFILE_SOURCE_DIR "/tests/examples/row_store.h");
  std::istringstream recipe(read(CFILE_SOURCE_DIR "/tools/RECIPES.md"));
  std::string line;
  while (std::getline(recipe, line) && line != "```cpp") {
  }
  int lines = 0;
  for (; std::getline(recipe, line) && line != "```"; ++lines) {
    if (line.starts_with("//")) continue;
    EXPECT_THAT(store, testing::HasSubstr("  " + line + "\n"));
  }
  EXPECT_EQ(lines, 15);
}

class RowStoreFilesTest : public testing::Test {
 protected:
  std::unique_ptr<RowStore> Open() {
    auto store = RowStore::Open(directory_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  absl::StatusCode OpenError() { return RowStore::Open(directory_.path()).status().code(); }

  // Makes a store with `stored` rows in the table and `logged` rows in the log.
  void Fill(int64_t stored, int64_t logged) {
    const auto store = Open();
    for (int64_t i = 0; i < stored + logged; ++i) {
      ASSERT_TRUE(store->Put({i, i}, {static_cast<double>(i), 0}).ok());
      ASSERT_TRUE(i + 1 != stored || store->Flush().ok());
    }
  }
  size_t NumRows() { return Open()->Range(kFirst, kLast)->size(); }

  const TemporaryDirectory directory_;
};

TEST_F(RowStoreFilesTest, CutsTornRecordsOff) {
  constexpr size_t kRecord = 40;
  Fill(2, 3);
  std::string log(3 * kRecord, 0);
  ASSERT_TRUE(std::ifstream(directory_.path("log")).read(log.data(), 3 * kRecord));
  const auto expect = [&](const std::string& bytes, size_t records) {
    std::ofstream(directory_.path("log")) << bytes;
    EXPECT_EQ(NumRows(), 2 + records);
    EXPECT_EQ(fs::file_size(directory_.path("log")), records * kRecord);
  };
  for (size_t size = 0; size <= log.size(); ++size) expect(log.substr(0, size), size / kRecord);
  for (size_t i = 0; i < log.size(); ++i) {
    std::string other = log;
    other[i] ^= 1;
    expect(other, i / kRecord);
  }
  expect(log + std::string(kRecord, 0), 3);
}

TEST_F(RowStoreFilesTest, CompactDropsReplacedRows) {
  Fill(2, 0);
  Fill(3, 0);
  ASSERT_TRUE(Open()->Compact().ok());
  const auto table = cfile::TableReader::Open(directory_.path("rows"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->num_parts(), 1);
  EXPECT_EQ(table->num_rows(), 3);
}

// Without Refresh, CollectGarbage would remove the files that the store reads.
TEST_F(RowStoreFilesTest, AnotherProgramMayCompact) {
  Fill(2, 0);
  Fill(3, 0);
  const auto store = Open();
  ASSERT_TRUE(cfile::Compact(directory_.path("rows")).ok());
  ASSERT_TRUE(store->CollectGarbage(std::chrono::seconds(0)).ok());
  EXPECT_EQ(store->Range(kFirst, kLast)->size(), 3);
}

TEST_F(RowStoreFilesTest, NoRecordFollowsAShortWrite) {
  SystemCalls::Get().Arm(directory_.path(), 0, 0, FaultMode::kOnce);  // watches the log
  auto store = Open();
  SystemCalls::Get().Arm(directory_.path(), 1, SystemCalls::kShort, FaultMode::kOnce);
  errno = 0;  // a short write does not set it
  EXPECT_FALSE(store->Put({1, 1}, {}).ok());
  SystemCalls::Get().Disarm();
  EXPECT_FALSE(store->Put({2, 2}, {}).ok());
  EXPECT_FALSE(store->Sync().ok());
  EXPECT_TRUE(store->Flush().ok());
  EXPECT_TRUE(store->Put({3, 3}, {}).ok());
  store.reset();
  EXPECT_EQ(NumRows(), 1);
}

TEST_F(RowStoreFilesTest, OnlyOneStoreIsOpen) {
  const auto store = Open();
  EXPECT_EQ(OpenError(), absl::StatusCode::kUnavailable);
}

TEST_F(RowStoreFilesTest, DoesNotTakeALostTableForANewOne) {
  Fill(2, 1);
  fs::rename(directory_.path("rows/table.cft"), directory_.path("table.cft"));
  EXPECT_EQ(OpenError(), absl::StatusCode::kNotFound);
  // A damaged table.cft is an error, too.
  std::ofstream(directory_.path("rows/table.cft")) << "damaged";
  EXPECT_EQ(OpenError(), absl::StatusCode::kDataLoss);
  const auto report = cfile::Repair(directory_.path("rows"));
  ASSERT_TRUE(report.ok() && report->complete()) << report.status();
  EXPECT_EQ(NumRows(), 3);
}

TEST_F(RowStoreFilesTest, RefusesATableWithOtherColumns) {
  const cfile::Schema schema{.columns = {{.name = "a", .type = cfile::ColumnType::Int64()}}};
  ASSERT_TRUE(cfile::CommitParts(directory_.path("rows"), {}, {.schema = &schema}).ok());
  EXPECT_EQ(OpenError(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
