// FSST: the kernels, and blocks of form 1: the choices of the encoder, searches, and damage. (See
// also fsst_separate_test.cc.) The tests of the registry check round trips, limits and damage of
// all kinds.
#include "encodings/own/fsst.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "encodings/kernels/front_coding.h"
#include "encodings/own/fsst_decoder.h"
#include "encodings/own/fsst_layout.h"
#include "gmock/gmock.h"
#include "tests/encodings/each_target.h"
#include "tests/encodings/fsst_testing.h"

namespace cfile::encodings::fsst_test {

using testing::HasSubstr;

std::string Decompress(const SymbolTable& table, std::span<const uint8_t> codes, size_t wanted) {
  std::string text(wanted + kDecompressSlack, '\0');
  auto* const begin = reinterpret_cast<uint8_t*>(text.data());
  uint8_t* end = begin;
  if (!DecompressSymbols(table, wanted, codes, end)) return "damaged";
  text.resize(static_cast<size_t>(end - begin));
  return text;
}

TEST(Symbols, CompressAndDecompress) {
  std::string sample;
  for (const std::string& url : Urls(300)) sample += url;
  const SymbolTable table = TrainSymbols(sample);
  EXPECT_LE(table.count, kMaxSymbols);
  const SymbolCompressor compressor(table);
  std::mt19937_64 random(7);
  std::string others;
  for (int i = 0; i < 3000; ++i) others.push_back(static_cast<char>(random()));
  GuardedBytes room(8192);
  // Bytes that are no symbols, among symbols.
  std::string mixed = sample.substr(0, 4000);
  for (size_t i = 0; i < mixed.size(); i += 1 + random() % 60) mixed[i] = '\xfe';
  for (const std::string& text : {sample.substr(0, 4000), others, mixed, std::string(3000, '\0')}) {
    for (size_t size = 0; size <= text.size(); size += size < 40 ? 1 : 511) {
      // Unmapped memory follows the text and the codes.
      const auto from = room.Copy(AsBytes(std::string_view(text).substr(0, size)));
      std::vector<uint8_t> codes(SymbolCompressor::WorstBytes(size));
      codes.resize(
          static_cast<size_t>(compressor.Compress(AsString(from), codes.data()) - codes.data()));
      const auto guarded = room.Copy(codes);
      ASSERT_EQ(Decompress(table, guarded, size), text.substr(0, size)) << size;
      ASSERT_THAT(Decompress(table, guarded, size / 2),
                  testing::StartsWith(text.substr(0, size / 2)));
    }
  }
}

TEST(Symbols, TwoTextsAreCompressedAsEachAlone) {
  std::string sample;
  for (const std::string& url : Urls(300)) sample += url;
  const SymbolCompressor compressor(TrainSymbols(sample));
  const size_t sizes[] = {0, 1, 7, 8, 9, 100, 1000};
  for (const size_t first : sizes) {
    for (const size_t second : sizes) {
      const std::string_view texts[2] = {std::string_view(sample).substr(0, first),
                                         std::string_view(sample).substr(1500, second)};
      std::vector<uint8_t> codes[2], alone[2];
      uint8_t* ends[2];
      for (size_t i = 0; i < 2; ++i) {
        codes[i].resize(SymbolCompressor::WorstBytes(texts[i].size()));
        alone[i] = codes[i];
        ends[i] = codes[i].data();
        alone[i].resize(
            static_cast<size_t>(compressor.Compress(texts[i], alone[i].data()) - alone[i].data()));
      }
      compressor.CompressTwo(texts, ends);
      for (size_t i = 0; i < 2; ++i) {
        codes[i].resize(static_cast<size_t>(ends[i] - codes[i].data()));
        EXPECT_EQ(codes[i], alone[i]) << first << " and " << second << " bytes";
      }
    }
  }
}

TEST(Symbols, TheTableIsMadeForTheSample) {
  std::string sample;
  for (const std::string& url : Urls(300)) sample += url;
  const SymbolTable table = TrainSymbols(sample);
  std::vector<uint8_t> codes(SymbolCompressor::WorstBytes(sample.size()));
  const uint8_t* const end = SymbolCompressor(table).Compress(sample, codes.data());
  EXPECT_LT(static_cast<size_t>(end - codes.data()), sample.size() / 3);
  // The same sample gives the same table; no sample gives an empty one.
  const SymbolTable again = TrainSymbols(sample);
  EXPECT_TRUE(std::equal(std::begin(table.symbols), std::end(table.symbols), again.symbols));
  EXPECT_EQ(TrainSymbols("").count, 0u);
}

TEST(Symbols, DecompressionFindsWrongCodes) {
  SymbolTable table;
  table.Add('a', 1);
  table.Add('b' | 'c' << 8, 2);
  EXPECT_EQ(Decompress(table, std::vector<uint8_t>{0, 1, 255, 7}, 4), "abc\7");
  EXPECT_EQ(Decompress(table, std::vector<uint8_t>{0, 2}, 4), "damaged");
  EXPECT_EQ(Decompress(table, std::vector<uint8_t>{0, 255}, 4), "damaged");
  const std::vector<uint8_t> many = {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 255};
  EXPECT_EQ(Decompress(table, many, 4), "damaged");
  EXPECT_EQ(Decompress(table, std::span(many).subspan(8), 8), "damaged");
}

TEST(FrontCoding, JoinsStringsOfAllSizes) {
  std::mt19937_64 random(4);
  std::vector<uint8_t> suffixes(64);  // readable bytes before the suffixes
  std::vector<uint32_t> shared, unshared;
  std::vector<std::string> expected;
  std::string value = "the string before";
  std::vector<uint8_t> previous(value.begin(), value.end());
  previous.resize(64);
  size_t bytes = 0;
  for (int i = 0; i < 500; ++i) {
    shared.push_back(static_cast<uint32_t>(random() % (value.size() + 1)));
    unshared.push_back(static_cast<uint32_t>(random() % (65 - shared.back())));
    value.resize(shared.back());
    for (uint32_t j = 0; j < unshared.back(); ++j) value.push_back(static_cast<char>(random()));
    suffixes.insert(suffixes.end(), value.end() - unshared.back(), value.end());
    expected.push_back(value);
    bytes += value.size();
  }
  suffixes.resize(suffixes.size() + 64);
  GuardedBytes room(bytes + 64);
  WithEachTarget([&] {
    std::vector<std::string_view> out(expected.size());
    JoinShortStrings(shared.data(), unshared.data(), previous.data(), suffixes.data() + 64,
                     room.Last<uint8_t>(bytes + 64).data(), out);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], expected[i]) << i;
  });
}

TEST(FrontCoding, CompletesSizesOfAnyWidth) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 3000; ++round) {
    FrontCodedSizes sizes{.count = 1 + random() % 64, .bits = std::array{5, 23, 24, 32}[round % 4]};
    const auto at_most = [&](uint64_t most) {  // often the greatest number
      return static_cast<uint32_t>(random() % 3 == 0 ? most : random() % (most + 1));
    };
    const uint64_t most = (uint64_t{1} << sizes.bits) - 1;
    const uint64_t most_of_all = random() % 2 == 0 ? (1 << 23) - 1 : UINT32_MAX;
    sizes.first = at_most(most_of_all);
    sizes.least_shared = at_most(random() % 2 == 0 ? 0 : most_of_all);
    sizes.least_suffix = at_most(random() % 2 == 0 ? 0 : most_of_all);
    sizes.common = at_most(random() % 2 == 0 ? 0 : most_of_all);
    uint32_t shared[64], suffixes[64];
    for (size_t i = 0; i < sizes.count; ++i) {
      shared[i] = at_most(random() % 2 == 0 ? 0 : most);
      suffixes[i] = at_most(most);
    }
    bool sound = true;
    uint64_t used = sizes.first, longest = sizes.first, previous = sizes.first;
    for (size_t i = 1; i < sizes.count; ++i) {
      const uint64_t shared_size = uint64_t{shared[i]} + sizes.least_shared;
      const uint64_t suffix = uint64_t{suffixes[i]} + sizes.least_suffix;
      sound = sound && shared_size <= previous;
      previous = shared_size + suffix;
      longest = std::max(longest, previous);
      used += suffix;
    }
    WithEachTarget([&] {
      uint32_t shared_out[64], suffixes_out[64];
      std::copy_n(shared, sizes.count, shared_out);
      std::copy_n(suffixes, sizes.count, suffixes_out);
      const FrontCodedSums sums = CompleteSizes(sizes, shared_out, suffixes_out);
      ASSERT_EQ(sums.sound, sound);
      ASSERT_EQ(sums.used, used);
      ASSERT_EQ(sums.longest, longest + sizes.common);
      for (size_t i = 1; i < sizes.count; ++i) {
        const uint64_t shared_size = uint64_t{shared[i]} + sizes.least_shared + sizes.common;
        ASSERT_EQ(shared_out[i], static_cast<uint32_t>(shared_size));
        ASSERT_EQ(suffixes_out[i], suffixes[i] + sizes.least_suffix);
      }
    });
  }
}

// Blocks of equal values have no text from which a table could be made.
TEST(Fsst, TheTableIsMadeFromTheFirstBlockWithText) {
  for (const auto& urls : {Urls(5000), RandomUrls(5000)}) {
    std::vector<std::string> texts(20'000, "unknown");
    texts.insert(texts.end(), urls.begin(), urls.end());
    const auto blocks = EncodeAll(texts, {.block_size_bytes = 4096});
    std::vector<std::string> decoded;
    size_t bytes = 0;
    for (const Block& block : blocks) {
      bytes += block.bytes.size();
      const auto values = Decode(block);
      ASSERT_TRUE(values.ok()) << values.status();
      decoded.insert(decoded.end(), values->begin(), values->end());
    }
    EXPECT_EQ(decoded, texts);
    EXPECT_GT(blocks[0].dictionary_bytes->size(), 1000u);
    size_t bytes_alone = 0;
    for (const Block& block : EncodeAll(urls, {.block_size_bytes = 4096}))
      bytes_alone += block.bytes.size();
    EXPECT_LT(bytes, bytes_alone + 20'000 / 4);  // groups of equal values take a few bytes each
  }
}

TEST(Fsst, SmallBlocksAreSmall) {
  EXPECT_EQ(EncodeOne({}).bytes.size(), 0u);
  EXPECT_EQ(EncodeOne({}).dictionary_bytes, nullptr);
  EXPECT_EQ(EncodeOne({"a"}).bytes.size(), 12u);
  EXPECT_EQ(EncodeOne(std::vector<std::string>(64, "same")).bytes.size(), 15u);
}

// The sizes that the format promises: of URLs, about as many bytes as their digits need.
TEST(Fsst, CompressesSuffixes) {
  const auto urls = Urls(20'000);
  size_t bytes = 0;
  std::vector<std::string> decoded;
  for (const Block& block : EncodeAll(urls)) {
    bytes += block.bytes.size();
    const auto values = Decode(block);
    ASSERT_TRUE(values.ok()) << values.status();
    decoded.insert(decoded.end(), values->begin(), values->end());
  }
  EXPECT_EQ(decoded, urls);
  EXPECT_LT(bytes, urls.size() * 4);
}

// A reader has the same limits as the writer.
TEST(Fsst, TheTableKeepsTheLimitsOfDictionaries) {
  const auto urls = Urls(2000);
  size_t most_bytes = 0;
  for (const size_t max_values : {0, 1, 20, 300}) {
    for (const size_t max_bytes : {2, 30, 600, 1 << 20}) {
      const auto blocks =
          EncodeAll(urls, {.max_dictionary_bytes = max_bytes, .max_dictionary_values = max_values});
      ASSERT_EQ(blocks.size(), 1u);
      const std::vector<uint8_t>& bytes = *blocks[0].dictionary_bytes;
      EXPECT_LE(bytes.size(), max_bytes);
      EXPECT_TRUE(LoadDictionary(Encoding::kFsst, PhysicalType::kBytes, 0, bytes, max_values).ok());
      EXPECT_EQ(Decode(blocks[0]).value(), urls);
      most_bytes = std::max(most_bytes, bytes.size());
    }
  }
  EXPECT_GT(most_bytes, 600u);
}

// The table of the first block is the table of the file. Later values that it does not fit are
// stored as they are, so that blocks never grow.
TEST(Fsst, LaterBlocksKeepTheTable) {
  std::vector<std::string> texts = Urls(5000);
  std::mt19937_64 random(5);
  size_t random_bytes = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string& text = texts.emplace_back();
    for (int j = 0; j < 40; ++j) text.push_back(static_cast<char>(random() | 0x80));
    random_bytes += text.size();
  }
  std::vector<std::string> decoded;
  size_t bytes = 0;
  for (const Block& block : EncodeAll(texts, {.block_size_bytes = 8192})) {
    bytes += block.bytes.size();
    const auto values = Decode(block, 7);
    ASSERT_TRUE(values.ok()) << values.status();
    decoded.insert(decoded.end(), values->begin(), values->end());
  }
  EXPECT_EQ(decoded, texts);
  EXPECT_LT(bytes, random_bytes + 2000 + 5000 * 5);
}

// Long values, and values that share much: Read returns fewer of them at a time.
TEST(Fsst, ReadsLongValues) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i)
    texts.push_back(std::string(50'000, 'x') + std::to_string(1000 + i / 3));
  texts.push_back(std::string(100, 'y'));
  texts.push_back("z");
  for (const size_t batch : {1u, 3u, 1000u})
    EXPECT_EQ(Decode(EncodeOne(texts), batch).value(), texts);
  EXPECT_LT(EncodeOne(texts).bytes.size(), 60'000u);
}

// Seeks with and without an index, of present keys, of keys between them, and before and after all.
void FindKeys(const std::vector<std::string>& urls) {
  const Block block = EncodeOne(urls);
  std::vector<std::string> keys = {"", "h", "https://www.shop.example/", "https://www.shop.f", "z"};
  for (size_t i = 0; i < urls.size(); i += 7) {
    keys.push_back(urls[i]);
    keys.push_back(urls[i] + "0");
    keys.push_back(urls[i].substr(0, urls[i].size() - 1));
  }
  const auto decoder = DecoderOf(block);
  BlockView view = GuardedView(block);
  ASSERT_TRUE(decoder->Open(view).ok());
  const auto index = decoder->BuildSeekIndex();
  ASSERT_NE(index, nullptr);
  for (const SeekIndex* each : {static_cast<const SeekIndex*>(nullptr), index.get()}) {
    view.seek_index = each;
    ASSERT_TRUE(decoder->Open(view).ok());
    std::vector<LowerBound> bounds(keys.size());
    ASSERT_TRUE(decoder->SeekToKeys(Views(keys), bounds).ok());
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto expected = std::lower_bound(urls.begin(), urls.end(), keys[i]);
      const auto found = decoder->SeekToKey(keys[i]);
      ASSERT_TRUE(found.ok()) << found.status();
      for (const LowerBound& bound : {*found, bounds[i]}) {
        ASSERT_EQ(bound.position, expected - urls.begin()) << keys[i];
        ASSERT_EQ(bound.exact, expected != urls.end() && *expected == keys[i]) << keys[i];
      }
      std::string_view value;
      ASSERT_EQ(decoder->Read({&value, 1}).value(), expected == urls.end() ? 0u : 1u);
      if (expected != urls.end()) {
        ASSERT_EQ(value, *expected);
      }
    }
  }
  size_t known = 0;
  for (const FsstGroupSteps& group : dynamic_cast<const FsstSeekIndex&>(*index).groups)
    known += group.state.load() == FsstGroupSteps::State::kKnown ? 1 : 0;
  EXPECT_GT(known, 0);

  // A search begins in the group of the last value that is less than the key. FindPart does not see
  // it if the heads of first keys are equal.
  size_t right = 0;
  index->PrefetchKeys(view.bytes);
  for (const std::string& key : keys) {
    const auto at = std::lower_bound(urls.begin(), urls.end(), key) - urls.begin();
    const uint32_t part = index->FindPart(key);
    ASSERT_LT(part, FsstGroups(static_cast<uint32_t>(urls.size())));
    index->PrefetchPart(part, key, view.bytes);
    right += part == (at == 0 ? 0 : (at - 1) / kFsstGroupValues) ? 1 : 0;
  }
  EXPECT_GE(right, keys.size() / 3);
}

TEST(Fsst, FindsKeys) {
  std::vector<std::string> urls = Urls(3000);
  for (size_t i = 1000; i < 1200; ++i) urls[i] = urls[1000];  // equal values over several groups
  FindKeys(urls);
}

TEST(Fsst, FindsKeysThatEndInHeads) {
  std::mt19937_64 random(5);
  const std::string parts[] = {"a", std::string(1, '\0'), "shop.example/apples/", "\xff\xff"};
  std::vector<std::string> values(2000);
  for (std::string& value : values) {
    for (size_t i = random() % 7; i > 0; --i) value += parts[random() % std::size(parts)];
  }
  std::sort(values.begin(), values.end());
  FindKeys(values);
}

// A block of form 1, open in a decoder that has its seek index.
class IndexedBlock {
 public:
  explicit IndexedBlock(const std::vector<std::string>& values)
      : block_(EncodeOne(values)), decoder_(DecoderOf(block_)), view_(GuardedView(block_)) {
    EXPECT_EQ(block_.bytes[0], static_cast<uint8_t>(FsstForm::kFrontCoded));
    EXPECT_TRUE(decoder_->Open(view_).ok());
    index_ = decoder_->BuildSeekIndex();
    EXPECT_NE(index_, nullptr);
    view_.seek_index = index_.get();
    EXPECT_TRUE(decoder_->Open(view_).ok());
  }

  const Block& block() const { return block_; }
  const BlockView& view() const { return view_; }
  const SeekIndex& index() const { return *index_; }
  BlockDecoder<std::string_view>& decoder() { return *decoder_; }

 private:
  const Block block_;
  const std::unique_ptr<BlockDecoder<std::string_view>> decoder_;
  BlockView view_;
  std::unique_ptr<const SeekIndex> index_;
};

// The values of a damaged file may not ascend, although the file has a value index.
TEST(Fsst, SearchesOfValuesThatDoNotAscendAreHarmless) {
  std::mt19937_64 random(11);
  const std::string starts[] = {"a", "abc", std::string("abc\0\0\0\0\0x", 9), "zzz", ""};
  for (int round = 0; round < 20; ++round) {
    // Neighbours share long prefixes, so that the encoder takes form 1.
    std::vector<std::string> values;
    while (values.size() < 1500) {
      std::string value = starts[random() % std::size(starts)];
      for (size_t i = random() % 40; i > 0; --i) values.push_back(value += "abc"[random() % 3]);
    }
    IndexedBlock indexed(values);
    for (int search = 0; search < 3000; ++search) {
      const std::string& value = values[random() % values.size()];
      const std::string key = value.substr(0, random() % (value.size() + 1));
      const uint32_t part = indexed.index().FindPart(key);
      ASSERT_LT(part, FsstGroups(indexed.block().count));
      indexed.index().PrefetchPart(part, key, indexed.view().bytes);
      const auto found = indexed.decoder().SeekToKey(key);
      ASSERT_TRUE(found.ok()) << found.status();
      ASSERT_LE(found->position, indexed.block().count);
    }
  }
}

// The steps of a group say that value 16 is less than the key, but also that it begins with the
// same 8 bytes, of which the key has only 3.
TEST(Fsst, StepsThatDoNotAscendAreHarmless) {
  std::vector<std::string> values(130);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i < 32 ? std::string("abc\0\0\0\0\0", 8) : i < 48 ? "a" : "zzz";
    values[i] += std::string(100, 'x') + std::to_string(i);
  }
  values[17] = std::string("abc\0\0y", 6);
  values[32] = "a";
  IndexedBlock indexed(values);
  for (int search = 0; search < 3; ++search) {
    const auto found = indexed.decoder().SeekToKey("abc");
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_LE(found->position, values.size());
  }
}

// The middle first keys do not have the prefix that the first and the last one share. So a search
// finds a group after which the values are less than the key again.
TEST(Fsst, SearchesOfValuesThatDoNotAscendEndSoon) {
  std::vector<std::string> values;
  for (size_t group = 0; group < 21; ++group) {
    const std::string start = group == 0 ? "a0" : group == 1 ? "zA" : group == 20 ? "zC" : "a\xff";
    for (size_t i = 0; i < kFsstGroupValues; ++i)
      values.push_back(start + std::string(60, 'x') + std::to_string(100 + i));
  }
  IndexedBlock indexed(values);
  for (int search = 0; search < 3; ++search) {
    const auto found = indexed.decoder().SeekToKey("zB");
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->position, 2 * kFsstGroupValues);
  }
}

// The file may change after the index was made.
TEST(Fsst, SearchesOfChangedBlocksAreHarmless) {
  const std::vector<std::string> urls = Urls(400);
  IndexedBlock indexed(urls);
  BlockDecoder<std::string_view>& decoder = indexed.decoder();
  for (const std::string& url : urls) ASSERT_TRUE(decoder.SeekToKey(url).ok());
  size_t errors = 0;
  for (size_t i = 0; i < indexed.block().bytes.size(); ++i) {
    Block changed = indexed.block();
    changed.bytes[i] ^= 0xff;
    BlockView changed_view = GuardedView(changed);
    changed_view.seek_index = &indexed.index();
    if (!decoder.Open(changed_view).ok()) continue;
    for (size_t k = 0; k < urls.size(); k += 37) {
      const auto found = decoder.SeekToKey(urls[k]);
      errors += found.ok() ? 0 : 1;
      EXPECT_LE(found.ok() ? found->position : 0, urls.size());
    }
  }
  EXPECT_GT(errors, 0);
}

// Sizes are checked with 32 bits if they are small, and with 64 bits if they are not.
TEST(Fsst, SizesOfAnyWidthAreChecked) {
  const auto status = [](uint32_t first, uint32_t least_shared, uint32_t least_suffix) {
    ByteWriter bytes;
    bytes.PutFixed(FsstForm::kFrontCoded);
    bytes.PutVint(0);             // no common prefix
    bytes.PutFixed(uint32_t{6});  // where the group begins
    bytes.PutFixed(uint16_t{0});  // two widths; no codes
    for (const uint32_t size : {first, least_shared, least_suffix}) bytes.PutVint(size);
    bytes.PutBytes("abc");
    Block block;
    block.bytes.assign(bytes.span().begin(), bytes.span().end());
    block.count = 2;
    return Decode(block).status().ToString();
  };
  EXPECT_EQ(status(3, 2, 0), "OK");
  EXPECT_EQ(status(2, 2, 1), "OK");
  for (const uint32_t large : {4u, (1u << 23) - 1, 1u << 23, 1u << 31, UINT32_MAX}) {
    EXPECT_THAT(status(3, large, 0), HasSubstr("a value shares more bytes than the value b"));
    EXPECT_THAT(status(large, 0, 0), HasSubstr("bytes of text cannot have as many"));
    EXPECT_THAT(status(3, 0, large), HasSubstr("bytes of text cannot have as many"));
  }
  EXPECT_THAT(status(2, 0, 0), HasSubstr("suffixes have 2 bytes, but it has 3 bytes of text"));
  const std::string longest(9 << 20, 'a');
  const std::vector<std::string> texts = {"b", longest, longest + "b", longest + "bc", "c"};
  const auto blocks = EncodeAll(texts, {.block_size_bytes = 64 << 20});
  ASSERT_EQ(blocks.size(), 1u);
  const auto decoded = Decode(blocks[0]);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(*decoded == texts);
}

TEST(Fsst, DamagedTablesAreNamed) {
  const auto load = [](std::vector<std::string> symbols, size_t cut = 0) {
    ByteWriter bytes;
    bytes.PutVint(symbols.size());
    for (const std::string& symbol : symbols) {
      bytes.PutFixed(static_cast<uint32_t>(symbol.size()));
      bytes.PutBytes(symbol);
    }
    bytes.Truncate(bytes.size() - cut);
    return LoadDictionary(Encoding::kFsst, PhysicalType::kBytes, 0, bytes.span()).status();
  };
  EXPECT_TRUE(load({"a", "abcdefgh"}).ok());
  EXPECT_TRUE(load({}).ok());
  EXPECT_THAT(load({"a", ""}).ToString(), HasSubstr("symbol 1 has 0 bytes, expected 1 to 8"));
  EXPECT_THAT(load({"abcdefghi"}).ToString(), HasSubstr("symbol 0 has 9 bytes, expected 1 to 8"));
  EXPECT_THAT(load(std::vector<std::string>(256, "a")).ToString(),
              HasSubstr("a table of 256 symbols, expected at most 255"));
  EXPECT_EQ(load({"a", "b"}, 1).code(), absl::StatusCode::kDataLoss);
}

// Decoders of other encodings do not take a symbol table for their dictionary, and the reverse.
TEST(Fsst, OtherDictionariesAreNotTaken) {
  const Block block = EncodeOne(Urls(100));
  for (const EncodingRow& row : Encodings()) {
    if (!row.Supports(PhysicalType::kBytes)) continue;
    DecoderOptions options;
    options.dictionary = block.dictionary;
    const auto decoder =
        MakeDecoder<std::string_view>(row.encoding, PhysicalType::kBytes, options).value();
    EXPECT_TRUE(decoder->DictionaryValues().empty());
  }
  const std::string_view value = "value";
  const auto others = Encode<std::string_view>({Encoding::kParquetDictionary, PhysicalType::kBytes},
                                               std::vector<std::string_view>(1000, value), {});
  Block other = block;
  other.dictionary = others.front().dictionary;
  ASSERT_NE(other.dictionary, nullptr);
  EXPECT_THAT(Decode(other).status().ToString(), HasSubstr("but there is no dictionary"));
}

}  // namespace cfile::encodings::fsst_test
