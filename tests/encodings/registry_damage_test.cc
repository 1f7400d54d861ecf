// What a decoder makes of bytes that no encoder wrote: an error or some values, never more than
// count(), never a read outside the block (under AddressSanitizer), never a crash or a hang.
#include "columns.h"

namespace cfile::encodings {
namespace {

class EveryDecoder : public testing::TestWithParam<Pair> {
 protected:
  uint32_t type_length() const { return GetParam().type == PhysicalType::kFixedBytes ? 5 : 0; }

  // Small blocks of all kinds.
  template <typename T>
  std::vector<Block> SmallBlocks(size_t size) const {
    std::vector<Block> blocks;
    for (const Shape shape : {Shape::kSorted, Shape::kRandom, Shape::kRuns}) {
      for (const uint32_t restart_interval : {16u, 3u}) {
        const auto column = MakeColumn<T>(shape, size, type_length(), 11);
        const EncoderOptions options{.restart_interval = restart_interval,
                                     .type_length = type_length()};
        for (Block& block : Encode<T>(GetParam(), column.span(), options))
          blocks.push_back(std::move(block));
      }
    }
    return blocks;
  }
};

INSTANTIATE_TEST_SUITE_P(Registry, EveryDecoder, testing::ValuesIn(AllPairs()), PairName);

void ExpectDamage(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_GE(status.message().size(), 10u) << status;
}

// So that all bytes of the values are read.
template <typename T>
size_t Touch(std::span<const T> values) {
  size_t sum = 0;
  for (const T& value : values) {
    if constexpr (kIsBytes<T>) {
      for (const char c : value) sum += static_cast<unsigned char>(c);
    } else {
      sum += KeyLess(T{}, value) ? 1 : 0;
    }
  }
  return sum;
}

// Reads on from position(), at most `batches` times.
template <typename T>
void ReadSome(BlockDecoder<T>& decoder, int batches, std::span<T> out, volatile size_t& sink) {
  for (; batches > 0; --batches) {
    const uint32_t before = decoder.position();
    ASSERT_LE(before, decoder.count());
    std::span<const T> values =
        batches % 2 == 0 ? decoder.Borrow(out.size()) : std::span<const T>();
    if (values.empty()) {
      const auto n = decoder.Read(out);
      if (!n.ok()) return ExpectDamage(n.status());
      ASSERT_EQ(*n == 0, before == decoder.count());
      ASSERT_LE(*n, out.size());
      values = out.first(*n);
    }
    ASSERT_LE(values.size(), decoder.count() - before);
    ASSERT_EQ(decoder.position(), before + values.size());
    if (values.empty()) return;
    sink = sink + Touch(values);
  }
}

// Opens the decoder on the bytes and uses it in all ways.
template <typename T>
void Exercise(BlockDecoder<T>& decoder, const std::vector<uint8_t>& bytes, std::span<const T> keys,
              std::mt19937_64& random) {
  if (const absl::Status opened = decoder.Open(bytes); !opened.ok()) return ExpectDamage(opened);
  volatile size_t sink = 0;
  auto out = std::make_unique<T[]>(500);
  ASSERT_NO_FATAL_FAILURE(ReadSome<T>(decoder, 10, {out.get(), 500}, sink));
  for (int i = 0; i < 3; ++i) {
    const auto position = static_cast<uint32_t>(
        i == 0 ? decoder.count() : random() % (uint64_t{decoder.count()} + 1));
    if (const absl::Status sought = decoder.SeekTo(position); !sought.ok()) {
      ExpectDamage(sought);
    } else {
      ASSERT_EQ(decoder.position(), position);
      ASSERT_NO_FATAL_FAILURE(ReadSome<T>(decoder, 2, {out.get(), 1 + random() % 20}, sink));
    }
  }
  for (const T& key : keys) {
    const auto found = decoder.SeekToKey(key);
    if (!found.ok()) {
      ExpectDamage(found.status());
      continue;
    }
    ASSERT_LE(found->position, decoder.count());
    ASSERT_EQ(found->position, decoder.position());
    ASSERT_NO_FATAL_FAILURE(ReadSome<T>(decoder, 2, {out.get(), 1 + random() % 20}, sink));
  }
}

// Calls change(bytes, exercise) for blocks of `size` values; `exercise` tries the bytes as they are
// then.
template <typename T, typename Change>
void ForBlocks(const Pair& pair, uint32_t type_length, const std::vector<Block>& blocks,
               Change change) {
  auto decoder = MakeDecoder<T>(pair.encoding, pair.type, type_length).value();
  const auto keys = MakeColumn<T>(Shape::kSorted, 3, type_length, 3);
  std::mt19937_64 random(6);
  for (const Block& block : blocks) {
    change(block.bytes, [&](const std::vector<uint8_t>& bytes) {
      Exercise<T>(*decoder, bytes, keys.span(), random);
      return !testing::Test::HasFatalFailure();
    });
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_TRUE(decoder->Open(block.bytes).ok());  // it is still good for a sound block
    auto out = std::make_unique<T[]>(block.count);
    size_t done = 0;
    while (done < block.count) {
      const auto n = decoder->Read({out.get(), block.count});
      ASSERT_TRUE(n.ok() && *n > 0) << n.status();
      done += *n;
    }
  }
}

TEST_P(EveryDecoder, SurvivesEveryTruncation) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(150),
                 [&](const auto& bytes, auto exercise) {
                   for (size_t size = 0; size < bytes.size(); ++size) {
                     if (!exercise({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}))
                       return;
                   }
                 });
  });
}

TEST_P(EveryDecoder, SurvivesBytesBehindTheBlock) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(150),
                 [&](const auto& bytes, auto exercise) {
                   for (const size_t extra : {1, 4, 8, 1000}) {
                     std::vector<uint8_t> longer = bytes;
                     longer.resize(bytes.size() + extra);
                     if (!exercise(longer)) return;
                   }
                 });
  });
}

TEST_P(EveryDecoder, SurvivesEveryFlippedBit) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(40), [&](auto bytes, auto exercise) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
          bytes[i] = static_cast<uint8_t>(bytes[i] ^ mask);
          if (!exercise(bytes)) return;
          bytes[i] = static_cast<uint8_t>(bytes[i] ^ mask);
        }
      }
    });
  });
}

// Beyond the first few hundred bytes too, where the fast paths are.
TEST_P(EveryDecoder, SurvivesRandomDamage) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    std::mt19937_64 random(8);
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(3000),
                 [&](const auto& sound, auto exercise) {
                   for (int round = 0; round < 100; ++round) {
                     auto bytes = sound;
                     for (uint64_t i = 0; i <= random() % 4; ++i)
                       bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
                     if (!exercise(bytes)) return;
                   }
                 });
  });
}

TEST_P(EveryDecoder, SurvivesBytesOfNoBlock) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(1), [&](const auto&, auto exercise) {
      std::mt19937_64 random(9);
      for (int round = 0; round < 2000; ++round) {
        // Small numbers make headers that are believed more often.
        std::vector<uint8_t> bytes(random() % 100);
        for (uint8_t& byte : bytes)
          byte = static_cast<uint8_t>(random() % (random() % 2 == 0 ? 3 : 256));
        if (!exercise(bytes)) return;
      }
    });
  });
}

}  // namespace
}  // namespace cfile::encodings
