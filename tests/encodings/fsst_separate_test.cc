// FSST, form 2: the kernels for single values, the choice of the form, equality of codes, searches
// and damage. The tests of the registry check round trips, limits and damage of all kinds.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "encodings/kernels/fsst_values.h"
#include "encodings/own/fsst_decoder.h"
#include "encodings/own/fsst_layout.h"
#include "gmock/gmock.h"
#include "tests/encodings/fsst_testing.h"

namespace cfile::encodings::fsst_separate_test {

using testing::HasSubstr;

// Strings of few different bytes, many of them zeros, so that symbols end with zeros.
std::vector<std::string> ZeroTexts(size_t count) {
  std::mt19937_64 random(8);
  std::vector<std::string> texts(count);
  for (std::string& text : texts) {
    text.resize(random() % 12);
    for (char& byte : text) byte = random() % 2 == 0 ? '\0' : static_cast<char>('a' + random() % 3);
  }
  return texts;
}

SymbolTable TableFor(const std::vector<std::string>& texts) {
  std::string sample;
  std::vector<uint32_t> sizes;
  for (const std::string& text : texts) {
    sample += text;
    sizes.push_back(static_cast<uint32_t>(text.size()));
  }
  return TrainSymbols(sample, sizes);
}

// A block of form 2 with these values, which may ascend, and no common prefix. The codes of a value
// take less than 256 bytes.
Block SeparateBlock(const std::vector<std::string>& texts, const SymbolTable& table) {
  const auto count = static_cast<uint32_t>(texts.size());
  ByteWriter out, groups;
  out.PutFixed(FsstForm::kSeparate);
  out.PutVint(0);
  const size_t groups_begin = out.size() + FsstGroups(count) * sizeof(uint32_t);
  for (uint32_t group = 0; group < FsstGroups(count); ++group) {
    out.PutFixed(static_cast<uint32_t>(groups_begin + groups.size()));
    groups.PutFixed(static_cast<uint8_t>(8 | kFsstCodes));
    groups.PutVint(0);
    ByteWriter codes;
    for (uint32_t i = 0; i < FsstGroupCount(count, group); ++i) {
      const auto value = CompressValue(table, texts[group * kFsstGroupValues + i]);
      groups.PutFixed(static_cast<uint8_t>(value.size()));
      codes.PutBytes(value);
    }
    groups.PutBytes(codes.span());
  }
  out.PutBytes(groups.span());
  Block block;
  block.bytes.assign(out.span().begin(), out.span().end());
  block.count = count;
  block.encoding = Encoding::kFsst;
  const auto dictionary = std::make_shared<SymbolDictionary>();
  dictionary->table = table;
  block.dictionary = dictionary;
  return block;
}

FsstForm FormOf(const Block& block) { return static_cast<FsstForm>(block.bytes[0]); }

// Readers rely on this: all compressors take the longest symbol, also where a text ends.
TEST(FsstValues, TheLongestSymbolIsTaken) {
  for (const auto& texts : {ZeroTexts(3000), RandomUrls(300)}) {
    const SymbolTable table = TableFor(texts);
    const SymbolCompressor compressor(table);
    for (const std::string& text : texts) {
      std::vector<uint8_t> codes(SymbolCompressor::WorstBytes(text.size()));
      codes.resize(static_cast<size_t>(compressor.Compress(text, codes.data()) - codes.data()));
      ASSERT_EQ(codes, CompressValue(table, text));
    }
  }
  SymbolTable table;
  for (const char* const symbol : {"a", "abc", "ab", "abcd"}) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, symbol, std::strlen(symbol));
    table.Add(bytes, std::strlen(symbol));
  }
  EXPECT_EQ(CompressValue(table, "abcabcdxab"), (std::vector<uint8_t>{1, 3, kEscapeCode, 'x', 2}));
}

TEST(FsstValues, DecompressWithAnyPrefix) {
  for (const bool full : {false, true}) {
    std::vector<std::string> texts = full ? RandomUrls(2000) : ZeroTexts(2000);
    SymbolTable table = TableFor(texts);
    while (full && table.count < kMaxSymbols) table.Add(0x3131'3131 + (table.count << 8), 4);
    texts.insert(texts.begin(), {"", "\xfe", "\xff\xfe", std::string(100, '\xfd')});
    std::vector<uint8_t> codes;
    std::vector<uint64_t> starts = {0};
    size_t bytes = 0;
    for (const std::string& text : texts) {
      const auto some = CompressValue(table, text);
      codes.insert(codes.end(), some.begin(), some.end());
      starts.push_back(codes.size());
      bytes += text.size();
    }
    GuardedBytes code_room(codes.size()), room(bytes + 40 * texts.size() + kValueSlack);
    const auto guarded = code_room.Copy(codes);
    const std::string characters(64, 'p');
    for (const size_t prefix : {0, 1, 32, 33, 40}) {
      const auto to = room.Last<uint8_t>(bytes + prefix * texts.size() + kValueSlack);
      std::vector<std::string_view> out(texts.size());
      const uint8_t* const end = DecompressValues(
          table, std::string_view(characters).substr(0, prefix), guarded, starts, to.data(), out);
      ASSERT_EQ(end, to.data() + to.size() - kValueSlack);
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], characters.substr(0, prefix) + texts[i]) << i;
    }
  }
}

TEST(FsstValues, WrongCodesAreFound) {
  SymbolTable table;
  table.Add('a', 1);
  table.Add('b' | 'c' << 8, 2);
  const auto decompresses = [&](std::vector<uint8_t> codes, uint64_t first_size) {
    std::vector<uint8_t> to(8 * codes.size() + kValueSlack);
    std::string_view out[2];
    const uint64_t starts[] = {0, first_size, codes.size()};
    return DecompressValues(table, {}, codes, starts, to.data(), out) != nullptr;
  };
  EXPECT_TRUE(decompresses({0, 1, 255, 7, 0}, 1));
  EXPECT_FALSE(decompresses({0, 2, 0}, 1));
  EXPECT_FALSE(decompresses({0, 0, 255, 0}, 3));  // the byte after 255 is of the next value
  EXPECT_FALSE(decompresses({0, 0, 0, 255}, 1));
  EXPECT_FALSE(decompresses({0, 0, 0, 0, 0, 0, 0, 0, 254}, 1));
}

// Values in random order are stored one by one; sorted values are not, nor values of which front
// coding saves much.
TEST(FsstSeparate, TheEncoderChoosesTheForm) {
  const auto form = [](const std::vector<std::string>& texts) { return FormOf(EncodeOne(texts)); };
  EXPECT_EQ(form(RandomUrls(2000)), FsstForm::kSeparate);
  EXPECT_EQ(form(Urls(2000)), FsstForm::kFrontCoded);
  auto urls = Urls(2000);
  std::swap(urls[1000], urls[1001]);
  EXPECT_EQ(form(urls), FsstForm::kFrontCoded);
  urls.clear();
  for (const std::string& url : RandomUrls(1000)) {
    urls.push_back(url + "b");
    if (urls.size() % 3 == 1) urls.push_back(url + "a");
  }
  EXPECT_EQ(form(urls), FsstForm::kFrontCoded);
  EXPECT_EQ(form({"a"}), FsstForm::kFrontCoded);
  EXPECT_EQ(form({"a", "b"}), FsstForm::kFrontCoded);
  EXPECT_EQ(form({"b", "a"}), FsstForm::kSeparate);
  // The common prefix is stored once in form 2, too.
  const Block block = EncodeOne(RandomUrls(2000));
  FsstHeader header;
  ASSERT_TRUE(ParseFsstHeader(block.bytes, block.count, header).ok());
  EXPECT_EQ(AsString(header.common), "https://www.shop.example/");
  EXPECT_LT(block.bytes.size(), 2000u * 9);
  EXPECT_EQ(Decode(block).value(), RandomUrls(2000));
}

// The groups that the encoder tries share no prefixes; those between them do. So form 2 is larger
// than the encoder expects, and larger than the limit.
TEST(FsstSeparate, BlocksKeepTheLimit) {
  std::mt19937_64 random(9);
  std::vector<std::string> texts;
  for (int i = 0; i < 32 * 64; ++i) {
    std::string& text = texts.emplace_back();
    if (i / 64 % 2 == 1) text.assign(30, 's');
    while (text.size() < 40) text.push_back(static_cast<char>(random()));
  }
  for (const size_t limit : {75'000, 200'000}) {
    const auto blocks = EncodeAll(
        texts,
        {.block_size_bytes = 65'000, .max_dictionary_values = 0, .max_block_size_bytes = limit});
    ASSERT_EQ(blocks.size(), 1u);
    EXPECT_EQ(FormOf(blocks[0]), limit < 80'000 ? FsstForm::kFrontCoded : FsstForm::kSeparate);
    EXPECT_LE(blocks[0].bytes.size(), limit);
    EXPECT_EQ(Decode(blocks[0]).value(), texts);
  }
}

// One value, some values and packed values, of groups with codes and with text, empty and long.
TEST(FsstSeparate, ReadsFromAnyPosition) {
  std::mt19937_64 random(10);
  std::vector<std::string> texts = RandomUrls(300);
  for (int i = 0; i < 200; ++i) {  // text that is not compressed
    std::string& text = texts.emplace_back(random() % 30, '\0');
    for (char& byte : text) byte = static_cast<char>(random() | 0x80);
  }
  for (int i = 0; i < 100; ++i)
    texts.push_back(i % 30 == 7 ? std::string(300'000, 'w') : std::string(random() % 3, 'e'));
  const Block block = EncodeAll(texts, {.block_size_bytes = 8 << 20}).front();
  ASSERT_EQ(FormOf(block), FsstForm::kSeparate);
  ASSERT_EQ(block.count, texts.size());
  for (const size_t batch : {1, 50, 1000}) EXPECT_TRUE(Decode(block, batch).value() == texts);
  const auto decoder = DecoderOf(block);
  ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
  PackedStrings packed;
  for (int i = 0; i < 500; ++i) {
    const auto position = static_cast<uint32_t>(random() % texts.size());
    ASSERT_TRUE(decoder->SeekTo(position).ok());
    std::string_view value;
    ASSERT_EQ(decoder->Read({&value, 1}).value(), 1u);
    ASSERT_TRUE(value == texts[position]) << position;
    packed.Clear();
    const size_t read = decoder->ReadPacked(1 + random() % 100, packed).value();
    ASSERT_EQ(read == 0, position + 1 == texts.size());
    for (size_t k = 0; k < read; ++k) ASSERT_TRUE(packed[k] == texts[position + 1 + k]);
  }
}

// Equality compares codes, or text where a group is not compressed.
TEST(FsstSeparate, FindsEqualValues) {
  std::mt19937_64 random(12);
  std::vector<std::string> texts = RandomUrls(200);
  for (std::string& text : texts) text.erase(0, 20);
  for (const std::string& text : ZeroTexts(200)) texts.push_back(text);
  for (int i = 0; i < 130; ++i) {
    std::string& text = texts.emplace_back(5 + random() % 2, 'x');
    for (char& byte : text) byte = static_cast<char>(random() % 3 | 0xf0);
  }
  for (const std::string common : {"", "the prefix of all values "}) {
    std::vector<std::string> values;
    for (const std::string& text : texts) values.push_back(common + text);
    const Block block = EncodeOne(values);
    ASSERT_EQ(FormOf(block), FsstForm::kSeparate);
    std::vector<std::string> constants = {"",
                                          "t",
                                          common,
                                          common + "\xff",
                                          common + "absent",
                                          common + std::string(1000, '\0'),
                                          "other " + texts[0]};
    for (size_t i = 0; i < values.size(); i += 3) {
      constants.push_back(values[i]);
      constants.push_back(values[i] + "\xfe");
      if (values[i].empty()) continue;
      constants.push_back(values[i].substr(0, values[i].size() - 1));
      constants.push_back(values[i]);
      constants.back().back() ^= 1;  // same size
    }
    const auto decoder = DecoderOf(block);
    ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
    size_t found = 0;
    for (const std::string& constant : constants) {
      const auto begin = static_cast<uint32_t>(random() % 100);
      const size_t count = values.size() - begin - random() % 100;
      ASSERT_TRUE(decoder->SeekTo(begin).ok());
      std::vector<uint8_t> bits((count + 7) / 8, 0xee);
      ASSERT_TRUE(decoder->ReadMatches(constant, constant, count, bits.data()).value());
      EXPECT_EQ(decoder->position(), begin + count);
      for (size_t i = 0; i < count; ++i) {
        const bool equal = values[begin + i] == constant;
        found += equal;
        ASSERT_EQ((bits[i / 8] >> i % 8 & 1) != 0, equal) << constant << " at " << begin + i;
      }
    }
    EXPECT_GT(found, 200u);
    // A range of several values is left to the caller.
    ASSERT_TRUE(decoder->SeekTo(7).ok());
    uint8_t bits = 0xee;
    EXPECT_FALSE(decoder->ReadMatches("a", "b", 8, &bits).value());
    EXPECT_EQ(bits, 0xee);
    EXPECT_EQ(decoder->position(), 7u);
  }
}

// The encoder stores ascending values in form 1, but a reader searches any form.
TEST(FsstSeparate, FindsKeys) {
  for (const size_t count : {1, 64, 65, 1000}) {
    std::vector<std::string> texts = Urls(count);
    for (size_t i = 100; i < std::min<size_t>(count, 300); ++i) texts[i] = texts[100];
    std::vector<std::string> keys = {"", "h", "z"};
    for (size_t i = 0; i < texts.size(); i += 5) {
      keys.push_back(texts[i]);
      keys.push_back(texts[i] + "0");
      keys.push_back(texts[i].substr(0, texts[i].size() - 1));
    }
    const Block block = SeparateBlock(texts, TableFor(texts));
    const auto decoder = DecoderOf(block);
    ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
    EXPECT_EQ(decoder->BuildSeekIndex(), nullptr);
    for (const std::string& key : keys) {
      const auto expected = std::lower_bound(texts.begin(), texts.end(), key);
      const auto bound = decoder->SeekToKey(key);
      ASSERT_TRUE(bound.ok()) << bound.status();
      ASSERT_EQ(bound->position, expected - texts.begin()) << key;
      ASSERT_EQ(decoder->position(), bound->position);
      ASSERT_EQ(bound->exact, expected != texts.end() && *expected == key) << key;
    }
  }
}

TEST(FsstSeparate, SearchesNeedTheDictionary) {
  const std::vector<std::string> texts = RandomUrls(200);
  Block block = EncodeOne(texts);
  block.dictionary = nullptr;
  const auto decoder = DecoderOf(block);
  ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
  uint8_t bits[1];
  EXPECT_THAT(decoder->ReadMatches(texts[0], texts[0], 8, bits).status().ToString(),
              HasSubstr("there is no dictionary"));
}

}  // namespace cfile::encodings::fsst_separate_test
