// Tests scans of tables in unusual cases.
// The cases are constants at the ends of a type, damaged files, long records and failing reads.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/record_schema.h"
#include "cfile/scan.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::table_scan_edges_test {

template <typename T>
std::vector<uint8_t> File(const ColumnType& type, const WriterOptions& options,
                          std::span<const T> values) {
  std::vector<uint8_t> bytes;
  auto writer = Writer<T>::Create(NewMemorySink(&bytes), type, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ(writer->Append(values), absl::OkStatus());
  EXPECT_EQ(writer->Finish(), absl::OkStatus());
  return bytes;
}

// Reads each byte, so that a sanitizer notices bytes outside the memory of a batch.
void ReadBytes(std::span<const std::string_view> strings) {
  for (const std::string_view string : strings) {
    for (const char c : string) {
      volatile char read = c;
      (void)read;
    }
  }
}

std::vector<uint64_t> Ordinals(absl::StatusOr<TableScan> scan) {
  std::vector<uint64_t> found;
  EXPECT_TRUE(scan.ok()) << scan.status();
  if (!scan.ok()) return found;
  for (const auto& batch : scan->Batches()) {
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok()) break;
    for (size_t i = 0; i < batch->num_rows(); ++i) found.push_back(batch->ordinal(i));
  }
  return found;
}

template <typename T>
void BetweenAboveTheGreatest(const ColumnType& type) {
  const T values[] = {std::numeric_limits<T>::min(), 0, 1, std::numeric_limits<T>::max()};
  const auto reader = Reader::Open(
      NewMemorySource(File<T>(type, {.encoding = Encoding::kPlain, .statistics = false}, values)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const double max = static_cast<double>(std::numeric_limits<T>::max());
  EXPECT_THAT(Ordinals(NewTableScan(*reader, {.where = Between("value", max + 0.25, max + 0.75)})),
              testing::IsEmpty());
}

// The scan rounds the lower bound up to the next integer. This integer is too large for the type.
TEST(TableScanEdges, BetweenAboveTheGreatestValue) {
  BetweenAboveTheGreatest<int8_t>(ColumnType::Int8());
  BetweenAboveTheGreatest<uint16_t>(ColumnType::Uint16());
  BetweenAboveTheGreatest<int32_t>(ColumnType::Int32());
  BetweenAboveTheGreatest<uint32_t>(ColumnType::Uint32());
}

// Conditions on a float column may have constants outside the range of float.
TEST(TableScanEdges, FloatConstantsOutsideTheRange) {
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {-inf, -1, 0, 1, std::numeric_limits<float>::max(), inf};
  const auto reader = Reader::Open(
      NewMemorySource(File<float>(ColumnType::Float(), {.encoding = Encoding::kPlain}, values)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto scan = [&](const Filter& filter) {
    return Ordinals(NewTableScan(*reader, {.where = filter}));
  };
  EXPECT_THAT(scan(Eq("value", 1e300)), testing::IsEmpty());
  EXPECT_THAT(scan(Le("value", 1e300)), testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(scan(Gt("value", 1e300)), testing::ElementsAre(5));
  EXPECT_THAT(scan(Ge("value", -1e300)), testing::ElementsAre(1, 2, 3, 4, 5));
}

// The file has a value index and no positional index.
TEST(TableScanEdges, NoPositionalIndex) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 20000; ++i) values.push_back(i);
  const auto reader = Reader::Open(NewMemorySource(File<int64_t>(ColumnType::Int64(),
                                                                 {.encoding = Encoding::kPlain,
                                                                  .positional_index = false,
                                                                  .value_index = true,
                                                                  .block_size_bytes = 8000},
                                                                 values)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(Ordinals(NewTableScan(*reader, {})).size(), 20000u);
  // A scan of one column (cfile/scan.h) works with such a file.
  size_t found = 0;
  auto scan = reader->NewScan<int64_t>(Predicate<int64_t>::Between(15000, 15009));
  ASSERT_TRUE(scan.ok());
  for (const auto& batch : scan->Batches()) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    found += batch->size();
  }
  EXPECT_EQ(found, 10u);
  // The value index leads to the block with row 15000, both for the scan and for its search.
  const uint64_t before = reader->counters().blocks_read;
  EXPECT_EQ(Ordinals(NewTableScan(*reader, {.columns = {{}}, .where = Eq("value", 15000)})).size(),
            1u);
  auto one = reader->NewScan<int64_t>(Predicate<int64_t>::In({15000, 15001}));
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->Next()->size(), 2u);
  EXPECT_LE(reader->counters().blocks_read - before, 8u);
  // It does so, too, if several conditions share the column.
  const uint64_t middle = reader->counters().blocks_read;
  EXPECT_EQ(Ordinals(NewTableScan(*reader, {.columns = {{}},
                                            .where = And(Ge("value", 15000), Ne("value", 15001),
                                                         Le("value", 15009))}))
                .size(),
            9u);
  EXPECT_LE(reader->counters().blocks_read - middle, 8u);
  EXPECT_EQ(Ordinals(NewTableScan(*reader, {.where = Between("value", 15000, 15009)})).size(), 10u);
  EXPECT_EQ(Ordinals(NewTableScan(*reader, {.where = Ne("value", 15000)})).size(), 19999u);
  EXPECT_EQ(Ordinals(NewTableScan(*reader, {.limit = 10, .reverse = true})).size(), 10u);
  EXPECT_EQ(Ordinals(NewTableScan(*reader, {.range = {10000, 10010}})).size(), 10u);
}

// Blocks are read once, in both directions.
TEST(TableScanEdges, ReverseReadsBlocksOnce) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 200'000; ++i) values.push_back(i * 7919 % 1000);
  for (const bool statistics : {true, false}) {
    const auto reader = Reader::Open(NewMemorySource(File<int64_t>(
        ColumnType::Int64(),
        {.encoding = Encoding::kPlain, .block_size_bytes = 8000, .statistics = statistics},
        values)));
    ASSERT_TRUE(reader.ok()) << reader.status();
    uint64_t blocks[2], condition[2];
    for (const bool reverse : {false, true}) {
      auto scan = NewTableScan(*reader, {.where = Lt("value", 500), .reverse = reverse});
      ASSERT_TRUE(scan.ok());
      for (const auto& batch : scan->Batches()) ASSERT_TRUE(batch.ok()) << batch.status();
      blocks[reverse] = scan->counters().blocks_read[0];
      condition[reverse] = scan->counters().conditions[0].blocks_read;
      auto all = NewTableScan(*reader, {.reverse = reverse});
      for (const auto& batch : all->Batches()) ASSERT_TRUE(batch.ok()) << batch.status();
      EXPECT_LE(all->counters().blocks_read[0], 2 * 201u);
    }
    EXPECT_LE(blocks[1], 2 * blocks[0]);
    EXPECT_LE(condition[1], 2 * condition[0]);
  }
}

class TableScanEdgesOfTables : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
};

// Every n-th read fails. The scan must make progress with each call.
TEST(TableScanEdges, EachNthReadFails) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 20'000; ++i) values.push_back(i / 3);
  for (const uint64_t every : {2, 3, 4}) {
    for (const bool single : {false, true}) {
      testing_support::Fault fault;
      const auto source = std::make_shared<testing_support::ScriptedSource>(
          NewMemorySource(File<int64_t>(ColumnType::Int64(),
                                        {.encoding = Encoding::kPlain,
                                         .compression = Compression::kNone,
                                         .value_index = true,
                                         .block_size_bytes = 4096},
                                        values)),
          fault.script());
      const auto reader = Reader::Open(source, {.read_ahead_bytes = 0});
      ASSERT_TRUE(reader.ok()) << reader.status();
      const Filter filter =
          single ? Between("value", 1000, 1009) : And(Ge("value", 1000), Lt("value", 1010));
      auto scan = NewTableScan(*reader, {.where = filter});
      ASSERT_TRUE(scan.ok()) << scan.status();
      fault.FailEach(every);
      size_t rows = 0;
      int errors = 0;
      while (errors < 1000) {
        const auto batch = scan->Next();
        if (!batch.ok()) {
          ++errors;
          continue;
        }
        if (batch->empty()) break;
        rows += batch->num_rows();
      }
      EXPECT_EQ(rows, 30u) << "every " << every << ", one condition: " << single << ", errors "
                           << errors;
    }
  }
}

// A scan of a damaged file does not crash and does not run for ever.
TEST(TableScanEdges, DamagedFiles) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<uint8_t> bytes;
    const bool nullable = random() % 2 == 0;
    const bool sorted = !nullable && random() % 2 == 0;
    {
      auto writer =
          Writer<std::string_view>::Create(NewMemorySink(&bytes), ColumnType::String(),
                                           {.encoding = random() % 2   ? Encoding::kPlain
                                                        : random() % 2 ? Encoding::kDict
                                                                       : Encoding::kPrefix,
                                            .compression = Compression::kNone,
                                            .nullable = nullable,
                                            .value_index = sorted,
                                            .block_size_bytes = 300,
                                            .statistics = random() % 4 != 0});
      ASSERT_TRUE(writer.ok()) << writer.status();
      for (int i = 0; i < 300; ++i) {
        if (nullable && random() % 4 == 0) {
          ASSERT_EQ(writer->AppendNull(), absl::OkStatus());
          continue;
        }
        const std::string text =
            absl::StrCat("v", 1000 + (sorted ? i : static_cast<int>(random() % 20)));
        const std::string_view view = text;
        ASSERT_EQ(writer->Append({&view, 1}), absl::OkStatus());
      }
      ASSERT_EQ(writer->Finish(), absl::OkStatus());
    }
    for (size_t n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    const auto reader = Reader::Open(NewMemorySource(bytes), {.verify_checksums = false});
    if (!reader.ok()) continue;
    for (const Filter& filter : {Filter(), Gt("value", "v1005"), Not(HasPrefix("value", "v101")),
                                 IsNull("value"), Or(Eq("value", "v1003"), IsNull("value"))}) {
      for (const bool reverse : {false, true}) {
        auto scan = NewTableScan(*reader, {.where = filter, .reverse = reverse});
        if (!scan.ok()) continue;
        size_t rows = 0;
        for (int calls = 0;; ++calls) {
          ASSERT_LT(calls, 5000);
          const auto batch = scan->Next();
          if (!batch.ok() || batch->empty()) break;
          rows += batch->num_rows();
          ReadBytes(batch->column<std::string_view>(0).values);
        }
        ASSERT_LE(rows, reader->num_rows());
      }
    }
  }
}

// A limit ends the search for matching rows.
TEST(TableScanEdges, LimitReadsFewBlocks) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 1'000'000; ++i) values.push_back(i % 1000);
  const auto reader = Reader::Open(NewMemorySource(File<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain, .block_size_bytes = 65536}, values)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const bool reverse : {false, true}) {
    auto scan = NewTableScan(*reader, {.where = Eq("value", 999), .limit = 1, .reverse = reverse});
    ASSERT_TRUE(scan.ok());
    for (const auto& batch : scan->Batches()) ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(scan->counters().rows_returned, 1u);
    EXPECT_LE(scan->counters().conditions[0].blocks_read, 2u) << "reverse " << reverse;
  }
}

// Conditions may have values that are shorter or longer than the values of the column.
TEST(TableScanEdges, FixedLengthWithValueIndex) {
  const ColumnType type = ColumnType::FixedBytes(4);
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back(absl::StrCat(1000 + i));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto reader = Reader::Open(NewMemorySource(File<std::string_view>(
      type, {.encoding = Encoding::kPlain, .value_index = true, .block_size_bytes = 1000}, views)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto count = [&](const Filter& filter) {
    return Ordinals(NewTableScan(*reader, {.where = filter})).size();
  };
  EXPECT_EQ(count(Eq("value", "1005")), 1u);
  EXPECT_EQ(count(Eq("value", "10")), 0u);
  EXPECT_EQ(count(Eq("value", "10055")), 0u);
  EXPECT_EQ(count(Ne("value", "10")), 5000u);
  EXPECT_EQ(count(Lt("value", "11")), 100u);
  EXPECT_EQ(count(Not(Lt("value", "11"))), 4900u);
  EXPECT_EQ(count(Between("value", "", "11")), 100u);
  EXPECT_EQ(count(In("value", {"1", "1001", "10011", "6000"})), 1u);
}

// If a batch is cut so that no row of it is null, its validity is nullptr.
TEST_F(TableScanEdgesOfTables, ValidityOfACutBatch) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Int64(), .nullable = true},
                                  {.name = "t", .type = ColumnType::String()}}};
  std::vector<WriterOptions> options(2);
  options[1] = {.encoding = Encoding::kPrefix, .compression = Compression::kNone};
  auto writer = TableWriter::Create(path_, schema, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<int64_t> numbers(2000, 7);
  std::vector<uint8_t> validity(250, 0xff);
  validity[249] = 0x7f;
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) texts.push_back(absl::StrCat(i, std::string(8000, 'x')));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ASSERT_EQ(writer->Append<int64_t>(0, numbers, validity), absl::OkStatus());
  ASSERT_EQ(writer->Append<std::string_view>(1, views), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok());
  auto scan = table->NewScan({});
  ASSERT_TRUE(scan.ok());
  for (const auto& batch : scan->Batches()) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    const Batch<int64_t>& column = batch->column<int64_t>(0);
    EXPECT_EQ(column.validity != nullptr, column.null_count > 0);
    if (column.validity != nullptr && column.null_count == 0) break;
  }
}

// All rows of a column that is not nullable match IsNotNull.
TEST(TableScanEdges, NotNullOfColumnsWithoutNulls) {
  const std::vector<int64_t> values(100'000, 5);
  const auto reader = Reader::Open(NewMemorySource(File<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain, .statistics = false}, values)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const Filter& filter :
       {IsNotNull("value"), Ne("value", 0.5), Lt("value", 1e30), Not(In("value", {}))}) {
    auto scan = NewTableScan(*reader, {.columns = std::vector<std::string>(), .where = filter});
    ASSERT_TRUE(scan.ok());
    for (const auto& batch : scan->Batches()) ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(scan->counters().rows_returned, 100'000u);
    EXPECT_EQ(scan->counters().conditions[0].blocks_read, 0u);
  }
}

// Records of more than 65,536 entries, with a filter, in both directions.
TEST_F(TableScanEdgesOfTables, LongRecords) {
  const auto tree = RecordSchema::Parse(
      "message r { required int32 id; repeated int32 a; repeated binary b (UTF8) }");
  ASSERT_TRUE(tree.ok()) << tree.status();
  auto writer = TableWriter::Create(path_, Schema::OfRecords(*tree), std::vector<WriterOptions>(3));
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<size_t> la, lb;
  std::vector<int32_t> ids, va;
  std::vector<uint16_t> ra, da, rb, db;
  std::vector<std::string_view> vb;
  for (int i = 0; i < 60; ++i) {
    ids.push_back(i);
    la.push_back(i % 7 == 3 ? 150'000 : static_cast<size_t>(i % 5));
    lb.push_back(i % 11 == 3 ? 70'000 : static_cast<size_t>(i % 3));
    for (size_t k = 0; k < std::max<size_t>(la.back(), 1); ++k) {
      ra.push_back(k > 0);
      da.push_back(la.back() > 0);
      if (la.back() > 0) va.push_back(i);
    }
    for (size_t k = 0; k < std::max<size_t>(lb.back(), 1); ++k) {
      rb.push_back(k > 0);
      db.push_back(lb.back() > 0);
      if (lb.back() > 0) vb.push_back(i % 2 == 0 ? "even" : "odd");
    }
  }
  ASSERT_EQ(writer->Append<int32_t>(0, ids), absl::OkStatus());
  ASSERT_EQ(writer->AppendLevels<int32_t>(1, ra, da, va), absl::OkStatus());
  ASSERT_EQ(writer->AppendLevels<std::string_view>(2, rb, db, vb), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok());
  for (const bool reverse : {false, true}) {
    for (const Filter& filter :
         {Filter(), Ne("id", 11), Filter(Filter::Kind::kOr, {Lt("id", 20), Gt("id", 30)})}) {
      auto scan = table->NewScan({.where = filter, .reverse = reverse});
      ASSERT_TRUE(scan.ok());
      size_t rows = 0;
      for (const auto& batch : scan->Batches()) {
        ASSERT_TRUE(batch.ok()) << batch.status();
        rows += batch->num_rows();
        size_t a = 0, b = 0, na = 0, nb = 0;
        for (size_t i = 0; i < batch->num_rows(); ++i) {
          const size_t row = batch->ordinal(i);
          ASSERT_EQ(batch->column<int32_t>(0).values[i], static_cast<int32_t>(row));
          a += std::max<size_t>(la[row], 1);
          na += la[row];
          b += std::max<size_t>(lb[row], 1);
          nb += lb[row];
        }
        ASSERT_EQ(batch->levels<int32_t>(1).num_entries, a);
        ASSERT_EQ(batch->levels<int32_t>(1).values.size(), na);
        ASSERT_EQ(batch->levels<int32_t>(1).num_records, batch->num_rows());
        ASSERT_EQ(batch->levels<std::string_view>(2).num_entries, b);
        ASSERT_EQ(batch->levels<std::string_view>(2).values.size(), nb);
      }
      EXPECT_EQ(rows, filter.empty() ? 60u : filter.kind() == Filter::Kind::kColumn ? 59u : 49u);
    }
  }
}

// A scan of damaged files with levels does not crash and does not run for ever.
TEST_F(TableScanEdgesOfTables, DamagedLevels) {
  std::mt19937_64 random(12);
  const auto tree = RecordSchema::Parse(
      "message r { optional group g { optional binary x (UTF8); repeated int32 l } }");
  ASSERT_TRUE(tree.ok()) << tree.status();
  auto writer =
      TableWriter::Create(path_, Schema::OfRecords(*tree),
                          std::vector<WriterOptions>(2, {.compression = Compression::kNone,
                                                         .block_size_bytes = 300,
                                                         .max_packed_part_bytes = 0}));
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<uint16_t> dx, rl, dl;
  std::vector<std::string_view> vx;
  std::vector<int32_t> vl;
  for (int i = 0; i < 400; ++i) {
    dx.push_back(static_cast<uint16_t>(random() % 3));
    if (dx.back() == 2) vx.push_back(random() % 2 ? "some" : "other text");
    const size_t n = random() % 4;
    for (size_t k = 0; k < std::max<size_t>(n, 1); ++k) {
      rl.push_back(k > 0);
      dl.push_back(n > 0 ? 2 : dx.back() > 0 ? 1 : 0);
      if (n > 0) vl.push_back(i);
    }
  }
  ASSERT_EQ(writer->AppendLevels<std::string_view>(0, {}, dx, vx), absl::OkStatus());
  ASSERT_EQ(writer->AppendLevels<int32_t>(1, rl, dl, vl), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok());
  std::vector<std::vector<uint8_t>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".cft") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  size_t good = 0, bad = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<uint8_t> bytes = files[random() % files.size()];
    for (size_t n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    const auto reader = Reader::Open(NewMemorySource(bytes), {.verify_checksums = false});
    if (!reader.ok() || !reader->info().has_levels()) continue;
    const bool text = reader->type().physical() == PhysicalType::kBytes;
    for (const Filter& filter :
         {Filter(), Gt("value", "p"), Not(HasPrefix("value", "s")), IsNull("value")}) {
      for (const bool reverse : {false, true}) {
        auto scan = NewTableScan(*reader, {.where = filter, .reverse = reverse});
        if (!scan.ok()) continue;
        size_t rows = 0;
        for (int calls = 0;; ++calls) {
          ASSERT_LT(calls, 5000);
          const auto batch = scan->Next();
          if (!batch.ok()) ++bad;
          if (!batch.ok() || batch->empty()) break;
          ++good;
          rows += batch->num_rows();
          if (!text) {
            if (reader->type() == ColumnType::Int32()) {
              ASSERT_EQ(batch->levels<int32_t>(0).num_records, batch->num_rows());
            }
            continue;
          }
          ASSERT_EQ(batch->levels<std::string_view>(0).num_records, batch->num_rows());
          ReadBytes(batch->levels<std::string_view>(0).values);
        }
        ASSERT_LE(rows, reader->num_rows());
      }
    }
  }
}

}  // namespace cfile::table_scan_edges_test
