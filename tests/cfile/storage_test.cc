#include "cfile/storage.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/prepared_parts.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/storage_kinds.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::storage_test {

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
    auto append = TableWriter::Open(storage_);
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
      auto other = TableWriter::Open(storage_->base());
      EXPECT_TRUE(other.ok() && AppendRows(*other, 10, 1).ok() && other->Finish().ok());
      return absl::OkStatus();
    });
    const absl::Status status = writer_->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the new part has been removed"));
    EXPECT_TRUE(done) << what;
    EXPECT_EQ(Rows(), 11) << what;
    storage_->set_script(nullptr);
    auto next = TableWriter::Open(storage_);
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

// The commit takes place, but the storage's answer is lost, and table.cft cannot be read again.
// Nobody knows whether the table has the part, so its files stay.
TEST_F(InterceptedTableTest, LostAnswers) {
  bool committed = false;
  storage_->set_script([&](const IoCall& call) {
    committed = committed || call.kind == IoCall::kCommitted;
    return committed ? absl::UnavailableError("lost") : absl::OkStatus();
  });
  EXPECT_EQ(writer_->Finish().code(), absl::StatusCode::kUnavailable);
  writer_.reset();
  EXPECT_EQ(Rows(), 15);
  EXPECT_EQ(Files(), 5);
}

// The commit takes place, but its entry in the directory could not be synced.
TEST_F(InterceptedTableTest, CommitsThatMayNotBeDurable) {
  storage_->set_script([](const IoCall& call) {
    return call.kind == IoCall::kCommitted ? absl::InternalError("not synced") : absl::OkStatus();
  });
  EXPECT_EQ(writer_->Finish(), absl::InternalError("not synced"));
  writer_.reset();
  EXPECT_EQ(Rows(), 15);
  EXPECT_EQ(Files(), 5);
}

// Each change of a table takes place, then another writer commits, and the answer to the change is
// lost or says that the other writer came first.
using Change = std::function<absl::Status(const std::shared_ptr<Storage>& storage)>;
struct NamedChange {
  const char* name;
  Change make;
  bool is_new = false;  // there is no table before the change
};

const Schema kTwoColumns = {.columns = {{.name = "a", .type = ColumnType::Int64()},
                                        {.name = "b", .type = ColumnType::Int32()}}};
const WriterOptions kSorted[] = {{.value_index = true}, {}};

absl::Status FinishRows(absl::StatusOr<TableWriter> writer, int64_t first) {
  CFILE_RETURN_IF_ERROR(writer.status());
  std::vector<int64_t> a(10);
  std::iota(a.begin(), a.end(), first);
  CFILE_RETURN_IF_ERROR(writer->Append<int64_t>(0, a));
  CFILE_RETURN_IF_ERROR(writer->Append<int32_t>(1, std::vector<int32_t>(10, 7)));
  return writer->Finish();
}

std::string PartName(const std::shared_ptr<Storage>& storage, size_t part) {
  return TableReader::Open(storage)->part(part)->name;
}

absl::Status FinishColumn(absl::StatusOr<ColumnsWriter> writer) {
  CFILE_RETURN_IF_ERROR(writer.status());
  CFILE_RETURN_IF_ERROR(writer->Append<int32_t>(0, std::vector<int32_t>(writer->num_rows(), 8)));
  return writer->Finish();
}

absl::Status CommitOnePart(const std::shared_ptr<Storage>& storage, const std::string& id) {
  CFILE_ASSIGN_OR_RETURN(auto writer, TableWriter::Prepare(storage, kTwoColumns));
  CFILE_ASSIGN_OR_RETURN(const std::string part, writer.FinishPrepared());
  CFILE_ASSIGN_OR_RETURN(const bool first, CommitParts(storage, {&part, 1}, {.id = id}));
  return first ? absl::OkStatus() : absl::UnknownError("CommitParts returned false");
}

const NamedChange kChanges[] = {
    {"Create", [](const auto& to) { return FinishRows(TableWriter::Create(to, kTwoColumns), 0); },
     true},
    {"Append", [](const auto& to) { return FinishRows(TableWriter::Open(to, kSorted), 30); }},
    {"Replace",
     [](const auto& to) {
       const std::string part = PartName(to, 1);
       return FinishRows(TableWriter::Replace(to, {&part, 1}, kSorted), 10);
     }},
    {"CommitParts", [](const auto& to) { return CommitOnePart(to, ""); }},
    {"CommitPartsWithId", [](const auto& to) { return CommitOnePart(to, "job"); }},
    {"Compact", [](const auto& to) { return Compact(to).status(); }},
    {"DropParts",
     [](const auto& to) {
       const std::string part = PartName(to, 0);
       return DropParts(to, {&part, 1});
     }},
    {"DropRowsBelow", [](const auto& to) { return DropRowsBelow<int64_t>(to, 0, 15); }},
    {"CollectGarbage",
     [](const auto& to) { return CollectGarbage(to, std::chrono::seconds(0)).status(); }},
    {"AddColumn",
     [](const auto& to) {
       return AddColumn(to, {.name = "c", .type = ColumnType::Int8(), .nullable = true});
     }},
    {"DropColumns",
     [](const auto& to) {
       const std::string column = "b";
       return DropColumns(to, {&column, 1});
     }},
    {"RenameColumn", [](const auto& to) { return RenameColumn(to, "b", "c"); }},
    {"ReorderColumns",
     [](const auto& to) {
       return ReorderColumns(to, std::vector<std::string>{"b", "a"});
     }},
    {"WidenColumn", [](const auto& to) { return WidenColumn(to, "b", ColumnType::Int64()); }},
    {"ReplaceColumn",
     [](const auto& to) { return FinishColumn(ColumnsWriter::Replace(to, {"b"})); }},
    {"AddColumnWithValues",
     [](const auto& to) {
       const ColumnSchema column{.name = "c", .type = ColumnType::Int32()};
       return FinishColumn(ColumnsWriter::Add(to, {&column, 1}));
     }},
    {"Repair", [](const auto& to) { return Repair(to, {.force = true}).status(); }},
};

class LostAnswerTest : public testing::TestWithParam<NamedChange> {
 protected:
  static std::shared_ptr<ScriptedStorage> NewTable() {
    const auto storage = std::make_shared<ScriptedStorage>();
    if (GetParam().is_new) return storage;
    for (int64_t part = 0; part < 4; ++part) {
      EXPECT_TRUE(FinishRows(part == 0 ? TableWriter::Create(storage, kTwoColumns, kSorted)
                                       : TableWriter::Open(storage, kSorted),
                             10 * part)
                      .ok());
    }
    const std::string last = PartName(storage, 3);  // garbage
    EXPECT_TRUE(DropParts(storage, {&last, 1}).ok());
    return storage;
  }

  // What a table says, and the values of all its columns.
  static std::string Describe(const std::shared_ptr<Storage>& storage) {
    const TableReader table = *TableReader::Open(storage);
    std::string text;
    for (const ColumnSchema& column : table.schema().columns)
      absl::StrAppend(&text, column.name, " ", column.type.ToString(), ", ");
    for (size_t i = 0; i < table.num_parts(); ++i) {
      const PartInfo part = *table.part(i);
      absl::StrAppend(&text, part.num_rows, " rows, ");
      for (size_t column = 0; column < table.schema().columns.size(); ++column)
        EXPECT_TRUE(table.OpenColumn(i, column).ok());
      const auto files = *storage->List(part.name);
      EXPECT_TRUE(std::any_of(files.begin(), files.end(), [&](const StorageEntry& file) {
        return internal::ParsePartCopyName(file.path.substr(part.name.size() + 1)).has_value();
      })) << "the part has no copy";
    }
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(All, LostAnswerTest, testing::ValuesIn(kChanges),
                         [](const auto& test) { return test.param.name; });

TEST_P(LostAnswerTest, TheChangeIsMadeOnceAndSucceeds) {
  const auto undisturbed = NewTable();
  ASSERT_TRUE(GetParam().make(undisturbed).ok());
  for (const absl::Status& answer :
       {absl::UnavailableError("lost"), absl::AbortedError("another writer came first")}) {
    for (const int others : {0, 1, 31}) {
      const auto storage = NewTable();
      bool answered = false;
      storage->set_script([&](const IoCall& call) {
        if (call.kind != IoCall::kCommitted || std::exchange(answered, true))
          return absl::OkStatus();
        for (int i = 0; i < others; ++i)
          EXPECT_TRUE(*CommitParts(storage->base(), {}, {.id = absl::StrCat("other ", i)}));
        return answer;
      });
      const absl::Status status = GetParam().make(storage);
      EXPECT_TRUE(status.ok()) << others << ": " << status;
      EXPECT_TRUE(answered);
      EXPECT_EQ(Describe(storage), Describe(undisturbed));
    }
  }
}

// Another writer commits, and then the storage does not say what happened to this commit.
TEST_P(LostAnswerTest, TheChangeIsRepeatedAfterAnotherCommit) {
  if (std::string_view(GetParam().name) == "Repair" || GetParam().is_new) return;
  const auto undisturbed = NewTable();
  ASSERT_TRUE(GetParam().make(undisturbed).ok());
  const auto storage = NewTable();
  bool answered = false;
  storage->set_script([&](const IoCall& call) {
    if (call.kind != IoCall::kCommit || std::exchange(answered, true)) return absl::OkStatus();
    EXPECT_TRUE(*CommitParts(storage->base(), {}, {.id = "other"}));
    return absl::UnavailableError("unknown");
  });
  const absl::Status status = GetParam().make(storage);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Describe(storage), Describe(undisturbed));
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
    auto append = TableWriter::Open(storage_);
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
  auto writer = TableWriter::Open(storage_, {&options, 1});
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
                              : TableWriter::Open(storage, {&options, 1});
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
    auto writer = TableWriter::Open(storage_);
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

}  // namespace cfile::storage_test
