#include "cfile/table.h"

#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cfile/prepared_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::UnorderedElementsAre;

using TableTest = TableTestBase;

TEST_F(TableTest, OnePart) {
  WritePart(0, 1000);
  const TableReader table = OpenTable();
  EXPECT_EQ(table.schema(), ManyTypes());
  EXPECT_EQ(table.num_parts(), 1);
  ExpectTable(table, 1000);
}

TEST_F(TableTest, SeveralParts) {
  WritePart(0, 1000);
  WritePart(1000, 1);
  WritePart(1001, 0);
  WritePart(1001, 0);
  WritePart(1001, 2500);
  WritePart(3501, 0);
  const TableReader table = OpenTable();
  ASSERT_EQ(table.num_parts(), 6);
  EXPECT_EQ(table.part(4)->num_rows, 2500);
  EXPECT_EQ(table.part(4)->first_ordinal, 1001);
  EXPECT_THAT(*table.part_file(4, 6),
              MatchesRegex("part-[0-9a-f]{32}/columns.packed/0006-name.cfile"));
  ExpectTable(table, 3501);
}

TEST_F(TableTest, EveryVersionAndCodec) {
  for (const Compression compression : testing_support::BuiltInCompressions()) {
    fs::remove_all(path_);
    WritePart(0, 700, ManyTypes(), {.compression = compression, .block_size_bytes = 512});
    WritePart(700, 300, ManyTypes(), {.compression = compression, .block_size_bytes = 512});
    ExpectTable(OpenTable(), 1000);
  }
}

TEST_F(TableTest, NoRows) {
  WritePart(0, 0);
  ExpectTable(OpenTable(), 0);
}

TEST_F(TableTest, ReadsWithPread) {
  WritePart(0, 500);
  WritePart(500, 500);
  const auto table = TableReader::Open(path_, {.access = ReaderOptions::Access::kPread});
  ASSERT_TRUE(table.ok()) << table.status();
  ExpectTable(*table, 1000);
}

TEST_F(TableTest, FewDescriptors) {
  for (int part = 0; part < 20; ++part) WritePart(static_cast<uint64_t>(part) * 10, 10);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{OpenDescriptors() + 40, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto table = TableReader::Open(path_, {.access = ReaderOptions::Access::kPread});
  ASSERT_TRUE(table.ok()) << table.status();
  ExpectTable(*table, 200);
  EXPECT_LE(OpenDescriptors(), few.rlim_cur / 2 + 20);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);

  const auto two =
      TableReader::Open(path_, {.access = ReaderOptions::Access::kPread, .max_open_files = 2});
  ASSERT_TRUE(two.ok()) << two.status();
  const size_t descriptors = OpenDescriptors();
  ExpectTable(*two, 200);
  EXPECT_LE(OpenDescriptors(), descriptors + 2);
}

TEST_F(TableTest, ManyThreadsReadOneTable) {
  WritePart(0, 500);
  WritePart(500, 500);
  const TableReader table = OpenTable();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { ExpectTable(table, 1000); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TableTest, CursorOutlivesReader) {
  WritePart(0, 100);
  auto cursor = OpenTable().NewCursor<int64_t>(0);
  ASSERT_TRUE(cursor.ok());
  ASSERT_TRUE(cursor->SeekToOrdinal(50).ok());
  EXPECT_EQ(cursor->Next(1)->values[0], 50 * 31);
}

TEST_F(TableTest, LaysOutFiles) {
  const Schema schema{.columns = {{.name = "plain-Name_9", .type = ColumnType::Int8()},
                                  {.name = "a/b ..\xc3\xa4", .type = ColumnType::Int8()},
                                  {.name = std::string(80, 'x'), .type = ColumnType::Int8()}}};
  WritePart(0, 1, schema, kLoose);
  std::string part = "table/" + fs::path(PartPath(0)).filename().string();
  EXPECT_THAT(directory_.Entries(),
              UnorderedElementsAre("table", "table/table.cft", part,
                                   part + "/0000-plain-Name_9.cfile", part + "/0001-a_b_____.cfile",
                                   part + "/0002-" + std::string(64, 'x') + ".cfile",
                                   MatchesRegex(part + "/part-1-[0-9a-f]{16}.cft")));
  EXPECT_EQ(OpenTable().schema(), schema);
  fs::remove_all(path_);
  WritePart(0, 1, schema);
  part = "table/" + fs::path(PartPath(0)).filename().string();
  EXPECT_THAT(directory_.Entries(),
              UnorderedElementsAre("table", "table/table.cft", part, part + "/columns.packed",
                                   MatchesRegex(part + "/part-1-[0-9a-f]{16}.cft")));
  EXPECT_EQ(OpenTable().schema(), schema);
}

TEST_F(TableTest, WriterSaysWhatItHolds) {
  auto writer = TableWriter::Create(path_, ManyTypes(), {&kLoose, 1});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(AppendRows(*writer, 0, 10).ok());
  EXPECT_EQ(writer->totals(3).num_rows, 10);
  EXPECT_NE(writer->totals(3).encoding, Encoding::kAuto);
  EXPECT_GT(writer->memory_usage_bytes(), 0);
  ASSERT_TRUE(writer->Finish().ok());
  const TableReader table = OpenTable();
  EXPECT_EQ(writer->totals(3).bytes_written, fs::file_size(path_ + "/" + *table.part_file(0, 3)));
}

TEST_F(TableTest, OptionsForNoneAllOrEachColumn) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int32()},
                                  {.name = "b", .type = ColumnType::Int32(), .nullable = true}}};
  const WriterOptions one{.value_index = true};
  const WriterOptions each[] = {{.value_index = true}, {}};
  const WriterOptions three[3] = {};
  EXPECT_EQ(TableWriter::Create(path_, schema, three).status().code(),
            absl::StatusCode::kInvalidArgument);
  // A nullable column cannot have a value index.
  auto refused = TableWriter::Create(path_, schema, {&one, 1});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("column b"));
  EXPECT_THAT(directory_.Entries(), IsEmpty());

  auto writer = TableWriter::Create(path_, schema, each);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append<int32_t>(0, std::vector<int32_t>{1, 2}).ok());
  ASSERT_TRUE(writer->Append<int32_t>(1, std::vector<int32_t>{2, 1}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const TableReader table = OpenTable();
  EXPECT_TRUE(table.OpenColumn(0, 0)->info().value_index_root.has_value());
  EXPECT_FALSE(table.OpenColumn(0, 1)->info().value_index_root.has_value());
}

TEST_F(TableTest, OpenOrCreateNeedsNoTable) {
  const Schema schema{.columns = {{.name = "flag", .type = ColumnType::Bool()}}};
  const std::vector<bool> flags = {true, false, true};
  auto killed = TableWriter::Create(path_, schema);  // leaves the files of an unfinished table
  ASSERT_TRUE(killed.ok()) << killed.status();
  auto first = TableWriter::OpenOrCreate(path_, schema);
  auto second = TableWriter::OpenOrCreate(path_, schema);
  for (auto* writer : {&first, &second}) {
    ASSERT_TRUE(writer->ok()) << writer->status();
    ASSERT_TRUE((*writer)->Append(0, flags).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  const TableReader table = OpenTable();
  EXPECT_EQ(table.num_parts(), 2);
  const auto value = table.NewCursor<bool>(0)->Get(5);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, true);
  EXPECT_EQ(TableWriter::OpenOrCreate(path_, ManyTypes()).status().code(),
            absl::StatusCode::kFailedPrecondition);

  // A new table.cft would make the parts of the lost one garbage. Its second part shows that it
  // was lost.
  fs::remove(path_ + "/table.cft");
  auto third = TableWriter::OpenOrCreate(path_, schema);
  ASSERT_TRUE(third.ok() && third->Append(0, flags).ok());
  for (const absl::Status& status :
       {third->Finish(), CommitParts(path_, {}, {.schema = &schema}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(status.message(), testing::HasSubstr("table.cft: the file is missing, but parts"));
  }
  EXPECT_FALSE(fs::exists(path_ + "/table.cft"));
}

TEST_F(TableTest, RefreshFindsWhatHasChanged) {
  WritePart(0, 10);
  const TableReader table = OpenTable();
  ASSERT_TRUE(table.OpenColumn(0, 0).ok());
  const uint64_t open_bytes = table.memory_usage_bytes();
  ASSERT_GT(open_bytes, 0);
  const auto same = table.Refresh();
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->memory_usage_bytes(), open_bytes);  // the same open table
  WritePart(10, 5);
  const auto changed = same->Refresh();
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->num_rows(), 15);
  EXPECT_EQ(table.num_rows(), 10);
  fs::remove_all(path_);
  EXPECT_EQ(changed->Refresh().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(TableTest, SchemaFinds) {
  EXPECT_EQ(ManyTypes().Find("day"), 3);
  EXPECT_EQ(ManyTypes().Find("Day"), std::nullopt);
}

}  // namespace cfile::table_test
