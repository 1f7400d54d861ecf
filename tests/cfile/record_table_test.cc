// Random records are written to tables and read back by scans, seeks and projections.
#include <gmock/gmock.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "cfile/records.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "record_testing.h"
#include "temporary_directory.h"

namespace cfile::record_table_test {

using testing::HasSubstr;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  // Returns 0 to bound - 1.
  size_t Below(size_t bound) { return engine_() % bound; }
  bool OneIn(size_t n) { return Below(n) == 0; }
  uint64_t Bits() { return uint64_t{engine_()} << 32 | engine_(); }

 private:
  std::mt19937 engine_;
};

const std::vector<ColumnType>& Types() {
  static const std::vector<ColumnType> types = {
      ColumnType::Bool(),   ColumnType::Int8(),         ColumnType::Uint16(),
      ColumnType::Int32(),  ColumnType::Date(),         ColumnType::Int64(),
      ColumnType::Uint64(), ColumnType::Decimal(38, 2), ColumnType::Int96(),
      ColumnType::Float(),  ColumnType::Double(),       ColumnType::String(),
      ColumnType::String(), ColumnType::FixedBytes(3),  ColumnType::Timestamp(TimeUnit::kNanos),
  };
  return types;
}

// Adds a random node and all its descendants.
void AddRandomNode(Random& random, size_t depth, std::vector<RecordNode>& nodes) {
  const size_t i = nodes.size();
  nodes.push_back({.name = i == 0 ? "m" : absl::StrCat("f", i)});
  if (i > 0) nodes[i].repetition = static_cast<Repetition>(random.Below(3));
  if (i > 0 && (depth == 6 || nodes.size() > 20 || random.OneIn(3))) {
    nodes[i].type = Types()[random.Below(Types().size())];
    return;
  }
  const size_t num_children = 1 + random.Below(depth == 0 ? 5 : 3);
  nodes[i].num_children = num_children;
  for (size_t child = 0; child < num_children; ++child) AddRandomNode(random, depth + 1, nodes);
}

RecordSchema RandomSchema(Random& random) {
  std::vector<RecordNode> nodes;
  AddRandomNode(random, 0, nodes);
  return RecordSchema::Create(std::move(nodes)).value();
}

Json RandomValue(Random& random, const ColumnType& type) {
  return encodings::VisitPhysicalType(
      type.physical(), [&]<typename T>(std::type_identity<T>) -> Json {
        if constexpr (encodings::kIsBytes<T>) {
          const size_t size = type.type_length > 0 ? type.type_length : random.Below(9);
          return std::string(size, static_cast<char>('a' + random.Below(26)));
        } else if constexpr (std::is_same_v<T, Int96>) {
          return ValueToJson(
              encodings::LoadLittleEndian<Int96>(reinterpret_cast<const uint8_t*>("twelve bytes")));
        } else if constexpr (std::is_same_v<T, bool>) {
          return random.OneIn(2);
        } else {
          return ValueToJson(static_cast<T>(random.Bits() >> random.Below(64)));
        }
      });
}

Json RandomRecord(Random& random, const RecordSchema& schema, size_t node) {
  if (schema.node(node).is_leaf()) return RandomValue(random, schema.node(node).type);
  Json record = Json::object();
  for (size_t child = node + 1; child < schema.node(node).end; child = schema.node(child).end) {
    const RecordNode& field = schema.node(child);
    if (field.repetition == Repetition::kRepeated) {
      for (size_t i = random.Below(4); i > 0; --i) {
        record[field.name].push_back(RandomRecord(random, schema, child));
      }
    } else if (field.repetition == Repetition::kRequired || !random.OneIn(3)) {
      record[field.name] = RandomRecord(random, schema, child);
    }
  }
  return record;
}

// Writes a part of the table at `path`.
absl::Status Write(const std::string& path, const RecordSchema& schema,
                   std::span<const Json> records, bool append, const WriterOptions& options) {
  const WriterOptions all[] = {options};
  auto writer = append ? RecordWriter::Append(path, all) : RecordWriter::Create(path, schema, all);
  CFILE_RETURN_IF_ERROR(writer.status());
  if (writer->schema() != schema) return absl::InternalError("the table has another schema");
  for (const Json& record : records) CFILE_RETURN_IF_ERROR(TellJson(schema, 0, record, *writer));
  return writer->Finish();
}

TEST(RecordTable, RandomRecords) {
  const TemporaryDirectory directory;
  size_t num_records = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const RecordSchema schema = RandomSchema(random);
    SCOPED_TRACE(schema.ToString());
    EXPECT_EQ(RecordSchema::Parse(schema.ToString()).value(), schema);
    std::vector<Json> records;
    for (size_t i = 20 + random.Below(100); i > 0; --i) {
      records.push_back(RandomRecord(random, schema, 0));
    }
    num_records += records.size();

    // The table has two parts. Small blocks spread the records over many blocks.
    const std::string path = directory.path(absl::StrCat(seed));
    const WriterOptions options = {.block_size_bytes = size_t{1} << random.Below(12)};
    const std::span<const Json> all(records);
    const size_t split = random.Below(records.size());
    ASSERT_EQ(Write(path, schema, all.first(split), false, options), absl::OkStatus());
    ASSERT_EQ(Write(path, schema, all.subspan(split), true, options), absl::OkStatus());

    for (int round = 0; round < 6; ++round) {  // the first round reads all leaves
      std::vector<size_t> leaves;
      std::vector<std::string> paths;
      for (size_t i = 0; i < schema.leaves().size(); ++i) {
        if (round == 0 || !random.OneIn(2)) continue;
        leaves.push_back(i);
        paths.push_back(schema.Path(schema.leaves()[i]));
      }
      auto reader = RecordReader::Open(path, paths);
      ASSERT_TRUE(reader.ok()) << reader.status();
      EXPECT_EQ(reader->schema(), schema);
      ASSERT_EQ(reader->num_records(), records.size());
      for (int seek = 0; seek < 3; ++seek) {
        const size_t begin = seek == 0 ? 0 : random.Below(records.size() + 1);
        const size_t end = round == 0 ? records.size() : std::min(begin + 10, records.size());
        ASSERT_EQ(reader->Seek(begin), absl::OkStatus());
        JsonVisitor visitor(schema);
        for (size_t i = begin; i < end; ++i) {
          ASSERT_EQ(reader->record(), i);
          const auto told = reader->Next(visitor);
          ASSERT_TRUE(told.ok()) << told.status();
          ASSERT_EQ(visitor.records.back(), Stored(schema, records[i], leaves)) << i;
        }
        if (end == records.size()) {
          EXPECT_FALSE(reader->Next(visitor).value());
        }
      }
    }
  }
  EXPECT_GE(num_records, 10'000u);
}

// A record may be much longer than the buffers and longer than a batch.
TEST(RecordTable, LongRecords) {
  const TemporaryDirectory directory;
  const RecordSchema schema =
      RecordSchema::Parse("message m { required int32 id; repeated group g { repeated int32 v; } }")
          .value();
  std::vector<Json> records;
  for (const int groups : {3, 40'000, 0, 1}) {
    Json record = {{"id", groups}};
    for (int i = 0; i < groups; ++i) {
      Json& group = record["g"].emplace_back(Json::object());
      for (int v = 0; v < i % 5; ++v) group["v"].push_back(v);
    }
    records.push_back(std::move(record));
  }
  ASSERT_EQ(Write(directory.path("t"), schema, records, false, {}), absl::OkStatus());
  auto reader = RecordReader::Open(directory.path("t"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  JsonVisitor visitor(schema);
  while (reader->Next(visitor).value()) continue;
  EXPECT_EQ(visitor.records, records);
}

// A schema may have the largest allowed depth, but no more.
TEST(RecordTable, DeepRecords) {
  const TemporaryDirectory directory;
  std::vector<RecordNode> nodes = {{.name = "m", .num_children = 1}};
  Json record = {{"v", 1}};
  for (size_t depth = 1; depth < RecordLimits().max_depth; ++depth) {
    nodes.push_back({.name = "g", .repetition = Repetition::kRepeated, .num_children = 1});
    record = {{"g", Json::array({record, Json::object()})}};
  }
  nodes.push_back({.name = "v", .repetition = Repetition::kOptional});
  const RecordSchema schema = RecordSchema::Create(nodes).value();
  EXPECT_EQ(RecordSchema::Parse(schema.ToString()).value(), schema);
  ASSERT_EQ(Write(directory.path("t"), schema, {&record, 1}, false, {}), absl::OkStatus());
  auto reader = RecordReader::Open(directory.path("t"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  JsonVisitor visitor(schema);
  ASSERT_TRUE(reader->Next(visitor).value());
  EXPECT_EQ(visitor.records[0], record);
  nodes.insert(nodes.begin() + 1, nodes[1]);
  EXPECT_FALSE(RecordSchema::Create(nodes).ok());
}

TEST(RecordTable, FlatTablesAreTablesOfRecords) {
  const TemporaryDirectory directory;
  const Schema flat{.columns = {{.name = "id", .type = ColumnType::Int32()},
                                {.name = "name", .type = ColumnType::String(), .nullable = true}}};
  auto writer = TableWriter::Create(directory.path("flat"), flat);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const int32_t ids[] = {1, 2};
  const std::string_view names[] = {"a", ""};
  const uint8_t validity[] = {1};
  ASSERT_EQ(writer->Append<int32_t>(0, ids), absl::OkStatus());
  ASSERT_EQ(writer->Append<std::string_view>(1, names, validity), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  {
    auto more = RecordWriter::Append(directory.path("flat"));
    ASSERT_TRUE(more.ok()) << more.status();
    ASSERT_EQ(TellJson(more->schema(), 0, {{"id", 3}}, *more), absl::OkStatus());
    ASSERT_EQ(more->Finish(), absl::OkStatus());
    EXPECT_EQ(more->num_records(), 1u);
  }
  auto reader = RecordReader::Open(directory.path("flat"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  JsonVisitor visitor(reader->schema());
  while (reader->Next(visitor).value()) continue;
  EXPECT_EQ(visitor.records,
            (std::vector<Json>{{{"id", 1}, {"name", "a"}}, {{"id", 2}}, {{"id", 3}}}));
  EXPECT_EQ(TableReader::Open(directory.path("flat"))->schema(), flat);

  // Readers also apply their limits to a table that stores no tree of nodes.
  ReaderOptions options;
  options.record_limits.max_leaves = flat.columns.size();
  EXPECT_EQ(RecordReader::Open(directory.path("flat"), {}, options).status(), absl::OkStatus());
  --options.record_limits.max_leaves;
  const absl::Status status = RecordReader::Open(directory.path("flat"), {}, options).status();
  EXPECT_THAT(status.message(), HasSubstr("max_leaves"));
}

// Counts values and fails once, at value `fail_at`.
class FailingVisitor final : public RecordVisitor {
 public:
  explicit FailingVisitor(int64_t fail_at) : fail_at_(fail_at) {}
  absl::Status BeginGroup(size_t) override {
    values_ = 0;
    return absl::OkStatus();
  }
  absl::Status EndGroup(size_t) override { return absl::OkStatus(); }
  absl::Status Value(size_t, const RecordValue&) override {
    if (++values_ != fail_at_) return absl::OkStatus();
    fail_at_ = -1;
    return absl::AbortedError("enough");
  }
  int64_t values() const { return values_; }

 private:
  int64_t fail_at_;
  int64_t values_ = 0;
};

// If a part of a long record has been read, a seek to this record goes back to its beginning.
TEST(RecordTable, SeeksToTheBeginningOfALongRecord) {
  constexpr int32_t kValues = 100'000;  // more than a batch holds
  const TemporaryDirectory directory;
  const RecordSchema schema = RecordSchema::Parse("message m { repeated int32 v; }").value();
  auto writer = TableWriter::Create(directory.path("t"), Schema::OfRecords(schema));
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<int32_t> values(kValues);
  for (int32_t i = 0; i < kValues; ++i) values[static_cast<size_t>(i)] = i;
  std::vector<uint16_t> repetition(kValues, 1);
  repetition[0] = 0;
  ASSERT_EQ(writer->AppendLevels<int32_t>(0, repetition, std::vector<uint16_t>(kValues, 1), values),
            absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());

  const auto table = TableReader::Open(directory.path("t"));
  ASSERT_TRUE(table.ok()) << table.status();
  auto cursor = table->NewLevelCursor<int32_t>(0);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  const size_t part = cursor->Next(1)->values.size();
  ASSERT_LT(part, size_t{kValues});
  EXPECT_EQ(cursor->Next(1)->values[0], static_cast<int32_t>(part));
  ASSERT_EQ(cursor->SeekToRecord(0), absl::OkStatus());
  EXPECT_EQ(cursor->Next(1)->values[0], 0);

  auto reader = RecordReader::Open(*table);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const int64_t fail_at : {int64_t{100}, int64_t{kValues} - 1}) {
    ASSERT_EQ(reader->Seek(0), absl::OkStatus());
    FailingVisitor visitor(fail_at);
    EXPECT_EQ(reader->Next(visitor).status().code(), absl::StatusCode::kAborted);
    const auto again = reader->Next(visitor);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(visitor.values(), kValues);
  }
}

TEST(RecordTable, ErrorsStayAndLeaveNothing) {
  const TemporaryDirectory directory;
  const RecordSchema schema =
      RecordSchema::Parse("message m { required int32 id; repeated int64 n; }").value();
  {
    auto writer = RecordWriter::Create(directory.path("t"), schema);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ(TellJson(schema, 0, {{"id", 1}}, *writer), absl::OkStatus());
    EXPECT_THAT(TellJson(schema, 0, Json::object(), *writer).message(),
                HasSubstr("id: the field is required, but missing"));
    EXPECT_THAT(writer->BeginGroup(0).message(),
                HasSubstr("id: the field is required, but missing"));
    EXPECT_THAT(writer->Finish().message(), HasSubstr("id: the field is required, but missing"));
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path("t")));
  {
    auto writer = RecordWriter::Create(directory.path("t"), schema);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ(writer->BeginGroup(0), absl::OkStatus());
    EXPECT_THAT(writer->Finish().message(), HasSubstr("record 0 has not ended"));
  }
  ASSERT_EQ(Write(directory.path("t"), schema, std::vector<Json>{{{"id", 1}}}, false, {}),
            absl::OkStatus());
  const auto table = TableReader::Open(directory.path("t"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(table->NewCursor<int64_t>(1).status().message(), HasSubstr("column n has levels"));
  const std::string paths[] = {"x"};
  EXPECT_THAT(RecordReader::Open(directory.path("t"), paths).status().message(),
              HasSubstr("no field x"));
  auto reader = RecordReader::Open(*table);
  EXPECT_EQ(reader->Seek(2).code(), absl::StatusCode::kOutOfRange);
}

TEST(RecordTable, RawLevels) {
  const TemporaryDirectory directory;
  const RecordSchema schema =
      RecordSchema::Parse("message m { optional int32 a; repeated int32 b; }").value();
  auto writer = TableWriter::Create(directory.path("t"), Schema::OfRecords(schema));
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<int32_t> values = {1, 2};
  EXPECT_EQ(writer->AppendLevels<int32_t>(0, {}, std::vector<uint16_t>{1, 0, 1}, values),
            absl::OkStatus());
  EXPECT_EQ(writer->AppendLevels<int32_t>(1, std::vector<uint16_t>{0, 1, 0, 0},
                                          std::vector<uint16_t>{1, 1, 0, 0}, values),
            absl::OkStatus());
  EXPECT_THAT(writer->Append<int32_t>(1, values).message(), HasSubstr("has levels"));
  EXPECT_FALSE(writer->AppendLevels<int32_t>(0, std::vector<uint16_t>{0}, {}, values).ok());
  EXPECT_FALSE(writer->AppendLevels<int32_t>(0, {}, std::vector<uint16_t>{2, 0, 0}, values).ok());
  EXPECT_FALSE(writer->AppendLevels<int32_t>(0, {}, std::vector<uint16_t>{1, 0}, values).ok());
  EXPECT_FALSE(writer->AppendLevels<int32_t>(0, {}, {}, values).ok());
  writer = absl::AbortedError("dropped");

  writer = TableWriter::Create(directory.path("t"), Schema::OfRecords(schema));
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->AppendLevels<int32_t>(0, {}, std::vector<uint16_t>{1, 0, 1}, values).ok());
  ASSERT_TRUE(writer
                  ->AppendLevels<int32_t>(1, std::vector<uint16_t>{0, 1, 0, 0},
                                          std::vector<uint16_t>{1, 1, 0, 0}, values)
                  .ok());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto table = TableReader::Open(directory.path("t"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->schema(), Schema::OfRecords(schema));
  for (const size_t column : {0, 1}) {
    EXPECT_TRUE(table->VerifyColumn(0, column).ok());
    auto cursor = table->NewLevelCursor<int32_t>(column);
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    ASSERT_EQ(cursor->SeekToRecord(1), absl::OkStatus());
    const auto batch = cursor->Next(10);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(batch->num_records, 2u);
    EXPECT_THAT(batch->definition,
                column == 0 ? testing::ElementsAre(0, 1) : testing::ElementsAre(0, 0));
  }
}

}  // namespace cfile::record_table_test
