#include "encodings/kudu/plain.h"

#include <gmock/gmock.h>

#include "blocks.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/kudu/dict.h"

namespace cfile::encodings::plain_test {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;

template <typename T>
Block EncodeOne(PhysicalType type, std::span<const T> values, uint64_t first_ordinal,
                EncoderOptions options = {}) {
  auto encoder = PlainCodec::MakeEncoder<T>(type, options);
  EXPECT_EQ(encoder->Append(values), values.size());
  EncodedBlock block;
  encoder->Finish(first_ordinal, block);
  Block result;
  result.bytes = {block.bytes.span().begin(), block.bytes.span().end()};
  result.count = block.count;
  result.aligned_values_offset = block.aligned_values_offset;
  return result;
}

TEST(Plain, BytesOfNumbers) {
  const int16_t values[] = {-2, 258};
  const Block block = EncodeOne<int16_t>(PhysicalType::kInt16, values, 0x1'0000'0003);
  EXPECT_THAT(block.bytes, ElementsAre(2, 0, 0, 0, 3, 0, 0, 0, 0xfe, 0xff, 0x02, 0x01));
  EXPECT_EQ(block.aligned_values_offset, 8u);
}

TEST(Plain, BytesOfFixedBytes) {
  const std::string_view values[] = {"abc", "def"};
  const Block block =
      EncodeOne<std::string_view>(PhysicalType::kFixedBytes, values, 1, {.type_length = 3});
  EXPECT_THAT(block.bytes, ElementsAre(2, 0, 0, 0, 1, 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 'f'));
  EXPECT_EQ(block.aligned_values_offset, std::nullopt);
}

TEST(Plain, BytesOfBools) {
  const bool values[] = {true, false, true, true, false, false, false, false, false, true};
  const Block block = EncodeOne<bool>(PhysicalType::kBool, values, 9);
  EXPECT_THAT(block.bytes, ElementsAre(10, 0, 0, 0, 9, 0, 0, 0, 0b00001101, 0b10));
}

TEST(Plain, BytesOfBytes) {
  // "ab" is at byte 12, "" at 14, 300 times 'x' at 14, "c" at 314, "dd" at 315; the offsets begin
  // at 317.
  const std::string long_value(300, 'x');
  const std::string_view values[] = {"ab", "", long_value, "c", "dd"};
  const Block block = EncodeOne<std::string_view>(PhysicalType::kBytes, values, 258);
  const Bytes& bytes = block.bytes;
  EXPECT_THAT(Bytes(bytes.begin(), bytes.begin() + 15),
              ElementsAre(2, 1, 0, 0, 5, 0, 0, 0, 61, 1, 0, 0, 'a', 'b', 'x'));
  EXPECT_THAT(Bytes(bytes.begin() + 314, bytes.end()),
              ElementsAreArray<int>({'c', 'd', 'd',                  //
                                     0b00000001, 12, 14, 14, 58, 1,  // 314 takes two bytes
                                     0b01000000, 59, 1, 0, 0, 0}));  // 315, and the padding
  EXPECT_THAT(EncodeOne<std::string_view>(PhysicalType::kBytes, {}, 0).bytes,
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0));
}

TEST(Plain, AlignedNumbersAreLent) {
  const int64_t values[] = {5, 6, 7};
  const Block block = EncodeOne<int64_t>(PhysicalType::kInt64, values, 0);
  alignas(8) uint8_t memory[64];
  auto decoder = PlainCodec::MakeDecoder<int64_t>(PhysicalType::kInt64, 0);
  for (const size_t offset : {0, 1}) {
    std::copy(block.bytes.begin(), block.bytes.end(), memory + offset);
    ASSERT_TRUE(decoder->Open(std::span(memory + offset, block.bytes.size())).ok());
    const std::span<const int64_t> lent = decoder->Borrow(2);
    if (offset == 0) {
      EXPECT_EQ(static_cast<const void*>(lent.data()), memory + 8);
      EXPECT_THAT(lent, ElementsAre(5, 6));
      EXPECT_THAT(decoder->Borrow(100), ElementsAre(7));
    } else {
      EXPECT_TRUE(lent.empty());
      EXPECT_EQ(decoder->position(), 0u);
    }
  }
}

TEST(Plain, AViewPointsIntoTheBlock) {
  const std::string_view values[] = {"ab", "cde"};
  const Block block = EncodeOne<std::string_view>(PhysicalType::kBytes, values, 0);
  auto decoder = PlainCodec::MakeDecoder<std::string_view>(PhysicalType::kBytes, 0);
  ASSERT_TRUE(decoder->Open(block.bytes).ok());
  std::string_view out[2];
  ASSERT_EQ(decoder->Read(out).value(), 2u);
  EXPECT_EQ(static_cast<const void*>(out[1].data()), block.bytes.data() + 14);
}

// With kudu_exact, a block takes a whole batch. Otherwise it ends at the block size.
TEST(Plain, WhereBlocksEnd) {
  const std::vector<int32_t> values(100);
  EncoderOptions options{.block_size_bytes = 107};
  auto encoder = PlainCodec::MakeEncoder<int32_t>(PhysicalType::kInt32, options);
  EXPECT_EQ(encoder->Append(values), 25u);
  EXPECT_TRUE(encoder->full());
  EXPECT_EQ(encoder->size_bytes(), 108u);
  options = {.block_size_bytes = 108, .kudu_exact = true};
  encoder = PlainCodec::MakeEncoder<int32_t>(PhysicalType::kInt32, options);
  EXPECT_EQ(encoder->Append(std::span(values).first(25)), 25u);
  EXPECT_FALSE(encoder->full());
  EXPECT_EQ(encoder->Append(values), 100u);
  EXPECT_TRUE(encoder->full());
  EXPECT_EQ(encoder->Append(values), 0u);
}

// A dictionary is a PLAIN block. It is refused if it has more values than the limit.
TEST(Plain, DictionariesOfTooManyValuesAreRefused) {
  const auto load = [](uint32_t count, size_t max_values) {
    ByteWriter block;
    for (const uint32_t field : {0u, count, 12u}) block.PutFixed(field);
    for (uint32_t i = 0; i < count; i += 4) {  // groups of four offsets of a byte
      block.PutBytes(std::string_view("\0\x0c\x0c\x0c\x0c", 5));
    }
    for (uint32_t i = count; i % 4 != 0; ++i) block.data()[block.size() - 4 + i % 4] = 0;
    return DictCodec::LoadDictionary(PhysicalType::kBytes, 0, block.span(), max_values).status();
  };
  EXPECT_EQ(load(1, 1), absl::OkStatus());
  EXPECT_EQ(load(2, 2), absl::OkStatus());
  const absl::Status above = load(2, 1);
  EXPECT_EQ(above.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(above.message()), HasSubstr("a dictionary of 2 values is above the limit "
                                                      "of 1: raise max_dictionary_values"));
  // A count that exceeds what the bytes can hold is damage, whatever the limit.
  for (const size_t max_values : {10, 10'000}) {
    const absl::Status damaged = load(1000, max_values);
    EXPECT_EQ(damaged.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(damaged.message()), HasSubstr("cannot have 1000 different values"));
  }
}

// Read, ReadPacked and SeekTo return the same error for a damaged value.
TEST(ParquetPlain, DamageOfBytesIsNamed) {
  const auto decoder =
      MakeDecoder<std::string_view>(Encoding::kParquetPlain, PhysicalType::kBytes, {}).value();
  const auto expect_error = [&](const Bytes& bytes, const std::string& error) {
    const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
    BlockView view(copy);
    view.count = 3;
    std::string_view values[3];
    PackedStrings packed;
    ASSERT_TRUE(decoder->Open(view).ok());
    EXPECT_THAT(std::string(decoder->Read(values).status().message()), HasSubstr(error));
    ASSERT_TRUE(decoder->Open(view).ok());
    EXPECT_THAT(std::string(decoder->SeekTo(2).message()), HasSubstr(error));
    ASSERT_TRUE(decoder->Open(view).ok());
    absl::StatusOr<size_t> read = size_t{1};
    while (read.ok()) read = decoder->ReadPacked(3, packed);
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(error));
  };
  expect_error({1, 0, 0, 0, 'a', 4, 0, 0, 0, 'b', 'c', 'd'},
               "value 1 at byte 5 has 4 bytes, found 3");
  expect_error({5, 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 4, 0, 0},
               "value 1 at byte 9: its length takes 4 bytes, found 3");
}

}  // namespace cfile::encodings::plain_test
