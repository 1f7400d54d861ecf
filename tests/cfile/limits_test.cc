// Every limit is an option, and an error about a limit names this option.
#include <optional>
#include <string>
#include <vector>

#include "cfile/core/format/crc32c.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/record_schema.h"
#include "cfile/records.h"
#include "cfile/scan.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::limits_test {

using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

absl::Status Write(const WriterOptions& options, std::string_view value, Bytes& file) {
  auto writer =
      Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::String(), options);
  if (!writer.ok()) return writer.status();
  const absl::Status status = writer->Append(std::span(&value, 1));
  return status.ok() ? writer->Finish() : status;
}

// Opens the file and reads the first value. This also reads the root of the index.
absl::Status Read(const Bytes& file, const ReaderOptions& options) {
  const auto reader = Reader::Open(NewMemoryViewSource(file), options);
  if (!reader.ok()) return reader.status();
  return reader->Get<std::string_view>(0).status();
}

void ExpectLimit(const absl::Status& status, absl::StatusCode code, const std::string& message) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

// The limit of metadata counts memory: a pair with empty key and value takes few bytes in the file
// but much memory.
TEST(Limits, OfMetadataInMemory) {
  constexpr size_t kLimit = 20'000;
  Bytes file;
  for (const bool in_footer : {false, true}) {
    size_t refused = 0;
    constexpr size_t kFirst = 400, kEnd = 800;
    for (size_t pairs = kFirst; pairs < kEnd; ++pairs) {
      WriterOptions options{.max_metadata_size_bytes = kLimit};
      if (!in_footer) options.metadata.resize(pairs);
      file.clear();
      auto writer = Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), options);
      absl::Status status = writer.status();
      if (status.ok() && in_footer) {
        for (size_t i = 0; i < pairs; ++i) {
          ASSERT_TRUE(writer->AddMetadata("", "").ok());
        }
      }
      if (status.ok()) status = writer->Finish();
      refused += !status.ok();
      if (!status.ok()) {
        ExpectLimit(status, absl::StatusCode::kOutOfRange, "raise max_metadata_size_bytes");
        continue;
      }
      EXPECT_EQ(refused, 0) << pairs;
      const absl::Status opened =
          Reader::Open(NewMemoryViewSource(file), {.max_metadata_size_bytes = kLimit}).status();
      ASSERT_EQ(opened, absl::OkStatus()) << pairs;
    }
    EXPECT_GT(refused, 0);
    EXPECT_LT(refused, kEnd - kFirst);
  }
}

TEST(Limits, OfBlocks) {
  const std::string value(17 << 20, 'x');
  Bytes file;
  const WriterOptions raised{.encoding = Encoding::kPlain, .max_block_size_bytes = 32 << 20};
  ExpectLimit(Write({}, value, file), absl::StatusCode::kOutOfRange,
              "above the limit of 16777216: raise max_block_size_bytes");
  file.clear();
  ASSERT_EQ(Write(raised, value, file), absl::OkStatus());
  constexpr char kRaise[] = "above the limit of 16777216: raise max_block_size_bytes";
  ExpectLimit(Read(file, {}), absl::StatusCode::kOutOfRange, kRaise);
  EXPECT_EQ(Read(file, {.max_block_size_bytes = 32 << 20}), absl::OkStatus());

  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  auto scan = reader->NewScan<std::string_view>(Predicate<std::string_view>::IsNotNull());
  ASSERT_TRUE(scan.ok()) << scan.status();
  ExpectLimit(scan->Next().status(), absl::StatusCode::kOutOfRange, kRaise);
  ExpectLimit(VisitBlocks(*reader, [](const BlockInfo&) { return true; }),
              absl::StatusCode::kOutOfRange, kRaise);
  const VerifyReport report = Verify(*reader);
  EXPECT_FALSE(report.ok());
  EXPECT_TRUE(report.damages.empty()) << report.damages[0].status;
  ASSERT_EQ(report.limits.size(), 1u);
  ExpectLimit(report.limits[0].status, absl::StatusCode::kOutOfRange, kRaise);
  EXPECT_EQ(report.limits[0].first_ordinal, 0u);
}

// If a block claims to be larger than its bytes can expand to, the block is damaged. The error does
// not name a limit, although the claimed size exceeds one.
TEST(Limits, AreNotMetByImpossibleSizes) {
  Bytes file;
  const std::string value(100'000, 'x');
  ASSERT_EQ(Write({.encoding = Encoding::kPlain, .compression = Compression::kSnappy}, value, file),
            absl::OkStatus());
  BlockPointer block;
  ASSERT_EQ(VisitBlocks(*Reader::Open(NewMemoryViewSource(file)),
                        [&](const BlockInfo& info) {
                          block = info.pointer;
                          return info.compressed;
                        }),
            absl::OkStatus());
  const auto with_size = [&](uint32_t size) {
    Bytes changed = file;
    encodings::StoreLittleEndian(size, changed.data() + block.offset);
    const size_t end = block.end() - internal::kChecksumBytes;
    const std::span<const uint8_t> bytes(changed);
    const uint32_t crc = internal::Crc32c(bytes.subspan(block.offset, end - block.offset));
    encodings::StoreLittleEndian(crc, changed.data() + end);
    return changed;
  };
  ExpectLimit(Read(with_size(block.size * 20), {.max_block_size_bytes = 50'000}),
              absl::StatusCode::kOutOfRange,
              "above the limit of 50000: raise max_block_size_bytes");
  ExpectLimit(Read(with_size(2'000'000'000), {}), absl::StatusCode::kDataLoss, "cannot expand");
  // A block that ends after the end of the file is damaged.
  file.erase(file.begin() + static_cast<ptrdiff_t>(block.offset),
             file.begin() + static_cast<ptrdiff_t>(block.end()));
  EXPECT_TRUE(absl::IsDataLoss(Read(file, {})));
}

// Statistics that exceed a limit are ignored, because a reader works without statistics.
TEST(Limits, OfStatisticsMakeThemIgnored) {
  std::vector<int64_t> values(20'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * i);
  for (const bool compressed : {false, true}) {
    // The statistics are large: a filter of 25,000 bytes, or the entries of 2,000 blocks, which the
    // codec shrinks to about half.
    WriterOptions options{.encoding = Encoding::kPlain,
                          .compression = compressed ? Compression::kZstd : Compression::kNone,
                          .block_size_bytes = 4000,
                          .index_block_size_bytes = 2000};
    if (compressed) {
      options.max_values_per_block = 10;
    } else {
      options.bloom_filter_bits_per_value = 10;
    }
    Bytes file;
    auto writer = Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(), options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ(writer->Append(values), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
    const auto whole = Reader::Open(NewMemoryViewSource(file));
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_FALSE(whole->info().statistics_above_limit);
    ASSERT_NE(*whole->Statistics(), nullptr);
    EXPECT_TRUE(Verify(*whole).ok());
    const size_t stored = whole->info().statistics->size;

    const size_t limit = compressed ? stored : stored - 1000;
    const ReaderOptions small{.max_block_size_bytes = 9'000,
                              .max_bloom_filter_bytes = limit - 9'000};
    const auto reader = Reader::Open(NewMemoryViewSource(file), small);
    ASSERT_TRUE(reader.ok()) << reader.status();
    // If the statistics are compressed, the reader knows their size only after it loads them.
    EXPECT_EQ(reader->info().statistics_above_limit, !compressed);
    EXPECT_EQ(reader->info().bloom_filter.has_value(), !compressed);
    for (int i = 0; i < 2; ++i) {
      const auto statistics = reader->Statistics();
      ASSERT_TRUE(statistics.ok()) << statistics.status();
      EXPECT_EQ(*statistics, nullptr);
    }
    EXPECT_EQ(**reader->Get<int64_t>(100), 10'000);
    auto scan = reader->NewScan<int64_t>(Predicate<int64_t>::Equal(10'000));
    ASSERT_TRUE(scan.ok()) << scan.status();
    const auto batch = scan->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(batch->size(), 1u);
    EXPECT_EQ(batch->ordinals[0], 100u);
    const VerifyReport report = Verify(*reader);
    EXPECT_TRUE(report.damages.empty()) << report.damages[0].status;
    ASSERT_EQ(report.limits.size(), 1u);
    EXPECT_EQ(report.limits[0].block, reader->info().statistics);
    ExpectLimit(report.limits[0].status, absl::StatusCode::kOutOfRange,
                "above the limit of " + std::to_string(limit) + ": raise max_bloom_filter_bytes");
  }
}

TEST(Limits, OfValues) {
  Bytes file;
  ExpectLimit(Write({.max_value_size_bytes = 9}, "0123456789", file), absl::StatusCode::kOutOfRange,
              "above the limit of 9: raise max_value_size_bytes");
  file.clear();
  EXPECT_EQ(Write({.max_value_size_bytes = 10}, "0123456789", file), absl::OkStatus());
  const LevelLimits limits{1, 1};
  auto writer = LevelWriter<std::string_view>::Create(NewMemorySink(&file), ColumnType::String(),
                                                      limits, {.max_value_size_bytes = 9});
  ASSERT_TRUE(writer.ok());
  const uint16_t repetition = 0, definition = 1;
  const std::string_view value = "0123456789";
  ExpectLimit(writer->Append({&repetition, 1}, {&definition, 1}, {&value, 1}),
              absl::StatusCode::kOutOfRange, "above the limit of 9: raise max_value_size_bytes");
}

TEST(Limits, OfMetadata) {
  const std::string long_text(17 << 20, 'm');
  Bytes file;
  WriterOptions options;
  options.metadata = {{"long", long_text}};
  ExpectLimit(Write(options, "x", file), absl::StatusCode::kOutOfRange,
              "above the limit of 16777216: raise max_metadata_size_bytes");
  file.clear();
  options.max_metadata_size_bytes = 32 << 20;
  ASSERT_EQ(Write(options, "x", file), absl::OkStatus());
  ExpectLimit(Read(file, {}), absl::StatusCode::kOutOfRange,
              "above the limit of 16777216: raise max_metadata_size_bytes");
  EXPECT_EQ(Read(file, {.max_metadata_size_bytes = 32 << 20}), absl::OkStatus());
}

TEST(Limits, OfIndexDepth) {
  Bytes file;
  auto writer = Writer<int32_t>::Create(
      NewMemorySink(&file), ColumnType::Int32(),
      {.value_index = true, .max_values_per_block = 1, .index_block_size_bytes = 1});
  ASSERT_TRUE(writer.ok());
  std::vector<int32_t> values(200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  ASSERT_TRUE(writer->Append(values).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto read = [&](size_t max_index_depth) {
    const auto reader =
        Reader::Open(NewMemoryViewSource(file), {.max_index_depth = max_index_depth});
    EXPECT_TRUE(reader.ok()) << reader.status();
    std::vector<absl::Status> statuses = {reader->Get<int32_t>(100).status()};
    statuses.push_back(reader->NewCursor<int32_t>()->SeekToKey(100).status());
    statuses.push_back(
        VisitIndex(*reader, IndexKind::kValue, [](const IndexNodeInfo&) { return true; }));
    const VerifyReport report = Verify(*reader);
    EXPECT_TRUE(report.damages.empty()) << report.damages[0].status;
    statuses.push_back(report.ok() ? absl::OkStatus() : report.limits[0].status);
    return statuses;
  };
  for (const absl::Status& status : read(40)) EXPECT_EQ(status, absl::OkStatus());
  for (const absl::Status& status : read(3)) {
    ExpectLimit(status, absl::StatusCode::kOutOfRange,
                "above the limit of 3: raise max_index_depth");
  }
}

// Returns nested groups. `depth` is the number of names on the path to the leaf.
std::vector<RecordNode> DeepNodes(size_t depth) {
  std::vector<RecordNode> nodes = {{.name = "m", .num_children = 1}};
  for (size_t i = 1; i < depth; ++i) nodes.push_back({.name = "g", .num_children = 1});
  nodes.push_back({.name = "v", .type = ColumnType::Int32()});
  return nodes;
}

TEST(Limits, OfRecordDepth) {
  constexpr char kRaise[] = "raise max_depth";
  ExpectLimit(RecordSchema::Create(DeepNodes(65)).status(), absl::StatusCode::kOutOfRange, kRaise);
  const RecordLimits raised{.max_depth = 400};
  const auto schema = RecordSchema::Create(DeepNodes(400), raised);
  ASSERT_TRUE(schema.ok()) << schema.status();
  ExpectLimit(RecordSchema::Parse(schema->ToString()).status(), absl::StatusCode::kOutOfRange,
              kRaise);
  EXPECT_EQ(RecordSchema::Parse(schema->ToString(), raised).value(), *schema);
  // Without limits, the depth is still limited, because the stack is finite.
  const RecordLimits none{SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  EXPECT_TRUE(RecordSchema::Create(DeepNodes(1000), none).ok());
  ExpectLimit(RecordSchema::Create(DeepNodes(1001), none).status(),
              absl::StatusCode::kInvalidArgument, "above 1000, the maximum of any schema");

  const TemporaryDirectory directory;
  const std::string path = directory.path("table");
  const std::vector<int32_t> values = {1, 2, 3};
  for (const bool append : {false, true}) {
    auto writer =
        append ? TableWriter::Open(path) : TableWriter::Create(path, Schema::OfRecords(*schema));
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ(writer->Append<int32_t>(0, values), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }
  ExpectLimit(TableReader::Open(path).status(), absl::StatusCode::kOutOfRange, kRaise);
  const auto table = TableReader::Open(path, {.record_limits = raised});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->num_rows(), 6);
}

TEST(Limits, OfTableFiles) {
  const TemporaryDirectory directory;
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int32()}}};
  const WriterOptions options{.max_metadata_size_bytes = 100};
  auto writer = TableWriter::Create(directory.path("table"), schema, {&options, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (int part = 0;; ++part) {
    ASSERT_LT(part, 10);
    const absl::Status status = writer->Finish();
    if (!status.ok()) {
      ExpectLimit(status, absl::StatusCode::kOutOfRange,
                  "above the limit of 100: raise max_metadata_size_bytes");
      break;
    }
    writer = TableWriter::Open(directory.path("table"), {&options, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
  }
}

}  // namespace cfile::limits_test
