// Several threads use one table: they write its columns in parallel, and split scans into ranges.
#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "cfile/table.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_parallel_test {

using TableParallelTest = TableTestBase;

// EXPECTs that the cursor returns the rows of `range`, and then an empty batch.
template <typename T>
void ExpectRange(TableCursor<T>& cursor, const OrdinalRange& range, size_t column,
                 const ColumnSchema& schema, size_t max_rows) {
  uint64_t next = range.begin;
  while (true) {
    const auto batch = cursor.Next(max_rows);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->first_ordinal, next);
    if (batch->empty()) break;
    ExpectRows(*batch, column, schema);
    next += batch->size();
  }
  ASSERT_EQ(next, range.end);
  ASSERT_EQ(cursor.ordinal(), range.end);
}

// Returns true if `ordinal` is the begin of a block of the column or the end of the column.
bool BeginsBlock(const TableReader& table, size_t column, uint64_t ordinal) {
  for (size_t part = 0; part < table.num_parts(); ++part) {
    const PartInfo info = *table.part(part);
    if (ordinal < info.first_ordinal || ordinal - info.first_ordinal >= info.num_rows) continue;
    const uint64_t in_part = ordinal - info.first_ordinal;
    return *table.OpenColumn(part, column)->BlockBegin(in_part) == in_part;
  }
  return ordinal == table.num_rows();
}

TEST_F(TableParallelTest, SplitsAtBlocks) {
  // The maximum number of rows in a block goes from one row to all rows of a part.
  for (const uint32_t block_rows : {1, 7, 100, 100'000}) {
    SCOPED_TRACE(block_rows);
    std::filesystem::remove_all(path_);
    const WriterOptions options{.max_values_per_block = block_rows, .index_block_size_bytes = 200};
    const std::vector<uint64_t> part_rows = {1000, 1, 0, 0, 1500, 0};
    uint64_t rows = 0;
    for (const uint64_t count : part_rows) {
      WritePart(rows, count, ManyTypes(), options);
      rows += count;
    }
    const TableReader table = OpenTable();
    for (size_t column = 0; column < table.schema().columns.size(); ++column) {
      for (const size_t max_ranges : {1, 2, 3, 4, 7, 5000}) {
        const auto ranges = table.Split(column, max_ranges);
        ASSERT_TRUE(ranges.ok()) << ranges.status();
        EXPECT_LE(ranges->size(), max_ranges);
        uint64_t at = 0;
        for (const OrdinalRange& range : *ranges) {
          EXPECT_EQ(range.begin, at);
          EXPECT_GT(range.size(), 0u);
          EXPECT_TRUE(BeginsBlock(table, column, range.begin)) << range.begin;
          at = range.end;
        }
        EXPECT_EQ(at, rows);
        if (block_rows > 100 || max_ranges > 7) continue;
        EXPECT_EQ(ranges->size(), max_ranges);
        for (const OrdinalRange& range : *ranges) {
          EXPECT_NEAR(static_cast<double>(range.size()),
                      static_cast<double>(rows) / static_cast<double>(max_ranges), block_rows);
        }
      }
      const size_t most = table.Split(column, 5000)->size();
      EXPECT_TRUE(block_rows > 1 || most == rows) << most;
    }
  }
}

TEST_F(TableParallelTest, NothingToSplit) {
  WritePart(0, 0);
  EXPECT_TRUE(OpenTable().Split(0, 4)->empty());
}

TEST_F(TableParallelTest, RangesEndWhereTheySay) {
  WritePart(0, 1000, ManyTypes(), {.block_size_bytes = 300});
  WritePart(1000, 1);
  WritePart(1001, 0);
  WritePart(1001, 499, ManyTypes(), {.max_values_per_block = 1});
  const TableReader table = OpenTable();
  std::mt19937_64 random(1);
  constexpr size_t kColumn = 6;
  const ColumnSchema& schema = table.schema().columns[kColumn];
  auto cursor = *table.NewCursor<std::string_view>(kColumn);
  for (int i = 0; i < 200; ++i) {
    OrdinalRange range{random() % 1501, random() % 1501};
    if (range.end < range.begin) std::swap(range.begin, range.end);
    ASSERT_TRUE(cursor.SeekToRange(range).ok());
    ASSERT_NO_FATAL_FAILURE(ExpectRange(cursor, range, kColumn, schema, 1 + random() % 400));
    // The range no longer limits the cursor after the next seek.
    const uint64_t ordinal = random() % 1500;
    if (i % 2 == 0) {
      ASSERT_TRUE(cursor.SeekToOrdinal(ordinal).ok());
      ASSERT_NO_FATAL_FAILURE(ExpectRange(cursor, {ordinal, 1500}, kColumn, schema, 400));
    } else {
      ASSERT_TRUE(cursor.Get(ordinal).ok());
      ASSERT_NO_FATAL_FAILURE(ExpectRange(cursor, {ordinal + 1, 1500}, kColumn, schema, 400));
    }
  }
  EXPECT_TRUE(absl::IsOutOfRange(cursor.SeekToRange({0, 1501})));
}

TEST_F(TableParallelTest, KeysFoundBehindARangeHaveNoEnd) {
  WriteKeys({{"a", "b"}, {"c", "d"}});
  auto cursor = *OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.SeekToRange({0, 1}).ok());
  ASSERT_EQ(cursor.SeekToKey("c")->ordinal, 2);
  EXPECT_EQ(cursor.Next(10)->size(), 2);
}

TEST_F(TableParallelTest, OneCursorForEachRange) {
  WritePart(0, 3000, ManyTypes(), {.max_values_per_block = 50});
  WritePart(3000, 2000, ManyTypes(), {.max_values_per_block = 50});
  const TableReader table = OpenTable();
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    const ColumnSchema& schema = table.schema().columns[column];
    const auto ranges = *table.Split(column, 4);
    ASSERT_EQ(ranges.size(), 4);
    std::vector<std::jthread> threads;
    for (const OrdinalRange& range : ranges) {
      threads.emplace_back([&] {
        encodings::VisitPhysicalType(schema.type.physical(),
                                     [&]<typename T>(std::type_identity<T>) {
                                       auto cursor = table.NewCursor<T>(column);
                                       ASSERT_TRUE(cursor.ok()) << cursor.status();
                                       ASSERT_TRUE(cursor->SeekToRange(range).ok());
                                       ExpectRange(*cursor, range, column, schema, 100);
                                     });
      });
    }
  }
}

TEST_F(TableParallelTest, ColumnsAreWrittenSideBySide) {
  const WriterOptions options{.block_size_bytes = 1000};
  const size_t num_columns = ManyTypes().columns.size();
  auto writer = TableWriter::Create(path_, ManyTypes(), {&options, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  {
    std::vector<std::jthread> threads;
    for (size_t column = 0; column < num_columns; ++column) {
      threads.emplace_back([&writer, column] {
        for (uint64_t row = 0; row < 5000; row += 500) {
          const absl::Status status = AppendRowsOf(*writer, column, row, 500);
          ASSERT_TRUE(status.ok()) << status;
          EXPECT_EQ(writer->totals(column).num_rows, row + 500);
          EXPECT_LE(writer->totals(column).null_count(), row + 500);
        }
      });
    }
  }
  ASSERT_TRUE(writer->Finish().ok());
  const TableReader table = OpenTable();
  ExpectTable(table, 5000);

  // One thread writes the same bytes.
  const std::string other = directory_.path("other");
  auto sequential = *TableWriter::Create(other, ManyTypes(), {&options, 1});
  for (uint64_t row = 0; row < 5000; row += 500) {
    ASSERT_TRUE(AppendRows(sequential, row, 500).ok());
  }
  ASSERT_TRUE(sequential.Finish().ok());
  const auto other_table = TableReader::Open(other);
  ASSERT_TRUE(other_table.ok()) << other_table.status();
  for (size_t column = 0; column < num_columns; ++column) {
    EXPECT_EQ(ReadFile(path_ + "/" + FileOf(table, 0, column)),
              ReadFile(other + "/" + FileOf(*other_table, 0, column)));
  }
}

}  // namespace cfile::table_parallel_test
