// In these tests each allocation fails in turn, alone or together with all later allocations. The
// library throws only std::bad_alloc, and this exception passes through the library's calls. The
// tests check what the library promises for this case:
// - No memory, descriptor or mapping leaks.
// - No incomplete file has a final name. An older file stays as it was. Temporary files are
//   removed.
// - After an exception a writer writes nothing more, and its later calls fail.
// - After an exception a cursor can only be destroyed. Its reader can create new cursors.
// - Destructors allocate no memory, except the destructor of TableWriter, which needs memory to
//   remove its part. Without memory the part stays, as if the writer had been killed.

#include <dlfcn.h>
#include <execinfo.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/records.h"
#include "cfile/salvage.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/fault_mode.h"
#include "tests/campaign/heap.h"
#include "tests/cfile/table_fixture.h"
#include "tests/sanitizers.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using campaign::heap;
using testing::ElementsAre;
using testing::IsEmpty;
using testing_support::FaultMode;

thread_local bool failed_in_protobuf = false;
thread_local bool failed = false;  // an allocation failed since the last call of Fail

// Records whether protobuf made the failing allocation. A repeated field that cannot grow leaks an
// element inside protobuf; this library cannot prevent the leak.
void SeeWhetherProtobufCalls() {
  void* frames[4];  // this function, Allocate unless inlined, operator new, and its caller
  for (int i = backtrace(frames, 4) - 1; i >= 2; --i) {
    Dl_info caller;
    failed_in_protobuf |=
        dladdr(frames[i], &caller) != 0 &&
        std::string_view(caller.dli_fname).find("libprotobuf") != std::string_view::npos;
  }
}

// Makes the `number`-th allocation from now on fail; with kFromThenOn, also all later allocations.
void Fail(int64_t number, FaultMode mode) {
  static thread_local FaultMode mode_of_failures;
  mode_of_failures = mode;
  failed = failed_in_protobuf = false;
  heap.failing = [] {
    failed = true;
    SeeWhetherProtobufCalls();
    if (mode_of_failures == FaultMode::kFromThenOn) heap.allocations_left = 1;
  };
  heap.allocations_left = number;
}
// Lets all later allocations succeed.
void StopFailing() { heap.allocations_left = -1; }

size_t MappingsOf(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with(path);
  return count;
}

// Calls `prepare`, `attempt` and `check` until each allocation of `attempt` has failed, alone and
// together with all later allocations. Tells `check` whether `attempt` threw. EXPECTs that
// `attempt` leaves no memory and no descriptors.
void FailEachAllocation(const std::function<void()>& prepare,
                        const std::function<absl::Status()>& attempt,
                        const std::function<void(bool threw)>& check) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have an operator new of their own";
  // The first attempt creates objects that stay, for example tables of the registry and of
  // protobuf.
  prepare();
  absl::Status status = attempt();
  ASSERT_TRUE(status.ok()) << status;
  const size_t descriptors = OpenDescriptors();
  for (const FaultMode mode : testing_support::kFaultModes) {
    uint64_t done = 0;
    for (int64_t number = 1;; number += testing_support::FaultStep(mode, 10), ++done) {
      SCOPED_TRACE(testing::Message() << "allocation " << number
                                      << (mode == FaultMode::kOnce ? "" : " and all later"));
      prepare();
      status = absl::OkStatus();
      const int64_t held = heap.blocks;
      bool threw = false;
      Fail(number, mode);
      try {
        status = attempt();
      } catch (const std::bad_alloc&) {
        threw = true;
      }
      StopFailing();
      if (!failed_in_protobuf) {
        ASSERT_EQ(heap.blocks, held);
      }
      ASSERT_EQ(OpenDescriptors(), descriptors);
      ASSERT_TRUE(status.ok()) << status;
      check(threw);
      if (testing::Test::HasFailure()) FAIL();
      if (!failed) {
        ASSERT_FALSE(threw);
        EXPECT_GT(number, 20);
        campaign::Done("failed_allocations", done);
        break;
      }
    }
  }
}

struct Case {
  std::string name;
  WriterOptions options;
};

class AllocationFaultTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < 600; ++i) texts_.push_back("value " + std::to_string(10'000 + i / 2));
    values_.assign(texts_.begin(), texts_.end());
  }

  absl::Status Write(const std::string& path) const {
    auto writer = Writer<std::string_view>::Create(path, ColumnType::String(), GetParam().options);
    if (!writer.ok()) return writer.status();
    const absl::Status status = writer->Append(values_);
    return status.ok() ? writer->Finish() : status;
  }

  absl::Status Read(Cursor<std::string_view>& cursor) const {
    for (uint64_t ordinal = 0; ordinal < values_.size();) {
      const auto batch = cursor.Next(100);
      if (!batch.ok()) return batch.status();
      if (batch->empty()) return absl::UnknownError("rows are missing");
      for (size_t i = 0; i < batch->size(); ++i) EXPECT_EQ(batch->values[i], values_[ordinal + i]);
      ordinal += batch->size();
    }
    const auto value = cursor.Get(17);
    if (!value.ok()) return value.status();
    EXPECT_EQ(*value, values_[17]);
    return cursor.SeekToKey(values_[301]).status();
  }

  // Calls the other functions that read rows: Take, SeekMany, Clone and scans.
  absl::Status Query(const Reader& reader) const {
    auto cursor = reader.NewCursor<std::string_view>();
    if (!cursor.ok()) return cursor.status();
    OwnedBatch<std::string_view> taken;
    absl::Status status = cursor->Take(std::vector<uint64_t>{500, 0, 301}, taken);
    if (!status.ok()) return status;
    EXPECT_EQ(taken.batch().values[2], values_[301]);
    KeyPosition positions[2];
    status = cursor->SeekMany(std::vector{values_[200], values_[20]}, positions);
    if (!status.ok()) return status;
    EXPECT_EQ(positions[0].ordinal, 200);
    const auto clone = cursor->Clone();
    if (!clone.ok()) return clone.status();
    EXPECT_EQ(clone->ordinal(), cursor->ordinal());
    auto scan = reader.NewScan<std::string_view>(
        Predicate<std::string_view>::Between(values_[40], values_[50]));
    if (!scan.ok()) return scan.status();
    for (size_t found = 0;;) {
      const auto rows = scan->Next();
      if (!rows.ok()) return rows.status();
      if (rows->empty()) {
        EXPECT_EQ(found, 12);
        break;
      }
      found += rows->values.size();
    }
    const VerifyReport report = Verify(reader);
    return report.ok() ? absl::OkStatus() : report.damages[0].status;
  }

  void ExpectWhole(const std::string& path) const {
    const auto reader = Reader::Open(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(reader->num_rows(), values_.size());
    EXPECT_TRUE(Verify(*reader).ok());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("file");
  std::vector<std::string> texts_;
  std::vector<std::string_view> values_;
};
INSTANTIATE_TEST_SUITE_P(Columns, AllocationFaultTest, testing::ValuesIn([] {
                           std::vector<Case> cases;
                           const auto add = [&](const char* name, Encoding encoding) {
                             cases.push_back({name,
                                              {.encoding = encoding,
                                               .value_index = true,
                                               .block_size_bytes = 1000,
                                               .index_block_size_bytes = 100}});
                           };
                           add("plain", Encoding::kPlain);
                           add("prefix", Encoding::kPrefix);
                           add("dict", Encoding::kDict);
                           add("auto", Encoding::kAuto);
                           return cases;
                         }()),
                         [](const auto& test) { return test.param.name; });

TEST_P(AllocationFaultTest, Writer) {
  for (const bool older : {false, true}) {
    FailEachAllocation(
        [&] {
          fs::remove(path_);
          if (older) WriteFile(path_, "older");
        },
        [&] { return Write(path_); },
        [&](bool threw) {
          if (!threw) {
            ExpectWhole(path_);
          } else if (older) {
            EXPECT_EQ(ReadFile(path_), "older");
            EXPECT_THAT(directory_.Entries(), ElementsAre("file"));
          } else {
            EXPECT_THAT(directory_.Entries(), IsEmpty());
          }
        });
  }
}

// If a caller catches the exception and calls the writer again, these calls fail, so that no file
// lacks some of the rows.
TEST_P(AllocationFaultTest, WriterThatGoesOn) {
  FailEachAllocation([&] { fs::remove(path_); },
                     [&] {
                       auto writer = ::cfile::Writer<std::string_view>::Create(
                           path_, ColumnType::String(), GetParam().options);
                       if (!writer.ok()) return writer.status();
                       try {
                         const absl::Status status = writer->Append(values_);
                         if (!status.ok()) return status;
                       } catch (const std::bad_alloc&) {
                         StopFailing();
                         EXPECT_FALSE(writer->Append(values_).ok());
                         EXPECT_FALSE(writer->AppendNull().ok());
                         EXPECT_FALSE(writer->Finish().ok());
                         return absl::OkStatus();
                       }
                       try {
                         return writer->Finish();
                       } catch (const std::bad_alloc&) {
                         StopFailing();
                         EXPECT_FALSE(writer->Finish().ok());
                       }
                       return absl::OkStatus();
                     },
                     [&](bool) {
                       if (fs::exists(path_)) ExpectWhole(path_);
                     });
}

TEST_P(AllocationFaultTest, Reader) {
  ASSERT_TRUE(Write(path_).ok());
  for (const auto access : {ReaderOptions::Access::kMap, ReaderOptions::Access::kPread}) {
    FailEachAllocation([] {},
                       [&]() -> absl::Status {
                         const ReaderOptions options{
                             .access = access,
                             .block_cache = std::make_shared<BlockCache>(1 << 20)};
                         auto reader = ::cfile::Reader::Open(path_, options);
                         if (!reader.ok()) return reader.status();
                         auto cursor = reader->NewCursor<std::string_view>();
                         if (!cursor.ok()) return cursor.status();
                         return Read(*cursor);
                       },
                       [&](bool) { EXPECT_EQ(MappingsOf(path_), 0); });
  }
}

TEST_P(AllocationFaultTest, Queries) {
  ASSERT_TRUE(Write(path_).ok());
  FailEachAllocation([] {},
                     [&]() -> absl::Status {
                       // Each reader gets a cache of its own. The default cache would keep blocks
                       // after the reader is destroyed.
                       ReaderOptions options;
                       options.block_cache = std::make_shared<BlockCache>(size_t{1} << 20);
                       const auto reader = ::cfile::Reader::Open(path_, options);
                       return reader.ok() ? Query(*reader) : reader.status();
                     },
                     [&](bool) { EXPECT_EQ(MappingsOf(path_), 0); });
}

// Salvage of a torn file either throws or publishes a whole new file.
TEST_P(AllocationFaultTest, Salvage) {
  ASSERT_TRUE(Write(path_).ok());
  fs::resize_file(path_, fs::file_size(path_) - 10);
  const std::string saved = directory_.path("saved");
  FailEachAllocation(
      [&] { fs::remove(saved); },
      [&]() -> absl::Status {
        auto source = OpenPreadSource(path_);
        if (!source.ok()) return source.status();
        auto sink = NewFileSink(saved);
        if (!sink.ok()) return sink.status();
        return ::cfile::Salvage(*source, *std::move(sink), {.value_index = true}).status();
      },
      [&](bool threw) {
        // The allocation of the report may fail after the new file was published.
        const bool published = fs::exists(saved);
        EXPECT_TRUE(published || threw);
        EXPECT_EQ(directory_.Entries().size(), published ? 2 : 1);
        if (published) ExpectWhole(saved);
      });
}

// After a cursor has failed, its reader still has its index nodes and its cache, and creates a new
// cursor that reads all rows.
TEST_P(AllocationFaultTest, ReaderThatGoesOn) {
  ASSERT_TRUE(Write(path_).ok());
  FailEachAllocation([] {},
                     [&]() -> absl::Status {
                       auto reader = ::cfile::Reader::Open(
                           path_, {.access = ReaderOptions::Access::kPread,
                                   .block_cache = std::make_shared<BlockCache>(1 << 20)});
                       if (!reader.ok()) return reader.status();
                       auto cursor = reader->NewCursor<std::string_view>();
                       if (!cursor.ok()) return cursor.status();
                       try {
                         return Read(*cursor);
                       } catch (const std::bad_alloc&) {
                         StopFailing();
                       }
                       cursor = reader->NewCursor<std::string_view>();
                       return cursor.ok() ? Read(*cursor) : cursor.status();
                     },
                     [](bool) {});
}

// The allocations of a writer and a reader of compressed files fail. Codecs allocate by malloc,
// which does not fail here.
TEST(CodecAllocationFaultTest, WriterAndReader) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  std::vector<int64_t> values(2000);
  std::iota(values.begin(), values.end(), 0);
  for (const Compression codec : {Compression::kSnappy, Compression::kLz4, Compression::kZlib,
                                  Compression::kZstd, Compression::kGzip, Compression::kBrotli}) {
    SCOPED_TRACE(static_cast<int>(codec));
    if (!CheckCompressionBuiltIn(codec).ok()) continue;
    FailEachAllocation(
        [&] { fs::remove(path); },
        [&]() -> absl::Status {
          auto writer = Writer<int64_t>::Create(
              path, ColumnType::Int64(),
              {.encoding = Encoding::kPlain, .compression = codec, .block_size_bytes = 4000});
          if (!writer.ok()) return writer.status();
          absl::Status status = writer->Append(values);
          if (status.ok()) status = writer->Finish();
          if (!status.ok()) return status;
          const auto reader = Reader::Open(path);
          if (!reader.ok()) return reader.status();
          const VerifyReport report = Verify(*reader);
          return report.ok() ? absl::OkStatus() : report.damages[0].status;
        },
        [&](bool threw) { EXPECT_EQ(directory.Entries().size(), fs::exists(path)) << threw; });
  }
}

TEST(LevelAllocationFaultTest, WriterAndCursor) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("leaf");
  // Each step adds three records: a list of two elements, an empty list, and null.
  std::vector<uint16_t> repetition, definition;
  std::vector<int32_t> values;
  for (int32_t i = 0; i < 300; ++i) {
    repetition.insert(repetition.end(), {0, 1, 0, 0});
    definition.insert(definition.end(), {2, 2, 1, 0});
    values.insert(values.end(), {i, -i});
  }
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kAuto}) {
    FailEachAllocation(
        [&] { fs::remove(path); },
        [&]() -> absl::Status {
          auto writer = LevelWriter<int32_t>::Create(
              path, ColumnType::Int32(), {.max_repetition = 1, .max_definition = 2},
              {.encoding = encoding, .block_size_bytes = 500, .index_block_size_bytes = 100});
          if (!writer.ok()) return writer.status();
          absl::Status status = writer->Append(repetition, definition, values);
          if (status.ok()) status = writer->Finish();
          if (!status.ok()) return status;
          const auto reader = Reader::Open(path);
          if (!reader.ok()) return reader.status();
          auto cursor = reader->NewLevelCursor<int32_t>();
          if (!cursor.ok()) return cursor.status();
          if (status = cursor->SeekToRecord(700); !status.ok()) return status;
          size_t records = 0;
          while (true) {
            const auto batch = cursor->Next(100);
            if (!batch.ok()) return batch.status();
            if (batch->empty()) break;
            records += batch->num_records;
          }
          EXPECT_EQ(records, 200);
          return absl::OkStatus();
        },
        [&](bool threw) { EXPECT_EQ(directory.Entries().size(), fs::exists(path)) << threw; });
  }
}

struct CountingVisitor final : RecordVisitor {
  int groups = 0, values = 0;
  absl::Status BeginGroup(size_t) override { return absl::OkStatus(); }
  absl::Status EndGroup(size_t) override {
    ++groups;
    return absl::OkStatus();
  }
  absl::Status Value(size_t, const RecordValue&) override {
    ++values;
    return absl::OkStatus();
  }
};

TEST(RecordAllocationFaultTest, WriterAndReader) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("table");
  const auto schema = RecordSchema::Parse(
      "message m { required int32 id; repeated group tags { optional string name; } }");
  ASSERT_TRUE(schema.ok()) << schema.status();
  FailEachAllocation([&] { fs::remove_all(path); },
                     [&]() -> absl::Status {
                       {
                         auto writer = RecordWriter::Create(path, *schema);
                         if (!writer.ok()) return writer.status();
                         absl::Status status;
                         for (int32_t id = 0; status.ok() && id < 3; ++id) {
                           status.Update(writer->BeginGroup(0));
                           status.Update(writer->Value(1, RecordValue(id)));
                           status.Update(writer->BeginGroup(2));
                           status.Update(writer->Value(3, RecordValue(std::string_view("a name"))));
                           status.Update(writer->EndGroup(2));
                           status.Update(writer->EndGroup(0));
                         }
                         if (status.ok()) status = writer->Finish();
                         if (!status.ok()) return status;
                       }
                       auto reader = RecordReader::Open(path);
                       if (!reader.ok()) return reader.status();
                       CountingVisitor visitor;
                       while (true) {
                         const auto more = reader->Next(visitor);
                         if (!more.ok()) return more.status();
                         if (!*more) break;
                       }
                       EXPECT_EQ(visitor.groups, 6);
                       EXPECT_EQ(visitor.values, 6);
                       return absl::OkStatus();
                     },
                     [&](bool threw) {
                       for (const std::string& entry : directory.Entries()) {
                         EXPECT_FALSE(IsTemporaryFileName(fs::path(entry).filename())) << entry;
                       }
                       EXPECT_TRUE(threw || fs::exists(path + "/table.cft"));
                     });
}

TEST(TableAllocationFaultTest, Writer) {
  const TemporaryDirectory directory, older;
  const std::string path = directory.path("table");
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                  {.name = "b", .type = ColumnType::String()}}};
  const auto append = [&](absl::StatusOr<TableWriter> writer) {
    if (!writer.ok()) return writer.status();
    absl::Status status = AppendRows(*writer, 0, 10);
    return status.ok() ? writer->Finish() : status;
  };
  ASSERT_TRUE(append(TableWriter::Create(path, schema)).ok());
  fs::remove(older.path());
  fs::copy(path, older.path(), fs::copy_options::recursive);
  for (const bool appends : {false, true}) {
    FailEachAllocation(
        [&] {
          fs::remove_all(path);
          if (appends) fs::copy(older.path(), path, fs::copy_options::recursive);
        },
        [&] {
          return append(appends ? TableWriter::Open(path) : TableWriter::Create(path, schema));
        },
        [&](bool threw) {
          // If the allocation failed while table.cft was written, a part that table.cft does not
          // name may stay, as if the writer had been killed.
          for (const std::string& entry : directory.Entries()) {
            EXPECT_FALSE(IsTemporaryFileName(fs::path(entry).filename())) << entry;
          }
          if (threw && !appends) {
            EXPECT_FALSE(fs::exists(path + "/table.cft"));
            return;
          }
          const auto table = TableReader::Open(path);
          ASSERT_TRUE(table.ok()) << table.status();
          ASSERT_EQ(table->num_parts(), appends && !threw ? 2 : 1);
          for (size_t part = 0; part < table->num_parts(); ++part) {
            for (const size_t column : {0, 1}) {
              EXPECT_TRUE(table->VerifyColumn(part, column).ok());
            }
          }
        });
  }
}

TEST(TableAllocationFaultTest, Reader) {
  const TemporaryDirectory directory;
  const Schema schema = ManyTypes();
  const std::string path = directory.path("table");
  for (const bool is_new : {true, false}) {
    auto writer = is_new ? TableWriter::Create(path, schema) : TableWriter::Open(path);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(AppendRows(*writer, is_new ? 0 : 10, 10).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  FailEachAllocation([] {},
                     [&]() -> absl::Status {
                       const auto table = TableReader::Open(path);
                       if (!table.ok()) return table.status();
                       auto cursor = table->NewCursor<int64_t>(0);
                       if (!cursor.ok()) return cursor.status();
                       for (uint64_t row = 0; row < 20;) {
                         const auto batch = cursor->Next(100);
                         if (!batch.ok()) return batch.status();
                         ExpectRows(*batch, 0, schema.columns[0]);
                         row += batch->size();
                       }
                       const VerifyReport report = table->VerifyColumn(1, 6);
                       return report.ok() ? absl::OkStatus() : report.damages[0].status;
                     },
                     [](bool) {});
}

}  // namespace
}  // namespace cfile
