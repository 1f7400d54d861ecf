// Tests of the delta encodings that the tests of the registry and of the golden vectors do not
// include: shapes of blocks, the lenient reader, every width, skip tables, bounded reads.
#include <gmock/gmock.h>

#include <random>

#include "columns.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_byte_array.h"
#include "encodings/parquet/delta_length_byte_array.h"
#include "encodings/parquet/page_skip_table.h"
#include "golden_vectors.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::delta_test {

using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr DeltaBlockShape kShapesOfBlocks[] = {{128, 4},  {128, 1},   {128, 2},  {256, 8},
                                               {512, 4},  {1024, 32}, {2048, 1}, {1024, 4},
                                               {640, 20}, {3200, 4}};

template <typename T>
EncodedBlock EncodePage(PageEncoder<T>& encoder, std::span<const T> values) {
  EncodedBlock block;
  block.count = static_cast<uint32_t>(values.size());
  encoder.Encode(values, block);
  return block;
}

// Reads from the decoder's position to the end, in steps of at most `step`.
template <typename T>
absl::StatusOr<std::vector<T>> ReadRest(BlockDecoder<T>& decoder, size_t step,
                                        std::list<std::string>* texts = nullptr) {
  std::vector<T> all;
  std::vector<T> values(step);
  while (decoder.position() < decoder.count()) {
    const auto n = decoder.Read(values);
    if (!n.ok()) return n.status();
    EXPECT_GT(*n, 0u);
    for (size_t i = 0; i < *n; ++i) {
      if constexpr (kIsBytes<T>) {
        all.push_back(texts->emplace_back(values[i]));
      } else {
        all.push_back(values[i]);
      }
    }
  }
  return all;
}

template <typename T>
class Delta : public testing::Test {};
using Integers = testing::Types<int32_t, int64_t>;
TYPED_TEST_SUITE(Delta, Integers);

// Encodes and decodes values with deltas of each width. The smallest delta is negative, zero or
// positive.
TYPED_TEST(Delta, EveryWidthRoundTripsInEveryShape) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  std::mt19937_64 random(1);
  for (int width = 0; width <= static_cast<int>(8 * sizeof(T)); ++width) {
    for (const DeltaBlockShape& shape : kShapesOfBlocks) {
      std::vector<T> values(1 + random() % 4000);
      U value = static_cast<U>(random());
      const U least = static_cast<U>(random());
      for (T& out : values) {
        out = static_cast<T>(value);
        value += least;
        if (width > 0) value += static_cast<U>(random() >> (64 - width));
      }
      const EncodedBlock block = EncodePage<T>(*MakeDeltaBinaryPackedEncoder<T>(shape), values);
      const std::vector<uint8_t> exact(block.bytes.data(), block.bytes.data() + block.bytes.size());
      BlockView view(block, 0);
      view.bytes = exact;
      const auto decoder = MakeDeltaBinaryPackedDecoder<T>();
      ASSERT_TRUE(decoder->Open(view).ok());
      const auto all = ReadRest<T>(*decoder, 1 + random() % 700);
      ASSERT_TRUE(all.ok()) << all.status();
      ASSERT_EQ(*all, values) << "width " << width << ", blocks of " << shape.block_size;
    }
  }
}

// Runs the kernels of each target that this processor supports.
TYPED_TEST(Delta, EveryTargetDecodesAlike) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  std::vector<uint8_t> packed(4096);
  for (uint8_t& byte : packed) byte = static_cast<uint8_t>(random());
  for (uint8_t width = 0; width <= 8 * sizeof(T); ++width) {
    const T min_delta = static_cast<T>(random());
    const T previous = static_cast<T>(random());
    std::vector<T> expected;
    WithEachTarget([&] {
      std::vector<T> values(40 * kDeltaGroup);
      const T last =
          DecodeDeltas<T>(packed.data(), &width, 1, 40, min_delta, previous, values.data());
      EXPECT_EQ(last, values.back());
      if (expected.empty()) expected = values;
      EXPECT_EQ(values, expected) << "width " << int{width};
    });
  }
}

TYPED_TEST(Delta, WrapsAround) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (int i = 0; i < 300; ++i) {
    for (const T value : {Limits::min(), Limits::max(), T{0}, T{-1}, Limits::max()})
      values.push_back(value);
  }
  const EncodedBlock block = EncodePage<T>(*MakeDeltaBinaryPackedEncoder<T>(), values);
  const auto decoder = MakeDeltaBinaryPackedDecoder<T>();
  ASSERT_TRUE(decoder->Open({block, 0}).ok());
  EXPECT_EQ(*ReadRest<T>(*decoder, 1000), values);
}

TYPED_TEST(Delta, SeeksFromPlacesAndWithoutThem) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  for (const size_t size : {1024, 1025, 2048, 2049, 9000}) {
    std::vector<T> values(size);
    for (T& value : values) value = static_cast<T>(random() >> (random() % 60));
    const EncodedBlock block = EncodePage<T>(*MakeDeltaBinaryPackedEncoder<T>(), values);
    EXPECT_EQ(block.skip_table.size(), (size - 1) / 1024 * kDeltaPlaceBytes<T>);
    BlockView bare(block, 0);
    bare.skip_table = {};
    for (const BlockView& view : {BlockView(block, 0), bare}) {
      const auto decoder = MakeDeltaBinaryPackedDecoder<T>();
      ASSERT_TRUE(decoder->Open(view).ok());
      for (int i = 0; i < 300; ++i) {
        const size_t position =
            i % 4 == 0 ? random() % (size / 1024 + 1) * 1024 % (size + 1) : random() % (size + 1);
        ASSERT_TRUE(decoder->SeekTo(static_cast<uint32_t>(position)).ok());
        T out[50];
        const size_t n = decoder->Read({out, 1 + random() % 50}).value();
        ASSERT_EQ(n > 0, position < size);
        for (size_t j = 0; j < n; ++j) ASSERT_EQ(out[j], values[position + j]);
      }
    }
  }
}

// A page of a few bytes holds 2^30 values. The decoder returns as many of them as a call asks for.
TEST(DeltaBinaryPacked, YieldsAsAskedFor) {
  ByteWriter page;
  for (const uint64_t field : {1ull << 30, 1ull, 1ull << 30, 0ull, 2ull, 0ull}) page.PutVint(field);
  BlockView view(page.span());
  view.count = 1u << 30;
  const auto decoder = MakeDeltaBinaryPackedDecoder<int32_t>();
  ASSERT_TRUE(decoder->Open(view).ok());
  std::vector<int32_t> out(kMaxBatchValues);
  ASSERT_EQ(decoder->Read(out).value(), out.size());
  EXPECT_EQ(out.back(), 65535);
  ASSERT_TRUE(decoder->SeekTo(10'000'000).ok());
  ASSERT_EQ(decoder->Read(out).value(), out.size());
  EXPECT_EQ(out[0], 10'000'000);
}

TEST(DeltaBinaryPacked, ReadsTheSeedsBlocksOf8WhereAllowed) {
  const std::vector<uint8_t> first = {8, 1, 5, 2, 2, 0};
  const std::vector<uint8_t> second = {8, 1, 8, 0x0e, 3, 2, 0xc0, 0x3f};
  const std::pair<std::vector<uint8_t>, std::vector<int32_t>> examples[] = {
      {first, {1, 2, 3, 4, 5}}, {second, {7, 5, 3, 1, 2, 3, 4, 5}}};
  for (const auto& [bytes, values] : examples) {
    BlockView view(bytes);
    view.count = static_cast<uint32_t>(values.size());
    const auto lenient = MakeDeltaBinaryPackedDecoder<int32_t>(DeltaBlocks::kLenient);
    ASSERT_TRUE(lenient->Open(view).ok());
    EXPECT_EQ(*ReadRest<int32_t>(*lenient, 3), values);
    const auto opened = MakeDeltaBinaryPackedDecoder<int32_t>()->Open(view);
    EXPECT_EQ(opened.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(opened.message()), HasSubstr("block size is 8"));
    ByteWriter again;
    EncodeDeltaBinaryPacked<int32_t>(values, {8, 1}, again, nullptr);
    EXPECT_THAT(again.span(), ElementsAreArray(bytes));
  }
}

// The header says: blocks of 128 values, 4 miniblocks, one value. The page is refused if that value
// is missing, has no end, or is too large.
TYPED_TEST(Delta, RefusesAHeaderWithoutAFirstValue) {
  for (const size_t more : {0, 1, 5, 11}) {
    std::vector<uint8_t> bytes = {0x80, 1, 4, 1};
    bytes.resize(bytes.size() + more, 0xff);
    if (more == 11) bytes.back() = 0;
    BlockView view(bytes);
    view.count = 1;
    const auto opened = MakeDeltaBinaryPackedDecoder<TypeParam>()->Open(view);
    EXPECT_EQ(opened.code(), absl::StatusCode::kDataLoss) << more << " bytes";
    EXPECT_THAT(std::string(opened.message()),
                HasSubstr("the delta header is cut off or out of range"));
  }
}

TEST(DeltaLength, MakesTheSeedsExample) {
  const std::vector<std::string_view> values = {"Hello", "World", "Foobar", "ABCDEF"};
  const EncodedBlock block = EncodePage<std::string_view>(
      *DeltaLengthByteArrayCodec::MakePageEncoder<std::string_view>(), values);
  const std::string expected("\x80\x01\x04\x04\x0a\x00\x01\x00\x00\x00\x02\x00\x00\x00", 14);
  EXPECT_EQ(block.bytes.view(), expected + "HelloWorldFoobarABCDEF");
}

// EXPECTs that a page of `count` values opens, and that reading it fails with `message`.
void ExpectReadFails(BlockDecoder<std::string_view>& decoder, const ByteWriter& page,
                     uint32_t count, const std::string& message) {
  BlockView view(page.span());
  view.count = count;
  ASSERT_TRUE(decoder.Open(view).ok());
  std::list<std::string> texts;
  const absl::Status status = ReadRest(decoder, 10, &texts).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

// Errors about lengths and data far inside a page name the number of the wrong value.
TEST(DeltaLength, NamesTheValueThatIsWrong) {
  const std::pair<int32_t, std::string> examples[] = {
      {-3, "value 1777 has length -3"},
      {100'000, "values 1770 to 1779 take 100008 bytes of data, found 1230"}};
  for (const auto& [length, message] : examples) {
    std::vector<int32_t> lengths(2000);
    for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<int32_t>(i % 3);
    lengths[1777] = length;
    ByteWriter bytes;
    EncodeDeltaBinaryPacked<int32_t>(lengths, {128, 4}, bytes, nullptr);
    bytes.PutBytes(std::string(3000, 'x'));
    const auto decoder = DeltaLengthByteArrayCodec::MakePageDecoder<std::string_view>();
    ExpectReadFails(*decoder, bytes, 2000, message);
  }
}

TEST(DeltaByteArray, NamesTheValueThatSharesTooMuch) {
  const std::vector<int32_t> suffixes(2000, 1);
  std::vector<int32_t> prefixes(2000, 0);
  prefixes[1777] = 5;
  ByteWriter bytes;
  EncodeDeltaBinaryPacked<int32_t>(prefixes, {128, 4}, bytes, nullptr);
  EncodeDeltaBinaryPacked<int32_t>(suffixes, {128, 4}, bytes, nullptr);
  bytes.PutBytes(std::string(2000, 'x'));
  const auto decoder = DeltaByteArrayCodec::MakePageDecoder<std::string_view>();
  ExpectReadFails(*decoder, bytes, 2000, "value 1777 shares 5 bytes");
}

// Checks a vector whose blocks have a shape that the registry's encoder does not write, or that
// only the lenient reader accepts.
template <typename T>
void CheckShape(const GoldenVector& vector) {
  const auto column = GoldenValues<T>(vector);
  const std::span<const T> values = column.span();
  BlockView view(vector.bytes);
  view.count = vector.count();
  const auto decoder = MakeDeltaBinaryPackedDecoder<T>(DeltaBlocks::kLenient);
  ASSERT_TRUE(decoder->Open(view).ok());
  EXPECT_THAT(*ReadRest<T>(*decoder, 100), ElementsAreArray(values));
  if (!vector.Flag("byte_exact", false)) return;
  ByteWriter bytes;
  EncodeDeltaBinaryPacked<T>(values, {vector.Number("block_size"), vector.Number("miniblocks")},
                             bytes, nullptr);
  EXPECT_THAT(bytes.span(), ElementsAreArray(vector.bytes));
}

TEST(DeltaBinaryPacked, MakesTheGoldenBytesInAnyShape) {
  int checked = 0;
  for (const GoldenVector& vector : GoldenVectors(CFILE_SOURCE_DIR "/tests/golden/parquet")) {
    if (vector.Text("encoding") != "DELTA_BINARY_PACKED" || !vector.Text("expect").empty() ||
        vector.Number("block_size") == 0) {
      continue;
    }
    SCOPED_TRACE(vector.name);
    ASSERT_NO_FATAL_FAILURE(vector.Text("type") == "INT32" ? CheckShape<int32_t>(vector)
                                                           : CheckShape<int64_t>(vector));
    ++checked;
  }
  EXPECT_GE(checked, 50);
}

// Returns a column of byte arrays that is difficult for these encodings.
std::vector<std::string> Texts(int kind, size_t size) {
  std::mt19937_64 random(static_cast<uint64_t>(kind));
  std::vector<std::string> texts;
  for (size_t i = 0; i < size; ++i) {
    const std::string number = std::to_string(1'000'000 + i * 7);
    switch (kind) {
      case 0:  // sorted, like URLs
        texts.push_back("https://example.com/" + number.substr(0, 4) + "/" + number);
        break;
      case 1:
        texts.push_back(std::string(random() % 40, static_cast<char>('a' + random() % 3)));
        break;
      case 2:  // prefixes too long for the skip table
        texts.push_back(std::string(3000, 'p') + number);
        break;
      case 3:  // some values are larger than the data that a Read returns
        texts.push_back(i % 900 == 3 ? std::string(1'200'000, 'l') : number);
        break;
      default:
        texts.emplace_back();
    }
  }
  return texts;
}

struct BytesCodec {
  std::unique_ptr<PageEncoder<std::string_view>> encoder;
  std::unique_ptr<BlockDecoder<std::string_view>> decoder;
};
std::vector<BytesCodec> BytesCodecs() {
  std::vector<BytesCodec> codecs;
  codecs.push_back({DeltaLengthByteArrayCodec::MakePageEncoder<std::string_view>(),
                    DeltaLengthByteArrayCodec::MakePageDecoder<std::string_view>()});
  codecs.push_back({DeltaByteArrayCodec::MakePageEncoder<std::string_view>(),
                    DeltaByteArrayCodec::MakePageDecoder<std::string_view>()});
  return codecs;
}

// PutSkipTable makes the table that the encoder of the page made.
template <typename T>
void ExpectSameSkipTable(const EncodedBlock& block, Encoding encoding, PhysicalType type) {
  ByteWriter table;
  ASSERT_TRUE(PutSkipTable(encoding, type, block.bytes.span(), block.count, table).ok());
  EXPECT_THAT(table.span(), ElementsAreArray(block.skip_table.span()));
  // Each prefix of the page is an error, or it lacks only bytes that no place needs.
  for (size_t size = 0; size < block.bytes.size(); size += 1 + size / 8) {
    ByteWriter part;
    const auto status =
        PutSkipTable(encoding, type, block.bytes.span().first(size), block.count, part);
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
  }
}

TYPED_TEST(Delta, SkipTablesOfFinishedPages) {
  using T = TypeParam;
  constexpr PhysicalType type = sizeof(T) == 8 ? PhysicalType::kUint64 : PhysicalType::kInt16;
  std::mt19937_64 random(11);
  for (const DeltaBlockShape& shape : kShapesOfBlocks) {
    for (const size_t size : {0, 1, 1024, 1025, 2049, 7000}) {
      std::vector<T> values(size);
      for (T& value : values) value = static_cast<T>(random() >> (random() % 60));
      ExpectSameSkipTable<T>(EncodePage<T>(*MakeDeltaBinaryPackedEncoder<T>(shape), values),
                             Encoding::kParquetDeltaBinaryPacked, type);
    }
  }
}

TEST(DeltaBytes, SkipTablesOfFinishedPages) {
  for (int kind = 0; kind <= 4; ++kind) {
    for (const size_t size : {1024, 1025, 2500}) {
      const auto texts = Texts(kind, size);
      const std::vector<std::string_view> values(texts.begin(), texts.end());
      auto codecs = BytesCodecs();
      ExpectSameSkipTable<std::string_view>(
          EncodePage<std::string_view>(*codecs[0].encoder, values),
          Encoding::kParquetDeltaLengthByteArray, PhysicalType::kBytes);
      ExpectSameSkipTable<std::string_view>(
          EncodePage<std::string_view>(*codecs[1].encoder, values),
          Encoding::kParquetDeltaByteArray, PhysicalType::kBytes);
    }
  }
}

TEST(DeltaBytes, SeekFromPlacesAndWithoutThem) {
  for (int kind = 0; kind <= 4; ++kind) {
    const auto texts = Texts(kind, kind == 3 ? 2500 : 5000);
    const std::vector<std::string_view> values(texts.begin(), texts.end());
    for (const BytesCodec& codec : BytesCodecs()) {
      const EncodedBlock block = EncodePage<std::string_view>(*codec.encoder, values);
      EXPECT_FALSE(block.skip_table.empty());
      const std::vector<uint8_t> exact(block.bytes.data(), block.bytes.data() + block.bytes.size());
      BlockView with(block, 0);
      with.bytes = exact;
      BlockView bare = with;
      bare.skip_table = {};
      for (const BlockView& view : {with, bare}) {
        BlockDecoder<std::string_view>& decoder = *codec.decoder;
        ASSERT_TRUE(decoder.Open(view).ok());
        std::list<std::string> read;
        const auto all = ReadRest<std::string_view>(decoder, 3000, &read);
        ASSERT_TRUE(all.ok()) << all.status();
        ASSERT_EQ(*all, values);
        std::mt19937_64 random(5);
        for (int i = 0; i < 40; ++i) {
          const auto position = static_cast<uint32_t>(random() % (values.size() + 1));
          ASSERT_TRUE(decoder.SeekTo(position).ok());
          for (uint32_t at = position; at < std::min<size_t>(position + 60, values.size());) {
            std::string_view out[13];
            const size_t n = decoder.Read({out, 1 + random() % 13}).value();
            ASSERT_GT(n, 0u);
            for (size_t j = 0; j < n; ++j) ASSERT_EQ(out[j], values[at + j]);
            at += static_cast<uint32_t>(n);
          }
        }
      }
    }
  }
}

// Makes pages of a few bytes that hold up to 2^32 values. A seek that takes time for each value
// would not end.
struct Bomb {
  // Appends a stream whose deltas all equal `step`, in blocks of the largest size.
  static void PutSteps(uint32_t count, int64_t first, int64_t step, ByteWriter& out) {
    const uint32_t block_size = (1u << 31) - 128;
    for (const uint64_t field : {uint64_t{block_size}, uint64_t{1}, uint64_t{count}})
      out.PutVint(field);
    out.PutVint(ZigZagEncode(first));
    for (uint64_t left = count - 1;; left -= block_size) {
      out.PutVint(ZigZagEncode(step));
      out.PutFixed(uint8_t{0});
      if (left <= block_size) break;
    }
  }
};

TYPED_TEST(Delta, SeeksPastValuesThatTakeNoBytes) {
  using T = TypeParam;
  ByteWriter page;
  Bomb::PutSteps(UINT32_MAX, -7, 3, page);
  EXPECT_LE(page.size(), 20u);
  BlockView view(page.span());
  view.count = UINT32_MAX;
  const auto decoder = MakeDeltaBinaryPackedDecoder<T>();
  ASSERT_TRUE(decoder->Open(view).ok());
  std::mt19937_64 random(4);
  for (int i = 0; i < 50; ++i) {
    const auto position = static_cast<uint32_t>(i == 0 ? UINT32_MAX - 1 : random() % UINT32_MAX);
    ASSERT_TRUE(decoder->SeekTo(position).ok());
    T value;
    ASSERT_EQ(decoder->Read({&value, 1}).value(), 1u);
    EXPECT_EQ(value, static_cast<T>(int64_t{position} * 3 - 7));  // the arithmetic wraps around
    if (sizeof(T) == 8) {
      const auto found = decoder->SeekToKey(value);
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(found->position, position);
    }
  }
}

TEST(DeltaBytes, SeekPastValuesThatTakeNoBytes) {
  ByteWriter lengths, bytes;
  Bomb::PutSteps(UINT32_MAX, 0, 0, lengths);
  for (int i = 0; i < 2; ++i) bytes.PutBytes(lengths.span());
  const auto codecs = BytesCodecs();
  for (size_t i = 0; i < codecs.size(); ++i) {
    BlockView view(i == 0 ? lengths.span() : bytes.span());
    view.count = UINT32_MAX;
    ASSERT_TRUE(codecs[i].decoder->Open(view).ok());
    for (int round = 0; round < 20; ++round) {
      ASSERT_TRUE(codecs[i].decoder->SeekToKey("a").ok());
      ASSERT_EQ(codecs[i].decoder->position(), UINT32_MAX);
    }
  }
  // The page has UINT32_MAX lengths of 5 bytes, but the data of only 3,000 values. Seeks past these
  // values fail.
  ByteWriter page;
  Bomb::PutSteps(UINT32_MAX, 5, 0, page);
  page.PutZeros(5 * 3000);
  BlockView view(page.span());
  view.count = UINT32_MAX;
  BlockDecoder<std::string_view>& decoder = *codecs[0].decoder;
  ASSERT_TRUE(decoder.Open(view).ok());
  EXPECT_EQ(decoder.SeekTo(3001).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decoder.SeekTo(UINT32_MAX).code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(decoder.SeekTo(2999).ok());
  std::string_view value;
  ASSERT_EQ(decoder.Read({&value, 1}).value(), 1u);
  EXPECT_EQ(value, std::string(5, '\0'));
}

// Seeks past many long values find the right values, without a skip table. Most values equal one
// long value; the others begin with it.
TEST(DeltaBytes, SeekWithoutRebuildingWhatTheyPass) {
  const std::string text(size_t{1} << 20, 'x');
  std::vector<std::string> ends(300);
  std::vector<std::string_view> values(8192, text);
  for (size_t i = 0; i < ends.size(); ++i)  // also values that grow longer and longer
    values[values.size() - 300 + i] = ends[i] = text + std::string(i * 1000, 'y');
  EncodedBlock block = EncodePage<std::string_view>(
      *DeltaByteArrayCodec::MakePageEncoder<std::string_view>(), values);
  BlockView view(block, 0);
  view.skip_table = {};
  const auto decoder = DeltaByteArrayCodec::MakePageDecoder<std::string_view>();
  ASSERT_TRUE(decoder->Open(view).ok());
  for (const uint32_t position : {8191u, 7000u, 8000u, 3u, 7950u, 7951u, 7892u}) {
    ASSERT_TRUE(decoder->SeekTo(position).ok());
    std::string_view out[2];
    for (uint32_t at = position; at < std::min(position + 2, 8192u); ++at) {
      ASSERT_EQ(decoder->Read({out, 1}).value(), 1u);
      ASSERT_TRUE(out[0] == values[at]) << at;
    }
  }
}

// A page of about 60 KB holds values of 120 MB. Each Read returns values of about one MiB.
TEST(DeltaBytes, BoundsWhatAReadYields) {
  const std::string text(60'000, 'B');
  const std::vector<std::string_view> values(2000, text);
  const EncodedBlock block = EncodePage<std::string_view>(
      *DeltaByteArrayCodec::MakePageEncoder<std::string_view>(), values);
  const auto decoder = DeltaByteArrayCodec::MakePageDecoder<std::string_view>();
  ASSERT_TRUE(decoder->Open({block, 0}).ok());
  std::vector<std::string_view> out(values.size());
  while (decoder->position() < decoder->count()) {
    const size_t n = decoder->Read(out).value();
    ASSERT_GE(n, 1u);
    ASSERT_LE(n, 18u);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], text);
  }
  EXPECT_LE(block.skip_table.size(), 200u);  // long prefixes are stored only if the page is large
}

// The page has three values of 3 bytes and one of 4 bytes. With a type length of 3, the error names
// the last value.
TEST(DeltaBytes, AnotherLengthIsNamed) {
  const std::vector<std::string_view> values = {"one", "two", "six", "four"};
  const EncodedBlock block = EncodePage<std::string_view>(
      *DeltaByteArrayCodec::MakePageEncoder<std::string_view>(), values);
  const auto decoder = DeltaByteArrayCodec::MakePageDecoder<std::string_view>(3);
  ASSERT_TRUE(decoder->Open({block, 0}).ok());
  std::list<std::string> read;
  const auto all = ReadRest<std::string_view>(*decoder, 10, &read);
  EXPECT_EQ(all.status().message(), "value 3 has 4 bytes, expected 3");
}

// A skip table that contradicts the page is refused.
TEST(DeltaBytes, RefuseWrongSkipTables) {
  const auto texts = Texts(0, 3000);
  const std::vector<std::string_view> values(texts.begin(), texts.end());
  for (const BytesCodec& codec : BytesCodecs()) {
    const EncodedBlock block = EncodePage<std::string_view>(*codec.encoder, values);
    std::vector<uint8_t> table(block.skip_table.data(),
                               block.skip_table.data() + block.skip_table.size());
    BlockView view(block, 0);
    view.skip_table = std::span<const uint8_t>(table).first(10);
    EXPECT_EQ(codec.decoder->Open(view).code(), absl::StatusCode::kDataLoss);
    view.skip_table = table;
    table[0] ^= 1;  // the offset of the data or of the suffixes
    absl::Status status = codec.decoder->Open(view);
    std::list<std::string> read;
    if (status.ok()) status = ReadRest<std::string_view>(*codec.decoder, 100, &read).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  }
}

// An entry of a skip table is a place where decoding can begin. The error about a wrong place has
// the place's number, counted from 0.
TEST(DeltaBytes, WrongPlacesAreNamed) {
  const auto texts = Texts(0, 3000);
  const std::vector<std::string_view> values(texts.begin(), texts.end());
  const auto encoder = DeltaByteArrayCodec::MakePageEncoder<std::string_view>();
  const auto decoder = DeltaByteArrayCodec::MakePageDecoder<std::string_view>();
  const EncodedBlock block = EncodePage<std::string_view>(*encoder, values);
  std::set<std::string> places;
  for (size_t i = 0; i < block.skip_table.size(); ++i) {
    std::vector<uint8_t> table(block.skip_table.data(),
                               block.skip_table.data() + block.skip_table.size());
    table[i] = 0xff;
    BlockView view(block, 0);
    view.skip_table = table;
    if (!decoder->Open(view).ok()) continue;
    for (const uint32_t position : {1024, 2048}) {
      const absl::Status status = decoder->SeekTo(position);
      const std::string message(status.message());
      if (!status.ok()) places.insert(message.substr(0, message.find(" has ")));
    }
  }
  EXPECT_TRUE(places.contains("skip table: place 0"));
  EXPECT_TRUE(places.contains("skip table: place 1"));
  EXPECT_FALSE(places.contains("skip table: place 2"));
}

}  // namespace cfile::encodings::delta_test
