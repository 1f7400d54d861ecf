// Tests cfile/arrow.h. Exported streams hold the rows of files, cursors, scans and tables.
#include "cfile/arrow.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "cfile/parts/arrow/buffer_pool.h"
#include "cfile/predicate.h"
#include "cfile/reader.h"
#include "cfile/records.h"
#include "cfile/scan.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "encodings/core/packed_strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/heap.h"
#include "tests/cfile/arrow_testing.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/record_testing.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::arrow_test {

using testing_support::Column;
using testing_support::WriteColumn;

// Returns the Arrow value for a value of the library.
template <typename T>
Json ArrowValue(const ColumnType& type, const T& value) {
  if constexpr (std::is_same_v<T, Int96>) {
    const auto bits = static_cast<uint128_t>(value);
    const auto day = static_cast<int64_t>(static_cast<uint32_t>(bits >> 64));
    return (day - 2440588) * 86400000000000 + static_cast<int64_t>(bits);
  } else if constexpr (std::is_same_v<T, int128_t>) {
    return TextOf(value);
  } else if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
    return type.decimal_precision > 0 ? Json(TextOf(value)) : Json(value);
  } else {
    return value;
  }
}

template <typename T>
std::vector<Json> Expected(const ColumnType& type, const Column<T>& column) {
  std::vector<Json> rows;
  for (const auto& row : column.rows)
    rows.push_back({{"value", row ? ArrowValue<T>(type, T(*row)) : Json(nullptr)}});
  return rows;
}

constexpr ArrowExportOptions kManyOptions[] = {
    {},
    {.string_views = true},
    {.string_views = true, .dictionaries = false, .max_batch_rows = 100},
    {.dictionaries = false, .dictionary_views = true},
    {.dictionaries = false, .max_batch_rows = 100}};

// Exports each type in each encoding, with and without nulls.
TEST(Arrow, EveryTypeAndEncoding) {
  std::mt19937_64 random(1);
  ForEachTypeAndEncoding(
      {-1, 0, 30, 100}, random,
      [&]<typename T>(const ColumnType& type, const WriterOptions& options,
                      const Column<T>& column) {
        std::shared_ptr<const Source> source =
            NewMemorySource(WriteColumn<T>(type, options, column));
        // Values in memory may be borrowed. Others are decoded into the array.
        if (random() % 2 == 0)
          source = std::make_shared<testing_support::ScriptedSource>(std::move(source));
        const auto reader = Reader::Open(std::move(source));
        ASSERT_TRUE(reader.ok()) << reader.status();
        const std::vector<Json> expected = Expected<T>(type, column);
        for (const ArrowExportOptions& arrow_options : kManyOptions) {
          const auto read = Exported(*reader, kAllRows, arrow_options);
          ASSERT_TRUE(read.ok()) << read.status();
          ASSERT_EQ(read->schema->n_children, 1);
          const bool nullable = (read->schema->children[0]->flags & ARROW_FLAG_NULLABLE) != 0;
          ASSERT_EQ(nullable, options.nullable);
          for (const auto& array : read->arrays)
            ASSERT_LE(static_cast<size_t>(array->length), arrow_options.max_batch_rows);
          ASSERT_TRUE(read->Rows() == expected);
        }
      });
}

std::string FormatOf(const ColumnType& type, const ArrowExportOptions& options = {}) {
  Released<ArrowSchema> schema;
  EXPECT_TRUE(
      ExportArrowSchema({.columns = {{.name = "x", .type = type}}}, options, schema.get()).ok());
  EXPECT_STREQ(schema->format, "+s");
  EXPECT_STREQ(schema->children[0]->name, "x");
  EXPECT_EQ(schema->children[0]->flags, 0);
  return schema->children[0]->format;
}

TEST(Arrow, Formats) {
  EXPECT_EQ(FormatOf(ColumnType::Decimal(9, 2)), "d:9,2");
  EXPECT_EQ(FormatOf({.data_type = DataType::kDecimal64}), "d:18,0");
  EXPECT_EQ(FormatOf(ColumnType::Int128()), "d:38,0");
  EXPECT_EQ(FormatOf(ColumnType::Int96()), "tsn:");
  EXPECT_EQ(FormatOf(ColumnType::Date()), "tdD");
  EXPECT_EQ(FormatOf(ColumnType::Time(TimeUnit::kSeconds)), "tts");
  EXPECT_EQ(FormatOf(ColumnType::Time(TimeUnit::kNanos)), "ttn");
  EXPECT_EQ(FormatOf(ColumnType::Timestamp(TimeUnit::kMicros)), "tsu:UTC");
  EXPECT_EQ(FormatOf(ColumnType::Timestamp(TimeUnit::kSeconds, "Asia/Tokyo")), "tss:Asia/Tokyo");
  EXPECT_EQ(FormatOf(ColumnType::FixedBytes(7)), "w:7");
  EXPECT_EQ(FormatOf({.data_type = DataType::kIsDeleted}), "b");
  EXPECT_EQ(FormatOf(ColumnType::Varchar()), "u");
  EXPECT_EQ(FormatOf(ColumnType::Binary()), "z");
  EXPECT_EQ(FormatOf(ColumnType::String(), {.string_views = true}), "vu");
  EXPECT_EQ(FormatOf(ColumnType::Binary(), {.string_views = true}), "vz");
}

TEST(Arrow, Metadata) {
  const auto column = Column<std::string_view>{{std::string(16, 'a'), std::string(16, 'b')}};
  const WriterOptions options{
      .encoding = Encoding::kPlain, .value_index = true, .metadata = {{"origin", "a test"}}};
  const Reader reader =
      OpenBytes(WriteColumn<std::string_view>(ColumnType::Uuid(), options, column));
  const auto read = Exported(reader, kAllRows, ArrowExportOptions{.column_only = true});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_STREQ(read->schema->format, "w:16");
  EXPECT_STREQ(read->schema->name, "value");
  EXPECT_EQ(read->Rows(), (std::vector<Json>{std::string(16, 'a'), std::string(16, 'b')}));
  EXPECT_THAT(MetadataOf(*read->schema.get()),
              testing::IsSupersetOf(std::vector<std::pair<std::string, std::string>>{
                  {"ARROW:extension:name", "arrow.uuid"},
                  {"ARROW:extension:metadata", ""},
                  {"cfile.type", "uuid"},
                  {"cfile.encoding", "plain"},
                  {"cfile.sorted", "ascending"},
                  {"origin", "a test"}}));

  Schema schema = ManyTypes();
  schema.key_columns = {6, 0};
  schema.nulls_last = {6};
  Released<ArrowSchema> exported;
  ASSERT_TRUE(ExportArrowSchema(schema, {}, exported.get()).ok());
  EXPECT_THAT(
      MetadataOf(*exported->children[6]),
      testing::ElementsAre(testing::Pair("cfile.type", "string"), testing::Pair("cfile.key", "0"),
                           testing::Pair("cfile.nulls_last", "true")));
  EXPECT_THAT(
      MetadataOf(*exported->children[0]),
      testing::ElementsAre(testing::Pair("cfile.type", "int64"), testing::Pair("cfile.key", "1")));
}

// A value that is outside the range of the Arrow type is an error.
// The stream first returns the rows of the blocks before this value.
TEST(Arrow, ValuesOutOfRange) {
  Column<Int96> times{{Int96(uint128_t{2440588} << 64), Int96(~uint128_t{0})}};
  auto read = Exported(OpenBytes(WriteColumn<Int96>(ColumnType::Int96(), {}, times)), kAllRows,
                       ArrowExportOptions{});
  EXPECT_THAT(std::string(read.status().message()), testing::HasSubstr("an int96 is a time"));

  Column<int128_t> numbers{{std::numeric_limits<int128_t>::min()}};
  read = Exported(OpenBytes(WriteColumn<int128_t>(ColumnType::Int128(), {}, numbers)), kAllRows,
                  ArrowExportOptions{});
  EXPECT_THAT(std::string(read.status().message()), testing::HasSubstr("38 digits"));
}

TEST(Arrow, EmptyFileAndEmptyRange) {
  const Reader reader = OpenBytes(WriteColumn<int32_t>(ColumnType::Int32(), {}, {}));
  auto read = Exported(reader, kAllRows, ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_STREQ(read->schema->children[0]->format, "i");
  EXPECT_TRUE(read->arrays.empty());
  read = Exported(reader, OrdinalRange{5, 9}, ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->arrays.empty());
}

TEST(Arrow, RangeCursorAndScan) {
  const Column<int64_t> column = ManyNumbers();
  const std::vector<Json> all = Expected<int64_t>(ColumnType::Int64(), column);
  const Reader reader = OpenBytes(WriteColumn<int64_t>(
      ColumnType::Int64(), {.value_index = true, .block_size_bytes = 1000}, column));
  const auto rows = [&](size_t begin, size_t end) {
    return std::vector<Json>(all.begin() + static_cast<ptrdiff_t>(begin),
                             all.begin() + static_cast<ptrdiff_t>(end));
  };
  EXPECT_TRUE(RowsOf(Exported(reader, OrdinalRange{10, 8000}, ArrowExportOptions{})) ==
              rows(10, 8000));

  auto cursor = reader.NewCursor<int64_t>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  ASSERT_TRUE(cursor->SeekToRange({100, 9000}).ok());
  ASSERT_TRUE(cursor->Next(50).ok());
  const uint64_t at = cursor->ordinal();
  EXPECT_TRUE(RowsOf(Exported(*cursor, ArrowExportOptions{})) == rows(at, 9000));
  EXPECT_EQ(cursor->ordinal(), at);

  for (const size_t max_rows : {size_t{7}, kMaxBatchRows}) {
    auto scan = reader.NewScan<int64_t>(Predicate<int64_t>::Greater(15000));
    ASSERT_TRUE(scan.ok()) << scan.status();
    EXPECT_TRUE(
        RowsOf(Exported(*std::move(scan), ArrowExportOptions{.max_batch_rows = max_rows})) ==
        rows(5001, 10000));
  }
  auto scan = reader.NewScan<int64_t>(Predicate<int64_t>::IsNull());
  ASSERT_TRUE(scan.ok()) << scan.status();
  auto read = Exported(*std::move(scan), ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->arrays.empty());
}

TEST(Arrow, ScanOfNulls) {
  const Column<std::string_view> column{{"a", std::nullopt, "b", std::nullopt}};
  const Reader reader =
      OpenBytes(WriteColumn<std::string_view>(ColumnType::String(), {.nullable = true}, column));
  auto scan = reader.NewScan<std::string_view>(Predicate<std::string_view>::IsNull());
  ASSERT_TRUE(scan.ok()) << scan.status();
  EXPECT_EQ(RowsOf(Exported(*std::move(scan), ArrowExportOptions{.column_only = true})),
            (std::vector<Json>{nullptr, nullptr}));
}

// Plain values of a source in memory are not copied.
// The arrays point into this memory, and keep the source alive.
TEST(Arrow, BorrowsPlainValues) {
  Column<int64_t> column;
  for (int64_t i = 0; i < 100000; ++i) column.rows.push_back(i);
  for (const bool nullable : {false, true}) {
    std::shared_ptr<const Source> source = NewMemorySource(WriteColumn<int64_t>(
        ColumnType::Int64(), {.encoding = Encoding::kPlain, .nullable = nullable}, column));
    const std::weak_ptr<const Source> alive = source;
    const std::span<const uint8_t> memory = source->InMemory();
    auto read = Exported(*Reader::Open(std::move(source)), kAllRows, ArrowExportOptions{});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_GT(read->arrays.size(), 1u);
    for (const auto& array : read->arrays) {
      const auto* const values = static_cast<const uint8_t*>(array->children[0]->buffers[1]);
      EXPECT_GE(values, memory.data());
      EXPECT_LT(values, memory.data() + memory.size());
    }
    EXPECT_FALSE(alive.expired());
    EXPECT_TRUE(read->Rows() == Expected<int64_t>(ColumnType::Int64(), column));
    read->arrays.clear();
    EXPECT_TRUE(alive.expired());
  }
}

// The views of long strings point into the memory of the source.
TEST(Arrow, BorrowsStringsOfViews) {
  Column<std::string_view> column;
  for (int i = 0; i < 20000; ++i)
    column.rows.push_back("a long string with number " + std::to_string(i));
  column.rows[7] = "short";
  column.rows[8] = "";
  std::shared_ptr<const Source> source = NewMemorySource(
      WriteColumn<std::string_view>(ColumnType::String(), {.encoding = Encoding::kPlain}, column));
  const std::weak_ptr<const Source> alive = source;
  auto read = Exported(*Reader::Open(std::move(source)), kAllRows,
                       ArrowExportOptions{.string_views = true});
  ASSERT_TRUE(read.ok()) << read.status();
  for (const auto& array : read->arrays) {
    const ArrowArray& values = *array->children[0];
    // The buffers: validity, views, copied strings, one piece of the source, sizes.
    ASSERT_EQ(values.n_buffers, 5);
    EXPECT_EQ(static_cast<const int64_t*>(values.buffers[4])[0], 0);  // no string was copied
  }
  EXPECT_TRUE(read->Rows() == Expected<std::string_view>(ColumnType::String(), column));
  read->arrays.clear();
  EXPECT_TRUE(alive.expired());
}

// Views point into the dictionary of the file, and into decoded strings where a block has no codes.
TEST(Arrow, ViewsOfDictionaries) {
  Column<std::string_view> column;
  for (int i = 0; i < 4000; ++i) {
    if (i % 7 == 0) column.rows.push_back(std::nullopt);
    // The dictionary has room for the strings of the first blocks only.
    else
      column.rows.push_back(std::string(i % 40, 'v') + std::to_string(i < 2000 ? i % 100 : i));
  }
  const auto bytes = WriteColumn<std::string_view>(
      ColumnType::String(),
      {.encoding = Encoding::kDict, .nullable = true, .block_size_bytes = 8192}, column);
  const Reader reader =
      *Reader::Open(std::make_shared<testing_support::ScriptedSource>(NewMemorySource(bytes)));
  for (const size_t rows : {100, 65536}) {
    auto read =
        Exported(reader, kAllRows,
                 ArrowExportOptions{
                     .dictionaries = false, .dictionary_views = true, .max_batch_rows = rows});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_STREQ(read->schema->children[0]->format, "vu");
    EXPECT_TRUE(read->Rows() == Expected<std::string_view>(ColumnType::String(), column));
    // The buffers of the first array: validity, views, copied strings, the dictionary, sizes.
    const ArrowArray& values = *read->arrays[0]->children[0];
    ASSERT_EQ(values.n_buffers, 5);
    const int64_t copied_bytes = static_cast<const int64_t*>(values.buffers[4])[0];
    EXPECT_EQ(copied_bytes == 0, rows == 100);
  }
}

// A consumer may release arrays in any order, in any thread, and after the stream.
// It may release a child alone.
TEST(Arrow, ReleaseInAnyOrder) {
  std::mt19937_64 random(2);
  Column<std::string_view> column;
  for (int i = 0; i < 3000; ++i) column.rows.push_back("v" + std::to_string(i % 50));
  const Reader reader = OpenBytes(
      WriteColumn<std::string_view>(ColumnType::String(), {.encoding = Encoding::kDict}, column));
  for (int turn = 0; turn < 10; ++turn) {
    auto read = Exported(reader, kAllRows, ArrowExportOptions{.max_batch_rows = 100});
    ASSERT_TRUE(read.ok()) << read.status();
    std::shuffle(read->arrays.begin(), read->arrays.end(), random);
    std::vector<ArrowArray> children;
    for (auto& array : read->arrays) {
      if (random() % 2 == 0) continue;
      children.push_back(*array->children[0]);  // moves the child out of its parent
      array->children[0]->release = nullptr;
    }
    std::thread thread([arrays = std::move(read->arrays)]() mutable { arrays.clear(); });
    for (ArrowArray& child : children) {
      EXPECT_EQ(static_cast<const char*>(child.dictionary->buffers[2])[0], 'v');
      child.release(&child);
      EXPECT_EQ(child.release, nullptr);
    }
    thread.join();
  }
}

// Batches of blocks with dictionary codes share the dictionary of the file.
// A batch that also has rows of other blocks has a dictionary of its own.
TEST(Arrow, Dictionaries) {
  for (const Encoding encoding : {Encoding::kDict, Encoding::kParquetDictionary}) {
    SCOPED_TRACE(EncodingName(encoding));
    Column<std::string_view> column;
    for (int i = 0; i < 9000; ++i)
      column.rows.push_back(i % 7 == 0 ? std::nullopt
                                       : std::optional<std::string>("v" + std::to_string(i % 50)));
    column.rows[3] = column.rows[4000] = "";
    WriterOptions options{.encoding = encoding, .nullable = true, .block_size_bytes = 4096};
    const std::vector<Json> expected = Expected<std::string_view>(ColumnType::String(), column);
    Reader reader = OpenBytes(WriteColumn<std::string_view>(ColumnType::String(), options, column));
    auto read = Exported(reader, kAllRows, ArrowExportOptions{.max_batch_rows = 1000});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_STREQ(read->schema->children[0]->format, "i");
    EXPECT_STREQ(read->schema->children[0]->dictionary->format, "u");
    EXPECT_TRUE(read->Rows() == expected);
    for (const auto& array : read->arrays) {
      EXPECT_EQ(array->children[0]->dictionary->buffers[2],
                read->arrays[0]->children[0]->dictionary->buffers[2]);
    }

    options.max_dictionary_values = 20;  // later blocks store no codes
    for (size_t i = 0; i < 5000; ++i) column.rows[i] = "v" + std::to_string(i / 400);
    reader = OpenBytes(WriteColumn<std::string_view>(ColumnType::String(), options, column));
    read = Exported(reader, kAllRows, ArrowExportOptions{.max_batch_rows = 1000});
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_NE(read->schema->children[0]->dictionary, nullptr);
    EXPECT_TRUE(read->Rows() == Expected<std::string_view>(ColumnType::String(), column));

    const auto plain = Exported(reader, kAllRows, ArrowExportOptions{.dictionaries = false});
    ASSERT_TRUE(plain.ok()) << plain.status();
    EXPECT_EQ(plain->schema->children[0]->dictionary, nullptr);
  }
}

// A batch ends as soon as its values have kEnoughBytes bytes.
TEST(Arrow, LongStringsEndABatch) {
  Column<std::string_view> column;
  for (int i = 0; i < 200; ++i) column.rows.push_back(std::string(1 << 20, static_cast<char>(i)));
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kDict}) {
    const Reader reader = OpenBytes(WriteColumn<std::string_view>(
        ColumnType::Binary(), {.encoding = encoding, .block_size_bytes = 4 << 20}, column));
    const auto read = Exported(reader, kAllRows, ArrowExportOptions{.dictionaries = false});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->num_rows(), 200u);
    for (const auto& array : read->arrays) EXPECT_LE(array->length, 96);
  }
}

// A null of a column of long fixed bytes takes no bytes in the file.
// But in a batch, the null takes as many bytes as a value. So nulls also make a batch end.
TEST(Arrow, LongNullsEndABatch) {
  constexpr size_t kRows = 12;
  const ColumnType type = ColumnType::FixedBytes(1 << 24);
  Column<std::string_view> column;
  column.rows.resize(kRows);
  const Reader rows = OpenBytes(WriteColumn<std::string_view>(type, {.nullable = true}, column));
  const Reader lists = OpenBytes(FileOfLevels<std::string_view>(
      type, {.max_repetition = 1, .max_definition = 3}, std::vector<uint16_t>(kRows, 0),
      std::vector<uint16_t>(kRows, 2), {}));
  for (const Reader& reader : {rows, lists}) {
    const auto read = Exported(reader, kAllRows, ArrowExportOptions{});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->num_rows(), kRows);
    for (const auto& array : read->arrays) EXPECT_LE(array->length, 8);
  }
}

// The library keeps at most 32 MiB of string buffers for later use, as documented.
// A large buffer counts with all its memory, even if it has only short strings.
TEST(Arrow, KeptMemoryOfStrings) {
  std::vector<encodings::PackedStrings> taken;
  const auto take_all = [&] {
    size_t bytes = 0;
    taken.clear();
    do {
      taken.push_back(internal::TakeStrings());
      bytes += taken.back().memory_bytes();
    } while (taken.back().memory_bytes() > 0);
    return bytes;
  };
  take_all();  // removes the buffers that other tests have left
  const std::string large(size_t{20} << 20, 'x');
  const std::string_view values[] = {large, std::string_view(large).substr(0, 40'000)};
  // In the second turn, the short string is in the large buffer of the first turn.
  for (const std::string_view value : values) {
    encodings::PackedStrings strings = internal::TakeStrings();
    strings.Append({&value, 1});
    internal::OwnStrings(strings).reset();
  }
  encodings::PackedStrings other;
  other.Append({values, 1});
  internal::OwnStrings(other).reset();
  const size_t kept = take_all();
  EXPECT_GE(kept, large.size());
  EXPECT_LE(kept, size_t{32} << 20);
}

// A stream of a damaged file first returns the rows before the damage.
// Then it returns an error code with a text.
TEST(Arrow, Damage) {
  std::vector<uint8_t> bytes = WriteColumn<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain, .block_size_bytes = 20000},
      ManyNumbers());
  bytes[bytes.size() / 2] ^= 1;
  Released<ArrowArrayStream> stream;
  ASSERT_TRUE(ExportArrowStream(OpenBytes(bytes), kAllRows, {}, stream.get()).ok());
  int64_t rows = 0;
  int code = 0;
  for (int i = 0; i < 10 && code == 0; ++i) {
    Released<ArrowArray> array;
    code = stream->get_next(stream.get(), array.get());
    if (code == 0) {
      ASSERT_NE(array->release, nullptr);
      rows += array->length;
    } else {
      EXPECT_EQ(array->release, nullptr);
    }
  }
  EXPECT_GT(rows, 0);
  EXPECT_LT(rows, 10000);
  EXPECT_EQ(code, EIO);
  EXPECT_THAT(stream->get_last_error(stream.get()), testing::HasSubstr("checksum"));
}

TEST(Arrow, NoMemory) {
  Column<std::string_view> column;
  for (int i = 0; i < 300; ++i) column.rows.push_back("a long string " + std::to_string(i % 50));
  const Reader reader = OpenBytes(
      WriteColumn<std::string_view>(ColumnType::String(), {.encoding = Encoding::kDict}, column));
  for (const ArrowExportOptions& options : kManyOptions) {
    ASSERT_TRUE(Exported(reader, kAllRows, options).ok());
    ExpectNoMemory(campaign::heap, [&](ArrowArrayStream* stream) {
      return ExportArrowStream(reader, kAllRows, options, stream);
    });
  }
}

class ArrowTableTest : public TableTestBase {
 protected:
  std::vector<Json> All(const ArrowExportOptions& options = {}) {
    return RowsOf(Exported(OpenTable(), TableScanOptions{}, options));
  }
};

TEST_F(ArrowTableTest, PartsFiltersAndLimits) {
  WritePart(0, 20000);
  WritePart(20000, 30);
  const std::vector<Json> all = All();
  ASSERT_EQ(all.size(), 20030u);
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i]["id"], 31 * i);
  for (const ArrowExportOptions& options : kManyOptions) EXPECT_TRUE(All(options) == all);
  // A scan of a single column returns the same values.
  for (const ColumnSchema& column : ManyTypes().columns) {
    const std::vector<Json> rows = RowsOf(
        Exported(OpenTable(), TableScanOptions{.columns = {{column.name}}}, ArrowExportOptions{}));
    ASSERT_EQ(rows.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(rows[i][column.name], all[i][column.name]);
  }
  // Exports only the rows that match: first by the scan options, then by an open scan.
  std::vector<Json> expected;
  for (const Json& row : all) {
    if (!row["tiny"].is_null() && row["tiny"] < 9) {
      expected.push_back({{"tiny", row["tiny"]}, {"name", row["name"]}, {"price", row["price"]}});
    }
  }
  TableScanOptions scan_options{.columns = {{"tiny", "name", "price"}}, .where = Lt("tiny", 9)};
  EXPECT_TRUE(RowsOf(Exported(OpenTable(), scan_options, ArrowExportOptions{})) == expected);
  scan_options.limit = 5;
  auto scan = OpenTable().NewScan(scan_options);
  ASSERT_TRUE(scan.ok()) << scan.status();
  expected.resize(5);
  auto read = Exported(*std::move(scan), ArrowExportOptions{.max_batch_rows = 2});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->Rows() == expected);
  EXPECT_EQ(read->arrays.size(), 3u);
}

TEST_F(ArrowTableTest, ReverseNoColumnsAndRepeatedColumns) {
  WritePart(0, 20000);
  auto read = Exported(OpenTable(), TableScanOptions{.columns = {{"id"}}, .reverse = true},
                       ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  size_t left = 20000;
  for (auto& array : read->arrays) {
    left -= static_cast<size_t>(array->length);
    EXPECT_EQ(static_cast<const int64_t*>(array->children[0]->buffers[1])[0],
              31 * static_cast<int64_t>(left));
  }
  EXPECT_EQ(left, 0u);
  read =
      Exported(OpenTable(), TableScanOptions{.columns = {{}}, .limit = 70}, ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->num_rows(), 70u);
  read = Exported(OpenTable(), TableScanOptions{.columns = {{"id", "day", "id"}}, .limit = 70},
                  ArrowExportOptions{});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->schema->n_children, 3);
  EXPECT_EQ(read->num_rows(), 70u);
  const auto wrong =
      Exported(OpenTable(), TableScanOptions{.columns = {{"none"}}}, ArrowExportOptions{});
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ArrowTableTest, Cancelled) {
  WritePart(0, 20000);
  std::atomic<bool> cancelled = true;
  Released<ArrowArrayStream> stream;
  ASSERT_TRUE(ExportArrowStream(OpenTable(), {.cancelled = &cancelled}, {}, stream.get()).ok());
  Released<ArrowArray> array;
  EXPECT_EQ(stream->get_next(stream.get(), array.get()), ECANCELED);
  cancelled = false;
  EXPECT_EQ(stream->get_next(stream.get(), array.get()), 0);
  EXPECT_NE(array->release, nullptr);
}

// Nested records.

// Returns the Arrow value of one occurrence of a node.
Json ArrowOf(const RecordSchema& schema, size_t number, const Json& json);

// Returns the Arrow value of a field of a group.
Json ArrowField(const RecordSchema& schema, size_t number, const Json& group) {
  const RecordNode& node = schema.node(number);
  const auto found = group.find(node.name);
  if (node.repetition != Repetition::kRepeated)
    return found == group.end() ? Json(nullptr) : ArrowOf(schema, number, *found);
  Json list = Json::array();
  if (found == group.end()) return list;
  for (const Json& element : *found) list.push_back(ArrowOf(schema, number, element));
  return list;
}

Json ArrowOf(const RecordSchema& schema, size_t number, const Json& json) {
  const RecordNode& node = schema.node(number);
  if (node.is_leaf()) return json;
  if (node.kind == GroupKind::kList) {
    Json list = Json::array();
    const auto elements = json.find(schema.node(number + 1).name);
    if (elements == json.end()) return list;
    const size_t element = schema.ListElement(number);
    for (const Json& occurrence : *elements) {
      list.push_back(element == number + 1 ? ArrowOf(schema, element, occurrence)
                                           : ArrowField(schema, element, occurrence));
    }
    return list;
  }
  if (node.kind == GroupKind::kMap) return ArrowField(schema, number + 1, json);
  Json group = Json::object();
  for (size_t child = number + 1; child < node.end; child = schema.node(child).end)
    group[schema.node(child).name] = ArrowField(schema, child, json);
  return group;
}

TEST_F(ArrowTableTest, Records) {
  std::mt19937_64 random(3);
  const auto schema = RecordSchema::Parse(kNestedRecord);
  ASSERT_TRUE(schema.ok()) << schema.status();
  std::vector<Json> expected;
  for (const size_t count : {size_t{1000}, size_t{1}, size_t{3000}}) {
    auto writer =
        expected.empty() ? RecordWriter::Create(path_, *schema) : RecordWriter::Append(path_);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (size_t i = 0; i < count; ++i) {
      const Json record = RandomRecord(*schema, 0, random);
      ASSERT_TRUE(TellJson(*schema, 0, record, *writer).ok());
      expected.push_back(ArrowOf(*schema, 0, record));
    }
    ASSERT_TRUE(writer->Finish().ok());
  }
  for (const ArrowExportOptions& options : kManyOptions) ASSERT_TRUE(All(options) == expected);

  Released<ArrowSchema> exported;
  ASSERT_TRUE(ExportArrowSchema(OpenTable().schema(), {}, exported.get()).ok());
  ASSERT_EQ(exported->n_children, 10);
  EXPECT_STREQ(exported->children[9]->format, "+m");
  EXPECT_STREQ(exported->children[9]->children[0]->name, "entries");
  EXPECT_EQ(exported->children[9]->flags, ARROW_FLAG_NULLABLE);
  EXPECT_EQ(exported->children[9]->children[0]->flags, 0);
  EXPECT_EQ(exported->children[9]->children[0]->children[0]->flags, 0);
  EXPECT_EQ(exported->children[9]->children[0]->children[1]->flags, ARROW_FLAG_NULLABLE);
  EXPECT_STREQ(exported->children[2]->format, "+l");
  EXPECT_EQ(exported->children[2]->flags, 0);

  // Exports only some columns and only the rows that match a filter.
  auto read = Exported(
      OpenTable(),
      TableScanOptions{.columns = {{"id", "points.list.element.z", "tcp", "map.key_value.value"}},
                       .where = Lt("id", 10)},
      ArrowExportOptions{.max_batch_rows = 100});
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<Json> some;
  for (const Json& record : expected) {
    if (record["id"] >= 10) continue;
    Json row = {{"id", record["id"]},
                {"tcp", record["tcp"]},
                {"map", record["map"]},
                {"points", record["points"]}};
    for (Json& point : row["points"]) point = {{"z", point["z"]}};
    for (Json& entry : row["map"]) entry = {{"value", entry["value"]}};
    some.push_back(std::move(row));
  }
  EXPECT_GT(some.size(), 50u);
  EXPECT_TRUE(read->Rows() == some);
  read = Exported(OpenTable(), TableScanOptions{.columns = {{"tcp", "tcp.mss"}}},
                  ArrowExportOptions{});
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
}

// A value of a list does not fit its Arrow type. The rows that were read before it are returned.
TEST_F(ArrowTableTest, RowsBeforeAValueThatDoesNotFit) {
  const auto schema = RecordSchema::Parse(
      "message Record { required int64 id; repeated int96 times; repeated binary texts; }");
  ASSERT_TRUE(schema.ok()) << schema.status();
  const Int96 time(uint128_t{2440588} << 64);
  for (const bool fits : {true, false}) {
    auto writer = fits ? RecordWriter::Create(path_, *schema) : RecordWriter::Append(path_);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (int64_t i = 0; i < 1000; ++i) {
      const bool bad = !fits && i == 500;
      ASSERT_TRUE(writer->BeginGroup(0).ok() && writer->Value(1, i).ok() &&
                  writer->Value(2, time).ok() &&
                  writer->Value(2, bad ? Int96(~uint128_t{0}) : time).ok() &&
                  writer->Value(3, std::string_view("text")).ok() && writer->EndGroup(0).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
  }
  Released<ArrowArrayStream> stream;
  ASSERT_TRUE(ExportArrowStream(OpenTable(), TableScanOptions{}, {}, stream.get()).ok());
  Released<ArrowArray> array;
  ASSERT_EQ(stream->get_next(stream.get(), array.get()), 0);
  // Rows of the second part that were read apart from the bad row may also be in the batch.
  const int64_t rows = array->length;
  ASSERT_TRUE(rows >= 1000 && rows <= 1500) << rows;
  for (int64_t i = 0; i < 3; ++i) ASSERT_EQ(array->children[i]->length, rows);
  ASSERT_EQ(array->children[1]->children[0]->length, 2 * rows);
  ASSERT_EQ(array->children[2]->children[0]->length, rows);
  EXPECT_EQ(static_cast<const int32_t*>(array->children[1]->buffers[1])[rows], 2 * rows);
  for (int turn = 0; turn < 2; ++turn) {
    Released<ArrowArray> none;
    EXPECT_EQ(stream->get_next(stream.get(), none.get()), ERANGE);
    EXPECT_EQ(none->release, nullptr);
    EXPECT_THAT(stream->get_last_error(stream.get()), testing::HasSubstr("an int96 is a time"));
  }
}

// Exports files with levels that belong to no table of records.
TEST(Arrow, LevelsOfAFile) {
  const auto write = [](const LevelLimits& limits, const std::vector<uint16_t>& repetition,
                        const std::vector<uint16_t>& definition,
                        const std::vector<int32_t>& values) {
    return OpenBytes(
        FileOfLevels<int32_t>(ColumnType::Int32(), limits, repetition, definition, values));
  };
  const auto rows = [](const Reader& reader) -> std::vector<Json> {
    return RowsOf(Exported(reader, kAllRows, ArrowExportOptions{.column_only = true}));
  };
  // These values are the example in cfile/levels.h.
  EXPECT_EQ(rows(write({.max_repetition = 1, .max_definition = 2}, {0, 1, 0, 0, 0}, {2, 2, 1, 0, 2},
                       {1, 2, 3})),
            (std::vector<Json>{{1, 2}, Json::array(), nullptr, Json::array({3})}));
  EXPECT_EQ(rows(write({.max_repetition = 1, .max_definition = 3}, {0, 1, 0, 0, 0}, {3, 2, 1, 0, 3},
                       {1, 3})),
            (std::vector<Json>{{1, nullptr}, Json::array(), nullptr, Json::array({3})}));
  EXPECT_EQ(rows(write(LevelLimits::KuduArray(false), {0, 1, 0, 0}, {2, 1, 0, 2}, {1, 3})),
            (std::vector<Json>{{1, nullptr}, Json::array(), Json::array({3})}));
  EXPECT_EQ(rows(write(LevelLimits::KuduArray(true), {0, 1, 0, 0, 0}, {3, 2, 1, 0, 3}, {1, 3})),
            (std::vector<Json>{{1, nullptr}, Json::array(), nullptr, Json::array({3})}));
  const auto refused =
      Exported(write({.max_definition = 2}, {}, {0, 1, 2}, {5}), kAllRows, ArrowExportOptions{});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.status().message()), testing::HasSubstr("column value"));
}

// Exports long records, and lists whose strings are so long that they end a batch.
TEST(Arrow, LongRecords) {
  std::mt19937_64 random(5);
  const LevelLimits limits{.max_repetition = 1, .max_definition = 1};
  const auto leaf =
      testing_support::RandomLeaf<int64_t>(ColumnType::Int64(), limits, 300, 200000, random);
  const Reader reader = OpenBytes(testing_support::WriteLeaf<int64_t>(
      ColumnType::Int64(), {.block_size_bytes = 4 << 20}, leaf, random));
  const std::vector<Json> rows =
      RowsOf(Exported(reader, kAllRows, ArrowExportOptions{.column_only = true}));
  ASSERT_EQ(rows.size(), leaf.num_records());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), leaf.first_values[i + 1] - leaf.first_values[i]);
    for (size_t k = 0; k < rows[i].size(); ++k)
      ASSERT_EQ(rows[i][k], leaf.values[leaf.first_values[i] + k]);
  }
}

// The elements of lists are borrowed from a source in memory if they are plain.
// Otherwise they are decoded into the array.
TEST(Arrow, ElementsOfLists) {
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kParquetDeltaBinaryPacked}) {
    for (const bool nullable : {false, true}) {
      SCOPED_TRACE(EncodingName(encoding) + (nullable ? ", nullable" : ""));
      std::mt19937_64 random(6);
      const auto maximum = static_cast<uint16_t>(nullable ? 3 : 2);
      std::vector<uint16_t> repetition, definition;
      std::vector<int64_t> values;
      std::vector<Json> expected;
      for (int row = 0; row < 30000; ++row) {
        Json list = Json::array();
        const size_t length = random() % 6;
        if (length == 0) {
          definition.push_back(random() % 2);  // a null or an empty list
          repetition.push_back(0);
          if (definition.back() == 0) list = nullptr;
        }
        for (size_t i = 0; i < length; ++i) {
          const bool null = nullable && row > 20000 && random() % 3 == 0;
          repetition.push_back(i > 0);
          definition.push_back(null ? 2 : maximum);
          if (!null) values.push_back(static_cast<int64_t>(random() % 1000));
          list.push_back(null ? Json() : Json(values.back()));
        }
        expected.push_back(list);
      }
      std::shared_ptr<const Source> source = NewMemorySource(FileOfLevels<int64_t>(
          ColumnType::Int64(), {.max_repetition = 1, .max_definition = maximum}, repetition,
          definition, values,
          {.encoding = encoding, .compression = Compression::kNone, .block_size_bytes = 60'000}));
      const std::weak_ptr<const Source> alive = source;
      const std::span<const uint8_t> memory = source->InMemory();
      const Reader reader = *Reader::Open(std::move(source));
      for (const size_t max_rows : {size_t{700}, size_t{5000}, kMaxBatchRows}) {
        auto read = Exported(reader, kAllRows,
                             ArrowExportOptions{.max_batch_rows = max_rows, .column_only = true});
        ASSERT_TRUE(read.ok()) << read.status();
        EXPECT_TRUE(read->Rows() == expected) << max_rows;
        size_t borrowed = 0;
        for (const auto& array : read->arrays) {
          const auto* const elements = static_cast<const uint8_t*>(array->children[0]->buffers[1]);
          borrowed += elements >= memory.data() && elements < memory.data() + memory.size();
        }
        // A batch whose elements lie in two blocks, or that has null elements, is copied.
        const bool plain = encoding == Encoding::kPlain;
        EXPECT_EQ(borrowed > 0, plain) << max_rows;
        if (plain && !nullable && max_rows == kMaxBatchRows) {
          EXPECT_EQ(borrowed, read->arrays.size());
        }
      }
    }
  }
}

}  // namespace cfile::arrow_test
