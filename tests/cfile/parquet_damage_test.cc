// Damaged Parquet files: each bit of small files is flipped, and each prefix is read. The result is
// an error that names the file, or a table without damage, and takes little memory.
#include <algorithm>
#include <string>
#include <vector>

#include "cfile/parquet.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/heap.h"
#include "tests/cfile/parquet_testing.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::parquet_damage_test {

using testing::AnyOf;
using testing::StartsWith;

// Writers of the importer's tables keep a block for each column. The files have up to 40 columns.
constexpr int64_t kMostHeapBytes = 64 << 20;

// An error that names the file, or a table without damage.
void ExpectErrorOrTable(const std::string& bytes) {
  const auto source = InMemory(bytes);
  const auto table = NewMemoryStorage();
  absl::Status status;
  const int64_t heap_bytes = campaign::MostHeapBytes([&] {
    const auto schema = ParquetSchema(*source);
    status = ImportParquet(source, table, {.writer = {kSmallBlocks}}).status();
    // The schema is read first, so its errors are those of the import.
    if (!schema.ok()) {
      EXPECT_EQ(schema.status(), status);
    }
  });
  EXPECT_LT(heap_bytes, kMostHeapBytes);
  if (status.ok()) {
    Contents(table);
    return;
  }
  EXPECT_THAT(status.code(),
              AnyOf(absl::StatusCode::kDataLoss, absl::StatusCode::kUnimplemented,
                    absl::StatusCode::kOutOfRange, absl::StatusCode::kInvalidArgument))
      << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("x.parquet: "));
  EXPECT_TRUE(table->List("")->empty());
}

void FlipEachBit(std::string file) {
  for (size_t bit = 0; bit < 8 * file.size() && !testing::Test::HasFailure(); ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit));
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ 1 << (bit % 8));
    ExpectErrorOrTable(file);
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ 1 << (bit % 8));
  }
}

void ReadEachPrefix(const std::string& file) {
  for (size_t size = 0; size < file.size(); ++size) {
    const auto report = ImportParquet(InMemory(file.substr(0, size)), NewMemoryStorage());
    EXPECT_FALSE(report.ok()) << size;
    EXPECT_THAT(std::string(report.status().message()), StartsWith("x.parquet: ")) << size;
  }
}

// A Parquet file of some columns of a golden file.
std::string Exported(const std::string& golden, const std::vector<std::string>& columns,
                     const WriterOptions& writer, const ParquetExportOptions& options) {
  const auto table = NewMemoryStorage();
  EXPECT_TRUE(
      ImportParquet(GoldenPath(golden), table, {.columns = columns, .writer = {writer}}).ok());
  const std::vector<uint8_t> parquet = ParquetOf(table, options);
  return {parquet.begin(), parquet.end()};
}

class CodecTest : public testing::TestWithParam<Compression> {};

TEST_P(CodecTest, EachBitAndEachPrefix) {
  const Compression codec = GetParam();
  if (!CheckCompressionBuiltIn(codec).ok()) GTEST_SKIP();
  for (const bool v2 : {false, true}) {
    SCOPED_TRACE(v2);
    const WriterOptions plain{.encoding = Encoding::kParquetPlain};
    const std::string file =
        Exported("pyarrow_types_v2", {"string"}, plain,
                 {.data_page_v2 = v2, .page_checksums = false, .compression = codec});
    const auto metadata = internal::parquet::ReadParquetMetadata(*InMemory(file), 1 << 20);
    ASSERT_EQ(metadata->file.row_groups[0].columns[0].meta_data->codec,
              *internal::CompressionToParquet(codec));
    FlipEachBit(file);
    ReadEachPrefix(file);
  }
}

INSTANTIATE_TEST_SUITE_P(ParquetDamage, CodecTest,
                         testing::Values(Compression::kNone, Compression::kSnappy,
                                         Compression::kGzip, Compression::kBrotli,
                                         Compression::kZstd, Compression::kLz4));

TEST(ParquetDamage, ListsChecksumsBloomFiltersAndIndexes) {
  WriterOptions filtered;
  filtered.bloom_filter_bits_per_value = 8;
  for (const bool v2 : {false, true}) {
    for (const bool checksums : {false, true}) {
      const std::string file =
          Exported("pyarrow_nested_v2", {"numbers"}, filtered,
                   {.max_row_group_rows = 12, .data_page_v2 = v2, .page_checksums = checksums});
      FlipEachBit(file);
      ReadEachPrefix(file);
    }
  }
}

TEST(ParquetDamage, SmallFilesOfOtherWriters) {
  for (const std::string name : {"pyarrow_no_statistics", "pyarrow_old_types", "pyarrow_bloom",
                                 "pyarrow_int96", "fastparquet_int96", "java_interval",
                                 "pyarrow_encrypted_footer", "pyarrow_encrypted_columns"}) {
    SCOPED_TRACE(name);
    const std::string file = ReadFile(GoldenPath(name));
    FlipEachBit(file);
    ReadEachPrefix(file);
  }
}

TEST(ParquetDamage, OneBitOfEachByteOfLargerFiles) {
  for (const std::string name : {"pyarrow_encodings", "pyarrow_nested_v2", "pyarrow_arrow_schema",
                                 "duckdb_nested_v2", "spark_legacy", "spark_fallback_v2"}) {
    SCOPED_TRACE(name);
    std::string file = ReadFile(GoldenPath(name));
    for (size_t byte = 0; byte < file.size() && !HasFailure(); ++byte) {
      const char before = file[byte];
      file[byte] = static_cast<char>(file[byte] ^ 1 << (byte % 8));
      ExpectErrorOrTable(file);
      file[byte] = before;
    }
  }
}

}  // namespace cfile::parquet_damage_test
