#include "cfile/storage.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cfile/internal/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/storage_kinds.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing_support::IoCall;
using testing_support::ScriptedStorage;

INSTANTIATE_TEST_SUITE_P(
    All, StorageTest,
    testing::Values(StorageKind{"Local",
                                [](const std::string& directory) {
                                  return NewLocalStorage(directory);
                                }},
                    StorageKind{"Memory", [](const std::string&) { return NewMemoryStorage(); }}),
    NameOfKind);

class InterceptedTableTest : public testing::Test {
 protected:
  InterceptedTableTest() {
    auto writer = TableWriter::Create(storage_, schema_);
    EXPECT_TRUE(writer.ok() && AppendRows(*writer, 0, 10).ok() && writer->Finish().ok());
    auto append = TableWriter::Append(storage_);
    EXPECT_TRUE(append.ok() && AppendRows(*append, 10, 5).ok());
    writer_.emplace(*std::move(append));
  }

  uint64_t Rows() {
    const auto table = TableReader::Open(storage_->base());
    EXPECT_TRUE(table.ok()) << table.status();
    return table->num_rows();
  }

  // The number of files in the storage.
  size_t Files() { return storage_->base()->List("")->size(); }

  // Returns the folder of the part that writer_ writes. Its first file appears in Finish.
  std::string NewPart() {
    const TableReader table = *TableReader::Open(storage_->base());
    const std::vector<StorageEntry> files = *storage_->base()->List("");
    for (const StorageEntry& file : files) {
      if (file.path.starts_with("part-") && !file.path.starts_with(table.part(0)->name)) {
        return file.path.substr(0, file.path.find('/'));
      }
    }
    return "";
  }

  const Schema schema_ = {.columns = {{.name = "a", .type = ColumnType::Int64()}}};
  const std::shared_ptr<ScriptedStorage> storage_ = std::make_shared<ScriptedStorage>();
  std::optional<TableWriter> writer_;
};

// A writer does not publish a part if the part's files are gone.
// This also holds if the files are removed between two attempts to commit.
TEST_F(InterceptedTableTest, PartsWithoutTheirFilesAreNotPublished) {
  for (const bool condemn : {false, true}) {
    const std::string what = condemn ? "collected" : "deleted";
    bool done = false;
    storage_->set_script([&](const IoCall& call) {
      if (call.kind != IoCall::kCommit || done) return absl::OkStatus();
      done = true;
      const std::string part = NewPart();
      if (condemn) {
        EXPECT_TRUE(CollectGarbage(storage_->base(), std::chrono::seconds(0)).ok());
        return absl::OkStatus();
      }
      // The files are deleted, and another writer commits first.
      EXPECT_TRUE(storage_->base()->Delete(part).ok());
      auto other = TableWriter::Append(storage_->base());
      EXPECT_TRUE(other.ok() && AppendRows(*other, 10, 1).ok() && other->Finish().ok());
      return absl::OkStatus();
    });
    const absl::Status status = writer_->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the new part has been removed"));
    EXPECT_TRUE(done) << what;
    EXPECT_EQ(Rows(), 11) << what;
    storage_->set_script(nullptr);
    auto next = TableWriter::Append(storage_);
    ASSERT_TRUE(next.ok() && AppendRows(*next, 10, 5).ok());
    writer_.emplace(*std::move(next));
  }
}

// CollectGarbage first commits the names of the parts that it will remove.
// Such parts are called condemned. Then CollectGarbage deletes the files of the condemned parts.
// A writer cannot publish a condemned part.
TEST_F(InterceptedTableTest, CondemnedPartsAreNotPublished) {
  storage_->set_script([&](const IoCall& call) {
    if (call.kind != IoCall::kCommit) return absl::OkStatus();
    const VersionedObject table = *storage_->base()->Read("table.cft", 1000);
    internal::TableContents contents = *internal::ParseTable(table.bytes, "table.cft");
    if (!contents.condemned.empty()) return absl::OkStatus();
    contents.condemned = {NewPart()};
    return storage_->base()->Commit("table.cft", table.version, internal::SerializeTable(contents));
  });
  const absl::Status status = writer_->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_EQ(Rows(), 10);
}

// The commit takes place, but the storage's answer is lost.
// The writer finds its part in the table, and does not remove the part's files.
TEST_F(InterceptedTableTest, LostAnswers) {
  storage_->set_script([](const IoCall& call) {
    return call.kind == IoCall::kCommitted ? absl::UnavailableError("lost") : absl::OkStatus();
  });
  EXPECT_EQ(writer_->Finish().code(), absl::StatusCode::kUnavailable);
  writer_.reset();
  EXPECT_EQ(Rows(), 15);
  EXPECT_EQ(Files(), 5);
}

// The storage says that another commit came first, although this commit has succeeded.
TEST_F(InterceptedTableTest, CommitThatSaysThatItFailedAndDidNot) {
  int commits = 0;
  storage_->set_script([&](const IoCall& call) {
    commits += call.kind == IoCall::kCommit;
    return call.kind == IoCall::kCommitted ? absl::AbortedError("another version")
                                           : absl::OkStatus();
  });
  const absl::Status status = writer_->Finish();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(commits, 1);
  EXPECT_EQ(Rows(), 15);
}

// A chunk is a file that describes parts. A change writes its chunks and then commits.
// In this test, garbage is collected between these two steps.
TEST_F(InterceptedTableTest, ChunksThatAreAboutToBeNamedAreNotLost) {
  writer_.reset();
  for (int part = 0; part < 80; ++part) {
    auto append = TableWriter::Append(storage_);
    ASSERT_TRUE(append.ok() && AppendRows(*append, 0, 1).ok() && append->Finish().ok());
  }
  const std::string third = TableReader::Open(storage_)->part(3)->name;
  bool done = false;
  storage_->set_script([&](const IoCall& call) {
    if (call.kind != IoCall::kCommit || std::exchange(done, true)) return absl::OkStatus();
    EXPECT_TRUE(CollectGarbage(storage_->base(), std::chrono::seconds(0)).ok());
    return absl::OkStatus();
  });
  const absl::Status status = DropParts(storage_, {&third, 1});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(done);
  const auto table = TableReader::Open(storage_);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->num_parts(), 80);
  for (size_t part = 0; part < table->num_parts(); ++part) {
    EXPECT_TRUE(table->OpenColumn(part, 0).ok());
  }
}

// A reader opens a file, and then the file is deleted.
// The storage opens the file by its name for each read, so the next read fails.
TEST_F(InterceptedTableTest, ReadsOfDeletedFilesSayThatTheSnapshotExpired) {
  storage_->set_script([&](const IoCall& call) {
    if (call.kind != IoCall::kReadAt) return absl::OkStatus();
    return storage_->base()->Open(call.name.substr(storage_->name().size() + 1)).status();
  });
  // The file is so large that a reader does not read all of it when it opens the file.
  std::vector<int64_t> values(50'000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(i * i * 0x9e3779b97f4a);
  const WriterOptions options{.encoding = Encoding::kPlain};
  auto writer = TableWriter::Append(storage_, {&options, 1});
  ASSERT_TRUE(writer.ok() && writer->Append<int64_t>(0, values).ok() && writer->Finish().ok());
  const TableReader table = *TableReader::Open(storage_);
  auto cursor = table.NewCursor<int64_t>(0);
  ASSERT_TRUE(cursor.ok() && cursor->SeekToOrdinal(40'000).ok());
  const std::string name = table.part(1)->name;
  ASSERT_TRUE(DropParts(storage_, {&name, 1}).ok());
  ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
  const absl::Status status = cursor->Get(30).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("snapshot expired"));
}

// SeekToKey finds a key in parts that a chunk describes, with and without a value index.
TEST_F(InterceptedTableTest, SeeksInPartsWithAndWithoutIndex) {
  for (const bool first_has_index : {false, true}) {
    const auto storage = NewMemoryStorage();
    for (int64_t part = 0; part < 70; ++part) {
      const WriterOptions options{
          .value_index = part == 0 || part == 69 ? first_has_index == (part == 0) : true};
      auto writer = part == 0 ? TableWriter::Create(storage, schema_, {&options, 1})
                              : TableWriter::Append(storage, {&options, 1});
      ASSERT_TRUE(writer.ok() && writer->Append<int64_t>(0, std::vector{part}).ok());
      ASSERT_TRUE(writer->Finish().ok());
    }
    const TableReader table = *TableReader::Open(storage);
    auto cursor = table.NewCursor<int64_t>(0);
    ASSERT_TRUE(cursor.ok());
    for (const int64_t key : {0, 5, 68, 69, 70}) {
      const auto found = cursor->SeekToKey(key);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->ordinal, static_cast<uint64_t>(key));
      EXPECT_EQ(found->exact, key < 70);
    }
  }
}

// The storage refuses each commit, although the expected version is right. The writer gives up.
TEST_F(InterceptedTableTest, CommitThatNeverSucceeds) {
  storage_->set_script([](const IoCall& call) {
    return call.kind == IoCall::kCommit ? absl::AbortedError("busy") : absl::OkStatus();
  });
  EXPECT_EQ(writer_->Finish(), absl::AbortedError("busy"));
  writer_.reset();
  EXPECT_EQ(Rows(), 10);
  EXPECT_EQ(Files(), 3);
}

// Each call of Read and Commit fails once. No rows are lost, and no files are left over.
TEST_F(InterceptedTableTest, EachCallFailsOnce) {
  uint64_t rows = 10;
  for (int failing = 0;; ++failing) {
    int calls = 0;
    storage_->set_script([&](const IoCall& call) {
      const bool counts = call.kind == IoCall::kRead || call.kind == IoCall::kCommit;
      return counts && calls++ == failing ? absl::UnavailableError("busy") : absl::OkStatus();
    });
    writer_.reset();
    auto writer = TableWriter::Append(storage_);
    absl::Status status = writer.status();
    if (writer.ok()) {
      ASSERT_TRUE(AppendRows(*writer, 10, 1).ok());
      status = writer->Finish();
    }
    writer = absl::AbortedError("dropped");
    rows += status.ok();
    EXPECT_EQ(Rows(), rows) << failing;
    // There is table.cft, and for each part the file of its column and the copy of its description.
    EXPECT_EQ(Files(), 1 + 2 * (rows - 9)) << failing;
    if (status.ok()) break;
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    ASSERT_LT(failing, 10);
  }
}

}  // namespace
}  // namespace cfile
