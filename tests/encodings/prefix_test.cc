#include "encodings/kudu/prefix.h"

#include <gmock/gmock.h>

#include "columns.h"

namespace cfile::encodings::prefix_test {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::SizeIs;

using Bytes = std::vector<uint8_t>;
using Texts = std::vector<std::string>;

Bytes Encode(const std::vector<std::string_view>& values, uint32_t restart_interval,
             uint64_t first_ordinal) {
  auto encoder = PrefixCodec::MakeEncoder<std::string_view>(PhysicalType::kBytes,
                                                            {.restart_interval = restart_interval});
  EXPECT_EQ(encoder->Append(values), values.size());
  EncodedBlock block;
  encoder->Finish(first_ordinal, block);
  return {block.bytes.span().begin(), block.bytes.span().end()};
}

std::unique_ptr<BlockDecoder<std::string_view>> NewDecoder() {
  return PrefixCodec::MakeDecoder<std::string_view>(PhysicalType::kBytes, 0);
}

// Returns a block whose header has numbers of one byte. `entries` also holds the restart offsets
// and their count.
Bytes Block(uint8_t count, uint8_t restart_interval, const Bytes& entries) {
  Bytes bytes = {0x00, count, 0, restart_interval, 0};
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  return bytes;
}

// Returns all values up to the first error, and the message of that error.
std::pair<Texts, std::string> ReadAll(const Bytes& bytes) {
  auto decoder = NewDecoder();
  Texts values;
  if (const absl::Status opened = decoder->Open(bytes); !opened.ok())
    return {values, opened.ToString()};
  std::string_view out[100];
  while (decoder->position() < decoder->count()) {
    const auto n = decoder->Read(out);
    if (!n.ok()) return {values, n.status().ToString()};
    values.insert(values.end(), out, out + *n);
  }
  return {values, ""};
}

TEST(Prefix, AnEmptyBlockIsAsKuduHasIt) {
  EXPECT_THAT(Encode({}, 16, 0), ElementsAre(0x00, 0, 0, 0x10, 0, 0, 0, 0, 0));
}

TEST(Prefix, BytesOfAWorkedExample) {
  EXPECT_THAT(
      Encode({"apple", "apply", "apt", "", "apt"}, 2, 300),
      ElementsAreArray<int>({
          0x10, 5, 0x2c, 0x01, 2,   0,  // 5 values, first ordinal 300 in two bytes, interval 2
          0,    5, 'a',  'p',  'p', 'l', 'e',     // restart 0 at byte 6
          4,    1, 'y',                           //
          0,    3, 'a',  'p',  't',               // restart 1 at byte 16
          0,    0,                                //
          0,    3, 'a',  'p',  't',               // restart 2 at byte 23
          16,   0, 0,    0,    23,  0,   0,   0,  // the offsets of restarts 1 and 2
          2,    0, 0,    0,                       // and their count
      }));
}

TEST(Prefix, LengthsOfTwoBytes) {
  const std::string long_value(200, 'v');
  const Bytes bytes = Encode({long_value, long_value + "w"}, 16, 0);
  ASSERT_THAT(bytes, SizeIs(5 + 3 + 200 + 4 + 4));
  EXPECT_THAT(Bytes(bytes.begin() + 5, bytes.begin() + 8), ElementsAre(0, 0xc8, 0x01));
  EXPECT_THAT(Bytes(bytes.begin() + 208, bytes.end()), ElementsAre(0xc8, 0x01, 1, 'w', 0, 0, 0, 0));
  EXPECT_THAT(ReadAll(bytes).first, ElementsAre(long_value, long_value + "w"));
}

// A value may share a shorter prefix with the previous value than is possible. The block is valid.
TEST(Prefix, SharedLengthsNeedNotBeTheLongest) {
  const Bytes bytes = Block(3, 16, {0, 2, 'a', 'b', 1, 1, 'b', 0, 2, 'a', 'c', 0, 0, 0, 0});
  EXPECT_THAT(ReadAll(bytes).first, ElementsAre("ab", "ab", "ac"));
  auto decoder = NewDecoder();
  ASSERT_TRUE(decoder->Open(bytes).ok());
  const LowerBound found = decoder->SeekToKey("ac").value();
  EXPECT_EQ(found.position, 2u);
  EXPECT_TRUE(found.exact);
}

// Empty and repeated values are read correctly at restart points and between them. (Values near the
// end of a block are read one by one, and a repeated value is not copied.)
TEST(Prefix, EmptyAndRepeatedValuesAtRestarts) {
  const Texts texts = {"xx", "", "", "xx", "xx", "", "x", "x", "", "x"};
  for (const uint32_t interval : {1, 2, 3, 16}) {
    const Bytes bytes = Encode({texts.begin(), texts.end()}, interval, 0);
    EXPECT_THAT(ReadAll(bytes).first, ElementsAreArray(texts)) << interval;
  }
}

TEST(Prefix, ASeekNamesTheDamageItMeets) {
  const auto error = [](const Bytes& bytes) {
    auto decoder = NewDecoder();
    EXPECT_TRUE(decoder->Open(bytes).ok());
    return decoder->SeekToKey("b").status().ToString();
  };
  EXPECT_THAT(error(Block(2, 1, {0, 1, 'a', 1, 1, 'z', 8, 0, 0, 0, 1, 0, 0, 0})),
              HasSubstr("value 1 at byte 8: it shares 1 bytes with a value of 0"));
  EXPECT_THAT(error(Block(2, 1, {0, 1, 'a', 0, 0, 10, 0, 0, 0, 1, 0, 0, 0})),
              HasSubstr("value 1 at byte 10: its restart offset does not point to an entry"));
  // The offset points to the first value's entry.
  EXPECT_THAT(error(Block(2, 1, {0, 1, 'a', 0, 1, 'c', 5, 0, 0, 0, 1, 0, 0, 0})),
              HasSubstr("its restart offset does not point to an entry"));
  EXPECT_THAT(error(Block(2, 16, {0, 1, 'a', 2, 1, 'b', 0, 0, 0, 0})),
              HasSubstr("value 1 at byte 8: it shares 2 bytes with a value of 1"));
  EXPECT_THAT(error(Block(2, 16, {0, 1, 'a', 0, 2, 'b', 0, 0, 0, 0})),
              HasSubstr("value 1 at byte 8: its lengths or its bytes run past"));
}

// A wrong restart offset is also found in a long block, which the decoder reads with its fast path.
TEST(Prefix, AWrongRestartOffsetInTheMiddleIsFound) {
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back("key-" + std::to_string(1000 + i));
  Bytes bytes = Encode({texts.begin(), texts.end()}, 4, 0);
  ASSERT_THAT(ReadAll(bytes).first, ElementsAreArray(texts));
  // The restart offset of value 60 (the 15th of 24 stored offsets) is overwritten with the one
  // before it.
  const size_t restart = bytes.size() - 4 - (24 - 14) * 4;
  std::copy_n(&bytes[restart - 4], 4, &bytes[restart]);
  EXPECT_THAT(ReadAll(bytes).second, HasSubstr("value 60 at byte"));
  auto decoder = NewDecoder();
  ASSERT_TRUE(decoder->Open(bytes).ok());
  std::string_view out[60];
  EXPECT_EQ(decoder->Read(out).value(), 60u);  // the values before it can be read
}

// If one entry shares more bytes than the previous value has, the entry is found also in a long
// block, which the decoder reads with its fast path.
TEST(Prefix, AnEntryThatSharesTooMuchIsFoundAmongMany) {
  const auto block = [](size_t bad, uint8_t shared, uint8_t restart_interval) {
    Bytes entries;
    ByteWriter restarts;
    for (size_t i = 0; i < 60; ++i) {
      if (i > 0 && i % restart_interval == 0) {
        restarts.PutFixed(static_cast<uint32_t>(5 + entries.size()));
      }
      entries.insert(entries.end(), {i == bad ? shared : uint8_t{0}, 3, 'a', 'b', 'c'});
    }
    restarts.PutFixed(static_cast<uint32_t>(restarts.size() / 4));
    entries.insert(entries.end(), restarts.span().begin(), restarts.span().end());
    return Block(60, restart_interval, entries);
  };
  EXPECT_THAT(ReadAll(block(60, 0, 20)).first, SizeIs(60));
  EXPECT_THAT(ReadAll(block(30, 4, 20)).second,
              HasSubstr("value 30 at byte 155: it shares 4 bytes with a value of 3"));
  EXPECT_THAT(ReadAll(block(20, 1, 20)).second,
              HasSubstr("value 20 at byte 105: it shares 1 bytes with a value of 0"));
}

// Returns a block of values of 50,000 bytes each, whose entries have a few bytes each.
Bytes BlockOfLongValues(size_t count, const std::string& text, std::string_view last_bytes) {
  ByteWriter writer;
  for (const size_t byte : {size_t{0}, count, size_t{0}, size_t{255}, size_t{0}}) {
    writer.PutFixed(static_cast<uint8_t>(byte));
  }
  writer.PutVint(0);
  writer.PutLengthPrefixed(AsBytes(text));
  for (size_t i = 1; i < count; ++i) {
    writer.PutVint(text.size() - last_bytes.size());
    writer.PutLengthPrefixed(AsBytes(last_bytes));
  }
  writer.PutFixed(uint32_t{0});
  return {writer.span().begin(), writer.span().end()};
}

TEST(Prefix, ASmallBlockOfManyLongValuesIsReadInParts) {
  constexpr size_t kCount = 250;
  const std::string text(50'000, 't');
  const Bytes bytes = BlockOfLongValues(kCount, text, "t");
  auto decoder = NewDecoder();
  ASSERT_TRUE(decoder->Open(bytes).ok());
  std::string_view out[kCount];
  size_t read = 0;
  size_t most = 0;
  while (read < kCount) {
    const size_t n = decoder->Read(out).value();
    ASSERT_GT(n, 0u);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], text);
    read += n;
    most = std::max(most, n);
  }
  EXPECT_EQ(read, kCount);
  EXPECT_LE(most * text.size(), size_t{2} << 20);
  decoder = NewDecoder();  // a new decoder, whose memory has not grown
  ASSERT_TRUE(decoder->Open(bytes).ok());
  ASSERT_TRUE(decoder->SeekTo(kCount - 1).ok());
  EXPECT_EQ(decoder->Read(out).value(), 1u);
  EXPECT_EQ(out[0], text);
}

TEST(Prefix, ALongValueRepeatedIsNotCopied) {
  constexpr size_t kCount = 250;
  const std::string text(50'000, 't');
  const Bytes bytes = BlockOfLongValues(kCount, text, "");
  auto decoder = NewDecoder();
  ASSERT_TRUE(decoder->Open(bytes).ok());
  std::string_view out[kCount];
  ASSERT_EQ(decoder->Read(out).value(), kCount);
  EXPECT_EQ(out[kCount - 1], text);
  EXPECT_EQ(out[kCount - 1].data(), out[0].data());
}

// Reads keys of every length around the widths of vector registers, in mixed order.
TEST(Prefix, KeysAroundTheWidthsOfVectors) {
  for (const size_t longest : {15, 16, 17, 31, 32, 33, 63, 64, 65, 130}) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < 3000; ++i) {
      std::string text(i % 7 == 0 ? i / 7 % (longest + 1) : longest, 'k');
      if (!text.empty())
        text[text.size() - 1 - i * i % text.size()] = static_cast<char>('a' + i % 26);
      texts.push_back(text);
    }
    EXPECT_THAT(ReadAll(Encode({texts.begin(), texts.end()}, 16, 0)).first, ElementsAreArray(texts))
        << longest;
  }
}

}  // namespace cfile::encodings::prefix_test
