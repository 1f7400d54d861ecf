#include "cfile/core/format/compression.h"

#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "cfile/core/format/compress.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"

namespace cfile::compression_test {

using encodings::AsBytes;
using encodings::AsString;
using encodings::ByteWriter;
using internal::CheckUncompressedSize;
using internal::Compress;
using internal::Uncompress;
using testing::HasSubstr;

std::vector<std::vector<uint8_t>> Inputs() {
  std::mt19937 random(1);
  std::vector<std::vector<uint8_t>> inputs;
  for (const size_t size : {0, 1, 2, 100, 65'536, 300'000}) {
    inputs.emplace_back(size, uint8_t{7});
    std::vector<uint8_t>& noise = inputs.emplace_back(size);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t>& text = inputs.emplace_back(size);
    for (uint8_t& byte : text) byte = static_cast<uint8_t>('a' + random() % 4);
  }
  return inputs;
}

std::vector<uint8_t> FromHex(std::string_view hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

class CompressionTest : public testing::TestWithParam<Compression> {};
INSTANTIATE_TEST_SUITE_P(BuiltIn, CompressionTest,
                         testing::ValuesIn(testing_support::BuiltInCompressions()),
                         [](const auto& codec) { return CompressionName(codec.param); });

// CheckUncompressedSize accepts the true size of the most compressible bytes and refuses a size
// that no input of the codec can have.
TEST_P(CompressionTest, ClaimsOfImpossibleSizesAreRefused) {
  const std::vector<uint8_t> zeros(8 << 20);
  ByteWriter compressed;
  ASSERT_TRUE(Compress(GetParam(), zeros, compressed).ok());
  EXPECT_TRUE(CheckUncompressedSize(GetParam(), compressed.size(), zeros.size()).ok());
  if (GetParam() == Compression::kBrotli) return;
  EXPECT_TRUE(absl::IsDataLoss(CheckUncompressedSize(GetParam(), 20, zeros.size())));
}

TEST_P(CompressionTest, RoundTrips) {
  for (const std::vector<uint8_t>& input : Inputs()) {
    ByteWriter compressed;
    compressed.PutBytes(std::string_view("before"));
    ASSERT_TRUE(Compress(GetParam(), input, compressed).ok());
    ASSERT_EQ(compressed.view().substr(0, 6), "before");
    std::vector<uint8_t> output(input.size());
    const absl::Status status = Uncompress(GetParam(), compressed.span().subspan(6), output);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(output, input);
  }
}

TEST_P(CompressionTest, RoundTripsAtEverySize) {
  std::mt19937 random(3);
  for (size_t size = 0; size < 700; ++size) {
    std::vector<uint8_t> input(size);
    const uint32_t letters = 1 + random() % 256;
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random() % letters);
    ByteWriter compressed;
    ASSERT_TRUE(Compress(GetParam(), input, compressed).ok());
    // The input's buffer has exactly the size of the input, so that sanitizers detect reads past
    // the end.
    const std::vector<uint8_t> exact(compressed.data(), compressed.data() + compressed.size());
    std::vector<uint8_t> output(size);
    const absl::Status status = Uncompress(GetParam(), exact, output);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(output, input);
  }
}

TEST_P(CompressionTest, CompressesWhatRepeats) {
  ByteWriter compressed;
  ASSERT_TRUE(Compress(GetParam(), std::vector<uint8_t>(100'000, 7), compressed).ok());
  EXPECT_LT(compressed.size(), GetParam() == Compression::kNone ? 100'001 : 10'000);
}

TEST_P(CompressionTest, WantsExactlyTheSize) {
  for (const std::vector<uint8_t>& input : Inputs()) {
    ByteWriter compressed;
    ASSERT_TRUE(Compress(GetParam(), input, compressed).ok());
    for (const size_t size : {input.size() + 1, input.size() - 1, input.size() / 2}) {
      if (size == input.size() || size > input.size() + 1) continue;
      std::vector<uint8_t> output(size);
      EXPECT_EQ(Uncompress(GetParam(), compressed.span(), output).code(),
                absl::StatusCode::kDataLoss)
          << size << " for " << input.size();
    }
  }
}

// An error about a wrong size, about bytes after the end, or about empty input names the codec.
TEST_P(CompressionTest, NamesTheCodecOfDamage) {
  const std::vector<uint8_t> input(300, uint8_t{7});
  ByteWriter compressed;
  ASSERT_TRUE(Compress(GetParam(), input, compressed).ok());
  const auto expect_damage = [](std::span<const uint8_t> bytes, size_t size) {
    std::vector<uint8_t> output(size);
    const absl::Status status = Uncompress(GetParam(), bytes, output);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_THAT(absl::AsciiStrToLower(std::string(status.message())),
                HasSubstr(CompressionName(GetParam())));
  };
  for (size_t size = 0; size < 700; ++size) {
    if (size != input.size()) expect_damage(compressed.span(), size);
  }
  for (const int follows : {0, 1, 31, 255}) {
    std::vector<uint8_t> longer(compressed.data(), compressed.data() + compressed.size());
    longer.push_back(static_cast<uint8_t>(follows));
    expect_damage(longer, input.size());
  }
  expect_damage({}, input.size());
}

// Uncompress may accept a changed byte, which only a checksum detects. Uncompress refuses truncated
// input. In both cases, sanitizers check that it does not access other memory.
TEST_P(CompressionTest, SurvivesDamage) {
  std::mt19937 random(2);
  std::vector<uint8_t> input(600);
  for (uint8_t& byte : input) byte = static_cast<uint8_t>('a' + random() % 3);
  ByteWriter compressed;
  ASSERT_TRUE(Compress(GetParam(), input, compressed).ok());
  std::vector<uint8_t> output(input.size());
  for (size_t size = 0; size < compressed.size(); ++size) {
    const std::vector<uint8_t> prefix(compressed.data(), compressed.data() + size);
    EXPECT_EQ(Uncompress(GetParam(), prefix, output).code(), absl::StatusCode::kDataLoss) << size;
  }
  std::vector<uint8_t> damaged(compressed.data(), compressed.data() + compressed.size());
  for (uint8_t& byte : damaged) {
    for (int value = 0; value < 256; ++value) {
      const uint8_t kept = std::exchange(byte, static_cast<uint8_t>(value));
      const absl::Status status = Uncompress(GetParam(), damaged, output);
      EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
      byte = kept;
    }
  }
}

TEST_P(CompressionTest, ThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(static_cast<uint32_t>(thread));
      std::vector<uint8_t> input(100'000);
      for (uint8_t& byte : input) byte = static_cast<uint8_t>('a' + random() % 4);
      for (int i = 0; i < 20; ++i) {
        ByteWriter compressed;
        ASSERT_TRUE(Compress(GetParam(), input, compressed).ok());
        std::vector<uint8_t> output(input.size());
        ASSERT_TRUE(Uncompress(GetParam(), compressed.span(), output).ok());
        ASSERT_EQ(output, input);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(CompressionTest, NameComesBack) {
  const auto parsed = ParseCompression(CompressionName(GetParam()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, GetParam());
}

// Uncompress reads bytes from other implementations: from Python's zlib and gzip and from the
// Brotli tool. The LZ4 and LZO bytes were made by hand.
TEST(ForeignCompressionTest, IsRead) {
  struct Case {
    Compression compression;
    std::string_view hex, text;
  };
  for (const Case& c :
       std::vector<Case>{{Compression::kGzip,
                          "1f8b08000000000002032bc957484a55c82f52c8cb2f51280171009ab4465a12000000",
                          "to be or not to be"},
                         {Compression::kZlib, "789c2bc957484a55c82f52c8cb2f51280171003aa20627",
                          "to be or not to be"},
                         {Compression::kBrotli, "0b028068656c6c6f03", "hello"},
                         {Compression::kBrotli, "06", ""},
                         {Compression::kLz4, "5068656c6c6f", "hello"},
                         {Compression::kLz4,
                          "1f610100"
                          "01"
                          "505858585858",
                          "aaaaaaaaaaaaaaaaaaaaaXXXXX"},
                         {Compression::kLzo, "1668656c6c6f110000", "hello"}}) {
    if (!CheckCompressionBuiltIn(c.compression).ok()) continue;
    std::vector<uint8_t> output(c.text.size());
    const absl::Status status = Uncompress(c.compression, FromHex(c.hex), output);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(AsString(output), c.text);
  }
}

// A gzip stream may have several members, as `cat a.gz b.gz` produces them. Parquet's readers
// accept such streams, too.
TEST(ForeignCompressionTest, GzipMembersFollowEachOther) {
  if (!CheckCompressionBuiltIn(Compression::kGzip).ok()) GTEST_SKIP();
  ByteWriter members;
  for (const std::string_view text : {"one ", "", "two ", "three", ""}) {
    ASSERT_TRUE(Compress(Compression::kGzip, AsBytes(text), members).ok());
  }
  std::vector<uint8_t> output(13);
  const absl::Status status = Uncompress(Compression::kGzip, members.span(), output);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(AsString(output), "one two three");
  for (const size_t size : {0, 4, 8, 12, 14}) {
    output.resize(size);
    EXPECT_TRUE(absl::IsDataLoss(Uncompress(Compression::kGzip, members.span(), output))) << size;
  }
  // A zlib stream is not accepted as gzip.
  ByteWriter zlib;
  ASSERT_TRUE(Compress(Compression::kZlib, AsBytes("two"), zlib).ok());
  output.resize(3);
  EXPECT_TRUE(absl::IsDataLoss(Uncompress(Compression::kGzip, zlib.span(), output)));
}

TEST(ForeignCompressionTest, ZlibHasNoDictionary) {
  if (!CheckCompressionBuiltIn(Compression::kZlib).ok()) GTEST_SKIP();
  std::vector<uint8_t> output(18);
  const absl::Status status =
      Uncompress(Compression::kZlib, FromHex("78bb1aeb043d2b41622b8039003aa20627"), output);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("dictionary"));
}

TEST(CompressionNameTest, SaysWhatWasNotBuiltIn) {
  for (const Compression compression : AllCompressions()) {
    if (CheckCompressionBuiltIn(compression).ok()) continue;
    const std::string name = CompressionName(compression);
    ByteWriter out;
    std::vector<uint8_t> bytes(3);
    for (const absl::Status& status :
         {CheckCompressionBuiltIn(compression), ParseCompression(name).status(),
          Compress(compression, bytes, out), Uncompress(compression, bytes, bytes)}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
      EXPECT_EQ(status.message(), "compression codec " + name + " was not built into this library");
    }
    EXPECT_TRUE(out.empty());
  }
  EXPECT_EQ(CompressionName(static_cast<Compression>(55)), "compression 55");
  EXPECT_EQ(CheckCompressionBuiltIn(static_cast<Compression>(55)).code(),
            absl::StatusCode::kUnimplemented);
}

TEST(CompressionNameTest, ListsTheCodecsForAnUnknownName) {
  const auto parsed = ParseCompression("zstandard");
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(parsed.status().message(), HasSubstr("\"zstandard\""));
  EXPECT_THAT(parsed.status().message(), HasSubstr("none"));
}

TEST(CompressionNameTest, DefaultIsNone) {
  EXPECT_TRUE(CheckCompressionBuiltIn(Compression::kDefault).ok());
  EXPECT_EQ(CompressionName(Compression::kDefault), "none");
}

}  // namespace cfile::compression_test
