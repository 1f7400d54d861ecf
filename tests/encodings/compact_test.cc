// Tests what only COMPACT has: which transformation the encoder chooses, and how many bytes blocks
// take. (registry_test.cc tests the properties that all encodings share, damage_names_test.cc what
// a decoder says about damaged fields.)
#include "encodings/own/compact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "blocks.h"
#include "encodings/own/compact_layout.h"

namespace cfile::encodings::compact_test {

template <typename T>
constexpr PhysicalType TypeOf() {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? PhysicalType::kFloat : PhysicalType::kDouble;
  } else {
    return sizeof(T) == 8   ? std::is_signed_v<T> ? PhysicalType::kInt64 : PhysicalType::kUint64
           : sizeof(T) == 4 ? PhysicalType::kInt32
                            : PhysicalType::kUint8;
  }
}

template <typename T>
Block EncodeOne(const std::vector<T>& values) {
  std::vector<Block> blocks =
      Encode<T>({Encoding::kCompact, TypeOf<T>()}, values, {.block_size_bytes = size_t{1} << 24});
  EXPECT_EQ(blocks.size(), 1u);
  return std::move(blocks.front());
}

template <typename T>
absl::StatusOr<std::vector<T>> Decode(const Block& block) {
  const auto decoder = MakeDecoder<T>(Encoding::kCompact, TypeOf<T>(), {}).value();
  CFILE_RETURN_IF_ERROR(decoder->Open(GuardedView(block)));
  std::vector<T> values(block.count);
  for (size_t done = 0; done < values.size();) {
    const size_t some = std::min(values.size() - done, kMaxBatchValues);
    CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read({values.data() + done, some}));
    done += read;
  }
  return values;
}

// What the encoder has chosen for a block.
struct Found {
  uint8_t flags;  // the transformation
  int bins;       // the number of bins
  double bits;    // the size of the block in bits, divided by the number of values
};
// Encodes values into one block. EXPECTs that decoding gives the same values, bit for bit.
template <typename T>
Found RoundTrip(const std::vector<T>& values) {
  const Block block = EncodeOne(values);
  const auto decoded = Decode<T>(block);
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(decoded.ok() &&
              std::memcmp(decoded->data(), values.data(), values.size() * sizeof(T)) == 0);
  return {block.bytes[0], block.bytes[2] + 1,
          8 * static_cast<double>(block.bytes.size()) / static_cast<double>(values.size())};
}

constexpr uint8_t kLine = 4;
constexpr uint8_t kMultiples = 8;
constexpr uint8_t kDecimals = 16;

// Returns `count` values. value(i, random number) returns value i.
template <typename T, typename Value>
std::vector<T> Make(size_t count, const Value& value) {
  std::mt19937_64 random(7);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<T>(value(i, random())));
  return values;
}

TEST(Compact, FindsTheTransformation) {
  // The values of each column suit one transformation. The limits of the sizes are close to the
  // smallest possible sizes.
  const Found line = RoundTrip(
      Make<int64_t>(20'000, [](uint64_t i, uint64_t r) { return -5000 + 1000 * i + r % 1000; }));
  EXPECT_EQ(line.flags, kLine);
  EXPECT_EQ(line.bins, 1);
  EXPECT_LT(line.bits, 10.2);

  int64_t at = -1000;
  const Found deltas = RoundTrip(
      Make<int64_t>(20'000, [&](uint64_t, uint64_t r) { return at += std::popcount(r % 4096); }));
  EXPECT_EQ(deltas.flags, 1);
  EXPECT_GT(deltas.bins, 5);
  EXPECT_LT(deltas.bits, 3.2);

  int64_t speed = 0;
  const Found second = RoundTrip(Make<int64_t>(20'000, [&](uint64_t, uint64_t r) {
    return at += speed += static_cast<int64_t>(r % 16) - 7;
  }));
  EXPECT_EQ(second.flags, 2);
  EXPECT_LT(second.bits, 4.4);

  const Found multiples = RoundTrip(Make<int32_t>(
      20'000, [](uint64_t, uint64_t r) { return static_cast<int64_t>(r % 30) * 86'400 - 1234; }));
  EXPECT_EQ(multiples.flags, kMultiples);
  EXPECT_LT(multiples.bits, 5.2);

  const Found decimals = RoundTrip(Make<double>(
      20'000, [](uint64_t, uint64_t r) { return static_cast<double>(r % 1000) / 100; }));
  EXPECT_EQ(decimals.flags, kDecimals);
  EXPECT_LT(decimals.bits, 10.2);

  // Only one value in 100 is different from the others, so a code takes less than a bit.
  const Found rare =
      RoundTrip(Make<uint8_t>(20'000, [](uint64_t, uint64_t r) { return r % 100 == 0 ? 200 : 3; }));
  EXPECT_EQ(rare.bins, 2);
  EXPECT_LT(rare.bits, 0.25);
}

// Floats that are not decimals become exceptions, and keep all their bits.
TEST(Compact, DecimalsHaveExceptions) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values =
      Make<float>(5000, [](uint64_t i, uint64_t) { return static_cast<float>(i % 700) / 8; });
  const float others[] = {-0.0f,
                          Limits::quiet_NaN(),
                          Limits::infinity(),
                          Limits::max(),
                          Limits::denorm_min(),
                          -Limits::infinity(),
                          Limits::lowest(),
                          std::bit_cast<float>(0xffc12345u)};
  for (size_t i = 0; i < std::size(others); ++i) values[i * 600 + 3] = others[i];
  EXPECT_EQ(RoundTrip(values).flags & kDecimals, kDecimals);
  // If many values are not decimals, the encoder does not use decimals.
  for (size_t i = 0; i < values.size(); i += 2) values[i] = std::sqrt(static_cast<float>(i + 2));
  EXPECT_EQ(RoundTrip(values).flags & kDecimals, 0);
}

template <typename T>
void TryExtremes() {
  using Limits = std::numeric_limits<T>;
  const T ends[] = {Limits::lowest(), Limits::max(), T{0}, static_cast<T>(1)};
  for (const size_t count : {1u, 2u, 3u, 1023u, 1024u, 1025u, 3000u}) {
    RoundTrip(std::vector<T>(count, Limits::max()));
    RoundTrip(std::vector<T>(count, Limits::lowest()));
    RoundTrip(Make<T>(count, [&](uint64_t, uint64_t r) { return ends[r % 4]; }));
    RoundTrip(Make<T>(count, [&](uint64_t i, uint64_t) { return ends[i % 2]; }));
    std::vector<T> noise(count);
    std::mt19937_64 random(count);
    for (T& value : noise) {
      const uint64_t bits = random();
      std::memcpy(&value, &bits, sizeof(T));
    }
    const double bits = RoundTrip(noise).bits;
    const double pages = static_cast<double>((count + 1023) / 1024);
    EXPECT_LE(bits * static_cast<double>(count) / 8,
              static_cast<double>(count * sizeof(T) + 5 + sizeof(T)) + 4 * pages);
  }
}
TEST(Compact, TakesAllValuesOfAType) {
  TryExtremes<uint8_t>();
  TryExtremes<int32_t>();
  TryExtremes<int64_t>();
  TryExtremes<uint64_t>();
  TryExtremes<float>();
  TryExtremes<double>();
}

// If a byte of a block is changed, decoding returns values or an error. (GuardedView finds reads
// outside of the block.)
TEST(Compact, SurvivesChangedBytes) {
  const Block sound = EncodeOne(Make<int64_t>(
      2100, [](uint64_t i, uint64_t r) { return i * 50 + (r % 8 == 0 ? r >> 20 : r % 16); }));
  std::mt19937_64 random(3);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Block damaged = sound;
    const size_t at = random() % (round % 2 == 0 ? 100 : damaged.bytes.size());
    damaged.bytes[at] = static_cast<uint8_t>(random());
    const auto decoded = Decode<int64_t>(damaged);
    refused += decoded.ok() ? 0 : 1;
    EXPECT_TRUE(decoded.ok() || absl::IsDataLoss(decoded.status())) << decoded.status();
  }
  EXPECT_GT(refused, 500);
}

}  // namespace cfile::encodings::compact_test
