// Tests that Compact copies blocks without decoding the blocks.
// The new part has the same rows, statistics and keys as a part whose values were encoded again.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/inspect.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::block_copy_test {

using namespace testing_support;  // NOLINT

// Blocks of these files have at most 500 rows.
WriterOptions SmallBlocks() { return {.block_size_bytes = 6000, .max_values_per_block = 500}; }

// Returns random numbers. No encoding and no codec makes them smaller.
Column<int64_t> Noise(size_t num_rows, std::mt19937_64& random) {
  Column<int64_t> column;
  for (size_t i = 0; i < num_rows; ++i) column.rows.push_back(static_cast<int64_t>(random()));
  return column;
}

template <typename T>
absl::Status AppendPart(const TableLocation& table, const ColumnSchema& column,
                        const Column<T>& rows, const WriterOptions& options, bool create) {
  auto writer = create ? TableWriter::Create(table, {.columns = {column}}, {&options, 1})
                       : TableWriter::Open(table, {&options, 1});
  if (!writer.ok()) return writer.status();
  const std::vector<T> values = rows.Values();
  const auto copy = std::make_unique<T[]>(values.size());  // std::vector<bool> has no span
  std::copy(values.begin(), values.end(), copy.get());
  const std::span<const T> span(copy.get(), values.size());
  const absl::Status status =
      column.nullable ? writer->Append<T>(0, span, rows.Validity()) : writer->Append<T>(0, span);
  return status.ok() ? writer->Finish() : status;
}

// A table with one column. `rows` has all rows of the table.
template <typename T>
struct OneColumn {
  TableLocation table = TableLocation(NewMemoryStorage());
  ColumnSchema column;
  Column<T> rows;

  void Append(const Column<T>& part, const WriterOptions& options) {
    const absl::Status status = AppendPart(table, column, part, options, rows.rows.empty());
    ASSERT_TRUE(status.ok()) << status;
    rows.rows.insert(rows.rows.end(), part.rows.begin(), part.rows.end());
  }

  // Compacts the table. EXPECTs that the new part has all rows and no damage.
  // EXPECTs that its statistics are equal to the statistics of a single file with the same rows.
  CompactReport CompactAndCheck(const WriterOptions& options) {
    const auto report = Compact(table, {}, {&options, 1});
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    EXPECT_EQ(report->rows, rows.rows.size());
    const TableReader reader = TableReader::Open(table).value();
    EXPECT_EQ(reader.num_parts(), 1u);
    const VerifyReport verified = reader.VerifyColumn(0, 0);
    EXPECT_TRUE(verified.ok()) << verified.damages[0].status;
    std::mt19937_64 random(1);
    const Reader file = reader.OpenColumn(0, 0).value();
    auto cursor = file.NewCursor<T>();
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    ExpectRest(*cursor, rows, random);
    WriterOptions direct = options;
    direct.nullable = column.nullable;
    const auto whole = Reader::Open(NewMemorySource(WriteColumn(column.type, direct, rows), "all"));
    EXPECT_TRUE(whole.ok()) << whole.status();
    const auto expected = whole->Statistics().value();
    const auto found = file.Statistics().value();
    EXPECT_EQ(found == nullptr, expected == nullptr);
    if (found != nullptr && expected != nullptr) {
      EXPECT_EQ(found->file, expected->file);
    }
    uint64_t blocks = 0;
    EXPECT_TRUE(VisitBlocks(file, [&](const BlockInfo&) { return ++blocks > 0; }).ok());
    EXPECT_EQ(report->copied_blocks + report->recoded_blocks, blocks);
    return *report;
  }
};

TEST(BlockCopyTest, AllTypesEncodingsAndCodecs) {
  std::mt19937_64 random(1);
  for (const ColumnType& type : AllColumnTypes()) {
    VisitType(type, [&]<typename T>(std::type_identity<T>) {
      for (const encodings::EncodingRow& row : encodings::Encodings()) {
        if (!row.Supports(type.physical())) continue;
        for (const Compression codec : BuiltInCompressions()) {
          for (const bool nullable : {false, true}) {
            SCOPED_TRACE(absl::StrCat(type.ToString(), " ", std::string(row.name), " ",
                                      std::string(CompressionName(codec)),
                                      nullable ? " nullable" : ""));
            WriterOptions options = SmallBlocks();
            options.encoding = row.encoding;
            options.compression = codec;
            OneColumn<T> one{.column = {.name = "c", .type = type, .nullable = nullable}};
            for (const size_t num_rows : {1300, 900}) {
              one.Append(RandomColumn<T>(type, num_rows, nullable ? 20 : 0, false, random),
                         options);
            }
            const CompactReport report = one.CompactAndCheck(options);
            EXPECT_EQ(report.copied_blocks > 0, !row.has_dictionary);
            EXPECT_EQ(report.copied_bytes > 0, report.copied_blocks > 0);
          }
        }
      }
      return 0;
    });
  }
}

TEST(BlockCopyTest, AutomaticChoiceKeepsBlocks) {
  std::mt19937_64 random(2);
  OneColumn<int64_t> one{.column = {.name = "c", .type = ColumnType::Int64()}};
  WriterOptions other = SmallBlocks();
  other.encoding = Encoding::kPlain;
  if (!BuiltInCompressions().empty()) other.compression = BuiltInCompressions().back();
  one.Append(Noise(2000, random), other);
  one.Append(Noise(2000, random), SmallBlocks());
  const CompactReport report = one.CompactAndCheck(SmallBlocks());
  EXPECT_EQ(report.copied_blocks, 8u);
  EXPECT_EQ(report.recoded_blocks, 0u);
  // The blocks of the new part can be copied, too.
  one.Append(Noise(500, random), SmallBlocks());
  EXPECT_EQ(one.CompactAndCheck(SmallBlocks()).copied_blocks, 9u);
}

TEST(BlockCopyTest, OptionsThatForbidCopies) {
  std::mt19937_64 random(3);
  const auto copied = [&](const WriterOptions& from, const WriterOptions& to) {
    OneColumn<int64_t> one{.column = {.name = "c", .type = ColumnType::Int64()}};
    for (int part = 0; part < 2; ++part) one.Append(Noise(1000, random), from);
    return one.CompactAndCheck(to).copied_blocks;
  };
  WriterOptions plain = SmallBlocks();
  plain.encoding = Encoding::kPlain;
  EXPECT_EQ(copied(plain, plain), 4u);
  const auto changed = [&](const auto& change) {
    WriterOptions options = plain;
    change(options);
    return options;
  };
  EXPECT_EQ(copied(plain, changed([](auto& o) { o.encoding = Encoding::kBitShuffle; })), 0u);
  EXPECT_EQ(copied(plain, changed([](auto& o) { o.block_size_bytes = 100; })), 0u);
  EXPECT_EQ(copied(plain, changed([](auto& o) { o.max_values_per_block = 499; })), 0u);
  EXPECT_EQ(copied(plain, changed([](auto& o) { o.movable_blocks = false; })), 0u);
  EXPECT_EQ(copied(plain, changed([](auto& o) { o.bloom_filter_bits_per_value = 10; })), 0u);
  EXPECT_EQ(copied(plain, changed([](auto& o) { o.version = FormatVersion::kV1; })), 0u);
  EXPECT_EQ(copied(plain, changed([](auto& o) {
                     o.encoding = Encoding::kAuto;
                     o.goal = Goal::kSize;
                   })),
            0u);
  // The default options make larger blocks. A block here has less than a quarter of the bytes and
  // less than a quarter of the rows of such a block. Compact encodes such small blocks again.
  EXPECT_EQ(copied(plain, {}), 0u);
  EXPECT_EQ(copied(changed([](auto& o) { o.movable_blocks = false; }), plain), 0u);
  EXPECT_EQ(copied(changed([](auto& o) { o.statistics = false; }), plain), 0u);
  EXPECT_EQ(copied(plain, changed([](auto& o) { o.statistics = false; })), 4u);
  for (const Compression codec : BuiltInCompressions()) {
    const WriterOptions with_codec = changed([&](auto& o) { o.compression = codec; });
    // Random numbers do not get smaller, so their blocks are not compressed.
    // But a new codec might make such a block smaller, so Compact encodes the block again.
    const bool none = codec == Compression::kNone;
    EXPECT_EQ(copied(plain, with_codec), none ? 4u : 0u);
    EXPECT_EQ(copied(with_codec, plain), 4u);
  }
}

TEST(BlockCopyTest, LimitsOfValuesAreKept) {
  OneColumn<std::string_view> one{.column = {.name = "c", .type = ColumnType::Binary()}};
  WriterOptions options = SmallBlocks();
  options.encoding = Encoding::kPlain;
  for (int part = 0; part < 2; ++part) one.Append({{500, std::string(20, 'x')}}, options);
  WriterOptions strict = options;
  strict.max_value_size_bytes = 19;
  const auto report = Compact(one.table, {}, {&strict, 1});
  EXPECT_EQ(report.status().code(), absl::StatusCode::kOutOfRange) << report.status();
  EXPECT_EQ(TableReader::Open(one.table)->num_parts(), 2u);
  EXPECT_GT(one.CompactAndCheck(options).copied_blocks, 0u);
}

TEST(BlockCopyTest, BoundsOfLongStringsStayExact) {
  const std::string high(70, '\xff'), ends_high = "a" + std::string(70, '\xff');
  const std::vector<std::string> values = {"",
                                           std::string(64, 'b'),
                                           std::string(65, 'b'),
                                           std::string(66, 'b'),
                                           ends_high.substr(0, 64),
                                           high,
                                           ends_high,
                                           high.substr(0, 64),
                                           std::string(65, '\0')};
  for (const std::string& first : values) {
    for (const std::string& second : values) {
      OneColumn<std::string_view> one{.column = {.name = "c", .type = ColumnType::Binary()}};
      WriterOptions options = SmallBlocks();
      options.encoding = Encoding::kPlain;
      one.Append({{50, first + "?"}}, options);
      one.Append({{50, second}}, options);
      one.Append({{50, first}}, options);
      WriterOptions tiny = options;
      tiny.max_values_per_block = 60;
      EXPECT_EQ(one.CompactAndCheck(tiny).copied_blocks, 3u);
    }
  }
}

TEST(BlockCopyTest, SmallBlocksAreJoined) {
  std::mt19937_64 random(4);
  OneColumn<int64_t> one{.column = {.name = "c", .type = ColumnType::Int64()}};
  WriterOptions options = SmallBlocks();
  options.encoding = Encoding::kPlain;
  one.Append(Noise(5000, random), options);
  for (int i = 0; i < 40; ++i) {
    one.Append(Noise(10, random), options);
    const CompactReport report = one.CompactAndCheck(options);
    EXPECT_GE(report.copied_blocks, 10u);
    EXPECT_LE(report.recoded_blocks, 1u);
    EXPECT_LE(report.copied_blocks + report.recoded_blocks, 14u);
  }
}

TEST(BlockCopyTest, KeysAtSeams) {
  const auto check = [&]<typename T>(const ColumnType& type, std::type_identity<T>,
                                     const auto& value_at) {
    SCOPED_TRACE(type.ToString());
    WriterOptions options = SmallBlocks();
    options.encoding = Encoding::kPlain;
    options.value_index = true;
    // If `in_order`, the parts are in the order of their keys.
    // In this case, each part begins with the last value of the part before.
    // Otherwise the parts are in reverse order.
    Column<T> all;
    for (int i = 0; i < 6000; ++i) all.rows.push_back(value_at(i));
    for (const bool in_order : {true, false}) {
      OneColumn<T> one{.column = {.name = "c", .type = type}};
      std::vector<Column<T>> parts(3);
      for (size_t i = 0; i < 3; ++i) {
        const auto begin = all.rows.begin() + static_cast<ptrdiff_t>(2000 * i);
        parts[i].rows.assign(begin, begin + 2000);
        if (i > 0 && in_order) parts[i].rows.front() = parts[i - 1].rows.back();
      }
      if (!in_order) std::swap(parts[0], parts[2]);
      for (const Column<T>& part : parts) one.Append(part, options);
      if (!in_order) {
        one.rows.rows.clear();
        for (size_t i = 3; i-- > 0;) {
          one.rows.rows.insert(one.rows.rows.end(), parts[i].rows.begin(), parts[i].rows.end());
        }
      }
      const CompactReport report = one.CompactAndCheck(options);
      EXPECT_GE(report.copied_blocks, 12u);
      const TableReader table = TableReader::Open(one.table).value();
      EXPECT_TRUE(table.has_value_index(0).value());
      const Reader file = table.OpenColumn(0, 0).value();
      auto cursor = file.NewCursor<T>().value();
      for (size_t i = 0; i < one.rows.rows.size(); i += 7) {
        const T key(*one.rows.rows[i]);
        const auto found = cursor.SeekToKey(key);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_TRUE(found->exact);
        const auto first = std::lower_bound(
            one.rows.rows.begin(), one.rows.rows.end(), key,
            [](const std::optional<Owned<T>>& value, const T& k) { return T(*value) < k; });
        EXPECT_EQ(found->ordinal, static_cast<uint64_t>(first - one.rows.rows.begin()));
      }
    }
  };
  check(ColumnType::Int64(), std::type_identity<int64_t>(),
        [](int i) { return int64_t{i} - 3000; });
  check(ColumnType::Binary(), std::type_identity<std::string_view>(),
        [](int i) { return absl::StrCat("key", 100000 + i); });
  check(ColumnType::Double(), std::type_identity<double>(), [](int i) { return i / 2 - 1000.0; });
}

TEST(BlockCopyTest, DropsRowsBelowWithinABlock) {
  OneColumn<int64_t> one{.column = {.name = "c", .type = ColumnType::Int64()}};
  WriterOptions options = SmallBlocks();
  options.value_index = true;
  Column<int64_t> part;
  for (int64_t i = 0; i < 3000; ++i) part.rows.push_back(i);
  one.Append(part, options);
  ASSERT_EQ(DropRowsBelow<int64_t>(one.table, 0, 1234, {&options, 1}), absl::OkStatus());
  part.rows.erase(part.rows.begin(), part.rows.begin() + 1234);
  const TableReader table = TableReader::Open(one.table).value();
  auto cursor = table.OpenColumn(0, 0)->NewCursor<int64_t>();
  std::mt19937_64 random(1);
  ExpectRest(*cursor, part, random);
  EXPECT_TRUE(table.VerifyColumn(0, 0).ok());
}

// The pieces of a copied block are copied, too, and those of an encoded block are made again. Verify
// compares all pieces with their blocks.
TEST(BlockCopyTest, CopiesPieces) {
  OneColumn<int64_t> one{.column = {.name = "c", .type = ColumnType::Int64()}};
  WriterOptions options{.encoding = Encoding::kPlain, .value_index = true};
  options.block_size_bytes = 32 * 1024;
  std::mt19937_64 random(7);
  int64_t value = 0;
  for (int part = 0; part < 2; ++part) {
    Column<int64_t> rows;
    for (int i = 0; i < 20'000; ++i) rows.rows.push_back(value += 1 + random() % 1000);
    one.Append(rows, options);
  }
  EXPECT_GE(one.CompactAndCheck(options).copied_blocks, 8u);
  const Reader file = TableReader::Open(one.table)->OpenColumn(0, 0).value();
  EXPECT_TRUE(file.info().has_pieces());
  uint64_t tables = 0, blocks = 0;
  for (const FileRegion& region : ListRegions(file).regions) {
    tables += region.kind == RegionKind::kPieceTable;
    blocks += region.kind == RegionKind::kDataBlock;
  }
  EXPECT_EQ(tables, 1u);
  uint64_t records = 0;
  internal::FileReader& reader = *internal::ReaderAccess::File(file);
  ASSERT_TRUE(VisitBlocks(file, [&](const BlockInfo& block) {
                internal::BlockBuffer buffer;
                const auto found = reader.FindPieces(block.pointer, buffer);
                records += found.ok() && found->table != nullptr;
                return true;
              }).ok());
  EXPECT_GE(records, blocks - 1);  // the last block may be small
  for (size_t i = 0; i < one.rows.rows.size(); i += 997) {
    auto cursor = file.NewCursor<int64_t>();
    const auto found = cursor->SeekToKey(*one.rows.rows[i]);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(found->exact);
    EXPECT_EQ(found->ordinal, i);
  }
}

TEST(BlockCopyTest, DamageIsNotCopied) {
  std::mt19937_64 random(6);
  TemporaryDirectory directory;
  OneColumn<int64_t> one{.table = TableLocation(directory.path("table")),
                         .column = {.name = "c", .type = ColumnType::Int64()}};
  WriterOptions options = SmallBlocks();
  options.encoding = Encoding::kPlain;
  for (int part = 0; part < 2; ++part)
    one.Append(RandomColumn<int64_t>(one.column.type, 1500, 0, false, random), options);
  const TableReader table = TableReader::Open(one.table).value();
  const std::string path = absl::StrCat(directory.path("table"), "/", *table.part_file(1, 0));
  std::vector<BlockPointer> blocks;
  ASSERT_TRUE(VisitBlocks(*table.OpenColumn(1, 0), [&](const BlockInfo& block) {
                blocks.push_back(block.pointer);
                return true;
              }).ok());
  const std::string sound = ReadFile(path);
  // Damages a byte of the head, then a byte of the body.
  for (const uint32_t byte : {9u, blocks[1].size - 1}) {
    std::string damaged = sound;
    damaged[blocks[1].offset + byte] ^= 1;
    WriteFile(path, damaged);
    const auto report = Compact(one.table, {}, {&options, 1});
    EXPECT_EQ(report.status().code(), absl::StatusCode::kDataLoss) << report.status();
    EXPECT_THAT(std::string(report.status().message()),
                testing::HasSubstr(absl::StrCat("block at offset ", blocks[1].offset)));
    EXPECT_EQ(TableReader::Open(one.table)->num_parts(), 2u);
  }
  WriteFile(path, sound);
  EXPECT_EQ(one.CompactAndCheck(options).copied_blocks, 6u);
}

}  // namespace cfile::block_copy_test
