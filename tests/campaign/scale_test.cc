// These tests use large values, files, trees and row numbers, which do not fit into 31 or 32 bits.
// A test of a build makes the same steps with smaller sizes. The full campaign needs 5 GB of disk
// in TMPDIR.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/heap.h"
#include "tests/cfile/temporary_directory.h"
#include "tests/sanitizers.h"

namespace cfile {
namespace {

using campaign::MostHeapBytes;
using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

int64_t ValueAt(uint64_t ordinal) { return static_cast<int64_t>(3 * ordinal) - 7; }

// A file of more than 2^32 bytes, whose values also have more than 2^32 bytes, is written and read:
// offsets and sums of sizes do not overflow.
TEST(Scale, FileBeyond32Bits) {
  const uint64_t rows = campaign::Amount(1'000'000, 560'000'000);
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  EXPECT_LE(MostHeapBytes([&] {
              auto writer = Writer<int64_t>::Create(
                  path, ColumnType::Int64(), {.encoding = Encoding::kPlain, .value_index = true});
              ASSERT_TRUE(writer.ok()) << writer.status();
              std::vector<int64_t> batch;
              for (uint64_t row = 0; row < rows;) {
                batch.clear();
                for (; batch.size() < 10'000 && row < rows; ++row) batch.push_back(ValueAt(row));
                ASSERT_TRUE(writer->Append(batch).ok());
              }
              ASSERT_EQ(writer->Finish(), absl::OkStatus());
            }),
            16 * kMiB);
  EXPECT_LE(MostHeapBytes([&] {
              const auto reader = Reader::Open(path);
              ASSERT_TRUE(reader.ok()) << reader.status();
              EXPECT_EQ(reader->num_rows(), rows);
              EXPECT_GT(reader->info().file_size_bytes, 8 * rows);
              auto cursor = reader->NewCursor<int64_t>();
              ASSERT_TRUE(cursor.ok());
              for (const uint64_t ordinal : {rows - 1, uint64_t{0}, rows / 2, rows - 2, rows / 3}) {
                EXPECT_EQ(cursor->Get(ordinal).value(), ValueAt(ordinal));
                const auto found = cursor->SeekToKey(ValueAt(ordinal) - 1);
                ASSERT_TRUE(found.ok()) << found.status();
                EXPECT_EQ(found->ordinal, ordinal);
                EXPECT_FALSE(found->exact);
              }
              ASSERT_EQ(cursor->SeekToOrdinal(0), absl::OkStatus());
              for (uint64_t row = 0; row < rows;) {
                const auto batch = cursor->Next(65'536);
                ASSERT_TRUE(batch.ok()) << batch.status();
                ASSERT_FALSE(batch->empty());
                for (const int64_t value : batch->values) ASSERT_EQ(value, ValueAt(row++));
              }
            }),
            16 * kMiB);
  campaign::Done("bytes_of_one_file", 8 * rows);
}

// Writes and reads a value of `size` bytes between small values. EXPECTs that the memory stays
// within the bound of cfile/README.md. In the worst case, the memory holds the value while it is
// encoded or decoded, its entry in the dictionary, the block and the stored block. Growing buffers
// take additional memory.
void WriteAndReadCell(Encoding encoding, Compression compression, uint64_t size) {
  SCOPED_TRACE(testing::Message() << size << " bytes, " << EncodingName(encoding) << ", "
                                  << CompressionName(compression));
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  std::string large(size, 'x');
  for (size_t i = 0; i < size; i += 4099) large[i] = static_cast<char>(i % 251);
  const std::vector<std::string_view> values = {"before", large, "", "behind"};
  constexpr size_t kMost = (size_t{1} << 31) - 1;
  const int64_t written = MostHeapBytes([&] {
    auto writer = Writer<std::string_view>::Create(
        path, ColumnType::String(),
        {.encoding = encoding, .compression = compression, .max_block_size_bytes = kMost});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ(writer->Append(values), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  });
  const bool compressed = compression != Compression::kNone;
  EXPECT_LE(written, static_cast<int64_t>((compressed ? 6 : 4) * size) + 4 * kMiB);
  // FSST makes the block smaller than the default limit, and a symbol has at most 8 bytes.
  const bool is_fsst = encoding == Encoding::kFsst;
  EXPECT_EQ(Reader::Open(path)->Get<std::string_view>(1).ok(), is_fsst && size == 20 << 20);
  const int64_t read = MostHeapBytes([&] {
    const auto reader = Reader::Open(path, {.max_block_size_bytes = kMost});
    ASSERT_TRUE(reader.ok()) << reader.status();
    auto cursor = reader->NewCursor<std::string_view>();
    ASSERT_TRUE(cursor.ok());
    for (size_t i = values.size(); i-- > 0;) {
      const auto value = cursor->Get(i);
      ASSERT_TRUE(value.ok()) << value.status();
      ASSERT_TRUE(**value == values[i]) << i;
    }
    EXPECT_TRUE(Verify(*reader).ok());
  });
  // A decoder of FSST also has the text of a group, and its buffer of values grows to twice the
  // size.
  const int most_copies = (compressed ? 5 : 3) + (is_fsst ? 2 : 0);
  EXPECT_LE(read, static_cast<int64_t>(most_copies * size) + 4 * kMiB);
}

TEST(Scale, LargeCell) {
  constexpr uint64_t kSmall = 20 << 20;
  const uint64_t size = campaign::Amount(kSmall, 1 << 30);
  WriteAndReadCell(Encoding::kAuto, Compression::kNone, size);
  WriteAndReadCell(Encoding::kAuto, Compression::kZstd, kSmall);
  WriteAndReadCell(Encoding::kPlain, Compression::kZstd, size);
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    if (!row.Supports(PhysicalType::kBytes)) continue;
    WriteAndReadCell(row.encoding, Compression::kNone, size);
    WriteAndReadCell(row.encoding, Compression::kZstd, kSmall);
  }
  campaign::Done("bytes_of_one_cell", size);
}

// Reads both indexes and all rows of a file with one block per row.
void ReadManyBlocks(const std::string& path, uint64_t rows) {
  const auto reader = Reader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const IndexKind kind : {IndexKind::kPositional, IndexKind::kValue}) {
    uint32_t deepest = 0;
    uint64_t blocks = 0;
    ASSERT_EQ(VisitIndex(*reader, kind,
                         [&](const IndexNodeInfo& node) {
                           deepest = std::max(deepest, node.depth);
                           blocks += node.leaf ? node.entries.size() : 0;
                           return true;
                         }),
              absl::OkStatus());
    EXPECT_GE(deepest, 3);  // the tree has four levels
    EXPECT_EQ(blocks, rows);
  }
  auto cursor = reader->NewCursor<int64_t>();
  ASSERT_TRUE(cursor.ok());
  for (uint64_t row = 0; row < rows; row += 1 + rows / 5000) {
    ASSERT_EQ(cursor->Get(row).value(), ValueAt(row));
    ASSERT_EQ(cursor->SeekToKey(ValueAt(row))->ordinal, row);
  }
  ASSERT_EQ(cursor->SeekToOrdinal(0), absl::OkStatus());
  for (uint64_t row = 0; row < rows; ++row) {
    const auto batch = cursor->Next(100);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_EQ(batch->size(), 1);
    ASSERT_EQ(batch->values[0], ValueAt(row));
  }
}

// A file with one block per value has trees of many levels. Writing takes little memory.
TEST(Scale, ManyBlocks) {
  const uint64_t rows = campaign::Amount(20'000, 1'000'000);
  const size_t node_bytes = campaign::Full() ? 1024 : 300;
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  EXPECT_LE(MostHeapBytes([&] {
              auto writer = Writer<int64_t>::Create(path, ColumnType::Int64(),
                                                    {.value_index = true,
                                                     .max_values_per_block = 1,
                                                     .index_block_size_bytes = node_bytes,
                                                     .statistics = false});
              ASSERT_TRUE(writer.ok()) << writer.status();
              for (uint64_t row = 0; row < rows; ++row) {
                const int64_t value = ValueAt(row);
                ASSERT_TRUE(writer->Append({&value, 1}).ok());
              }
              ASSERT_EQ(writer->Finish(), absl::OkStatus());
            }),
            4 * kMiB);
  // The nodes of both indexes stay in memory and take about 50 bytes per entry.
  EXPECT_LE(MostHeapBytes([&] { ReadManyBlocks(path, rows); }),
            static_cast<int64_t>(2 * 60 * rows) + 4 * kMiB);
  campaign::Done("blocks_of_one_file", rows);
}

// Writes and reads a file of `limit` rows, and EXPECTs that no further row can be appended.
void WriteAndReadRows(uint64_t limit) {
  const std::vector<int32_t> batch(1 << 20, 5);
  for (const bool one_more : {false, true}) {
    std::vector<uint8_t> file;
    auto writer = Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                                          {.encoding = Encoding::kRle});
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (uint64_t left = limit - 1; left > 0;) {
      const size_t count = std::min<uint64_t>(left, batch.size());
      ASSERT_TRUE(writer->Append(std::span(batch).first(count)).ok());
      left -= count;
    }
    const std::vector<int32_t> last = {6, 7};
    const absl::Status status = writer->Append(std::span(last).first(one_more ? 2 : 1));
    if (one_more) {
      EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(limit)));
      break;
    }
    ASSERT_EQ(status, absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
    const auto reader = Reader::Open(NewMemoryViewSource(file));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(reader->num_rows(), limit);
    auto cursor = reader->NewCursor<int32_t>();
    ASSERT_TRUE(cursor.ok());
    EXPECT_EQ(cursor->Get(limit - 1).value(), 6);
    EXPECT_EQ(cursor->Get(limit - 2).value(), 5);
    EXPECT_EQ(cursor->Get(limit).status().code(), absl::StatusCode::kOutOfRange);
    auto scan = reader->NewScan<int32_t>(Predicate<int32_t>::Equal(6));
    ASSERT_TRUE(scan.ok()) << scan.status();
    const auto found = scan->Next();
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->ordinals.size(), 1);
    EXPECT_EQ(found->ordinals[0], limit - 1);
  }
}

// A file can have exactly 2^32 - 1 rows.
TEST(Scale, RowLimit) {
  if (!campaign::Full()) GTEST_SKIP() << "takes 2^32 rows";
  constexpr uint64_t kLimit = std::numeric_limits<uint32_t>::max();
  // Nearly all values are equal, so that writer and reader need little memory.
  EXPECT_LE(MostHeapBytes([&] { WriteAndReadRows(kLimit); }), 16 * kMiB);
  campaign::Done("rows_of_one_file", kLimit);
}

}  // namespace
}  // namespace cfile
