// A process is killed at random points while it writes, and a simulated disk loses bytes that were
// not synced. Afterwards there is no file with the final name, or it is the old file or the whole
// new file. Salvage recovers every whole block from a temporary file.
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/inspect.h"
#include "cfile/prepared_parts.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/disk.h"
#include "tests/campaign/system_calls.h"
#include "tests/cfile/table_contents.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using testing_support::Disk;
using testing_support::SystemCalls;
using Event = SystemCalls::Event;

constexpr size_t kRows = 30'000;

uint64_t PowerCuts() { return campaign::Amount(25, 1000); }

// Returns the value of row `i` in file number `value`. Files with even numbers hold strings. Their
// dictionary has no room for all strings, so that only the first blocks need the dictionary.
int64_t NumberOf(int64_t value, size_t i) {
  return value * static_cast<int64_t>(kRows) + static_cast<int64_t>(i);
}
bool HasStrings(int64_t value) { return value % 2 == 0; }

template <typename T, typename To>
absl::Status WriteValues(To to, std::span<const T> values, const ColumnType& type,
                         Encoding encoding) {
  auto writer =
      Writer<T>::Create(std::move(to), type, {.encoding = encoding, .block_size_bytes = 10'000});
  if (!writer.ok()) return writer.status();
  const absl::Status status = writer->Append(values);
  return status.ok() ? writer->Finish() : status;
}

// Writes kRows rows to a path or a sink, in blocks that are far smaller than the file.
template <typename To>
absl::Status WriteNumbers(To to, int64_t value) {
  if (!HasStrings(value)) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < kRows; ++i) values.push_back(NumberOf(value, i));
    return WriteValues<int64_t>(std::move(to), values, ColumnType::Int64(), Encoding::kPlain);
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < kRows; ++i) texts.push_back(std::to_string(NumberOf(value, i)));
  const std::vector<std::string_view> values(texts.begin(), texts.end());
  return WriteValues<std::string_view>(std::move(to), values, ColumnType::String(),
                                       Encoding::kDict);
}

// Returns the rows of file number `value` as numbers.
std::vector<int64_t> NumbersOf(const Reader& reader, int64_t value) {
  std::vector<int64_t> numbers;
  const auto read = [&]<typename T>(std::type_identity<T>, const auto& number_of) {
    auto cursor = reader.NewCursor<T>();
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    if (!cursor.ok()) return;
    auto batch = cursor->Next(1000);
    for (; batch.ok() && !batch->empty(); batch = cursor->Next(1000)) {
      for (const T& number : batch->values) numbers.push_back(number_of(number));
    }
    EXPECT_TRUE(batch.ok()) << batch.status();
  };
  if (HasStrings(value)) {
    read(std::type_identity<std::string_view>(),
         [](std::string_view text) { return std::stoll(std::string(text)); });
  } else {
    read(std::type_identity<int64_t>(), [](int64_t number) { return number; });
  }
  return numbers;
}

// Salvages a temporary file that WriteNumbers(value) left. EXPECTs exactly the rows of all whole
// blocks in the file, in order. Blocks that need the dictionary are only expected if the file has
// the dictionary. Returns the number of rows.
uint64_t ExpectSalvage(const std::string& path, int64_t value) {
  std::vector<uint8_t> whole;
  EXPECT_TRUE(WriteNumbers(NewMemorySink(&whole), value).ok());
  const auto reader = Reader::Open(NewMemoryViewSource(whole));
  const FileInfo& info = reader->info();
  const std::string torn = ReadFile(path);
  const auto is_there = [&](const BlockPointer& block) {
    return block.end() <= torn.size() &&
           std::equal(whole.begin() + static_cast<ptrdiff_t>(block.offset),
                      whole.begin() + static_cast<ptrdiff_t>(block.end()),
                      reinterpret_cast<const uint8_t*>(torn.data()) + block.offset);
  };
  const auto header_size = static_cast<uint32_t>(info.header_size_bytes);
  const auto footer_size = static_cast<uint32_t>(info.footer_size_bytes);
  const bool has_dictionary = info.dictionary && is_there(*info.dictionary);
  std::vector<int64_t> expected;
  EXPECT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                constexpr uint8_t kCodes = 1;  // the first byte of a block of Kudu's DICT
                const bool codes = HasStrings(value) && block.bytes[0] == kCodes;
                if (!is_there(block.pointer) || (codes && !has_dictionary)) return true;
                for (uint64_t i = 0; i < block.num_rows; ++i)
                  expected.push_back(NumberOf(value, block.first_ordinal + i));
                return true;
              }).ok());
  std::vector<uint8_t> salvaged;
  auto source = OpenPreadSource(path);
  EXPECT_TRUE(source.ok()) << source.status();
  const auto report = Salvage(*source, NewMemorySink(&salvaged));
  if (!is_there({.offset = 0, .size = header_size}) &&
      !is_there({.offset = whole.size() - footer_size, .size = footer_size})) {
    EXPECT_EQ(report.status().code(), absl::StatusCode::kDataLoss);
    return 0;
  }
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return 0;
  EXPECT_EQ(report->rows, expected.size());
  const auto result = Reader::Open(NewMemoryViewSource(salvaged));
  EXPECT_TRUE(result.ok() && Verify(*result).ok());
  EXPECT_TRUE(result.ok() && NumbersOf(*result, value) == expected);
  return expected.size();
}

// Returns the number of the file that WriteNumbers published at `path`; -1 if there is no file, and
// -2 after a failed EXPECT.
int64_t ValueOfFile(const std::string& path) {
  if (!fs::exists(path)) return -1;
  const auto reader = Reader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return -2;
  const VerifyReport report = Verify(*reader);
  EXPECT_TRUE(report.ok()) << report.damages[0].status;
  EXPECT_EQ(reader->num_rows(), kRows);
  if (reader->num_rows() != kRows) return -2;
  const bool strings = reader->type() == ColumnType::String();
  const std::vector<int64_t> numbers = NumbersOf(*reader, strings ? 0 : 1);
  if (numbers.size() != kRows) return -2;
  const int64_t value = numbers[0] / static_cast<int64_t>(kRows);
  EXPECT_EQ(HasStrings(value), strings);
  for (size_t i = 0; i < kRows; ++i) {
    if (numbers[i] != NumberOf(value, i)) return -2;
  }
  return value;
}

const Schema& TwoColumns() {
  static const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                         {.name = "b", .type = ColumnType::String()}}};
  return schema;
}

// Appends a part of ten rows. Creates the table if there is none. Some parts are
// packed, some have become too large for it, and some have a file for each column.
absl::Status AppendPart(const std::string& path) {
  const bool exists = fs::exists(path + "/table.cft");
  const auto entries = exists ? std::distance(fs::directory_iterator(path), {}) : 0;
  constexpr size_t kMostBytes[] = {SIZE_MAX, 0, 1};
  const WriterOptions options{.max_packed_part_bytes = kMostBytes[entries % 3]};
  auto writer = exists ? TableWriter::Open(path, {&options, 1})
                       : TableWriter::Create(path, TwoColumns(), {&options, 1});
  if (!writer.ok()) return writer.status();
  const absl::Status status = AppendRows(*writer, 0, 10);
  return status.ok() ? writer->Finish() : status;
}

// Returns the number of parts, or 0 if there is no table. EXPECTs that the table is undamaged.
size_t PartsOf(const std::string& path) {
  if (!fs::exists(path + "/table.cft")) return 0;
  const auto table = TableReader::Open(path);
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return 0;
  EXPECT_EQ(table->num_rows(), 10 * table->num_parts());
  for (size_t part = 0; part < table->num_parts(); ++part) {
    for (const size_t column : {0, 1}) {
      const VerifyReport report = table->VerifyColumn(part, column);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    }
  }
  return table->num_parts();
}

// Runs `work(0)`, `work(1)`, ... in another process. Kills the process at a random time after the
// end of `work(0)`: after up to three times the duration of `work(0)`. Returns how many calls the
// process reported as done.
template <typename Work>
int64_t RunAndKill(Work work, std::mt19937_64& random) {
  using Clock = std::chrono::steady_clock;
  int pipes[2];
  EXPECT_EQ(pipe(pipes), 0);
  const auto begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    for (int64_t i = 0;; ++i) {
      if (!work(i).ok()) _exit(1);
      if (write(pipes[1], "x", 1) != 1) _exit(2);
    }
  }
  close(pipes[1]);
  // The time counts from the end of the first call, so that the process is killed at any point of a
  // later call.
  int64_t done = 0;
  char byte;
  if (read(pipes[0], &byte, 1) == 1) ++done;
  const auto first = Clock::now();
  const Clock::duration delay((first - begin) * (random() % 3000) / 1000);
  while (Clock::now() - first < delay) {
  }
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer failed: " << WEXITSTATUS(status);
  while (read(pipes[0], &byte, 1) == 1) ++done;
  close(pipes[0]);
  return done;
}

TEST(PowerCutTest, KilledWriterOfAFile) {
  std::mt19937_64 random(1);
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  std::set<bool> torn;  // for each torn file, whether Salvage recovered rows
  // On a busy machine, the process is seldom killed while it writes a file. Then the test kills
  // more processes.
  const auto enough = [&](uint64_t cuts) {
    return cuts >= PowerCuts() && (torn.contains(true) || cuts >= 20 * PowerCuts());
  };
  for (uint64_t cut = 0; !enough(cut); ++cut) {
    const int64_t done = RunAndKill([&](int64_t i) { return WriteNumbers(path, i + 1); }, random);
    // The file is the last one that the process reported, or the next one.
    const int64_t value = ValueOfFile(path);
    EXPECT_TRUE(value == done || value == done + 1) << value << " after " << done;
    for (const std::string& entry : directory.Entries()) {
      if (entry == "file") continue;
      EXPECT_TRUE(IsTemporaryFileName(entry)) << entry;
      // The temporary file belongs to the file after the published one.
      torn.insert(ExpectSalvage(directory.path(entry), std::max<int64_t>(value, 0) + 1) > 0);
      fs::remove(directory.path(entry));
    }
    if (HasFailure()) FAIL() << "cut " << cut;
  }
  EXPECT_TRUE(torn.contains(true)) << "no process was killed while it wrote";
  campaign::Done("kills", PowerCuts());
}

TEST(PowerCutTest, KilledAppenderOfATable) {
  std::mt19937_64 random(2);
  for (uint64_t cut = 0; cut < PowerCuts(); ++cut) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    const int64_t done = RunAndKill([&](int64_t) { return AppendPart(path); }, random);
    const auto parts = static_cast<int64_t>(PartsOf(path));
    EXPECT_TRUE(parts == done || parts == done + 1) << parts << " after " << done;
    // Leftover files do not prevent the next append.
    const absl::Status status = AppendPart(path);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(static_cast<int64_t>(PartsOf(path)), parts + 1);
    if (HasFailure()) FAIL() << "cut " << cut;
  }
  campaign::Done("kills", PowerCuts());
}

// Calls `check(directory, done)` with many states of the disk after a power cut at every point of
// `work`. `done` says whether `work` had reported success before the cut. `rounds`: the number of
// states for each point.
template <typename Work, typename Check>
void CutEverywhere(const std::string& root, Work work, Check check,
                   uint64_t rounds = campaign::Amount(15, 400)) {
  const Disk::Entries start = Disk::Contents(root);
  SystemCalls::Get().Record(root);
  const absl::Status status = work();
  const std::vector<Event> events = SystemCalls::Get().StopRecording();
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_GT(events.size(), 4);
  std::mt19937_64 random(3);
  for (size_t end = 0; end <= events.size(); ++end) {
    const std::vector<Event> done(events.begin(), events.begin() + static_cast<ptrdiff_t>(end));
    for (uint64_t round = 0; round < rounds; ++round) {
      const TemporaryDirectory after;
      Disk(start, done, random).Write(root, after.path());
      check(after, end == events.size());
      if (testing::Test::HasFailure()) FAIL() << "cut behind " << end << " events";
    }
  }
  campaign::Done("replayed_cuts", (events.size() + 1) * rounds);
}

TEST(PowerCutTest, LostWritesOfAFile) {
  for (const int64_t old_value : {-1, 1, 2}) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("file");
    const int64_t new_value = old_value == 1 ? 2 : 3;
    if (old_value > 0) {
      ASSERT_TRUE(WriteNumbers(path, old_value).ok());
    }
    std::set<int64_t> seen;
    std::set<uint64_t> rows;  // how many rows Salvage recovered from torn files
    CutEverywhere(
        directory.path(), [&] { return WriteNumbers(path, new_value); },
        [&](const TemporaryDirectory& after, bool done) {
          const int64_t value = ValueOfFile(after.path("file"));
          EXPECT_TRUE(value == new_value || (!done && value == old_value)) << value;
          seen.insert(value);
          for (const std::string& entry : after.Entries()) {
            if (IsTemporaryFileName(entry))
              rows.insert(ExpectSalvage(after.path(entry), new_value));
          }
        });
    EXPECT_EQ(seen.size(), 2);
    EXPECT_GT(rows.size(), 4);
  }
}

// After a power cut, a table has its old parts, or also the new part. The table is new, is new in a
// new folder, or gets a further part. Its path is spelled in several ways.
TEST(PowerCutTest, LostWritesOfATable) {
  for (const auto& [before, spelling, has_folder] :
       std::vector<std::tuple<size_t, const char*, bool>>{{0, "table", false},
                                                          {0, "table/", false},
                                                          {0, "table", true},
                                                          {0, "table/.", true},
                                                          {1, "table", false}}) {
    const TemporaryDirectory directory;
    const std::string path = directory.path(spelling);
    for (size_t part = 0; part < before; ++part) ASSERT_TRUE(AppendPart(path).ok());
    std::set<size_t> seen;
    CutEverywhere(
        directory.path(),
        [&, has_folder = has_folder] {
          if (has_folder) mkdir(directory.path("table").c_str(), 0777);
          return AppendPart(path);
        },
        [&, before = before, spelling = spelling](const TemporaryDirectory& after, bool done) {
          const size_t parts = PartsOf(after.path("table"));
          EXPECT_TRUE(parts == before + 1 || (!done && parts == before)) << parts << spelling;
          seen.insert(parts);
        });
    EXPECT_EQ(seen.size(), 2);
  }
}

// The power is cut while two programs write parts and while a third one publishes them.
// Then the table has none of the parts or all of them. Repeating the commit publishes them once.
TEST(PowerCutTest, LostWritesOfPreparedParts) {
  for (const size_t before : {0, 1}) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    for (size_t part = 0; part < before; ++part) ASSERT_TRUE(AppendPart(path).ok());
    std::vector<std::string> parts;
    std::set<size_t> seen;
    CutEverywhere(
        directory.path(),
        [&]() -> absl::Status {
          for (size_t part = 0; part < 2; ++part) {
            const WriterOptions options{.max_packed_part_bytes = part == 0 ? SIZE_MAX : 1};
            auto writer = TableWriter::Prepare(path, TwoColumns(), {&options, 1});
            if (!writer.ok()) return writer.status();
            if (const auto status = AppendRows(*writer, 0, 10); !status.ok()) return status;
            auto prepared = writer->FinishPrepared();
            if (!prepared.ok()) return prepared.status();
            parts.push_back(*std::move(prepared));
          }
          return CommitParts(path, parts, {.id = "job"}).status();
        },
        [&](const TemporaryDirectory& after, bool done) {
          const size_t found = PartsOf(after.path("table"));
          EXPECT_TRUE(found == before + 2 || (!done && found == before)) << found;
          seen.insert(found);
          const auto again = CommitParts(after.path("table"), parts, {.id = "job"});
          if (again.ok()) {
            EXPECT_EQ(*again, found == before);
            EXPECT_EQ(PartsOf(after.path("table")), before + 2);
          } else {
            // The power was cut before the files of the parts were durable.
            EXPECT_TRUE(absl::IsAborted(again.status()) && found == before) << again.status();
            EXPECT_EQ(PartsOf(after.path("table")), before);
          }
        });
    EXPECT_EQ(seen.size(), 2);
  }
}

// A commit makes a finished file durable while another file of its folder is still being written.
TEST(PowerCutTest, LostNamesInAFolder) {
  const TemporaryDirectory directory;
  const auto storage = NewLocalStorage(directory.path("table"));
  std::set<bool> seen;
  std::unique_ptr<Sink> unfinished;
  CutEverywhere(
      directory.path(),
      [&]() -> absl::Status {
        auto first = storage->Create("part/first");
        auto second = storage->Create("part/second");
        if (!first.ok() || !second.ok()) return absl::UnknownError("no file");
        unfinished = *std::move(first);
        if (const absl::Status status = (*second)->Finish(); !status.ok()) return status;
        return storage->Commit("table.cft", std::nullopt, "part/second");
      },
      [&](const TemporaryDirectory& after, bool done) {
        const bool committed = fs::exists(after.path("table/table.cft"));
        EXPECT_TRUE(committed || !done);
        EXPECT_TRUE(!committed || fs::exists(after.path("table/part/second")));
        seen.insert(committed);
      });
  EXPECT_EQ(seen.size(), 2);
}

// The power is cut while parts are dropped and removed.
// Then the table has all its old parts, or only the parts that were not dropped.
// In both cases, a reader can read the table.
TEST(PowerCutTest, LostWritesOfMaintenance) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("table");
  for (size_t part = 0; part < 3; ++part) ASSERT_TRUE(AppendPart(path).ok());
  const std::vector<std::string> dropped = {TableReader::Open(path)->part(1)->name};
  std::set<size_t> seen;
  std::set<bool> removed;
  CutEverywhere(
      directory.path(),
      [&]() -> absl::Status {
        if (const absl::Status status = DropParts(path, dropped); !status.ok()) return status;
        return CollectGarbage(path, std::chrono::seconds(0)).status();
      },
      [&](const TemporaryDirectory& after, bool done) {
        const size_t parts = PartsOf(after.path("table"));
        EXPECT_TRUE(parts == 2 || (!done && parts == 3)) << parts;
        seen.insert(parts);
        removed.insert(!fs::exists(after.path("table/" + dropped[0])));
        // After the power cut, table.cft is lost, too.
        fs::remove(after.path("table/table.cft"));
        const auto report = Repair(after.path("table"));
        ASSERT_TRUE(report.ok()) << report.status();
        const size_t repaired = PartsOf(after.path("table"));
        EXPECT_TRUE(repaired == 2 || (!done && parts == 3 && repaired == 3)) << repaired;
      });
  EXPECT_EQ(seen.size(), 2);
  EXPECT_EQ(removed.size(), 2);
}

// A table with a merge rule. Row `i` of version `version` has the key `i`.
const Schema& Versions() {
  static const Schema schema{.columns = {{.name = "key", .type = ColumnType::Int64()},
                                         {.name = "value", .type = ColumnType::Int64()},
                                         {.name = "deleted", .type = ColumnType::Bool()},
                                         {.name = "time", .type = ColumnType::Int32()}},
                             .key_columns = {0},
                             .merge_rule = MergeRule{.deleted_column = 2, .time_column = 3}};
  return schema;
}

absl::Status AppendVersion(const std::string& path, int64_t version, int64_t first, int64_t count) {
  const WriterOptions options{.max_packed_part_bytes = version % 2 == 0 ? SIZE_MAX : 0};
  auto writer = CreateOrAppend(path, Versions(), {&options, 1});
  if (!writer.ok()) return writer.status();
  absl::Status status;
  for (int64_t key = first; key < first + count; ++key) {
    const int64_t value = 100 * version + key;
    const bool deleted = (version + key) % 4 == 0;
    const auto time = static_cast<int32_t>(10 * version + key % 3);
    status.Update(writer->Append<int64_t>(0, {&key, 1}));
    status.Update(writer->Append<int64_t>(1, {&value, 1}));
    status.Update(writer->Append<bool>(2, {&deleted, 1}));
    status.Update(writer->Append<int32_t>(3, {&time, 1}));
  }
  return status.ok() ? writer->Finish() : status;
}

// Returns the rows that readers see: {key, value}. EXPECTs that each key comes once.
std::map<int64_t, int64_t> VersionsOf(const std::string& path) {
  std::map<int64_t, int64_t> rows;
  const auto table = TableReader::Open(path);
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return rows;
  auto scan = table->NewScan({});
  EXPECT_TRUE(scan.ok()) << scan.status();
  if (!scan.ok()) return rows;
  for (const auto& batch : scan->Batches()) {
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok()) break;
    for (size_t i = 0; i < batch->num_rows(); ++i) {
      const int64_t key = batch->column<int64_t>(0).values[i];
      EXPECT_TRUE(rows.emplace(key, batch->column<int64_t>(1).values[i]).second) << key;
    }
  }
  return rows;
}

// After a power cut, readers of a table with a merge rule see the rows before the change or those
// after it. So they do if table.cft is then lost and the table is repaired.
TEST(PowerCutTest, LostWritesUnderAMergeRule) {
  using Change = std::function<absl::Status(const std::string&)>;
  const Change nothing = [](const std::string&) { return absl::OkStatus(); };
  const Change append = [](const std::string& path) { return AppendVersion(path, 3, 2, 6); };
  const Change raise = [](const std::string& path) { return RaiseTimeBound(path, 12); };
  const Change compact = [](const std::string& path) -> absl::Status {
    const auto table = TableReader::Open(path);
    if (!table.ok()) return table.status();
    std::vector<std::string> names;
    for (size_t part = 0; part < table->num_parts(); ++part) {
      names.push_back(table->part(part)->name);
    }
    return Compact(path, names).status();
  };
  const Change collect = [](const std::string& path) {
    return CollectGarbage(path, std::chrono::seconds(0)).status();
  };
  const std::pair<Change, Change> cases[] = {{nothing, append},
                                             {nothing, raise},
                                             {nothing, compact},
                                             {raise, compact},
                                             {compact, collect}};
  for (const auto& [prepare, change] : cases) {
    SCOPED_TRACE(absl::StrCat("case ", &prepare - &cases[0].first));
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    ASSERT_TRUE(AppendVersion(path, 1, 0, 10).ok() && AppendVersion(path, 2, 5, 10).ok());
    ASSERT_EQ(prepare(path), absl::OkStatus());
    const std::map<int64_t, int64_t> old = VersionsOf(path);
    CutEverywhere(
        directory.path(), [&, &change = change] { return change(path); },
        [&](const TemporaryDirectory& after, bool done) {
          const std::string table = after.path("table");
          const std::map<int64_t, int64_t> changed = VersionsOf(path);
          const std::map<int64_t, int64_t> found = VersionsOf(table);
          EXPECT_TRUE(found == changed || (!done && found == old));
          fs::remove(table + "/table.cft");
          auto report = Repair(table);
          if (absl::IsFailedPrecondition(report.status())) {
            // The change has left a part without a description, which may have hidden rows.
            EXPECT_FALSE(done);
            report = Repair(table, {.reader = {.stored_rows = true}});
          }
          ASSERT_TRUE(report.ok()) << report.status();
          const std::map<int64_t, int64_t> repaired = VersionsOf(table);
          EXPECT_TRUE(repaired == changed || (found == old && repaired == old));
        },
        campaign::Amount(10, 400));
    if (HasFailure()) return;
  }
}

// Tests changes of columns and parts in tables with few or many parts.
class TableCutTest : public testing::Test {
 protected:
  using Change = std::function<absl::Status(const TableLocation&)>;

  static const ColumnSchema& Number() {
    static const ColumnSchema column{.name = "number", .type = ColumnType::Int32()};
    return column;
  }

  // Appends a part of two rows with the numbers `first` and `first` + 1.
  static absl::Status Append(const TableLocation& table, int64_t first, bool is_new = false) {
    static const Schema schema{
        .columns = {Number(), {.name = "text", .type = ColumnType::String(), .nullable = true}}};
    auto writer = is_new ? TableWriter::Create(table, schema) : TableWriter::Open(table);
    if (!writer.ok()) return writer.status();
    const auto now = is_new ? schema : TableReader::Open(table)->schema();
    const absl::Status status = AppendNumbers(*writer, now, first, 2);
    return status.ok() ? writer->Finish() : status;
  }

  // Gives the rows the values 1000, 1001, and so on.
  static absl::Status WriteColumn(absl::StatusOr<ColumnsWriter> writer,
                                  const ColumnSchema& column) {
    if (!writer.ok()) return writer.status();
    const absl::Status status = AppendNumbers(*writer, 0, column, 1000, writer->num_rows());
    return status.ok() ? writer->Finish() : status;
  }

  static std::vector<std::string> Names(const TableReader& table,
                                        const std::vector<size_t>& parts) {
    std::vector<std::string> names;
    for (const size_t part : parts) names.push_back(table.part(part)->name);
    return names;
  }

  // Returns the values of all columns, then the names of the parts.
  static std::vector<std::string> Everything(const TableLocation& location) {
    const auto table = TableReader::Open(location);
    EXPECT_TRUE(table.ok()) << table.status();
    if (!table.ok()) return {};
    std::vector<std::string> all = Contents(*table);
    for (size_t part = 0; part < table->num_parts(); ++part) all.push_back(table->part(part)->name);
    return all;
  }

  // Writes a table of `parts` parts into the folder `path`.
  // The table is made only once for each number of parts, and then copied.
  static void WriteTable(size_t parts, const std::string& path) {
    static std::map<size_t, std::shared_ptr<Storage>> tables;
    std::shared_ptr<Storage>& table = tables[parts];
    if (table == nullptr) {
      table = NewMemoryStorage();
      for (size_t i = 0; i < parts; ++i) {
        ASSERT_TRUE(Append(table, 2 * static_cast<int64_t>(i), i == 0).ok());
      }
    }
    WriteFiles(*table, path);
  }

  // Makes a table of `parts` parts, calls `prepare`, and cuts the power at points of `change`.
  // After each cut, EXPECTs that the table is as before `change` or as after `change`.
  // The same holds if table.cft is then lost and the table is repaired.
  // EXPECTs that the table can be changed again.
  static void ExpectOldOrNew(size_t parts, const Change& prepare, const Change& change) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("table");
    WriteTable(parts, path);
    ASSERT_EQ(prepare(path), absl::OkStatus());
    const std::vector<std::string> before = Everything(path);
    const Disk::Entries start = Disk::Contents(directory.path());
    SystemCalls::Get().Record(directory.path());
    const absl::Status status = change(path);
    const std::vector<Event> events = SystemCalls::Get().StopRecording();
    ASSERT_EQ(status, absl::OkStatus());
    if (events.empty()) return;  // there was no garbage, so no call was made
    const std::vector<std::string> after = Everything(path);

    // A short campaign cuts a long change only at some points.
    // These points are before and after each call of the commit, and a few others.
    const uint64_t states = campaign::Amount(20, 3000);
    const uint64_t rounds = 1 + states / events.size();
    const uint64_t step = 1 + events.size() / states;
    std::set<size_t> ends = {events.size()};
    for (size_t end = 0; end < events.size(); end += step) ends.insert(end);
    for (size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind != Event::kRename || !events[i].text.ends_with("/table.cft")) continue;
      for (size_t end = i - std::min<size_t>(i, 2); end <= i + 2; ++end) {
        ends.insert(std::min(end, events.size()));
      }
    }
    std::mt19937_64 random(parts);
    std::set<bool> seen;
    uint64_t cuts = 0;
    for (const size_t end : ends) {
      const bool done = end == events.size();
      const std::vector<Event> before_cut(events.begin(),
                                          events.begin() + static_cast<ptrdiff_t>(end));
      for (uint64_t round = 0; round < rounds; ++round, ++cuts) {
        SCOPED_TRACE(absl::StrCat("after ", end, " of ", events.size(), " events"));
        const std::shared_ptr<Storage> storage = NewMemoryStorage();
        for (const auto& [file, bytes] : Disk(start, before_cut, random).State(directory.path())) {
          if (!bytes) continue;
          auto sink = storage->Create(file.substr(file.find('/') + 1));
          ASSERT_TRUE((*sink)->Append(encodings::AsBytes(*bytes)).ok() && (*sink)->Finish().ok());
        }
        const std::vector<std::string> found = Everything(storage);
        EXPECT_TRUE(found == after || (!done && found == before));
        seen.insert(found == after);
        if (cuts % 2 == 0) {
          ASSERT_TRUE(storage->Delete("table.cft").ok());
          const auto report = Repair(storage);
          ASSERT_TRUE(report.ok()) << report.status();
          const std::vector<std::string> repaired = Everything(storage);
          EXPECT_TRUE(repaired == after || (found == before && repaired == before));
        }
        if (cuts % 4 < 2) ExpectUsable(storage);
        if (HasFailure()) return;
      }
    }
    EXPECT_EQ(seen.size(), before == after ? 1 : 2);
    campaign::Done("replayed_cuts", cuts);
  }

  // Makes one more commit and collects garbage. Then EXPECTs that the table has all rows,
  // and that the folder of the table has only the files that the table needs.
  static void ExpectUsable(const std::shared_ptr<Storage>& storage) {
    const uint64_t rows = TableReader::Open(storage)->num_rows();
    ASSERT_EQ(Append(storage, 5000), absl::OkStatus());
    const std::vector<std::string> before = Everything(storage);
    ASSERT_TRUE(CollectGarbage(storage, std::chrono::seconds(0)).ok());
    EXPECT_EQ(Everything(storage), before);
    const auto table = TableReader::Open(storage);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->num_rows(), rows + 2);
    std::set<std::string> expected = {"table.cft"};
    for (size_t part = 0; part < table->num_parts(); ++part) {
      for (size_t column = 0; column < table->schema().columns.size(); ++column) {
        expected.insert(FileOf(*table, part, column));
      }
    }
    expected.erase("");  // of a column that the part lacks
    uint64_t copies = 0;
    const auto files = storage->List("");
    for (const StorageEntry& file : *files) {
      // The next commit in the directory removes the lock file.
      const bool is_chunk = file.path.starts_with("chunk-") && file.path.ends_with(".cft");
      if (is_chunk || file.path == "table.lock") continue;
      const bool is_copy = file.path.find("/part-") != file.path.npos;
      copies += is_copy;
      EXPECT_TRUE(is_copy || expected.erase(file.path) > 0) << file.path;
    }
    EXPECT_TRUE(expected.empty());
    EXPECT_EQ(copies, table->num_parts());
  }

  static absl::Status Nothing(const TableLocation&) { return absl::OkStatus(); }
  static absl::Status Collect(const TableLocation& table) {
    return CollectGarbage(table, std::chrono::seconds(0)).status();
  }
};

TEST_F(TableCutTest, ColumnsChange) {
  const ColumnSchema x{.name = "x", .type = ColumnType::Float(), .nullable = true};
  const ColumnSchema y{.name = "y", .type = ColumnType::Int64()};
  const Change changes[] = {
      [&](const TableLocation& table) { return AddColumn(table, y, 7); },
      [&](const TableLocation& table) {
        return WriteColumn(ColumnsWriter::Add(table, {&x, 1}), x);
      },
      [&](const TableLocation& table) {
        return WriteColumn(ColumnsWriter::Add(table, {&y, 1}), y);
      },
      [&](const TableLocation& table) {
        return WriteColumn(ColumnsWriter::Replace(table, {"number"}), Number());
      },
      [](const TableLocation& table) {
        return DropColumns(table, std::vector<std::string>{"text"});
      },
      [](const TableLocation& table) { return RenameColumn(table, "number", "new"); },
      [](const TableLocation& table) {
        return ReorderColumns(table, std::vector<std::string>{"text", "number"});
      },
      [](const TableLocation& table) { return WidenColumn(table, "number", ColumnType::Int64()); },
  };
  for (const size_t parts : {3, 66}) {
    for (size_t i = 0; i < std::size(changes); ++i) {
      SCOPED_TRACE(absl::StrCat("change ", i, " of ", parts, " parts"));
      ExpectOldOrNew(parts, Nothing, changes[i]);
      if (HasFailure()) return;
      ExpectOldOrNew(parts, changes[i], Collect);
      if (HasFailure()) return;
    }
  }
}

// A chunk is a file that describes up to 64 parts.
// Tests commits that write a new chunk. Tests changes of parts that chunks describe.
TEST_F(TableCutTest, ChunksChange) {
  const auto compact = [](const TableLocation& table) {
    return Compact(table, Names(*TableReader::Open(table), {62, 63, 64, 65})).status();
  };
  const auto drop = [](const TableLocation& table) {
    return DropParts(table, Names(*TableReader::Open(table), {7}));
  };
  const auto append = [](const TableLocation& table) { return Append(table, 3000); };
  struct Case {
    size_t parts;
    Change prepare, change;
  };
  const Case cases[] = {
      {64, Nothing, append},  {128, Nothing, append},  {68, Nothing, compact},
      {68, compact, Collect}, {68, Nothing, drop},     {68, drop, Collect},
      {68, compact, append},  {130, Nothing, compact},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(absl::StrCat("case ", i));
    ExpectOldOrNew(cases[i].parts, cases[i].prepare, cases[i].change);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cfile
