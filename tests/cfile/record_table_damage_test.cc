// Readers report damage in table.cft and in the leaves of tables of records.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/records.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "proto/table.pb.h"
#include "record_testing.h"
#include "temporary_directory.h"

namespace cfile::record_table_damage_test {

using testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

absl::StatusOr<internal::TableContents> ParseTree(const SchemaNodePB& root) {
  TablePB table;
  *table.mutable_schema() = root;
  const std::string message = table.SerializeAsString();
  encodings::ByteWriter bytes;
  bytes.PutBytes(std::string_view("cfiletb1"));
  bytes.PutFixed(static_cast<uint32_t>(message.size()));
  bytes.PutBytes(std::string_view(message));
  bytes.PutFixed(internal::Crc32c(bytes.span()));
  return internal::ParseTable(bytes.view(), "table.cft");
}

SchemaNodePB& Add(SchemaNodePB& parent, const std::string& name, bool leaf,
                  SchemaNodePB::Repetition repetition = SchemaNodePB::OPTIONAL) {
  SchemaNodePB& child = *parent.add_children();
  child.set_name(name);
  child.set_repetition(repetition);
  if (leaf) child.mutable_column()->set_type(static_cast<int>(DataType::kInt32));
  return child;
}

TEST(RecordTableDamage, TreesThatAreNone) {
  SchemaNodePB good;
  Add(Add(good, "g", false), "a", true);
  const auto contents = ParseTree(good);
  EXPECT_EQ(contents.status().code(), absl::StatusCode::kDataLoss);  // the root has no name
  good.set_name("m");
  ASSERT_TRUE(ParseTree(good).ok()) << ParseTree(good).status();
  EXPECT_EQ(ParseTree(good)->schema.columns[0].levels.max_definition, 2);

  const auto expect_damage = [&](const std::string& what, const auto& change) {
    SchemaNodePB root = good;
    change(root, *root.mutable_children(0));
    const absl::Status status = ParseTree(root).status();
    const bool limit = what.find("raise max_") != what.npos;
    EXPECT_EQ(status.code(), limit ? absl::StatusCode::kOutOfRange : absl::StatusCode::kDataLoss)
        << what;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  };
  using Node = SchemaNodePB;
  expect_damage("a list or map must be a group of one field", [](Node&, Node& g) {
    g.set_kind(Node::LIST);
    Add(g, "b", true);
  });
  expect_damage("the field of a list or map must be repeated",
                [](Node&, Node& g) { g.set_kind(Node::LIST); });
  expect_damage("required group", [](Node& root, Node&) { root.set_kind(Node::LIST); });
  expect_damage("required group", [](Node& root, Node&) { root.set_repetition(Node::REPEATED); });
  expect_damage("g.a: the group has a second field of this name",
                [](Node&, Node& g) { Add(g, "a", true); });
  expect_damage("g.a: the schema has a second leaf column of this path",
                [](Node& root, Node&) { Add(root, "g.a", true); });
  expect_damage("has no name", [](Node&, Node& g) { g.clear_name(); });
  expect_damage("above the limit of 64: raise max_depth", [](Node&, Node& g) {
    Node* node = &g;
    for (int i = 0; i < 70; ++i) node = &Add(*node, "g", false);
    Add(*node, "a", true);
  });
  expect_damage("does not parse", [](Node&, Node& g) {  // deeper than protobuf messages may nest
    Node* node = &g;
    for (int i = 0; i < 5000; ++i) node = &Add(*node, "g", false);
    Add(*node, "a", true);
  });
  expect_damage("above the limit of 10000: raise max_leaves", [](Node&, Node& g) {
    for (int i = 0; i < 10'001; ++i) Add(g, absl::StrCat("x", i), true);
  });
  expect_damage("above the limit of 4096: raise max_path_size_bytes",
                [](Node&, Node& g) { g.set_name(std::string(5000, 'x')); });
}

class RecordTableDamageTest : public testing::Test {
 protected:
  void SetUp() override {
    schema_ = RecordSchema::Parse(R"(message m { required int32 id;
        repeated group g { optional binary s (STRING); repeated int64 n; } })")
                  .value();
    const WriterOptions loose{.max_packed_part_bytes = 0};  // tests change the files of leaves
    auto writer = RecordWriter::Create(path_, schema_, {&loose, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (int i = 0; i < 20; ++i) {
      Json record = {{"id", i}};
      for (int k = 0; k < i % 4; ++k) record["g"].push_back({{"s", "x"}, {"n", {i, k}}});
      ASSERT_EQ(TellJson(schema_, 0, record, *writer), absl::OkStatus());
    }
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }

  // Reads all records into records_.
  absl::Status ReadAll(bool verify_checksums) {
    auto reader = RecordReader::Open(path_, {}, {.verify_checksums = verify_checksums});
    CFILE_RETURN_IF_ERROR(reader.status());
    JsonVisitor visitor(schema_);
    for (;;) {
      CFILE_ASSIGN_OR_RETURN(const bool more, reader->Next(visitor));
      if (more) continue;
      records_ = std::move(visitor.records);
      return absl::OkStatus();
    }
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path("t");
  RecordSchema schema_;
  std::vector<Json> records_;
};

// With checksums, damage of a leaf never changes the records that are read. Without checksums,
// damaged levels may change the records, but must not crash the reader.
TEST_F(RecordTableDamageTest, FlippedBytesOfLeaves) {
  ASSERT_EQ(ReadAll(true), absl::OkStatus());
  const VerifyReport report = VerifyRecords(TableReader::Open(path_).value());
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.num_rows, 20u);
  const std::vector<Json> records = records_;
  int found = 0;
  for (const size_t leaf : {1, 2}) {
    const std::string path = path_ + "/" + *TableReader::Open(path_)->part_file(0, leaf);
    const std::string whole = ReadFile(path);
    for (size_t i = 0; i < whole.size(); ++i) {
      for (const int bits : {0x01, 0x04, 0x80}) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ bits);
        WriteFile(path, damaged);
        // With checksums, the read fails, or the changed byte does not affect the records.
        ASSERT_TRUE(!ReadAll(true).ok() || records_ == records) << i;
        found += ReadAll(false).code() == absl::StatusCode::kDataLoss ? 1 : 0;
      }
    }
    WriteFile(path, whole);
  }
  EXPECT_GT(found, 100);
}

TEST_F(RecordTableDamageTest, LevelsThatTheTableFileDoesNotName) {
  const std::string table_file = internal::TableFilePath(path_);
  auto contents = internal::ParseTable(ReadFile(table_file), table_file);
  ASSERT_TRUE(contents.ok()) << contents.status();
  contents->schema = Schema::OfRecords(
      RecordSchema::Parse("message m { required int32 id; optional binary s (STRING); "
                          "repeated int64 n; }")
          .value());
  contents->parts[0].columns[1].null_count = 0;
  WriteFile(table_file, internal::SerializeTable(*contents));
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  const absl::Status status = table->OpenColumn(0, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("levels up to 0 and 0 expected by table.cft, found 1 and 2"));
  EXPECT_THAT(std::string(table->OpenColumn(0, 2).status().message()),
              HasSubstr("levels up to 1 and 1 expected by table.cft, found 2 and 2"));
}

// Leaves that are valid but belong to different records are reported as damage.
TEST_F(RecordTableDamageTest, LeavesThatContradict) {
  const auto table = TableReader::Open(path_);
  const std::string path = path_ + "/" + *table->part_file(0, 1);
  auto writer = LevelWriter<std::string_view>::Create(path, ColumnType::String(),
                                                      table->schema().columns[1].levels);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_EQ(writer->Append(std::vector<uint16_t>(20), std::vector<uint16_t>(20), {}),
            absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const std::string table_file = internal::TableFilePath(path_);
  auto contents = internal::ParseTable(ReadFile(table_file), table_file);
  ASSERT_TRUE(contents.ok()) << contents.status();
  contents->parts[0].columns[1].size_bytes = writer->totals().bytes_written;
  WriteFile(table_file, internal::SerializeTable(*contents));
  const absl::Status status = ReadAll(true);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("g.n: record 1: repetition level 0 and definition level 0 expected, found "
                        "0 and 2"));
  const VerifyReport report = VerifyRecords(TableReader::Open(path_).value());
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].status, status);
  EXPECT_EQ(report.damages[0].first_ordinal, 1u);
}

}  // namespace cfile::record_table_damage_test
