// Files of every type, encoding, codec, version and index are written and read back.
#include <filesystem>
#include <random>
#include <thread>

#include "cfile/core/format/block_appender.h"
#include "cfile/core/format/index_node.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "proto/cfile.pb.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::file_test {

using testing::HasSubstr;
using namespace testing_support;

// Seeks random ordinals and, if the file has a value index, random keys. Compares the results with
// `column`.
template <typename T>
void ExpectSeeks(const Reader& reader, const Column<T>& column, std::mt19937_64& random) {
  auto cursor = reader.NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  const auto less = [](const auto& row, const T& key) { return T(*row) < key; };
  for (int i = 0; i < 60; ++i) {
    const uint64_t ordinal = random() % (column.rows.size() + 1);
    ASSERT_TRUE(cursor->SeekToOrdinal(ordinal).ok());
    const auto batch = cursor->Next(1 + random() % 50);
    ASSERT_TRUE(batch.ok()) << batch.status();
    ExpectBatch(*batch, column);
    if (testing::Test::HasFatalFailure()) return;
    if (!reader.info().value_index_root) continue;
    const Owned<T> key = !column.rows.empty() && random() % 2 == 0
                             ? *column.rows[random() % column.rows.size()]
                             : RandomValue<T>(reader.type(), 1, random);
    const auto expected = std::lower_bound(column.rows.begin(), column.rows.end(), T(key), less);
    const auto found = cursor->SeekToKey(T(key));
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->ordinal, static_cast<uint64_t>(expected - column.rows.begin()));
    ASSERT_EQ(found->exact, expected != column.rows.end() && T(**expected) == T(key));
    ASSERT_EQ(cursor->ordinal(), found->ordinal);
  }
}

template <typename T>
void RoundTrip(const ColumnType& type, const WriterOptions& options, size_t num_rows,
               int null_percent, std::mt19937_64& random) {
  const auto column = RandomColumn<T>(type, num_rows, null_percent, options.value_index, random);
  const std::vector<uint8_t> file = WriteColumn<T>(type, options, column);
  if (testing::Test::HasFailure()) return;
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->type(), type) << reader->type().ToString();
  EXPECT_EQ(reader->num_rows(), num_rows);
  auto cursor = reader->NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  ExpectRest(*cursor, column, random);
  ExpectSeeks<T>(*reader, column, random);
  const VerifyReport report = Verify(*reader);
  EXPECT_TRUE(report.ok()) << report.damages[0].status;
  EXPECT_EQ(report.num_rows, num_rows);
  EXPECT_EQ(report.bytes_checked, file.size());
}

TEST(File, EveryTypeEncodingCodecAndIndexRoundTrips) {
  std::mt19937_64 random(1);
  int files = 0;
  for (const ColumnType& type : AllColumnTypes()) {
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (!row.Supports(type.physical())) continue;
      for (const Compression compression : BuiltInCompressions()) {
        for (const bool value_index : {false, true}) {
          for (const int null_percent : {-1, 0, 10, 100}) {
            if (value_index && (null_percent >= 0 || type == ColumnType::Int96())) continue;
            SCOPED_TRACE(type.ToString() + " " + std::string(row.name) + " " +
                         CompressionName(compression) + (value_index ? " value index" : "") +
                         " nulls " + std::to_string(null_percent));
            const WriterOptions options{
                .encoding = row.encoding,
                .compression = compression,
                .nullable = null_percent >= 0,
                .value_index = value_index,
                .block_size_bytes = 1 + random() % 3000,
                .max_values_per_block = static_cast<uint32_t>(1 + random() % 2000),
                .index_block_size_bytes = 1 + random() % 200};
            const size_t num_rows = random() % 3 == 0 ? random() % 3 : random() % 3000;
            encodings::VisitPhysicalType(type.physical(), [&](auto t) {
              RoundTrip<typename decltype(t)::type>(type, options, num_rows, null_percent, random);
            });
            if (testing::Test::HasFailure()) return;
            ++files;
          }
        }
      }
    }
  }
  EXPECT_GT(files, 500);
}

TEST(File, VersionOneRoundTripsInItsOwnForm) {
  std::mt19937_64 random(2);
  for (const Compression compression : {Compression::kNone, Compression::kSnappy}) {
    for (const bool nullable : {false, true}) {
      const WriterOptions options{.encoding = Encoding::kPrefix,
                                  .compression = compression,
                                  .nullable = nullable,
                                  .value_index = !nullable,
                                  .block_size_bytes = 100,
                                  .index_block_size_bytes = 60,
                                  .version = FormatVersion::kV1};
      RoundTrip<std::string_view>(ColumnType::String(), options, 2000, nullable ? 20 : -1, random);
    }
  }
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 5, -1, false, random);
  const auto file =
      WriteColumn<int32_t>(ColumnType::Int32(), {.version = FormatVersion::kV1}, column);
  EXPECT_EQ(std::string(file.begin(), file.begin() + 8), "kuducfil");
  EXPECT_EQ(std::string(file.end() - 12, file.end() - 4), "kuducfil");
  EXPECT_EQ(Reader::Open(NewMemoryViewSource(file))->info().incompatible_features, 0u);
}

// A reader accepts positional keys of both forms in files of version 1, because Kudu wrote the form
// of version 2. The test rewrites the index of one of our files in this form, with two levels.
TEST(File, VersionOneReadsKeysOfBothForms) {
  std::mt19937_64 random(21);
  for (const Compression compression :
       {Compression::kNone, Compression::kSnappy, Compression::kLz4, Compression::kZlib}) {
    if (!CheckCompressionBuiltIn(compression).ok()) continue;
    SCOPED_TRACE(CompressionName(compression));
    const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 2000, 10, false, random);
    std::vector<uint8_t> file = WriteColumn<int32_t>(ColumnType::Int32(),
                                                     {.encoding = Encoding::kPlain,
                                                      .compression = compression,
                                                      .nullable = true,
                                                      .block_size_bytes = 100,
                                                      .version = FormatVersion::kV1},
                                                     column);
    // The footer consists of a message, a magic and a length.
    const size_t size = encodings::LoadLittleEndian<uint32_t>(file.data() + file.size() - 4);
    CFileFooterPB footer;
    ASSERT_TRUE(
        footer.ParseFromArray(file.data() + file.size() - 12 - size, static_cast<int>(size)));
    // The rewritten file has the data blocks and then a tree of two levels.
    std::vector<IndexEntryInfo> blocks;
    ASSERT_TRUE(VisitIndex(*Reader::Open(NewMemorySource(file)), IndexKind::kPositional,
                           [&](const IndexNodeInfo& node) {
                             if (node.leaf) blocks = node.entries;
                             return true;
                           })
                    .ok());
    ASSERT_GT(blocks.size(), 10u);
    file.resize(blocks.back().pointer.end());
    const auto sink = NewMemorySink(&file);
    internal::BlockAppender appender(
        sink.get(), file.size(),
        {.compression = compression, .checksums = false, .compresses_all = true}, 1 << 20);
    internal::IndexNodeBuilder leaf(internal::IndexKeyForm::kBytes);
    encodings::ByteWriter node;
    for (const IndexEntryInfo& block : blocks) {
      leaf.Add(internal::OrdinalKey(block.ordinal), block.pointer);
    }
    leaf.Finish(/*leaf=*/true, node);
    auto pointer = appender.Append({}, node.span());
    ASSERT_TRUE(pointer.ok());
    internal::IndexNodeBuilder root(internal::IndexKeyForm::kBytes);
    root.Add(internal::OrdinalKey(0), *pointer);
    node.Clear();
    root.Finish(/*leaf=*/false, node);
    pointer = appender.Append({}, node.span());
    ASSERT_TRUE(pointer.ok());
    auto& root_block = *footer.mutable_posidx_info()->mutable_root_block();
    root_block.set_offset(static_cast<int64_t>(pointer->offset));
    root_block.set_size(static_cast<int32_t>(pointer->size));
    const std::string message = footer.SerializeAsString();
    encodings::ByteWriter end;
    end.PutBytes(std::string_view(message));
    end.PutBytes(std::string_view("kuducfil"));
    end.PutFixed(static_cast<uint32_t>(message.size()));
    ASSERT_TRUE(sink->Append(end.span()).ok());

    const auto reader = Reader::Open(NewMemoryViewSource(file));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_TRUE(Verify(*reader).ok()) << Verify(*reader).damages[0].status;
    ExpectSeeks<int32_t>(*reader, column, random);
  }
}

TEST(File, TreesGrowToManyLevels) {
  std::mt19937_64 random(3);
  const WriterOptions options{
      .value_index = true, .block_size_bytes = 1, .index_block_size_bytes = 1};
  const auto column = RandomColumn<int64_t>(ColumnType::Int64(), 3000, -1, true, random);
  const auto file = WriteColumn<int64_t>(ColumnType::Int64(), options, column);
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok());
  for (const IndexKind kind : {IndexKind::kPositional, IndexKind::kValue}) {
    uint32_t deepest = 0;
    ASSERT_TRUE(VisitIndex(*reader, kind, [&](const IndexNodeInfo& node) {
                  deepest = std::max(deepest, node.depth);
                  return true;
                }).ok());
    EXPECT_GE(deepest, 10u);  // because a node has only two entries
  }
  ExpectSeeks<int64_t>(*reader, column, random);
}

TEST(File, EqualKeysAcrossBlocksAreFoundAtTheFirst) {
  std::mt19937_64 random(4);
  Column<int32_t> column;
  for (int i = 0; i < 5000; ++i) column.rows.push_back(i / 1700);
  const auto file = WriteColumn<int32_t>(ColumnType::Int32(),
                                         {.value_index = true, .block_size_bytes = 40}, column);
  auto cursor = Reader::Open(NewMemoryViewSource(file))->NewCursor<int32_t>();
  for (int key = 0; key < 3; ++key) {
    const auto found = cursor->SeekToKey(key);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->ordinal, static_cast<uint64_t>(key) * 1700);
    EXPECT_TRUE(found->exact);
    ExpectRest(*cursor, column, random);
  }
  EXPECT_EQ(cursor->SeekToKey(3)->ordinal, 5000u);
  EXPECT_EQ(cursor->ordinal(), 5000u);
  EXPECT_FALSE(cursor->SeekToKey(-1)->exact);
}

TEST(File, PlainBlocksAreAlignedAndPointedAt) {
  std::mt19937_64 random(5);
  const auto column = RandomColumn<int64_t>(ColumnType::Int64(), 5000, -1, false, random);
  for (const OldestReader oldest_reader : {OldestReader::kDefault, OldestReader::kKudu}) {
    const auto file = WriteColumn<int64_t>(
        ColumnType::Int64(),
        {.encoding = Encoding::kPlain, .block_size_bytes = 999, .oldest_reader = oldest_reader},
        column);
    const auto reader = Reader::Open(NewMemoryViewSource(file));
    auto cursor = reader->NewCursor<int64_t>();
    size_t inside = 0, batches = 0;
    for (auto batch = cursor->Next(100000); !batch->empty(); batch = cursor->Next(100000)) {
      const auto* begin = reinterpret_cast<const uint8_t*>(batch->values.data());
      ++batches;
      if (begin >= file.data() && begin < file.data() + file.size()) {
        ++inside;
        EXPECT_EQ((begin - file.data()) % 64,
                  oldest_reader == OldestReader::kDefault ? 0 : (begin - file.data()) % 64);
      }
    }
    EXPECT_GT(batches, 20u);
    if (oldest_reader == OldestReader::kDefault) {
      EXPECT_EQ(inside, batches);
    }
  }
}

TEST(File, MetadataIsKept) {
  std::vector<uint8_t> file;
  auto writer =
      Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                              {.metadata = {{"a", "1"}, {"b", std::string("\0\xff", 2)}}});
  ASSERT_TRUE(writer.ok());
  const int32_t value = 7;
  ASSERT_TRUE(writer->Append({&value, 1}).ok());
  ASSERT_TRUE(writer->AddMetadata("late", "pair").ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto& header = reader->info().header_metadata;
  ASSERT_GE(header.size(), 2u);
  EXPECT_EQ(header[0], std::make_pair(std::string("a"), std::string("1")));
  EXPECT_EQ(header[1].second, std::string("\0\xff", 2));
  EXPECT_EQ(reader->info().footer_metadata.back(),
            std::make_pair(std::string("late"), std::string("pair")));
  EXPECT_THAT(DescribeMetadata(reader->info()).footer_text, HasSubstr("num_values: 1"));
  EXPECT_FALSE(Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                                       {.metadata = {{"cfile.x", ""}}})
                   .ok());
}

TEST(File, OrderIsCheckedAndNamesTheOrdinal) {
  std::vector<uint8_t> file;
  const auto make = [&](const WriterOptions& options) {
    file.clear();
    return *Writer<double>::Create(NewMemorySink(&file), ColumnType::Double(), options);
  };
  const double ascending[] = {1, 2, 2, 3};
  const double less = 2.5;
  {
    auto writer = make({.value_index = true});
    ASSERT_TRUE(writer.Append(ascending).ok());
    const absl::Status status = writer.Append({&less, 1});
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("ordinal 4"));
    EXPECT_EQ(writer.Append(ascending), status);  // the error is sticky
    EXPECT_EQ(writer.Finish(), status);
  }
  {
    auto writer = make({.value_index = true});
    const double bad[] = {1, 5, 4};
    EXPECT_THAT(std::string(writer.Append(bad).message()), HasSubstr("ordinal 2"));
  }
  {
    auto writer = make({.value_index = true});
    const double bad[] = {1, std::numeric_limits<double>::quiet_NaN()};
    EXPECT_THAT(std::string(writer.Append(bad).message()), HasSubstr("ordinal 1 is NaN"));
  }
  {
    auto writer = make({.value_index = true});
    const uint8_t validity = 0b0111;
    const absl::Status status = writer.Append(ascending, {&validity, 1});
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("ordinal 3 is null"));
  }
  EXPECT_FALSE(Writer<double>::Create(NewMemorySink(&file), ColumnType::Double(),
                                      {.nullable = true, .value_index = true})
                   .ok());
}

TEST(File, WhatDoesNotGoTogetherIsRefused) {
  std::vector<uint8_t> file;
  const auto status = [&](const ColumnType& type, const WriterOptions& options) {
    return encodings::VisitPhysicalType(type.physical(), [&](auto t) {
      return Writer<typename decltype(t)::type>::Create(NewMemorySink(&file), type, options)
          .status();
    });
  };
  EXPECT_THAT(std::string(status(ColumnType::Int32(), {.encoding = Encoding::kPrefix}).message()),
              HasSubstr("prefix"));
  EXPECT_TRUE(absl::IsUnimplemented(status(ColumnType::Int32(), {.encoding = Encoding::kPrefix})));
  EXPECT_THAT(
      std::string(
          status(ColumnType::Int32(), {.compression = static_cast<Compression>(5)}).message()),
      HasSubstr("compression 5"));
  EXPECT_TRUE(absl::IsUnimplemented(
      status(ColumnType::Int32(), {.compression = static_cast<Compression>(5)})));
  EXPECT_THAT(
      std::string(status(ColumnType::Uuid(), {.oldest_reader = OldestReader::kKudu}).message()),
      HasSubstr("uuid"));
  EXPECT_THAT(std::string(status(ColumnType::Int32(), {.compression = Compression::kZstd,
                                                       .oldest_reader = OldestReader::kKudu})
                              .message()),
              HasSubstr("zstd"));
  EXPECT_FALSE(status(ColumnType::Int32(),
                      {.compression = Compression::kZstd, .version = FormatVersion::kV1})
                   .ok());
  for (const Compression codec : {Compression::kLz4, Compression::kZlib, Compression::kGzip,
                                  Compression::kLzo, Compression::kBrotli}) {
    if (!CheckCompressionBuiltIn(codec).ok()) continue;
    const bool kudus = codec == Compression::kLz4 || codec == Compression::kZlib;
    for (const WriterOptions& options :
         {WriterOptions{.compression = codec, .version = FormatVersion::kV1},
          WriterOptions{.compression = codec, .oldest_reader = OldestReader::kKudu}}) {
      EXPECT_EQ(status(ColumnType::Int32(), options).ok(), kudus) << CompressionName(codec);
    }
  }
  EXPECT_TRUE(absl::IsInvalidArgument(status(ColumnType::Int96(), {.value_index = true})));
  EXPECT_THAT(std::string(status(ColumnType::Int96(), {.value_index = true}).message()),
              HasSubstr("int96 has no order"));
  EXPECT_FALSE(status(ColumnType::Int96(), {.oldest_reader = OldestReader::kKudu}).ok());
  EXPECT_FALSE(status(ColumnType::Int32(), {.block_size_bytes = 0}).ok());
  EXPECT_FALSE(status(ColumnType::Int32(), {.max_values_per_block = 0}).ok());
  EXPECT_FALSE(Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int32(), {}).ok());
  EXPECT_TRUE(file.empty());
}

TEST(File, KuduFilesHaveNothingOfOurs) {
  std::mt19937_64 random(6);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 1000, 10, false, random);
  const auto file = WriteColumn<int32_t>(
      ColumnType::Int32(), {.nullable = true, .oldest_reader = OldestReader::kKudu}, column);
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->info().header_size_bytes, 16u);
  EXPECT_TRUE(reader->info().header_metadata.empty());
  EXPECT_TRUE(reader->info().created_by.empty());
  EXPECT_EQ(reader->info().incompatible_features, kFeatureChecksums);
  // The file has 84 bytes, like Kudu's own empty file with both indexes.
  const auto empty = WriteColumn<int32_t>(
      ColumnType::Int32(), {.value_index = true, .oldest_reader = OldestReader::kKudu}, {});
  EXPECT_EQ(empty.size(), 84u);
}

TEST(File, GetAndTake) {
  std::mt19937_64 random(7);
  for (const ColumnType& type : {ColumnType::String(), ColumnType::Int32(), ColumnType::Bool()}) {
    encodings::VisitPhysicalType(type.physical(), [&](auto t) {
      using T = typename decltype(t)::type;
      const auto column = RandomColumn<T>(type, 3000, 15, false, random);
      const auto file = WriteColumn<T>(type, {.nullable = true, .block_size_bytes = 500}, column);
      const Reader reader = *Reader::Open(NewMemoryViewSource(file));
      std::vector<uint64_t> ordinals;
      for (int i = 0; i < 1000; ++i) ordinals.push_back(random() % column.rows.size());
      OwnedBatch<T> taken;
      for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(reader.Take<T>(ordinals, taken).ok());
        const Batch<T> batch = taken.batch();
        ASSERT_EQ(batch.size(), ordinals.size());
        for (size_t i = 0; i < ordinals.size(); ++i) {
          const auto& expected = column.rows[ordinals[i]];
          ASSERT_EQ(batch.IsValid(i), expected.has_value());
          ASSERT_EQ(batch.values[i], expected ? T(*expected) : T{});
        }
        std::sort(ordinals.begin(), ordinals.end());
      }
      EXPECT_EQ(*reader.Get<T>(17), column.rows[17]);
      EXPECT_TRUE(absl::IsOutOfRange(reader.Get<T>(3000).status()));
      const uint64_t beyond[] = {1, 3000};
      EXPECT_TRUE(absl::IsOutOfRange(reader.Take<T>(beyond, taken)));
    });
  }
}

TEST(File, BytesDoNotDependOnHowTheyAreAppended) {
  std::mt19937_64 random(8);
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    for (const ColumnType& type : AllColumnTypes()) {
      if (!row.Supports(type.physical())) continue;
      VisitType(type, [&]<typename T>(std::type_identity<T>) {
        const WriterOptions options{
            .encoding = row.encoding, .nullable = true, .block_size_bytes = 700};
        const auto column = RandomColumn<T>(type, 5000, 5, false, random);
        const auto whole = WriteColumn<T>(type, options, column);
        std::vector<uint8_t> pieces;
        auto writer = *Writer<T>::Create(NewMemorySink(&pieces), type, options);
        const std::vector<T> unpacked = column.Values();
        const std::unique_ptr<T[]> values(new T[unpacked.size()]);
        std::copy(unpacked.begin(), unpacked.end(), values.get());
        for (size_t i = 0; i < unpacked.size();) {
          if (!column.rows[i]) {
            ASSERT_TRUE(writer.AppendNull().ok());
            ++i;
            continue;
          }
          size_t end = i + 1;
          while (end < unpacked.size() && column.rows[end] && random() % 8 != 0) ++end;
          ASSERT_TRUE(writer.Append(std::span<const T>(values.get() + i, end - i)).ok());
          i = end;
        }
        ASSERT_TRUE(writer.Finish().ok());
        EXPECT_EQ(pieces, whole) << row.name << " " << type.ToString();
      });
    }
  }
}

TEST(File, AppearsWhenFinishedAndNotBefore) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/column.cfile";
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(directory.path()), {});
  };
  const int32_t values[] = {1, 2, 3};
  {
    auto writer = *Writer<int32_t>::Create(path, ColumnType::Int32());
    ASSERT_TRUE(writer.Append(values).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(files(), 0);
  auto writer = *Writer<int32_t>::Create(path, ColumnType::Int32());
  ASSERT_TRUE(writer.Append(values).ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_FALSE(writer.Append(values).ok());
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(**Reader::Open(path)->Get<int32_t>(2), 3);
  EXPECT_EQ(**Reader::Open(path, {.access = ReaderOptions::Access::kPread})->Get<int32_t>(2), 3);
  EXPECT_TRUE(absl::IsNotFound(Reader::Open(path + "x").status()));
  EXPECT_THAT(std::string(Reader::Open(directory.path()).status().message()),
              HasSubstr(directory.path()));
}

// The size of one value never makes another value fail, and a reader with the same limits opens
// every written file.
TEST(File, LargeValuesAndMetadataHaveLimitsThatReadersShare) {
  std::mt19937_64 random(10);
  const std::string large(900'000, 'x'), larger(1'000'000, 'y');
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kPrefix}) {
    Column<std::string_view> column;
    for (int i = 0; i < 20; ++i)
      column.rows.push_back(i % 3 == 0 ? std::string("small") : i % 3 == 1 ? large : larger);
    const WriterOptions options{.encoding = encoding,
                                .nullable = true,
                                .block_size_bytes = 512 * 1024,
                                .max_block_size_bytes = 1024 * 1024};
    const auto file = WriteColumn<std::string_view>(ColumnType::String(), options, column);
    const Reader reader =
        *Reader::Open(NewMemoryViewSource(file), {.max_block_size_bytes = 1024 * 1024});
    auto cursor = *reader.NewCursor<std::string_view>();
    ExpectRest(cursor, column, random);
  }
  std::vector<uint8_t> file;
  auto writer = *Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::String(),
                                                  {.max_block_size_bytes = 1024 * 1024});
  const std::string_view too_large[] = {std::string_view(larger), std::string_view(larger)};
  EXPECT_TRUE(writer.Append(too_large).ok());
  const std::string huge(1024 * 1024, 'z');
  const std::string_view one(huge);
  EXPECT_TRUE(absl::IsOutOfRange(writer.Append({&one, 1})));
  auto meta = *Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32());
  EXPECT_TRUE(meta.AddMetadata("k", std::string(17 << 20, 'v')).ok());
  EXPECT_TRUE(absl::IsOutOfRange(meta.Finish()));
  EXPECT_FALSE(Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                                       {.positional_index = false})
                   .ok());
  EXPECT_FALSE(Writer<float>::Create(NewMemorySink(&file), ColumnType::Float(),
                                     {.value_index = true, .oldest_reader = OldestReader::kKudu})
                   .ok());
}

TEST(File, KudusBlocksOfAnySizeEnd) {
  std::mt19937_64 random(19);
  for (const ColumnType& type : {ColumnType::Int32(), ColumnType::Bool()}) {
    for (const Encoding encoding : {Encoding::kPlain, Encoding::kRle}) {
      for (const size_t block_size_bytes : {1, 4, 7, 8, 9}) {
        encodings::VisitPhysicalType(type.physical(), [&](auto t) {
          RoundTrip<typename decltype(t)::type>(type,
                                                {.encoding = encoding,
                                                 .block_size_bytes = block_size_bytes,
                                                 .oldest_reader = OldestReader::kKudu},
                                                30, -1, random);
        });
      }
    }
  }
}

// Nulls may be appended together with values, or one by one. The blocks are the same.
TEST(File, NullsGoIntoTheSameBlocksHoweverTheyAreAppended) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 200; ++round) {
    const size_t block_size_bytes = 1 + random() % 200;
    std::vector<std::string> texts(500);
    std::vector<std::string_view> values;
    std::vector<uint8_t> validity((texts.size() + 7) / 8);
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i].assign(random() % 50 == 0 ? 300 + random() % 500 : random() % 20, 'x');
      values.push_back(texts[i]);
      if (random() % 3 != 0) validity[i / 8] = static_cast<uint8_t>(validity[i / 8] | 1 << i % 8);
    }
    const auto write = [&](bool one_by_one) {
      std::vector<uint8_t> file;
      auto writer = *Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::String(),
                                                      {.encoding = Encoding::kPlain,
                                                       .nullable = true,
                                                       .block_size_bytes = block_size_bytes,
                                                       .index_block_size_bytes = 100,
                                                       .max_block_size_bytes = 1024});
      if (!one_by_one) {
        EXPECT_TRUE(writer.Append(values, validity).ok());
      }
      for (size_t i = 0; one_by_one && i < values.size(); ++i) {
        const bool valid = (validity[i / 8] >> i % 8 & 1) != 0;
        EXPECT_TRUE((valid ? writer.Append({&values[i], 1}) : writer.AppendNull()).ok());
      }
      EXPECT_TRUE(writer.Finish().ok());
      return file;
    };
    ASSERT_EQ(write(false), write(true)) << "round " << round;
  }
}

TEST(File, ManyThreadsShareAReader) {
  std::mt19937_64 random(9);
  const auto column = RandomColumn<std::string_view>(ColumnType::String(), 20000, -1, true, random);
  const auto file = WriteColumn<std::string_view>(
      ColumnType::String(),
      {.value_index = true, .block_size_bytes = 300, .index_block_size_bytes = 100}, column);
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 own(static_cast<uint64_t>(i));
      for (int round = 0; round < 10; ++round) ExpectSeeks<std::string_view>(*reader, column, own);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(File, ABillionEqualValuesAndNullsTakeLittleMemory) {
  // The 100,000,000 nulls are one block of a few bytes, because Kudu does not end a block at nulls.
  // The reader must not allocate a buffer for all these rows.
  std::vector<uint8_t> file;
  auto writer = *Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                                         {.nullable = true, .oldest_reader = OldestReader::kKudu});
  const std::vector<int32_t> values(1'000'000, 5);
  const std::vector<uint8_t> nulls(125'000, 0);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(writer.Append(values, nulls).ok());
  ASSERT_TRUE(writer.Append(values).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  auto cursor = reader->NewCursor<int32_t>();
  ASSERT_TRUE(cursor->SeekToOrdinal(99'999'990).ok());
  const auto batch = cursor->Next(1000);
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_FALSE(batch->IsValid(0));
  EXPECT_EQ(batch->size(), 1000u);
  EXPECT_EQ(batch->null_count, 10u);
  EXPECT_EQ(batch->values[999], 5);
}

}  // namespace cfile::file_test
