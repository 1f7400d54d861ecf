#include "encodings/parquet/parquet_dictionary.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/parquet.h"
#include "encodings/parquet/parquet_plain.h"
#include "encodings/registry.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::parquet_dictionary_test {

template <typename P>
struct File {
  std::vector<EncodedBlock> blocks;
  ByteWriter dictionary;
  bool has_dictionary = false;

  size_t bytes() const {
    size_t bytes = dictionary.size();
    for (const EncodedBlock& block : blocks) bytes += block.bytes.size() + block.skip_table.size();
    return bytes;
  }
};

template <typename P>
File<P> Write(const std::vector<std::vector<P>>& blocks, EncoderOptions options = {}) {
  File<P> file;
  const auto encoder = ParquetDictionaryCodec::MakePageEncoder<P>(options);
  for (const auto& values : blocks) {
    EncodedBlock& block = file.blocks.emplace_back();
    encoder->Encode(values, block);
    block.count = static_cast<uint32_t>(values.size());
  }
  file.has_dictionary = encoder->FinishDictionary(file.dictionary);
  return file;
}

template <typename P>
size_t PlainBytes(const std::vector<std::vector<P>>& blocks, uint32_t type_length = 0) {
  size_t bytes = 0;
  for (const auto& values : blocks) {
    EncodedBlock block;
    ParquetPlainCodec::MakePageEncoder<P>({.type_length = type_length})->Encode(values, block);
    bytes += block.bytes.size();
  }
  return bytes;
}

// EXPECTs that all blocks decode to their values, from the start and after seeks, and that the
// dictionary does not make the file larger than PLAIN.
template <typename P>
void ExpectReadsBack(const File<P>& file, const std::vector<std::vector<P>>& blocks,
                     PhysicalType type, uint32_t type_length = 0) {
  EXPECT_LE(file.bytes(), PlainBytes(blocks, type_length) + blocks.size());
  std::shared_ptr<const Dictionary> dictionary;
  if (file.has_dictionary) {
    dictionary =
        LoadDictionary(Encoding::kParquetDictionary, type, type_length, file.dictionary.span())
            .value();
  }
  std::mt19937_64 random(3);
  for (size_t b = 0; b < blocks.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "block " << b);
    const EncodedBlock& block = file.blocks[b];
    const std::vector<P>& values = blocks[b];
    DecoderOptions options(type_length);
    options.dictionary = dictionary;
    const Encoding encoding =
        block.encoding == Encoding::kAuto ? Encoding::kParquetDictionary : block.encoding;
    const auto decoder = MakeDecoder<P>(encoding, type, options).value();
    ASSERT_TRUE(decoder->Open(BlockView(block, 0)).ok());
    const auto out = std::make_unique<P[]>(kMaxBatchValues);
    const auto same = [](const P& a, const P& c) {
      if constexpr (std::is_same_v<P, double>) {
        return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(c);
      } else {
        return a == c;
      }
    };
    for (int pass = 0; pass < 20; ++pass) {
      uint32_t position = pass == 0 ? 0 : static_cast<uint32_t>(random() % (values.size() + 1));
      ASSERT_TRUE(decoder->SeekTo(position).ok());
      const size_t batch = pass == 0 ? kMaxBatchValues : 1 + random() % 3000;
      while (position < values.size()) {
        const size_t read = decoder->Read({out.get(), batch}).value();
        ASSERT_GT(read, 0u);
        for (size_t i = 0; i < read; ++i)
          ASSERT_TRUE(same(out[i], values[position + i])) << "value " << position + i;
        position += static_cast<uint32_t>(read);
        if (pass > 0) break;
      }
    }
  }
}

std::vector<int64_t> Numbers(size_t count, uint64_t distinct, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> values(count);
  for (int64_t& value : values) value = static_cast<int64_t>(seed << 40 | random() % distinct) - 50;
  return values;
}

TEST(ParquetDictionary, CodesAreInFirstSeenOrder) {
  std::vector<int32_t> values;
  for (int i = 0; i < 100; ++i) values.insert(values.end(), {30, 10, 20});
  const std::vector<std::vector<int32_t>> blocks = {values};
  const auto file = Write(blocks);
  ASSERT_TRUE(file.has_dictionary);
  const uint8_t dictionary[] = {3, 30, 0, 0, 0, 10, 0, 0, 0, 20, 0, 0, 0};
  EXPECT_EQ(file.dictionary.view(), AsString(dictionary));
  EXPECT_EQ(file.blocks[0].bytes.data()[0], 2) << "width";
  EXPECT_EQ(file.blocks[0].encoding, Encoding::kAuto);
  ExpectReadsBack(file, blocks, PhysicalType::kInt32);
}

TEST(ParquetDictionary, OneValueHasCodesOfNoBits) {
  const std::vector<std::vector<int64_t>> blocks = {std::vector<int64_t>(100'000, 7), {7, 7, 7}};
  const auto file = Write(blocks);
  ASSERT_TRUE(file.has_dictionary);
  EXPECT_EQ(file.blocks[0].bytes.data()[0], 0);
  EXPECT_LE(file.blocks[0].bytes.size(), 5u);
  ExpectReadsBack(file, blocks, PhysicalType::kInt64);
}

TEST(ParquetDictionary, FallsBackPerBlockWhenTheLimitIsReached) {
  std::vector<std::vector<int64_t>> blocks;
  for (uint64_t b = 0; b < 6; ++b) blocks.push_back(Numbers(20'000, 100, b + 1));
  blocks.push_back(blocks[0]);
  const auto file = Write(blocks, {.max_dictionary_bytes = 250 * sizeof(int64_t)});
  ASSERT_TRUE(file.has_dictionary);
  for (size_t b = 0; b < blocks.size(); ++b) {
    // The dictionary has room for two blocks; the last block needs no new values.
    EXPECT_EQ(file.blocks[b].encoding,
              b < 2 || b == 6 ? Encoding::kAuto : Encoding::kParquetDeltaBinaryPacked);
  }
  EXPECT_LE(file.dictionary.size(), 250 * sizeof(int64_t) + 2);
  ExpectReadsBack(file, blocks, PhysicalType::kInt64);
}

TEST(ParquetDictionary, ABlockThatDoesNotPayLeavesNothingBehind) {
  std::vector<std::vector<int64_t>> blocks = {
      Numbers(20'000, 100, 1), Numbers(20'000, uint64_t{1} << 39, 2), Numbers(20'000, 100, 1)};
  const auto with = Write(blocks);
  EXPECT_EQ(with.blocks[1].encoding, Encoding::kParquetDeltaBinaryPacked);
  EXPECT_EQ(with.blocks[2].encoding, Encoding::kAuto);
  ExpectReadsBack(with, blocks, PhysicalType::kInt64);
  const auto without = Write<int64_t>({blocks[0], blocks[2]});
  EXPECT_EQ(with.dictionary.view(), without.dictionary.view());
  EXPECT_EQ(with.blocks[2].bytes.view(), without.blocks[1].bytes.view());
}

TEST(ParquetDictionary, NoBlockNeedsIt) {
  const std::vector<std::vector<int64_t>> blocks = {Numbers(5'000, uint64_t{1} << 39, 1), {}, {5}};
  const auto file = Write(blocks);
  EXPECT_FALSE(file.has_dictionary);
  EXPECT_TRUE(file.dictionary.empty());
  ExpectReadsBack(file, blocks, PhysicalType::kInt64);
  EXPECT_FALSE(Write<int64_t>({}).has_dictionary);
  EXPECT_FALSE(Write<int64_t>({{}, {}}).has_dictionary);
}

TEST(ParquetDictionary, ABlockWithoutCodesTakesTheSmallerEncoding) {
  const auto check = [](const auto& values, PhysicalType type, uint32_t length, Encoding expected) {
    const std::vector<std::decay_t<decltype(values)>> blocks = {values};
    const auto file = Write(blocks, {.type_length = length});
    EXPECT_EQ(file.blocks[0].encoding, expected) << PhysicalTypeName(type);
    EXPECT_EQ(file.blocks[0].skip_table.empty(), expected == Encoding::kParquetPlain);
    ExpectReadsBack(file, blocks, type, length);
  };
  std::mt19937_64 random(6);
  std::vector<int32_t> rising, wild;
  std::vector<double> doubles;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) {
    rising.push_back(3 * i);
    wild.push_back(static_cast<int32_t>(random()));
    doubles.push_back(std::bit_cast<double>(random() >> 2));
    texts.push_back(std::to_string(1'000'000 + i));
  }
  const std::vector<std::string_view> strings(texts.begin(), texts.end());
  check(rising, PhysicalType::kInt32, 0, Encoding::kParquetDeltaBinaryPacked);
  check(wild, PhysicalType::kInt32, 0, Encoding::kParquetPlain);
  check(doubles, PhysicalType::kDouble, 0, Encoding::kParquetPlain);
  check(strings, PhysicalType::kBytes, 0, Encoding::kParquetDeltaLengthByteArray);
  check(strings, PhysicalType::kFixedBytes, 7, Encoding::kParquetPlain);
}

// For any mix of blocks, the file is not larger than with PLAIN. (ExpectReadsBack compares the
// sizes.)
TEST(ParquetDictionary, NeverCostsMoreThanPlain) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<int64_t>> blocks;
    for (uint64_t b = 0; b < 1 + random() % 6; ++b)
      blocks.push_back(Numbers(random() % 300, 1 + random() % 200, random() % 3));
    const auto file = Write(blocks, {.max_dictionary_bytes = random() % 2000});
    ExpectReadsBack(file, blocks, PhysicalType::kInt64);
    if (HasFatalFailure()) return;
  }
}

TEST(ParquetDictionary, Bytes) {
  std::mt19937_64 random(5);
  std::vector<std::string> words = {""};
  for (size_t i = 0; i < 3000; ++i)
    words.push_back(std::string(random() % 40, static_cast<char>('a' + i % 7)) + std::to_string(i));
  std::vector<std::vector<std::string_view>> blocks(3);
  for (auto& values : blocks)
    for (size_t i = 0; i < 30'000; ++i) values.push_back(words[random() % words.size()]);
  const auto file = Write(blocks);
  EXPECT_TRUE(file.has_dictionary);
  ExpectReadsBack(file, blocks, PhysicalType::kBytes);

  blocks.assign(2, {});
  for (auto& values : blocks)
    for (size_t i = 0; i < 3'000; ++i) values.push_back(i % 3 == 0 ? "abc" : "xyz");
  const auto fixed = Write(blocks, {.type_length = 3});
  EXPECT_EQ(fixed.dictionary.view(),
            "\x02"
            "abcxyz");
  ExpectReadsBack(fixed, blocks, PhysicalType::kFixedBytes, 3);
}

TEST(ParquetDictionary, FloatsAreToldApartByTheirBits) {
  std::vector<double> values;
  const double nan = std::bit_cast<double>(uint64_t{0x7ff8000000000007});
  for (int i = 0; i < 1000; ++i) values.insert(values.end(), {0.0, -0.0, std::nan(""), nan, 1e300});
  const std::vector<std::vector<double>> blocks = {values};
  const auto file = Write(blocks);
  ASSERT_TRUE(file.has_dictionary);
  EXPECT_EQ(file.dictionary.size(), 1 + 5 * sizeof(double));
  ExpectReadsBack(file, blocks, PhysicalType::kDouble);
}

// Decodes pages of codes of each width from 0 to 32, with repeated runs and literal runs. Width 33
// is refused.
void CheckAllWidths() {
  const uint8_t page[] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
  const auto dictionary = ReadParquetDictionaryPage(PhysicalType::kInt32, 0, 3, page).value();
  for (int width = 0; width <= 33; ++width) {
    SCOPED_TRACE(testing::Message() << "width " << width);
    const uint32_t top = width == 0 ? 0 : width == 1 ? 1 : 2;
    ByteWriter bytes;
    bytes.PutFixed(static_cast<uint8_t>(width));
    RleHybridEncoder hybrid(std::min(width, 32), false);
    std::vector<int32_t> expected;
    std::mt19937_64 random(1);
    for (int i = 0; i < 300; ++i) {
      const uint64_t code = random() % (top + 1);
      const uint64_t count = random() % 20 == 0 ? 1 + random() % 50 : 1;
      hybrid.PutRun(code, count);
      expected.insert(expected.end(), count, static_cast<int32_t>(code) + 1);
    }
    hybrid.Finish(bytes, LastGroup::kWhole);
    BlockView view(bytes.span());
    view.count = static_cast<uint32_t>(expected.size());
    const auto decoder = ParquetDictionaryCodec::MakePageDecoder<int32_t>({0, dictionary});
    const absl::Status opened = decoder->Open(view);
    ASSERT_EQ(opened.ok(), width <= 32) << opened;
    if (width > 32) break;
    for (uint32_t position = 0; position < view.count; ++position) {
      std::vector<int32_t> out(1 + position % 70);
      ASSERT_TRUE(decoder->SeekTo(position).ok());
      const size_t read = decoder->Read(out).value();
      ASSERT_EQ(read, std::min<size_t>(out.size(), view.count - position));
      ASSERT_TRUE(std::equal(out.begin(), out.begin() + static_cast<ptrdiff_t>(read),
                             expected.begin() + position));
    }
  }
}

TEST(ParquetDictionary, AllWidthsWithAllTargets) { WithEachTarget(CheckAllWidths); }

TEST(ParquetDictionary, DamageIsReported) {
  const auto load = [](PhysicalType type, uint32_t length, std::vector<uint8_t> bytes) {
    return LoadDictionary(Encoding::kParquetDictionary, type, length, bytes).status().code();
  };
  constexpr auto kLoss = absl::StatusCode::kDataLoss;
  EXPECT_EQ(load(PhysicalType::kInt32, 0, {}), kLoss);
  EXPECT_EQ(load(PhysicalType::kInt32, 0, {2, 1, 0, 0, 0}), kLoss);
  EXPECT_EQ(load(PhysicalType::kInt32, 0, {1, 1, 0, 0, 0, 0}), kLoss);
  EXPECT_EQ(load(PhysicalType::kBytes, 0, {0xff, 0xff, 0xff, 0xff, 0x0f}), kLoss);
  EXPECT_EQ(load(PhysicalType::kBytes, 0, {1, 2, 0, 0, 0, 'a'}), kLoss);
  EXPECT_EQ(load(PhysicalType::kBytes, 0, {1, 1, 0, 0, 0, 'a', 'b'}), kLoss);
  EXPECT_EQ(load(PhysicalType::kFixedBytes, 3, {1, 'a', 'b'}), kLoss);
  EXPECT_EQ(load(PhysicalType::kBool, 0, {9, 1}), kLoss);
  EXPECT_EQ(load(PhysicalType::kBool, 0, {2, 1}), absl::StatusCode::kOk);

  const uint8_t page[] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
  const auto dictionary = ReadParquetDictionaryPage(PhysicalType::kInt32, 0, 3, page).value();
  const auto read = [&](std::vector<uint8_t> bytes, uint32_t count) {
    BlockView view(bytes);
    view.count = count;
    const auto decoder = ParquetDictionaryCodec::MakePageDecoder<int32_t>({0, dictionary});
    absl::Status status = decoder->Open(view);
    int32_t out[16];
    if (status.ok()) status = decoder->Read({out, std::min<size_t>(count, 16)}).status();
    EXPECT_TRUE(status.ok() || decoder->position() == 0);
    return status.code();
  };
  EXPECT_EQ(read({}, 1), kLoss);
  EXPECT_EQ(read({}, 0), absl::StatusCode::kOk);
  EXPECT_EQ(read({2}, 1), kLoss);
  EXPECT_EQ(read({2, 0x02, 3}, 1), kLoss) << "code 3 of 3, repeated";
  EXPECT_EQ(read({2, 0x03, 0xe4, 0xff}, 4), kLoss) << "code 3 of 3, literal";
  EXPECT_EQ(read({2, 0x03, 0xe4, 0xff}, 3), absl::StatusCode::kOk) << "only padding is too large";
  EXPECT_EQ(read({2, 0x00, 0}, 1), kLoss) << "a run of no values";
  EXPECT_EQ(read({33, 0x02, 0}, 1), kLoss);
  EXPECT_EQ(read({0, 0x81, 0x80, 0x80, 0x80, 0x02}, 1), kLoss) << "2^31 values in a run";
  EXPECT_EQ(read({0, 0xff, 0xff, 0xff, 0xff, 0x01}, 1), absl::StatusCode::kOk) << "2^31 - 8";
}

TEST(ParquetDictionary, PagesForAParquetFile) {
  auto encoder = parquet::MakeEncoder<Int96>(Encoding::kParquetDictionary).value();
  const std::vector<Int96> few(100, Int96(uint128_t{7} << 80));
  EXPECT_FALSE(parquet::EncodeDictionaryPage(encoder).value().has_value());
  const EncodedBlock page = parquet::EncodePage<Int96>(encoder, few).value();
  EXPECT_EQ(parquet::NumberOf(page.encoding), 8);
  const auto dictionary = parquet::EncodeDictionaryPage(encoder).value();
  ASSERT_TRUE(dictionary.has_value());
  EXPECT_EQ(dictionary->count, 1u);
  EXPECT_EQ(dictionary->bytes.view(), std::string_view("\0\0\0\0\0\0\0\0\0\0\x07\0", 12));
  const auto decoded =
      parquet::DecodeDictionaryPage<Int96>(dictionary->count, dictionary->bytes.span());
  DecoderOptions options;
  options.dictionary = decoded.value();
  const auto decoder = parquet::MakeDecoder<Int96>(parquet::EncodingOf(8), options).value();
  ASSERT_TRUE(parquet::OpenPage(*decoder, 100, page.bytes.span()).ok());
  std::vector<Int96> out(100);
  EXPECT_EQ(decoder->Read(out).value(), 100u);
  EXPECT_TRUE(out == few);
  for (const int number : {4, 6, 9, 77}) {
    EXPECT_TRUE(absl::IsUnimplemented(
        parquet::MakeDecoder<Int96>(parquet::EncodingOf(static_cast<uint8_t>(number))).status()));
  }
}

// A dictionary with the largest number of values takes no more values. Pages that would need more
// values do not use the dictionary.
TEST(ParquetDictionary, LimitsOfValues) {
  const auto make = [](size_t limit) {
    return parquet::MakeEncoder<int64_t>(Encoding::kParquetDictionary, 0, size_t{1} << 20, limit)
        .value();
  };
  std::vector<int64_t> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>((i % 100) * uint64_t{0x9E3779B97F4A7C15});
  auto encoder = make(99);
  EXPECT_NE(parquet::EncodePage<int64_t>(encoder, values).value().encoding,
            Encoding::kParquetDictionary);
  EXPECT_FALSE(parquet::EncodeDictionaryPage(encoder).value().has_value());
  for (const size_t limit : {100, 101}) {
    encoder = make(limit);
    EXPECT_EQ(parquet::EncodePage<int64_t>(encoder, values).value().encoding,
              Encoding::kParquetDictionary);
    const auto page = parquet::EncodeDictionaryPage(encoder, 100).value();
    ASSERT_TRUE(page.has_value());
    EXPECT_EQ(page->count, 100u);
    const auto decode = [&](size_t max_values) {
      return parquet::DecodeDictionaryPage<int64_t>(100, page->bytes.span(), 0, max_values)
          .status();
    };
    EXPECT_EQ(decode(100), absl::OkStatus());
    EXPECT_EQ(decode(99).code(), absl::StatusCode::kOutOfRange);
  }
  encoder = make(100);
  ASSERT_TRUE(parquet::EncodePage<int64_t>(encoder, values).ok());
  const absl::Status above = parquet::EncodeDictionaryPage(encoder, 99).status();
  EXPECT_EQ(above.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(above.message(),
            "a dictionary of 100 values is above the limit of 99: raise max_dictionary_values");
}

template <typename P>
std::shared_ptr<const Dictionary> DictionaryOf(const std::vector<P>& values) {
  EncodedBlock page;
  ParquetPlainCodec::MakePageEncoder<P>()->Encode(values, page);
  return parquet::DecodeDictionaryPage<P>(static_cast<uint32_t>(values.size()), page.bytes.span())
      .value();
}

// Lets an encoder adopt dictionaries of the values a, b, c and d, and checks the codes.
template <typename P>
void ExpectAdopts(const P& a, const P& b, const P& c, const P& d) {
  using Codes = std::vector<uint32_t>;
  Codes codes;
  const auto encoder = ParquetDictionaryCodec::MakePageEncoder<P>();
  EXPECT_TRUE(encoder->AdoptDictionary(*DictionaryOf<P>({a, b, c}), codes));
  EXPECT_EQ(codes, Codes());  // the same codes
  EXPECT_TRUE(encoder->AdoptDictionary(*DictionaryOf<P>({}), codes));
  EXPECT_TRUE(encoder->AdoptDictionary(*DictionaryOf<P>({a, b}), codes));
  EXPECT_EQ(codes, Codes());
  EXPECT_TRUE(encoder->AdoptDictionary(*DictionaryOf<P>({c, d, c}), codes));
  EXPECT_EQ(codes, Codes({2, 3, 2}));
  std::vector<P> values;
  for (int i = 0; i < 100; ++i) values.insert(values.end(), {d, b, b, a});
  File<P> file;
  EncodedBlock& block = file.blocks.emplace_back();
  encoder->Encode(values, block);
  block.count = static_cast<uint32_t>(values.size());
  EXPECT_EQ(block.encoding, Encoding::kAuto);
  file.has_dictionary = encoder->FinishDictionary(file.dictionary);
  EXPECT_EQ(file.dictionary.span()[0], 4);  // values
  ExpectReadsBack<P>(file, {values}, parquet::TypeOf<P>(0));

  // A dictionary with a value twice.
  const auto twice = ParquetDictionaryCodec::MakePageEncoder<P>();
  EXPECT_TRUE(twice->AdoptDictionary(*DictionaryOf<P>({a, a, b}), codes));
  EXPECT_EQ(codes, Codes({0, 0, 1}));

  // The limit of bytes is not for the first dictionary.
  const auto limited = ParquetDictionaryCodec::MakePageEncoder<P>({.max_dictionary_bytes = 1});
  EXPECT_TRUE(limited->AdoptDictionary(*DictionaryOf<P>({a, b}), codes));
  EXPECT_FALSE(limited->AdoptDictionary(*DictionaryOf<P>({b, c}), codes));
  EXPECT_TRUE(limited->AdoptDictionary(*DictionaryOf<P>({b, a}), codes));
  EXPECT_EQ(codes, Codes({1, 0}));
  const auto few = ParquetDictionaryCodec::MakePageEncoder<P>({.max_dictionary_values = 2});
  EXPECT_FALSE(few->AdoptDictionary(*DictionaryOf<P>({a, b, c}), codes));
  EXPECT_TRUE(few->AdoptDictionary(*DictionaryOf<P>({c, a}), codes));
  EXPECT_EQ(codes, Codes());
}

TEST(ParquetDictionary, AdoptsTheValuesOfOtherDictionaries) {
  ExpectAdopts<int32_t>(7, -1, 0, 1 << 30);
  ExpectAdopts<int64_t>(7, -1, 0, int64_t{1} << 40);
  ExpectAdopts<double>(0.0, -0.0, 1.5, 1e300);
  const std::string text(40, 'x');
  ExpectAdopts<std::string_view>(text, std::string_view(text).substr(1), "", "a word");
  ExpectAdopts<float>(0.0f, -0.0f, 1.5f, 1e30f);
  // Many values, in an order in which the tables of hashes must grow.
  std::vector<int64_t> many(10'000), more(20'000);
  for (size_t i = 0; i < more.size(); ++i) more[i] = static_cast<int64_t>(i) * 3;
  std::copy_n(more.rbegin(), many.size(), many.begin());
  const auto encoder = ParquetDictionaryCodec::MakePageEncoder<int64_t>();
  std::vector<uint32_t> codes;
  ASSERT_TRUE(encoder->AdoptDictionary(*DictionaryOf(many), codes));
  EXPECT_TRUE(codes.empty());
  ASSERT_TRUE(encoder->AdoptDictionary(*DictionaryOf(more), codes));
  ASSERT_EQ(codes.size(), more.size());
  for (uint32_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(codes[i], 10'000 + i);
    ASSERT_EQ(codes[19'999 - i], i);
  }
}

TEST(ParquetDictionary, PlainDictionaryIsReadAsTheSame) {
  std::vector<float> values(1000, 1.5f);
  const std::vector<std::vector<float>> blocks = {values};
  const auto file = Write(blocks);
  DecoderOptions options;
  options.dictionary = LoadDictionary(Encoding::kParquetPlainDictionary, PhysicalType::kFloat, 0,
                                      file.dictionary.span())
                           .value();
  const auto decoder =
      MakeDecoder<float>(Encoding::kParquetPlainDictionary, PhysicalType::kFloat, options).value();
  ASSERT_TRUE(decoder->Open(BlockView(file.blocks[0], 0)).ok());
  std::vector<float> out(1000);
  EXPECT_EQ(decoder->Read(out).value(), 1000u);
  EXPECT_EQ(out, values);
}

}  // namespace cfile::encodings::parquet_dictionary_test
