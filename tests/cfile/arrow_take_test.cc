// Tests ExportArrowTake (cfile/arrow.h), and ArrowExportOptions::column_only for tables.
// What is taken is compared with an exported stream of all rows, which cfile.arrow_test tests.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cfile/arrow.h"
#include "cfile/parts/arrow/buffer_pool.h"
#include "cfile/parts/arrow/taken_column.h"
#include "cfile/reader.h"
#include "cfile/records.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/heap.h"
#include "tests/cfile/arrow_testing.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/record_testing.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::arrow_take_test {

using testing_support::Column;
using testing_support::WriteColumn;
using Ordinals = std::vector<uint64_t>;

constexpr ArrowExportOptions kManyOptions[] = {{}, {.string_views = true}, {.max_batch_rows = 100}};

// Calls ExportArrowTake(arguments..., &stream) and reads the stream.
template <typename... Arguments>
absl::StatusOr<ArrowBatches> Take(Arguments&&... arguments) {
  return ReadExported([&](ArrowArrayStream* stream) {
    return ExportArrowTake(std::forward<Arguments>(arguments)..., stream);
  });
}

std::vector<Json> Chosen(const std::vector<Json>& all, const Ordinals& ordinals) {
  std::vector<Json> rows;
  for (const uint64_t ordinal : ordinals) rows.push_back(all[ordinal]);
  return rows;
}

// Returns random ordinals. Some of them are equal, and some follow each other.
Ordinals RandomOrdinals(size_t count, uint64_t num_rows, std::mt19937_64& random) {
  Ordinals ordinals;
  while (ordinals.size() < count) {
    const uint64_t first = random() % num_rows;
    const uint64_t end = std::min(num_rows, first + (random() % 4 == 0 ? random() % 50 : 1));
    for (uint64_t row = first; row < end && ordinals.size() < count; ++row) ordinals.push_back(row);
    if (random() % 8 == 0) ordinals.push_back(first);
  }
  ordinals.resize(count);
  return ordinals;
}

Ordinals Consecutive(uint64_t count) {
  Ordinals ordinals(count);
  std::iota(ordinals.begin(), ordinals.end(), 0);
  return ordinals;
}

// EXPECTs that a take has `expected`, with all of kManyOptions. `source`: the arguments of
// ExportArrowTake before `ordinals` and after it.
template <typename Source, typename... Columns>
void ExpectTaken(const Source& source, const Ordinals& ordinals, const std::vector<Json>& all,
                 const Columns&... columns) {
  const std::vector<Json> expected = Chosen(all, ordinals);
  for (const ArrowExportOptions& options : kManyOptions) {
    const auto read = Take(source, ordinals, columns..., options);
    ASSERT_TRUE(read.ok()) << read.status();
    for (const auto& array : read->arrays)
      ASSERT_LE(static_cast<size_t>(array->length), options.max_batch_rows);
    const std::vector<Json> rows = read->Rows();
    ASSERT_EQ(rows.size(), expected.size());
    for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], expected[i]) << i;
  }
}

TEST(ArrowTake, EveryTypeAndEncoding) {
  std::mt19937_64 random(1);
  ForEachTypeAndEncoding(
      {-1, 30, 100}, random,
      [&]<typename T>(const ColumnType& type, const WriterOptions& options,
                      const Column<T>& column) {
        const size_t num_rows = column.rows.size();
        const Reader reader = OpenBytes(WriteColumn<T>(type, options, column));
        const std::vector<Json> all =
            RowsOf(Exported(reader, kAllRows, ArrowExportOptions{.dictionaries = false}));
        ASSERT_EQ(all.size(), num_rows);
        ExpectTaken(reader, RandomOrdinals(1 + random() % 700, num_rows, random), all);
      });
}

// Returns the bytes of a file of ManyNumbers in small blocks.
std::vector<uint8_t> FileOfNumbers() {
  return WriteColumn<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain, .block_size_bytes = 2000}, ManyNumbers());
}

// Takes lists of one group and of several groups of 65,536 ordinals, in several orders.
TEST(ArrowTake, OrdersAndLongLists) {
  std::mt19937_64 random(2);
  const Reader reader = OpenBytes(FileOfNumbers());
  std::vector<Ordinals> lists = {{},
                                 {9999},
                                 Consecutive(10'000),
                                 Ordinals(70'000, 1234),
                                 RandomOrdinals(65'536, 10'000, random),
                                 RandomOrdinals(65'537, 10'000, random),
                                 RandomOrdinals(200'000, 10'000, random)};
  lists.push_back(Consecutive(10'000));
  std::reverse(lists.back().begin(), lists.back().end());
  for (const Ordinals& list : lists) {
    for (const size_t max_rows : {size_t{1000}, size_t{50'000}, kMaxBatchRows, size_t{150'000}}) {
      SCOPED_TRACE(absl::StrCat(list.size(), " ordinals, ", max_rows, " rows"));
      const auto read = Take(reader, list, ArrowExportOptions{.max_batch_rows = max_rows});
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->arrays.size(), (list.size() + max_rows - 1) / max_rows);
      size_t next = 0;
      for (const auto& array : read->arrays) {
        const auto* const values = static_cast<const int64_t*>(array->children[0]->buffers[1]);
        for (int64_t i = 0; i < array->length; ++i, ++next)
          ASSERT_EQ(values[i], 3 * static_cast<int64_t>(list[next]));
      }
      EXPECT_EQ(next, list.size());
    }
  }
}

// For each group of 65,536 ordinals, each block is read once, even if batches are short.
TEST(ArrowTake, ReadsEachBlockOnce) {
  Ordinals list = Consecutive(10'000);
  std::mt19937_64 random(3);
  std::shuffle(list.begin(), list.end(), random);
  const Reader scanned = OpenBytes(FileOfNumbers());
  RowsOf(Exported(scanned, kAllRows, ArrowExportOptions{}));
  const uint64_t num_blocks = scanned.counters().blocks_read;
  ASSERT_GT(num_blocks, 20u);
  const Reader taken = OpenBytes(FileOfNumbers());
  const auto read = Take(taken, list, ArrowExportOptions{.max_batch_rows = 10});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->num_rows(), list.size());
  EXPECT_EQ(taken.counters().blocks_read, num_blocks);
}

TEST(ArrowTake, OrdinalsOutOfRange) {
  const Reader reader = OpenBytes(FileOfNumbers());
  Released<ArrowArrayStream> stream;
  const uint64_t blocks_read = reader.counters().blocks_read;
  for (const uint64_t ordinal : {uint64_t{10'000}, UINT64_MAX}) {
    const absl::Status status =
        Take(reader, Ordinals{5, ordinal, 6}, ArrowExportOptions{}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr(absl::StrCat("ordinal ", ordinal, ", the file has 10000 rows")));
  }
  EXPECT_EQ(reader.counters().blocks_read, blocks_read);
}

TEST(ArrowTake, FieldOfAFile) {
  const Column<std::string_view> column{{"a", "b", "c"}};
  const Reader reader = OpenBytes(WriteColumn<std::string_view>(
      ColumnType::String(),
      {.encoding = Encoding::kDict, .value_index = true, .metadata = {{"origin", "a test"}}},
      column));
  for (const bool string_views : {false, true}) {
    const auto read = Take(reader, Ordinals{2, 0, 2},
                           ArrowExportOptions{.string_views = string_views, .column_only = true});
    ASSERT_TRUE(read.ok()) << read.status();
    // The field is no dictionary, and does not say that the rows are sorted.
    EXPECT_STREQ(read->schema->format, string_views ? "vu" : "u");
    EXPECT_STREQ(read->schema->name, "value");
    EXPECT_EQ(read->schema->dictionary, nullptr);
    EXPECT_THAT(
        MetadataOf(*read->schema.get()),
        testing::UnorderedElementsAre(testing::Pair("cfile.type", "string"),
                                      testing::Pair("cfile.encoding", testing::HasSubstr("dict")),
                                      testing::Pair("origin", "a test")));
    EXPECT_EQ(read->Rows(), (std::vector<Json>{"c", "a", "c"}));
  }
}

// The error of a damaged block does not affect rows of other blocks.
TEST(ArrowTake, Damage) {
  std::vector<uint8_t> bytes = FileOfNumbers();
  bytes[bytes.size() / 2] ^= 1;
  const Reader reader = OpenBytes(std::move(bytes));
  const auto whole = Take(reader, Ordinals{9000, 5, 9000}, ArrowExportOptions{});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->num_rows(), 3u);
  // The rows of the first group come before the error.
  Ordinals list(internal::kGroupOrdinals, 7);
  for (uint64_t row = 4000; row < 6000; ++row) list.push_back(row);
  Released<ArrowArrayStream> stream;
  ASSERT_TRUE(ExportArrowTake(reader, list, {.max_batch_rows = 100'000}, stream.get()).ok());
  Released<ArrowArray> array;
  ASSERT_EQ(stream->get_next(stream.get(), array.get()), 0);
  EXPECT_EQ(array->length, static_cast<int64_t>(internal::kGroupOrdinals));
  for (int turn = 0; turn < 2; ++turn) {
    Released<ArrowArray> none;
    EXPECT_EQ(stream->get_next(stream.get(), none.get()), EIO);
    EXPECT_EQ(none->release, nullptr);
    EXPECT_THAT(stream->get_last_error(stream.get()), testing::HasSubstr("checksum"));
  }
}

TEST(ArrowTake, NoMemory) {
  Column<std::string_view> column;
  for (int i = 0; i < 300; ++i) column.rows.push_back("a long string " + std::to_string(i % 50));
  const Reader reader = OpenBytes(
      WriteColumn<std::string_view>(ColumnType::String(), {.encoding = Encoding::kDict}, column));
  const Ordinals list = {299, 3, 3, 100, 0};
  ASSERT_TRUE(Take(reader, list, ArrowExportOptions{}).ok());
  // Removes the buffers that other tests have left for later use.
  while (internal::TakeStrings().memory_bytes() > 0) continue;
  ExpectNoMemory(campaign::heap, [&](ArrowArrayStream* stream) {
    return ExportArrowTake(reader, list, {}, stream);
  });
}

// Ten strings of 1 MiB. The strings of a file with few dictionary values need little memory.
std::vector<std::string> LongStrings() {
  std::vector<std::string> strings;
  for (char c = 'a'; c <= 'j'; ++c) strings.push_back(std::string(1 << 20, c));
  return strings;
}

// Reads a stream of long strings. Row i of the file has `per_row` strings that begin with the
// character 'a' + i % 10. EXPECTs that a batch has at most 81 strings, and that the stream needs
// little memory.
void ExpectLongStrings(const Reader& reader, const Ordinals& list, int64_t per_row) {
  Released<ArrowArrayStream> stream;
  ASSERT_TRUE(ExportArrowTake(reader, list, {.column_only = true}, stream.get()).ok());
  campaign::heap.most_bytes = campaign::heap.bytes;
  const int64_t before = campaign::heap.bytes;
  size_t next = 0;
  while (true) {
    Released<ArrowArray> array;
    ASSERT_EQ(stream->get_next(stream.get(), array.get()), 0);
    if (array->release == nullptr) break;
    const ArrowArray& strings = per_row == 1 ? *array.get() : *array->children[0];
    ASSERT_EQ(strings.length, per_row * array->length);
    EXPECT_LE(strings.length, 81);
    const auto* const offsets = static_cast<const int32_t*>(strings.buffers[1]);
    const char* const bytes = static_cast<const char*>(strings.buffers[2]);
    for (int64_t i = 0; i < strings.length; ++i) {
      ASSERT_EQ(offsets[i + 1] - offsets[i], 1 << 20);
      const uint64_t row = list[next + static_cast<size_t>(i / per_row)];
      ASSERT_EQ(bytes[offsets[i]], static_cast<char>('a' + row % 10));
    }
    next += static_cast<size_t>(array->length);
  }
  EXPECT_EQ(next, list.size());
  EXPECT_LE(campaign::heap.most_bytes - before, int64_t{300} << 20);
}

// Long strings end a batch, and also limit what is read in advance.
TEST(ArrowTake, LongStringsNeedLittleMemory) {
  std::mt19937_64 random(4);
  const std::vector<std::string> strings = LongStrings();
  std::vector<std::string_view> values;
  for (size_t i = 0; i < 500; ++i) values.push_back(strings[i % 10]);
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kDict}) {
    std::vector<uint8_t> file;
    auto writer =
        Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::Binary(),
                                         {.encoding = encoding, .block_size_bytes = 4 << 20});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Append(std::span<const std::string_view>(values)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    const Reader reader = OpenBytes(std::move(file));
    Ordinals shuffled = Consecutive(500);
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    ExpectLongStrings(reader, shuffled, 1);
    ExpectLongStrings(reader, Ordinals(400, 9), 1);
  }
}

// The same for records with two long strings each.
TEST(ArrowTake, LongStringsInLists) {
  std::mt19937_64 random(5);
  const std::vector<std::string> strings = LongStrings();
  std::vector<uint16_t> repetition;
  std::vector<std::string_view> values;
  for (size_t i = 0; i < 500; ++i) {
    repetition.push_back(i % 2);
    values.push_back(strings[i / 2 % 10]);
  }
  const Reader reader = OpenBytes(FileOfLevels<std::string_view>(
      ColumnType::Binary(), {.max_repetition = 1, .max_definition = 1}, repetition,
      std::vector<uint16_t>(500, 1), values,
      {.encoding = Encoding::kDict, .block_size_bytes = 8 << 20}));
  Ordinals shuffled = Consecutive(250);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  ExpectLongStrings(reader, shuffled, 2);
  ExpectLongStrings(reader, Ordinals(200, 9), 2);
}

// Takes records of a file with levels. One record has more entries than a batch of a cursor.
TEST(ArrowTake, RecordsOfAFile) {
  std::mt19937_64 random(5);
  for (const LevelLimits& limits : {LevelLimits{.max_repetition = 1, .max_definition = 1},
                                    LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)}) {
    for (const size_t long_record : {size_t{0}, size_t{200'000}}) {
      if (long_record > 0 && limits.max_definition != 1) continue;
      SCOPED_TRACE(absl::StrCat(limits.max_definition, " ", long_record));
      const auto leaf = testing_support::RandomLeaf<int64_t>(ColumnType::Int64(), limits, 3000,
                                                             long_record, random);
      const Reader reader = OpenBytes(testing_support::WriteLeaf<int64_t>(
          ColumnType::Int64(), {.block_size_bytes = long_record > 0 ? 4u << 20 : 5000u}, leaf,
          random));
      const std::vector<Json> all = RowsOf(Exported(reader, kAllRows, ArrowExportOptions{}));
      ASSERT_EQ(all.size(), 3000u);
      Ordinals list = RandomOrdinals(800, 3000, random);
      list[100] = list[101] = list[300] = 1500;
      ExpectTaken(reader, list, all);
    }
  }
}

class ArrowTakeTableTest : public TableTestBase {
 protected:
  std::vector<Json> AllOf(const TableReader& table) {
    return RowsOf(Exported(table, TableScanOptions{}, ArrowExportOptions{.dictionaries = false}));
  }
};

using Names = std::optional<std::vector<std::string>>;

TEST_F(ArrowTakeTableTest, SeveralParts) {
  std::mt19937_64 random(6);
  WritePart(0, 3000, ManyTypes(), {.block_size_bytes = 4000});
  WritePart(3000, 1);
  WritePart(3001, 2000);
  const TableReader table = OpenTable();
  const std::vector<Json> all = AllOf(table);
  ASSERT_EQ(all.size(), 5001u);
  for (const Ordinals& list : {Ordinals{}, Ordinals{5000, 0, 3000, 3000, 2999, 3001},
                               RandomOrdinals(4000, 5001, random), Consecutive(5001)}) {
    ExpectTaken(table, list, all, Names());
  }
  // Exports some columns, in another order.
  const Ordinals list = {4000, 7, 3000};
  auto read = Take(table, list, Names({"name", "id"}), ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->schema->n_children, 2);
  EXPECT_STREQ(read->schema->children[0]->name, "name");
  std::vector<Json> expected;
  for (const Json& row : Chosen(all, list))
    expected.push_back({{"name", row["name"]}, {"id", row["id"]}});
  EXPECT_EQ(read->Rows(), expected);
  // A column may be selected twice, and there may be no column at all.
  read = Take(table, list, Names({"id", "day", "id"}), ArrowExportOptions{.max_batch_rows = 2});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->schema->n_children, 3);
  EXPECT_EQ(read->num_rows(), 3u);
  read = Take(table, list, Names(std::in_place), ArrowExportOptions{.max_batch_rows = 2});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->arrays.size(), 2u);
  EXPECT_EQ(read->num_rows(), 3u);
}

TEST_F(ArrowTakeTableTest, WrongArguments) {
  WritePart(0, 100);
  const TableReader table = OpenTable();
  absl::Status status = Take(table, Ordinals{0, 100}, Names(), ArrowExportOptions{}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("ordinal 100, the table has 100 rows"));
  EXPECT_EQ(table.counters().files_opened, 0u);
  status = Take(table, Ordinals{0}, Names({"none"}), ArrowExportOptions{}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

// The rows of all columns belong together, although long strings make the batches short.
TEST_F(ArrowTakeTableTest, LongStringsBesideOtherColumns) {
  const Schema schema{.columns = {{.name = "text", .type = ColumnType::Binary()},
                                  {.name = "id", .type = ColumnType::Int64()},
                                  {.name = "name", .type = ColumnType::String()}}};
  std::vector<std::string> texts, names;
  std::vector<int64_t> ids;
  for (int i = 0; i < 120; ++i) {
    texts.push_back(std::string(1 << 20, static_cast<char>(i)));
    names.push_back("name " + std::to_string(i));
    ids.push_back(i);
  }
  auto writer = TableWriter::Create(path_, schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<std::string_view> text_views(texts.begin(), texts.end());
  const std::vector<std::string_view> name_views(names.begin(), names.end());
  ASSERT_TRUE(writer->Append<std::string_view>(0, text_views).ok());
  ASSERT_TRUE(writer->Append<int64_t>(1, ids).ok());
  ASSERT_TRUE(writer->Append<std::string_view>(2, name_views).ok());
  ASSERT_TRUE(writer->Finish().ok());
  std::mt19937_64 random(7);
  const Ordinals list = RandomOrdinals(400, 120, random);
  for (const Names& columns : {Names({"text", "id", "name"}), Names({"name", "id", "text"})}) {
    const bool text_first = (*columns)[0] == "text";
    Released<ArrowArrayStream> stream;
    ASSERT_TRUE(ExportArrowTake(OpenTable(), list, columns, {}, stream.get()).ok());
    size_t next = 0;
    while (true) {
      Released<ArrowArray> array;
      ASSERT_EQ(stream->get_next(stream.get(), array.get()), 0);
      if (array->release == nullptr) break;
      EXPECT_LE(array->length, 81);
      const ArrowArray& text = *array->children[text_first ? 0 : 2];
      const ArrowArray& name = *array->children[text_first ? 2 : 0];
      for (int64_t i = 0; i < array->length; ++i, ++next) {
        ASSERT_EQ(static_cast<const int64_t*>(array->children[1]->buffers[1])[i],
                  static_cast<int64_t>(list[next]));
        const auto* const text_offsets = static_cast<const int32_t*>(text.buffers[1]);
        ASSERT_EQ(static_cast<const char*>(text.buffers[2])[text_offsets[i]],
                  static_cast<char>(list[next]));
        const auto* const offsets = static_cast<const int32_t*>(name.buffers[1]);
        ASSERT_EQ(std::string_view(static_cast<const char*>(name.buffers[2]) + offsets[i],
                                   static_cast<size_t>(offsets[i + 1] - offsets[i])),
                  names[list[next]]);
      }
    }
    EXPECT_EQ(next, list.size());
  }
}

// In an array of fixed bytes, a null takes as many bytes as a value. So a column with long fixed
// bytes takes fewer rows than the other columns, and all columns must go on at the same row.
TEST_F(ArrowTakeTableTest, LongNullsEndABatch) {
  const auto schema = RecordSchema::Parse(R"(
      message Record {
        required int64 id;
        optional fixed_len_byte_array(16777216) bytes;
        optional group lists (LIST) { repeated group list {
          optional fixed_len_byte_array(16777216) element; } }
      })");
  ASSERT_TRUE(schema.ok()) << schema.status();
  auto writer = RecordWriter::Create(path_, *schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (int i = 0; i < 12; ++i) {
    const Json record = {{"id", i}, {"lists", {{"list", {Json::object()}}}}};
    ASSERT_TRUE(TellJson(*schema, 0, record, *writer).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  const Ordinals list = {11, 0, 1, 2, 3, 4, 4, 4, 4, 10, 9, 8};
  for (const Names& columns :
       {Names({"id", "bytes"}), Names({"bytes", "id"}), Names({"id", "lists"}),
        Names({"lists", "id"}), Names({"id", "lists", "bytes"})}) {
    const auto read = Take(OpenTable(), list, columns, ArrowExportOptions{});
    ASSERT_TRUE(read.ok()) << read.status();
    for (const auto& array : read->arrays) EXPECT_LE(array->length, 8);
    const std::vector<Json> rows = read->Rows();
    ASSERT_EQ(rows.size(), list.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i]["id"], list[i]);
      if (rows[i].contains("bytes")) {
        EXPECT_TRUE(rows[i]["bytes"].is_null());
      }
      if (rows[i].contains("lists")) {
        EXPECT_EQ(rows[i]["lists"], Json::array({nullptr}));
      }
    }
  }
}

class ArrowTakeRecordsTest : public ArrowTakeTableTest {
 protected:
  void SetUp() override {
    const auto schema = RecordSchema::Parse(kNestedRecord);
    ASSERT_TRUE(schema.ok()) << schema.status();
    bool is_first = true;
    for (const size_t count : {size_t{1000}, size_t{1}, size_t{3000}}) {
      const WriterOptions options{.block_size_bytes = 3000};
      auto writer = is_first ? RecordWriter::Create(path_, *schema, {&options, 1})
                             : RecordWriter::Append(path_, {&options, 1});
      ASSERT_TRUE(writer.ok()) << writer.status();
      for (size_t i = 0; i < count; ++i)
        ASSERT_TRUE(TellJson(*schema, 0, RandomRecord(*schema, 0, random_), *writer).ok());
      ASSERT_TRUE(writer->Finish().ok());
      is_first = false;
    }
  }

  std::mt19937_64 random_{8};
};

TEST_F(ArrowTakeRecordsTest, NestedColumns) {
  const TableReader table = OpenTable();
  const std::vector<Json> all = AllOf(table);
  ASSERT_EQ(all.size(), 4001u);
  for (const Ordinals& list : {Ordinals{}, Ordinals{4000, 0, 1000, 1000, 999, 1001},
                               RandomOrdinals(3000, 4001, random_), Consecutive(4001)}) {
    ExpectTaken(table, list, all, Names());
  }
  const Ordinals list = {4000, 3, 3};
  const auto read = Take(table, list, Names({"tags", "map.key_value.value"}), ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<Json> expected;
  for (const Json& row : Chosen(all, list)) {
    expected.push_back({{"tags", row["tags"]}, {"map", row["map"]}});
    for (Json& entry : expected.back()["map"]) entry = {{"value", entry["value"]}};
  }
  EXPECT_EQ(read->Rows(), expected);
  const auto twice = Take(table, list, Names({"tcp", "tcp.mss"}), ArrowExportOptions{});
  EXPECT_EQ(twice.status().code(), absl::StatusCode::kInvalidArgument);
}

// ArrowExportOptions::column_only holds for one column, and for one field of the records.
TEST_F(ArrowTakeRecordsTest, ColumnOnly) {
  const TableReader table = OpenTable();
  const std::vector<Json> all = AllOf(table);
  const ArrowExportOptions options{.dictionaries = false, .column_only = true};
  const Ordinals list = {4000, 3, 3, 1000};
  const std::pair<std::string, const char*> fields[] = {
      {"id", "l"}, {"name", "u"}, {"tcp", "+s"}, {"tags", "+l"}, {"map", "+m"}};
  for (const auto& [field, format] : fields) {
    SCOPED_TRACE(field);
    std::vector<Json> values;
    for (const Json& row : all) values.push_back(row[field]);
    EXPECT_TRUE(RowsOf(Exported(table, TableScanOptions{.columns = {{field}}}, options)) == values);
    auto scan = table.NewScan({.columns = {{field}}});
    ASSERT_TRUE(scan.ok()) << scan.status();
    EXPECT_TRUE(RowsOf(Exported(*std::move(scan), options)) == values);
    const auto read = Take(table, list, Names({field}), options);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->schema->name, field);
    EXPECT_STREQ(read->schema->format, format);
    EXPECT_EQ(read->Rows(), Chosen(values, list));
  }
  // Two columns of one group are one field.
  const auto group = Take(table, list, Names({"tcp.mss", "tcp.flag"}), options);
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_STREQ(group->schema->name, "tcp");
  // Two fields, or no fields, are structs.
  for (const Names& names : {Names({"id", "name"}), Names(std::in_place)}) {
    const auto read = Take(table, list, names, options);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_STREQ(read->schema->format, "+s");
    EXPECT_EQ(read->schema->n_children, static_cast<int64_t>(names->size()));
  }
}

// Groups contain all ordinals of the list, in order, even if the ordinals are far from each other.
TEST(ArrowTake, GroupsOfOrdinals) {
  std::mt19937_64 random(10);
  for (const int bits : {3, 20, 48, 49, 62}) {
    for (const size_t most : {size_t{1}, size_t{100}, internal::kGroupOrdinals}) {
      SCOPED_TRACE(absl::StrCat(bits, " bits, at most ", most));
      Ordinals list;
      for (int i = 0; i < 70'000; ++i)
        list.push_back(i < 300 ? random() >> (64 - bits) : random() % 100'000);
      internal::OrdinalGrouper grouper(list);
      size_t next = 0;
      while (next < list.size()) {
        const auto group = grouper.GroupAt(next, most);
        EXPECT_EQ(grouper.GroupAt(next, most), group);
        ASSERT_EQ(group->begin, next);
        ASSERT_FALSE(group->places.empty());
        ASSERT_LE(group->places.size(), most);
        ASSERT_EQ(
            std::adjacent_find(group->rows.begin(), group->rows.end(), std::greater_equal<>()),
            group->rows.end());
        for (size_t i = 0; i < group->places.size(); ++i)
          ASSERT_EQ(group->rows[group->places[i]], list[next + i]);
        if (bits <= 48 || next > 300) {
          ASSERT_EQ(group->places.size(), std::min(most, list.size() - next));
        }
        next = group->end();
      }
    }
  }
}

}  // namespace cfile::arrow_take_test
