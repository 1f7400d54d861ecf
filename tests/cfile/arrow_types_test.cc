// Types of Arrow that no column has (StoreArrowTypes, RestoreArrowTypes), with a schema of Arrow
// that says anything. tests/python compares what comes back with pyarrow.
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cfile/arrow.h"
#include "cfile/arrow_import.h"
#include "cfile/parts/arrow/schema/ipc_fields.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/arrow_building.h"
#include "tests/cfile/arrow_testing.h"

namespace cfile::arrow_types_test {

using internal::ArrowField;
using internal::ParseArrowSchema;
using internal::WriteArrowSchema;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kRows = 3;

// A stream of one batch: numbers, floats, strings that are null, and lists of two numbers.
BuiltStream Rows() {
  const Shape shape{
      .format = "+s",
      .nullable = false,
      .children = {
          {.format = "l", .name = "n"},
          {.format = "f", .name = "x"},
          {.format = "u", .name = "s"},
          {.format = "+l", .name = "l", .children = {{.format = "i", .name = "element"}}}}};
  std::mt19937_64 random(1);
  BuiltStream rows;
  rows.schema = BuildSchema(shape);
  rows.arrays.push_back(
      BuildArray(shape,
                 {{{"n", 1}, {"x", 0.5}, {"s", nullptr}, {"l", {1, nullptr}}},
                  {{"n", nullptr}, {"x", nullptr}, {"s", nullptr}, {"l", nullptr}},
                  {{"n", 3}, {"x", 1.5}, {"s", nullptr}, {"l", {5, 6}}}},
                 random, {.slices = false}));
  return rows;
}

TableReader TableOfRows() {
  BuiltStream rows = Rows();
  const auto storage = NewMemoryStorage();
  auto writer = TableWriter::Create(storage, ImportArrowSchema(rows.schema->c).value()).value();
  EXPECT_TRUE(AppendArrow(writer, rows.Open()).ok());
  EXPECT_TRUE(writer.Finish().ok());
  return TableReader::Open(storage).value();
}

// The formats of the fields and of their children, and the number of rows or the error of the
// stream whose fields `described` describes. Reads all values.
struct Restored {
  std::vector<std::string> formats;
  std::vector<std::vector<std::pair<std::string, std::string>>> metadata;
  size_t rows = 0;
  std::string error;
};

void AddFormats(const ArrowSchema& schema, std::string& text) {
  text += schema.format;
  for (int64_t i = 0; i < schema.n_children; ++i) AddFormats(*schema.children[i], text += " ");
}

Restored RestoreWith(std::vector<ArrowField> described) {
  static const TableReader table = TableOfRows();
  const std::string text = WriteArrowSchema({.format = "+s", .children = std::move(described)});
  EXPECT_NE(text, "");
  Released<ArrowArrayStream> stream;
  EXPECT_TRUE(ExportArrowStream(table, {}, {.dictionaries = false}, stream.get()).ok());
  const absl::Status status = RestoreArrowTypes(
      text, [](const std::string&) { return true; }, stream.get());
  EXPECT_TRUE(status.ok()) << status;
  Restored restored;
  Released<ArrowSchema> schema;
  EXPECT_EQ(stream->get_schema(stream.get(), schema.get()), 0);
  for (int64_t i = 0; i < schema->n_children; ++i) {
    AddFormats(*schema->children[i], restored.formats.emplace_back());
    restored.metadata.push_back(MetadataOf(*schema->children[i]));
  }
  for (;;) {
    Released<ArrowArray> array;
    if (const int error = stream->get_next(stream.get(), array.get()); error != 0) {
      EXPECT_EQ(error, EINVAL);
      restored.error = stream->get_last_error(stream.get());
      break;
    }
    if (array->release == nullptr) break;
    restored.rows += static_cast<size_t>(array->length);
  }
  return restored;
}

ArrowField Field(std::string format, std::string name) {
  return {.format = std::move(format), .name = std::move(name), .flags = ARROW_FLAG_NULLABLE};
}
ArrowField Tensor(std::string format, std::string of = "i") {
  ArrowField field = Field(std::move(format), "l");
  field.metadata = {{"ARROW:extension:name", "tensor"}, {"ARROW:extension:metadata", ""}};
  field.children = {Field(std::move(of), "item")};
  return field;
}

const std::vector<std::string> kStored = {"l", "f", "u", "+l i"};

TEST(ArrowTypes, ComeBack) {
  const Restored restored =
      RestoreWith({Field("tDs", "n"), Field("e", "x"), Field("n", "s"), Tensor("+w:2")});
  EXPECT_THAT(restored.formats, ElementsAre("tDs", "e", "n", "+w:2 i"));
  EXPECT_EQ(restored.rows, kRows) << restored.error;
}

TEST(ArrowTypes, DescriptionsOfOtherColumnsChangeNothing) {
  const std::vector<std::vector<ArrowField>> all = {
      {},
      {Field("tDs", "other"), Field("e", "")},
      {Field("tDs", "x"), Field("e", "n"), Field("n", "x"), Field("n", "n")},
      {Tensor("+w:2", "b")},
      {Tensor("+w:2", "l")},
      {Tensor("+w:2", "u")},
      {Tensor("+w:0")},
      {Field("+w:2", "n")},
  };
  for (const auto& described : all) {
    const Restored restored = RestoreWith(described);
    EXPECT_EQ(restored.formats, kStored);
    EXPECT_EQ(restored.rows, kRows) << restored.error;
  }
}

TEST(ArrowTypes, ListsOfOtherLengthsAreErrors) {
  for (const char* format : {"+w:1", "+w:3", "+w:2147483647"}) {
    const Restored restored = RestoreWith({Tensor(format)});
    EXPECT_THAT(restored.error, HasSubstr("elements expected, found 2")) << format;
  }
}

// The error of reading a stream of `rows` after change(stream). `damage`: changes the first child
// of the batch.
template <typename Change>
std::string ErrorOf(Shape column, std::vector<Json> rows, const Change& change,
                    void (*damage)(ArrowArray&)) {
  const Shape shape{.format = "+s", .nullable = false, .children = {std::move(column)}};
  std::mt19937_64 random(1);
  BuiltStream built;
  built.schema = BuildSchema(shape);
  built.arrays.push_back(BuildArray(shape, rows, random, {.slices = false}));
  damage(built.arrays[0]->children[0]->c);
  Released<ArrowArrayStream> stream;
  *stream.get() = std::exchange(*built.Open(), ArrowArrayStream{});
  const absl::Status status = change(stream.get());
  EXPECT_TRUE(status.ok()) << status;
  return std::string(ReadStream(std::move(stream)).status().message());
}

TEST(ArrowTypes, ListsWithoutTheirElementsAreErrors) {
  using Damage = void (*)(ArrowArray&);
  const std::vector<Damage> damages = {
      [](ArrowArray& lists) { lists.children[0]->length = 5; },
      [](ArrowArray& lists) { lists.children[0]->length = -1; },
      [](ArrowArray& lists) { lists.children[0]->offset = -1; },
      [](ArrowArray& lists) { lists.children[0]->offset = INT64_MAX; },
      [](ArrowArray& lists) { lists.children[0]->buffers[1] = nullptr; },
      [](ArrowArray& lists) { lists.offset = INT64_MAX; },
      [](ArrowArray& lists) { lists.n_children = 0; },
  };
  const DescribedTable table{
      .arrow_schema = WriteArrowSchema({.format = "+s", .children = {Tensor("+w:2")}}),
      .columns = {"l"}};
  for (const char* format : {"+w:2", "+l"}) {
    const Shape column{.format = format,
                       .name = "l",
                       .nullable = false,
                       .children = {{.format = "i", .name = "item", .nullable = false}}};
    const std::vector<Json> rows = {{{"l", {1, 2}}}, {{"l", {3, 4}}}, {{"l", {5, 6}}}};
    for (const std::vector<std::string>& bytes : std::vector<std::vector<std::string>>{{"l"}, {}}) {
      if (bytes.empty() && column.format != "+l") continue;  // nothing changes
      const auto store = [&](ArrowArrayStream* stream) {
        return StoreArrowTypes(table, bytes, stream).status();
      };
      for (size_t i = 0; i < damages.size(); ++i)
        EXPECT_THAT(ErrorOf(column, rows, store, damages[i]), HasSubstr("Arrow field l:")) << i;
      EXPECT_EQ(ErrorOf(column, rows, store, [](ArrowArray&) {}), "");
    }
  }
}

TEST(ArrowTypes, NumbersThatFloat16DoesNotHaveAreErrors) {
  const std::string text = WriteArrowSchema({.format = "+s", .children = {Field("e", "x")}});
  const auto restore = [&](ArrowArrayStream* stream) {
    return RestoreArrowTypes(
        text, [](const std::string&) { return false; }, stream);
  };
  for (const double number : {0.1, 65536.0, 1e-9}) {
    EXPECT_THAT(ErrorOf({.format = "f", .name = "x"}, {{{"x", 0.5}}, {{"x", number}}}, restore,
                        [](ArrowArray&) {}),
                HasSubstr("Arrow field x: float16 does not have the number "));
  }
}

TEST(ArrowTypes, ReservedKeysOfADescriptionDoNotComeBack) {
  ArrowField field = Field("l", "n");
  field.metadata = {{"cfile.type", "uuid"}, {"unit", "m"}};
  const Restored restored = RestoreWith({field});
  EXPECT_THAT(restored.metadata[0],
              ElementsAre(testing::Pair("cfile.type", "int64"), testing::Pair("unit", "m")));
}

TEST(ArrowTypes, WhatIsNoSchemaChangesNothing) {
  const TableReader table = TableOfRows();
  for (const std::string text : {"", "AAAA", "no base64!", "/////w=="}) {
    const auto read = ReadExported([&](ArrowArrayStream* stream) -> absl::Status {
      CFILE_RETURN_IF_ERROR(ExportArrowStream(table, {}, {.dictionaries = false}, stream));
      return RestoreArrowTypes(
          text, [](const std::string&) { return true; }, stream);
    });
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->num_rows(), kRows);
  }
}

std::vector<std::string> NamesIn(const std::string& text) {
  std::vector<std::string> names;
  if (const auto schema = ParseArrowSchema(text)) {
    for (const ArrowField& field : schema->children)
      names.push_back(field.name + ":" + field.format);
  }
  return names;
}

TEST(ChangeArrowSchema, RenamesRemovesAndAdds) {
  const auto text = [](std::vector<ArrowField> fields) {
    return WriteArrowSchema({.format = "+s", .children = std::move(fields)});
  };
  const std::string before = text({Field("tDs", "a"), Field("e", "b"), Field("l", "c")});
  EXPECT_THAT(NamesIn(ChangeArrowSchema(before, {{"a", "z"}, {"b", ""}})),
              ElementsAre("z:tDs", "c:l"));
  const std::string other = text({Field("n", "b"), Field("tDm", "new"), Field("l", "unused")});
  EXPECT_THAT(NamesIn(ChangeArrowSchema(before, {}, other, {"b", "new"})),
              ElementsAre("a:tDs", "c:l", "b:n", "new:tDm"));
  EXPECT_THAT(NamesIn(ChangeArrowSchema("", {}, other, {"new"})), ElementsAre("new:tDm"));
  EXPECT_EQ(ChangeArrowSchema("no schema", {{"a", "z"}}, other, {"new"}), "no schema");
}

TEST(ChangeMetadata, IsOneCommitAndStays) {
  const auto storage = NewMemoryStorage();
  auto writer = TableWriter::Create(storage, ImportArrowSchema(Rows().schema->c).value()).value();
  ASSERT_TRUE(writer.Finish().ok());
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const auto set = [&](const Pairs& pairs) {
    return ChangeMetadata(storage, [&](Pairs& now) {
      now = pairs;
      return absl::OkStatus();
    });
  };
  ASSERT_TRUE(set({{"a", "1"}}).ok());
  const auto table = TableReader::Open(storage);
  EXPECT_THAT(table->metadata().value(), ElementsAre(testing::Pair("a", "1")));
  EXPECT_EQ(set({{"cfile.column", "x"}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(set({}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ChangeMetadata(storage, [](Pairs&) { return absl::CancelledError("no"); }).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(ChangeMetadata(NewMemoryStorage(), [](Pairs&) { return absl::OkStatus(); }).code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(TableReader::Open(storage)->metadata().value(), ElementsAre(testing::Pair("a", "1")));
}

}  // namespace cfile::arrow_types_test
