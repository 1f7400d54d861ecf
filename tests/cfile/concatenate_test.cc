// Tests that Concatenate joins files, copies blocks where this is possible, and encodes the other
// rows again.
#include "cfile/concatenate.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cfile/inspect.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"

namespace cfile::concatenate_test {

using namespace testing_support;  // NOLINT

// Blocks have at most 500 rows. Smaller blocks are not copied, so the columns of the tests have a
// multiple of 500 rows.
constexpr size_t kBlockRows = 500;
WriterOptions SmallBlocks() { return {.max_values_per_block = kBlockRows, .movable_blocks = true}; }

// Files in memory, and all their rows.
template <typename T>
struct Files {
  ColumnType type;
  std::vector<Reader> readers = {};
  Column<T> rows = {};

  void Add(const Column<T>& column, const WriterOptions& options) {
    auto file = Reader::Open(NewMemorySource(WriteColumn(type, options, column), "part"));
    ASSERT_TRUE(file.ok()) << file.status();
    readers.push_back(*std::move(file));
    rows.rows.insert(rows.rows.end(), column.rows.begin(), column.rows.end());
  }

  // Joins the files into `joined`. EXPECTs that the new file is valid and has all rows.
  ConcatenateReport Join(const WriterOptions& options) {
    std::vector<uint8_t> bytes;
    uint64_t reported = 0;
    const auto report = Concatenate(readers, NewMemorySink(&bytes), options, [&](uint64_t more) {
      EXPECT_GT(more, 0u);
      reported += more;
      return absl::OkStatus();
    });
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_EQ(reported, rows.rows.size());
    EXPECT_EQ(report->totals.num_rows, rows.rows.size());
    joined = *Reader::Open(NewMemorySource(std::move(bytes), "joined"));
    const VerifyReport verified = Verify(*joined);
    EXPECT_TRUE(verified.ok()) << verified.damages[0].status;
    std::mt19937_64 random(1);
    auto cursor = joined->NewCursor<T>();
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    ExpectRest(*cursor, rows, random);
    return *report;
  }
  std::optional<Reader> joined = {};
};

TEST(ConcatenateTest, EveryType) {
  std::mt19937_64 random(2);
  for (const ColumnType& type : AllColumnTypes()) {
    VisitType(type, [&]<typename T>(std::type_identity<T>) {
      for (const bool nullable : {false, true}) {
        SCOPED_TRACE(type.ToString() + (nullable ? ", nullable" : ""));
        WriterOptions options = SmallBlocks();
        options.encoding = Encoding::kParquetPlain;
        options.nullable = nullable;
        Files<T> files{.type = type};
        for (const size_t blocks : {3, 0, 1}) {
          files.Add(RandomColumn<T>(type, blocks * kBlockRows, nullable ? 30 : 0, false, random),
                    options);
        }
        options.nullable = false;  // Concatenate ignores this
        const ConcatenateReport report = files.Join(options);
        EXPECT_EQ(report.copied_blocks, 4u);
        EXPECT_GT(report.copied_bytes, 0u);
        EXPECT_EQ(files.joined->info().nullable, nullable);
      }
    });
  }
}

TEST(ConcatenateTest, SortedFilesAreSearchedByKey) {
  std::mt19937_64 random(3);
  WriterOptions options = SmallBlocks();
  options.encoding = Encoding::kPlain;
  options.value_index = true;
  const ColumnType type = ColumnType::Int64();
  Files<int64_t> files{.type = type};
  for (int64_t first : {0, 10'000}) {
    Column<int64_t> column;
    for (size_t i = 0; i < 2 * kBlockRows; ++i) column.rows.push_back(first + 3 * i);
    files.Add(column, options);
  }
  EXPECT_EQ(files.Join(options).copied_blocks, 4u);
  auto cursor = files.joined->NewCursor<int64_t>();
  EXPECT_EQ(cursor->SeekToKey(10'003)->ordinal, 2 * kBlockRows + 1);
  // Concatenate refuses the same files in the wrong order.
  std::swap(files.readers[0], files.readers[1]);
  std::vector<uint8_t> bytes;
  EXPECT_EQ(Concatenate(files.readers, NewMemorySink(&bytes), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ConcatenateTest, OtherOptionsEncodeAgain) {
  std::mt19937_64 random(4);
  WriterOptions options = SmallBlocks();
  options.encoding = Encoding::kPlain;
  const ColumnType type = ColumnType::Int32();
  Files<int32_t> files{.type = type};
  for (int i = 0; i < 2; ++i) {
    files.Add(RandomColumn<int32_t>(type, kBlockRows, 0, false, random), options);
  }
  EXPECT_EQ(files.Join(options).copied_blocks, 2u);
  EXPECT_EQ(files.Join(SmallBlocks()).copied_blocks, 2u);  // automatic choice keeps the encoding
  options.encoding = Encoding::kRle;
  EXPECT_EQ(files.Join(options).copied_blocks, 0u);
  options.encoding = Encoding::kPlain;
  options.movable_blocks = false;
  EXPECT_EQ(files.Join(options).copied_blocks, 0u);
  options.movable_blocks = true;
  options.bloom_filter_bits_per_value = 10;
  EXPECT_EQ(files.Join(options).copied_blocks, 0u);
}

TEST(ConcatenateTest, FilesWithAndWithoutNulls) {
  std::mt19937_64 random(5);
  WriterOptions options = SmallBlocks();
  options.encoding = Encoding::kPlain;
  const ColumnType type = ColumnType::String();
  Files<std::string_view> files{.type = type};
  for (const bool nullable : {false, true, false}) {
    options.nullable = nullable;
    files.Add(RandomColumn<std::string_view>(type, kBlockRows, nullable ? 50 : 0, false, random),
              options);
  }
  // The new file is nullable. Blocks of files that are not nullable have another layout, so they
  // are not copied.
  EXPECT_EQ(files.Join(options).copied_blocks, 1u);
  EXPECT_TRUE(files.joined->info().nullable);
}

TEST(ConcatenateTest, MetadataAndErrors) {
  std::vector<uint8_t> bytes, other_bytes;
  auto writer = Writer<int32_t>::Create(NewMemorySink(&bytes), ColumnType::Int32());
  EXPECT_TRUE(writer->Append({1, 2, 3}).ok());
  EXPECT_TRUE(writer->AddMetadata("owner", "alice").ok());
  EXPECT_TRUE(writer->Finish().ok());
  auto other = Writer<int64_t>::Create(NewMemorySink(&other_bytes), ColumnType::Int64());
  EXPECT_TRUE(other->Finish().ok());
  const Reader file = *Reader::Open(NewMemoryViewSource(bytes));
  const Reader wide = *Reader::Open(NewMemoryViewSource(other_bytes));
  std::vector<uint8_t> joined;
  EXPECT_TRUE(Concatenate({{file, file}}, NewMemorySink(&joined)).ok());
  EXPECT_THAT(Reader::Open(NewMemoryViewSource(joined))->info().footer_metadata,
              testing::Contains(testing::Pair("owner", "alice")));
  joined.clear();
  const auto refused = Concatenate({{file, wide}}, NewMemorySink(&joined));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()),
              testing::HasSubstr("different types: int32 and int64"));
  // If `progress` returns an error, Concatenate returns this error.
  EXPECT_TRUE(
      absl::IsCancelled(Concatenate({{file, file}}, NewMemorySink(&joined), {}, [](uint64_t) {
                          return absl::CancelledError("stop");
                        }).status()));
}

}  // namespace cfile::concatenate_test
