// Tests of BIT_SHUFFLE and DICT: properties that other encodings do not have, and the functions
// that these two encodings use.
#include "encodings/kudu/bit_shuffle.h"

#include <gmock/gmock.h>

#include <random>

#include "blocks.h"
#include "encodings/kernels/bit_transposition.h"
#include "encodings/kudu/lz4_block.h"
#include "hwy/targets.h"

namespace cfile::encodings::bit_shuffle_test {

using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

// Transposes bit by bit, as the format document describes.
Bytes TransposeNaively(const Bytes& values, size_t count, size_t width) {
  Bytes rows(values.size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t bit = 0; bit < 8 * width; ++bit) {
      if ((values[i * width + bit / 8] >> (bit % 8) & 1) != 0)
        rows[bit * (count / 8) + i / 8] |= static_cast<uint8_t>(1 << (i % 8));
    }
  }
  return rows;
}

TEST(BitTransposition, IsTheSameOnEveryTarget) {
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  targets.push_back(HWY_SCALAR | HWY_EMU128);
  std::mt19937_64 random(1);
  GuardedBytes in(kMaxTransposedBytes), out(kMaxTransposedBytes);
  for (const int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    for (const size_t width : {1, 2, 3, 4, 8, 16}) {
      for (size_t count = 0; count * width <= kMaxTransposedBytes;
           count += count < 600 ? 8 : 8 * (1 + random() % 80)) {
        Bytes values(count * width);
        for (size_t i = 0; i < values.size(); ++i) {
          // Some bytes are equal in all values, or have bits that are equal in all values.
          const size_t kind = (i % width + count / 8) % 4;
          values[i] = static_cast<uint8_t>(kind == 0 ? 0x83 : kind == 1 ? random() | 7 : random());
        }
        const Bytes expected = TransposeNaively(values, count, width);
        const auto found = out.Last<uint8_t>(values.size());
        TransposeBits(in.Copy(values).data(), count, width, found.data());
        ASSERT_TRUE(std::ranges::equal(found, expected))
            << target << ", " << count << " of " << width;
        UntransposeBits(in.Copy(expected).data(), count, width, found.data());
        ASSERT_TRUE(std::ranges::equal(found, values))
            << target << ", " << count << " of " << width;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// An LZ4 block, and the text to which it decompresses.
struct Lz4Block {
  Bytes block;
  Bytes text;

  void PutLength(size_t length) {  // adds the bytes that extend a length of 15 or more
    for (length -= 15; length >= 255; length -= 255) block.push_back(255);
    block.push_back(static_cast<uint8_t>(length));
  }
  // Adds a sequence. offset 0: the last sequence, which has no match.
  void PutSequence(size_t literals, size_t offset, size_t length, std::mt19937_64& random) {
    const size_t match = offset == 0 ? 0 : length - 4;
    block.push_back(
        static_cast<uint8_t>(std::min<size_t>(literals, 15) << 4 | std::min<size_t>(match, 15)));
    if (literals >= 15) PutLength(literals);
    for (; literals > 0; --literals) {
      block.push_back(static_cast<uint8_t>(random()));
      text.push_back(block.back());
    }
    if (offset == 0) return;
    block.push_back(static_cast<uint8_t>(offset));
    block.push_back(static_cast<uint8_t>(offset >> 8));
    if (match >= 15) PutLength(match);
    for (; length > 0; --length) text.push_back(text[text.size() - offset]);
  }
};

Lz4Block RandomLz4Block(std::mt19937_64& random) {
  constexpr size_t kLengths[] = {0, 1, 7, 15, 16, 17, 40, 300, 3000};
  Lz4Block block;
  for (size_t sequences = random() % 12; sequences > 0; --sequences) {
    const size_t literals =
        (block.text.empty() ? 1 : 0) + random() % (1 + kLengths[random() % std::size(kLengths)]);
    const size_t most = block.text.size() + literals;
    const size_t offset = 1 + random() % std::min<size_t>(most, random() % 2 == 0 ? 40 : 60'000);
    const size_t length = 4 + random() % (1 + kLengths[random() % std::size(kLengths)]);
    block.PutSequence(literals, offset, length, random);
  }
  block.PutSequence(random() % 20, 0, 0, random);
  return block;
}

// The buffers have exactly the allowed sizes, so that AddressSanitizer detects any other access.
bool Decompress(const Bytes& block, size_t size, Bytes& text) {
  text.assign(size + kLz4SlackBytes, 0xee);
  const bool good = DecompressLz4Block(block, {text.data(), size});
  text.resize(size);
  return good;
}

// The block has a run of 270 literals, but the text has room for only 2. Decompression fails and
// writes nothing after the slack bytes.
TEST(Lz4Block, WritesNothingBehindItsSlack) {
  Bytes block = {0xf0, 255, 0};
  block.resize(block.size() + 270, 'x');
  Bytes text(2 + kLz4SlackBytes + 300, 0xee);
  EXPECT_FALSE(DecompressLz4Block(block, {text.data(), 2}));
  EXPECT_EQ(std::count(text.begin() + 2 + kLz4SlackBytes, text.end(), 0xee), 300);
}

TEST(Lz4Block, GivesWhatItStandsFor) {
  std::mt19937_64 random(2);
  Bytes text;
  for (int round = 0; round < 20'000; ++round) {
    const Lz4Block block = RandomLz4Block(random);
    ASSERT_TRUE(Decompress(block.block, block.text.size(), text));
    ASSERT_TRUE(text == block.text);
    ASSERT_FALSE(Decompress(block.block, block.text.size() + 1, text));
    if (!block.text.empty()) {
      ASSERT_FALSE(Decompress(block.block, block.text.size() - 1, text));
    }
  }
}

// Decompression fails if the byte that continues a length of 15 is missing.
TEST(Lz4Block, RefusesLengthsThatAreCut) {
  Bytes text;
  EXPECT_TRUE(Decompress({0x1f, 'a', 1, 0, 0, 0}, 20, text));
  EXPECT_FALSE(Decompress({0x1f, 'a', 1, 0}, 20, text));
  EXPECT_FALSE(Decompress({0x1f, 'a', 1, 0, 255}, 20 + 255, text));
}

TEST(Lz4Block, SurvivesDamage) {
  std::mt19937_64 random(3);
  Bytes text;
  for (int round = 0; round < 20'000; ++round) {
    const Lz4Block block = RandomLz4Block(random);
    Bytes damaged = block.block;
    damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    Decompress(damaged, block.text.size(), text);
    damaged = block.block;
    damaged.resize(random() % damaged.size());
    ASSERT_FALSE(Decompress(damaged, block.text.size(), text) && text != block.text);
  }
  EXPECT_FALSE(Decompress({}, 0, text));
  EXPECT_FALSE(Decompress({0x10, 7, 0, 0, 0}, 5, text));  // an offset of 0
  EXPECT_FALSE(Decompress({0x10, 7, 2, 0, 0}, 5, text));  // an offset before the first byte
}

// In a build without LZ4, the tests below do nothing.
bool BuiltIn() { return FindEncoding(Encoding::kBitShuffle) != nullptr; }

constexpr Pair kUint32 = {Encoding::kBitShuffle, PhysicalType::kUint32};
constexpr Pair kInt64 = {Encoding::kBitShuffle, PhysicalType::kInt64};

TEST(BitShuffle, Uint32IsAsNarrowAsTheLargestValue) {
  if (!BuiltIn()) return;
  const std::pair<uint32_t, uint32_t> cases[] = {{0, 1},     {255, 1},   {256, 2},
                                                 {65535, 2}, {65536, 4}, {UINT32_MAX, 4}};
  for (const auto& [largest, width] : cases) {
    std::vector<uint32_t> values(9000, 0);
    values[8191] = largest;
    const auto blocks = Encode<uint32_t>(kUint32, values, {});
    ASSERT_EQ(blocks.size(), 1u);
    EXPECT_EQ(LoadLittleEndian<uint32_t>(blocks[0].bytes.data() + 16), width);
    const auto decoder = MakeDecoder<uint32_t>(kUint32.encoding, kUint32.type, 0).value();
    ASSERT_TRUE(decoder->Open(blocks[0].view()).ok());
    std::vector<uint32_t> found(values.size());
    ASSERT_EQ(decoder->Read(found).value(), values.size());
    EXPECT_TRUE(found == values) << largest;
  }
}

TEST(BitShuffle, EndsBlocksAtTheirSizeBeforeCompression) {
  if (!BuiltIn()) return;
  const std::vector<int64_t> values(1000);
  const auto blocks = Encode<int64_t>(kInt64, values, {.block_size_bytes = 1001});
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(blocks.at(i).count, 125u);
}

// The block has more values than the decoder keeps decoded. Values that are decoded repeatedly are
// right each time.
TEST(BitShuffle, ReadsBlocksLargerThanItsWindow) {
  if (!BuiltIn()) return;
  std::vector<int64_t> values(1 << 20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i / 100);
  const auto blocks = Encode<int64_t>(kInt64, values, {.block_size_bytes = size_t{8} << 20});
  ASSERT_EQ(blocks.size(), 1u);
  ASSERT_LT(4 * blocks[0].bytes.size(), size_t{4} << 20);
  const auto decoder = MakeDecoder<int64_t>(kInt64.encoding, kInt64.type, 0).value();
  ASSERT_TRUE(decoder->Open(blocks[0].view()).ok());
  std::mt19937_64 random(4);
  std::vector<int64_t> found(kMaxBatchValues);
  for (int round = 0; round < 300; ++round) {
    const auto position = static_cast<uint32_t>(random() % values.size());
    ASSERT_TRUE(decoder->SeekTo(position).ok());
    std::span<const int64_t> some = decoder->Borrow(1 + random() % kMaxBatchValues);
    ASSERT_FALSE(some.empty());
    ASSERT_TRUE(std::equal(some.begin(), some.end(), values.begin() + position));
    ASSERT_EQ(decoder->position(), position + some.size());
    const size_t read = decoder->Read(found).value();
    ASSERT_EQ(read, std::min<size_t>(found.size(), values.size() - position - some.size()));
    ASSERT_TRUE(std::equal(found.begin(), found.begin() + static_cast<ptrdiff_t>(read),
                           values.begin() + position + static_cast<ptrdiff_t>(some.size())));
    const auto bound = decoder->SeekToKey(position / 100);
    ASSERT_EQ(bound.value().position, position / 100 * 100);
    ASSERT_TRUE(bound->exact);
  }
}

// The decoder keeps the values that it has decoded. If the block's bytes are damaged later, it
// still returns these values, but reports the damage in chunks that it has not decoded.
TEST(BitShuffle, ABlockInHandStaysDecoded) {
  if (!BuiltIn()) return;
  std::vector<int64_t> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * i);
  auto blocks = Encode<int64_t>(kInt64, values, {});
  const auto decoder = MakeDecoder<int64_t>(kInt64.encoding, kInt64.type, 0).value();
  ASSERT_TRUE(decoder->Open(blocks[0].view()).ok());
  ASSERT_EQ(decoder->Borrow(3000).size(), 3000u);
  Bytes& bytes = blocks[0].bytes;
  std::fill(bytes.begin() + 20, bytes.end(), uint8_t{0xff});
  ASSERT_TRUE(decoder->SeekTo(1).ok());
  EXPECT_EQ(decoder->Borrow(1).front(), 1);
  int64_t value;
  ASSERT_TRUE(decoder->SeekTo(4900).ok());
  EXPECT_TRUE(decoder->Borrow(1).empty());
  const auto damaged = decoder->Read({&value, 1});
  EXPECT_EQ(damaged.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(damaged.status().ToString(), HasSubstr("chunk 4"));
}

TEST(BitShuffle, SaysWhatIsWrong) {
  if (!BuiltIn()) return;
  const std::vector<int64_t> values(3000, 5);
  const auto sound = Encode<int64_t>(kInt64, values, {})[0];
  const auto decoder = MakeDecoder<int64_t>(kInt64.encoding, kInt64.type, 0).value();
  const auto expect = [&](size_t at, uint32_t number, const char* words) {
    Block block = sound;
    StoreLittleEndian(number, block.bytes.data() + at);
    const absl::Status status = decoder->Open(block.view());
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.ToString(), HasSubstr(words));
  };
  expect(4, 2999 + 8, "3007 values, and 3000 with padding");
  expect(4, UINT32_MAX, "values, and 3000 with padding");
  expect(8, 19, "the header says 19 bytes, the block has");
  expect(12, 3008, "3000 values, and 3008 with padding");
  expect(16, 4, "elements of 4 bytes, the type has 8");
  expect(16, 0, "elements of 0 bytes");
  expect(20, 0xffffff7f, "chunk 0 of 3 at byte 20 does not end");
  expect(20, 0, "chunk");
  Block block = sound;
  StoreLittleEndian(uint32_t{1000}, block.bytes.data() + 4);
  StoreLittleEndian(uint32_t{1000}, block.bytes.data() + 12);
  EXPECT_THAT(decoder->Open(block.view()).ToString(), HasSubstr("bytes after the 1 chunks"));
}

constexpr Pair kDict = {Encoding::kDict, PhysicalType::kBytes};

uint32_t Mode(const Block& block) { return LoadLittleEndian<uint32_t>(block.bytes.data()); }

TEST(Dict, TurnsToPlainOnceTheDictionaryIsFull) {
  if (!BuiltIn()) return;
  for (const bool kudu_exact : {false, true}) {
    std::vector<std::string> texts;
    for (int i = 0; i < 3000; ++i) texts.push_back("word " + std::to_string(i < 1000 ? i % 50 : i));
    const std::vector<std::string_view> values(texts.begin(), texts.end());
    const auto blocks = Encode<std::string_view>(
        kDict, values, {.block_size_bytes = 2048, .kudu_exact = kudu_exact});
    EXPECT_EQ(Mode(blocks.front()), 1u);
    EXPECT_EQ(Mode(blocks.back()), 2u);
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end(),
                               [](const Block& a, const Block& b) { return Mode(a) < Mode(b); }));
    EXPECT_EQ(blocks[0].count, 512u);  // the block is full with codes of 4 bytes each
    const uint32_t words = LoadLittleEndian<uint32_t>(blocks[0].dictionary_bytes->data() + 4);
    EXPECT_GT(words, 100u);
    EXPECT_LT(words, 200u);
  }
}

TEST(Dict, HasADictionaryEvenOfNoValues) {
  if (!BuiltIn()) return;
  const auto blocks = Encode<std::string_view>(kDict, {}, {});
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(Mode(blocks[0]), 1u);
  ASSERT_NE(blocks[0].dictionary_bytes, nullptr);
  EXPECT_EQ(blocks[0].dictionary_bytes->size(), 12u);
}

// A long value does not join the dictionary, except as the first one: the dictionary is a block,
// and must not exceed the size that a reader accepts.
TEST(Dict, DoesNotTakeLongValuesBehindTheFirst) {
  if (!BuiltIn()) return;
  const std::string text(5000, 'x');
  const std::vector<std::string_view> values = {"a", text, "b", text};
  const auto blocks = Encode<std::string_view>(kDict, values, {.block_size_bytes = 1000});
  ASSERT_GE(blocks.size(), 2u);
  EXPECT_EQ(Mode(blocks[0]), 1u);
  EXPECT_EQ(blocks[0].count, 1u);
  EXPECT_EQ(Mode(blocks[1]), 2u);
  EXPECT_LT(blocks[0].dictionary_bytes->size(), 100u);
}

TEST(Dict, SaysWhatIsWrong) {
  if (!BuiltIn()) return;
  const std::vector<std::string_view> values = {"a", "b", "a", "c"};
  Block block = Encode<std::string_view>(kDict, values, {})[0];
  std::string_view out[4];
  const auto none = MakeDecoder<std::string_view>(kDict.encoding, kDict.type, 0).value();
  EXPECT_THAT(none->Open(block.view()).ToString(),
              HasSubstr("4 codes, but there is no dictionary"));

  const std::vector<std::string_view> fewer = {"a", "b"};
  const Block other = Encode<std::string_view>(kDict, fewer, {})[0];
  DecoderOptions options;
  options.dictionary = other.dictionary;
  const auto decoder = MakeDecoder<std::string_view>(kDict.encoding, kDict.type, options).value();
  ASSERT_TRUE(decoder->Open(block.view()).ok());
  EXPECT_THAT(decoder->Read(out).status().ToString(),
              HasSubstr("code 2 at or after value 0, the dictionary has 2 values"));
  block.bytes[0] = 3;
  EXPECT_THAT(decoder->Open(block.view()).ToString(), HasSubstr("mode 3"));
}

}  // namespace cfile::encodings::bit_shuffle_test
