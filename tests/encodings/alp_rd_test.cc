// Tests what only ALP_RD has: how the encoder stores values of certain kinds, and how many bytes
// blocks take. (registry_test.cc tests the properties that all encodings share,
// damage_names_test.cc what a decoder says about damaged fields.)
#include "encodings/own/alp_rd.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "blocks.h"
#include "each_target.h"
#include "encodings/kernels/alp_rd_kernel.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/alp_rd_layout.h"

namespace cfile::encodings::alp_rd_test {

using testing::HasSubstr;

constexpr size_t kEntryBytes = AlpRdEntry::kBytes;

template <typename T>
constexpr PhysicalType TypeOf() {
  return sizeof(T) == 4 ? PhysicalType::kFloat : PhysicalType::kDouble;
}

template <typename T>
Block EncodeOne(const std::vector<T>& values) {
  std::vector<Block> blocks =
      Encode<T>({Encoding::kAlpRd, TypeOf<T>()}, values, {.block_size_bytes = size_t{1} << 24});
  EXPECT_EQ(blocks.size(), 1u);
  return std::move(blocks.front());
}

AlpRdEntry EntryOf(const Block& block, size_t index = 0) {
  return AlpRdEntry::Load(block.bytes.data() + index * kEntryBytes);
}

template <typename T>
absl::StatusOr<std::vector<T>> Decode(const Block& block) {
  const auto decoder = MakeDecoder<T>(Encoding::kAlpRd, TypeOf<T>(), {}).value();
  CFILE_RETURN_IF_ERROR(decoder->Open(GuardedView(block)));
  std::vector<T> values(block.count);
  CFILE_ASSIGN_OR_RETURN(const size_t read, decoder->Read(values));
  EXPECT_EQ(read, values.size());
  return values;
}

template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// EXPECTs that the values come back bit for bit: read at once, and each value alone.
template <typename T>
void ExpectRoundTrip(const Block& block, const std::vector<T>& values) {
  const auto decoded = Decode<T>(block);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(SameBits(*decoded, values));
  std::vector<uint32_t> positions(values.size());
  std::iota(positions.begin(), positions.end(), 0u);
  std::vector<T> gathered(values.size());
  const auto decoder = MakeDecoder<T>(Encoding::kAlpRd, TypeOf<T>(), {}).value();
  ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
  ASSERT_TRUE(decoder->Gather(positions, gathered).ok());
  EXPECT_TRUE(SameBits(gathered, values));
}

// Returns `count` values. value(random) returns the next value.
template <typename T, typename Value>
std::vector<T> Make(size_t count, const Value& value) {
  std::mt19937_64 random(7);
  std::vector<T> values(count);
  for (T& each : values) each = value(random);
  return values;
}
// Returns a number from 0 up to, but not including, 1.
double Unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// The kernels do what their comments say, for each pair of widths and on each instruction set.
template <typename U>
void ExpectKernelsKeepValues() {
  constexpr int kBits = 8 * sizeof(U);
  constexpr int kShifts[] = {0, 1, 7, 29};
  std::mt19937_64 random(1);
  for (int code_width = 0; code_width <= AlpRdForm::kMaxCodeWidth; ++code_width) {
    for (int width = 0; width + code_width <= kBits; ++width) {
      AlpRdForm form = {code_width, width, kShifts[width % 4]};
      if (form.covered() > kBits - (code_width > 0 ? 1 : 0)) form.shift = 0;
      SCOPED_TRACE(testing::Message() << code_width << ", " << width << ", " << form.shift);
      U bases[AlpRdForm::kMaxBases];
      for (U& base : bases) base = static_cast<U>(random() << form.shift);
      std::vector<U> values(kVectorValues), numbers(kVectorValues), highs(kVectorValues);
      for (U& value : values) {
        const U base = bases[random() % form.bases()];
        value = random() % 10 == 0
                    ? static_cast<U>(random() << form.shift)
                    : static_cast<U>(base + ((random() & LowBits(width)) << form.shift));
      }
      AlpRdEncode<U>(values.data(), form, bases, numbers.data(), highs.data());
      // A value is an exception only if no base covers it.
      std::vector<bool> fits(kVectorValues), exception(kVectorValues);
      for (size_t i = 0; i < kVectorValues; ++i) {
        ASSERT_LE(numbers[i], LowBits(form.width()));
        exception[i] = highs[i] != 0;
        fits[i] = std::any_of(bases, bases + form.bases(), [&](U base) {
          const U above = static_cast<U>(values[i] - base);
          return form.covered() == kBits || above >> form.covered() == 0;
        });
      }
      fits.flip();
      ASSERT_EQ(exception, fits);
      std::vector<uint8_t> packed(InterleavedBytes(form.width()));
      PackInterleaved<U>(numbers.data(), 0, form.width(), packed.data());
      std::vector<U> expected(kVectorValues), decoded(kVectorValues), patched(kVectorValues);
      AlpRdDecode<U>(packed.data(), form, bases, decoded.data());
      for (size_t i = 0; i < kVectorValues; ++i) {
        const size_t code = code_width == 0 ? 0 : static_cast<size_t>(numbers[i] >> width);
        const U offset = static_cast<U>(numbers[i] & LowBits(width));
        expected[i] = static_cast<U>(bases[code] + (offset << form.shift));
        const U high = exception[i] ? static_cast<U>(highs[i] << form.covered()) : U{0};
        patched[i] = static_cast<U>(decoded[i] + high);
      }
      ASSERT_EQ(decoded, expected);
      ASSERT_EQ(patched, values);
    }
  }
}
TEST(AlpRd, KernelsKeepValues) {
  WithEachTarget([] {
    ExpectKernelsKeepValues<uint32_t>();
    ExpectKernelsKeepValues<uint64_t>();
  });
}

TEST(AlpRd, SmallBlocksAreSmall) {
  EXPECT_EQ(EncodeOne(std::vector<double>()).bytes.size(), 0u);
  EXPECT_EQ(EncodeOne(std::vector<double>{-0.0}).bytes.size(), kEntryBytes + 8);
  EXPECT_EQ(EncodeOne(std::vector<float>{1.5f}).bytes.size(), kEntryBytes + 4);
  EXPECT_EQ(EncodeOne(std::vector<double>(5000, 0.1)).bytes.size(), 5 * (kEntryBytes + 8));
}

// Values of a small range need one base. Last bits that are 0 in all values are not stored.
TEST(AlpRd, TakesTheWidthOfTheRange) {
  for (int width = 0; width <= 64; ++width) {
    for (const int shift : {0, 3, 40}) {
      for (const size_t count : {kVectorValues, size_t{900}}) {
        if (width + shift > 64) continue;
        SCOPED_TRACE(testing::Message() << width << " bits, shift " << shift);
        const uint64_t least = width + shift >= 60 ? 0 : uint64_t{0x400} << 50;
        std::vector<double> values = Make<double>(count, [&](auto& random) {
          return std::bit_cast<double>(least + ((random() & LowBits(width)) << shift));
        });
        values[1] = std::bit_cast<double>(least);
        values[2] = std::bit_cast<double>(least + (LowBits(width) << shift));
        values[3] = std::bit_cast<double>(least + (uint64_t{width > 0} << shift));
        const Block block = EncodeOne(values);
        EXPECT_LE(block.bytes.size(), kEntryBytes + 8 + (count * width + 7) / 8);
        ExpectRoundTrip(block, values);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Floats that were converted to doubles have zeros at the end: they take about 4 bytes.
TEST(AlpRd, DropsZerosAtTheEnd) {
  const auto values = Make<double>(
      kVectorValues, [](auto& random) { return double{static_cast<float>(1 + Unit(random))}; });
  const Block block = EncodeOne(values);
  EXPECT_EQ(int{EntryOf(block).shift}, 29);
  EXPECT_LE(block.bytes.size(), kVectorValues * 23 / 8 + 20);
  ExpectRoundTrip(block, values);
}

// The kinds of values for which codes pay. `bits`: the most bits that a value may take.
TEST(AlpRd, SharesTheFirstBits) {
  const struct {
    const char* name;
    double bits;
    int code_width;  // at least
    double (*value)(std::mt19937_64&);
  } cases[] = {
      // Half of the values have the first exponent, a quarter the next, and so on.
      {"uniform", 56.0, 1, Unit},
      {"of both signs", 56.5, 1, [](auto& random) { return 2 * Unit(random) - 1; }},
      {"normal", 58.5, 2,
       [](auto& random) {
         double sum = -6;
         for (int i = 0; i < 12; ++i) sum += Unit(random);
         return sum;
       }},
      {"two ranges", 46.3, 1,
       [](auto& random) { return (random() % 2 ? 1e9 : -1e-9) * (1 + Unit(random) / 256); }},
      {"eight values", 3.6, 3,
       [](auto& random) { return std::sqrt(static_cast<double>(2 + random() % 8)); }},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const auto values = Make<double>(10 * kVectorValues, each.value);
    const Block block = EncodeOne(values);
    EXPECT_LE(8.0 * static_cast<double>(block.bytes.size()) / static_cast<double>(values.size()),
              each.bits);
    EXPECT_GE(int{EntryOf(block).code_width}, each.code_width);
    ExpectRoundTrip(block, values);
  }
}

// Random bits never take more than their own bytes and the least that a vector needs.
template <typename T>
void ExpectRandomBitsRoundTrip() {
  const auto values = Make<T>(3 * kVectorValues + 77, [](auto& random) {
    return std::bit_cast<T>(static_cast<AlpRdLane<T>>(random()));
  });
  const Block block = EncodeOne(values);
  EXPECT_LE(block.bytes.size(), values.size() * sizeof(T) + 4 * (kEntryBytes + sizeof(T)));
  ExpectRoundTrip(block, values);
}
TEST(AlpRd, RandomBitsTakeTheirOwnBytes) {
  ExpectRandomBitsRoundTrip<float>();
  ExpectRandomBitsRoundTrip<double>();
}

// Rare values of all kinds become exceptions, and keep all their bits.
template <typename T>
void ExpectExceptions() {
  using U = AlpRdLane<T>;
  using Limits = std::numeric_limits<T>;
  const U payload = std::bit_cast<U>(Limits::quiet_NaN()) | 0x12345;
  const T rare[] = {T{0},
                    -T{0},
                    Limits::infinity(),
                    -Limits::infinity(),
                    std::bit_cast<T>(payload),
                    std::bit_cast<T>(static_cast<U>(~U{0})),
                    Limits::denorm_min(),
                    Limits::max(),
                    Limits::lowest()};
  for (const size_t count : {kVectorValues, size_t{1000}}) {
    auto values = Make<T>(count, [](auto& random) { return static_cast<T>(1 + Unit(random) / 4); });
    for (size_t i = 0; i < std::size(rare); ++i) values[100 * i + 13] = rare[i];
    const Block block = EncodeOne(values);
    EXPECT_GT(EntryOf(block).exceptions, 0);
    EXPECT_LT(block.bytes.size(), count * (sizeof(T) - 1));
    ExpectRoundTrip(block, values);
  }
}
TEST(AlpRd, RareValuesAreExceptions) {
  WithEachTarget([] {
    ExpectExceptions<float>();
    ExpectExceptions<double>();
  });
}

// The encoder first tries the width of the vector before. It finds another one if that is better.
TEST(AlpRd, VectorsOfAnotherNatureFindTheirWidth) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const auto value = [&](size_t nature) {
    if (nature == 0) return 1 + normal(random) * 1e-6;
    if (nature == 1) return normal(random) * 1e6;
    return (random() % 2 == 0 ? 1.5 : -2.5e9) * (1 + normal(random) * 1e-9);
  };
  std::vector<double> values;
  size_t alone_bytes = 0;
  for (const size_t nature : {0, 1, 2, 2, 1, 0, 2, 0, 1, 1, 0, 0, 2, 1}) {
    std::vector<double> vector(kVectorValues);
    for (double& each : vector) each = value(nature);
    alone_bytes += EncodeOne(vector).bytes.size();
    values.insert(values.end(), vector.begin(), vector.end());
  }
  const Block block = EncodeOne(values);
  EXPECT_LE(block.bytes.size(), alone_bytes + alone_bytes / 100);
  ExpectRoundTrip(block, values);
}

// A search that meets a damaged vector reports it.
TEST(AlpRd, SearchesNameDamageToo) {
  std::vector<double> values(3 * kVectorValues);
  std::iota(values.begin(), values.end(), 1.0);
  Block block = EncodeOne(values);
  const auto decoder = MakeDecoder<double>(Encoding::kAlpRd, PhysicalType::kDouble, {}).value();
  ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
  const auto bound = decoder->SeekToKey(2000.0);
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->position, 1999u);
  EXPECT_TRUE(bound->exact);
  block.bytes[kEntryBytes + 4] = 9;
  ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
  EXPECT_THAT(decoder->SeekToKey(2000.0).status().ToString(), HasSubstr("vector 1, at byte 13"));
}

}  // namespace cfile::encodings::alp_rd_test
