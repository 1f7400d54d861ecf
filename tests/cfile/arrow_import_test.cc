// Tests the import of Arrow streams into tables and columns. The tests build the streams by hand.
#include "cfile/arrow_import.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cfile/records.h"
#include "tests/cfile/arrow_building.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/record_testing.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::arrow_import_test {

using testing::AnyOf;
using testing::HasSubstr;
using Encoding = Shape::Encoding;

std::string Message(const absl::Status& status) { return std::string(status.ToString()); }

// The error of importing the schema of a stream.
std::string ErrorOf(const Shape& shape, const RecordLimits& limits = {}) {
  return Message(ImportArrowSchema(BuildSchema(shape)->c, limits).status());
}

Shape Struct(std::vector<Shape> children) {
  return {.format = "+s", .nullable = false, .children = std::move(children)};
}

std::vector<Json> RandomValues(const Shape& shape, size_t count, std::mt19937_64& random) {
  std::vector<Json> values;
  for (size_t i = 0; i < count; ++i) values.push_back(RandomArrowValue(shape, random));
  return values;
}

class ArrowImportTest : public testing::Test {
 protected:
  BuiltStream StreamOf(const Shape& shape, const std::vector<std::vector<Json>>& batches,
                       const BuildOptions& options = {}) {
    BuiltStream stream;
    stream.schema = BuildSchema(shape);
    for (const auto& values : batches)
      stream.arrays.push_back(BuildArray(shape, values, random_, options));
    return stream;
  }

  // Writes a table with the rows of the stream.
  absl::Status Write(BuiltStream stream, const Schema& schema) {
    storage_ = NewMemoryStorage();
    auto writer = TableWriter::Create(storage_, schema);
    EXPECT_TRUE(writer.ok()) << writer.status();
    if (!writer.ok()) return writer.status();
    ArrowArrayStream* const given = stream.Open();
    const absl::Status status = AppendArrow(*writer, given);
    EXPECT_EQ(given->release, nullptr);
    EXPECT_EQ(stream.given, stream.released);
    return status.ok() ? writer->Finish() : status;
  }
  absl::Status Write(BuiltStream stream) {
    const auto schema = ImportArrowSchema(stream.schema->c);
    if (!schema.ok()) return schema.status();
    return Write(std::move(stream), *schema);
  }

  std::vector<Json> Read(RecordSchema* schema = nullptr) {
    const auto table = TableReader::Open(storage_);
    EXPECT_TRUE(table.ok()) << table.status();
    if (!table.ok()) return {};
    auto reader = RecordReader::Open(*table);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) return {};
    if (schema != nullptr) *schema = reader->schema();
    JsonVisitor visitor(reader->schema());
    while (true) {
      const auto more = reader->Next(visitor);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return visitor.records;
    }
  }

  // Writes a table with the values. EXPECTs that a reader of the table returns the same values.
  void ExpectRoundTrip(const Shape& shape, const std::vector<std::vector<Json>>& batches) {
    BuiltStream stream = StreamOf(shape, batches);
    const absl::Status status = Write(std::move(stream));
    ASSERT_TRUE(status.ok()) << status;
    RecordSchema schema;
    const std::vector<Json> records = Read(&schema);
    size_t row = 0;
    for (const auto& values : batches) {
      for (const Json& value : values) {
        ASSERT_LT(row, records.size());
        ASSERT_EQ(records[row++], RecordOf(schema, 0, value)) << schema.ToString();
      }
    }
    EXPECT_EQ(row, records.size());
  }

  std::mt19937_64 random_{20};
  TemporaryDirectory directory_;
  std::shared_ptr<Storage> storage_;
};

const std::vector<std::string>& Formats() {
  static const std::vector<std::string> formats = absl::StrSplit(
      "b c C s S i I l L f g u U z Z vu vz w:3 w:16 d:9,2 d:9,2,32 d:12,0,64 d:38,5 d:30,2,256 "
      "tdD tdm tts ttm ttu ttn tss: tsm:UTC tsu:UTC tsn:Asia/Tokyo",
      ' ');
  return formats;
}

void SetRandomEncoding(Shape& shape, size_t depth, std::mt19937_64& random) {
  shape.encoding = static_cast<Encoding>(std::max<int>(0, int(random() % 6) - 3));
  // Below a list, a dictionary may have more values than an index of 8 bits can count.
  if (shape.encoding == Encoding::kDictionary)
    shape.index = "sSiIlLcC"[random() % (depth == 0 ? 8 : 6)];
  if (shape.encoding == Encoding::kRunEnds) shape.index = "sil"[random() % 3];
}

Shape RandomShape(std::mt19937_64& random, const std::string& name, size_t depth) {
  Shape shape{.name = name, .nullable = random() % 2 == 0};
  if (depth > 4 || random() % 2 == 0) {
    shape.format = Formats()[random() % Formats().size()];
  } else if (random() % 3 == 0) {
    shape.format = "+s";
    for (size_t i = 0; i < 1 + random() % 3; ++i)
      shape.children.push_back(RandomShape(random, absl::StrCat("f", i), depth + 1));
  } else if (random() % 5 == 0) {
    shape.format = "+m";
    Shape entries{.format = "+s", .name = "entries", .nullable = false};
    entries.children = {{.format = "u", .name = "key", .nullable = false},
                        RandomShape(random, "value", depth + 1)};
    shape.children.push_back(std::move(entries));
  } else {
    const char* const kLists[] = {"+l", "+L", "+w:2", "+w:0", "+vl", "+vL"};
    shape.format = kLists[random() % 6];
    shape.children.push_back(RandomShape(random, "item", depth + 1));
  }
  SetRandomEncoding(shape, depth, random);
  return shape;
}

TEST_F(ArrowImportTest, EachTypeInEachEncoding) {
  for (const std::string& format : Formats()) {
    for (const Encoding encoding : {Encoding::kPlain, Encoding::kDictionary, Encoding::kRunEnds}) {
      for (const bool nullable : {false, true}) {
        SCOPED_TRACE(absl::StrCat(format, " ", int(encoding), nullable));
        const Shape shape = Struct({{.format = format,
                                     .name = "v",
                                     .nullable = nullable,
                                     .encoding = encoding,
                                     .index = 's'}});
        ExpectRoundTrip(shape, {RandomValues(shape, 100, random_),
                                {},
                                RandomValues(shape, 1, random_),
                                RandomValues(shape, 77, random_)});
      }
    }
  }
}

TEST_F(ArrowImportTest, RandomNestedTypes) {
  for (int turn = 0; turn < 400; ++turn) {
    SCOPED_TRACE(turn);
    random_.seed(static_cast<uint64_t>(turn));
    std::vector<Shape> fields;
    for (size_t i = 0; i < 1 + random_() % 3; ++i)
      fields.push_back(RandomShape(random_, absl::StrCat("c", i), 0));
    const Shape shape = Struct(std::move(fields));
    ExpectRoundTrip(shape, {RandomValues(shape, random_() % 50, random_),
                            RandomValues(shape, random_() % 50, random_)});
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST_F(ArrowImportTest, ManyRowsInOneArray) {
  const Shape shape =
      Struct({{.format = "l", .name = "a"},
              {.format = "u", .name = "b", .encoding = Encoding::kRunEnds, .index = 'i'},
              {.format = "+l", .name = "c", .children = {{.format = "vu", .name = "item"}}},
              {.format = "+s", .name = "d", .children = {{.format = "b", .name = "e"}}}});
  ExpectRoundTrip(shape, {RandomValues(shape, 9'000, random_)});
}

// The arrays of the stream do not end where the parts of the table end.
TEST_F(ArrowImportTest, ColumnsOfTablesWithParts) {
  const auto write = [&](auto writer, const Shape& shape,
                         const std::vector<std::vector<Json>>& batches) {
    EXPECT_TRUE(writer.ok()) << writer.status();
    if (!writer.ok()) return writer.status();
    BuiltStream stream = StreamOf(shape, batches);
    const absl::Status status = AppendArrow(*writer, stream.Open());
    EXPECT_EQ(stream.given, stream.released);
    return status.ok() ? writer->Finish() : status;
  };
  const Shape first = Struct({{.format = "l", .name = "a"}, {.format = "u", .name = "b"}});
  const Shape others = Struct({{.format = "i", .name = "c", .encoding = Encoding::kRunEnds},
                               {.format = "vu", .name = "d", .nullable = false}});
  const std::vector<std::vector<Json>> parts = {RandomValues(first, 30, random_),
                                                RandomValues(first, 25, random_)};
  const std::vector<std::vector<Json>> values = {RandomValues(others, 7, random_),
                                                 RandomValues(others, 40, random_),
                                                 RandomValues(others, 8, random_)};
  ASSERT_TRUE(Write(StreamOf(first, {parts[0]})).ok());
  ASSERT_TRUE(write(TableWriter::Open(storage_), first, {parts[1]}).ok());
  const auto schema = ImportArrowSchema(BuildSchema(others)->c);
  ASSERT_TRUE(schema.ok()) << schema.status();

  EXPECT_THAT(Message(write(ColumnsWriter::Add(storage_, schema->columns), first, {parts[0]})),
              HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(
      Message(write(ColumnsWriter::Add(storage_, schema->columns), others, {values[0], values[1]})),
      HasSubstr("expected 55 rows, as many as the table has, found 47"));
  ASSERT_TRUE(write(ColumnsWriter::Add(storage_, schema->columns), others, values).ok());
  const std::vector<Json> numbers = RandomValues(Struct({first.children[0]}), 55, random_);
  auto replaced = ColumnsWriter::Replace(storage_, {"a"});
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  ASSERT_EQ(replaced->schema().columns.size(), 1);
  EXPECT_EQ(replaced->schema().columns[0].name, "a");
  ASSERT_TRUE(write(std::move(replaced), Struct({first.children[0]}), {numbers}).ok());

  std::vector<Json> expected;
  for (const auto& part : parts) expected.insert(expected.end(), part.begin(), part.end());
  size_t row = 0;
  for (const auto& batch : values) {
    for (const Json& value : batch) {
      expected[row]["a"] = numbers[row]["a"];
      expected[row]["c"] = value["c"];
      expected[row]["d"] = value["d"];
      ++row;
    }
  }
  RecordSchema tree;
  const std::vector<Json> read = Read(&tree);
  ASSERT_EQ(read.size(), expected.size());
  for (row = 0; row < read.size(); ++row) {
    ASSERT_EQ(read[row], RecordOf(tree, 0, expected[row])) << row;
  }
}

// A required column takes a nullable field that holds no null.
TEST_F(ArrowImportTest, NullInRequiredColumn) {
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kDictionary, Encoding::kRunEnds}) {
    const Shape shape = Struct({{.format = "i", .name = "v", .encoding = encoding}});
    const Schema required{.columns = {{.name = "v", .type = ColumnType::Int32()}}};
    EXPECT_TRUE(Write(StreamOf(shape, {{Json{{"v", 1}}, Json{{"v", 2}}}}), required).ok());
    EXPECT_THAT(Message(Write(StreamOf(shape, {{Json{{"v", 1}}, Json{{"v", Json()}}}}), required)),
                AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("v"), HasSubstr("null")));
  }
  // A record itself must not be null.
  BuiltStream rows = StreamOf(Struct({{.format = "i", .name = "v"}}),
                              {{Json{{"v", 1}}, Json{{"v", 2}}}}, {.slices = false});
  const uint8_t one = 1;
  rows.arrays[0]->buffer_pointers[0] = &one;
  rows.arrays[0]->c.null_count = -1;
  EXPECT_THAT(Message(Write(std::move(rows))),
              HasSubstr("the root of the Arrow schema: a row is null"));
}

TEST_F(ArrowImportTest, TypesThatWiden) {
  struct Case {
    std::string format;
    ColumnType target;
    bool good;
  };
  const ColumnType fixed = ColumnType::FixedBytes(16);
  const Case kCases[] = {
      {"c", ColumnType::Int16(), true},
      {"i", ColumnType::Int64(), true},
      {"i", ColumnType::Int128(), true},
      {"C", ColumnType::Int16(), true},
      {"S", ColumnType::Uint64(), true},
      {"L", ColumnType::Int128(), true},
      {"f", ColumnType::Double(), true},
      {"d:5,2", ColumnType::Decimal(9, 2), true},
      {"d:5,2", ColumnType::Decimal(38, 2), true},
      {"d:38,0", ColumnType::Int128(), true},
      {"d:9,0,256", {.data_type = DataType::kDecimal32}, true},
      {"u", ColumnType::Varchar(), true},
      {"vu", ColumnType::Binary(), true},
      {"w:16", ColumnType::Uuid(), true},
      {"w:3", ColumnType::Binary(), true},
      {"b", {.data_type = DataType::kIsDeleted}, true},
      {"i", ColumnType::Int16(), false},
      {"i", ColumnType::Uint64(), false},
      {"C", ColumnType::Int8(), false},
      {"I", ColumnType::Int32(), false},
      {"L", ColumnType::Int64(), false},
      {"i", ColumnType::Double(), false},
      {"i", ColumnType::Date(), false},
      {"i", ColumnType::Decimal(9, 0), false},
      {"l", ColumnType::Timestamp(TimeUnit::kMicros), false},
      {"g", ColumnType::Float(), false},
      {"d:10,2", ColumnType::Decimal(9, 2), false},
      {"d:5,2", ColumnType::Decimal(9, 3), false},
      {"z", ColumnType::String(), false},
      {"w:3", fixed, false},
      {"tdD", ColumnType::Int32(), false},
      {"ttm", ColumnType::Time(TimeUnit::kSeconds), false},
      {"tsu:UTC", ColumnType::Timestamp(TimeUnit::kMillis), false},
      {"tsu:UTC", ColumnType::Timestamp(TimeUnit::kMicros, "Asia/Tokyo"), false},
      {"tsu:", ColumnType::Int96(), false},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(absl::StrCat(c.format, " to ", c.target.ToString()));
    const Shape shape = Struct({{.format = c.format, .name = "v"}});
    std::vector<Json> values = RandomValues(shape, 50, random_);
    BuiltStream stream = StreamOf(shape, {values});
    const Schema schema{.columns = {{.name = "v", .type = c.target, .nullable = true}}};
    const absl::Status status = Write(std::move(stream), schema);
    if (!c.good) {
      EXPECT_THAT(Message(status),
                  AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("v: its values")));
      continue;
    }
    ASSERT_TRUE(status.ok()) << status;
    const std::vector<Json> records = Read();
    for (size_t i = 0; i < values.size(); ++i) {
      Json expected = values[i]["v"];
      if (!expected.is_null() && c.target.physical() == PhysicalType::kInt128 &&
          !expected.is_string()) {
        expected = ValueToJson(expected.is_number_unsigned()
                                   ? static_cast<int128_t>(expected.get<uint64_t>())
                                   : static_cast<int128_t>(expected.get<int64_t>()));
      }
      EXPECT_EQ(records[i].value("v", Json()), expected);
    }
  }
}

TEST_F(ArrowImportTest, Int96FromNanoseconds) {
  const Shape shape = Struct({{.format = "tsn:", .name = "v", .nullable = false}});
  BuiltStream stream = StreamOf(shape, {{Json{{"v", -1}}, Json{{"v", 86'400'000'000'001}}}});
  const Schema schema{.columns = {{.name = "v", .type = ColumnType::Int96()}}};
  ASSERT_TRUE(Write(std::move(stream), schema).ok());
  const auto table = TableReader::Open(storage_);
  auto cursor = table->NewCursor<Int96>(0);
  const auto batch = cursor->Next(10);
  const auto wide = [](uint64_t of_day, uint32_t day) {
    return Int96(uint128_t{day} << 64 | of_day);
  };
  EXPECT_EQ(batch->values[0], wide(86'399'999'999'999, 2'440'587));
  EXPECT_EQ(batch->values[1], wide(1, 2'440'589));
}

TEST_F(ArrowImportTest, ValuesThatDoNotFit) {
  const Shape date = Struct({{.format = "tdm", .name = "v"}});
  BuiltStream days = StreamOf(date, {{Json{{"v", 1}}}}, {.slices = false});
  days.arrays[0]->children[0]->buffers[1][0] ^= 1;
  EXPECT_THAT(Message(Write(std::move(days))), HasSubstr("field v: milliseconds of a date"));
  const Shape decimal = Struct({{.format = "d:9,2", .name = "v"}});
  BuiltStream wide = StreamOf(decimal, {{Json{{"v", 1}}}}, {.slices = false});
  wide.arrays[0]->children[0]->buffers[1][9] ^= 1;
  EXPECT_THAT(Message(Write(std::move(wide))), HasSubstr("field v: a decimal does not fit"));
}

TEST_F(ArrowImportTest, ColumnsByName) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int32(), .nullable = true},
                                  {.name = "b", .type = ColumnType::String(), .nullable = true}}};
  const Shape b{.format = "u", .name = "b"}, a{.format = "i", .name = "a"};
  ASSERT_TRUE(Write(StreamOf(Struct({b, a}), {{Json{{"a", 1}, {"b", "x"}}}}), schema).ok());
  EXPECT_EQ(Read()[0], (Json{{"a", 1}, {"b", "x"}}));
  EXPECT_THAT(Message(Write(StreamOf(Struct({a}), {}), schema)), HasSubstr("no field b"));
  EXPECT_THAT(
      Message(Write(StreamOf(Struct({a, b, {.format = "i", .name = "other"}}), {}), schema)),
      HasSubstr("field other has no column"));
  EXPECT_THAT(Message(Write(StreamOf(Struct({a, b, a}), {}), schema)),
              HasSubstr("field a occurs twice"));
  EXPECT_THAT(Message(Write(StreamOf({.format = "i", .name = "a"}, {}), schema)),
              HasSubstr("must be structs"));
  EXPECT_THAT(
      Message(
          Write(StreamOf(Struct({{.format = "+l", .name = "a", .children = {a}}, b}), {}), schema)),
      HasSubstr("field a: the column a needs values"));
}

// A nullable column of any type takes a field of the type null. All its rows become null.
TEST_F(ArrowImportTest, NullType) {
  const Shape shape = Struct({{.format = "n", .name = "a"}, {.format = "n", .name = "b"}});
  EXPECT_THAT(Message(Write(StreamOf(shape, {}))),
              AllOf(HasSubstr("UNIMPLEMENTED"), HasSubstr("field a")));
  const auto tree = RecordSchema::Parse(
      "message m { optional int32 a; optional group b (LIST) { repeated group list { required "
      "group "
      "element { required int32 x; optional binary y; } } } }");
  ASSERT_TRUE(
      Write(StreamOf(shape, {RandomValues(shape, 10, random_)}), Schema::OfRecords(*tree)).ok());
  EXPECT_EQ(Read(), std::vector<Json>(10, Json::object()));
}

TEST_F(ArrowImportTest, RepeatedNodesAndOlderLists) {
  const auto tree = RecordSchema::Parse(
      "message m { repeated int32 a; optional group b (LIST) { repeated int32 array; } "
      "repeated group c { optional int32 x; } }");
  const Shape item{.format = "i", .name = "item"};
  const Shape shape =
      Struct({{.format = "+l", .name = "a", .children = {item}},
              {.format = "+L", .name = "b", .children = {item}},
              {.format = "+w:1",
               .name = "c",
               .children = {
                   {.format = "+s", .name = "item", .children = {{.format = "i", .name = "x"}}}}}});
  BuiltStream stream = StreamOf(
      shape, {{Json{{"a", {1, 2}}, {"b", Json()}, {"c", Json::array({Json{{"x", Json()}}})}},
               Json{{"a", Json::array()}, {"b", {5}}, {"c", Json::array({Json{{"x", 7}}})}}}});
  const absl::Status status = Write(std::move(stream), Schema::OfRecords(*tree));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Read()[0], (Json{{"a", {1, 2}}, {"c", Json::array({Json::object()})}}));
  EXPECT_EQ(Read()[1], (Json{{"b", {{"array", {5}}}}, {"c", Json::array({Json{{"x", 7}}})}}));
}

TEST_F(ArrowImportTest, SingleColumns) {
  for (const bool in_struct : {false, true}) {
    const Shape column{.format = "i", .name = "v", .encoding = Encoding::kDictionary};
    const std::vector<Json> values = {1, Json(), 3};
    BuiltStream stream =
        in_struct
            ? StreamOf(Struct({column}), {{Json{{"v", 1}}, Json{{"v", Json()}}, Json{{"v", 3}}}})
            : StreamOf(column, {values});
    const std::string path = directory_.path("column");
    auto writer = Writer<int64_t>::Create(path, ColumnType::Int64(), {.nullable = true});
    ASSERT_TRUE(AppendArrow(*writer, stream.Open()).ok());
    EXPECT_EQ(stream.given, stream.released);
    ASSERT_TRUE(writer->Finish().ok());
    const auto reader = Reader::Open(path);
    auto cursor = reader->NewCursor<int64_t>();
    const auto batch = cursor->Next(10);
    ASSERT_EQ(batch->size(), 3u);
    EXPECT_EQ(batch->values[0], 1);
    EXPECT_FALSE(batch->IsValid(1));
    EXPECT_EQ(batch->values[2], 3);
  }
  const std::string path = directory_.path("wrong");
  auto writer = Writer<int64_t>::Create(path, ColumnType::Timestamp(TimeUnit::kNanos));
  BuiltStream wrong = StreamOf({.format = "l", .name = "v"}, {});
  EXPECT_THAT(Message(AppendArrow(*writer, wrong.Open())),
              HasSubstr("the root of the Arrow schema: its values"));
}

TEST_F(ArrowImportTest, ColumnsWithLevels) {
  const Shape list{.format = "+l", .name = "v", .children = {{.format = "s", .name = "item"}}};
  const std::vector<Json> values = {Json::array({1, 2}), Json::array(), Json(),
                                    Json::array({Json(), 3})};
  const LevelLimits kLimits[] = {{1, 3}, LevelLimits::KuduArray(true)};
  for (const LevelLimits& limits : kLimits) {
    BuiltStream stream = StreamOf(list, {values});
    const std::string path = directory_.path("levels");
    auto writer = LevelWriter<int16_t>::Create(path, ColumnType::Int16(), limits);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const absl::Status status = AppendArrow(*writer, stream.Open());
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(writer->Finish().ok());
    const auto reader = Reader::Open(path);
    auto cursor = reader->NewLevelCursor<int16_t>();
    const auto batch = cursor->Next(10);
    EXPECT_THAT(batch->repetition, testing::ElementsAre(0, 1, 0, 0, 0, 1));
    EXPECT_THAT(batch->definition, testing::ElementsAre(3, 3, 1, 0, 2, 3));
    EXPECT_THAT(batch->values, testing::ElementsAre(1, 2, 3));
  }
  auto flat = LevelWriter<int16_t>::Create(directory_.path("flat"), ColumnType::Int16(), {0, 1});
  BuiltStream stream = StreamOf({.format = "s", .name = "v"}, {{1, Json()}});
  EXPECT_TRUE(AppendArrow(*flat, stream.Open()).ok());
  auto many = LevelWriter<int16_t>::Create(directory_.path("many"), ColumnType::Int16(), {1, 4});
  BuiltStream levels = StreamOf(list, {});
  EXPECT_THAT(Message(AppendArrow(*many, levels.Open())), HasSubstr("UNIMPLEMENTED"));
  EXPECT_EQ(levels.given, levels.released);
}

TEST_F(ArrowImportTest, TypesAndKeysFromMetadata) {
  Shape a{.format = "d:38,0", .name = "a", .metadata = {{"other", ""}, {"cfile.type", "int128"}}};
  Shape b{
      .format = "u",
      .name = "b",
      .metadata = {{"cfile.type", "varchar"}, {"cfile.key", "1"}, {"cfile.nulls_last", "true"}}};
  Shape c{.format = "l",
          .name = "c",
          .nullable = false,
          .metadata = {{"cfile.type", "string"}, {"cfile.key", "0"}}};
  Shape d{.format = "w:16", .name = "d", .metadata = {{"ARROW:extension:name", "arrow.uuid"}}};
  Shape e{.format = "i", .name = "e", .metadata = {{"cfile.key", "3"}}};
  const auto schema = ImportArrowSchema(BuildSchema(Struct({a, b, c, d, e}))->c);
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_FALSE(schema->tree.has_value());
  EXPECT_EQ(schema->columns[0].type, ColumnType::Int128());
  EXPECT_EQ(schema->columns[1].type, ColumnType::Varchar());
  EXPECT_EQ(schema->columns[2].type, ColumnType::Int64());
  EXPECT_EQ(schema->columns[3].type, ColumnType::Uuid());
  EXPECT_FALSE(schema->columns[2].nullable);
  EXPECT_THAT(schema->key_columns, testing::ElementsAre(2, 1));
  EXPECT_THAT(schema->nulls_last, testing::ElementsAre(1));
  e.metadata[0].second = "x";
  EXPECT_THAT(ErrorOf(Struct({a, e})), HasSubstr("field e: its position"));
  e.metadata[0].second = "0";
  EXPECT_THAT(ErrorOf(Struct({c, e})), HasSubstr("field e: its position"));
}

TEST_F(ArrowImportTest, TypesWithoutColumn) {
  for (const char* format :
       {"e", "tDs", "tiM", "+ud:0,1", "+us:", "w:0", "d:39,0", "d:76,3,256", "d:5,-1", "d:5,6"}) {
    EXPECT_THAT(ErrorOf(Struct({{.format = format, .name = "v"}})),
                AllOf(HasSubstr("UNIMPLEMENTED"), HasSubstr("field v: no column")))
        << format;
  }
  for (const char* format :
       {"",      "x",     "tsu",         "ts",       "t",  "tdX",  "ttx",           "d:",   "d:5",
        "d:5,",  "d:0,0", "d:5,2,128,1", "d:5,2,17", "w:", "w:-1", "w:99999999999", "w:3x", "+",
        "+w:-1", "+x",    "v",           "vx",       "+v", "uu",   "\xff\xff"}) {
    EXPECT_THAT(ErrorOf(Struct({{.format = format, .name = "v"}})),
                AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("field v: ")))
        << format;
  }
  EXPECT_THAT(ErrorOf(Struct({{.format = "+s", .name = "v"}})), HasSubstr("field v: no column"));
  EXPECT_FALSE(ImportArrowSchema(BuildSchema(Struct({}))->c).ok());
  EXPECT_FALSE(ImportArrowSchema(BuildSchema({.format = "i"})->c).ok());
}

Shape DeepShape(size_t depth) {
  Shape shape{.format = "i", .name = "v"};
  for (size_t i = 1; i < depth; ++i) shape = {.format = "+s", .name = "v", .children = {shape}};
  return Struct({shape});
}

TEST_F(ArrowImportTest, Limits) {
  EXPECT_TRUE(ImportArrowSchema(BuildSchema(DeepShape(64))->c).ok());
  EXPECT_THAT(ErrorOf(DeepShape(65)),
              AllOf(HasSubstr("OUT_OF_RANGE"), HasSubstr("raise max_depth")));
  EXPECT_TRUE(ImportArrowSchema(BuildSchema(DeepShape(65))->c, {.max_depth = 65}).ok());
  EXPECT_THAT(ErrorOf(Struct({{.format = "i", .name = "a"}, {.format = "i", .name = "b"}}),
                      {.max_nodes = 2}),
              AllOf(HasSubstr("OUT_OF_RANGE"), HasSubstr("field b"), HasSubstr("max_nodes")));
  // This field contains itself.
  const auto cycle = BuildSchema(DeepShape(3));
  ArrowSchema* const around[] = {cycle->c.children[0], cycle->c.children[0]};
  cycle->children[0]->c.children = const_cast<ArrowSchema**>(around);
  cycle->children[0]->c.n_children = 2;
  EXPECT_THAT(Message(ImportArrowSchema(cycle->c).status()), HasSubstr("OUT_OF_RANGE"));
  // A stream for a table of one column may not have any number of fields.
  BuiltStream wide = StreamOf(Struct({{.format = "i", .name = "a"}}), {});
  std::vector<ArrowSchema*> many(100'001, wide.schema->c.children[0]);
  wide.schema->c.children = many.data();
  wide.schema->c.n_children = static_cast<int64_t>(many.size());
  EXPECT_THAT(Message(Write(std::move(wide),
                            Schema{.columns = {{.name = "a", .type = ColumnType::Int32()}}})),
              AllOf(HasSubstr("OUT_OF_RANGE"), HasSubstr("more fields")));
}

// An array can stand for more values than its buffers hold.
// This is so if lists share their elements, and if one run stands for many values.
TEST_F(ArrowImportTest, ManyEntriesFromFewBytes) {
  const Shape runs{.format = "b", .name = "item", .encoding = Encoding::kRunEnds, .index = 'l'};
  const Shape fixed = Struct({{.format = "+w:1", .name = "v", .children = {runs}}});
  BuiltStream stream = StreamOf(fixed, {{Json{{"v", {true}}}}}, {.slices = false});
  stream.schema->children[0]->c.format = "+w:2000000000";
  BuiltArray& item = *stream.arrays[0]->children[0]->children[0];
  item.c.length = 2'000'000'000;
  const int64_t end = 2'000'000'000;
  item.children[0]->buffer_pointers[1] = &end;
  EXPECT_THAT(Message(Write(std::move(stream))),
              AllOf(HasSubstr("OUT_OF_RANGE"), HasSubstr("rows 0 to 0"), HasSubstr("field v")));

  const Shape views = Struct({{.format = "+vl",
                               .name = "v",
                               .nullable = false,
                               .children = {{.format = "c", .name = "item", .nullable = false}}}});
  Json list = Json::array();
  for (int i = 0; i < 1000; ++i) list.push_back(1);
  std::vector<Json> rows(3000, Json{{"v", Json::array()}});
  rows[0]["v"] = list;
  BuiltStream shared = StreamOf(views, {rows}, {.slices = false});
  auto& sizes = shared.arrays[0]->children[0]->buffers[2];
  auto& offsets = shared.arrays[0]->children[0]->buffers[1];
  for (size_t i = 1; i < 3000; ++i) {
    std::memcpy(&sizes[4 * i], &sizes[0], 4);
    std::memcpy(&offsets[4 * i], &offsets[0], 4);
  }
  const absl::Status status = Write(std::move(shared));
  ASSERT_TRUE(status.ok()) << status;
  const auto table = TableReader::Open(storage_);
  auto cursor = table->NewLevelCursor<int8_t>(0);
  size_t entries = 0;
  for (const auto& batch : cursor->Batches()) entries += batch->values.size();
  EXPECT_EQ(entries, 3'000'000u);
  EXPECT_EQ(cursor->record(), 3000u);
}

TEST_F(ArrowImportTest, EmptyArraysWithoutBuffers) {
  std::vector<Shape> fields;
  for (const std::string& format : Formats()) fields.push_back({.format = format, .name = format});
  for (const char* format : {"+l", "+L", "+w:2", "+vl", "+vL"}) {
    fields.push_back(
        {.format = format, .name = format, .children = {{.format = "u", .name = "i"}}});
  }
  fields.push_back({.format = "i", .name = "dictionary", .encoding = Encoding::kDictionary});
  fields.push_back({.format = "i", .name = "runs", .encoding = Encoding::kRunEnds});
  BuiltStream stream = StreamOf(Struct(fields), {{}}, {.slices = false, .garbage = false});
  const auto clear = [](auto& self, BuiltArray& array) -> void {
    // The last buffer of a view array has the sizes of its data buffers. This buffer stays.
    for (size_t i = 0; i < array.buffers.size() && array.buffers.size() < 4; ++i)
      array.buffer_pointers[i] = nullptr;
    for (auto& child : array.children) self(self, *child);
    if (array.dictionary != nullptr) self(self, *array.dictionary);
  };
  clear(clear, *stream.arrays[0]);
  const absl::Status status = Write(std::move(stream));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(ArrowImportTest, StreamsWithErrors) {
  const Shape shape = Struct({{.format = "i", .name = "v"}});
  BuiltStream schema_fails = StreamOf(shape, {});
  schema_fails.schema_error = ENOMEM;
  const Schema schema = *ImportArrowSchema(schema_fails.schema->c);
  EXPECT_THAT(Message(Write(std::move(schema_fails), schema)),
              AllOf(HasSubstr("get_schema"), HasSubstr("the stream's own text")));
  BuiltStream next_fails = StreamOf(shape, {{Json{{"v", 1}}}});
  next_fails.next_error = EINVAL;
  const absl::Status status = Write(std::move(next_fails), schema);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("get_next"), HasSubstr("the stream's own text")));
  BuiltStream silent = StreamOf(shape, {});
  silent.next_error = EIO;
  silent.error_text = nullptr;
  EXPECT_THAT(Message(Write(std::move(silent), schema)), HasSubstr("get_next failed"));

  auto writer = TableWriter::Create(NewMemoryStorage(), schema);
  ArrowArrayStream released{};
  EXPECT_THAT(Message(AppendArrow(*writer, &released)), HasSubstr("released"));
  for (const bool which : {false, true}) {
    BuiltStream stream = StreamOf(shape, {});
    ArrowArrayStream* const given = stream.Open();
    if (which) {
      given->get_next = nullptr;
    } else {
      given->get_schema = nullptr;
    }
    EXPECT_THAT(Message(AppendArrow(*writer, given)), HasSubstr("null"));
    EXPECT_EQ(stream.given, stream.released);
  }
}

// Returns the type of a stream that has each kind of array.
Shape AllKinds() {
  const Shape item{.format = "u", .name = "item"};
  Shape entries{.format = "+s", .name = "entries", .nullable = false};
  entries.children = {{.format = "u", .name = "key", .nullable = false},
                      {.format = "i", .name = "value"}};
  return Struct(
      {{.format = "b", .name = "bits"},
       {.format = "l", .name = "numbers"},
       {.format = "d:9,2,256", .name = "decimals"},
       {.format = "w:3", .name = "fixed"},
       {.format = "u", .name = "strings"},
       {.format = "U", .name = "large"},
       {.format = "vu", .name = "views"},
       {.format = "+l", .name = "list", .children = {item}},
       {.format = "+L", .name = "large_list", .children = {item}},
       {.format = "+w:2", .name = "fixed_list", .children = {item}},
       {.format = "+vl", .name = "list_views", .children = {item}},
       {.format = "+m", .name = "map", .children = {entries}},
       {.format = "+s", .name = "group", .children = {item}},
       {.format = "u", .name = "dictionary", .encoding = Encoding::kDictionary, .index = 'c'},
       {.format = "u", .name = "runs", .encoding = Encoding::kRunEnds, .index = 'i'}});
}

// Each test case changes one thing in a stream of the type AllKinds. The error names the field.
TEST_F(ArrowImportTest, MalformedArrays) {
  struct Case {
    std::string field;
    std::function<void(BuiltArray&)> change;
  };
  const auto put = [](size_t buffer, size_t at, auto value) {
    return [=](BuiltArray& a) {
      std::memcpy(a.buffers[buffer].data() + at * sizeof(value), &value, sizeof(value));
    };
  };
  std::vector<Case> cases;
  std::vector<std::string> names;
  for (const Shape& field : AllKinds().children) names.push_back(field.name);
  for (const std::string& name : names) {
    for (const int64_t wrong : {int64_t{-1}, INT64_MIN, INT64_MAX, INT64_MAX - 20}) {
      cases.push_back({name, [=](BuiltArray& a) { a.c.length = wrong; }});
      cases.push_back({name, [=](BuiltArray& a) { a.c.offset = wrong; }});
    }
    for (const int64_t wrong : {int64_t{-2}, int64_t{21}, INT64_MIN, INT64_MAX})
      cases.push_back({name, [=](BuiltArray& a) { a.c.null_count = wrong; }});
    for (const int64_t wrong : {-1, 0, 1, 2, 3, 4}) {
      cases.push_back({name, [=](BuiltArray& a) {
                         a.c.n_buffers = a.c.n_buffers == wrong ? 7 - 9 * (wrong / 3) : wrong;
                       }});
      cases.push_back(
          {name, [=](BuiltArray& a) { a.c.n_children = a.c.n_children == wrong ? 5 : wrong; }});
    }
    cases.push_back({name, [](BuiltArray& a) {
                       (a.c.n_buffers > 0 ? (void)(a.c.buffers = nullptr)
                                          : (void)(a.c.children = nullptr));
                     }});
    cases.push_back({name, [](BuiltArray& a) { a.c.release = nullptr; }});
    cases.push_back(
        {name, [](BuiltArray& a) { a.c.dictionary = a.c.dictionary == nullptr ? &a.c : nullptr; }});
    cases.push_back({name, [](BuiltArray& a) {
                       if (a.c.n_buffers == 0) a.c.length = -1;
                       if (a.c.n_buffers > 0) a.buffer_pointers[0] = nullptr;
                       if (a.c.n_buffers > 0) a.c.null_count = 1;
                     }});
    cases.push_back({name, [](BuiltArray& a) {
                       if (a.pointers.empty()) a.c.length = -1;
                       if (!a.pointers.empty()) a.pointers[0] = nullptr;
                     }});
    cases.push_back({name, [](BuiltArray& a) {
                       if (a.buffers.size() > 1) a.buffer_pointers[1] = nullptr;
                       if (a.buffers.size() <= 1) a.children[0]->c.length = 1;
                       if (a.buffers.empty()) a.c.n_children = 1;
                     }});
  }
  cases.push_back({"strings", put(1, 0, int32_t{-1})});
  cases.push_back({"strings", put(1, 20, int32_t{-1})});
  cases.push_back({"strings", put(1, 10, INT32_MAX)});
  cases.push_back({"strings", put(1, 10, int32_t{0})});
  cases.push_back({"strings", [](BuiltArray& a) { a.buffer_pointers[2] = nullptr; }});
  cases.push_back({"large", put(1, 0, int64_t{-1})});
  cases.push_back({"large", put(1, 10, INT64_MAX)});
  cases.push_back({"views", put(1, 4 * 4, int32_t{-1})});
  cases.push_back({"views", put(1, 4 * 4, INT32_MAX)});
  for (const int32_t wrong : {-1, 2, INT32_MAX, INT32_MIN})
    cases.push_back({"views", put(1, 4 * 4 + 2, wrong)});
  for (const int32_t wrong : {-1, 1000, INT32_MAX, INT32_MIN})
    cases.push_back({"views", put(1, 4 * 4 + 3, wrong)});
  cases.push_back({"views", put(4, 0, int64_t{0})});
  cases.push_back({"views", put(4, 1, int64_t{-1})});
  cases.push_back({"views", [](BuiltArray& a) { a.buffer_pointers[2] = nullptr; }});
  cases.push_back({"views", [](BuiltArray& a) { a.buffer_pointers[4] = nullptr; }});
  for (const int32_t wrong : {-1, INT32_MIN, INT32_MAX}) {
    cases.push_back({"list", put(1, 5, wrong)});
    cases.push_back({"map", put(1, 5, wrong)});
    cases.push_back({"list_views", put(1, 5, wrong)});
    cases.push_back({"list_views", put(2, 5, wrong)});
  }
  cases.push_back({"list", put(1, 20, int32_t{1000})});
  cases.push_back({"large_list", put(1, 5, INT64_MAX)});
  cases.push_back({"large_list", put(1, 5, INT64_MIN)});
  cases.push_back({"dictionary", put(1, 7, int8_t{-1})});
  cases.push_back({"dictionary", put(1, 7, int8_t{100})});
  const auto change_ends = [&](size_t at, int32_t value) {
    return [=](BuiltArray& a) { put(1, at, value)(*a.children[0]); };
  };
  cases.push_back({"runs", change_ends(0, 0)});
  cases.push_back({"runs", change_ends(0, -1)});
  cases.push_back({"runs", change_ends(1, 1)});
  cases.push_back({"runs", [](BuiltArray& a) { a.children[0]->c.length = 1; }});
  cases.push_back({"runs", [](BuiltArray& a) { a.children[1]->c.length = 1; }});
  cases.push_back({"group", [](BuiltArray& a) { a.children[0]->c.length = 19; }});
  cases.push_back({"fixed_list", [](BuiltArray& a) { a.children[0]->c.length = 39; }});

  const Shape shape = AllKinds();
  Json value;
  for (const Shape& field : shape.children) value[field.name] = "a string of 25 characters";
  value["bits"] = true;
  value["numbers"] = value["decimals"] = 1;
  value["fixed"] = "abc";
  for (const char* name : {"list", "large_list", "fixed_list", "list_views"})
    value[name] = {"a", "b"};
  value["map"] = Json::array({Json{{"key", "a"}, {"value", 1}}});
  value["group"] = {{"item", "a"}};
  Json other = value;
  other["runs"] = "other";
  std::vector<Json> values(20, value);
  values[3] = other;
  const Schema schema = *ImportArrowSchema(BuildSchema(shape)->c);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(absl::StrCat(cases[i].field, " ", i));
    const size_t column =
        size_t(std::find(names.begin(), names.end(), cases[i].field) - names.begin());
    BuiltStream stream = StreamOf(shape, {values}, {.slices = false});
    cases[i].change(*stream.arrays[0]->children[column]);
    EXPECT_THAT(Message(Write(std::move(stream), schema)),
                AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr(cases[i].field)));
  }
  for (const std::function<void(BuiltArray&)>& change :
       std::vector<std::function<void(BuiltArray&)>>{
           [](BuiltArray& a) { a.c.length = -1; }, [](BuiltArray& a) { a.c.n_children = 3; },
           [](BuiltArray& a) { a.c.children = nullptr; }, [](BuiltArray& a) { a.c.length = 21; },
           [](BuiltArray& a) { a.pointers[2] = nullptr; }}) {
    BuiltStream stream = StreamOf(shape, {values}, {.slices = false});
    change(*stream.arrays[0]);
    EXPECT_EQ(Write(std::move(stream), schema).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ArrowImportTest, MalformedSchemas) {
  const Shape u{.format = "u", .name = "item"};
  const Shape list{.format = "+l", .name = "v", .children = {u}};
  const auto expect = [](const Shape& shape, const std::function<void(BuiltSchema&)>& change) {
    const auto schema = BuildSchema(Struct({shape}));
    change(*schema->children[0]);
    EXPECT_THAT(Message(ImportArrowSchema(schema->c).status()),
                AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("field v")));
  };
  expect(list, [](BuiltSchema& s) { s.c.n_children = -1; });
  expect(list, [](BuiltSchema& s) { s.c.n_children = 0; });
  expect(list, [](BuiltSchema& s) { s.c.children = nullptr; });
  expect(list, [](BuiltSchema& s) { s.pointers[0] = nullptr; });
  expect(list, [](BuiltSchema& s) { s.c.format = nullptr; });
  expect(list, [](BuiltSchema& s) { s.c.release = nullptr; });
  expect(list, [](BuiltSchema& s) { s.c.format = "u"; });
  expect(list, [](BuiltSchema& s) { s.c.format = "+m"; });
  expect(list, [](BuiltSchema& s) { s.c.format = "+r"; });
  const Shape dictionary{.format = "u", .name = "v", .encoding = Encoding::kDictionary};
  for (const char* format : {"u", "f", "tdD", "b", "+s", "tsu:", "tsu:UTC", "tts", "d:5,2"})
    expect(dictionary, [=](BuiltSchema& s) { s.c.format = format; });
  expect(dictionary, [](BuiltSchema& s) { s.dictionary->c.format = nullptr; });
  const Shape runs{.format = "u", .name = "v", .encoding = Encoding::kRunEnds};
  for (const char* format : {"u", "I", "c", "g", "tts"})
    expect(runs, [=](BuiltSchema& s) { s.children[0]->c.format = format; });
  expect(runs, [](BuiltSchema& s) { s.c.n_children = 1; });
  Shape metadata{.format = "u", .name = "v", .metadata = {{"key", "value"}}};
  for (const size_t at : {0, 4, 11}) {
    expect(metadata, [=](BuiltSchema& s) { std::memset(s.metadata.data() + at, 0xff, 4); });
  }
  // The library needs a name for each column.
  EXPECT_FALSE(ImportArrowSchema(BuildSchema(Struct({{.format = "u", .name = ""}}))->c).ok());
  EXPECT_FALSE(ImportArrowSchema(BuildSchema(Struct({u, u}))->c).ok());
  const auto unnamed = BuildSchema(Struct({{.format = "+l", .name = "v", .children = {u}}}));
  unnamed->children[0]->children[0]->c.name = nullptr;
  unnamed->c.name = nullptr;
  EXPECT_TRUE(ImportArrowSchema(unnamed->c).ok());
}

// Makes random changes of numbers that the library checks.
// No call crashes, and no call reads outside of the buffers.
TEST_F(ArrowImportTest, RandomChanges) {
  size_t refused = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    SCOPED_TRACE(turn);
    random_.seed(static_cast<uint64_t>(turn));
    const Shape shape = turn % 2 == 0 ? AllKinds() : Struct({RandomShape(random_, "v", 0)});
    BuiltStream stream = StreamOf(shape, {RandomValues(shape, 20, random_)});
    const Schema schema = *ImportArrowSchema(stream.schema->c);
    const auto wrong_number = [&](int64_t now) -> int64_t {
      const int64_t numbers[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 2, now == 0 ? 0 : now - 1};
      return numbers[random_() % 5];
    };
    const auto change = [&](auto& self, const BuiltSchema& type, BuiltArray& array) -> void {
      if (random_() % 8 == 0) {
        ArrowArray& c = array.c;
        const size_t size = array.buffers.size();
        // Changes only buffers of which the library checks each byte.
        // The library does not check the last offset of strings.
        std::vector<uint8_t>* checked = nullptr;
        if (type.c.dictionary != nullptr || type.format == "+l" || type.format == "+L" ||
            type.format == "vu" || type.format == "vz" || type.format.starts_with("+v")) {
          checked = &array.buffers[1];
        }
        int64_t* const counts[] = {&c.length, &c.offset, &c.null_count, &c.n_children,
                                   &c.n_buffers};
        const size_t what = random_() % 8;
        if (what < 4 || (what == 4 && size <= 3)) {
          *counts[what] = wrong_number(*counts[what]);
        } else if (what == 4) {
          c.n_buffers = -1;  // a positive number of buffers of a view array is not checked
        } else if (what == 5) {
          if (size > 0) array.buffer_pointers[random_() % size] = nullptr;
        } else if (checked != nullptr && !checked->empty()) {
          (*checked)[random_() % checked->size()] = static_cast<uint8_t>(random_());
        }
      }
      for (size_t i = 0; i < array.children.size(); ++i)
        self(self, *type.children[i], *array.children[i]);
      if (array.dictionary != nullptr) self(self, *type.dictionary, *array.dictionary);
    };
    change(change, *stream.schema, *stream.arrays[0]);
    refused += !Write(std::move(stream), schema).ok();
  }
  EXPECT_GT(refused, 500u);
}

}  // namespace cfile::arrow_import_test
