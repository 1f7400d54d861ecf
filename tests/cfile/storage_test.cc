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
#include "tests/cfile/forwarding_storage.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Tests that every kind of storage does what cfile/storage.h says.
class StorageTest : public testing::TestWithParam<bool> {
 protected:
  void Write(const std::string& path, std::string_view text) {
    auto sink = storage_->Create(path);
    ASSERT_TRUE(sink.ok()) << sink.status();
    EXPECT_FALSE(storage_->Open(path).ok());
    ASSERT_TRUE((*sink)->Append(encodings::AsBytes(text)).ok());
    ASSERT_TRUE((*sink)->Finish().ok());
  }

  std::string Read(const std::string& path) {
    const auto source = storage_->Open(path);
    if (!source.ok()) return source.status().ToString();
    std::string text((*source)->size(), '\0');
    EXPECT_TRUE((*source)->ReadAt(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}).ok());
    return text;
  }

  std::vector<std::string> List(const std::string& folder = "") {
    const auto entries = storage_->List(folder);
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<std::string> paths;
    for (const StorageEntry& entry : *entries) paths.push_back(entry.path);
    return paths;
  }

  TemporaryDirectory directory_;
  const std::shared_ptr<Storage> storage_ =
      GetParam() ? NewLocalStorage(directory_.path("table")) : NewMemoryStorage();
};

INSTANTIATE_TEST_SUITE_P(All, StorageTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Local" : "Memory"; });

TEST_P(StorageTest, WritesListsReadsAndDeletes) {
  EXPECT_THAT(List(), IsEmpty());
  EXPECT_EQ(storage_->Open("a").status().code(), absl::StatusCode::kNotFound);
  Write("part/a", "one");
  Write("part/b", "");
  Write("other/a", "three");
  EXPECT_EQ(Read("part/a"), "one");
  EXPECT_EQ(Read("part/b"), "");
  EXPECT_THAT(List(), UnorderedElementsAre("part/a", "part/b", "other/a"));
  EXPECT_THAT(List("part"), UnorderedElementsAre("part/a", "part/b"));
  EXPECT_THAT(List("par"), IsEmpty());
  const auto entries = storage_->List("other");
  ASSERT_TRUE(entries.ok() && entries->size() == 1);
  EXPECT_EQ((*entries)[0].size_bytes, 5);
  EXPECT_FALSE((*entries)[0].identity.empty());
  const auto age = std::chrono::system_clock::now() - (*entries)[0].changed;
  EXPECT_LT(age < std::chrono::seconds(0) ? -age : age, std::chrono::hours(1));
  ASSERT_TRUE(storage_->Delete("part/a").ok());
  EXPECT_THAT(List("part"), ElementsAre("part/b"));
  ASSERT_TRUE(storage_->Delete("part").ok());
  ASSERT_TRUE(storage_->Delete("part").ok());
  EXPECT_THAT(List(), ElementsAre("other/a"));
}

TEST_P(StorageTest, FilesThatAreNotFinishedLeaveNothing) {
  {
    auto sink = storage_->Create("part/a");
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Append(encodings::AsBytes("text")).ok());
  }
  EXPECT_EQ(storage_->Open("part/a").status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(storage_->Delete("part").ok());
  EXPECT_THAT(List(), IsEmpty());
  EXPECT_THAT(directory_.Entries(), IsEmpty());
}

TEST_P(StorageTest, OpenSourcesSurviveDeletion) {
  Write("part/a", "one");
  const auto source = storage_->Open("part/a");
  ASSERT_TRUE(source.ok());
  ASSERT_TRUE(storage_->Delete("part").ok());
  uint8_t byte = 0;
  ASSERT_TRUE((*source)->ReadAt(1, {&byte, 1}).ok());
  EXPECT_EQ(byte, 'n');
}

TEST_P(StorageTest, CommitsOnlyOverTheExpectedVersion) {
  EXPECT_EQ(storage_->Read("x.cft", 100).status().code(), absl::StatusCode::kNotFound);
  Write("part/a", "");
  EXPECT_EQ(storage_->Commit("x.cft", "version", "one").code(), absl::StatusCode::kAborted);
  ASSERT_TRUE(storage_->Commit("x.cft", std::nullopt, "one").ok());
  EXPECT_EQ(storage_->Commit("x.cft", std::nullopt, "two").code(), absl::StatusCode::kAborted);
  const auto one = storage_->Read("x.cft", 3);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->bytes, "one");
  EXPECT_EQ(storage_->Read("x.cft", 2).status().code(), absl::StatusCode::kOutOfRange);
  // A commit of the same bytes makes a new version.
  ASSERT_TRUE(storage_->Commit("x.cft", one->version, "one").ok());
  EXPECT_EQ(storage_->Commit("x.cft", one->version, "two").code(), absl::StatusCode::kAborted);
  const auto again = storage_->Read("x.cft", 100);
  ASSERT_TRUE(again.ok() && storage_->Commit("x.cft", again->version, "two").ok());
  EXPECT_EQ(Read("x.cft"), "two");
  EXPECT_THAT(List(), UnorderedElementsAre("part/a", "x.cft"));
}

TEST_P(StorageTest, EachCommitHasOneWinner) {
  ASSERT_TRUE(storage_->Create("part/a").ok());  // makes the directory
  ASSERT_TRUE(storage_->Commit("count.cft", std::nullopt, "").ok());
  constexpr int kThreads = 4, kCommits = 50;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int commits = 0; commits < kCommits;) {
        const auto found = storage_->Read("count.cft", 1000);
        ASSERT_TRUE(found.ok()) << found.status();
        const absl::Status status =
            storage_->Commit("count.cft", found->version, found->bytes + "x");
        ASSERT_TRUE(status.ok() || absl::IsAborted(status)) << status;
        commits += status.ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Read("count.cft").size(), kThreads * kCommits);
}

TEST_P(StorageTest, HoldsATable) {
  for (uint64_t part = 0; part < 3; ++part) {
    auto writer =
        part == 0 ? TableWriter::Create(storage_, ManyTypes()) : TableWriter::Append(storage_);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(AppendRows(*writer, 10 * part, 10).ok());
    const absl::Status status = writer->Finish();
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(TableWriter::Create(storage_, ManyTypes()).status().code(),
            absl::StatusCode::kAlreadyExists);
  const auto table = TableReader::Open(storage_);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->directory(), storage_->name());
  ExpectTable(*table, 30);
  ASSERT_TRUE(Compact(storage_).ok());
  const auto compacted = TableReader::Open(storage_);
  ASSERT_TRUE(compacted.ok());
  EXPECT_EQ(compacted->num_parts(), 1);
  ExpectTable(*compacted, 30);
  const auto removed = CollectGarbage(storage_, std::chrono::seconds(0));
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(removed->size(), 3);
  // The storage has table.cft, the files of one part's columns, and the copy of its description.
  EXPECT_EQ(List().size(), 2 + ManyTypes().columns.size());
  ASSERT_TRUE(DropParts(storage_, std::vector{compacted->part(0)->name}).ok());
  EXPECT_EQ(TableReader::Open(storage_)->num_rows(), 0);
  ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
  EXPECT_THAT(List(), ElementsAre("table.cft"));
}

// Opens the file by its name for each read, as object stores do.
class SourceByName final : public Source {
 public:
  SourceByName(std::shared_ptr<Storage> storage, std::string path,
               const std::shared_ptr<const Source>& now)
      : storage_(std::move(storage)),
        path_(std::move(path)),
        name_(now->name()),
        size_(now->size()) {}
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_; }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    const auto source = storage_->Open(path_);
    return source.ok() ? (*source)->ReadAt(offset, out) : source.status();
  }

 private:
  const std::shared_ptr<Storage> storage_;
  const std::string path_;
  const std::string name_;
  const uint64_t size_;
};

// Passes all calls on to a storage in memory. Read and Commit first call `before`.
// If `before` returns an error, Read and Commit return this error.
// `after_commit` may change the result of Commit.
class InterceptedStorage final : public ForwardingStorage {
 public:
  using Before = std::function<absl::Status(bool commit)>;
  using After = std::function<absl::Status(absl::Status)>;

  absl::StatusOr<std::shared_ptr<const Source>> Open(const std::string& path) const override {
    auto source = base()->Open(path);
    if (!source.ok() || !reads_by_name) return source;
    return std::make_shared<SourceByName>(base(), path, *std::move(source));
  }
  absl::StatusOr<VersionedObject> Read(const std::string& path,
                                       uint64_t max_size_bytes) const override {
    const absl::Status status = before(false);
    if (!status.ok()) return status;
    return base()->Read(path, max_size_bytes);
  }
  absl::Status Commit(const std::string& path, const std::optional<std::string>& expected_version,
                      std::string_view bytes) override {
    const absl::Status status = before(true);
    if (!status.ok()) return status;
    return after_commit(base()->Commit(path, expected_version, bytes));
  }

  Before before = [](bool) { return absl::OkStatus(); };
  After after_commit = [](absl::Status status) { return status; };
  bool reads_by_name = false;
};

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
  const std::shared_ptr<InterceptedStorage> storage_ = std::make_shared<InterceptedStorage>();
  std::optional<TableWriter> writer_;
};

// A writer does not publish a part if the part's files are gone.
// This also holds if the files are removed between two attempts to commit.
TEST_F(InterceptedTableTest, PartsWithoutTheirFilesAreNotPublished) {
  for (const bool condemn : {false, true}) {
    const std::string what = condemn ? "collected" : "deleted";
    bool done = false;
    storage_->before = [&](bool commit) -> absl::Status {
      if (!commit || done) return absl::OkStatus();
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
    };
    const absl::Status status = writer_->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the new part has been removed"));
    EXPECT_TRUE(done) << what;
    EXPECT_EQ(Rows(), 11) << what;
    storage_->before = [](bool) { return absl::OkStatus(); };
    auto next = TableWriter::Append(storage_);
    ASSERT_TRUE(next.ok() && AppendRows(*next, 10, 5).ok());
    writer_.emplace(*std::move(next));
  }
}

// CollectGarbage first commits the names of the parts that it will remove.
// Such parts are called condemned. Then CollectGarbage deletes the files of the condemned parts.
// A writer cannot publish a condemned part.
TEST_F(InterceptedTableTest, CondemnedPartsAreNotPublished) {
  storage_->before = [&](bool commit) {
    if (!commit) return absl::OkStatus();
    const VersionedObject table = *storage_->base()->Read("table.cft", 1000);
    internal::TableContents contents = *internal::ParseTable(table.bytes, "table.cft");
    if (!contents.condemned.empty()) return absl::OkStatus();
    contents.condemned = {NewPart()};
    return storage_->base()->Commit("table.cft", table.version, internal::SerializeTable(contents));
  };
  const absl::Status status = writer_->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_EQ(Rows(), 10);
}

// The commit takes place, but the storage's answer is lost.
// The writer finds its part in the table, and does not remove the part's files.
TEST_F(InterceptedTableTest, LostAnswers) {
  storage_->after_commit = [](const absl::Status&) { return absl::UnavailableError("lost"); };
  EXPECT_EQ(writer_->Finish().code(), absl::StatusCode::kUnavailable);
  writer_.reset();
  EXPECT_EQ(Rows(), 15);
  EXPECT_EQ(Files(), 5);
}

// The storage says that another commit came first, although this commit has succeeded.
TEST_F(InterceptedTableTest, CommitThatSaysThatItFailedAndDidNot) {
  int commits = 0;
  storage_->after_commit = [&](const absl::Status& status) -> absl::Status {
    EXPECT_TRUE(status.ok()) << status;
    return ++commits == 1 ? absl::AbortedError("another version") : status;
  };
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
  storage_->before = [&](bool commit) -> absl::Status {
    if (!commit || std::exchange(done, true)) return absl::OkStatus();
    EXPECT_TRUE(CollectGarbage(storage_->base(), std::chrono::seconds(0)).ok());
    return absl::OkStatus();
  };
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
  storage_->reads_by_name = true;
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
  storage_->before = [](bool commit) {
    return commit ? absl::AbortedError("busy") : absl::OkStatus();
  };
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
    storage_->before = [&](bool) {
      return calls++ == failing ? absl::UnavailableError("busy") : absl::OkStatus();
    };
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
