// Decodes ALP pages that another implementation wrote or that were made by hand. The pages are in
// tests/golden/alp, and in folders of the same form that the environment variable CFILE_GOLDEN_DIRS
// names, separated by colons. Compares values by their bits.
#include <algorithm>
#include <bit>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "encodings/parquet/alp.h"
#include "golden_vectors.h"
#include "gtest/gtest.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::alp_golden_test {

// The vectors in the folders "malformed", or in all other folders.
std::vector<GoldenVector> LoadVectors(bool malformed) {
  std::vector<GoldenVector> vectors = GoldenVectors(CFILE_SOURCE_DIR "/tests/golden/alp");
  std::erase_if(vectors, [&](const GoldenVector& vector) {
    return vector.Text("encoding") != "ALP" || vector.name.starts_with("malformed/") != malformed;
  });
  return vectors;
}

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
std::vector<BitsOf<T>> Expected(const GoldenVector& vector) {
  std::vector<BitsOf<T>> bits;
  const Column<T> column = GoldenValues<T>(vector);
  for (const T value : column.span()) bits.push_back(std::bit_cast<BitsOf<T>>(value));
  return bits;
}

// Returns all values as bits. Reads them in batches of `batch`.
template <typename T>
absl::StatusOr<std::vector<BitsOf<T>>> Decode(std::span<const uint8_t> bytes, uint32_t count,
                                              size_t batch) {
  // The bytes are copied into a buffer of their exact size, so that sanitizers detect reads past
  // its end.
  const auto exact = std::make_unique<uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  BlockView view(std::span<const uint8_t>(exact.get(), bytes.size()));
  view.count = count;
  auto decoder = AlpCodec::MakePageDecoder<T>();
  CFILE_RETURN_IF_ERROR(decoder->Open(view));
  std::vector<BitsOf<T>> bits;
  const auto values = std::make_unique<T[]>(batch);
  while (bits.size() < count) {
    CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read({values.get(), batch}));
    if (read == 0) return absl::InternalError("no value read");
    for (size_t i = 0; i < read; ++i) bits.push_back(std::bit_cast<BitsOf<T>>(values[i]));
  }
  return bits;
}

template <typename T>
void CheckVector(const GoldenVector& vector) {
  SCOPED_TRACE(vector.name);
  const auto expected = Expected<T>(vector);
  const auto count = static_cast<uint32_t>(expected.size());
  ASSERT_EQ(count, vector.count());
  for (const size_t batch : {size_t{65536}, size_t{1}, size_t{7}, size_t{1000}}) {
    const auto bits = Decode<T>(vector.bytes, count, batch);
    ASSERT_TRUE(bits.ok()) << bits.status();
    ASSERT_EQ(*bits, expected) << "in batches of " << batch;
  }
  // Seeks to random positions.
  BlockView view(vector.bytes);
  view.count = count;
  auto decoder = AlpCodec::MakePageDecoder<T>();
  ASSERT_TRUE(decoder->Open(view).ok());
  std::mt19937 random(1);
  for (int i = 0; i < 100 && count > 0; ++i) {
    const uint32_t position = static_cast<uint32_t>(random() % count);
    T value;
    // A decoder that has just opened a page seeks without having decoded a vector before.
    if (i % 2 == 0) {
      ASSERT_TRUE(decoder->Open(view).ok());
    }
    ASSERT_TRUE(decoder->SeekTo(position).ok());
    ASSERT_EQ(decoder->Read({&value, 1}).value(), 1u);
    ASSERT_EQ(std::bit_cast<BitsOf<T>>(value), expected[position]) << "at " << position;
  }

  // Encodes the same values as a page of our own.
  std::vector<T> values;
  for (const auto bit : expected) values.push_back(std::bit_cast<T>(bit));
  EncodedBlock block;
  AlpCodec::MakePageEncoder<T>()->Encode(values, block);
  const auto again = Decode<T>(block.bytes.span(), count, 65536);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, expected);
  // Our pages have vectors of 1,024 values. A page with another vector size may be smaller.
  if (vector.Number("vector_size") == 1024) {
    EXPECT_LE(block.bytes.size(), vector.bytes.size()) << "ours must not be larger";
  }
}

void CheckVectors() {
  size_t checked = 0;
  for (const GoldenVector& vector : LoadVectors(/*malformed=*/false)) {
    if (vector.Text("type") == "FLOAT") {
      CheckVector<float>(vector);
    } else {
      CheckVector<double>(vector);
    }
    if (testing::Test::HasFatalFailure()) return;
    ++checked;
  }
  EXPECT_GE(checked, 50u);
}

TEST(AlpGolden, Vectors) { WithEachTarget(CheckVectors); }

template <typename T>
void CheckMalformed(const GoldenVector& vector) {
  SCOPED_TRACE(vector.name + ": " + vector.Text("why"));
  const std::string expect = vector.Text("expect");
  for (const size_t batch : {size_t{65536}, size_t{1}, size_t{5}}) {
    const auto bits = Decode<T>(vector.bytes, vector.count(), batch);
    if (bits.ok()) {
      ASSERT_NE(expect, "error");
      if (!vector.Flag("values_undefined", false)) {
        ASSERT_EQ(*bits, Expected<T>(vector));
      }
    } else {
      ASSERT_NE(expect, "ok") << bits.status();
      ASSERT_EQ(bits.status().code(), absl::StatusCode::kDataLoss) << bits.status();
    }
  }
}

void CheckMalformedVectors() {
  size_t checked = 0;
  for (const GoldenVector& vector : LoadVectors(/*malformed=*/true)) {
    if (vector.Text("type") == "FLOAT") {
      CheckMalformed<float>(vector);
    } else {
      CheckMalformed<double>(vector);
    }
    if (testing::Test::HasFatalFailure()) return;
    ++checked;
  }
  EXPECT_GE(checked, 37u);
}

TEST(AlpGolden, Malformed) { WithEachTarget(CheckMalformedVectors); }

// Changes every byte of a page, and cuts the page at every byte. The decoder must not crash, and
// must not read past the end.
TEST(AlpGolden, DamagedPagesAreSafe) {
  for (const GoldenVector& vector : LoadVectors(/*malformed=*/false)) {
    if (vector.bytes.size() > 500) continue;
    const auto count = vector.count();
    const auto decode = [&](std::span<const uint8_t> bytes) {
      return vector.Text("type") == "FLOAT" ? Decode<float>(bytes, count, 65536).status()
                                            : Decode<double>(bytes, count, 65536).status();
    };
    std::vector<uint8_t> bytes = vector.bytes;
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {1, 0x80, 0xff}) {
        bytes[i] = static_cast<uint8_t>(bytes[i] ^ flip);
        decode(bytes).IgnoreError();
        bytes[i] = static_cast<uint8_t>(bytes[i] ^ flip);
      }
      if (count > 0) {
        EXPECT_FALSE(decode(std::span(bytes).first(i)).ok()) << "cut at " << i;
      }
    }
  }
}

}  // namespace cfile::encodings::alp_golden_test
