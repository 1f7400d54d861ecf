// Decoders read bytes that no encoder wrote. They must return an error or some values, at most
// count() values. They must not crash or hang, and must not read past the block's end.
// AddressSanitizer also detects reads before the block's begin.
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "blocks.h"
#include "gmock/gmock.h"

namespace cfile::encodings::registry_damage_test {

class EveryDecoder : public testing::TestWithParam<Pair> {
 protected:
  uint32_t type_length() const { return GetParam().type == PhysicalType::kFixedBytes ? 5 : 0; }

  // Returns small blocks of all kinds.
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

// Reads all bytes of the values.
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

// Reads from position() on, at most `batches` times.
template <typename T>
void ReadSome(BlockDecoder<T>& decoder, int batches, std::span<T> out, volatile size_t& sink) {
  for (; batches > 0; --batches) {
    const uint32_t before = decoder.position();
    ASSERT_LE(before, decoder.count());
    std::span<const T> values =
        batches % 2 == 0 ? decoder.Borrow(out.size()) : std::span<const T>();
    if (values.empty()) {
      const bool by_codes =
          !decoder.DictionaryValues().empty() && (batches + static_cast<int>(out.size())) % 3 == 0;
      const auto n = by_codes ? ReadByCodes(decoder, out) : decoder.Read(out);
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

// Like ReadSome, but calls ReadPacked.
template <typename T>
void PackSome(BlockDecoder<T>& decoder, int batches, size_t max, volatile size_t& sink) {
  if constexpr (kIsBytes<T>) {
    PackedStrings packed;
    for (; batches > 0; --batches) {
      const uint32_t before = decoder.position();
      const size_t size = packed.size();
      const auto n = decoder.ReadPacked(max, packed);
      ASSERT_EQ(packed.size(), size + n.value_or(0));
      ASSERT_EQ(decoder.position(), before + n.value_or(0));
      if (!n.ok()) return ExpectDamage(n.status());
      ASSERT_EQ(*n == 0, before == decoder.count());
      ASSERT_LE(*n, std::min<size_t>(max, decoder.count() - before));
      for (size_t i = size; i < packed.size(); ++i) {
        const std::string_view value = packed[i];
        sink = sink + Touch<std::string_view>({&value, 1});
      }
      if (*n == 0) return;
    }
  }
}

// Opens the decoder on the block and calls all its functions. `seek_index` was built from a sound
// block, or is null.
template <typename T>
void Exercise(BlockDecoder<T>& decoder, const Block& block, const SeekIndex* seek_index,
              std::span<const T> keys, std::mt19937_64& random) {
  BlockView view = GuardedView(block);
  view.seek_index = seek_index;
  if (const absl::Status opened = decoder.Open(view); !opened.ok()) return ExpectDamage(opened);
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
      ASSERT_NO_FATAL_FAILURE(PackSome<T>(decoder, 2, 1 + random() % 500, sink));
    }
  }
  if (decoder.SeekTo(0).ok()) {
    ASSERT_NO_FATAL_FAILURE(PackSome<T>(decoder, 10, 500, sink));
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
  std::vector<LowerBound> bounds(keys.size());
  if (const absl::Status found = decoder.SeekToKeys(keys, bounds); !found.ok()) {
    ExpectDamage(found);
  } else {
    for (const LowerBound& bound : bounds) ASSERT_LE(bound.position, decoder.count());
  }
  if constexpr (!kIsFloat<T>) {
    const size_t count = std::min<uint32_t>(decoder.count(), 3000);
    uint8_t bits[375];
    if (decoder.SeekTo(0).ok()) {
      const T& high = keys[kIsBytes<T> ? 0 : keys.size() - 1];
      const auto matched = decoder.ReadMatches(keys[0], high, count, bits);
      if (!matched.ok()) ExpectDamage(matched.status());
    }
    if (decoder.SeekTo(0).ok()) {
      const auto list = keys.first(std::min(keys.size(), decoder.kMostMatches));
      const auto matched = decoder.ReadMatchesOfAny(list, count, bits);
      if (!matched.ok()) ExpectDamage(matched.status());
    }
  }
  if constexpr (!kIsBytes<T>) {
    if (decoder.count() == 0) return;
    uint32_t positions[20];
    for (uint32_t& position : positions)
      position = static_cast<uint32_t>(random() % decoder.count());
    std::sort(std::begin(positions), std::end(positions));
    const absl::Status gathered = decoder.Gather(positions, {out.get(), std::size(positions)});
    if (!gathered.ok()) ExpectDamage(gathered);
  }
  if (seek_index == nullptr) decoder.BuildSeekIndex();
}

// Calls change(block, exercise) for each block. change() damages a copy of the block and calls
// exercise(copy), which calls all functions of a decoder on the copy.
template <typename T, typename Change>
void ForBlocks(const Pair& pair, uint32_t type_length, const std::vector<Block>& blocks,
               Change change) {
  Decoders<T> decoders(pair.type, type_length);
  const auto keys = MakeColumn<T>(Shape::kSorted, 3, type_length, 3);
  std::mt19937_64 random(6);
  for (const Block& block : blocks) {
    BlockDecoder<T>& decoder = decoders.For(block);
    ASSERT_TRUE(decoder.Open(block.view()).ok());
    const std::unique_ptr<const SeekIndex> seek_index = decoder.BuildSeekIndex();
    change(block, [&](const Block& changed) {
      Exercise<T>(decoder, changed, random() % 2 == 0 ? nullptr : seek_index.get(), keys.span(),
                  random);
      return !testing::Test::HasFatalFailure();
    });
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_TRUE(decoder.Open(block.view()).ok());  // the decoder must still work on a sound block
    auto out = std::make_unique<T[]>(block.count);
    size_t done = 0;
    while (done < block.count) {
      const auto n = decoder.Read({out.get(), block.count});
      ASSERT_TRUE(n.ok() && *n > 0) << n.status();
      done += *n;
    }
  }
}

// The two byte strings of a block in a file: its bytes and its skip table.
constexpr std::vector<uint8_t> Block::*kParts[] = {&Block::bytes, &Block::skip_table};

TEST_P(EveryDecoder, SurvivesEveryTruncation) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(150),
                 [&](const Block& block, auto exercise) {
                   for (const auto part : kParts) {
                     for (size_t size = 0; size < (block.*part).size(); ++size) {
                       Block shorter = block;
                       const auto begin = (block.*part).begin();
                       shorter.*part = {begin, begin + static_cast<ptrdiff_t>(size)};
                       if (!exercise(shorter)) return;
                     }
                   }
                 });
  });
}

TEST_P(EveryDecoder, SurvivesBytesBehindTheBlock) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(150),
                 [&](const Block& block, auto exercise) {
                   for (const auto part : kParts) {
                     for (const size_t extra : {1, 4, 8, 1000}) {
                       Block longer = block;
                       (longer.*part).resize((block.*part).size() + extra);
                       if (!exercise(longer)) return;
                     }
                   }
                 });
  });
}

TEST_P(EveryDecoder, SurvivesEveryFlippedBit) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(40), [&](Block block, auto exercise) {
      for (const auto part : kParts) {
        for (uint8_t& byte : block.*part) {
          for (const int mask : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
            byte = static_cast<uint8_t>(byte ^ mask);
            if (!exercise(block)) return;
            byte = static_cast<uint8_t>(byte ^ mask);
          }
        }
      }
    });
  });
}

// The number of values and the first ordinal of a page come from elsewhere and may be wrong. The
// decoder must survive this.
TEST_P(EveryDecoder, SurvivesOtherCounts) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    for (const size_t size : {0, 1, 40, 3000}) {
      ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(size),
                   [&](Block block, auto exercise) {
                     const uint32_t count = block.count;
                     for (const uint32_t other :
                          {count - 1, count + 1, count + 8, count + 2000, 2 * count, count / 2, 0u,
                           1u, 1024u, 1u << 20, 0x7fff'ffffu, 0x8000'0000u, 0xffff'ffffu}) {
                       block.count = other;
                       block.first_ordinal = ~block.first_ordinal;
                       if (!exercise(block)) return;
                     }
                   });
    }
  });
}

// Random bytes of a block are damaged. The blocks are so large that decoders also read damaged
// bytes with their fast paths.
TEST_P(EveryDecoder, SurvivesRandomDamage) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    std::mt19937_64 random(8);
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(3000),
                 [&](const Block& sound, auto exercise) {
                   for (int round = 0; round < 100; ++round) {
                     Block block = sound;
                     for (uint64_t i = 0; i <= random() % 4; ++i) {
                       auto& part = block.*kParts[round % 3 == 0];
                       if (!part.empty())
                         part[random() % part.size()] = static_cast<uint8_t>(random());
                     }
                     if (!exercise(block)) return;
                   }
                 });
  });
}

TEST_P(EveryDecoder, SurvivesBytesOfNoBlock) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    ForBlocks<T>(GetParam(), type_length(), SmallBlocks<T>(1), [&](Block block, auto exercise) {
      std::mt19937_64 random(9);
      for (int round = 0; round < 2000; ++round) {
        block.count = static_cast<uint32_t>(random() % 200);
        for (const auto part : kParts) {
          // Decoders accept more headers if the bytes are small numbers.
          (block.*part) = std::vector<uint8_t>(random() % 100);
          for (uint8_t& byte : block.*part)
            byte = static_cast<uint8_t>(random() % (random() % 2 == 0 ? 3 : 256));
        }
        if (!exercise(block)) return;
      }
    });
  });
}

// Reads a block with a dictionary that LoadDictionary made of damaged bytes.
TEST_P(EveryDecoder, SurvivesOtherDictionaries) {
  const Pair pair = GetParam();
  if (!pair.row().has_dictionary) return;
  VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    const auto keys = MakeColumn<T>(Shape::kSorted, 3, type_length(), 3);
    std::mt19937_64 random(7);
    for (Block& block : SmallBlocks<T>(200)) {
      if (block.dictionary_bytes == nullptr) continue;
      const auto try_bytes = [&](const std::vector<uint8_t>& bytes) {
        const auto loaded = LoadDictionary(pair.encoding, pair.type, type_length(), bytes);
        if (!loaded.ok()) return ExpectDamage(loaded.status());
        block.dictionary = *loaded;
        Decoders<T> decoders(pair.type, type_length());
        Exercise<T>(decoders.For(block), block, nullptr, keys.span(), random);
      };
      const std::vector<uint8_t>& sound = *block.dictionary_bytes;
      for (size_t size = 0; size < sound.size(); size += 1 + size / 16) {
        try_bytes({sound.begin(), sound.begin() + static_cast<ptrdiff_t>(size)});
        if (HasFatalFailure()) return;
      }
      for (int round = 0; round < 300; ++round) {
        auto bytes = sound;
        if (round % 10 == 0) bytes.resize(bytes.size() + static_cast<size_t>(round));
        if (bytes.empty()) continue;
        const size_t front = random() % 2 == 0 ? std::min<size_t>(8, bytes.size()) : bytes.size();
        bytes[random() % front] = static_cast<uint8_t>(random());
        try_bytes(bytes);
        if (HasFatalFailure()) return;
      }
    }
  });
}

// Calls all functions of the decoder and continues after errors. `values` are the first values of
// the block. EXPECTs that no call returns other values at the positions of `values`.
template <typename T>
void ExpectNoOtherValues(BlockDecoder<T>& decoder, std::span<const T> values,
                         std::mt19937_64& random) {
  const auto out = std::make_unique<T[]>(2000);
  for (int i = 0; i < 40; ++i) {
    const uint32_t before = decoder.position();
    ASSERT_LE(before, decoder.count());
    const uint64_t choice = random() % 8;
    std::span<const T> read;
    PackedStrings packed;
    if (choice == 0) {
      (void)decoder.SeekToKey(values[random() % values.size()]);
    } else if (choice <= 3) {
      const auto position = static_cast<uint32_t>(random() % (uint64_t{decoder.count()} + 1));
      if (decoder.SeekTo(position).ok()) {
        ASSERT_EQ(decoder.position(), position);
      }
    } else if (choice == 4) {
      read = decoder.Borrow(1 + random() % 20);
    } else if (choice == 5 && kIsBytes<T>) {
      const size_t n = decoder.ReadPacked(1 + random() % 2000, packed).value_or(0);
      for (size_t j = 0; j < n; ++j) {
        if constexpr (kIsBytes<T>) out[j] = packed[j];
      }
      read = {out.get(), n};
    } else {
      const size_t wanted = 1 + random() % (choice == 6 ? 20 : 2000);
      read = {out.get(), decoder.Read({out.get(), wanted}).value_or(0)};
    }
    if (before >= values.size()) continue;
    read = read.first(std::min<size_t>(read.size(), values.size() - before));
    ASSERT_TRUE(SameValues<T>(read, values.subspan(before, read.size()))) << "from " << before;
  }
}

TEST_P(EveryDecoder, GivesNoOtherValuesAfterAnError) {
  const Pair pair = GetParam();
  VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    std::mt19937_64 random(10);
    for (const Shape shape : {Shape::kSorted, Shape::kRandom, Shape::kRuns}) {
      const auto column = MakeColumn<T>(shape, 5000, type_length(), 12);
      const EncoderOptions options{.type_length = type_length()};
      const auto few = Encode<T>(pair, column.span().first(1000), options);
      for (const Block& sound : Encode<T>(pair, column.span(), options)) {
        const auto values = column.span().subspan(sound.first_ordinal, sound.count);
        for (int round = 0; round < 200; ++round) {
          Block block = sound;
          if (round % 10 == 0) {
            block.count += static_cast<uint32_t>(1 + random() % 2000);
          } else if (round % 10 == 1 && block.dictionary != nullptr) {
            // Another table of symbols gives other values.
            if (few[0].dictionary == nullptr || !pair.row().has_codes) continue;
            block.dictionary = few[0].dictionary;  // the same dictionary values, but fewer
          } else {
            const size_t some = round % 2 == 0 ? block.bytes.size() : 50;
            block.bytes.resize(block.bytes.size() -
                               std::min<size_t>(block.bytes.size(), 1 + random() % some));
          }
          SCOPED_TRACE(testing::Message() << "round " << round << ", count " << block.count << ", "
                                          << block.bytes.size() << " of " << sound.bytes.size());
          Decoders<T> decoders(pair.type, type_length());
          BlockDecoder<T>& decoder = decoders.For(block);
          if (block.dictionary == sound.dictionary) {
            ASSERT_TRUE(decoder.Open(sound.view()).ok());
          }
          if (!decoder.Open(block.view()).ok()) {
            ASSERT_EQ(decoder.count(), 0u);
            ASSERT_EQ(decoder.position(), 0u);
          }
          ASSERT_NO_FATAL_FAILURE(ExpectNoOtherValues<T>(decoder, values, random));
        }
      }
    }
  });
}

// Parquet's pages store int8 to uint16 as INT32. A value outside the type's range is damage in
// every encoding, and the error has the value's position.
TEST(NarrowTypes, ValuesOutsideTheRangeAreDamage) {
  const auto check = [&]<typename T>(std::type_identity<T>, PhysicalType type, Encoding encoding,
                                     int32_t outside) {
    constexpr size_t kCount = 3000;
    constexpr uint32_t kBad = 1777;
    std::vector<int32_t> values(kCount);
    for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<int32_t>(i / 30);
    values[kBad] = outside;
    const std::vector<Block> blocks =
        Encode<int32_t>(Pair{encoding, PhysicalType::kInt32}, std::span<const int32_t>(values), {});
    ASSERT_EQ(blocks.size(), 1u);
    DecoderOptions options;
    if (blocks[0].dictionary_bytes != nullptr) {
      const auto dictionary = LoadDictionary(encoding, type, 0, *blocks[0].dictionary_bytes);
      ASSERT_EQ(dictionary.status().code(), absl::StatusCode::kDataLoss);
      // The error has the value's position in the dictionary.
      EXPECT_THAT(std::string(dictionary.status().message()),
                  testing::HasSubstr(StrCat(" is ", outside, ", outside the type's range ")));
      // A dictionary that was loaded for another type does not prevent the check.
      options.dictionary = blocks[0].dictionary;
    }
    const auto decoder = MakeDecoder<T>(blocks[0].encoding, type, options).value();
    ASSERT_TRUE(decoder->Open(blocks[0].view()).ok());
    const std::string expected = StrCat(
        "value ", kBad, " is ", outside, ", outside the type's range ",
        int32_t{std::numeric_limits<T>::min()}, " to ", int32_t{std::numeric_limits<T>::max()});
    std::vector<T> out(kCount);
    for (const uint32_t from : {0u, 1000u, kBad}) {
      ASSERT_TRUE(decoder->SeekTo(from).ok());
      absl::StatusOr<size_t> read = size_t{0};
      for (uint32_t at = from; at < kCount; at += static_cast<uint32_t>(*read)) {
        read = decoder->Read(out);
        if (!read.ok()) break;
        ASSERT_GT(*read, 0u);
        ASSERT_LE(at + *read, kBad);
        for (size_t i = 0; i < *read; ++i) ASSERT_EQ(out[i], values[at + i]);
      }
      EXPECT_EQ(read.status(), absl::DataLossError(expected));
    }
    const uint32_t positions[] = {kBad};
    EXPECT_EQ(decoder->Gather(positions, std::span(out).first(1)), absl::DataLossError(expected));
    // The values after the damaged value can still be read.
    ASSERT_TRUE(decoder->SeekTo(kBad + 1).ok());
    ASSERT_TRUE(decoder->Read(std::span(out).first(1)).ok());
    EXPECT_EQ(out[0], values[kBad + 1]);
  };
  size_t pairs = 0;
  for (const Pair& pair : AllPairs()) {
    // Our own encodings store narrow types in their own width, so no value is outside the range.
    const bool own = static_cast<uint32_t>(pair.encoding) >= kFirstOwnNumber;
    if (own || !IsPage(pair.encoding) || FindEncoding(pair.encoding) == nullptr ||
        !FindEncoding(pair.encoding)->Supports(PhysicalType::kInt32)) {
      continue;
    }
    VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T> t) {
      if constexpr (kIsInteger<T> && sizeof(T) < sizeof(int32_t)) {
        for (const int32_t outside :
             {int32_t{std::numeric_limits<T>::max()} + 1,
              int32_t{std::numeric_limits<T>::min()} - 1, 49957 + (sizeof(T) == 1 ? 0 : 65536),
              std::numeric_limits<int32_t>::min()}) {
          SCOPED_TRACE(StrCat(EncodingName(pair.encoding), " of ", PhysicalTypeName(pair.type),
                              ", value ", outside));
          ASSERT_NO_FATAL_FAILURE(check(t, pair.type, pair.encoding, outside));
          ++pairs;
        }
      }
    });
  }
  EXPECT_GE(pairs, 4u * 4 * 5);
}

}  // namespace cfile::encodings::registry_damage_test
