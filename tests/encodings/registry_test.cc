// Tests the properties of all encodings, with every row of the registry and every type that the row
// supports.
#include "encodings/registry.h"

#include <gmock/gmock.h>

#include <random>

#include "blocks.h"
#include "encodings/kernels/match_range.h"
#include "encodings/value_places.h"
#include "tests/campaign/heap.h"
#include "tests/sanitizers.h"

namespace cfile::encodings::registry_test {

using testing::HasSubstr;

constexpr size_t kSizes[] = {0,  1,  2,  3,  7,   8,   9,   31,   32,
                             33, 63, 64, 65, 127, 128, 129, 1000, 5000};

class EveryEncoding : public testing::TestWithParam<Pair> {
 protected:
  // Calls check(type identity, options) with the C++ type T and several options.
  template <typename Check>
  void ForOptions(Check check) {
    const Pair pair = GetParam();
    VisitPhysicalType(pair.type, [&](auto type) {
      const uint32_t lengths[] = {16, 1, 33, 3};
      size_t i = 0;
      for (const size_t block_size : {size_t{64}, size_t{3000}, size_t{256 * 1024}}) {
        for (const uint32_t restart_interval : {16u, 1u, 3u, 1000u}) {
          EncoderOptions options{.block_size_bytes = block_size,
                                 .restart_interval = restart_interval};
          options.kudu_exact = ++i % 2 == 0;
          if (pair.type == PhysicalType::kFixedBytes)
            options.type_length = lengths[i % std::size(lengths)];
          SCOPED_TRACE(testing::Message()
                       << "block size " << block_size << ", restart interval " << restart_interval
                       << ", exact " << options.kudu_exact << ", length " << options.type_length);
          check(type, options);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncoding, testing::ValuesIn(AllPairs()), PairName);

// Reads from the decoder's position to the end, in batches of random sizes. Uses Borrow and the
// dictionary's codes if available.
template <typename T>
void ExpectRest(BlockDecoder<T>& decoder, std::span<const T> expected, std::mt19937_64& random) {
  static GuardedBytes room(2000 * sizeof(T));
  uint32_t position = decoder.position();
  while (position < decoder.count()) {
    const size_t batch = 1 + random() % (random() % 3 == 0 ? 2000 : 20);
    std::span<const T> values = random() % 2 == 0 ? decoder.Borrow(batch) : std::span<const T>();
    if (values.empty()) {
      const auto out = room.Last<T>(batch);
      const bool by_codes = !decoder.DictionaryValues().empty() && random() % 2 == 0;
      const auto n = by_codes ? ReadByCodes(decoder, out) : decoder.Read(out);
      ASSERT_TRUE(n.ok()) << n.status();
      ASSERT_GT(*n, 0u);
      // Read may return fewer values than requested only if a buffer of the decoder is full: the
      // buffer of bytes, or the buffer of converted numbers.
      const auto wanted = expected.subspan(position).first(
          std::min<size_t>({batch, kIsBytes<T> ? batch : 512, expected.size() - position}));
      if (OwnBytes(wanted) <= 8192) {
        ASSERT_GE(*n, wanted.size());
      }
      values = out.first(*n);
    }
    ASSERT_LE(values.size(), batch);
    ASSERT_LE(values.size(), expected.size() - position);
    ASSERT_TRUE(SameValues(values, expected.subspan(position, values.size())))
        << "from position " << position;
    position += static_cast<uint32_t>(values.size());
    ASSERT_EQ(decoder.position(), position);
  }
  ASSERT_EQ(decoder.Read(room.Last<T>(10)).value(), 0u);
  ASSERT_TRUE(decoder.Borrow(10).empty());
}

TEST_P(EveryEncoding, ReadsBackWhatWasWritten) {
  ForOptions([&]<typename T>(std::type_identity<T>, const EncoderOptions& options) {
    Decoders<T> decoders(GetParam().type, options.type_length);
    std::mt19937_64 random(1);
    for (const Shape shape : kShapes) {
      for (const size_t size : kSizes) {
        SCOPED_TRACE(testing::Message() << size << " values of shape " << static_cast<int>(shape));
        const auto column = MakeColumn<T>(shape, size, options.type_length, size);
        const std::span<const T> values = column.span();
        size_t begin = 0;
        for (const Block& block : Encode<T>(GetParam(), values, options)) {
          BlockDecoder<T>* decoder = &decoders.For(block);
          ASSERT_TRUE(decoder->Open(GuardedView(block)).ok());
          ASSERT_EQ(decoder->count(), block.count);
          ASSERT_EQ(decoder->first_ordinal(), begin);
          ASSERT_EQ(decoder->position(), 0u);
          ASSERT_NO_FATAL_FAILURE(ExpectRest(*decoder, values.subspan(begin, block.count), random));
          begin += block.count;
        }
        ASSERT_EQ(begin, size);
      }
    }
  });
}

// ReadPacked returns the same values as Read. Calls of both alternate: each continues after the
// values that the previous call has read.
TEST_P(EveryEncoding, PacksWhatViewsShow) {
  ForOptions([&]<typename T>(std::type_identity<T>, const EncoderOptions& options) {
    if constexpr (kIsBytes<T>) {
      Decoders<T> decoders(GetParam().type, options.type_length);
      std::mt19937_64 random(10);
      PackedStrings packed;
      for (const Shape shape : kShapes) {
        for (const size_t size : kSizes) {
          SCOPED_TRACE(testing::Message() << size << " values, shape " << static_cast<int>(shape));
          const auto column = MakeColumn<T>(shape, size, options.type_length, size);
          std::span<const T> values = column.span();
          for (const Block& block : Encode<T>(GetParam(), values, options)) {
            const auto expected = values.subspan(0, block.count);
            values = values.subspan(block.count);
            BlockDecoder<T>* decoder = &decoders.For(block);
            ASSERT_TRUE(decoder->Open(block.view()).ok());
            packed.Clear();
            uint32_t from = 0;  // position of the first value in `packed`
            while (decoder->position() < block.count) {
              const uint32_t position = decoder->position();
              if (random() % 4 == 0) {
                T views[10];
                ASSERT_TRUE(decoder->Read(views).ok());
                packed.Clear();
                from = decoder->position();
                continue;
              }
              if (random() % 8 == 0) {
                from = static_cast<uint32_t>(random() % (block.count + 1));
                ASSERT_TRUE(decoder->SeekTo(from).ok());
                packed.Clear();
                continue;
              }
              const auto added = decoder->ReadPacked(1 + random() % 2000, packed);
              ASSERT_TRUE(added.ok()) << added.status();
              ASSERT_GT(*added, 0u);
              ASSERT_EQ(decoder->position(), position + *added);
              ASSERT_EQ(packed.size(), decoder->position() - from);
              ASSERT_EQ(packed.offsets().size(), packed.size() + 1);
              ASSERT_EQ(packed.offsets().front(), 0u);
              ASSERT_EQ(packed.offsets().back(), packed.data().size());
              for (size_t i = 0; i < packed.size(); ++i) ASSERT_EQ(packed[i], expected[from + i]);
            }
            ASSERT_EQ(decoder->ReadPacked(10, packed).value(), 0u);
          }
        }
      }
    }
  });
}

// A few bytes of a block may hold large values. One call of ReadPacked still stays within its
// memory budget.
TEST_P(EveryEncoding, PacksABatchWithinItsBudget) {
  const Pair pair = GetParam();
  if (pair.type != PhysicalType::kBytes) return;
  std::vector<std::string> large(40, std::string(1'000'000, 'x'));
  large[7] = std::string(PackedBudget::kMaxBytes + 1000, 'y');
  large[8] = large[9] = large[20] = "short";
  // A dictionary accepts these words. The short words come when the budget of a call is nearly used
  // up.
  std::vector<std::string> words(PackedBudget::kMaxBytes / 60'000, std::string(60'000, 'w'));
  words.resize(words.size() + 3000, "twenty bytes in all.");
  for (const auto& texts : {large, words}) {
    const std::vector<std::string_view> values(texts.begin(), texts.end());
    Decoders<std::string_view> decoders(pair.type, 0);
    PackedStrings packed;
    size_t value = 0;
    for (const Block& block :
         Encode<std::string_view>(pair, values, {.block_size_bytes = size_t{1} << 30})) {
      BlockDecoder<std::string_view>& decoder = decoders.For(block);
      ASSERT_TRUE(decoder.Open(block.view()).ok());
      while (decoder.position() < block.count) {
        packed.Clear();
        ASSERT_GT(decoder.ReadPacked(kMaxBatchValues, packed).value(), 0u);
        EXPECT_TRUE(packed.size() == 1 || packed.data().size() <= PackedBudget::kMaxBytes);
        for (size_t i = 0; i < packed.size(); ++i) ASSERT_EQ(packed[i], values[value++]);
      }
    }
    EXPECT_EQ(value, values.size());
  }
}

TEST_P(EveryEncoding, ReadsFullBlocks) {
  const Pair pair = GetParam();
  VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    const uint32_t length = pair.type == PhysicalType::kFixedBytes ? 12 : 0;
    const size_t size = std::is_same_v<T, bool> ? 4'500'000 : sizeof(T) <= 2 ? 600'000 : 150'000;
    const auto column = MakeColumn<T>(Shape::kRandom, size, length, 5);
    const std::span<const T> values = column.span();
    const auto blocks = Encode<T>(pair, values, {.type_length = length});
    EXPECT_GT(blocks.size(), 1u);
    Decoders<T> decoders(pair.type, length);
    auto out = std::make_unique<T[]>(kMaxBatchValues);
    size_t begin = 0;
    for (const Block& block : blocks) {
      // Blocks must have about the block size: at least half of it, and not much more. The encoder
      // of a page estimates the number of values per block from its first block, and does not
      // reduce it if the values grow.
      if (!pair.row().has_dictionary) {
        const uint64_t growth = IsPage(pair.encoding)
                                    ? uint64_t{block.count} * pair.row().worst_extra_bytes_per_value
                                    : 0;
        EXPECT_LE(block.bytes.size(), 300u * 1024 + growth);
      }
      // A block that ends because the dictionary is full may be small, too.
      const bool may_be_small = begin == 0 && (IsPage(pair.encoding) || pair.row().has_dictionary);
      if (begin + block.count < size && !may_be_small) {
        EXPECT_GE(block.bytes.size(), 128u * 1024);
      }
      BlockDecoder<T>* decoder = &decoders.For(block);
      ASSERT_TRUE(decoder->Open(block.view()).ok());
      for (size_t done = 0; done < block.count;) {
        const size_t n = decoder->Read({out.get(), kMaxBatchValues}).value();
        ASSERT_GT(n, 0u);
        ASSERT_TRUE(SameValues<T>({out.get(), n}, values.subspan(begin + done, n)));
        done += n;
      }
      begin += block.count;
    }
  });
}

// A block of a few bytes holds more values than decoders keep decoded at the same time. All values
// are read correctly.
TEST_P(EveryEncoding, ReadsBlocksOfManyEqualValues) {
  const Pair pair = GetParam();
  VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    const uint32_t length = pair.type == PhysicalType::kFixedBytes ? 3 : 0;
    auto column = MakeColumn<T>(Shape::kRandom, 3, length, 5);
    const auto some = column.span();
    const size_t size = 6 * kMaxBatchValues;
    const auto values = std::make_unique<T[]>(size);
    for (size_t i = 0; i < size; ++i) values[i] = some[i / 1000 % 3];
    Decoders<T> decoders(pair.type, length);
    std::mt19937_64 random(6);
    size_t begin = 0;
    for (const Block& block : Encode<T>(pair, std::span<const T>(values.get(), size),
                                        {.block_size_bytes = 4 << 20, .type_length = length})) {
      BlockDecoder<T>* decoder = &decoders.For(block);
      ASSERT_TRUE(decoder->Open(block.view()).ok());
      const std::span<const T> expected(values.get() + begin, block.count);
      // Read several times, so that Borrow and Read also request values that the decoder has
      // dropped.
      for (int round = 0; round < 4; ++round) {
        ASSERT_TRUE(decoder->SeekTo(0).ok());
        ASSERT_NO_FATAL_FAILURE(ExpectRest(*decoder, expected, random));
      }
      begin += block.count;
    }
    EXPECT_EQ(begin, size);
  });
}

TEST_P(EveryEncoding, BatchesDoNotShowInTheBytes) {
  ForOptions([&]<typename T>(std::type_identity<T>, EncoderOptions options) {
    options.kudu_exact = false;
    std::mt19937_64 random(2);
    for (const Shape shape : kShapes) {
      const auto column = MakeColumn<T>(shape, 3000, options.type_length, 7);
      const auto whole = Encode<T>(GetParam(), column.span(), options);
      const auto split =
          Encode<T>(GetParam(), column.span(), options, [&] { return 1 + random() % 300; });
      ASSERT_TRUE(whole == split) << "shape " << static_cast<int>(shape);
    }
  });
}

TEST_P(EveryEncoding, SeeksWhereScansArrive) {
  ForOptions([&]<typename T>(std::type_identity<T>, const EncoderOptions& options) {
    Decoders<T> decoders(GetParam().type, options.type_length);
    std::mt19937_64 random(3);
    for (const Shape shape : kShapes) {
      const auto column = MakeColumn<T>(shape, 700, options.type_length, 9);
      std::span<const T> values = column.span();
      for (const Block& block : Encode<T>(GetParam(), values, options)) {
        const auto expected = values.subspan(0, block.count);
        values = values.subspan(block.count);
        BlockDecoder<T>* decoder = &decoders.For(block);
        ASSERT_TRUE(decoder->Open(block.view()).ok());
        for (uint64_t i = 0; i <= block.count; i += block.count > 129 ? 1 + random() % 20 : 1) {
          const auto position =
              static_cast<uint32_t>(random() % 2 == 0 ? i : random() % (block.count + 1));
          ASSERT_TRUE(decoder->SeekTo(position).ok());
          ASSERT_EQ(decoder->position(), position);
          auto out = std::make_unique<T[]>(40);
          const size_t wanted = std::min<size_t>(1 + random() % 40, block.count - position);
          for (size_t done = 0; done < wanted;) {
            const auto n = decoder->Read({out.get(), wanted - done});
            ASSERT_TRUE(n.ok() && *n > 0) << n.status();
            ASSERT_TRUE(SameValues<T>({out.get(), *n}, expected.subspan(position + done, *n)));
            done += *n;
          }
        }
      }
    }
  });
}

// Returns keys around the values of a column: present, absent, smaller and larger than all values.
template <typename T>
Column<T> KeysNear(std::span<const T> values, uint32_t type_length, std::mt19937_64& random) {
  Column<T> keys{std::make_unique<T[]>(200), 0, {}};
  const auto add = [&](const T& key) {
    if (IsKey(key)) keys.values[keys.size++] = key;
  };
  const auto others = MakeColumn<T>(Shape::kRandom, 20, type_length, random());
  for (const T& key : others.span()) add(key);
  const auto extremes = MakeColumn<T>(Shape::kExtremes, 20, type_length, random());
  for (const T& key : extremes.span()) add(key);
  for (int i = 0; i < 50 && !values.empty(); ++i) {
    const T& value = i == 0   ? values.front()
                     : i == 1 ? values.back()
                              : values[random() % values.size()];
    add(value);
    if constexpr (kIsBytes<T>) {
      std::string text(value);
      if (!text.empty()) text.back() = static_cast<char>(text.back() + (i % 2 == 0 ? 1 : -1));
      if (type_length == 0 && i % 3 == 0) text.resize(random() % (text.size() + 1));
      if (type_length == 0 && i % 3 == 1) text.push_back('\0');
      add(keys.texts.emplace_back(std::move(text)));
    } else if constexpr (kIsInteger<T>) {
      add(static_cast<T>(value + (i % 2 == 0 ? uint128_t{1} : ~uint128_t{0})));
    }
  }
  for (T& key : keys.span()) {  // the texts of the other columns are destroyed at the end
    if constexpr (kIsBytes<T>) key = keys.texts.emplace_back(key);
  }
  return keys;
}

TEST_P(EveryEncoding, FindsTheLowerBoundOfAKey) {
  ForOptions([&]<typename T>(std::type_identity<T>, const EncoderOptions& options) {
    Decoders<T> decoders(GetParam().type, options.type_length);
    std::mt19937_64 random(4);
    for (const Shape shape : kShapes) {
      for (const size_t size : {0, 1, 2, 17, 129, 700}) {
        auto column = MakeColumn<T>(shape, size, options.type_length, size);
        SortKeys(column);
        std::span<const T> values = column.span();
        for (const Block& block : Encode<T>(GetParam(), values, options)) {
          const auto expected = values.subspan(0, block.count);
          values = values.subspan(block.count);
          BlockDecoder<T>* decoder = &decoders.For(block);
          ASSERT_TRUE(decoder->Open(block.view()).ok());
          const auto keys = KeysNear<T>(expected, options.type_length, random);
          for (const T& key : keys.span()) {
            const auto at = std::lower_bound(expected.begin(), expected.end(), key, KeyLess<T>);
            const auto position = static_cast<uint32_t>(at - expected.begin());
            const auto found = decoder->SeekToKey(key);
            ASSERT_TRUE(found.ok()) << found.status();
            ASSERT_EQ(found->position, position)
                << "of " << block.count << ", shape " << static_cast<int>(shape);
            ASSERT_EQ(found->exact, at != expected.end() && *at == key);
            ASSERT_EQ(decoder->position(), position);
            if (random() % (4 * kThinning) != 0) continue;
            ASSERT_NO_FATAL_FAILURE(ExpectRest(*decoder, expected, random));
          }
        }
      }
    }
  });
}

// Searches return the same positions with and without a seek index, for one key and for many keys.
TEST_P(EveryEncoding, FindsManyAndWithAnIndexWhatItFindsAlone) {
  ForOptions([&]<typename T>(std::type_identity<T>, const EncoderOptions& options) {
    Decoders<T> decoders(GetParam().type, options.type_length);
    std::mt19937_64 random(5);
    for (const Shape shape : kShapes) {
      for (const size_t size : {1, 17, 129, 3000}) {
        if (size == 3000 && options.restart_interval != 16) continue;
        auto column = MakeColumn<T>(shape, size, options.type_length, size);
        SortKeys(column);
        std::span<const T> values = column.span();
        size_t blocks = 0;
        for (const Block& block : Encode<T>(GetParam(), values, options)) {
          const auto expected = values.subspan(0, block.count);
          values = values.subspan(block.count);
          if (++blocks > 3 || block.count == 0 || random() % kThinning != 0) continue;
          BlockDecoder<T>& decoder = decoders.For(block);
          ASSERT_TRUE(decoder.Open(block.view()).ok());
          std::unique_ptr<const SeekIndex> index = decoder.BuildSeekIndex();
          if (index != nullptr) {
            const auto told = static_cast<int64_t>(index->memory_usage_bytes());
            EXPECT_GT(told, 0);
            const int64_t held = campaign::heap.bytes;
            index.reset();
            const int64_t freed = held - campaign::heap.bytes;
            if (!kSanitized) {
              EXPECT_LE(told, freed);
              EXPECT_GE(told, freed - 160);  // the heap rounds each allocation up
            }
            index = decoder.BuildSeekIndex();
          }
          const auto keys = KeysNear<T>(expected, options.type_length, random);
          for (const bool with_index : {false, true}) {
            BlockView view = block.view();
            view.seek_index = with_index ? index.get() : nullptr;
            ASSERT_TRUE(decoder.Open(view).ok());
            ASSERT_EQ(decoder.count(), block.count);
            ASSERT_EQ(decoder.first_ordinal(), static_cast<uint32_t>(block.first_ordinal));
            std::vector<LowerBound> bounds(keys.size);
            ASSERT_TRUE(decoder.SeekToKeys(keys.span(), bounds).ok());
            for (size_t i = 0; i < keys.size; ++i) {
              const T& key = keys.span()[i];
              const auto at = std::lower_bound(expected.begin(), expected.end(), key, KeyLess<T>);
              ASSERT_EQ(bounds[i].position, at - expected.begin());
              ASSERT_EQ(bounds[i].exact, at != expected.end() && *at == key);
              const auto alone = decoder.SeekToKey(key);
              ASSERT_TRUE(alone.ok()) << alone.status();
              ASSERT_EQ(alone->position, bounds[i].position);
              ASSERT_EQ(alone->exact, bounds[i].exact);
            }
            const auto position = static_cast<uint32_t>(random() % (block.count + 1));
            ASSERT_TRUE(decoder.SeekTo(position).ok());
            ASSERT_NO_FATAL_FAILURE(ExpectRest(decoder, expected, random));
            if constexpr (!kIsBytes<T>) {
              std::vector<uint32_t> positions(random() % 200);
              for (uint32_t& p : positions) p = static_cast<uint32_t>(random() % block.count);
              std::sort(positions.begin(), positions.end());
              auto out = std::make_unique<T[]>(positions.size());
              ASSERT_TRUE(decoder.Gather(positions, {out.get(), positions.size()}).ok());
              for (size_t i = 0; i < positions.size(); ++i) {
                ASSERT_TRUE(SameValues<T>({&out[i], 1}, expected.subspan(positions[i], 1)));
              }
            }
          }
        }
      }
    }
  });
}

// A decoder that compares values in their encoded form finds the same matches as a comparison of
// the decoded values. Strings are only compared with one value.
TEST_P(EveryEncoding, MatchesWhatItReads) {
  VisitPhysicalType(GetParam().type, [&]<typename T>(std::type_identity<T>) {
    if constexpr (!kIsFloat<T>) {
      const uint32_t length = GetParam().type == PhysicalType::kFixedBytes ? 5 : 0;
      Decoders<T> decoders(GetParam().type, length);
      std::mt19937_64 random(12);
      for (const Shape shape : kShapes) {
        for (const size_t size : {1, 17, 129, 3000}) {
          const auto column = MakeColumn<T>(shape, size, length, size);
          std::span<const T> values = column.span();
          for (const Block& block :
               Encode<T>(GetParam(), values, {.block_size_bytes = 3000, .type_length = length})) {
            const auto expected = values.subspan(0, block.count);
            values = values.subspan(block.count);
            BlockDecoder<T>& decoder = decoders.For(block);
            ASSERT_TRUE(decoder.Open(GuardedView(block)).ok());
            const auto keys = KeysNear<T>(expected, length, random);
            for (size_t i = 0; i < keys.size; ++i) {
              const T low = keys.span()[i];
              const T high = kIsBytes<T> || i % 2 == 0 ? low : keys.span()[random() % keys.size];
              const auto begin = static_cast<uint32_t>(random() % (block.count + 1));
              const size_t count = random() % (block.count - begin + 1);
              ASSERT_TRUE(decoder.SeekTo(begin).ok());
              std::vector<uint8_t> bits((count + 7) / 8 + 1, 0xee);
              const auto matched = decoder.ReadMatches(low, high, count, bits.data());
              ASSERT_TRUE(matched.ok()) << matched.status();
              if (!*matched) {
                ASSERT_EQ(decoder.position(), begin);
                break;
              }
              ASSERT_EQ(decoder.position(), begin + count);
              std::vector<uint8_t> wanted(bits.size(), 0);
              wanted.back() = 0xee;
              MatchEach(
                  expected.data() + begin, count,
                  [&](const T& value) {
                    return !KeyLess<T>(value, low) && !KeyLess<T>(high, value);
                  },
                  wanted.data());
              ASSERT_EQ(bits, wanted) << "shape " << static_cast<int>(shape);

              const auto list = keys.span().subspan(
                  i, std::min<size_t>(keys.size - i, 1 + random() % decoder.kMostMatches));
              ASSERT_TRUE(decoder.SeekTo(begin).ok());
              const auto listed = decoder.ReadMatchesOfAny(list, count, bits.data());
              ASSERT_TRUE(listed.ok()) << listed.status();
              if (!*listed) continue;
              ASSERT_EQ(decoder.position(), begin + count);
              const auto is_listed = [&](const T& value) {
                return std::find(list.begin(), list.end(), value) != list.end();
              };
              MatchEach(expected.data() + begin, count, is_listed, wanted.data());
              ASSERT_EQ(bits, wanted) << "shape " << static_cast<int>(shape);
            }
          }
        }
      }
    }
  });
}

// Only the bytes that VisitValuePlaces names, and the first ones, are those of the block. A reader
// verifies no others before it reads the value.
TEST_P(EveryEncoding, ValuePlacesHoldTheValue) {
  const Pair pair = GetParam();
  if (!HasValuePlaces(pair.encoding, pair.type)) return;
  ForOptions([&]<typename T>(std::type_identity<T>, const EncoderOptions& options) {
    const auto decoder = MakeDecoder<T>(pair.encoding, pair.type, options.type_length).value();
    for (const Shape shape : kShapes) {
      const auto column = MakeColumn<T>(shape, 1500, options.type_length, 6);
      for (const Block& block : Encode<T>(pair, column.span(), options)) {
        ASSERT_EQ(block.encoding, pair.encoding);
        for (const uint32_t position : {0u, block.count / 3, block.count - 1}) {
          Block part = block;
          for (size_t i = kMostBytesOfOpen; i < part.bytes.size(); ++i) part.bytes[i] ^= 0xff;
          const auto need = [&](uint64_t begin, uint64_t end) {
            EXPECT_TRUE(begin < end && end <= block.bytes.size()) << begin << " to " << end;
            std::copy(block.bytes.begin() + static_cast<ptrdiff_t>(begin),
                      block.bytes.begin() + static_cast<ptrdiff_t>(end),
                      part.bytes.begin() + static_cast<ptrdiff_t>(begin));
            return absl::OkStatus();
          };
          const BlockView view = part.view();
          ASSERT_TRUE(decoder->Open(view).ok());
          ASSERT_TRUE(
              VisitValuePlaces(pair.encoding, pair.type, options.type_length, view, position, need)
                  .ok());
          T value;
          if constexpr (kIsBytes<T>) {
            ASSERT_TRUE(decoder->SeekTo(position).ok());
            ASSERT_EQ(decoder->Read({&value, 1}).value(), 1u);
          } else {
            ASSERT_TRUE(decoder->Gather({&position, 1}, {&value, 1}).ok());
          }
          const size_t row = block.first_ordinal + position;
          ASSERT_TRUE(SameValues<T>({&value, 1}, column.span().subspan(row, 1)));
        }
      }
    }
  });
}

TEST(Registry, FindsRowsByNumberAndName) {
  for (const EncodingRow& row : Encodings()) {
    EXPECT_EQ(FindEncoding(row.encoding), &row);
    EXPECT_EQ(FindEncoding(row.name), &row);
    EXPECT_EQ(EncodingName(row.encoding), row.name);
    EXPECT_NE(row.types, 0u);
  }
  EXPECT_EQ(FindEncoding(Encoding::kAuto), nullptr);
  EXPECT_EQ(FindEncoding("no such"), nullptr);
  EXPECT_EQ(EncodingName(static_cast<Encoding>(999)), "encoding 999");
}

TEST(Registry, NamesThePairItHasNot) {
  size_t refused = 0;
  for (uint32_t number = 0; number < 1100; ++number) {
    for (int i = 0; i < kNumPhysicalTypes; ++i) {
      const auto encoding = static_cast<Encoding>(number);
      const auto type = static_cast<PhysicalType>(i);
      const EncodingRow* row = FindEncoding(encoding);
      VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
        const bool supported = row != nullptr && row->Supports(type);
        const EncodingRow* const decoded_as = FindDecoding(encoding);
        const bool decoded = decoded_as != nullptr && decoded_as->Supports(type);
        const auto encoder = MakeEncoder<T>(encoding, type, {.type_length = 4});
        const auto decoder = MakeDecoder<T>(encoding, type, 4);
        ASSERT_EQ(encoder.ok(), supported) << number << " of " << PhysicalTypeName(type);
        ASSERT_EQ(decoder.ok(), decoded) << number << " of " << PhysicalTypeName(type);
        if (decoded) return;
        ++refused;
        for (const absl::Status& status : {encoder.status(), decoder.status()}) {
          EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
          EXPECT_THAT(status.ToString(), HasSubstr(EncodingName(encoding)));
          EXPECT_THAT(status.ToString(), HasSubstr(std::string(PhysicalTypeName(type))));
        }
      });
    }
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace cfile::encodings::registry_test
