#include "encodings/hybrid/rle_hybrid.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "encodings/kernels/bit_packing.h"
#include "gtest/gtest.h"

namespace cfile::encodings::rle_hybrid_test {

using Bytes = std::vector<uint8_t>;
using Values = std::vector<uint64_t>;

// Bytes in a heap block of their exact size, so that AddressSanitizer detects any read outside of
// the block.
struct Exact {
  explicit Exact(std::span<const uint8_t> bytes) : size(bytes.size()), data(new uint8_t[size]) {
    std::copy(bytes.begin(), bytes.end(), data.get());
  }
  std::span<const uint8_t> span() const { return {data.get(), size}; }

  size_t size;
  std::unique_ptr<uint8_t[]> data;
};

Bytes Encode(const Values& values, int width, bool kudu_exact,
             LastGroup last_group = LastGroup::kTruncated) {
  RleHybridEncoder encoder(width, kudu_exact);
  for (const uint64_t value : values) encoder.PutRun(value, 1);
  ByteWriter out;
  encoder.Finish(out, last_group);
  return {out.span().begin(), out.span().end()};
}

absl::StatusOr<Values> Decode(std::span<const uint8_t> bytes, int width, size_t count) {
  RleHybridReader reader(bytes, width);
  Values values(count);
  CFILE_RETURN_IF_ERROR(reader.Read(values.data(), count));
  return values;
}

// Encodes value by value with Kudu's policy, as cfile/FORMAT.md describes it. Literal runs consist
// of groups; a repeated run has a count of values.
Bytes EncodeAsKudu(const Values& values, int width) {
  ByteWriter out;
  Values literals;
  const auto close = [&] {
    if (literals.empty()) return;
    out.PutFixed(static_cast<uint8_t>((literals.size() + 7) / 8 << 1 | 1));
    PackBits<uint64_t>(literals, width, out);
    literals.clear();
  };
  const auto repeat = [&](uint64_t value, size_t count) {
    close();
    out.PutVint(count << 1);
    for (int i = 0; i < (width + 7) / 8; ++i) out.PutFixed(static_cast<uint8_t>(value >> (8 * i)));
  };
  for (size_t i = 0; i < values.size();) {
    size_t equal = 1;
    while (i + equal < values.size() && values[i + equal] == values[i]) ++equal;
    if (equal >= 8 || (literals.empty() && i + equal == values.size())) {
      repeat(values[i], equal);
      i += equal;
    } else {
      const size_t group = std::min<size_t>(8, values.size() - i);
      literals.insert(literals.end(), values.begin() + static_cast<ptrdiff_t>(i),
                      values.begin() + static_cast<ptrdiff_t>(i + group));
      i += group;
      if (literals.size() == 63 * 8) close();
    }
  }
  close();
  return {out.span().begin(), out.span().end()};
}

// Returns runs with this mean length, of few or of many different values.
Values RandomRuns(std::mt19937_64& random, size_t count, int width, double mean_run,
                  bool few_values) {
  std::geometric_distribution<size_t> length(1 / (mean_run + 0.01));
  Values values;
  while (values.size() < count) {
    const uint64_t value = (few_values ? random() % 3 : random()) & LowBits(width);
    values.insert(values.end(), std::min(1 + length(random), count - values.size()), value);
  }
  return values;
}

TEST(RleHybridTest, TheDocumentsStream) {
  const Bytes bytes = {0b00000101, 0b11101011, 0b00000010, 0b00010000, 0b00000001};
  const Values expected = {1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(*Decode(bytes, 1, 24), expected);
  EXPECT_EQ(Encode(expected, 1, true), bytes);
}

TEST(RleHybridTest, LiteralGroup) {
  EXPECT_EQ(Encode({0, 1, 2, 3, 4, 5, 6, 7}, 3, true), (Bytes{3, 0x88, 0xc6, 0xfa}));
  EXPECT_EQ(Encode({0, 1, 1, 0}, 1, true), (Bytes{3, 6}));
}

TEST(RleHybridTest, LastLiteralGroup) {
  EXPECT_EQ(Encode({1, 2, 3}, 16, false, LastGroup::kTruncated), (Bytes{3, 1, 0, 2, 0, 3, 0}));
  EXPECT_EQ(Encode({1, 2, 3}, 16, false, LastGroup::kWhole),
            (Bytes{3, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(RleHybridTest, RepeatedRuns) {
  EXPECT_EQ(Encode(Values(100, 0x1234), 16, true), (Bytes{0xc8, 1, 0x34, 0x12}));
  EXPECT_EQ(Encode(Values(3, 7), 8, true), (Bytes{6, 7}));  // a shorter run at the end
  EXPECT_EQ(Encode(Values(9, 0), 0, false), (Bytes{18}));
}

TEST(RleHybridTest, KuduExactIsKudusPolicy) {
  std::mt19937_64 random(1);
  for (const int width : {1, 2, 3, 7, 8, 9, 16, 31, 32, 64}) {
    for (const double mean_run : {1.0, 1.5, 3.0, 8.0, 12.0, 40.0, 700.0}) {
      for (const bool few_values : {false, true}) {
        const size_t count = random() % 3000;
        const Values values = RandomRuns(random, count, width, mean_run, few_values);
        ASSERT_EQ(Encode(values, width, true), EncodeAsKudu(values, width))
            << width << " " << mean_run;
      }
    }
  }
}

TEST(RleHybridTest, NeverLongerThanKuduExact) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 5000; ++round) {
    const int width = 1 + static_cast<int>(random() % 10);
    // The runs have changing lengths, often close to the lengths at which Kudu's encoder or ours
    // makes a repeated run.
    Values values;
    const size_t stretches = random() % 20;
    for (size_t stretch = 0; stretch < stretches; ++stretch) {
      const size_t longest = size_t{1} << random() % 9;
      for (size_t runs = random() % 20; runs > 0; --runs) {
        values.insert(values.end(), 1 + random() % longest, random() % 2 & LowBits(width));
      }
      for (size_t literals = random() % 3 == 0 ? random() % 1200 : 0; literals > 0; --literals) {
        values.push_back(literals & LowBits(width));
      }
    }
    for (const LastGroup last_group : {LastGroup::kTruncated, LastGroup::kWhole}) {
      const Bytes bytes = Encode(values, width, false, last_group);
      ASSERT_LE(bytes.size(), Encode(values, width, true, last_group).size())
          << "width " << width << " round " << round;
      ASSERT_EQ(*Decode(bytes, width, values.size()), values);
    }
  }
}

TEST(RleHybridTest, RandomNullsBecomeOneLiteralRun) {
  std::mt19937_64 random(3);
  Values bits(100000);
  for (uint64_t& bit : bits) bit = random() % 10 != 0;
  EXPECT_LE(Encode(bits, 1, false).size(), 12600u);
  EXPECT_GE(Encode(bits, 1, true).size(), 14000u);
}

// PutValues, PutBits and PutRun make the same stream.
TEST(RleHybridTest, ValuesBitsAndRunsMakeOneStream) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    const int width = static_cast<int>(random() % (round % 2 == 0 ? 65 : 9));
    const bool kudu_exact = random() % 2 == 0;
    const double mean_run = 1.0 + static_cast<double>(random() % 30);
    const Values values = RandomRuns(random, random() % 1500, width, mean_run, random() % 2 == 0);
    const Bytes expected = Encode(values, width, kudu_exact);

    RleHybridEncoder encoder(width, kudu_exact);
    ByteWriter out;
    for (size_t i = 0; i < values.size();) {  // in batches
      const size_t taken = std::min<size_t>(1 + random() % 300, values.size() - i);
      encoder.PutValues(std::span<const uint64_t>(values).subspan(i, taken));
      i += taken;
    }
    encoder.Finish(out, LastGroup::kTruncated);
    ASSERT_EQ(Bytes(out.span().begin(), out.span().end()), expected);

    if (width <= 8) {
      const Bytes bytes(values.begin(), values.end());
      encoder.PutValues(std::span<const uint8_t>(bytes));
      out.Clear();
      encoder.Finish(out, LastGroup::kTruncated);
      ASSERT_EQ(Bytes(out.span().begin(), out.span().end()), expected);
    }
    if (width <= 16) {
      const std::vector<uint16_t> levels(values.begin(), values.end());
      encoder.PutValues(std::span<const uint16_t>(levels));
      out.Clear();
      encoder.Finish(out, LastGroup::kTruncated);
      ASSERT_EQ(Bytes(out.span().begin(), out.span().end()), expected);
    }
    if (width == 1) {
      for (size_t i = 0; i < values.size();) {
        const size_t taken = std::min<size_t>(1 + random() % 64, values.size() - i);
        uint64_t bits = random() << (taken - 1) << 1;  // higher bits are ignored
        for (size_t k = 0; k < taken; ++k) bits |= values[i + k] << k;
        encoder.PutBits(bits, static_cast<int>(taken));
        i += taken;
      }
      out.Clear();
      encoder.Finish(out, LastGroup::kTruncated);
      ASSERT_EQ(Bytes(out.span().begin(), out.span().end()), expected);
    }
  }
}

TEST(RleHybridTest, SizeBytesIsKudus) {
  RleHybridEncoder encoder(16, true);
  EXPECT_EQ(encoder.size_bytes(), 0u);
  for (uint64_t i = 0; i < 7; ++i) encoder.PutRun(i, 1);
  EXPECT_EQ(encoder.size_bytes(), 0u);  // an incomplete group does not count
  encoder.PutRun(7, 1);
  EXPECT_EQ(encoder.size_bytes(), 17u);
  for (uint64_t i = 8; i < 504; ++i) encoder.PutRun(i, 1);
  EXPECT_EQ(encoder.size_bytes(), 1u + 2 * 504);
  for (uint64_t i = 504; i < 512; ++i) encoder.PutRun(i, 1);
  EXPECT_EQ(encoder.size_bytes(), 2u + 2 * 512);
  encoder.PutRun(1, 1000000);
  EXPECT_EQ(encoder.size_bytes(), 2u + 2 * 512);  // a pending run does not count
  encoder.PutRun(2, 1);
  EXPECT_EQ(encoder.size_bytes(), 2u + 2 * 512 + 3 + 2);
}

template <typename T>
void CheckReads(std::span<const uint8_t> bytes, int width, const Values& values,
                std::mt19937_64& random) {
  RleHybridReader reader(bytes, width);
  for (size_t position = 0; position < values.size();) {
    ASSERT_EQ(reader.position(), position);
    ASSERT_EQ(*reader.Peek(), values[position]);
    const size_t taken = std::min<size_t>(random() % 100, values.size() - position);
    const std::unique_ptr<T[]> read(new T[taken]);
    ASSERT_TRUE(reader.Read(read.get(), taken).ok());
    for (size_t i = 0; i < taken; ++i)
      ASSERT_EQ(read[i], values[position + i]) << "width " << width;
    position += taken;
  }
}

void CheckBits(std::span<const uint8_t> bytes, const Values& values, std::mt19937_64& random) {
  RleHybridReader reader(bytes, 1);
  for (size_t position = 0; position < values.size();) {
    const size_t taken = std::min<size_t>(random() % 1000, values.size() - position);
    const std::unique_ptr<uint8_t[]> bits(new uint8_t[(taken + 7) / 8]);
    const absl::StatusOr<uint64_t> ones = reader.ReadBits(taken, bits.get());
    ASSERT_TRUE(ones.ok());
    uint64_t expected_ones = 0;
    for (size_t i = 0; i < 8 * ((taken + 7) / 8); ++i) {
      const uint64_t expected = i < taken ? values[position + i] : 0;
      ASSERT_EQ(bits[i / 8] >> (i % 8) & 1, static_cast<int>(expected));
      expected_ones += expected;
    }
    ASSERT_EQ(*ones, expected_ones);
    position += taken;
  }
}

TEST(RleHybridTest, EveryWidthReadsBack) {
  std::mt19937_64 random(5);
  for (int width = 0; width <= 64; ++width) {
    for (const double mean_run : {1.0, 4.0, 12.0, 100.0}) {
      for (const bool kudu_exact : {false, true}) {
        const Values values =
            RandomRuns(random, 1000 + random() % 1000, width, mean_run, random() % 2 == 0);
        const Exact bytes(Encode(values, width, kudu_exact));
        if (width <= 8) CheckReads<uint8_t>(bytes.span(), width, values, random);
        if (width <= 16) CheckReads<uint16_t>(bytes.span(), width, values, random);
        if (width <= 32) CheckReads<uint32_t>(bytes.span(), width, values, random);
        CheckReads<uint64_t>(bytes.span(), width, values, random);
        if (width == 1) CheckBits(bytes.span(), values, random);
      }
    }
  }
}

TEST(RleHybridTest, SeeksAnywhere) {
  std::mt19937_64 random(6);
  for (const int width : {0, 1, 5, 32, 64}) {
    for (const double mean_run : {1.0, 6.0, 50.0, 3000.0}) {
      const Values values = RandomRuns(random, 40000, width, mean_run, true);
      std::vector<uint64_t> ones(values.size() + 1);
      for (size_t i = 0; i < values.size(); ++i) ones[i + 1] = ones[i] + values[i];
      const Exact bytes(Encode(values, width, random() % 2 == 0));
      RleHybridReader reader(bytes.span(), width);
      for (int seek = 0; seek < 500; ++seek) {
        // Seek to any position, or to one a little after the current position.
        const size_t near = reader.position() + random() % 300;
        const size_t position =
            seek % 2 == 0 ? random() % (values.size() + 1) : std::min<size_t>(near, values.size());
        if (width == 1 && random() % 2 == 0) {
          const absl::StatusOr<uint64_t> found = reader.SeekAndCountOnes(position);
          ASSERT_TRUE(found.ok());
          ASSERT_EQ(*found, ones[position]);
        } else {
          ASSERT_TRUE(reader.SeekTo(position).ok());
        }
        ASSERT_EQ(reader.position(), position);
        uint64_t next[20];
        const size_t taken = std::min<size_t>(20, values.size() - position);
        ASSERT_TRUE(reader.Read(next, taken).ok());
        for (size_t i = 0; i < taken; ++i) ASSERT_EQ(next[i], values[position + i]);
      }
    }
  }
}

TEST(RleHybridTest, FindsLowerBounds) {
  std::mt19937_64 random(7);
  for (const int width : {1, 3, 8, 32, 64}) {
    for (const bool is_signed : {false, true}) {
      const uint64_t flip = is_signed ? uint64_t{1} << (width - 1) : 0;
      for (const double mean_run : {1.0, 5.0, 200.0}) {
        Values ordered = RandomRuns(random, 20000, width, mean_run, false);
        std::sort(
            ordered.begin(),
            ordered.end());  // in the order of values, which are stored with the sign bit flipped
        Values values = ordered;
        for (uint64_t& value : values) value ^= flip;
        const Exact bytes(Encode(values, width, random() % 2 == 0));
        RleHybridReader reader(bytes.span(), width);
        for (int seek = 0; seek < 300; ++seek) {
          const uint64_t key =
              seek % 2 == 0 ? ordered[random() % ordered.size()] : random() & LowBits(width);
          const auto expected =
              std::lower_bound(ordered.begin(), ordered.end(), key) - ordered.begin();
          const absl::StatusOr<uint64_t> found = reader.SeekToLowerBound(key, flip, ordered.size());
          ASSERT_TRUE(found.ok());
          ASSERT_EQ(*found, static_cast<uint64_t>(expected)) << "width " << width;
          ASSERT_EQ(reader.position(), *found);
          if (*found < ordered.size()) {
            ASSERT_EQ(*reader.Peek(), values[*found]);
          }
        }
      }
    }
  }
}

// Encoding and seeking take work for each run, not for each value. There are so many values that
// work for each of them would not end before the test runner stops this test. What can be counted
// is also checked: bytes, runs and checkpoints.
TEST(RleHybridTest, WorkDependsOnRunsNotOnValues) {
  constexpr uint64_t kRuns = 1000;  // of each of two values
  constexpr uint64_t kValues = kRuns * kMaxRunValues;
  RleHybridEncoder encoder(32, false);
  encoder.PutRun(5, kValues);
  encoder.PutRun(6, kValues);
  encoder.PutRun(7, 3);
  ByteWriter out;
  encoder.Finish(out, LastGroup::kTruncated);
  EXPECT_LE(out.size(), 2 * kRuns * 9 + 16);  // for each run a header of 5 bytes and a value of 4

  RleHybridReader reader(out.span(), 32);
  uint64_t runs = 0;
  for (HybridCursor cursor = reader.cursor(); cursor.NextRun();) ++runs;
  EXPECT_EQ(runs, 2 * kRuns + 1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(reader.SeekTo(kValues - 1).ok());
    uint32_t read[3];
    ASSERT_TRUE(reader.Read(read, 3).ok());
    EXPECT_EQ(read[0], 5u);
    EXPECT_EQ(read[1], 6u);
    ASSERT_EQ(*reader.SeekToLowerBound(7, 0, 2 * kValues + 3), 2 * kValues);
  }
  const auto checkpoints = RleHybridReader(out.span(), 32).FindCheckpoints(2 * kValues + 3);
  ASSERT_TRUE(checkpoints.ok());
  EXPECT_LE(checkpoints->size(), 1 + runs / 32);  // one for every 32 runs
}

TEST(RleHybridTest, TakesWhatOtherWritersMake) {
  // The reader accepts runs of fewer than 8 values, a header that is longer than necessary, two
  // literal runs in a row, and a last run with too many values.
  EXPECT_EQ(*Decode(Bytes{2, 1, 4, 0, 2, 1}, 1, 4), (Values{1, 0, 0, 1}));
  EXPECT_EQ(*Decode(Bytes{0x86, 0x80, 0x80, 0x00, 1}, 1, 3), (Values{1, 1, 1}));
  EXPECT_EQ(*Decode(Bytes{3, 0x0f, 3, 0xff}, 1, 9), (Values{1, 1, 1, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(*Decode(Bytes{200, 1, 1}, 1, 2), (Values{1, 1}));
  // The reader accepts a last literal run that ends at the last byte that its values need, even if
  // its header counts far more groups.
  EXPECT_EQ(*Decode(Bytes{3, 1, 0, 2, 0}, 16, 2), (Values{1, 2}));
  EXPECT_EQ(*Decode(Bytes{0xff, 0xff, 0xff, 0xff, 0x01, 1, 0, 2, 0}, 16, 2), (Values{1, 2}));
}

TEST(RleHybridTest, RefusesAndSaysWhy) {
  struct Case {
    Bytes bytes;
    int width;
    size_t count;
    const char* message;
  };
  const Case cases[] = {
      {{}, 1, 1, "run at byte 0 of 0, for value 0: the bytes end before the run"},
      {{2, 1}, 1, 2, "run at byte 2 of 2, for value 1: the bytes end before the run"},
      {{0, 1}, 1, 1, "its length is 0"},
      {{1, 1}, 1, 1, "its length is 0"},
      {{0x80}, 1, 1, "not a vint of at most 32 bits"},
      {{0xff, 0xff, 0xff, 0xff, 0x1f, 1}, 1, 1, "not a vint of at most 32 bits"},
      {{2, 2}, 1, 1, "its value has more bits than the width"},
      {{2, 1, 4}, 10, 1, "its value has more bits than the width"},
      {{2, 1, 0, 0}, 32, 1, "its value takes 4 bytes, found 3"},
      {{0x81, 0x80, 0x80, 0x80, 0x02, 1, 0, 2, 0}, 16, 2, "expected at most 268435455"},
      {{3, 1, 2, 3}, 32, 1, "the bytes end before the first value of its 1 literal groups"},
      {{3, 1, 2, 3, 4}, 32, 2, "for value 1: the bytes end before the run"},
  };
  for (const Case& one : cases) {
    const absl::StatusOr<Values> values = Decode(Exact(one.bytes).span(), one.width, one.count);
    ASSERT_EQ(values.status().code(), absl::StatusCode::kDataLoss) << one.message;
    EXPECT_NE(values.status().message().find(one.message), std::string_view::npos)
        << values.status();
  }
}

// Makes all calls on arbitrary bytes. Returns whether all values could be read.
bool Torture(std::span<const uint8_t> bytes, int width, size_t count) {
  const absl::StatusOr<Values> values = Decode(bytes, width, count);
  RleHybridReader reader(bytes, width);
  for (const size_t position : {count / 2, count, size_t{0}}) {
    const bool found = reader.SeekTo(position).ok();
    EXPECT_TRUE(found || !values.ok());
    EXPECT_EQ(reader.position(), found ? position : 0);
    const absl::StatusOr<uint64_t> next = reader.Peek();
    EXPECT_TRUE(!next.ok() || *next <= LowBits(width));
    EXPECT_TRUE(reader.SeekTo(0).ok());
  }
  const absl::StatusOr<uint64_t> bound = reader.SeekToLowerBound(LowBits(width) / 2, 0, count);
  EXPECT_EQ(bound.ok(), values.ok());
  EXPECT_TRUE(!bound.ok() || *bound <= count);
  if (width == 1) {
    const std::unique_ptr<uint8_t[]> bits(new uint8_t[(count + 7) / 8]);
    const absl::StatusOr<uint64_t> ones = RleHybridReader(bytes, width).ReadBits(count, bits.get());
    EXPECT_EQ(ones.ok(), values.ok());
    EXPECT_TRUE(!ones.ok() || *ones <= count);
  }
  return values.ok();
}

TEST(RleHybridTest, EveryPrefixAndEveryChangedByte) {
  std::mt19937_64 random(8);
  for (const int width : {0, 1, 2, 7, 8, 12, 32, 33, 64}) {
    for (const double mean_run : {1.0, 9.0, 60.0}) {
      const Values values = RandomRuns(random, 400, width, mean_run, true);
      const Bytes bytes = Encode(values, width, random() % 2 == 0);
      for (size_t size = 0; size < bytes.size(); ++size) {
        const Exact prefix(std::span<const uint8_t>(bytes).first(size));
        EXPECT_FALSE(Torture(prefix.span(), width, values.size()));
      }
      for (size_t i = 0; i < bytes.size(); ++i) {
        for (const int change : {1, 2, 0x80, 0xff}) {
          Bytes changed = bytes;
          changed[i] ^= static_cast<uint8_t>(change);
          Torture(Exact(changed).span(), width, values.size());
        }
      }
    }
  }
  for (int round = 0; round < 20000; ++round) {  // random bytes
    Bytes noise(random() % 40);
    for (uint8_t& byte : noise)
      byte = static_cast<uint8_t>(random() % 4 == 0 ? random() : random() % 16);
    Torture(Exact(noise).span(), static_cast<int>(random() % 65), random() % 300);
  }
}

// The stream has two runs of 50 bits, and the third run is missing. The error names the first
// missing value.
TEST(RleHybridReader, DamageIsNamedByItsValue) {
  const std::vector<uint8_t> bytes = {100, 1, 100, 0};
  const std::string message =
      "RLE-hybrid of width 1: run at byte 4 of 4, for value 100: the bytes end before the run";
  RleHybridReader reader(bytes, 1);
  uint8_t bits[16];
  ASSERT_EQ(*reader.ReadBits(30, bits), 30u);
  EXPECT_EQ(reader.ReadBits(90, bits).status().message(), message);
  uint8_t values[90];
  EXPECT_EQ(reader.Read(values, 90).message(), message);
  EXPECT_EQ(reader.SeekTo(101).message(), message);
  EXPECT_EQ(reader.position(), 30u);
}

// Bytes may change while a reader has them open, as in a mapped file. The reader then returns
// errors or other values, but does not crash.
TEST(RleHybridReader, SurvivesBytesThatChange) {
  RleHybridEncoder encoder(1, /*kudu_exact=*/false);
  for (int i = 0; i < 100; ++i) encoder.PutBits(0x5555555555555555, 64);
  ByteWriter bytes;
  encoder.Finish(bytes, LastGroup::kWhole);
  std::vector<uint8_t> changing(bytes.span().begin(), bytes.span().end());
  for (const bool known : {false, true}) {
    RleHybridReader finder(changing, 1);
    const auto checkpoints = finder.FindCheckpoints(6400);
    ASSERT_TRUE(checkpoints.ok());
    RleHybridReader reader;
    reader.Open(changing, 1, known ? std::span(*checkpoints) : std::span<const HybridCheckpoint>());
    ASSERT_TRUE(reader.SeekTo(6399).ok());
    const std::vector<uint8_t> sound = changing;
    changing[0] = 0x83;
    changing[1] = 0;
    for (const uint64_t position : {6399, 5000, 100, 6400, 0}) {
      (void)reader.SeekTo(position);
      (void)reader.SeekAndCountOnes(position);
      (void)reader.SeekToLowerBound(1, 0, 6400);
      (void)reader.Peek();
    }
    changing = sound;
    reader.Open(changing, 1);
    EXPECT_EQ(*reader.SeekAndCountOnes(6400), 3200u);
  }
}

// Checkpoints are few compared with the runs of the stream.
TEST(RleHybridReader, CheckpointsAreFew) {
  RleHybridEncoder encoder(1, /*kudu_exact=*/false);
  for (int i = 0; i < 1000; ++i) encoder.PutRun(static_cast<uint64_t>(i % 2), 100);
  ByteWriter bytes;
  encoder.Finish(bytes, LastGroup::kWhole);
  const auto checkpoints = RleHybridReader(bytes.span(), 1).FindCheckpoints(100'000);
  ASSERT_TRUE(checkpoints.ok());
  EXPECT_GT(checkpoints->size(), 10u);
  EXPECT_LT(checkpoints->size(), 100u);
}

// A reader with checkpoints of a longer stream does not read past the end.
TEST(RleHybridReader, SurvivesCheckpointsOfOtherBytes) {
  RleHybridEncoder encoder(1, /*kudu_exact=*/false);
  for (int i = 0; i < 100; ++i) encoder.PutBits(0x5555555555555555, 64);
  ByteWriter bytes;
  encoder.Finish(bytes, LastGroup::kWhole);
  const auto checkpoints = RleHybridReader(bytes.span(), 1).FindCheckpoints(6400);
  ASSERT_TRUE(checkpoints.ok());
  const Exact half(bytes.span().first(bytes.size() / 2));
  RleHybridReader reader;
  reader.Open(half.span(), 1, *checkpoints);
  EXPECT_FALSE(reader.SeekTo(6399).ok());
  EXPECT_EQ(*reader.SeekAndCountOnes(1000), 500u);
}

}  // namespace cfile::encodings::rle_hybrid_test
