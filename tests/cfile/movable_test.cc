// A movable block begins with a head that is not compressed.
// So the library can copy the block to another place without decoding the block.
// The tests show three things. Files with and without the option movable_blocks have the same rows.
// Damage in movable blocks is found. Movable blocks can be moved.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/index_node.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "tests/campaign/parts.h"
#include "tests/campaign/transcript.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"

namespace cfile::movable_test {

using namespace testing_support;  // NOLINT
using encodings::StoreLittleEndian;
using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

Reader Open(const Bytes& file) {
  auto reader = Reader::Open(NewMemoryViewSource(file, "file"));
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

absl::Status ReadAll(const Bytes& file, bool verify_checksums = true) {
  return campaign::TranscriptOfFile(
             Reader::Open(NewMemorySource(file, "file"), {.verify_checksums = verify_checksums}))
      .status;
}

std::vector<BlockPointer> DataBlocks(const Bytes& file) {
  std::vector<BlockPointer> blocks;
  const absl::Status status = VisitBlocks(Open(file), [&](const BlockInfo& block) {
    blocks.push_back(block.pointer);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return blocks;
}

std::span<const uint8_t> BytesOf(const Bytes& file, const BlockPointer& block) {
  return std::span(file).subspan(block.offset, block.size);
}

internal::BlockHead HeadOf(const Bytes& file, const BlockPointer& block) {
  const auto head = internal::ParseBlockHead(BytesOf(file, block), /*verify=*/true);
  EXPECT_TRUE(head.ok()) << head.status();
  return *head;
}

// EXPECTs that the file has movable blocks and no damage.
// EXPECTs that DescribeBlock names all bytes of the first block.
void ExpectSound(const Bytes& file) {
  const Reader reader = Open(file);
  EXPECT_TRUE(reader.info().has_movable_blocks());
  const VerifyReport report = Verify(reader);
  EXPECT_TRUE(report.ok()) << report.damages[0].status;
  for (const absl::Status& status : {ReadAll(file), ReadAll(file, /*verify_checksums=*/false)})
    EXPECT_TRUE(status.ok()) << status;
  const auto described = DescribeBlock(reader, 0);
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_TRUE(described->status.ok()) << described->status;
  for (const auto* fields : {&described->stored_fields, &described->fields}) {
    for (const BlockField& field : *fields) EXPECT_NE(field.name, "unknown bytes");
  }
}

// Returns `file` with its data blocks in reverse order. `file` must have a positional index.
Bytes WithBlocksReversed(const Bytes& file) {
  FileInfo info = Open(file).info();
  std::vector<BlockPointer> blocks = DataBlocks(file);
  std::reverse(blocks.begin(), blocks.end());
  Bytes moved(file.begin(), file.begin() + static_cast<ptrdiff_t>(info.header_size_bytes));
  internal::IndexNodeBuilder index(internal::IndexKeyForm::kBytes);
  uint32_t ordinal = 0;
  for (const BlockPointer& block : blocks) {
    const internal::BlockHead head = HeadOf(file, block);
    Bytes bytes(BytesOf(file, block).begin(), BytesOf(file, block).end());
    internal::SetFirstOrdinal(std::span(bytes).first(head.size_bytes()), ordinal);
    while (moved.size() % internal::kAlignment != block.offset % internal::kAlignment)
      moved.push_back(0);
    index.Add(internal::OrdinalKey(ordinal), {.offset = moved.size(), .size = block.size});
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    ordinal += head.num_rows;
  }
  const auto append = [&](std::span<const uint8_t> bytes) {
    const BlockPointer pointer{.offset = moved.size(), .size = static_cast<uint32_t>(bytes.size())};
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    return pointer;
  };
  encodings::ByteWriter node;
  index.Finish(/*leaf=*/true, node);
  if (info.compression != Compression::kNone) {
    encodings::ByteWriter sized;
    sized.PutFixed(static_cast<uint32_t>(node.size()));
    sized.PutBytes(node.span());
    node = std::move(sized);
  }
  node.PutFixed(internal::Crc32c(node.span()));
  info.positional_index_root = append(node.span());
  if (info.dictionary) info.dictionary = append(BytesOf(file, *info.dictionary));
  info.statistics.reset();
  info.compatible_features = 0;
  encodings::ByteWriter tail;
  internal::AppendFooter(info, /*extensions=*/true, tail);
  append(tail.span());
  return moved;
}

// Writes `column` with `options`. Checks the file, also with its blocks in reverse order.
template <typename T>
void TestColumn(const ColumnType& type, const WriterOptions& options, const Column<T>& column) {
  const Bytes file = WriteColumn<T>(type, options, column);
  ASSERT_NO_FATAL_FAILURE(ExpectSound(file));
  std::mt19937_64 random(1);
  const Reader reader = Open(file);
  auto cursor = reader.NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  ExpectRest<T>(*cursor, column, random);
  for (int i = 0; i < 5 && !column.rows.empty(); ++i) {
    ASSERT_TRUE(cursor->SeekToOrdinal(random() % column.rows.size()).ok());
    ExpectRest<T>(*cursor, column, random);
  }
  if (options.value_index) return;
  const Bytes moved = WithBlocksReversed(file);
  ASSERT_NO_FATAL_FAILURE(ExpectSound(moved));
  Column<T> reversed;
  std::vector<BlockPointer> blocks = DataBlocks(file);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const internal::BlockHead head = HeadOf(file, *block);
    const auto begin = column.rows.begin() + head.first_ordinal;
    reversed.rows.insert(reversed.rows.end(), begin, begin + head.num_rows);
  }
  const Reader moved_reader = Open(moved);
  auto moved_cursor = moved_reader.NewCursor<T>();
  ASSERT_TRUE(moved_cursor.ok()) << moved_cursor.status();
  ExpectRest<T>(*moved_cursor, reversed, random);
}

TEST(Movable, EveryEncodingHoldsTheSameRows) {
  const std::vector<Compression> codecs = BuiltInCompressions();
  std::mt19937_64 random(1);
  size_t turn = 0;
  for (const ColumnType& type : AllColumnTypes()) {
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (!row.Supports(type.physical())) continue;
      for (const int null_percent : {-1, 0, 20, 100}) {
        const bool sorted = null_percent < 0 && type.physical() != PhysicalType::kInt96;
        for (const Compression codec : {Compression::kNone, codecs[turn++ % codecs.size()]}) {
          SCOPED_TRACE(testing::Message() << type.ToString() << " " << EncodingName(row.encoding)
                                          << " " << CompressionName(codec) << " " << null_percent);
          const WriterOptions options{.encoding = row.encoding,
                                      .compression = codec,
                                      .nullable = null_percent >= 0,
                                      .value_index = sorted && turn % 2 == 0,
                                      .block_size_bytes = 400,
                                      .max_values_per_block = 200,
                                      .movable_blocks = true};
          encodings::VisitPhysicalType(type.physical(), [&](auto t) {
            using T = typename decltype(t)::type;
            TestColumn<T>(type, options,
                          RandomColumn<T>(type, 700, null_percent, options.value_index, random));
          });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Movable, LevelsOfEveryShape) {
  const std::vector<Compression> codecs = BuiltInCompressions();
  std::mt19937_64 random(2);
  size_t turn = 0;
  for (const LevelLimits& limits :
       {LevelLimits{0, 0}, LevelLimits{0, 2}, LevelLimits{1, 0}, LevelLimits{1, 2},
        LevelLimits{2, 4}, LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)}) {
    for (const Encoding encoding : {Encoding::kAuto, Encoding::kPlain, Encoding::kBitShuffle,
                                    Encoding::kParquetDeltaBinaryPacked}) {
      const Compression codec = codecs[turn++ % codecs.size()];
      SCOPED_TRACE(testing::Message() << limits.max_repetition << limits.max_definition
                                      << limits.kudu_array << static_cast<int>(encoding));
      const auto leaf = RandomLeaf<int32_t>(ColumnType::Int32(), limits, 800, 0, random);
      const Bytes file = WriteLeaf<int32_t>(ColumnType::Int32(),
                                            {.encoding = encoding,
                                             .compression = codec,
                                             .block_size_bytes = 500,
                                             .movable_blocks = true},
                                            leaf, random);
      ASSERT_NO_FATAL_FAILURE(ExpectSound(file));
      const Reader reader = Open(file);
      auto cursor = reader.NewLevelCursor<int32_t>();
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      const absl::Status status = ReadRest<int32_t>(*cursor, &leaf, random);
      EXPECT_TRUE(status.ok()) << status;
      ASSERT_NO_FATAL_FAILURE(ExpectSound(WithBlocksReversed(file)));
    }
  }
}

// A large block has several pieces of 4 KiB, and each piece has a checksum.
// The block also has aligned values and skip tables.
// Some sections of the block are compressed, and other sections are not.
TEST(Movable, LargeBlocks) {
  std::mt19937_64 random(3);
  Column<int64_t> column;
  for (int i = 0; i < 30000; ++i) {
    if (i % 7 == 0) {
      column.rows.emplace_back();
    } else {
      column.rows.emplace_back(static_cast<int64_t>(random()));
    }
  }
  for (const Encoding encoding :
       {Encoding::kAuto, Encoding::kPlain, Encoding::kBitShuffle, Encoding::kParquetPlain,
        Encoding::kParquetDeltaBinaryPacked, Encoding::kParquetDictionary}) {
    for (const Compression codec : {Compression::kNone, Compression::kZstd}) {
      SCOPED_TRACE(static_cast<int>(encoding));
      TestColumn<int64_t>(ColumnType::Int64(),
                          {.encoding = encoding,
                           .compression = codec,
                           .nullable = true,
                           .block_size_bytes = 60000,
                           .movable_blocks = true},
                          column);
    }
  }
  // The values of PLAIN blocks are aligned in the file, also after the blocks were moved.
  const Bytes file = WriteColumn<int64_t>(ColumnType::Int64(),
                                          {.encoding = Encoding::kParquetPlain,
                                           .compression = Compression::kZstd,
                                           .nullable = true,
                                           .block_size_bytes = 60000,
                                           .movable_blocks = true},
                                          column);
  for (const Bytes& each : {file, WithBlocksReversed(file)}) {
    for (const BlockPointer& block : DataBlocks(each)) {
      const internal::BlockHead head = HeadOf(each, block);
      EXPECT_FALSE(head.compressed());
      const uint64_t values = block.end() - head.sections[internal::kBody].stored_size;
      EXPECT_EQ(values % internal::kAlignment, 0);
      EXPECT_GT(head.payload_bytes(), 2 * internal::kPartBytes);
    }
  }
}

TEST(Movable, NeverInVersion1OrForKudu) {
  std::mt19937_64 random(4);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 100, -1, false, random);
  for (WriterOptions options :
       {WriterOptions{.version = FormatVersion::kV1},
        WriterOptions{.oldest_reader = OldestReader::kKudu},
        WriterOptions{.version = FormatVersion::kV1, .oldest_reader = OldestReader::kKudu}}) {
    const Bytes without = WriteColumn<int32_t>(ColumnType::Int32(), options, column);
    options.movable_blocks = true;
    EXPECT_EQ(WriteColumn<int32_t>(ColumnType::Int32(), options, column), without);
    EXPECT_FALSE(Open(without).info().has_movable_blocks());
  }
}

Bytes SmallFile(Encoding encoding, Compression codec, bool nullable) {
  Column<int32_t> column;
  for (int i = 0; i < 400; ++i) {
    column.rows.emplace_back(i / 3);
    if (nullable && i % 3 == 0) column.rows.emplace_back();
  }
  return WriteColumn<int32_t>(ColumnType::Int32(),
                              {.encoding = encoding,
                               .compression = codec,
                               .nullable = nullable,
                               .max_values_per_block = 250,
                               .movable_blocks = true},
                              column);
}

// If a bit of a data block is changed, a reader returns an error that names the block.
TEST(Movable, EachChangedByteIsFound) {
  for (const Encoding encoding :
       {Encoding::kPlain, Encoding::kParquetDeltaBinaryPacked, Encoding::kParquetDictionary}) {
    for (const Compression codec : {Compression::kNone, Compression::kZstd}) {
      const Bytes file = SmallFile(encoding, codec, /*nullable=*/true);
      Bytes changed = file;
      for (const BlockPointer& block : DataBlocks(file)) {
        for (uint64_t at = block.offset; at < block.end(); ++at) {
          changed[at] = static_cast<uint8_t>(changed[at] ^ 1 << at % 8);
          const absl::Status status = ReadAll(changed);
          ASSERT_TRUE(absl::IsDataLoss(status)) << at - block.offset << status;
          ASSERT_THAT(std::string(status.message()),
                      HasSubstr(absl::StrCat("file: block at offset ", block.offset)));
          ASSERT_FALSE(Verify(Open(changed)).ok());
          const auto described = DescribeBlock(Open(changed), 0);
          ASSERT_TRUE(described.ok()) << described.status();
          (void)ReadAll(changed, /*verify_checksums=*/false);
          changed[at] = file[at];
        }
      }
    }
  }
}

// If a bit of a size is changed, the error is a wrong checksum of the head, not a cut-off head.
TEST(Movable, ChangedSizesAreWrongChecksums) {
  const Bytes file = SmallFile(Encoding::kPlain, Compression::kNone, /*nullable=*/true);
  const BlockPointer block = DataBlocks(file)[0];
  for (size_t bit = 8 * 28; bit < 8 * internal::kHeadFieldBytes; ++bit) {
    Bytes changed = file;
    uint8_t& byte = changed[block.offset + bit / 8];
    byte = static_cast<uint8_t>(byte ^ 1 << bit % 8);
    EXPECT_THAT(std::string(ReadAll(changed).message()),
                HasSubstr("checksum mismatch of the block's head"));
  }
}

// The size of a block determines the size of its head.
TEST(Movable, HeadBytesOf) {
  for (const uint32_t size : {0, 1, 4095, 4096, 4097, 8192, 8193, 12345678}) {
    internal::BlockHead head;
    head.sections[internal::kBody] = {.stored_size = size, .size = size};
    EXPECT_EQ(internal::HeadBytesOf(head.stored_bytes()), head.size_bytes()) << size;
  }
  EXPECT_EQ(internal::HeadBytesOf(0), internal::BlockHead().size_bytes());
}

// These blocks have right checksums, but their heads contradict themselves or other bytes.
TEST(Movable, WrongHeads) {
  constexpr size_t kEncoding = 0, kCodec = 4, kRows = 8, kEntries = 12, kPresent = 16, kFirst = 20,
                   kDictionary = 24, kStoredLevels = 28, kLevelsSize = 32, kStoredBody = 44,
                   kBodySize = 48;
  for (const bool nullable : {false, true}) {
    const Bytes file = SmallFile(Encoding::kPlain, Compression::kNone, nullable);
    const BlockPointer block = DataBlocks(file)[0];
    const internal::BlockHead head = HeadOf(file, block);
    const auto read = [&](size_t field, uint32_t value) {
      Bytes changed = file;
      const auto bytes = std::span(changed).subspan(block.offset, block.size);
      StoreLittleEndian(value, bytes.data() + field);
      campaign::SignMovableBlock(bytes);
      const absl::Status status = ReadAll(changed);
      // Only the codes are compared. The messages may differ: if the sizes are wrong, the reader
      // looks for the checksum in the wrong place.
      EXPECT_EQ(ReadAll(changed, /*verify_checksums=*/false).code(), status.code());
      EXPECT_FALSE(Verify(Open(changed)).ok());
      const auto described = DescribeBlock(Open(changed), 0);
      EXPECT_FALSE(described.ok() && described->status.ok());
      return std::string(absl::StatusCodeToString(status.code())) + " " +
             std::string(status.message());
    };
    EXPECT_THAT(read(kEncoding, 9999), HasSubstr("UNIMPLEMENTED"));
    EXPECT_THAT(read(kCodec, 106), HasSubstr("names zstd, but no section is compressed"));
    EXPECT_THAT(read(kRows, 7), HasSubstr("says 7 rows and"));
    EXPECT_THAT(read(kEntries, 7), HasSubstr("and 7 entries, the block has"));
    EXPECT_THAT(read(kPresent, head.present_count + 1), HasSubstr("DATA_LOSS"));
    EXPECT_THAT(read(kFirst, 7), HasSubstr("expected the block of ordinal 0, found that of"));
    EXPECT_THAT(read(kDictionary, 1), HasSubstr("UNIMPLEMENTED"));
    EXPECT_THAT(read(kStoredLevels, head.sections[internal::kLevels].size + 1),
                HasSubstr("DATA_LOSS"));
    EXPECT_THAT(read(kLevelsSize, 1u << 31), HasSubstr("DATA_LOSS"));
    EXPECT_THAT(read(kStoredBody, 0), HasSubstr("DATA_LOSS"));
    EXPECT_THAT(read(kStoredBody, UINT32_MAX), HasSubstr("DATA_LOSS"));
    EXPECT_THAT(read(kBodySize, head.sections[internal::kBody].size + 1), HasSubstr("DATA_LOSS"));
    // The head claims that a section is compressed, but the file has no codec.
    Bytes changed = file;
    const auto bytes = std::span(changed).subspan(block.offset, block.size);
    StoreLittleEndian(uint32_t{106}, bytes.data() + kCodec);
    StoreLittleEndian(head.sections[internal::kBody].size + 1, bytes.data() + kBodySize);
    campaign::SignMovableBlock(bytes);
    EXPECT_THAT(std::string(ReadAll(changed).message()), HasSubstr("the footer names no codec"));
    // In each block, the body of a Kudu encoding has the first ordinal 0. Other numbers are damage.
    changed = file;
    changed[block.end() - head.sections[internal::kBody].stored_size + 4] = 1;
    campaign::SignMovableBlock(bytes);
    EXPECT_THAT(std::string(ReadAll(changed).message()),
                HasSubstr("expected first ordinal 0 in the block's body, found 1"));
  }
  // The head names a codec that does not exist.
  const Bytes file = SmallFile(Encoding::kPlain, Compression::kZstd, /*nullable=*/false);
  Bytes changed = file;
  const BlockPointer block = DataBlocks(file)[0];
  ASSERT_TRUE(HeadOf(file, block).compressed());
  const auto bytes = std::span(changed).subspan(block.offset, block.size);
  StoreLittleEndian(uint32_t{99}, bytes.data() + kCodec);
  campaign::SignMovableBlock(bytes);
  EXPECT_TRUE(absl::IsUnimplemented(ReadAll(changed))) << ReadAll(changed);
  // The head claims more uncompressed bytes than the compressed bytes can have.
  changed = file;
  StoreLittleEndian(uint32_t{1} << 30, bytes.data() + kBodySize);
  campaign::SignMovableBlock(bytes);
  EXPECT_FALSE(ReadAll(changed).ok());
  // An undamaged block is larger than the limit of the reader.
  const auto limited = Reader::Open(NewMemoryViewSource(file), {.max_block_size_bytes = 500});
  EXPECT_TRUE(absl::IsOutOfRange(campaign::TranscriptOfFile(limited).status));
}

TEST(Movable, FooterNeedsBothOtherBits) {
  const Bytes file = SmallFile(Encoding::kPlain, Compression::kNone, /*nullable=*/false);
  const FileInfo right = Open(file).info();
  for (const uint32_t missing : {kFeatureExtendedBlocks, kFeatureChecksums}) {
    FileInfo info = right;
    info.incompatible_features &= ~missing;
    Bytes changed(file.begin(), file.end() - static_cast<ptrdiff_t>(right.footer_size_bytes));
    encodings::ByteWriter tail;
    internal::AppendFooter(info, /*extensions=*/true, tail);
    changed.insert(changed.end(), tail.data(), tail.data() + tail.size());
    EXPECT_TRUE(absl::IsDataLoss(Reader::Open(NewMemoryViewSource(changed)).status()));
  }
}

// Changes a byte of the head of the block, and then of each part of its sections. Returns which of
// these changes make `read` fail: -1 stands for the head, 0 for the first part, 1 for the second.
// `read` opens a file and reads some rows.
template <typename Read>
std::vector<int> PartsThatMatter(const Bytes& file, const BlockPointer& block, const Read& read) {
  const internal::BlockHead head = HeadOf(file, block);
  std::vector<int> parts;
  Bytes changed = file;
  const auto parts_of_sections =
      static_cast<int>((head.payload_bytes() + internal::kPartBytes - 1) / internal::kPartBytes);
  for (int part = -1; part < parts_of_sections; ++part) {
    const uint64_t at =
        block.offset +
        (part < 0 ? 20 : head.size_bytes() + static_cast<size_t>(part) * internal::kPartBytes + 7);
    if (at >= block.end()) continue;
    changed[at] ^= 1;
    if (const absl::Status status = read(changed); !status.ok()) {
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      EXPECT_THAT(status.message(),
                  HasSubstr("block at offset " + std::to_string(block.offset) + ","));
      parts.push_back(part);
    }
    changed[at] ^= 1;
  }
  return parts;
}

// Tests that Get, and Take of two rows, verify only the parts of a block that have these rows. If
// more rows are read, or the block is read several times, all parts are verified.
template <typename T>
void ExpectFewRowsReadParts(const ColumnType& type, Encoding encoding,
                            const std::vector<T>& values) {
  SCOPED_TRACE(testing::Message() << type.ToString() << " " << EncodingName(encoding));
  Bytes file;
  auto writer = *Writer<T>::Create(
      NewMemorySink(&file), type,
      {.encoding = encoding, .block_size_bytes = 64 * 1024, .movable_blocks = true});
  const auto array = std::make_unique<T[]>(values.size());
  std::copy(values.begin(), values.end(), array.get());
  ASSERT_TRUE(writer.Append({array.get(), values.size()}).ok() && writer.Finish().ok());
  const BlockPointer block = DataBlocks(file).at(0);
  const uint64_t payload_bytes = HeadOf(file, block).payload_bytes();
  const auto parts = static_cast<size_t>(payload_bytes / internal::kPartBytes);
  ASSERT_GE(parts, 10);
  const auto open = [](const Bytes& bytes) {
    return *Reader::Open(NewMemoryViewSource(bytes, "file"));
  };
  std::vector<int> before;
  for (const uint64_t ordinal : {uint64_t{0}, values.size() / 2}) {
    const auto get = [&](const Bytes& bytes) {
      const Reader reader = open(bytes);
      auto cursor = *reader.NewCursor<T>();
      const auto found = cursor.Get(ordinal);
      if (found.ok()) {
        EXPECT_EQ(**found, values[ordinal]);
      }
      // The position is after the row.
      EXPECT_EQ(cursor.ordinal(), found.ok() ? ordinal + 1 : 0);
      return found.status();
    };
    const std::vector<int> needed = PartsThatMatter(file, block, get);
    EXPECT_THAT(needed, testing::AllOf(testing::Contains(-1), testing::Contains(0)));
    EXPECT_LE(needed.size(), 6);
    EXPECT_NE(needed, before);
    before = needed;
    // The row after this row: the cursor must not read it from a block that was verified only in
    // part.
    const auto next = [&](const Bytes& bytes) {
      const Reader reader = open(bytes);
      auto cursor = *reader.NewCursor<T>();
      const auto found = cursor.Get(ordinal);
      return found.ok() ? cursor.Next(1).status() : found.status();
    };
    EXPECT_GE(PartsThatMatter(file, block, next).size(), parts);
    // The same after an error of Get.
    const auto next_after_error = [&](const Bytes& bytes) {
      const Reader reader = open(bytes);
      auto cursor = *reader.NewCursor<T>();
      (void)cursor.Get(ordinal);
      (void)cursor.SeekToOrdinal(ordinal);
      return cursor.Next(1).status();
    };
    EXPECT_GE(PartsThatMatter(file, block, next_after_error).size(), parts);
    const auto take = [&](size_t rows) {
      return [&, rows](const Bytes& bytes) {
        const Reader reader = open(bytes);
        auto cursor = *reader.NewCursor<T>();
        std::vector<uint64_t> ordinals;
        for (size_t i = 0; i < rows; ++i) ordinals.push_back(ordinal + rows - 1 - i);
        OwnedBatch<T> taken;
        const absl::Status status = cursor.Take(ordinals, taken);
        if (status.ok()) {
          for (size_t i = 0; i < rows; ++i) EXPECT_EQ(taken.batch().values[i], values[ordinals[i]]);
        }
        return status;
      };
    };
    EXPECT_LE(PartsThatMatter(file, block, take(2)).size(), 7);
    EXPECT_GE(PartsThatMatter(file, block, take(100)).size(), parts);
    const auto get_often = [&](const Bytes& bytes) {
      const Reader reader = open(bytes);
      auto cursor = *reader.NewCursor<T>();
      for (int i = 0; i < 10; ++i) {
        const auto found = cursor.Get(ordinal);
        if (!found.ok()) return found.status();
      }
      return absl::OkStatus();
    };
    EXPECT_GE(PartsThatMatter(file, block, get_often).size(), parts);
  }
}

TEST(Movable, FewRowsReadPartsOfABlock) {
  std::mt19937_64 random(5);
  const auto numbers = [&]<typename T>(T, size_t count, uint64_t below) {
    std::vector<T> values(count);
    for (auto&& value : values) value = static_cast<T>(random() % below);
    return values;
  };
  const auto wide = numbers(int64_t{}, 7'000, UINT64_MAX);
  ExpectFewRowsReadParts<int64_t>(ColumnType::Int64(), Encoding::kPlain, wide);
  ExpectFewRowsReadParts<double>(ColumnType::Double(), Encoding::kPlain,
                                 numbers(double{}, 7'000, 1000));
  ExpectFewRowsReadParts<int32_t>(ColumnType::Int32(), Encoding::kFor,
                                  numbers(int32_t{}, 20'000, 1 << 20));
  ExpectFewRowsReadParts<int64_t>(ColumnType::Int64(), Encoding::kFor, wide);
  std::vector<double> reals(7'000);
  for (double& each : reals) each = 1 / static_cast<double>(1 + random() % 1'000'000);
  ExpectFewRowsReadParts<double>(ColumnType::Double(), Encoding::kAlpRd, reals);
  ExpectFewRowsReadParts<bool>(ColumnType::Bool(), Encoding::kPlain, numbers(bool{}, 450'000, 2));
  std::string text(8'000 * 7, ' ');
  for (char& c : text) c = static_cast<char>(random());
  std::vector<std::string_view> fixed;
  for (size_t i = 0; i < 8'000; ++i) fixed.push_back(std::string_view(text).substr(7 * i, 7));
  ExpectFewRowsReadParts<std::string_view>(ColumnType::FixedBytes(7), Encoding::kPlain, fixed);
}

}  // namespace cfile::movable_test
