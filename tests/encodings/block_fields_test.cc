// Tests the descriptions of blocks for inspection, for all encodings that offer them.
#include <random>

#include "encodings/core/block_description.h"
#include "encodings/core/block_fields.h"

#include "blocks.h"
#include "gmock/gmock.h"

namespace cfile::encodings::block_fields_test {

using testing::ElementsAre;

uint32_t TypeLength(PhysicalType type) { return type == PhysicalType::kFixedBytes ? 5 : 0; }

// EXPECTs that the fields cover all bytes of the block, in order, without gaps and overlaps.
void ExpectCover(const std::vector<BlockField>& fields, size_t block_size) {
  EXPECT_LE(fields.size(), kMaxBlockFields);
  size_t end = 0;
  for (const BlockField& field : fields) {
    EXPECT_EQ(field.offset, end);
    EXPECT_GT(field.size, 0u);
    EXPECT_FALSE(field.name.empty());
    end = field.offset + field.size;
  }
  EXPECT_EQ(end, block_size);
}

// The last field says that the description does not know what these bytes mean.
bool EndsUnknown(const std::vector<BlockField>& fields) {
  return !fields.empty() && (fields.back().name == "unknown bytes" ||
                             fields.back().name == "bytes after the last value");
}

TEST(BlockFields, CoverTheBlock) {
  int described = 0;
  for (const Pair& pair : AllPairs()) {
    SCOPED_TRACE(PairName({pair, 0}));
    VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
      for (const Shape shape : kShapes) {
        for (const size_t size : {0, 1, 100, 5000}) {
          const auto column = MakeColumn<T>(shape, size, TypeLength(pair.type), 1);
          for (const Block& block :
               Encode<T>(pair, column.span(), {.type_length = TypeLength(pair.type)})) {
            std::vector<BlockField> fields;
            const absl::Status status = DescribeBlock(block.encoding, pair.type,
                                                      TypeLength(pair.type), block.view(), fields);
            ASSERT_TRUE(status.ok()) << status;
            ExpectCover(fields, block.bytes.size());
            EXPECT_FALSE(EndsUnknown(fields)) << fields.back().name;
            ++described;
          }
        }
      }
    });
  }
  EXPECT_GT(described, 1000);
}

// A block of nulls only has no values, but its type may be long.
TEST(BlockFields, LongTypeWithoutValues) {
  std::vector<BlockField> fields;
  const absl::Status status = DescribeBlock(Encoding::kParquetByteStreamSplit,
                                            PhysicalType::kFixedBytes, 0x7fffffff, {}, fields);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(fields.empty());
}

TEST(BlockFields, SizesMayHaveMoreBytesThanNecessary) {
  const uint8_t five[] = {0x85, 0x80, 0x80, 0x80, 0x80, 0x00};
  BlockDescription description(five);
  EXPECT_EQ(description.AddVint64("size").value(), 5u);
  EXPECT_TRUE(description.reader().empty());
}

TEST(BlockFields, CoverDamagedBlocks) {
  std::mt19937_64 random(1);
  int refused = 0;
  for (const Pair& pair : AllPairs()) {
    SCOPED_TRACE(PairName({pair, 0}));
    VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
      const auto column = MakeColumn<T>(Shape::kRuns, 50, TypeLength(pair.type), 1);
      for (Block& block : Encode<T>(pair, column.span(), {.type_length = TypeLength(pair.type)})) {
        for (int turn = 0; turn < 300; ++turn) {
          Block damaged = block;
          damaged.bytes.resize(random() % (block.bytes.size() + 1));
          if (!damaged.bytes.empty()) {
            damaged.bytes[random() % std::min<size_t>(damaged.bytes.size(), 20)] =
                static_cast<uint8_t>(random());
          }
          if (turn % 8 == 0) damaged.count = static_cast<uint32_t>(random());
          std::vector<BlockField> fields;
          const absl::Status status = DescribeBlock(
              block.encoding, pair.type, TypeLength(pair.type), GuardedView(damaged), fields);
          ExpectCover(fields, damaged.bytes.size());
          if (status.ok()) continue;
          EXPECT_TRUE(absl::IsDataLoss(status)) << status;
          ++refused;
        }
      }
    });
  }
  EXPECT_GT(refused, 1000);
}

// The fields of a block, as "OFFSET+SIZE NAME MEANING". The last text is the error, if there is
// one.
std::vector<std::string> Texts(Encoding encoding, PhysicalType type, std::vector<uint8_t> bytes,
                               uint32_t count = 0) {
  std::vector<std::string> texts;
  BlockView block(bytes);
  block.count = count;
  std::vector<BlockField> fields;
  const absl::Status status = DescribeBlock(encoding, type, TypeLength(type), block, fields);
  ExpectCover(fields, bytes.size());
  for (const BlockField& field : fields) {
    texts.push_back(StrCat(field.offset, "+", field.size, " ", field.name,
                           field.value.empty() ? "" : " ", field.value));
  }
  if (!status.ok()) texts.emplace_back(status.message());
  return texts;
}

TEST(BlockFields, SayWhatTheBytesOfKuduMean) {
  EXPECT_THAT(Texts(Encoding::kPlain, PhysicalType::kInt16, {2, 0, 0, 0, 9, 0, 0, 0, 1, 0, 2, 0}),
              ElementsAre("0+4 count 2", "4+4 first ordinal 9", "8+4 values"));
  EXPECT_THAT(Texts(Encoding::kPlain, PhysicalType::kBytes,
                    {9, 0, 0, 0, 1, 0, 0, 0, 14, 0, 0, 0, 'a', 'b', 0, 12, 0, 0, 0}),
              ElementsAre("0+4 first ordinal 9", "4+4 count 1", "8+4 position of the offsets 14",
                          "12+2 values", "14+5 offsets"));
  EXPECT_THAT(Texts(Encoding::kRle, PhysicalType::kInt8,
                    {13, 0, 0, 0, 0, 0, 0, 0, 10, 7, 3, 1, 2, 3, 4, 5, 6, 7, 8}),
              ElementsAre("0+4 count 13", "4+4 first ordinal 0", "8+2 repeated run 5 values",
                          "10+9 literal run 8 values"));
  EXPECT_THAT(Texts(Encoding::kPrefix, PhysicalType::kBytes,
                    {0, 2, 9, 16, 0, 0, 2, 'a', 'b', 1, 1, 'c', 0, 0, 0, 0}),
              ElementsAre("0+5 header count 2, first ordinal 9, restart interval 16",
                          "5+4 value shared 0, unshared 2", "9+3 value shared 1, unshared 1",
                          "12+4 number of restart offsets 0"));
  EXPECT_THAT(Texts(Encoding::kGroupVarint, PhysicalType::kUint32, {0, 1, 7, 9, 0, 0, 0, 0, 0, 0}),
              ElementsAre("0+5 header count 1, minimum 7, first ordinal 9",
                          "5+5 differences from the minimum 0"));
  EXPECT_THAT(Texts(Encoding::kGroupVarint, PhysicalType::kUint32,
                    {0, 5, 7, 9, 0, 0, 1, 2, 3, 4, 0, 5, 0, 0, 0}),
              ElementsAre("0+5 header count 5, minimum 7, first ordinal 9",
                          "5+5 differences from the minimum 1, 2, 3, 4",
                          "10+5 differences from the minimum 5"));
  EXPECT_THAT(Texts(Encoding::kPrefix, PhysicalType::kBytes,
                    {0, 2, 9, 1, 0, 0, 1, 'a', 0, 1, 'b', 5, 0, 0, 0, 8, 0, 0, 0, 2, 0, 0, 0}),
              ElementsAre("0+5 header count 2, first ordinal 9, restart interval 1",
                          "5+3 value shared 0, unshared 1", "8+3 value shared 0, unshared 1",
                          "11+8 restart offsets 5, 8", "19+4 number of restart offsets 2"));
}

TEST(BlockFields, SayWhatTheBytesOfParquetMean) {
  EXPECT_THAT(Texts(Encoding::kParquetDeltaBinaryPacked, PhysicalType::kInt32,
                    {0x80, 1, 4, 2, 5, 0, 0, 0, 0, 0, 99}, 2),
              ElementsAre("0+2 block size 128", "2+1 miniblocks of a block 4", "3+1 count 2",
                          "4+1 first value -3", "5+1 minimum delta 0",
                          "6+4 bit widths of the miniblocks 0, 0, 0, 0",
                          "10+1 bytes after the last value"));
  EXPECT_THAT(Texts(Encoding::kParquetDeltaBinaryPacked, PhysicalType::kInt32,
                    {0x80, 1, 4, 3, 5, 2, 1, 9, 9, 9, 1, 0, 0, 0}, 3),
              ElementsAre("0+2 block size 128", "2+1 miniblocks of a block 4", "3+1 count 3",
                          "4+1 first value -3", "5+1 minimum delta 1",
                          "6+4 bit widths of the miniblocks 1, 9, 9, 9",
                          "10+4 miniblock 2 deltas of 1 bits"));
  EXPECT_THAT(Texts(Encoding::kParquetDeltaLengthByteArray, PhysicalType::kBytes,
                    {0x80, 1, 4, 1, 4, 'a', 'b'}, 1),
              ElementsAre("0+2 block size 128", "2+1 miniblocks of a block 4", "3+1 count 1",
                          "4+1 first value 2", "5+2 values"));
  EXPECT_THAT(Texts(Encoding::kParquetPlain, PhysicalType::kBytes, {1, 0, 0, 0, 'a', 9}, 1),
              ElementsAre("0+5 value size 1", "5+1 bytes after the last value"));
  EXPECT_THAT(Texts(Encoding::kParquetPlain, PhysicalType::kBool, {1, 9}, 8),
              ElementsAre("0+1 values", "1+1 bytes after the last value"));
  EXPECT_THAT(Texts(Encoding::kParquetGroupVarInt, PhysicalType::kInt32, {0, 1, 2, 3, 4, 9}, 3),
              ElementsAre("0+5 group values 0 to 2", "5+1 bytes after the last value"));
  EXPECT_THAT(Texts(Encoding::kParquetRle, PhysicalType::kBool, {2, 0, 0, 0, 6, 1, 9}, 3),
              ElementsAre("0+4 size of the runs 2", "4+2 repeated run 3 values",
                          "6+1 bytes after the last value"));
  EXPECT_THAT(Texts(Encoding::kParquetDictionary, PhysicalType::kInt32, {2, 6, 1, 3, 4, 5}, 11),
              ElementsAre("0+1 width of the codes 2", "1+2 repeated run 3 values",
                          "3+3 literal run 8 values"));
  EXPECT_THAT(Texts(Encoding::kParquetByteStreamSplit, PhysicalType::kFixedBytes,
                    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2),
              ElementsAre("0+2 stream byte 0 of each value", "2+2 stream byte 1 of each value",
                          "4+2 stream byte 2 of each value", "6+2 stream byte 3 of each value",
                          "8+2 stream byte 4 of each value"));
  EXPECT_THAT(Texts(Encoding::kParquetAlp, PhysicalType::kFloat,
                    {0, 0, 10, 1, 0, 0, 0, 4, 0, 0, 0, 2, 1, 0, 0, 7, 0, 0, 0, 0}, 1),
              ElementsAre("0+1 mode 0", "1+1 integer encoding 0", "2+1 log2 of the vector size 10",
                          "3+4 count 1", "7+4 offsets of the vectors 4",
                          "11+9 vector exponent 2, factor 1, 0 exceptions, width 0"));
}

// The fields before the damage are there, and the error says what is wrong.
TEST(BlockFields, EndAtTheDamage) {
  EXPECT_THAT(
      Texts(Encoding::kRle, PhysicalType::kInt8, {9, 0, 0, 0, 0, 0, 0, 0, 10, 7, 0, 1}),
      ElementsAre("0+4 count 9", "4+4 first ordinal 0", "8+2 repeated run 5 values",
                  "10+2 unknown bytes", "run at byte 10: its length is 0, expected at least 1"));
  EXPECT_THAT(Texts(Encoding::kPlain, PhysicalType::kBytes, {9, 0, 0, 0, 1, 0, 0, 0, 11, 0, 0, 0}),
              ElementsAre("0+4 first ordinal 9", "4+4 count 1", "8+4 position of the offsets 11",
                          "the offsets begin at byte 11, expected at least 12"));
  EXPECT_THAT(Texts(Encoding::kParquetByteStreamSplit, PhysicalType::kInt32, {1, 2, 3, 4, 5}, 1),
              ElementsAre("0+5 unknown bytes", "1 values of 4 bytes take 4 bytes, found 5"));
  EXPECT_THAT(Texts(Encoding::kPrefix, PhysicalType::kBytes, {1, 2}),
              ElementsAre("0+2 unknown bytes", "the header is cut off"));
  EXPECT_THAT(Texts(Encoding::kParquetDeltaBinaryPacked, PhysicalType::kInt32,
                    {0x80, 1, 4, 3, 5, 2, 1, 9, 9, 9, 1, 0, 0}, 3),
              ElementsAre("0+2 block size 128", "2+1 miniblocks of a block 4", "3+1 count 3",
                          "4+1 first value -3", "5+1 minimum delta 1",
                          "6+4 bit widths of the miniblocks 1, 9, 9, 9", "10+3 unknown bytes",
                          "the delta miniblock at byte 10 takes 4 bytes, found 3"));
  EXPECT_THAT(Texts(Encoding::kParquetAlp, PhysicalType::kFloat,
                    {0, 0, 10, 1, 0, 0, 0, 4, 0, 0, 0, 2, 1, 0, 0, 7, 0, 0, 0}, 1),
              ElementsAre("0+1 mode 0", "1+1 integer encoding 0", "2+1 log2 of the vector size 10",
                          "3+4 count 1", "7+4 offsets of the vectors 4", "11+8 unknown bytes",
                          "vector 0 at byte 11 ends at byte 19, expected at least 9 bytes and at "
                          "most byte 19"));
  EXPECT_THAT(Texts(Encoding::kPrefix, PhysicalType::kInt8, {1, 2}),
              ElementsAre("0+2 unknown bytes", "this build has no prefix of int8"));
}

// Bytes after the last value are no runs, even if they look like runs.
TEST(BlockFields, OfRunsEndAtTheLastValue) {
  EXPECT_THAT(
      Texts(Encoding::kRle, PhysicalType::kInt8, {5, 0, 0, 0, 0, 0, 0, 0, 10, 7, 10, 8, 0, 0, 0}),
      ElementsAre("0+4 count 5", "4+4 first ordinal 0", "8+2 repeated run 5 values",
                  "10+5 bytes after the last value"));
}

// The description of a block of many runs or values has at most kMaxBlockFields fields.
TEST(BlockFields, AreLimited) {
  std::vector<uint8_t> runs = {0, 0, 0, 1, 0, 0, 0, 0};
  for (int i = 0; i < 5000; ++i) runs.insert(runs.end(), {2, 7});
  auto texts = Texts(Encoding::kRle, PhysicalType::kInt8, runs);
  EXPECT_GT(texts.size(), kMaxBlockFields - 20);
  EXPECT_THAT(texts.back(), testing::HasSubstr("further runs"));

  std::vector<uint8_t> words = {0x40, 0x88, 0x13, 0, 16, 0};  // 5,000 values
  for (int i = 0; i < 5000; ++i) words.insert(words.end(), {0, 1, 'a'});
  words.insert(words.end(), {9, 0, 0, 0, 1, 0, 0, 0});
  texts = Texts(Encoding::kPrefix, PhysicalType::kBytes, words);
  EXPECT_GT(texts.size(), kMaxBlockFields - 20);
  EXPECT_THAT(texts[texts.size() - 3], testing::HasSubstr("further values"));
  EXPECT_THAT(texts.back(), testing::HasSubstr("number of restart offsets 1"));
}

}  // namespace cfile::encodings::block_fields_test
