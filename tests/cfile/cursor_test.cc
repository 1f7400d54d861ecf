// Tests cursors and readers: batches read backwards, ranges for range-for, rows of a prefix, copies
// of rows, copies into a writer, and the calls that append rows.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"

namespace cfile::cursor_test {

using testing_support::Column;
using testing_support::ExpectBatch;
using testing_support::RandomColumn;
using testing_support::WriteColumn;

Reader Opened(std::vector<uint8_t> file) {
  return Reader::Open(NewMemorySource(std::move(file), "test")).value();
}

// Calls test(type, options, column) for a column of each type, with and without nulls.
template <typename Test>
void ForColumns(const Test& test) {
  std::mt19937_64 random(7);
  for (const ColumnType& type : testing_support::AllColumnTypes()) {
    for (const int null_percent : {0, 30}) {
      SCOPED_TRACE(type.ToString() + (null_percent > 0 ? ", nulls" : ""));
      const WriterOptions options{
          .nullable = null_percent > 0,
          .block_size_bytes = 1000,
          .max_values_per_block = static_cast<uint32_t>(random() % 400 + 1)};
      VisitType(type, [&]<typename T>(std::type_identity<T>) {
        test(type, options, RandomColumn<T>(type, 2000, null_percent, /*sorted=*/false, random));
      });
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Reads backwards from the cursor's position to row `begin`, and EXPECTs the rows of `column`.
template <typename T>
void ExpectPrevious(Cursor<T>& cursor, const Column<T>& column, uint64_t begin, size_t max_rows) {
  uint64_t at = cursor.ordinal();
  while (true) {
    const auto batch = cursor.Previous(max_rows);
    ASSERT_TRUE(batch.ok()) << batch.status();
    if (batch->empty()) break;
    ASSERT_LE(batch->size(), max_rows);
    ASSERT_EQ(batch->first_ordinal + batch->size(), at);
    ASSERT_NO_FATAL_FAILURE(ExpectBatch(*batch, column));
    at = batch->first_ordinal;
    ASSERT_EQ(cursor.ordinal(), at);
  }
  ASSERT_EQ(at, begin);
}

TEST(Cursor, PreviousReadsAllRowsFromTheEnd) {
  std::mt19937_64 random(1);
  ForColumns([&]<typename T>(const ColumnType& type, const WriterOptions& options,
                             const Column<T>& column) {
    const Reader reader = Opened(WriteColumn<T>(type, options, column));
    auto cursor = reader.NewCursor<T>().value();
    for (const size_t max_rows : {size_t{1} + random() % 7, size_t{100'000}}) {
      ASSERT_TRUE(cursor.SeekToOrdinal(reader.num_rows()).ok());
      ASSERT_NO_FATAL_FAILURE(ExpectPrevious(cursor, column, 0, max_rows));
    }
    // Next and Previous alternate at random.
    uint64_t at = random() % (reader.num_rows() + 1);
    ASSERT_TRUE(cursor.SeekToOrdinal(at).ok());
    for (int step = 0; step < 60; ++step) {
      const bool forward = random() % 2 == 0;
      const size_t max_rows = 1 + random() % 300;
      const auto batch = forward ? cursor.Next(max_rows) : cursor.Previous(max_rows);
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_EQ(batch->empty(), at == (forward ? reader.num_rows() : 0));
      ASSERT_NO_FATAL_FAILURE(ExpectBatch(*batch, column));
      ASSERT_EQ(batch->first_ordinal, forward ? at : at - batch->size());
      at = forward ? at + batch->size() : batch->first_ordinal;
      ASSERT_EQ(cursor.ordinal(), at);
      if (random() % 8 == 0) {
        auto clone = cursor.Clone();
        ASSERT_TRUE(clone.ok()) << clone.status();
        cursor = *std::move(clone);
        ASSERT_EQ(cursor.ordinal(), at);
      }
    }
  });
}

// A cursor decodes rows ahead of small batches. This is not visible, whatever else the caller does.
TEST(Cursor, SmallBatchesBetweenOtherCalls) {
  std::mt19937_64 random(2);
  ForColumns([&]<typename T>(const ColumnType& type, const WriterOptions& options,
                             const Column<T>& column) {
    const Reader reader = Opened(WriteColumn<T>(type, options, column));
    auto cursor = reader.NewCursor<T>().value();
    uint64_t at = 0;
    for (int step = 0; step < 40; ++step) {
      const size_t max_rows = random() % 4 == 0 ? 1 + random() % 100 : 8 << random() % 4;
      for (uint64_t batches = 1 + random() % 20; batches > 0; --batches) {
        const auto batch = cursor.Next(max_rows);
        ASSERT_TRUE(batch.ok()) << batch.status();
        ASSERT_LE(batch->size(), max_rows);
        ASSERT_EQ(batch->empty(), at == reader.num_rows());
        ASSERT_EQ(batch->first_ordinal, at);
        ASSERT_NO_FATAL_FAILURE(ExpectBatch(*batch, column));
        at += batch->size();
        ASSERT_EQ(cursor.ordinal(), at);
      }
      const uint64_t row = random() % reader.num_rows();
      switch (random() % 6) {
        case 0: {
          const auto batch = cursor.Previous(max_rows);
          ASSERT_TRUE(batch.ok()) << batch.status();
          ASSERT_NO_FATAL_FAILURE(ExpectBatch(*batch, column));
          ASSERT_EQ(batch->first_ordinal + batch->size(), at);
          at = batch->first_ordinal;
          break;
        }
        case 1:
          ASSERT_TRUE(cursor.Get(row).ok());
          at = row + 1;
          break;
        case 2:
          ASSERT_FALSE(cursor.Get(reader.num_rows()).ok());
          break;
        case 3:
          ASSERT_FALSE(cursor.SeekToRange({.begin = row, .end = reader.num_rows() + 1}).ok());
          break;
        case 4:
          ASSERT_TRUE(cursor.SeekToOrdinal(row).ok());
          at = row;
          break;
        default: {
          auto clone = cursor.Clone();
          ASSERT_TRUE(clone.ok()) << clone.status();
          cursor = *std::move(clone);
        }
      }
    }
  });
}

// An error in a row that is decoded ahead comes with the batch of this row.
TEST(Cursor, SmallBatchesBeforeDamage) {
  Column<int8_t> column;
  column.rows.assign(1000, 1);
  std::vector<uint8_t> file =
      WriteColumn<int8_t>(ColumnType::Int8(), {.encoding = Encoding::kParquetPlain}, column);
  const uint8_t first[] = {1, 0, 0, 0, 1, 0, 0, 0};
  const auto values = std::search(file.begin(), file.end(), std::begin(first), std::end(first));
  ASSERT_NE(values, file.end());
  values[4 * 900 + 1] = 1;  // value 900 is 257
  const auto reader = Reader::Open(NewMemorySource(std::move(file), "test"),
                                   ReaderOptions{.verify_checksums = false});
  auto cursor = reader->NewCursor<int8_t>().value();
  uint64_t rows = 0;
  absl::StatusOr<Batch<int8_t>> batch;
  while ((batch = cursor.Next(16)).ok() && !batch->empty()) rows += batch->size();
  EXPECT_EQ(batch.status().code(), absl::StatusCode::kDataLoss) << batch.status();
  EXPECT_EQ(rows, 896u);
}

TEST(Cursor, PreviousEndsAtTheBeginOfTheRange) {
  Column<int64_t> column;
  for (int64_t i = 0; i < 1000; ++i) column.rows.push_back(3 * i);
  const Reader reader = Opened(WriteColumn<int64_t>(
      ColumnType::Int64(), {.value_index = true, .block_size_bytes = 400}, column));
  auto cursor = reader.NewCursor<int64_t>().value();
  ASSERT_TRUE(cursor.SeekToRange({.begin = 120, .end = 700}).ok());
  while (!cursor.Next(1000)->empty()) {
  }
  ASSERT_EQ(cursor.ordinal(), 700u);
  ExpectPrevious(cursor, column, 120, 45);
  // After Previous, the cursor reads forwards to the end of the range.
  uint64_t rows = 0;
  for (const auto& batch : cursor.Batches(77)) {
    ASSERT_TRUE(batch.ok());
    rows += batch->size();
  }
  EXPECT_EQ(rows, 580u);
  ASSERT_TRUE(cursor.SeekToKeyRange(900, 1200).ok());
  EXPECT_TRUE(cursor.Previous(1)->empty());
  // After a seek, the range no longer limits the cursor.
  ASSERT_TRUE(cursor.SeekToOrdinal(5).ok());
  ExpectPrevious(cursor, column, 0, 2);
}

// Decoders return only a few long strings per call. Previous must still return all rows.
TEST(Cursor, PreviousOfLongStrings) {
  Column<std::string_view> column;
  for (int i = 0; i < 300; ++i)
    column.rows.push_back(std::string(30'000, static_cast<char>('a' + i % 26)) + std::to_string(i));
  for (const Encoding encoding : {Encoding::kPrefix, Encoding::kPlain, Encoding::kAuto}) {
    const Reader reader = Opened(WriteColumn<std::string_view>(
        ColumnType::String(), {.encoding = encoding, .block_size_bytes = size_t{8} << 20}, column));
    auto cursor = reader.NewCursor<std::string_view>().value();
    ASSERT_TRUE(cursor.SeekToOrdinal(reader.num_rows()).ok());
    ASSERT_NO_FATAL_FAILURE(ExpectPrevious(cursor, column, 0, 1000));
  }
}

// Without a positional index, Previous finds the block before by the value index.
TEST(Cursor, PreviousWithoutAPositionalIndex) {
  Column<int64_t> column;
  for (int64_t i = 0; i < 3000; ++i) column.rows.push_back(i);
  const Reader reader = Opened(WriteColumn<int64_t>(ColumnType::Int64(),
                                                    {.positional_index = false,
                                                     .value_index = true,
                                                     .max_values_per_block = 3,
                                                     .index_block_size_bytes = 64},
                                                    column));
  auto cursor = reader.NewCursor<int64_t>().value();
  for (const int64_t key : {7, 2999, 3000, 3, 0, 1500}) {
    ASSERT_TRUE(cursor.SeekToKey(key).ok());
    ASSERT_NO_FATAL_FAILURE(ExpectPrevious(cursor, column, 0, 2));
    EXPECT_EQ(cursor.Next(5)->first_ordinal, 0u);
  }
  ASSERT_TRUE(cursor.SeekToKey(2900).ok());
  uint64_t at = 2900;
  for (int i = 0; i < 500; ++i) {  // Next and Previous alternate
    const bool forward = i % 5 == 0;
    const auto batch = forward ? cursor.Next(2) : cursor.Previous(2);
    ASSERT_TRUE(batch.ok()) << batch.status();
    at = forward ? at + batch->size() : at - batch->size();
    ASSERT_EQ(batch->values[0], static_cast<int64_t>(forward ? at - batch->size() : at));
  }
}

TEST(Cursor, SeekToPrefix) {
  const std::vector<std::string> values = {
      "",   "a", "ab",   "ab",       std::string("ab\0", 3), "abc", "ab\xff", "ab\xff\xff",
      "ac", "b", "\xff", "\xff\xff", "\xff\xff\x01"};
  std::vector<std::string> sorted = values;
  std::sort(sorted.begin(), sorted.end(),
            [](std::string_view a, std::string_view b) { return a < b; });
  Column<std::string_view> column;
  for (const std::string& value : sorted) column.rows.emplace_back(value);
  const Reader reader = Opened(WriteColumn<std::string_view>(
      ColumnType::Binary(), {.value_index = true, .max_values_per_block = 3}, column));
  auto cursor = reader.NewCursor<std::string_view>().value();
  for (std::string prefix : {"", "a", "ab", "ab\xff", "ac", "ad", "b", "c", "\xff", "\xff\xff"}) {
    const auto range = cursor.SeekToPrefix(prefix);
    ASSERT_TRUE(range.ok()) << range.status();
    uint64_t found = 0;
    for (const auto& batch : cursor.Batches(2)) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      for (const std::string_view value : batch->values) EXPECT_TRUE(value.starts_with(prefix));
      found += batch->size();
    }
    EXPECT_EQ(found, range->size());
    EXPECT_EQ(found,
              std::count_if(sorted.begin(), sorted.end(),
                            [&](const std::string& value) { return value.starts_with(prefix); }))
        << prefix;
  }
}

TEST(Reader, ReadCopiesRows) {
  ForColumns([]<typename T>(const ColumnType& type, const WriterOptions& options,
                            const Column<T>& column) {
    const Reader reader = Opened(WriteColumn<T>(type, options, column));
    for (const OrdinalRange& range : {kAllRows, OrdinalRange{5, 5}, OrdinalRange{700, 1900}}) {
      const auto rows = reader.Read<T>(range);
      ASSERT_TRUE(rows.ok()) << rows.status();
      Batch<T> batch = rows->batch();
      batch.first_ordinal = range.begin;
      ASSERT_EQ(batch.size(), std::min<uint64_t>(range.end, 2000) - range.begin);
      ASSERT_NO_FATAL_FAILURE(ExpectBatch(batch, column));
    }
    EXPECT_TRUE(reader.Read<T>({3000, 4000})->batch().empty());
  });
}

TEST(Writer, AppendsTheBatchesOfACursor) {
  ForColumns([]<typename T>(const ColumnType& type, const WriterOptions& options,
                            const Column<T>& column) {
    const std::vector<uint8_t> file = WriteColumn<T>(type, options, column);
    const Reader reader = Opened(file);
    std::vector<uint8_t> copy;
    auto writer = Writer<T>::Create(NewMemorySink(&copy, "copy"), type, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    auto cursor = reader.NewCursor<T>().value();
    for (const auto& batch : cursor.Batches(123)) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_TRUE(writer->Append(*batch).ok());
    }
    // A writer may be moved after rows were appended.
    Writer<T> moved = *std::move(writer);
    ASSERT_TRUE(moved.Finish().ok());
    const ColumnTotals totals = moved.totals();
    EXPECT_EQ(totals.num_rows, 2000u);
    EXPECT_EQ(totals.num_entries, 2000u);
    EXPECT_EQ(totals.bytes_written, copy.size());
    EXPECT_EQ(copy, file);
  });
}

// Appends with `append`, which gets the writer, and returns the rows of the file.
template <typename T>
std::vector<std::optional<Owned<T>>> RowsAppended(
    const ColumnType& type, const std::function<absl::Status(Writer<T>&)>& append) {
  std::vector<uint8_t> file;
  auto writer = Writer<T>::Create(NewMemorySink(&file), type, {.nullable = true});
  EXPECT_TRUE(writer.ok() && append(*writer).ok() && writer->Finish().ok());
  const Reader reader = Opened(file);
  std::vector<std::optional<Owned<T>>> rows;
  for (uint64_t i = 0; i < reader.num_rows(); ++i) rows.push_back(reader.Get<T>(i).value());
  return rows;
}

// These calls are natural for users. None of them is ambiguous, although Append takes a span,
// values in braces, or a Batch.
TEST(Writer, AppendsWhatUsersWrite) {
  using Integers = std::vector<std::optional<int32_t>>;
  std::vector<int32_t> vector = {1, 2, 3};
  const std::array<int32_t, 3> array = {1, 2, 3};
  const int32_t plain[] = {1, 2, 3};
  const std::span<int32_t> span(vector);
  const uint8_t valid[] = {0b101};
  const Batch<int32_t> batch = {.values = vector};
  const std::function<absl::Status(Writer<int32_t>&)> all[] = {
      [&](auto& writer) {
        return writer.Append({1, 2, 3});
      },
      [&](auto& writer) {
        return writer.Append({{1, 2, 3}});
      },
      [&](auto& writer) { return writer.Append(vector); },
      [&](auto& writer) { return writer.Append(std::as_const(vector)); },
      [&](auto& writer) { return writer.Append({vector}); },
      [&](auto& writer) {
        return writer.Append(std::vector<int32_t>{1, 2, 3});
      },
      [&](auto& writer) { return writer.Append(array); },
      [&](auto& writer) { return writer.Append({array}); },
      [&](auto& writer) { return writer.Append(plain); },
      [&](auto& writer) { return writer.Append(span); },
      [&](auto& writer) { return writer.Append({span}); },
      [&](auto& writer) { return writer.Append(std::span<const int32_t>(span)); },
      [&](auto& writer) {
        return writer.Append({vector.data(), vector.size()});
      },
      [&](auto& writer) {
        return writer.Append({vector.begin(), vector.end()});
      },
      [&](auto& writer) { return writer.Append(batch); },
      [&](auto& writer) { return writer.Append({batch}); },
      [&](auto& writer) { return writer.Append({.values = vector}); },
  };
  for (size_t i = 0; i < std::size(all); ++i)
    EXPECT_EQ(RowsAppended(ColumnType::Int32(), all[i]), (Integers{1, 2, 3})) << "call " << i;

  const std::function<absl::Status(Writer<int32_t>&)> with_null[] = {
      [&](auto& writer) { return writer.Append(vector, valid); },
      [&](auto& writer) {
        return writer.Append({vector.data(), 3}, {valid, 1});
      },
      [&](auto& writer) {
        return writer.Append({vector, valid, 1});
      },
      [&](auto& writer) {
        return writer.Append({.values = vector, .validity = valid, .null_count = 1});
      },
  };
  for (size_t i = 0; i < std::size(with_null); ++i) {
    EXPECT_EQ(RowsAppended(ColumnType::Int32(), with_null[i]), (Integers{1, std::nullopt, 3}))
        << "call " << i;
  }

  const std::function<absl::Status(Writer<int32_t>&)> none[] = {
      [](auto& writer) { return writer.Append({}); },
      [](auto& writer) { return writer.Append({}, {}); },
      [](auto& writer) { return writer.Append(Batch<int32_t>{}); },
      [](auto& writer) { return writer.Append(std::vector<int32_t>{}); },
  };
  for (const auto& each : none) EXPECT_EQ(RowsAppended(ColumnType::Int32(), each), Integers());
}

TEST(Writer, AppendsWhatUsersWriteInOtherTypes) {
  const std::string text = "b";
  EXPECT_EQ(RowsAppended<std::string_view>(ColumnType::String(),
                                           [&](auto& writer) {
                                             return writer.Append({"a", text});
                                           }),
            (std::vector<std::optional<std::string>>{"a", "b"}));
  EXPECT_EQ(RowsAppended<int64_t>(ColumnType::Int64(),
                                  [](auto& writer) {
                                    return writer.Append({1, 2});
                                  }),
            (std::vector<std::optional<int64_t>>{1, 2}));
  EXPECT_EQ(RowsAppended<double>(ColumnType::Double(),
                                 [](auto& writer) {
                                   return writer.Append({1, 2.5});
                                 }),
            (std::vector<std::optional<double>>{1, 2.5}));
  using Bools = std::vector<std::optional<bool>>;
  EXPECT_EQ(RowsAppended<bool>(ColumnType::Bool(),
                               [](auto& writer) {
                                 return writer.Append({true, false});
                               }),
            (Bools{true, false}));
  EXPECT_EQ(RowsAppended<bool>(ColumnType::Bool(), [](auto& writer) { return writer.Append({}); }),
            Bools());
  // Not two bools, although a pointer converts to bool.
  const bool yes = true;
  EXPECT_EQ(RowsAppended<bool>(ColumnType::Bool(),
                               [&](auto& writer) {
                                 return writer.Append({&yes, 1});
                               }),
            Bools{true});
}

TEST(Batches, EndAfterAnError) {
  Column<int64_t> column;
  for (int64_t i = 0; i < 1000; ++i) column.rows.push_back(i);
  std::vector<uint8_t> file = WriteColumn<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain, .max_values_per_block = 100}, column);
  file[5000] ^= 1;  // a byte in the sixth of ten blocks
  const Reader reader = Opened(file);
  auto cursor = reader.NewCursor<int64_t>().value();
  uint64_t rows = 0;
  int errors = 0;
  for (const auto& batch : cursor.Batches()) {
    ASSERT_EQ(errors, 0) << "the range goes on after an error";
    if (batch.ok()) {
      rows += batch->size();
    } else {
      ++errors;
    }
  }
  EXPECT_EQ(rows, 500u);
  EXPECT_EQ(errors, 1);
}

TEST(Batches, OfScansAndLevels) {
  std::vector<uint8_t> file;
  auto writer = LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                                             {.max_repetition = 1, .max_definition = 2});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer
                  ->Append(std::vector<uint16_t>{0, 1, 0, 0, 0},
                           std::vector<uint16_t>{2, 2, 1, 0, 2}, std::vector<int32_t>{1, 2, 3})
                  .ok());
  ASSERT_TRUE(writer->Finish().ok());
  auto levels = Opened(file).NewLevelCursor<int32_t>().value();
  size_t records = 0, values = 0;
  for (const auto& batch : levels.Batches(1)) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    records += batch->num_records;
    values += batch->values.size();
  }
  EXPECT_EQ(records, 4u);
  EXPECT_EQ(values, 3u);

  Column<int64_t> column;
  for (int64_t i = 0; i < 1000; ++i) column.rows.push_back(i % 10);
  const Reader reader = Opened(WriteColumn<int64_t>(ColumnType::Int64(), {}, column));
  auto scan = reader.NewScan(Predicate<int64_t>::Equal(7), {.begin = 100, .end = 300}).value();
  size_t matches = 0;
  for (const auto& batch : scan.Batches()) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    matches += batch->size();
  }
  EXPECT_EQ(matches, 20u);
}

}  // namespace cfile::cursor_test
