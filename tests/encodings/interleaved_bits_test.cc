// Compares the kernels of interleaved vectors with the layout that cfile/FORMAT.md describes, bit
// by bit, on every instruction set of this machine.
#include "encodings/kernels/interleaved_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/encodings/each_target.h"
#include "tests/encodings/guarded_bytes.h"

namespace cfile::encodings::interleaved_bits_test {

template <typename U>
class InterleavedBits : public testing::Test {
 protected:
  static constexpr int kBits = 8 * sizeof(U);

  // Returns random numbers of `width` bits. 0 and the largest number are among them.
  static std::vector<U> Numbers(int width, std::mt19937_64& random) {
    std::vector<U> numbers(kVectorValues);
    for (U& number : numbers) number = static_cast<U>(random() & LowBits(width));
    numbers[random() % kVectorValues] = static_cast<U>(LowBits(width));
    numbers[random() % kVectorValues] = 0;
    return numbers;
  }

  // Word k of lane l, of sizeof(U) bytes, is at byte 128 * k + sizeof(U) * l.
  static std::vector<uint8_t> PackNaively(const std::vector<U>& numbers, int width) {
    constexpr size_t kLanes = 128 / sizeof(U);
    std::vector<uint8_t> bytes(128 * static_cast<size_t>(width));
    for (size_t i = 0; i < numbers.size(); ++i) {
      for (size_t j = 0; j < static_cast<size_t>(width); ++j) {
        const size_t bit = i / kLanes * static_cast<size_t>(width) + j;
        const size_t byte = bit / kBits * 128 + i % kLanes * sizeof(U) + bit % kBits / 8;
        const uint64_t one = uint64_t{numbers[i]} >> j & 1;
        bytes[byte] = static_cast<uint8_t>(bytes[byte] | one << bit % 8);
      }
    }
    return bytes;
  }

  // Calls check(numbers, width, packed) for each width on each instruction set. Unmapped memory
  // follows the packed bytes.
  template <typename Check>
  static void ForWidths(const Check& check) {
    GuardedBytes room(128 * kBits);
    WithEachTarget([&] {
      std::mt19937_64 random(1);
      for (int width = 0; width <= kBits; ++width) {
        SCOPED_TRACE(width);
        const std::vector<U> numbers = Numbers(width, random);
        check(numbers, width, room.Copy(PackNaively(numbers, width)));
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }
};
using Types = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(InterleavedBits, Types);

TYPED_TEST(InterleavedBits, UnpackAndAddTheReference) {
  using U = TypeParam;
  GuardedBytes room(kVectorValues * sizeof(U));
  this->ForWidths([&](const std::vector<U>& numbers, int width, std::span<const uint8_t> packed) {
    for (const U reference : {U{0}, U{7}, static_cast<U>(-3)}) {
      const auto out = room.Last<U>(kVectorValues);
      UnpackInterleaved<U>(packed.data(), width, reference, out.data());
      for (size_t i = 0; i < kVectorValues; ++i) {
        ASSERT_EQ(out[i], static_cast<U>(numbers[i] + reference)) << i;
        ASSERT_EQ(UnpackOneInterleaved<U>(packed.data(), width, i), numbers[i]) << i;
      }
    }
  });
}

TYPED_TEST(InterleavedBits, AddUpTheDifferencesBetweenNeighbours) {
  using U = TypeParam;
  GuardedBytes room(kVectorValues * sizeof(U));
  this->ForWidths([&](const std::vector<U>& numbers, int width, std::span<const uint8_t> packed) {
    for (const U step : {U{0}, U{77}, static_cast<U>(-3)}) {
      const auto out = room.Last<U>(kVectorValues);
      UnpackDeltas<U>(packed.data(), width, 9, step, out.data());
      U sum = 0;
      for (size_t i = 0; i < kVectorValues; ++i) {
        ASSERT_EQ(SumInterleaved<U>(packed.data(), width, i), sum) << i;
        sum = static_cast<U>(sum + numbers[i]);
        ASSERT_EQ(out[i], static_cast<U>(9 + uint64_t{step} * i + sum)) << i;
      }
      ASSERT_EQ(SumInterleaved<U>(packed.data(), width, kVectorValues), sum);
    }
  });
}

TYPED_TEST(InterleavedBits, PackTheDifferencesFromTheReference) {
  using U = TypeParam;
  this->ForWidths([&](const std::vector<U>& numbers, int width, std::span<const uint8_t> packed) {
    for (const U reference : {U{0}, U{7}, static_cast<U>(-3)}) {
      std::vector<U> values = numbers;
      for (U& value : values) value = static_cast<U>(value + reference);
      std::vector<uint8_t> out(packed.size() + 1, 0xee);
      PackInterleaved<U>(values.data(), reference, width, out.data());
      ASSERT_EQ(out.back(), 0xee);
      ASSERT_TRUE(std::equal(packed.begin(), packed.end(), out.begin()));
    }
  });
}

TYPED_TEST(InterleavedBits, MatchARangeThatMayWrapAround) {
  using U = TypeParam;
  std::mt19937_64 random(2);
  this->ForWidths([&](const std::vector<U>& numbers, int width, std::span<const uint8_t> packed) {
    const auto some = [&] {
      return random() % 3 == 0 ? static_cast<U>(random()) : numbers[random() % kVectorValues];
    };
    for (int round = 0; round < 20; ++round) {
      const U low = round == 0 ? U{0} : some();
      const U high = round == 1 ? low : round == 2 ? static_cast<U>(low - 1) : some();
      std::vector<uint8_t> bits(kVectorValues / 8 + 1, 0xee);
      MatchInterleaved<U>(packed.data(), width, low, high, bits.data());
      ASSERT_EQ(bits.back(), 0xee);
      for (size_t i = 0; i < kVectorValues; ++i) {
        const U number = numbers[i];
        const bool in =
            low <= high ? low <= number && number <= high : low <= number || number <= high;
        ASSERT_EQ(bits[i / 8] >> i % 8 & 1, in ? 1 : 0)
            << "number " << i << ", from " << +low << " to " << +high;
      }
    }
  });
}

TYPED_TEST(InterleavedBits, MatchAny) {
  using U = TypeParam;
  std::mt19937_64 random(2);
  this->ForWidths([&](const std::vector<U>& numbers, int width, std::span<const uint8_t> packed) {
    for (size_t count = 1; count <= kMostWanted; ++count) {
      std::vector<U> wanted(count);
      for (U& each : wanted) {
        each = random() % 3 == 0 ? static_cast<U>(random()) : numbers[random() % kVectorValues];
      }
      std::vector<uint8_t> bits(kVectorValues / 8 + 1, 0xee);
      MatchAnyInterleaved<U>(packed.data(), width, wanted, bits.data());
      ASSERT_EQ(bits.back(), 0xee);
      for (size_t i = 0; i < kVectorValues; ++i) {
        const bool in = std::find(wanted.begin(), wanted.end(), numbers[i]) != wanted.end();
        ASSERT_EQ(bits[i / 8] >> i % 8 & 1, in ? 1 : 0) << "number " << i << " of " << count;
      }
    }
  });
}

TYPED_TEST(InterleavedBits, CountAbove) {
  using U = TypeParam;
  WithEachTarget([] {
    std::mt19937_64 random(3);
    for (size_t count = 0; count <= kVectorValues; count += count < 200 ? 1 : 103) {
      std::vector<U> values(count);
      for (U& value : values) value = static_cast<U>(random());
      const U reference = static_cast<U>(random());
      for (const U limit : {U{0}, static_cast<U>(random()), static_cast<U>(-1)}) {
        const auto above = std::count_if(values.begin(), values.end(), [&](U value) {
          return static_cast<U>(value - reference) > limit;
        });
        ASSERT_EQ(CountAbove<U>(values.data(), count, reference, limit),
                  static_cast<size_t>(above));
      }
    }
  });
}

}  // namespace cfile::encodings::interleaved_bits_test
