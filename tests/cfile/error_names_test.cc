// An error about a file or a table names the file or table exactly once, whether the library, the
// system or a user's Source or Sink reports the error. Payloads of the status are kept.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/protobuf_records.h"
#include "cfile/reader.h"
#include "cfile/records.h"
#include "cfile/salvage.h"
#include "cfile/scan.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "google/protobuf/timestamp.pb.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::error_names_test {

using testing_support::IoCall;
using testing_support::ScriptedSink;
using testing_support::ScriptedSource;

constexpr char kPayload[] = "type.googleapis.com/test";

void ExpectNamedOnce(const absl::Status& status, const std::string& name) {
  ASSERT_FALSE(status.ok());
  const std::string message(status.message());
  size_t times = 0;
  for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1))
    ++times;
  EXPECT_EQ(times, 1u) << status;
}

absl::Status UserError(bool named, const std::string& name) {
  absl::Status status = absl::UnavailableError(named ? "GET " + name + ": 503" : "503");
  status.SetPayload(kPayload, absl::Cord("payload"));
  return status;
}

// A source whose reads fail from the `first`-th read on. Reads are counted from 1.
std::shared_ptr<const Source> UserSource(std::vector<uint8_t> bytes, bool named, int first) {
  return std::make_shared<ScriptedSource>(NewMemorySource(std::move(bytes), "store://bucket/key"),
                                          [named, left = first](const IoCall& call) mutable {
                                            return --left <= 0 ? UserError(named, call.name)
                                                               : absl::OkStatus();
                                          });
}

std::unique_ptr<Sink> UserSink(bool named, bool in_finish) {
  static std::vector<uint8_t> bytes;
  return std::make_unique<ScriptedSink>(
      NewMemorySink(&bytes, "store://bucket/key"), [=](const IoCall& call) {
        return in_finish && call.kind == IoCall::kAppend ? absl::OkStatus()
                                                         : UserError(named, call.name);
      });
}

// Returns a file that is larger than the head and the tail that a reader keeps in memory.
std::vector<uint8_t> MakeFile() {
  std::vector<uint8_t> file;
  auto writer = *Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                                         {.encoding = Encoding::kPlain,
                                          .compression = Compression::kNone,
                                          .value_index = true,
                                          .block_size_bytes = 4000});
  std::vector<int64_t> values(30'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  EXPECT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  return file;
}

TEST(ErrorNames, OfAUsersSource) {
  const auto file = MakeFile();
  for (const bool named : {false, true}) {
    const auto expect = [&](const absl::Status& status) {
      SCOPED_TRACE(named);
      ExpectNamedOnce(status, "store://bucket/key");
      EXPECT_TRUE(absl::IsUnavailable(status)) << status;
      EXPECT_EQ(status.GetPayload(kPayload), absl::Cord("payload")) << status;
    };
    const auto open = [&](int first) { return Reader::Open(UserSource(file, named, first)); };
    expect(open(1).status());
    expect(open(2).status());
    auto reader = open(3);
    ASSERT_TRUE(reader.ok()) << reader.status();
    auto cursor = reader->NewCursor<int64_t>();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    expect(cursor->SeekToOrdinal(10'000));
    expect(cursor->Get(15'000).status());
    expect(cursor->SeekToKey(15'000).status());
    auto level_cursor = reader->NewLevelCursor<int64_t>();
    ASSERT_TRUE(level_cursor.ok()) << level_cursor.status();
    expect(level_cursor->SeekToRecord(10'000));
    auto scan = reader->NewScan<int64_t>(Predicate<int64_t>::NotEqual(5));
    ASSERT_TRUE(scan.ok()) << scan.status();
    auto batch = scan->Next();
    while (batch.ok() && !batch->empty()) batch = scan->Next();
    expect(batch.status());
    expect(VisitBlocks(*reader, [](const BlockInfo&) { return true; }));
    expect(Verify(*reader).damages.at(0).status);
    std::vector<uint8_t> saved;
    expect(Salvage(UserSource(file, named, 1), NewMemorySink(&saved)).status());
  }
}

TEST(ErrorNames, OfAUsersSink) {
  for (const bool named : {false, true}) {
    for (const bool in_finish : {false, true}) {
      SCOPED_TRACE(testing::Message() << named << in_finish);
      absl::Status status;
      auto writer = Writer<int64_t>::Create(UserSink(named, in_finish), ColumnType::Int64());
      status = writer.ok() ? writer->Finish() : writer.status();
      ExpectNamedOnce(status, "store://bucket/key");
      EXPECT_EQ(status.GetPayload(kPayload), absl::Cord("payload")) << status;
      auto levels = LevelWriter<int64_t>::Create(UserSink(named, in_finish), ColumnType::Int64(),
                                                 {.max_repetition = 1, .max_definition = 1});
      status = levels.ok() ? levels->Finish() : levels.status();
      ExpectNamedOnce(status, "store://bucket/key");
    }
  }
}

TEST(ErrorNames, OfFiles) {
  const TemporaryDirectory directory;
  const std::string missing = directory.path("missing");
  for (const auto access : {ReaderOptions::Access::kMap, ReaderOptions::Access::kPread}) {
    const ReaderOptions options{.access = access};
    ExpectNamedOnce(Reader::Open(missing, options).status(), missing);
    ExpectNamedOnce(Reader::Open(directory.path(), options).status(), directory.path());
    for (const std::string& contents :
         {std::string(), std::string("short"), std::string(1000, 'x'),
          std::string("kuducfl2") + std::string(100, '\0') + "kuducfl2"}) {
      const std::string path = directory.path("file");
      WriteFile(path, contents);
      ExpectNamedOnce(Reader::Open(path, options).status(), path);
    }
  }
  const std::string path = directory.path("sound");
  const auto bytes = MakeFile();
  WriteFile(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto reader = Reader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ExpectNamedOnce(reader->NewCursor<int32_t>().status(), path);
  ExpectNamedOnce(reader->NewLevelCursor<int32_t>().status(), path);
  ExpectNamedOnce(reader->NewScan<int32_t>(Predicate<int32_t>::Equal(1)).status(), path);
  ExpectNamedOnce(reader->Get<int64_t>(1'000'000).status(), path);
  OwnedBatch<int64_t> taken;
  const uint64_t ordinals[] = {1'000'000};
  ExpectNamedOnce(reader->Take<int64_t>(ordinals, taken), path);
  ExpectNamedOnce(reader->NewCursor<int64_t>()->SeekToOrdinal(1'000'000), path);
  ExpectNamedOnce(reader->NewCursor<int64_t>()->SeekToRange({0, 1'000'000}), path);
  ExpectNamedOnce(reader->NewLevelCursor<int64_t>()->SeekToRecord(1'000'000), path);

  // Damage inside a block is an error that names the file once.
  std::string damaged(bytes.begin(), bytes.end());
  for (size_t i = 5000; i < 6000; ++i) damaged[i] = static_cast<char>(damaged[i] ^ 1);
  const std::string damaged_path = directory.path("damaged_file");
  WriteFile(damaged_path, damaged);
  const auto damaged_reader = Reader::Open(damaged_path);
  ASSERT_TRUE(damaged_reader.ok()) << damaged_reader.status();
  auto cursor = *damaged_reader->NewCursor<int64_t>();
  absl::Status status;
  while (status.ok()) status = cursor.Next(65'536).status();
  ExpectNamedOnce(status, damaged_path);
  auto scan = *damaged_reader->NewScan<int64_t>(Predicate<int64_t>::NotEqual(3));
  for (status = absl::OkStatus(); status.ok();) status = scan.Next().status();
  ExpectNamedOnce(status, damaged_path);
  ExpectNamedOnce(Verify(*damaged_reader).damages.at(0).status, damaged_path);

  // Errors of writers name the file once.
  const std::string nowhere = missing + "/file";
  ExpectNamedOnce(Writer<int64_t>::Create(nowhere, ColumnType::Int64()).status(), missing);
  ExpectNamedOnce(
      Writer<int64_t>::Create(path, ColumnType::Int64(), {.encoding = Encoding::kPrefix}).status(),
      path);
  ExpectNamedOnce(Writer<int64_t>::Create(path, ColumnType::Int32()).status(), path);
  ExpectNamedOnce(
      Writer<int64_t>::Create(path, ColumnType::Int64(), {.block_size_bytes = 0}).status(), path);
  ExpectNamedOnce(LevelWriter<int64_t>::Create(path, ColumnType::Int64(), {.max_definition = 70'00},
                                               {.encoding = Encoding::kPrefix})
                      .status(),
                  path);
  auto writer = *Writer<int64_t>::Create(path, ColumnType::Int64());
  ExpectNamedOnce(writer.AppendNull(), path);
}

TEST(ErrorNames, OfTables) {
  const TemporaryDirectory directory;
  const std::string missing = directory.path("missing");
  google::protobuf::Timestamp message;
  const auto& descriptor = *message.GetDescriptor();
  ExpectNamedOnce(TableReader::Open(missing).status(), missing);
  ExpectNamedOnce(RecordReader::Open(missing).status(), missing);
  ExpectNamedOnce(MessageReader::Open(missing, descriptor).status(), missing);
  ExpectNamedOnce(TableWriter::Open(missing).status(), missing);
  ExpectNamedOnce(RecordWriter::Append(missing).status(), missing);
  ExpectNamedOnce(MessageWriter::Append(missing, descriptor).status(), missing);

  const std::string path = directory.path("table");
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                  {.name = "b", .type = ColumnType::String()}}};
  {
    auto writer = TableWriter::Create(path, schema, {&kLoose, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const int64_t numbers[] = {1, 2};
    const std::string_view texts[] = {"x", "y"};
    ASSERT_TRUE(writer->Append<int64_t>(0, numbers).ok());
    ASSERT_TRUE(writer->Append<std::string_view>(1, texts).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  ExpectNamedOnce(TableWriter::Create(path, schema).status(), path);
  ExpectNamedOnce(TableWriter::Create(directory.path("other"), Schema()).status(),
                  directory.path("other"));
  ExpectNamedOnce(TableWriter::Create(directory.path("other"),
                                      {.columns = {{.name = "a", .type = ColumnType::Int64()},
                                                   {.name = "a", .type = ColumnType::Int64()}}})
                      .status(),
                  directory.path("other"));
  const auto table = TableReader::Open(path);
  ASSERT_TRUE(table.ok()) << table.status();
  ExpectNamedOnce(table->NewCursor<int32_t>(0).status(), path);
  ExpectNamedOnce(table->NewCursor<int64_t>(0)->SeekToOrdinal(7), path);
  ExpectNamedOnce(table->NewCursor<int64_t>(0)->Get(7).status(), path);
  ExpectNamedOnce(table->NewCursor<int64_t>(0)->SeekToKey(7).status(), path);
  ExpectNamedOnce(table->NewLevelCursor<int64_t>(0)->SeekToRecord(7), path);
  ExpectNamedOnce(table->NewLevelCursor<int32_t>(0).status(), path);
  const std::string no_leaf[] = {"c"};
  ExpectNamedOnce(RecordReader::Open(path, no_leaf).status(), path);
  ExpectNamedOnce(RecordReader::Open(path)->Seek(7), path);
  ExpectNamedOnce(MessageReader::Open(path, descriptor).status(), path);
  ExpectNamedOnce(MessageWriter::Append(path, descriptor).status(), path);

  std::string contents = ReadFile(path + "/table.cft");
  for (const size_t kept : {size_t{0}, size_t{5}, contents.size() - 1}) {
    WriteFile(path + "/table.cft", contents.substr(0, kept));
    ExpectNamedOnce(TableReader::Open(path).status(), path);
    ExpectNamedOnce(TableWriter::Open(path).status(), path);
  }
  WriteFile(path + "/table.cft", contents);
  const std::string column = path + "/" + *table->part_file(0, 1);
  WriteFile(column, "no CFile");
  const auto again = TableReader::Open(path);
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectNamedOnce(again->OpenColumn(0, 1).status(), column);
  ExpectNamedOnce(again->NewCursor<std::string_view>(1)->Next(1).status(), column);
  ExpectNamedOnce(again->VerifyColumn(0, 1).damages.at(0).status, column);
  ExpectNamedOnce(RecordReader::Open(*again).status(), column);
}

}  // namespace cfile::error_names_test
