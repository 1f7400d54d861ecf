#include "cfile/table.h"

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

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
       {TableReader::Open(path_).status(), TableWriter::Append(path_).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(status.message(), HasSubstr(table_file_));
  }
}

TEST_F(TablePublishTest, DroppedCreateLeavesNothing) {
  {
    auto writer = TableWriter::Create(path_, ManyTypes());
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(AppendRows(**writer, 0, 10'000).ok());
  }
  EXPECT_THAT(directory_.Entries(), IsEmpty());
  // Nor does it take away a directory that it found.
  fs::create_directory(path_);
  ASSERT_TRUE(TableWriter::Create(path_, ManyTypes()).ok());
  EXPECT_THAT(directory_.Entries(), ElementsAre("table"));
}

TEST_F(TablePublishTest, DroppedAppendLeavesTheTable) {
  WritePart(0, 100);
  const std::vector<std::string> before = directory_.Entries();
  {
    auto writer = TableWriter::Append(path_);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(AppendRows(**writer, 100, 10'000).ok());
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
    ASSERT_TRUE((*writer)->Append<int32_t>(0, std::vector<int32_t>{1, 2}).ok());
    ASSERT_TRUE((*writer)->Append<int32_t>(1, std::vector<int32_t>{1}).ok());
    const absl::Status status = (*writer)->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("2 rows in a and 1 in b"));
  }
  EXPECT_THAT(directory_.Entries(), IsEmpty());
}

TEST_F(TablePublishTest, OtherValueTypesAreRefused) {
  auto writer = TableWriter::Create(path_, ManyTypes());
  ASSERT_TRUE(writer.ok());
  const absl::Status status = (*writer)->Append<int32_t>(0, std::vector<int32_t>{1});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("column id holds int64"));
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ(OpenTable().NewCursor<int32_t>(0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TablePublishTest, TheLaterOfTwoAppendersIsAborted) {
  WritePart(0, 10);
  {
    auto first = TableWriter::Append(path_);
    auto second = TableWriter::Append(path_);
    ASSERT_TRUE(first.ok() && second.ok());
    ASSERT_TRUE(AppendRows(**first, 10, 7).ok());
    ASSERT_TRUE(AppendRows(**second, 10, 5).ok());
    ASSERT_TRUE((*second)->Finish().ok());
    const absl::Status status = (*first)->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(status.message(), HasSubstr(table_file_));
  }
  EXPECT_FALSE(fs::exists(path_ + "/part-000001"));
  ExpectTable(OpenTable(), 15);
}

TEST_F(TablePublishTest, TheLaterOfTwoCreatorsIsAborted) {
  fs::create_directory(path_);
  auto first = TableWriter::Create(path_, ManyTypes());
  ASSERT_TRUE(first.ok());
  // As if its own look had come before the first one made its part.
  fs::rename(path_ + "/part-000000", directory_.path("aside"));
  auto second = TableWriter::Create(path_, ManyTypes());
  ASSERT_TRUE(second.ok()) << second.status();
  fs::rename(path_ + "/part-000000", path_ + "/part-000001");
  fs::rename(directory_.path("aside"), path_ + "/part-000000");
  ASSERT_TRUE(AppendRows(**first, 0, 5).ok());
  ASSERT_TRUE((*first)->Finish().ok());
  fs::remove_all(path_ + "/part-000001");
  EXPECT_FALSE((*second)->Finish().ok());
}

TEST_F(TablePublishTest, AppendersThatRaceLoseNothing) {
  WritePart(0, 10, {.columns = {{.name = "a", .type = ColumnType::Int64()}}});
  std::atomic<int> published = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        auto writer = TableWriter::Append(path_);
        ASSERT_TRUE(writer.ok()) << writer.status();
        ASSERT_TRUE(AppendRows(**writer, 10, 1).ok());
        const absl::Status status = (*writer)->Finish();
        ASSERT_TRUE(status.ok() || absl::IsAborted(status)) << status;
        published += status.ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(published, 0);
  const TableReader table = OpenTable();
  EXPECT_EQ(table.num_rows(), 10 + published);
  EXPECT_EQ(table.num_parts(), 1 + published);
  // A directory for each part published, and none else.
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 2 + published);
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
  const TableReader table = OpenTable();
  EXPECT_EQ(table.part_file(1, 0), "part-000002/0000-id.cfile");
  ExpectTable(table, 20);
}

TEST_F(TablePublishTest, ReaderKeepsThePartsItOpenedWith) {
  WritePart(0, 10);
  const TableReader table = OpenTable();
  WritePart(10, 10);
  ExpectTable(table, 10);
  ExpectTable(OpenTable(), 20);
}

}  // namespace
}  // namespace cfile
