// Tests the descriptions of blocks for inspection, for all encodings that offer them.
#include <random>

#include "encodings/core/block_fields.h"

#include "blocks.h"
#include "gmock/gmock.h"

namespace cfile::encodings {
namespace {

using testing::ElementsAre;

uint32_t TypeLength(PhysicalType type) { return type == PhysicalType::kFixedBytes ? 5 : 0; }

// EXPECTs that the fields ascend, lie in the block and do not overlap.
void ExpectRanges(const std::vector<BlockField>& fields, size_t block_size) {
  EXPECT_LE(fields.size(), kMaxBlockFields);
  size_t end = 0;
  for (const BlockField& field : fields) {
    EXPECT_GE(field.offset, end);
    EXPECT_LE(field.offset, block_size);
    EXPECT_LE(field.size, block_size - field.offset);
    EXPECT_FALSE(field.name.empty());
    end = field.offset + field.size;
  }
}

TEST(BlockFields, LieInTheBlock) {
  int described = 0;
  for (const Pair& pair : AllPairs()) {
    SCOPED_TRACE(PairName({pair, 0}));
    VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
      for (const Shape shape : kShapes) {
        for (const size_t size : {0, 1, 100, 5000}) {
          const auto column = MakeColumn<T>(shape, size, TypeLength(pair.type), 1);
          for (const Block& block :
               Encode<T>(pair, column.span(), {.type_length = TypeLength(pair.type)})) {
            const auto fields =
                DescribeBlock(block.encoding, pair.type, TypeLength(pair.type), block.view());
            ASSERT_TRUE(fields.ok()) << fields.status();
            ExpectRanges(*fields, block.bytes.size());
            if (!FindEncoding(block.encoding)->describes) {
              EXPECT_TRUE(fields->empty());
            } else if (!block.bytes.empty()) {
              EXPECT_FALSE(fields->empty());
              ++described;
            }
          }
        }
      }
    });
  }
  EXPECT_GT(described, 100);
}

// For damaged blocks, the result is an error, or fields that lie in the block.
TEST(BlockFields, OfDamagedBlocksLieInTheBlock) {
  std::mt19937_64 random(1);
  int refused = 0;
  for (const Pair& pair : AllPairs()) {
    if (!pair.row().describes) continue;
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
          const auto fields =
              DescribeBlock(block.encoding, pair.type, TypeLength(pair.type), GuardedView(damaged));
          if (fields.ok()) {
            ExpectRanges(*fields, damaged.bytes.size());
          } else {
            EXPECT_TRUE(absl::IsDataLoss(fields.status())) << fields.status();
            ++refused;
          }
        }
      }
    });
  }
  EXPECT_GT(refused, 100);
}

std::vector<std::string> Texts(Encoding encoding, PhysicalType type, std::vector<uint8_t> bytes) {
  std::vector<std::string> texts;
  const auto fields = DescribeBlock(encoding, type, {}, BlockView(bytes));
  EXPECT_TRUE(fields.ok()) << fields.status();
  for (const BlockField& field : fields.value()) {
    texts.push_back(StrCat(field.offset, "+", field.size, " ", field.name,
                           field.value.empty() ? "" : " ", field.value));
  }
  return texts;
}

TEST(BlockFields, SayWhatTheBytesMean) {
  EXPECT_THAT(Texts(Encoding::kPlain, PhysicalType::kInt16, {2, 0, 0, 0, 9, 0, 0, 0, 1, 0, 2, 0}),
              ElementsAre("0+4 count 2", "4+4 first ordinal 9", "8+4 values"));
  EXPECT_THAT(Texts(Encoding::kPlain, PhysicalType::kBytes,
                    {9, 0, 0, 0, 1, 0, 0, 0, 14, 0, 0, 0, 'a', 'b', 0, 12, 0, 0, 0}),
              ElementsAre("0+4 first ordinal 9", "4+4 count 1", "8+4 position of the offsets 14",
                          "12+2 values", "14+5 offsets"));
  EXPECT_THAT(Texts(Encoding::kRle, PhysicalType::kInt8,
                    {13, 0, 0, 0, 0, 0, 0, 0, 10, 7, 3, 1, 2, 3, 4, 5, 6, 7, 8}),
              ElementsAre("0+4 count 13", "4+4 first ordinal 0", "8+2 repeated run 5 values",
                          "10+9 literal run 1 groups of 8 values"));
  EXPECT_THAT(Texts(Encoding::kParquetDeltaBinaryPacked, PhysicalType::kInt32,
                    {0x80, 1, 4, 2, 5, 0, 0, 0, 0, 0}),
              ElementsAre("0+2 block size 128", "2+1 miniblocks of a block 4", "3+1 count 2",
                          "4+1 first value -3", "5+5 blocks"));
  EXPECT_TRUE(Texts(Encoding::kPrefix, PhysicalType::kBytes, {1, 2}).empty());
  EXPECT_TRUE(absl::IsUnimplemented(
      DescribeBlock(Encoding::kPrefix, PhysicalType::kInt8, {}, BlockView()).status()));
}

// The description of a block of many runs has at most kMaxBlockFields fields.
TEST(BlockFields, AreLimited) {
  std::vector<uint8_t> block = {0, 0, 0, 1, 0, 0, 0, 0};
  for (int i = 0; i < 5000; ++i) block.insert(block.end(), {2, 7});
  const auto fields =
      DescribeBlock(Encoding::kRle, PhysicalType::kInt8, {}, BlockView(block)).value();
  EXPECT_EQ(fields.size(), kMaxBlockFields);
  EXPECT_EQ(fields.back().name, "further runs");
  EXPECT_EQ(fields.back().offset + fields.back().size, block.size());
}

}  // namespace
}  // namespace cfile::encodings
