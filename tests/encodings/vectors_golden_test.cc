// Golden vectors of blocks of any encoding: tests/golden/vectors. Each is a NAME.json:
//
//   encoding     name in the registry
//   type         PhysicalTypeName; with type_length for fixed bytes
//   num_values, values, bytes_hex; with dictionary_hex if the block needs the file's dictionary
//   only_form    false if an encoder may write other bytes; true by default
//
// The bytes come from another implementation, or were made by hand from cfile/FORMAT.md.
#include <algorithm>
#include <iterator>

#include "blocks.h"
#include "golden_vectors.h"

namespace cfile::encodings::vectors_golden_test {

std::vector<GoldenVector> Vectors() {
  return GoldenVectors(CFILE_SOURCE_DIR "/tests/golden/vectors");
}

std::optional<PhysicalType> TypeOf(const GoldenVector& vector) {
  for (int i = 0; i < kNumPhysicalTypes; ++i) {
    const auto type = static_cast<PhysicalType>(i);
    if (PhysicalTypeName(type) == vector.Text("type")) return type;
  }
  return std::nullopt;
}

TEST(GoldenVectors, DecodeAndEncode) {
  int found = 0;
  for (const GoldenVector& vector : Vectors()) {
    SCOPED_TRACE(vector.name);
    const EncodingRow* row = FindEncoding(vector.Text("encoding"));
    if (row == nullptr) continue;  // not built in, or a vector of another form (CFILE_GOLDEN_DIRS)
    const std::optional<PhysicalType> type = TypeOf(vector);
    ASSERT_TRUE(type);
    VisitPhysicalType(*type, [&]<typename T>(std::type_identity<T>) {
      const Column<T> column = GoldenValues<T>(vector);
      ASSERT_EQ(column.size, vector.count());
      DecoderOptions options(vector.Number("type_length"));
      if (!vector.dictionary.empty()) {
        const auto dictionary =
            LoadDictionary(row->encoding, *type, options.type_length, vector.dictionary);
        ASSERT_TRUE(dictionary.ok()) << dictionary.status();
        options.dictionary = *dictionary;
      }
      auto decoder = MakeDecoder<T>(row->encoding, *type, options);
      ASSERT_TRUE(decoder.ok()) << decoder.status();
      BlockView view(vector.bytes);
      view.count = vector.count();
      const absl::Status opened = (*decoder)->Open(view);
      ASSERT_TRUE(opened.ok()) << opened;
      ASSERT_EQ((*decoder)->count(), column.size);
      const auto values = std::make_unique<T[]>(column.size);
      for (size_t i = 0; i < column.size;) {
        const auto read = (*decoder)->Read({values.get() + i, column.size - i});
        ASSERT_TRUE(read.ok() && *read > 0) << read.status();
        const std::span<const T> expected = column.span();
        ASSERT_TRUE(SameValues<T>({values.get() + i, *read}, expected.subspan(i, *read)));
        i += *read;
      }
      if (vector.Flag("only_form", true)) {
        const auto blocks = Encode<T>({row->encoding, *type}, column.span(),
                                      {.type_length = vector.Number("type_length")});
        ASSERT_EQ(blocks.size(), 1u);
        EXPECT_EQ(blocks[0].bytes, vector.bytes);
      }
    });
    ++found;
  }
  EXPECT_GE(found, 3);
}

// Each encoding of this project has a golden vector. (The golden files of Kudu's and Parquet's
// encodings come from Kudu and Parquet.)
TEST(GoldenVectors, EachEncodingOfOurOwnHasOne) {
  const std::vector<GoldenVector> vectors = Vectors();
  for (const EncodingRow& row : Encodings()) {
    if (static_cast<uint32_t>(row.encoding) < kFirstOwnNumber) continue;
    EXPECT_TRUE(std::any_of(vectors.begin(), vectors.end(), [&](const GoldenVector& vector) {
      return vector.Text("encoding") == row.name;
    })) << row.name;
  }
}

}  // namespace cfile::encodings::vectors_golden_test
