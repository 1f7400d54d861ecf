#include "cfile/prepared_parts.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::prepared_parts_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_support::Fault;
using testing_support::IoCall;
using testing_support::ScriptedStorage;

class PreparedPartsTest : public TableTestBase {
 protected:
  // Writes the rows from `first` to `first` + `count` - 1 into a part that is not published.
  static std::string Prepare(const TableLocation& table, uint64_t first, uint64_t count,
                             const Schema& schema = ManyTypes()) {
    auto writer = TableWriter::Prepare(table, schema);
    EXPECT_TRUE(writer.ok()) << writer.status();
    if (!writer.ok()) return "";
    EXPECT_TRUE(AppendRows(*writer, first, count).ok());
    const auto part = writer->FinishPrepared();
    EXPECT_TRUE(part.ok()) << part.status();
    return part.ok() ? *part : "";
  }

  absl::StatusOr<bool> Commit(const std::vector<std::string>& parts, const std::string& id = "") {
    return CommitParts(path_, parts, {.id = id});
  }

  internal::TableContents Contents() {
    return *internal::ParseTable(ReadFile(table_file_), table_file_);
  }

  size_t NumFolders() const {
    return static_cast<size_t>(std::count_if(
        fs::directory_iterator(path_), {}, [](const auto& entry) { return entry.is_directory(); }));
  }
};

TEST_F(PreparedPartsTest, PartsAreInvisibleUntilTheCommit) {
  // The parts become visible in the order of the commit, not in that of their making.
  const std::string second = Prepare(path_, 100, 50);
  const std::string first = Prepare(path_, 0, 100);
  EXPECT_EQ(TableReader::Open(path_).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(*Commit({first, second}));
  ExpectTable(OpenTable(), 150);
  EXPECT_EQ(OpenTable().num_parts(), 2);
  const std::string third = Prepare(path_, 150, 10);
  ExpectTable(OpenTable(), 150);
  ASSERT_TRUE(*Commit({third}));
  ExpectTable(OpenTable(), 160);
}

TEST_F(PreparedPartsTest, ACommitWithAKnownIdDoesNothing) {
  ASSERT_TRUE(*Commit({Prepare(path_, 0, 10)}, "first"));
  const std::vector<std::string> parts = {Prepare(path_, 10, 5)};
  ASSERT_TRUE(*Commit(parts, "second"));
  const std::string before = ReadFile(table_file_);
  EXPECT_FALSE(*Commit(parts, "second"));
  // A job that runs again writes other parts.
  EXPECT_FALSE(*Commit({Prepare(path_, 10, 5)}, "second"));
  EXPECT_FALSE(*Commit({}, "first"));
  EXPECT_EQ(ReadFile(table_file_), before);
  // Other commits keep the ids.
  WritePart(15, 5);
  ASSERT_TRUE(Compact(path_).ok());
  EXPECT_FALSE(*Commit(parts, "second"));
  EXPECT_THAT(Contents().job_ids, testing::ElementsAre("second", "first"));
  ExpectTable(OpenTable(), 20);
}

TEST_F(PreparedPartsTest, ATableRemembersTheNewestIds) {
  const auto storage = NewMemoryStorage();
  ASSERT_TRUE(*CommitParts(storage, std::vector{Prepare(storage, 0, 10)}));
  const auto commit = [&](std::string id) { return CommitParts(storage, {}, {.id = id}); };
  for (size_t i = 0; i <= internal::kMaxJobIds; ++i) {
    ASSERT_TRUE(*commit(absl::StrCat("job ", i)));
  }
  const std::string bytes = storage->Read("table.cft", SIZE_MAX)->bytes;
  EXPECT_EQ(internal::ParseTable(bytes, "")->job_ids.size(), internal::kMaxJobIds);
  EXPECT_FALSE(*commit("job 1"));
  EXPECT_TRUE(*commit("job 0"));
  EXPECT_TRUE(*commit(std::string(kMaxCommitIdBytes, 'x')));
  EXPECT_EQ(commit(std::string(kMaxCommitIdBytes + 1, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Without an id, a commit recognizes its own parts.
TEST_F(PreparedPartsTest, PartsAreNotPublishedTwice) {
  const std::vector<std::string> parts = {Prepare(path_, 0, 10), Prepare(path_, 10, 10)};
  ASSERT_TRUE(*Commit(parts));
  EXPECT_FALSE(*Commit(parts));
  EXPECT_EQ(Commit({parts[0], Prepare(path_, 20, 5)}).status().code(),
            absl::StatusCode::kInvalidArgument);
  ExpectTable(OpenTable(), 20);
  // The table no longer has the parts, but they were published.
  ASSERT_TRUE(Compact(path_).ok());
  EXPECT_FALSE(*Commit(parts));
  ExpectTable(OpenTable(), 20);
  ASSERT_TRUE(CollectGarbage(path_, std::chrono::seconds(0)).ok());
  EXPECT_EQ(Commit(parts).status().code(), absl::StatusCode::kAborted);
  ExpectTable(OpenTable(), 20);
}

TEST_F(PreparedPartsTest, PartsReplaceOthers) {
  WritePart(0, 10);
  const std::string old = OpenTable().part(0)->name;
  const std::string part = Prepare(path_, 0, 5);
  const std::string behind = Prepare(path_, 5, 3);
  WritePart(8, 4);  // a part that is appended meanwhile stays
  ASSERT_TRUE(*CommitParts(path_, std::vector{part, behind}, {.id = "job", .replaced = {old}}));
  ExpectTable(OpenTable(), 12);
  EXPECT_FALSE(*CommitParts(path_, std::vector{part, behind}, {.id = "job", .replaced = {old}}));
  const auto gone =
      CommitParts(path_, std::vector{Prepare(path_, 0, 5)}, {.id = "other", .replaced = {old}});
  EXPECT_EQ(gone.status().code(), absl::StatusCode::kAborted) << gone.status();
  EXPECT_THAT(gone.status().message(), HasSubstr(old));
  // Without new parts, the replaced parts are dropped.
  std::vector<std::string> all;
  for (size_t i = 0; i < OpenTable().num_parts(); ++i) all.push_back(OpenTable().part(i)->name);
  ASSERT_TRUE(*CommitParts(path_, {}, {.replaced = all}));
  EXPECT_EQ(OpenTable().num_rows(), 0);
}

TEST_F(PreparedPartsTest, ACommitWithoutPartsCanCreateATable) {
  EXPECT_EQ(CommitParts(path_, {}, {.id = "a"}).status().code(), absl::StatusCode::kNotFound);
  const Schema schema = ManyTypes();
  ASSERT_TRUE(*CommitParts(path_, {}, {.id = "a", .schema = &schema}));
  EXPECT_EQ(OpenTable().schema(), schema);
  EXPECT_EQ(OpenTable().num_parts(), 0);
  EXPECT_FALSE(*CommitParts(path_, {}, {.id = "a", .schema = &schema}));
}

TEST_F(PreparedPartsTest, OtherSchemasAreRefused) {
  const Schema other{.columns = {{.name = "a", .type = ColumnType::Int64()}}};
  const std::string part = Prepare(path_, 0, 10, other);
  EXPECT_EQ(Commit({part, Prepare(path_, 0, 10)}).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(*Commit({Prepare(path_, 0, 10)}));
  EXPECT_EQ(TableWriter::Prepare(path_, other).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Commit({part}).status().code(), absl::StatusCode::kAborted);
  const std::string before = Prepare(path_, 10, 5);
  ASSERT_TRUE(AddColumn(path_, {.name = "new", .type = ColumnType::Int8(), .nullable = true}).ok());
  EXPECT_EQ(Commit({before}).status().code(), absl::StatusCode::kAborted);
  // The ids of columns are part of the description.
  ASSERT_TRUE(DropColumns(path_, std::vector<std::string>{"new"}).ok());
  ASSERT_TRUE(*Commit({Prepare(path_, 10, 5)}));
  ExpectTable(OpenTable(), 15);
}

TEST_F(PreparedPartsTest, OtherPlacesAreRefused) {
  fs::create_directory(path_);
  WriteFile(path_ + "/letter.txt", "");
  const auto status = Commit({Prepare(path_, 0, 10)});
  EXPECT_EQ(status.status().code(), absl::StatusCode::kAlreadyExists) << status.status();
  EXPECT_THAT(status.status().message(), HasSubstr("letter.txt"));
}

TEST_F(PreparedPartsTest, DamagedDescriptionsAreRefused) {
  WritePart(0, 10);
  const std::string part = Prepare(path_, 10, 5);
  for (size_t i = 0; i < part.size(); i += 7) {
    std::string damaged = part;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(Commit({damaged}).status().code(), absl::StatusCode::kDataLoss) << i;
  }
  EXPECT_EQ(Commit({"", part}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Commit({part, part}).status().code(), absl::StatusCode::kInvalidArgument);
  // A sound description of a part with a name that no writer gives.
  internal::TableContents contents = *internal::ParseTable(part, "part");
  contents.parts[0].directory = "part-000001";
  EXPECT_EQ(Commit({internal::SerializeTable(contents)}).status().code(),
            absl::StatusCode::kInvalidArgument);
  ExpectTable(OpenTable(), 10);
}

TEST_F(PreparedPartsTest, GarbageIsFoundAndNotPublished) {
  const std::string part = Prepare(path_, 0, 10);  // before the table exists
  ASSERT_TRUE(*Commit({Prepare(path_, 0, 10)}, "first"));
  const std::string later = Prepare(path_, 10, 5);
  // The default age protects the parts of jobs that run.
  EXPECT_TRUE(CollectGarbage(path_)->empty());
  ASSERT_TRUE(*Commit({later}, "later"));
  EXPECT_EQ(CollectGarbage(path_, std::chrono::seconds(0))->size(), 1);
  EXPECT_EQ(NumFolders(), 2);
  const auto status = Commit({part}, "job");
  EXPECT_EQ(status.status().code(), absl::StatusCode::kAborted) << status.status();
  ExpectTable(OpenTable(), 15);
  // A program that has condemned a part is about to remove its files.
  const std::string condemned = Prepare(path_, 15, 5);
  internal::TableContents contents = Contents();
  contents.condemned = {internal::ParseTable(condemned, "")->parts[0].directory};
  WriteFile(table_file_, internal::SerializeTable(contents));
  EXPECT_EQ(Commit({condemned}).status().code(), absl::StatusCode::kAborted);
}

// The files of a writer that was not finished are gone, and those of a finished one stay.
TEST_F(PreparedPartsTest, WritersRemoveOnlyWhatIsNotFinished) {
  {
    auto writer = TableWriter::Prepare(path_, ManyTypes());
    ASSERT_TRUE(writer.ok() && AppendRows(*writer, 0, 10).ok());
  }
  EXPECT_FALSE(fs::exists(path_));
  const std::string part = Prepare(path_, 0, 10);
  EXPECT_EQ(NumFolders(), 1);
  ASSERT_TRUE(*Commit({part}));
  // A part of a writer that Append began can be committed, too.
  auto writer = TableWriter::Open(path_);
  ASSERT_TRUE(writer.ok() && AppendRows(*writer, 10, 5).ok());
  const auto appended = writer->FinishPrepared();
  ASSERT_TRUE(appended.ok());
  EXPECT_FALSE(writer->Finish().ok());
  ExpectTable(OpenTable(), 10);
  ASSERT_TRUE(*Commit({*appended}));
  // Finish publishes a prepared part at once.
  auto alone = TableWriter::Prepare(path_, ManyTypes());
  ASSERT_TRUE(alone.ok() && AppendRows(*alone, 15, 5).ok());
  ASSERT_TRUE(alone->Finish().ok());
  ExpectTable(OpenTable(), 20);
}

TEST_F(PreparedPartsTest, CommitsThatRaceLoseNothing) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()}}};
  // Each thread commits its own parts. Thread 1 and thread 2 have the same ids.
  constexpr size_t kThreads = 3, kCommits = 20;
  std::vector<std::thread> threads;
  std::vector<size_t> published(kThreads);
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < kCommits; ++i) {
        const std::string part = Prepare(path_, 0, 1, schema);
        const auto commit = Commit({part}, absl::StrCat(thread == 0 ? "own " : "shared ", i));
        ASSERT_TRUE(commit.ok()) << commit.status();
        published[thread] += *commit;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(published[0], kCommits);
  EXPECT_EQ(published[1] + published[2], kCommits);
  EXPECT_EQ(OpenTable().num_rows(), 2 * kCommits);
  EXPECT_EQ(OpenTable().num_parts(), 2 * kCommits);
}

// Several callers have the same parts. The commit of one of them publishes the parts.
TEST_F(PreparedPartsTest, OneOfSeveralCallersPublishes) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()}}};
  for (const bool has_id : {false, true}) {
    for (size_t round = 1; round <= 25; ++round) {
      const auto storage = NewLocalStorage(directory_.path(has_id ? "with id" : "without id"));
      const std::vector parts = {Prepare(storage, 0, 1, schema), Prepare(storage, 1, 1, schema)};
      std::atomic<int> published = 0;
      std::vector<std::thread> callers;
      for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
          const auto commit =
              CommitParts(storage, parts, {.id = has_id ? absl::StrCat("job ", round) : ""});
          ASSERT_TRUE(commit.ok()) << commit.status();
          published += *commit;
        });
      }
      for (std::thread& caller : callers) caller.join();
      EXPECT_EQ(published, 1) << round;
      EXPECT_EQ(TableReader::Open(storage)->num_rows(), 2 * round);
    }
  }
}

// The storage refuses a commit because another caller has published the same parts.
TEST_F(PreparedPartsTest, TheOtherCallerPublishes) {
  const auto storage = std::make_shared<ScriptedStorage>();
  ASSERT_TRUE(*CommitParts(storage, std::vector{Prepare(storage, 0, 10)}));
  const std::vector parts = {Prepare(storage, 10, 5), Prepare(storage, 15, 5)};
  bool first = true;
  storage->set_script([&](const IoCall& call) {
    if (call.kind == IoCall::kCommit && std::exchange(first, false)) {
      EXPECT_TRUE(*CommitParts(storage->base(), parts));
    }
    return absl::OkStatus();
  });
  const auto commit = CommitParts(storage, parts);
  ASSERT_TRUE(commit.ok()) << commit.status();
  EXPECT_FALSE(*commit);
  ExpectTable(*TableReader::Open(storage), 20);
}

// Each call of the storage fails once. Repeating the commit publishes the rows once.
TEST_F(PreparedPartsTest, FailuresOfTheStorage) {
  for (const bool has_id : {false, true}) {
    for (const bool is_new : {false, true}) {
      bool failed = true;
      for (uint64_t call = 1; failed; ++call) {
        SCOPED_TRACE(absl::StrCat("call ", call));
        Fault fault;
        const auto storage = std::make_shared<ScriptedStorage>(NewMemoryStorage(), fault.script());
        if (!is_new) {
          ASSERT_TRUE(*CommitParts(storage, std::vector{Prepare(storage, 0, 10)}));
        }
        const uint64_t first = is_new ? 0 : 10;
        const std::vector parts = {Prepare(storage, first, 5), Prepare(storage, first + 5, 5)};
        const CommitPartsOptions options{.id = has_id ? "job" : ""};
        fault.FailOnce(call);
        const auto commit = CommitParts(storage, parts, options);
        failed = fault.fired();
        fault.Disarm();
        const auto again = CommitParts(storage, parts, options);
        ASSERT_TRUE(again.ok()) << again.status();
        // One of the two calls has published the parts.
        EXPECT_NE(commit.ok() && *commit, *again);
        ExpectTable(*TableReader::Open(storage), first + 10);
        EXPECT_FALSE(*CommitParts(storage, parts, options));
        if (HasFailure()) return;
      }
    }
  }
}

// The storage replaces table.cft, but its answer is lost and another writer commits.
TEST_F(PreparedPartsTest, TheAnswerToTheCommitIsLost) {
  for (const bool compacts : {false, true}) {
    const auto storage = std::make_shared<ScriptedStorage>();
    ASSERT_TRUE(*CommitParts(storage, std::vector{Prepare(storage, 0, 10)}));
    const std::vector parts = {Prepare(storage, 10, 5), Prepare(storage, 15, 5)};
    bool first = true;
    storage->set_script([&](const IoCall& call) {
      if (call.kind != IoCall::kCommitted || !std::exchange(first, false)) return absl::OkStatus();
      if (compacts) {
        EXPECT_TRUE(Compact(storage).ok());
      } else {
        EXPECT_TRUE(*CommitParts(storage, std::vector{Prepare(storage, 20, 5)}));
      }
      return absl::AbortedError("another writer came first");
    });
    const auto commit = CommitParts(storage, parts, {.id = compacts ? "" : "job"});
    ASSERT_TRUE(commit.ok()) << commit.status();
    EXPECT_TRUE(*commit);
    ExpectTable(*TableReader::Open(storage), compacts ? 20 : 25);
  }
}

// After a lost table.cft, Repair does not publish what was not committed.
TEST_F(PreparedPartsTest, RepairKeepsCommittedPartsOnly) {
  const std::vector<std::string> parts = {Prepare(path_, 0, 10), Prepare(path_, 10, 10)};
  ASSERT_TRUE(*Commit(parts, "job"));
  const std::string never = Prepare(path_, 20, 10);
  fs::remove(table_file_);
  ASSERT_TRUE(Repair(path_).ok());
  ExpectTable(OpenTable(), 20);
  EXPECT_FALSE(*Commit(parts));  // known without the id
  ASSERT_TRUE(*Commit({never}));
  ExpectTable(OpenTable(), 30);
}

// Repair finds the ids of commits in the copies of the parts, also those of commits without parts
// and of parts that are no longer there.
TEST_F(PreparedPartsTest, RepairKeepsTheIds) {
  ASSERT_TRUE(*Commit({Prepare(path_, 0, 5), Prepare(path_, 5, 5)}, "first"));
  ASSERT_TRUE(*Commit({}, "empty"));
  const std::vector<std::string> parts = {Prepare(path_, 10, 10)};
  ASSERT_TRUE(*Commit(parts, "last"));
  const auto expect_known = [&](const std::vector<std::string>& ids) {
    fs::remove(table_file_);
    ASSERT_TRUE(Repair(path_).ok());
    ExpectTable(OpenTable(), 20);
    EXPECT_THAT(Contents().job_ids, testing::ElementsAreArray(ids));
    for (const std::string& id : ids) EXPECT_FALSE(*Commit({Prepare(path_, 0, 10)}, id)) << id;
  };
  expect_known({"last", "empty", "first"});
  ASSERT_TRUE(Compact(path_).ok());
  ASSERT_TRUE(CollectGarbage(path_, std::chrono::seconds(0)).ok());
  expect_known({"last", "empty", "first"});
  ASSERT_TRUE(*Commit({}, "later"));
  ASSERT_TRUE(RenameColumn(path_, OpenTable().schema().columns[0].name, "renamed").ok());
  ASSERT_TRUE(RenameColumn(path_, "renamed", ManyTypes().columns[0].name).ok());
  expect_known({"later", "last", "empty", "first"});
}

}  // namespace cfile::prepared_parts_test
