#include "cfile/table.h"

#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/storage/local_storage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_publish_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

using TablePublishTest = TableTestBase;

TEST_F(TablePublishTest, RefusesSchemas) {
  const ColumnType type = ColumnType::Int8();
  for (const Schema& schema :
       {Schema{}, Schema{.columns = {{.name = "", .type = type}}},
        Schema{.columns = {{.name = "a", .type = type}, {.name = "a", .type = type}}},
        Schema{.columns = {{.name = "a", .type = {.type_length = 4}}}}}) {
    EXPECT_EQ(TableWriter::Create(path_, schema).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(directory_.Entries(), IsEmpty());
}

TEST_F(TablePublishTest, CreatesOnlyWhereNothingIs) {
  fs::create_directory(path_);
  WritePart(0, 10);
  EXPECT_EQ(TableWriter::Create(path_, ManyTypes()).status().code(),
            absl::StatusCode::kAlreadyExists);
  WriteFile(directory_.path("file"), "");
  EXPECT_EQ(TableWriter::Create(directory_.path("file"), ManyTypes()).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(TableWriter::Create(directory_.path("no/table"), ManyTypes()).status().code(),
            absl::StatusCode::kNotFound);
  ExpectTable(OpenTable(), 10);
}

TEST_F(TablePublishTest, NothingToReadOrAppendTo) {
  for (const auto& status :
       {TableReader::Open(path_).status(), TableWriter::Open(path_).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(status.message(), HasSubstr(table_file_));
  }
}

TEST_F(TablePublishTest, DroppedCreateLeavesNothing) {
  {
    auto writer = TableWriter::Create(path_, ManyTypes());
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(AppendRows(*writer, 0, 10'000).ok());
  }
  EXPECT_THAT(directory_.Entries(), IsEmpty());
  // A directory that existed before the writer is not removed.
  fs::create_directory(path_);
  ASSERT_TRUE(TableWriter::Create(path_, ManyTypes()).ok());
  EXPECT_THAT(directory_.Entries(), ElementsAre("table"));
}

TEST_F(TablePublishTest, DroppedAppendLeavesTheTable) {
  WritePart(0, 100);
  const std::vector<std::string> before = directory_.Entries();
  {
    auto writer = TableWriter::Open(path_);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(AppendRows(*writer, 100, 10'000).ok());
    EXPECT_NE(directory_.Entries(), before);
    ExpectTable(OpenTable(), 100);
  }
  EXPECT_THAT(directory_.Entries(), UnorderedElementsAreArray(before));
  ExpectTable(OpenTable(), 100);
}

TEST_F(TablePublishTest, ColumnsOfDifferentLengthAreRefused) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int32()},
                                  {.name = "b", .type = ColumnType::Int32()}}};
  {
    auto writer = TableWriter::Create(path_, schema);
    ASSERT_TRUE(writer->Append<int32_t>(0, std::vector<int32_t>{1, 2}).ok());
    ASSERT_TRUE(writer->Append<int32_t>(1, std::vector<int32_t>{1}).ok());
    const absl::Status status = writer->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("2 rows in a and 1 in b"));
  }
  EXPECT_THAT(directory_.Entries(), IsEmpty());
}

TEST_F(TablePublishTest, OtherValueTypesAreRefused) {
  WritePart(0, 1);
  auto writer = TableWriter::Open(path_);
  ASSERT_TRUE(writer.ok());
  const absl::Status status = writer->Append<int32_t>(0, std::vector<int32_t>{1});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("column id holds int64"));
  EXPECT_EQ(writer->Append<int64_t>(0, std::vector<int64_t>{1}), status);
  EXPECT_EQ(writer->Finish(), status);
  EXPECT_EQ(OpenTable().NewCursor<int32_t>(0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TablePublishTest, AppendersThatMeetBothSucceed) {
  WritePart(0, 10);
  auto first = TableWriter::Open(path_);
  auto second = TableWriter::Open(path_);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(AppendRows(*first, 15, 7).ok());
  ASSERT_TRUE(AppendRows(*second, 10, 5).ok());
  const TableReader before = OpenTable();
  ASSERT_TRUE(second->Finish().ok());
  const TableReader between = OpenTable();
  const absl::Status status = first->Finish();
  ASSERT_TRUE(status.ok()) << status;
  // The directory holds only table.cft and the three published parts.
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 4);
  ExpectTable(before, 10);
  ExpectTable(between, 15);
  ExpectTable(OpenTable(), 22);
}

// Each change is made while a writer appends, before its Finish.
TEST_F(TablePublishTest, AppendersOfAnotherTableAreAborted) {
  const auto expect_aborted = [&](const std::string& what, const auto& change) {
    fs::remove_all(path_);
    WritePart(0, 10);
    const std::string table_file = ReadFile(table_file_);
    {
      auto writer = TableWriter::Open(path_);
      ASSERT_TRUE(writer.ok() && AppendRows(*writer, 10, 7).ok());
      change();
      const absl::Status status = writer->Finish();
      EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + "/"));
      EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    }
    WriteFile(table_file_, table_file);
    EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 2) << what;
    ExpectTable(OpenTable(), 10);
  };
  expect_aborted("its schema has been changed", [&] {
    auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
    contents->schema.columns.back().name += "2";
    WriteFile(table_file_, internal::SerializeTable(*contents));
  });
  expect_aborted("it has been removed", [&] { fs::remove(table_file_); });
}

// A killed process leaves its lock file.
// The next writer can lock this file. Later this writer removes the file.
TEST_F(TablePublishTest, PassesOverTheLockFileOfAKilledWriter) {
  WritePart(0, 10);
  WriteFile(internal::LockFilePath(table_file_), "");
  WritePart(10, 5);
  EXPECT_FALSE(fs::exists(internal::LockFilePath(table_file_)));
  ExpectTable(OpenTable(), 15);
}

TEST_F(TablePublishTest, TheLaterOfTwoCreatorsIsAborted) {
  fs::create_directory(path_);
  auto first = TableWriter::Create(path_, ManyTypes());
  ASSERT_TRUE(first.ok());
  // Hides the part of the first writer while the second writer looks for parts, as if the part had
  // been created later.
  const std::string part = fs::directory_iterator(path_)->path();
  fs::rename(part, directory_.path("aside"));
  auto second = TableWriter::Create(path_, ManyTypes());
  ASSERT_TRUE(second.ok()) << second.status();
  fs::rename(directory_.path("aside"), part);
  ASSERT_TRUE(AppendRows(*first, 0, 5).ok());
  ASSERT_TRUE(first->Finish().ok());
  EXPECT_EQ(second->Finish().code(), absl::StatusCode::kAborted);
  second = absl::AbortedError("dropped");
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 2);
  ExpectTable(OpenTable(), 5);
}

TEST_F(TablePublishTest, AppendersThatRaceLoseNothing) {
  WritePart(0, 10, {.columns = {{.name = "a", .type = ColumnType::Int64()}}});
  constexpr int kThreads = 4, kAppends = 25, kPublished = kThreads * kAppends;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kAppends; ++i) {
        auto writer = TableWriter::Open(path_);
        ASSERT_TRUE(writer.ok()) << writer.status();
        ASSERT_TRUE(AppendRows(*writer, 10, 1).ok());
        const absl::Status status = writer->Finish();
        ASSERT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const TableReader table = OpenTable();
  EXPECT_EQ(table.num_rows(), 10 + kPublished);
  EXPECT_EQ(table.num_parts(), 1 + kPublished);
  // Each published part has exactly one directory. Repeated commits may have left chunk files.
  EXPECT_EQ(std::count_if(fs::directory_iterator(path_), {},
                          [](const auto& entry) { return entry.is_directory(); }),
            1 + kPublished);
  for (size_t part = 0; part < table.num_parts(); ++part) {
    EXPECT_TRUE(table.OpenColumn(part, 0).ok());
  }
}

TEST_F(TablePublishTest, PassesOverWhatAKilledWriterLeft) {
  WritePart(0, 10);
  fs::create_directory(path_ + "/part-000001");
  WriteFile(path_ + "/part-000001/.0000-id.cfile.1-1.cfile-tmp", "torn");
  ExpectTable(OpenTable(), 10);
  WritePart(10, 10);
  ExpectTable(OpenTable(), 20);
}

// Parts with the numbered names of earlier versions can be read, and parts can be appended.
TEST_F(TablePublishTest, CountedPartsAreReadAndAppendedTo) {
  WritePart(0, 10);
  WritePart(10, 10);
  CountParts();
  ExpectTable(OpenTable(), 20);
  WritePart(20, 5);
  const TableReader table = OpenTable();
  EXPECT_EQ(FileOf(table, 1, 0), "part-000001/columns.packed");
  ExpectTable(table, 25);
}

// Replaces a table by another table with the same schema while a reader has the first table open.
class ReplacedTableTest : public TablePublishTest {
 protected:
  // Writes a table of `parts` parts. Both columns hold only `value`.
  void WriteTable(int64_t value, size_t parts = 1, const WriterOptions& options = {}) {
    const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                    {.name = "b", .type = ColumnType::Int64()}}};
    for (size_t part = 0; part < parts; ++part) {
      auto writer = part == 0 ? TableWriter::Create(path_, schema, {&options, 1})
                              : TableWriter::Open(path_, {&options, 1});
      ASSERT_TRUE(writer.ok()) << writer.status();
      const std::vector<int64_t> values(10, value);
      for (const size_t column : {0, 1}) ASSERT_TRUE(writer->Append<int64_t>(column, values).ok());
      ASSERT_TRUE(writer->Finish().ok());
    }
  }

  // Replaces the table at the path by another table: removes the old table or renames it.
  void Replace(bool by_renaming, bool counted) {
    if (by_renaming) {
      fs::rename(path_, directory_.path("aside"));
    } else {
      fs::remove_all(path_);
    }
    WriteTable(2);
    if (counted) CountParts();
  }

  // EXPECTs that the reader, which has column a of the first table open, reads ones from it and
  // fails to open column b, whose file is not open.
  void ExpectReplaced(const TableReader& table) {
    auto ones = table.NewCursor<int64_t>(0);
    ASSERT_TRUE(ones.ok()) << ones.status();
    EXPECT_EQ(ones->Next(1)->values[0], 1);
    const absl::Status status = table.NewCursor<int64_t>(1)->Next(1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(status.message(), HasSubstr("the table has been replaced"));
  }
};

TEST_F(ReplacedTableTest, ReaderDoesNotMixTables) {
  for (const bool counted : {false, true}) {
    for (const bool by_renaming : {false, true}) {
      fs::remove_all(path_);
      fs::remove_all(directory_.path("aside"));
      WriteTable(1, 1, kLoose);
      if (counted) CountParts();
      const TableReader table = OpenTable();
      ASSERT_TRUE(table.OpenColumn(0, 0).ok());
      Replace(by_renaming, counted);
      ExpectReplaced(table);
      EXPECT_EQ(OpenTable().NewCursor<int64_t>(1)->Next(1)->values[0], 2);
    }
  }
}

// An open packed part has all columns.
TEST_F(ReplacedTableTest, ReaderOfAPackedPartStaysInTheFirstTable) {
  for (const bool counted : {false, true}) {
    fs::remove_all(path_);
    WriteTable(1, 2);
    if (counted) CountParts();
    const TableReader table = OpenTable();
    ASSERT_TRUE(table.OpenColumn(0, 0).ok());
    Replace(/*by_renaming=*/false, counted);
    EXPECT_EQ(table.OpenColumn(0, 1)->Get<int64_t>(0).value(), 1);
    const absl::Status status = table.OpenColumn(1, 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(status.message(), HasSubstr("the table has been replaced"));
  }
}

TEST_F(ReplacedTableTest, ReaderSaysThatTheTableIsGone) {
  WriteTable(1, 1, kLoose);
  const TableReader table = OpenTable();
  ASSERT_TRUE(table.OpenColumn(0, 0).ok());
  fs::remove_all(path_);
  ExpectReplaced(table);
}

TEST_F(ReplacedTableTest, AppendedTableIsNotAnother) {
  for (const bool counted : {false, true}) {
    fs::remove_all(path_);
    WriteTable(1);
    if (counted) CountParts();
    const TableReader table = OpenTable();
    auto writer = TableWriter::Open(path_);
    ASSERT_TRUE(writer.ok() && writer->Finish().ok());
    for (const size_t column : {0, 1}) EXPECT_TRUE(table.OpenColumn(0, column).ok());
  }
}

TEST_F(ReplacedTableTest, DroppedWriterLeavesTheOtherTable) {
  // A packed part, one that has become too large for it, and one with a file for each column.
  for (const size_t limit : {size_t{1} << 20, size_t{1}, size_t{0}}) {
    const WriterOptions options{.max_packed_part_bytes = limit};
    for (const bool counted : {false, true}) {
      for (const bool finish : {false, true}) {
        for (const size_t parts : {1, 2}) {
          fs::remove_all(path_);
          fs::remove_all(directory_.path("aside"));
          WriteTable(1);
          if (counted) CountParts();
          auto writer = TableWriter::Open(path_, {&options, 1});
          ASSERT_TRUE(writer.ok()) << writer.status();
          fs::rename(path_, directory_.path("aside"));
          WriteTable(2, parts);
          if (counted) CountParts();
          if (finish) {
            const absl::Status status = writer->Finish();
            EXPECT_TRUE(absl::IsAborted(status)) << limit << ": " << status;
          }
          writer = absl::AbortedError("dropped");
          const TableReader table = OpenTable();
          ASSERT_EQ(table.num_parts(), parts);
          for (size_t part = 0; part < parts; ++part) {
            for (const size_t column : {0, 1}) EXPECT_TRUE(table.OpenColumn(part, column).ok());
          }
        }
      }
    }
  }
}

// A reader with the writer's limit can open every table that the writer published.
TEST_F(TablePublishTest, WriterRefusesWhatReadersRefuse) {
  Schema schema;
  for (size_t i = 0; i < 50; ++i) {
    schema.columns.push_back({.name = std::to_string(i), .type = ColumnType::Int8()});
  }
  const WriterOptions options{.max_metadata_size_bytes = 20'000};
  const ReaderOptions reading{.max_metadata_size_bytes = 20'000};
  size_t parts = 0;
  absl::Status status;
  for (; status.ok() && parts < 100; parts += status.ok()) {
    auto writer = parts == 0 ? TableWriter::Create(path_, schema, {&options, 1})
                             : TableWriter::Open(path_, {&options, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(AppendRows(*writer, parts, 1).ok());
    status = writer->Finish();
    ASSERT_TRUE(TableReader::Open(path_, reading).ok()) << "part " << parts;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  EXPECT_THAT(status.message(), HasSubstr("max_metadata_size_bytes"));
  EXPECT_EQ(TableReader::Open(path_, reading)->num_parts(), parts);
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 1 + static_cast<ptrdiff_t>(parts));
  // One more part would exceed the limit in memory, but not in bytes of the file.
  const std::string bytes = ReadFile(table_file_);
  EXPECT_LT(bytes.size() * 20 / 19, 20'000);
  // Tries each limit that is not less than the size of the file.
  // Writer and reader must agree whether the limit is exceeded.
  std::set<bool> seen;
  for (size_t limit = bytes.size(); limit < 20'000; ++limit) {
    const bool written = internal::CheckTableFileSize(bytes, "table.cft", limit).ok();
    seen.insert(written);
    ASSERT_EQ(written,
              internal::ParseTable(bytes, "table.cft", {.max_metadata_size_bytes = limit}).ok())
        << limit;
  }
  EXPECT_EQ(seen.size(), 2);
}

TEST_F(TablePublishTest, ReaderKeepsThePartsItOpenedWith) {
  WritePart(0, 10);
  const TableReader table = OpenTable();
  WritePart(10, 10);
  ExpectTable(table, 10);
  ExpectTable(OpenTable(), 20);
}

}  // namespace cfile::table_publish_test
