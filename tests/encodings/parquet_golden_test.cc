// Tests pages that Apache Arrow and parquet-java wrote, and malformed pages. parquet.h (values) and
// levels.h (levels and indexes) must decode the pages to the same bits. If the encoding allows only
// one form, they must encode the values to the same bytes. The environment variable
// CFILE_GOLDEN_DIRS names more folders of golden pages, separated by colons.
#include <gmock/gmock.h>

#include <map>

#include "blocks.h"
#include "encodings/hybrid/levels.h"
#include "encodings/parquet.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "golden_vectors.h"

namespace cfile::encodings::parquet_golden_test {

const std::map<std::string, Encoding> kEncodings = {
    {"PLAIN", Encoding::kParquetPlain},
    {"GROUP_VAR_INT", Encoding::kParquetGroupVarInt},
    {"PLAIN_DICTIONARY", Encoding::kParquetDictionary},
    {"RLE", Encoding::kParquetRle},
    {"BIT_PACKED", Encoding::kParquetBitPacked},
    {"DELTA_BINARY_PACKED", Encoding::kParquetDeltaBinaryPacked},
    {"DELTA_LENGTH_BYTE_ARRAY", Encoding::kParquetDeltaLengthByteArray},
    {"DELTA_BYTE_ARRAY", Encoding::kParquetDeltaByteArray},
    {"RLE_DICTIONARY", Encoding::kParquetDictionary},
    {"BYTE_STREAM_SPLIT", Encoding::kParquetByteStreamSplit},
    {"ALP", Encoding::kParquetAlp},
};

struct Tally {
  int decoded = 0;
  int refused = 0;
  int encoded = 0;
};

// The expected result of decoding: values, an error, or either.
enum class Expect { kValues, kError, kEither };

Expect ExpectOf(const GoldenVector& vector) {
  if (!vector.Flag("spec_valid", true)) return Expect::kError;
  const std::string expect = vector.Text("expect");
  return expect == "error"    ? Expect::kError
         : expect == "either" ? Expect::kEither
                              : Expect::kValues;
}

template <typename P>
struct Decoded {
  absl::Status status;
  std::unique_ptr<P[]> values;
  size_t size = 0;
  std::list<std::string> texts;
};

// Reads from the decoder's position to the end. Takes memory only for values that are read.
template <typename P>
Decoded<P> ReadRest(BlockDecoder<P>& decoder) {
  Decoded<P> decoded;
  size_t capacity = 0;
  while (decoder.position() < decoder.count()) {
    if (capacity - decoded.size < 1000) {
      capacity = 2 * capacity + 1000;
      auto values = std::make_unique<P[]>(capacity);
      std::copy_n(decoded.values.get(), decoded.size, values.get());
      decoded.values = std::move(values);
    }
    P* const begin = decoded.values.get() + decoded.size;
    const auto n = decoder.Read({begin, std::min(capacity - decoded.size, kMaxBatchValues)});
    decoded.status = n.status();
    if (!n.ok()) break;
    EXPECT_GT(*n, 0u);
    if (*n == 0) break;
    if constexpr (kIsBytes<P>) {
      for (P& value : std::span(begin, *n)) value = decoded.texts.emplace_back(value);
    }
    decoded.size += *n;
  }
  return decoded;
}

// Compares the result of a reader with the vector's description.
template <typename P>
void Judge(const GoldenVector& vector, const absl::Status& status, std::span<const P> values,
           Tally& tally) {
  const Expect expect = ExpectOf(vector);
  if (!status.ok()) {
    EXPECT_NE(expect, Expect::kValues) << status;
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    ++tally.refused;
    return;
  }
  ASSERT_NE(expect, Expect::kError) << vector.Text("why");
  ++tally.decoded;
  ASSERT_EQ(values.size(), vector.count());
  if (vector.Flag("values_undefined", false)) return;
  const auto expected = GoldenValues<P>(vector);
  ASSERT_LE(expected.size, values.size());  // some descriptions list only the first values
  EXPECT_TRUE(SameValues(values.first(expected.size), std::span<const P>(expected.span())));
}

// Returns true if the vector's values have no other encoded form than the vector's bytes.
bool IsOnlyForm(const GoldenVector& vector) {
  const std::string encoding = vector.Text("encoding");
  return vector.Flag("byte_exact", false) && encoding != "RLE" &&
         encoding.find("DICTIONARY") == std::string::npos && encoding != "ALP";
}

template <typename P>
constexpr bool kHasDeltas = std::is_same_v<P, int32_t> || std::is_same_v<P, int64_t>;

// Reads a page that only some format documents allow, with the lenient reader.
template <typename P>
void CheckLenient(const GoldenVector& vector) {
  if constexpr (kHasDeltas<P>) {
    const auto decoder = MakeDeltaBinaryPackedDecoder<P>(DeltaBlocks::kLenient);
    BlockView view(vector.bytes);
    view.count = vector.count();
    ASSERT_TRUE(decoder->Open(view).ok());
    const auto decoded = ReadRest(*decoder);
    ASSERT_TRUE(decoded.status.ok()) << decoded.status;
    EXPECT_TRUE(SameValues(std::span<const P>(decoded.values.get(), decoded.size),
                           std::span<const P>(GoldenValues<P>(vector).span())));
  }
}

template <typename P>
void CheckValues(const GoldenVector& vector, Tally& tally) {
  const Encoding encoding = kEncodings.at(vector.Text("encoding"));
  const uint32_t type_length = vector.Number("type_length");
  DecoderOptions options(type_length);
  if (!vector.Text("dict_bin").empty()) {
    const auto dictionary = parquet::DecodeDictionaryPage<P>(vector.Number("dict_num_values"),
                                                             vector.dictionary, type_length);
    if (!dictionary.ok()) return Judge<P>(vector, dictionary.status(), {}, tally);
    options.dictionary = *dictionary;
  }
  if (!vector.Flag("spec_valid", true)) CheckLenient<P>(vector);
  const auto decoder = parquet::MakeDecoder<P>(encoding, options).value();
  if (const absl::Status opened = parquet::OpenPage(*decoder, vector.count(), vector.bytes);
      !opened.ok())
    return Judge<P>(vector, opened, {}, tally);
  ASSERT_EQ(decoder->count(), vector.count());
  const auto decoded = ReadRest(*decoder);
  const std::span<const P> values(decoded.values.get(), decoded.size);
  ASSERT_NO_FATAL_FAILURE(Judge<P>(vector, decoded.status, values, tally));
  if (ExpectOf(vector) != Expect::kValues) return;

  for (const size_t position : {values.size(), values.size() / 2, values.size() / 3, size_t{0}}) {
    ASSERT_TRUE(decoder->SeekTo(static_cast<uint32_t>(position)).ok());
    const auto rest = ReadRest(*decoder);
    ASSERT_TRUE(rest.status.ok()) << rest.status;
    ASSERT_TRUE(SameValues<P>({rest.values.get(), rest.size}, values.subspan(position)))
        << "from position " << position;
  }

  if (!IsOnlyForm(vector)) return;
  EncodedBlock block;
  if (encoding == Encoding::kParquetDeltaBinaryPacked) {
    if constexpr (kHasDeltas<P>) {  // in blocks of the vector's shape
      DeltaBlockShape shape;
      shape.block_size = vector.Number("block_size");
      shape.miniblocks = vector.Number("miniblocks");
      MakeDeltaBinaryPackedEncoder<P>(shape)->Encode(values, block);
    }
  } else {
    auto encoder = parquet::MakeEncoder<P>(encoding, type_length).value();
    block = parquet::EncodePage(encoder, values).value();
  }
  EXPECT_THAT(block.bytes.span(), testing::ElementsAreArray(vector.bytes));
  ++tally.encoded;
}

void CheckLevels(const GoldenVector& vector, Tally& tally) {
  const std::string encoding = vector.Text("encoding");
  const std::string framing = vector.Text("framing");
  const auto width = static_cast<int>(vector.Number("bit_width"));
  ASSERT_LE(vector.count(), 1u << 24);
  std::vector<uint32_t> values(vector.count());
  const std::span<uint32_t> out(values);
  ByteReader reader(vector.bytes);
  const bool has_length = framing.find("4-byte") == 0;
  const bool has_width = encoding.find("DICTIONARY") != std::string::npos;
  const absl::Status status = encoding == "BIT_PACKED" ? ReadBitPacked(reader, width, out)
                              : has_length             ? ReadHybridWithLength(reader, width, out)
                              : has_width              ? ReadIndexes(reader.rest(), out)
                                                       : ReadHybrid(reader.rest(), width, out);
  ASSERT_NO_FATAL_FAILURE(Judge<uint32_t>(vector, status, out, tally));
  if (ExpectOf(vector) != Expect::kValues) return;
  ASSERT_TRUE(vector.has_values());

  const std::span<const uint32_t> in(values);
  std::vector<uint32_t> again(values.size());
  ByteWriter bytes;
  if (encoding == "BIT_PACKED") {
    PutBitPacked(in, width, bytes);
    if (IsOnlyForm(vector)) {
      EXPECT_THAT(bytes.span(), testing::ElementsAreArray(vector.bytes));
    }
    ByteReader second(bytes.span());
    ASSERT_TRUE(ReadBitPacked(second, width, std::span(again)).ok());
    EXPECT_TRUE(second.empty());
  } else if (has_length) {
    PutHybridWithLength(in, width, bytes);
    ByteReader second(bytes.span());
    ASSERT_TRUE(ReadHybridWithLength(second, width, std::span(again)).ok());
    EXPECT_TRUE(second.empty());
  } else if (has_width) {
    PutIndexes(in, vector.bytes.empty() ? 0 : vector.bytes[0], bytes);
    ASSERT_TRUE(ReadIndexes(bytes.span(), std::span(again)).ok());
  } else {
    PutHybrid(in, width, bytes);
    ASSERT_TRUE(ReadHybrid(bytes.span(), width, std::span(again)).ok());
  }
  EXPECT_EQ(again, values);
  if (vector.Text("expect").empty() && vector.Text("seed").empty()) {
    EXPECT_LE(bytes.size(), vector.bytes.size());
  }
  ++tally.encoded;
}

TEST(ParquetGolden, EveryVector) {
  std::map<std::string, Tally> tallies;
  const auto vectors = GoldenVectors(CFILE_SOURCE_DIR "/tests/golden/parquet");
  EXPECT_GE(vectors.size(), 600u);
  for (const GoldenVector& vector : vectors) {
    SCOPED_TRACE(vector.name);
    const std::string encoding = vector.Text("encoding");
    const std::string type = vector.Text("type");
    Tally& tally = tallies[encoding];
    if (type.find("INDEX_OR_LEVEL") == 0) {
      CheckLevels(vector, tally);
    } else if (type == "BOOLEAN") {
      CheckValues<bool>(vector, tally);
    } else if (type == "INT32") {
      CheckValues<int32_t>(vector, tally);
    } else if (type == "INT64") {
      CheckValues<int64_t>(vector, tally);
    } else if (type == "FLOAT") {
      CheckValues<float>(vector, tally);
    } else if (type == "DOUBLE") {
      CheckValues<double>(vector, tally);
    } else if (type == "BYTE_ARRAY" || type == "FIXED_LEN_BYTE_ARRAY") {
      CheckValues<std::string_view>(vector, tally);
    } else if (type == "INT96") {
      CheckValues<Int96>(vector, tally);
    } else {
      ADD_FAILURE() << "type " << type;
    }
  }
  for (const auto& [encoding, tally] : tallies) {
    std::cout << encoding << ": " << tally.decoded << " decoded, " << tally.refused << " refused, "
              << tally.encoded << " encoded\n";
  }
}

}  // namespace cfile::encodings::parquet_golden_test
