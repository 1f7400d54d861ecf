// Parts of tables are dropped, replaced and collected as garbage.
#include "cfile/table_maintenance.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_repair.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_maintenance_test {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class TableMaintenanceTest : public TableTestBase {
 protected:
  const Schema schema_{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                   {.name = "b", .type = ColumnType::Int64()}}};

  // Writes a table of two columns. The table has `parts` parts, and each part has ten rows.
  // Each value of a part is the number of the part.
  void WriteTable(int64_t parts, const WriterOptions& options = {}) {
    for (int64_t part = 0; part < parts; ++part) {
      auto writer = part == 0 ? TableWriter::Create(path_, schema_, {&options, 1})
                              : TableWriter::Open(path_, {&options, 1});
      ASSERT_TRUE(writer.ok()) << writer.status();
      Fill(*writer, part);
      ASSERT_TRUE(writer->Finish().ok());
    }
  }
  static void Fill(TableWriter& writer, int64_t value) {
    const std::vector<int64_t> values(10, value);
    for (const size_t column : {0, 1}) {
      ASSERT_TRUE(writer.Append<int64_t>(column, values).ok());
    }
  }

  // The value of each part.
  static std::vector<int64_t> ValuesOf(const TableReader& table) {
    std::vector<int64_t> values;
    for (const size_t column : {0, 1}) {
      auto cursor = table.NewCursor<int64_t>(column);
      EXPECT_TRUE(cursor.ok()) << cursor.status();
      std::vector<int64_t> of_column;
      for (uint64_t row = 0; row < table.num_rows(); row += 10) {
        const auto value = cursor->Get(row);
        EXPECT_TRUE(value.ok()) << value.status();
        of_column.push_back(value.ok() ? value->value() : -1);
      }
      EXPECT_TRUE(column == 0 || of_column == values);
      values = of_column;
    }
    return values;
  }
  std::vector<int64_t> Values() { return ValuesOf(OpenTable()); }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const TableReader table = OpenTable();
    for (size_t part = 0; part < table.num_parts(); ++part) {
      names.push_back(table.part(part)->name);
    }
    return names;
  }

  std::vector<std::string> Entries() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  // Makes a file, or a folder and all its files, look as if they were last changed long ago.
  void Age(const std::string& name, hours age = hours(24)) {
    const std::string path = path_ + "/" + name;
    const auto time = fs::file_time_type::clock::now() - age;
    fs::last_write_time(path, time);
    if (!fs::is_directory(path)) return;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      fs::last_write_time(entry.path(), time);
    }
  }

  // Collects garbage. Returns the names of the removed files and folders.
  std::vector<std::string> Collect(seconds older_than) {
    const auto removed = CollectGarbage(path_, older_than);
    EXPECT_TRUE(removed.ok()) << removed.status();
    std::vector<std::string> names;
    if (removed.ok()) {
      for (const RemovedGarbage& each : *removed) names.push_back(each.name);
    }
    return names;
  }
};

TEST_F(TableMaintenanceTest, OriginsOfParts) {
  WriteTable(4);
  const std::vector<std::string> parts = Names();
  EXPECT_EQ(ReadPartOrigin(path_, parts[2])->commit, 3u);
  EXPECT_THAT(ReadPartOrigin(path_, parts[2])->replaced, IsEmpty());
  ASSERT_TRUE(Compact(path_, std::vector{parts[1], parts[2]}).ok());
  const std::string merged = Names()[1];
  const auto expect_merged = [&] {
    const auto origin = ReadPartOrigin(path_, merged);
    ASSERT_TRUE(origin.ok()) << origin.status();
    EXPECT_EQ(origin->commit, 2u);
    EXPECT_THAT(origin->replaced, UnorderedElementsAre(parts[1], parts[2]));
  };
  expect_merged();
  // These changes describe the last part again.
  ASSERT_TRUE(DropParts(path_, {&parts[3], 1}).ok());
  expect_merged();
  const ColumnSchema added = {.name = "c", .type = ColumnType::Int64()};
  ASSERT_TRUE(AddColumn(path_, added, 1).ok());
  ASSERT_TRUE(DropColumns(path_, std::vector<std::string>{"c"}).ok());
  expect_merged();
  ASSERT_TRUE(Repair(path_, {.force = true}).ok());
  expect_merged();
  EXPECT_EQ(ReadPartOrigin(path_, parts[1])->commit, 2u);  // a part that the table no longer has
  Collect(seconds(0));
  expect_merged();
  for (const std::string name : {parts[1].c_str(), "../t", "", "part-000009"}) {
    EXPECT_EQ(ReadPartOrigin(path_, name).status().code(), absl::StatusCode::kNotFound) << name;
  }
  for (const auto& file : fs::directory_iterator(path_ + "/" + merged)) {
    if (file.path().extension() == ".cft") fs::resize_file(file.path(), 20);
  }
  EXPECT_EQ(ReadPartOrigin(path_, merged).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(TableMaintenanceTest, DropsPartsInOneCommit) {
  WriteTable(4);
  const std::vector<std::string> names = Names();
  const TableReader before = OpenTable();
  const absl::Status status = DropParts(path_, std::vector{names[2], names[0], names[2]});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Values(), ElementsAre(1, 3));
  EXPECT_EQ(OpenTable().num_rows(), 20);
  // Open readers keep their parts. The files of these parts stay.
  EXPECT_THAT(ValuesOf(before), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Entries(), UnorderedElementsAre("table.cft", names[0], names[1], names[2], names[3]));
}

TEST_F(TableMaintenanceTest, DropsAllPartsOrNone) {
  WriteTable(2);
  const std::vector<std::string> names = Names();
  const std::string table_file = ReadFile(table_file_);
  const absl::Status unknown = DropParts(path_, std::vector<std::string>{names[0], "part-000000"});
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(unknown.message()),
              HasSubstr(table_file_ + ": the table has no part part-000000"));
  EXPECT_TRUE(DropParts(path_, {}).ok());
  EXPECT_EQ(ReadFile(table_file_), table_file);
  ASSERT_TRUE(DropParts(path_, names).ok());
  EXPECT_EQ(OpenTable().num_parts(), 0);
  EXPECT_THAT(Values(), IsEmpty());
  auto writer = TableWriter::Open(path_);
  ASSERT_TRUE(writer.ok());
  Fill(*writer, 7);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_THAT(Values(), ElementsAre(7));
}

TEST_F(TableMaintenanceTest, DropsAPartWithoutFiles) {
  WriteTable(2);
  const std::vector<std::string> names = Names();
  fs::remove_all(PartPath(0));
  ASSERT_TRUE(DropParts(path_, std::vector{names[0]}).ok());
  EXPECT_THAT(Values(), ElementsAre(1));
}

TEST_F(TableMaintenanceTest, NothingToMaintain) {
  fs::create_directory(path_);
  WriteFile(path_ + "/part-" + std::string(32, '0'), "");
  for (const std::string& path : {path_, directory_.path("none")}) {
    EXPECT_EQ(DropParts(path, {}).code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(CollectGarbage(path, seconds(0)).status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(Entries().size(), 1);
}

TEST_F(TableMaintenanceTest, CollectsDroppedPartsAfterTheirAge) {
  WriteTable(3);
  const std::vector<std::string> names = Names();
  const TableReader before = OpenTable();
  ASSERT_TRUE(before.OpenColumn(1, 0).ok());
  // The age of a dropped part counts from the time when it was dropped.
  for (const std::string& name : names) Age(name);
  ASSERT_TRUE(DropParts(path_, std::vector{names[1]}).ok());
  EXPECT_THAT(Collect(hours(1)), IsEmpty());
  EXPECT_THAT(ValuesOf(before), ElementsAre(0, 1, 2));
  const TableReader other = OpenTable();
  Age(names[1]);
  EXPECT_THAT(Collect(hours(25)), IsEmpty());
  uint64_t size_bytes = 0;
  for (const auto& file : fs::directory_iterator(path_ + "/" + names[1])) {
    size_bytes += file.file_size();
  }
  const auto removed = CollectGarbage(path_, hours(24));
  ASSERT_TRUE(removed.ok()) << removed.status();
  ASSERT_EQ(removed->size(), 1);
  EXPECT_EQ((*removed)[0].name, names[1]);
  EXPECT_EQ((*removed)[0].size_bytes, size_bytes);
  EXPECT_THAT(Entries(), UnorderedElementsAre("table.cft", names[0], names[2]));
  EXPECT_THAT(Values(), ElementsAre(0, 2));
  EXPECT_THAT(ValuesOf(other), ElementsAre(0, 2));
}

TEST_F(TableMaintenanceTest, ReadersOfCollectedPartsAreTold) {
  WriteTable(3, kLoose);
  const std::vector<std::string> names = Names();
  const TableReader before = OpenTable();
  auto open = before.NewCursor<int64_t>(0);
  ASSERT_TRUE(open.ok() && open->Get(10).ok());
  ASSERT_TRUE(DropParts(path_, std::vector{names[1]}).ok());
  EXPECT_THAT(Collect(seconds(0)), ElementsAre(names[1]));
  // A file that is open stays readable.
  EXPECT_EQ(open->Get(15)->value(), 1);
  const absl::Status status = before.OpenColumn(1, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + ": snapshot expired"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(names[1] + " was dropped"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("open the table again"));
  auto cursor = before.NewCursor<int64_t>(1);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  EXPECT_EQ(cursor->Get(10).status(), status);
  // The other parts can still be opened.
  EXPECT_EQ(cursor->Get(20)->value(), 2);
}

TEST_F(TableMaintenanceTest, CollectsWhatKilledProcessesLeft) {
  WriteTable(1);
  const std::string name = Names()[0];
  const std::string killed = "part-" + std::string(32, 'a'), young = "part-" + std::string(32, 'b');
  const std::string temporary = *NewTemporaryFolderName(), in_use = *NewTemporaryFolderName();
  // A collector has committed the name of this part, but was killed before it removed the files.
  const std::string left = "part-" + std::string(32, 'c');
  auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok());
  contents->condemned = {left};
  WriteFile(table_file_, internal::SerializeTable(*contents));
  const std::vector<std::string> others = {"part-of-mine", "part-" + std::string(32, 'x'),
                                           "removed-things", ".other.cfile-tmp"};
  for (const std::string& folder : {killed, young, left, temporary, in_use}) {
    fs::create_directory(path_ + "/" + folder);
    WriteFile(path_ + "/" + folder + "/.0000-a.cfile.1-1.cfile-tmp", "torn");
  }
  for (const std::string& other : others) WriteFile(path_ + "/" + other, "");
  WriteFile(path_ + "/.table.cft.1-1.cfile-tmp", "torn");
  for (const std::string& old :
       {name, killed, temporary, std::string(".table.cft.1-1.cfile-tmp")}) {
    Age(old);
  }
  for (const std::string& other : others) Age(other);
  EXPECT_THAT(Collect(hours(1)),
              UnorderedElementsAre(killed, left, temporary, ".table.cft.1-1.cfile-tmp"));
  EXPECT_THAT(Entries(), UnorderedElementsAre("table.cft", name, young, in_use, others[0],
                                              others[1], others[2], others[3]));
  EXPECT_THAT(Values(), ElementsAre(0));
}

TEST_F(TableMaintenanceTest, CollectsOnlyNamesThatWritersGive) {
  WriteTable(1);
  const std::string hex(32, 'a');
  const std::string part = Names()[0], killed = "part-" + hex;
  const std::vector<std::string> foreign = {"notes.txt",
                                            "temporary-notes/thesis.txt",
                                            "temporary-abcdef/thesis.txt",
                                            "part-notes/thesis.txt",
                                            "part-000007/thesis.txt",
                                            killed + "/thesis.txt",
                                            "part-" + std::string(32, 'b') + "/sub/0000-a.cfile",
                                            "chunk-list.txt",
                                            "chunk-" + hex + ".cft.dropped-notes",
                                            "columns-1.dropped",
                                            "table.txt",
                                            ".table.cft.cfile-tmp",
                                            ".table.cft.1-x.cfile-tmp",
                                            ".table.txt.1-1.cfile-tmp",
                                            ".chunk-list.1-1.cfile-tmp",
                                            ".columns-x.1-1.cfile-tmp",
                                            part + "/dropped-notes",
                                            part + "/0000-thesis.txt",
                                            part + "/0000-the.sis.cfile",
                                            part + "/.notes.cfile-tmp",
                                            part + "/.notes.1-1.cfile-tmp",
                                            part + "/other.packed",
                                            "columns.packed",
                                            part + "/part-1.cft"};
  const std::vector<std::string> own = {
      "temporary-" + hex + "/anything",
      "part-000008/0000-a.cfile",
      "part-000008/columns.packed",
      "part-" + std::string(32, 'c') + "/.0000-a.cfile.1-1.cfile-tmp",
      "part-" + std::string(32, 'c') + "/.columns.packed.1-1.cfile-tmp",
      "chunk-" + hex + ".cft.dropped",
      "columns-" + hex + ".dropped",
      ".table.cft.12-34.cfile-tmp",
      ".chunk-" + hex + ".cft.1-1.cfile-tmp",
      part + "/0000-other.cfile",
      part + "/.0000-other.cfile.1-1.cfile-tmp",
      part + "/dropped"};
  const auto add = [&](const std::string& name) {
    const fs::path path = fs::path(path_) / name;
    fs::create_directories(path.parent_path());
    WriteFile(path.string(), "");
  };
  for (const std::string& name : foreign) {
    add(name);
    EXPECT_FALSE(IsTablePath(name)) << name;
  }
  for (const std::string& name : own) {
    add(name);
    EXPECT_TRUE(IsTablePath(name)) << name;
  }
  add(killed + "/0000-a.cfile");  // stays with the file beside it
  Collect(seconds(0));
  for (const std::string& name : foreign) EXPECT_TRUE(fs::exists(path_ + "/" + name)) << name;
  for (const std::string& name : own) EXPECT_FALSE(fs::exists(path_ + "/" + name)) << name;
  EXPECT_THAT(Values(), ElementsAre(0));
}

TEST_F(TableMaintenanceTest, DryRunRemovesNothing) {
  WriteTable(2);
  const std::string dropped = Names()[0];
  ASSERT_TRUE(DropParts(path_, std::vector<std::string>{dropped}).ok());
  const std::string before = ReadFile(table_file_);
  const auto garbage = CollectGarbage(path_, seconds(0), {}, /*dry_run=*/true);
  ASSERT_TRUE(garbage.ok()) << garbage.status();
  ASSERT_EQ(garbage->size(), 1u);
  EXPECT_EQ((*garbage)[0].name, dropped);
  EXPECT_EQ(ReadFile(table_file_), before);
  EXPECT_TRUE(fs::exists(path_ + "/" + dropped));
  EXPECT_THAT(Collect(seconds(0)), ElementsAre(dropped));
}

// A process that is killed while it writes a new table leaves a part with temporary files.
TEST_F(TableMaintenanceTest, UnfinishedTablesAreGarbage) {
  const std::string hex(32, 'a');
  const std::vector<std::string> left = {"part-" + hex + "/.0000-a.cfile.1-1.cfile-tmp",
                                         "part-" + hex + "/.0001-b.cfile.1-2.cfile-tmp",
                                         "temporary-" + hex + "/0/table.cft"};
  const auto leave = [&] {
    for (const std::string& name : left) {
      const fs::path path = fs::path(path_) / name;
      fs::create_directories(path.parent_path());
      WriteFile(path.string(), "torn");
    }
  };
  leave();
  EXPECT_THAT(Collect(hours(1)), IsEmpty());
  EXPECT_THAT(Collect(seconds(0)), UnorderedElementsAre("part-" + hex, "temporary-" + hex));
  EXPECT_THAT(Entries(), IsEmpty());
  EXPECT_EQ(CollectGarbage(path_, seconds(0)).status().code(), absl::StatusCode::kNotFound);
  leave();
  EXPECT_THAT(std::string(TableWriter::Create(path_, schema_).status().message()),
              HasSubstr("cfile-table gc"));

  // Somebody may need these files.
  for (const std::string& other :
       {"part-" + hex + "/part-1-0123456789abcdef.cft", "part-" + hex + "/dropped",
        "part-" + std::string(32, 'b') + "/0000-a.cfile", std::string("part-000000/0000-a.cfile"),
        "chunk-" + hex + ".cft", "table.cft.damaged-" + hex, std::string("notes/thesis.txt")}) {
    fs::remove_all(path_);
    leave();
    const fs::path path = fs::path(path_) / other;
    fs::create_directories(path.parent_path());
    WriteFile(path.string(), "");
    EXPECT_EQ(TableWriter::Create(path_, schema_).status().code(), absl::StatusCode::kAlreadyExists)
        << other;
    const bool is_foreign = other == "notes/thesis.txt";
    const absl::Status status = CollectGarbage(path_, seconds(0)).status();
    EXPECT_EQ(status.code(), is_foreign ? absl::StatusCode::kOk : absl::StatusCode::kNotFound)
        << other << status;
    for (const std::string& name : left) {
      EXPECT_EQ(fs::exists(path_ + "/" + name), !is_foreign) << other << name;
    }
    EXPECT_TRUE(fs::exists(path)) << other;
  }
}

TEST_F(TableMaintenanceTest, WritersOfNewTablesKeepTheirFiles) {
  const auto create = [&] { return TableWriter::Create(path_, schema_); };
  auto writer = create();
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ(create().status().code(), absl::StatusCode::kAlreadyExists);
  Fill(*writer, 1);
  EXPECT_EQ(create().status().code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_THAT(Values(), ElementsAre(1));
}

TEST_F(TableMaintenanceTest, CollectsNumberedParts) {
  WriteTable(2);
  CountParts();
  ASSERT_TRUE(DropParts(path_, std::vector<std::string>{"part-000001"}).ok());
  EXPECT_THAT(Collect(seconds(0)), ElementsAre("part-000001"));
  EXPECT_THAT(Values(), ElementsAre(0));
}

TEST_F(TableMaintenanceTest, WritersInProgressKeepTheirFiles) {
  WriteTable(1);
  auto writer = TableWriter::Open(path_);
  ASSERT_TRUE(writer.ok());
  EXPECT_THAT(Collect(hours(1)), IsEmpty());
  Fill(*writer, 1);
  EXPECT_THAT(Collect(hours(1)), IsEmpty());
  const absl::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Values(), ElementsAre(0, 1));
}

TEST_F(TableMaintenanceTest, WritersOfCollectedFilesAreAborted) {
  WriteTable(1);
  for (const bool whole_table : {false, true}) {
    auto writer = TableWriter::Open(path_);
    ASSERT_TRUE(writer.ok());
    Fill(*writer, 1);
    if (whole_table) {
      fs::remove_all(path_);
    } else {
      EXPECT_EQ(Collect(seconds(0)).size(), 1);
    }
    const absl::Status status = writer->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the new part has been removed"));
    if (!whole_table) {
      EXPECT_THAT(Values(), ElementsAre(0));
    }
  }
}

// While collectors remove parts, table.cft names only parts whose files exist.
TEST_F(TableMaintenanceTest, CollectorsRaceWithWriters) {
  WriteTable(1);
  constexpr int kThreads = 2, kAppends = 40;
  std::vector<size_t> published(kThreads);
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kAppends; ++i) {
        auto writer = TableWriter::Open(path_);
        absl::Status status = writer.status();
        const std::vector<int64_t> values(10, 1);
        for (const size_t column : {0, 1}) {
          if (status.ok()) status = writer->Append<int64_t>(column, values);
        }
        if (status.ok()) status = writer->Finish();
        // The folder of a part may be gone before its first file is made.
        ASSERT_TRUE(status.ok() || absl::IsAborted(status) || absl::IsNotFound(status)) << status;
        published[thread] += status.ok();
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 3 * kAppends; ++i) Collect(seconds(0));
  });
  for (std::thread& thread : threads) thread.join();
  Collect(seconds(0));
  const TableReader table = OpenTable();
  EXPECT_EQ(table.num_parts(), 1 + published[0] + published[1]);
  EXPECT_EQ(ValuesOf(table).size(), table.num_parts());
  // A table of more than 64 parts also has chunks (files that describe parts).
  const std::vector<std::string> entries = Entries();
  EXPECT_EQ(std::count_if(entries.begin(), entries.end(),
                          [](const std::string& name) { return name.starts_with("part-"); }),
            static_cast<ptrdiff_t>(table.num_parts()));
}

TEST_F(TableMaintenanceTest, ReplacesParts) {
  WriteTable(4);
  const std::vector<std::string> names = Names();
  const TableReader before = OpenTable();
  auto writer = TableWriter::Replace(path_, std::vector{names[2], names[1]});
  ASSERT_TRUE(writer.ok()) << writer.status();
  Fill(*writer, 12);
  EXPECT_THAT(Values(), ElementsAre(0, 1, 2, 3));
  // Another writer appends in the meantime.
  auto appender = TableWriter::Open(path_);
  ASSERT_TRUE(appender.ok());
  Fill(*appender, 4);
  ASSERT_TRUE(appender->Finish().ok());
  const absl::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Values(), ElementsAre(0, 12, 3, 4));
  EXPECT_THAT(ValuesOf(before), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Collect(hours(1)), IsEmpty());
  EXPECT_THAT(Collect(seconds(0)), UnorderedElementsAre(names[1], names[2]));
}

TEST_F(TableMaintenanceTest, ReplacedPartsMustBeThere) {
  WriteTable(3);
  const std::vector<std::string> names = Names();
  EXPECT_EQ(TableWriter::Replace(path_, std::vector<std::string>{"part-000000"}).status().code(),
            absl::StatusCode::kNotFound);
  {
    // Two writers replace the same part. A third writer replaces a different part.
    auto first = TableWriter::Replace(path_, std::vector{names[0], names[1]});
    auto second = TableWriter::Replace(path_, std::vector{names[1]});
    auto third = TableWriter::Replace(path_, std::vector{names[2]});
    ASSERT_TRUE(first.ok() && second.ok() && third.ok());
    Fill(*first, 10);
    Fill(*second, 11);
    Fill(*third, 12);
    ASSERT_TRUE(second->Finish().ok());
    const absl::Status status = first->Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("has no part " + names[1]));
    ASSERT_TRUE(third->Finish().ok());
  }
  EXPECT_THAT(Values(), ElementsAre(0, 11, 12));
  // The files of the writer that was aborted are gone.
  EXPECT_EQ(Entries().size(), 6);
}

}  // namespace cfile::table_maintenance_test
