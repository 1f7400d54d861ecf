#include "cfile/internal/compression.h"

#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "encodings/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile {
namespace {

using encodings::AsBytes;
using encodings::AsString;
using encodings::ByteWriter;
using internal::Compress;
using internal::Uncompress;
using testing::HasSubstr;

constexpr Compression kAll[] = {Compression::kNone,   Compression::kSnappy, Compression::kLz4,
                                Compression::kZlib,   Compression::kGzip,   Compression::kLzo,
                                Compression::kBrotli, Compression::kZstd};

std::vector<Compression> BuiltIn() {
  std::vector<Compression> built_in;
  for (const Compression compression : kAll) {
    if (CheckCompressionBuiltIn(compression).ok()) built_in.push_back(compression);
  }
  return built_in;
}

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

class CompressionTest : public testing::TestWithParam<Compression> {};
INSTANTIATE_TEST_SUITE_P(BuiltIn, CompressionTest, testing::ValuesIn(BuiltIn()),
                         [](const auto& codec) { return CompressionName(codec.param); });

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

// A flipped byte may go unnoticed (that is what checksums are for), a missing one may not. Neither
// may touch other memory, which the sanitizers watch.
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

TEST(CompressionNameTest, SaysWhatWasNotBuiltIn) {
  for (const Compression compression : kAll) {
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

}  // namespace
}  // namespace cfile
