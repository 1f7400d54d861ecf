// The statistics match the values in every type and encoding. Wrong statistics are detected.
#include "cfile/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "cfile/core/format/bloom_filter.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "proto/cfile.pb.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/encodings/columns.h"
#include "tests/encodings/each_target.h"

namespace cfile::statistics_test {

using encodings::kIsBytes;
using encodings::kIsFloat;
using encodings::Pair;
using encodings::Shape;
using testing::HasSubstr;
using File = std::vector<uint8_t>;

ColumnType TypeOf(PhysicalType physical) {
  for (const ColumnType& type : testing_support::AllColumnTypes()) {
    if (type.physical() == physical) return type;
  }
  return {};
}

template <typename T>
std::string Key(const T& value) {
  std::string key;
  internal::AppendKey(value, key);
  return key;
}

// EXPECTs that `bound` is a valid shortened upper bound: it is greater than `value`, and with its
// last byte decremented it is a prefix of `value`.
void ExpectRoundedUp(std::string bound, const std::string& value) {
  EXPECT_GT(bound, value);
  EXPECT_LE(bound.size(), 64u);
  bound.back() = static_cast<char>(bound.back() - 1);
  EXPECT_EQ(value.substr(0, bound.size()), bound);
}

// EXPECTs the statistics that a simple loop over `rows` computes.
template <typename T>
void ExpectStatistics(const BlockStatistics& found,
                      const std::vector<std::optional<Owned<T>>>& rows) {
  uint64_t nulls = 0, nans = 0;
  std::optional<Owned<T>> min, max;
  for (const auto& row : rows) {
    if (!row) {
      ++nulls;
      continue;
    }
    const T value(*row);
    if (!encodings::IsKey(value)) {
      ++nans;
      continue;
    }
    if (!min || encodings::KeyLess<T>(value, T(*min))) min = row;
    if (!max || encodings::KeyLess<T>(T(*max), value)) max = row;
  }
  EXPECT_EQ(found.present_count, rows.size() - nulls);
  EXPECT_EQ(found.null_count, nulls);
  EXPECT_EQ(found.nan_count, nans);
  if (std::is_same_v<T, Int96> || !min) {
    EXPECT_FALSE(found.min_key || found.max_key);
    return;
  }
  if constexpr (kIsBytes<T>) {
    EXPECT_EQ(found.min_exact, min->size() <= 64);
    EXPECT_EQ(found.max_exact, max->size() <= 64);
    EXPECT_EQ(found.min_key, min->substr(0, 64));
    if (max->size() <= 64) {
      EXPECT_EQ(found.max_key, max);
    } else if (max->substr(0, 64) == std::string(64, '\xff')) {
      EXPECT_FALSE(found.max_key) << "nothing of 64 bytes is above it";
    } else {
      ASSERT_TRUE(found.max_key);
      ExpectRoundedUp(*found.max_key, *max);
    }
  } else if constexpr (!std::is_same_v<T, Int96>) {
    EXPECT_TRUE(found.min_exact && found.max_exact);
    if constexpr (kIsFloat<T>) {
      if (*min == 0) min = -T{0};
      if (*max == 0) max = T{0};
    }
    EXPECT_EQ(found.min_key, Key<T>(*min));
    EXPECT_EQ(found.max_key, Key<T>(*max));
    EXPECT_TRUE(found.template Min<T>() == *min);
    EXPECT_TRUE(found.template Max<T>() == *max);
  }
}

std::shared_ptr<const FileStatistics> StatisticsOf(const File& file) {
  const auto reader = Reader::Open(NewMemorySource(file, "test"));
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return nullptr;
  const auto statistics = reader->Statistics();
  EXPECT_TRUE(statistics.ok()) << statistics.status();
  return statistics.ok() ? *statistics : nullptr;
}

void ExpectVerified(const Reader& reader) {
  const VerifyReport report = Verify(reader);
  for (const Damage& damage : report.damages) ADD_FAILURE() << damage.status;
  EXPECT_EQ(report.bytes_checked, reader.info().file_size_bytes);
}

class StatisticsOfTheRegistry : public testing::TestWithParam<Pair> {};
INSTANTIATE_TEST_SUITE_P(Statistics, StatisticsOfTheRegistry,
                         testing::ValuesIn(encodings::AllPairs()), encodings::PairName);

TEST_P(StatisticsOfTheRegistry, AsTheValues) {
  const Pair pair = GetParam();
  const ColumnType type = TypeOf(pair.type);
  std::mt19937_64 random(3);
  encodings::VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    for (const Shape shape : encodings::kShapes) {
      for (const bool nullable : {false, true}) {
        for (const size_t size : {0, 1, 1500}) {
          SCOPED_TRACE(testing::Message()
                       << "shape " << static_cast<int>(shape) << ", " << size << " rows");
          const auto values = encodings::MakeColumn<T>(shape, size, type.type_length, size);
          testing_support::Column<T> column;
          for (const T& value : values.span()) {
            const bool null = nullable && (column.rows.size() / 300 == 2 || random() % 3 == 0);
            column.rows.push_back(null ? std::nullopt : std::optional<Owned<T>>(value));
          }
          const WriterOptions options{
              .encoding = pair.encoding,
              .nullable = nullable,
              .block_size_bytes = 4000,
              .max_values_per_block = static_cast<uint32_t>(size > 1 ? 100 + random() % 200 : 1),
              .max_block_size_bytes = 256 * 1024,
              .bloom_filter_bits_per_value = 10};
          const File file = WriteColumn<T>(type, options, column);
          const auto reader = Reader::Open(NewMemorySource(file, "test"));
          ASSERT_TRUE(reader.ok()) << reader.status();
          const auto statistics = reader->Statistics();
          ASSERT_TRUE(statistics.ok()) << statistics.status();
          ASSERT_NE(*statistics, nullptr);
          ExpectStatistics<T>((*statistics)->file, column.rows);
          uint64_t blocks = 0;
          ASSERT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                        const auto begin =
                            column.rows.begin() + static_cast<ptrdiff_t>(block.first_ordinal);
                        ++blocks;
                        if ((*statistics)->blocks.size() < blocks) return false;
                        ExpectStatistics<T>(
                            (*statistics)->blocks[block.index],
                            {begin, begin + static_cast<ptrdiff_t>(block.num_rows)});
                        return true;
                      }).ok());
          EXPECT_EQ((*statistics)->blocks.size(), blocks);
          EXPECT_EQ((*statistics)->bloom_filter.empty(), (std::is_same_v<T, bool>));
          for (const auto& row : column.rows) {
            ASSERT_TRUE(!row || (*statistics)->MightContain(T(*row)));
          }
          ExpectVerified(*reader);
          if (HasFailure()) return;
        }
      }
    }
  });
}

TEST(Statistics, OfSortedColumns) {
  std::mt19937_64 random(4);
  const auto column = testing_support::RandomColumn<std::string_view>(ColumnType::String(), 3000, 0,
                                                                      /*sorted=*/true, random);
  const File file = WriteColumn<std::string_view>(
      ColumnType::String(), {.value_index = true, .block_size_bytes = 500}, column);
  const auto statistics = StatisticsOf(file);
  ASSERT_NE(statistics, nullptr);
  ExpectStatistics<std::string_view>(statistics->file, column.rows);
  EXPECT_GT(statistics->blocks.size(), 10u);
}

TEST(Statistics, OfRecordsAreThoseOfTheLeafsValues) {
  std::mt19937_64 random(5);
  for (const bool array : {false, true}) {
    LevelLimits limits{.max_repetition = 2, .max_definition = 3};
    if (array) limits = LevelLimits::KuduArray(true);
    const auto leaf =
        testing_support::RandomLeaf<double>(ColumnType::Double(), limits, 2000, 0, random);
    const File file =
        WriteLeaf<double>(ColumnType::Double(),
                          {.encoding = Encoding::kPlain, .block_size_bytes = 1000}, leaf, random);
    const auto reader = Reader::Open(NewMemorySource(file, "test"));
    ASSERT_TRUE(reader.ok());
    const auto statistics = StatisticsOf(file);
    ASSERT_NE(statistics, nullptr);
    std::vector<std::optional<double>> rows;
    size_t value = 0, entry = 0;
    for (const uint16_t definition : leaf.definition) {
      rows.push_back(definition == limits.max_definition
                         ? std::optional<double>(leaf.values[value++])
                         : std::nullopt);
    }
    ExpectStatistics<double>(statistics->file, rows);
    ASSERT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                  const auto begin = rows.begin() + static_cast<ptrdiff_t>(entry);
                  ExpectStatistics<double>(
                      statistics->blocks.at(block.index),
                      {begin, begin + static_cast<ptrdiff_t>(block.num_entries)});
                  entry += block.num_entries;
                  return true;
                }).ok());
    EXPECT_EQ(entry, rows.size());
    EXPECT_GT(statistics->blocks.size(), 5u);
    ExpectVerified(*reader);
  }
}

TEST(Statistics, NotOfVersion1NotOfKuduNotUnasked) {
  testing_support::Column<int32_t> column{{{1}, {2}, {3}}};
  for (const WriterOptions& options :
       {WriterOptions{.encoding = Encoding::kPlain, .version = FormatVersion::kV1},
        WriterOptions{.oldest_reader = OldestReader::kKudu}, WriterOptions{.statistics = false}}) {
    const File file = WriteColumn<int32_t>(ColumnType::Int32(), options, column);
    const auto reader = Reader::Open(NewMemorySource(file, "test"));
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(reader->info().compatible_features, 0u);
    EXPECT_FALSE(reader->info().statistics);
    EXPECT_EQ(*reader->Statistics(), nullptr);
    WriterOptions with_filter = options;
    with_filter.bloom_filter_bits_per_value = 10;
    File ignored;
    auto writer =
        Writer<int32_t>::Create(NewMemorySink(&ignored, "test"), ColumnType::Int32(), with_filter);
    EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(writer.status().message()), HasSubstr("Bloom filter"));
  }
  const File file = WriteColumn<int32_t>(ColumnType::Int32(), {}, column);
  const auto reader = Reader::Open(NewMemorySource(file, "test"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->info().compatible_features, kCompatibleFeatureStatistics);
}

TEST(Statistics, WithoutRoomForTheBlocksTheFileIsLeft) {
  std::mt19937_64 random(6);
  const auto column = testing_support::RandomColumn<int64_t>(ColumnType::Int64(), 2000, 0,
                                                             /*sorted=*/false, random);
  const WriterOptions options{.encoding = Encoding::kPlain,
                              .block_size_bytes = 100,
                              .index_block_size_bytes = 200,
                              .max_block_size_bytes = 2000};
  const auto statistics = StatisticsOf(WriteColumn<int64_t>(ColumnType::Int64(), options, column));
  ASSERT_NE(statistics, nullptr);
  EXPECT_TRUE(statistics->blocks.empty());
  ExpectStatistics<int64_t>(statistics->file, column.rows);
  // In this file, not even the statistics of the whole file fit into a block.
  const testing_support::Column<int128_t> one{{{5}}};
  const File file = WriteColumn<int128_t>(
      ColumnType::Int128(),
      {.encoding = Encoding::kPlain, .block_size_bytes = 16, .max_block_size_bytes = 38}, one);
  EXPECT_EQ(StatisticsOf(file), nullptr);
}

TEST(Statistics, ReadOnceByAllThreads) {
  std::mt19937_64 random(7);
  const auto column = testing_support::RandomColumn<int32_t>(ColumnType::Int32(), 5000, 0,
                                                             /*sorted=*/false, random);
  const File file = WriteColumn<int32_t>(ColumnType::Int32(), {.block_size_bytes = 100}, column);
  const auto reader = Reader::Open(NewMemorySource(file, "test"));
  ASSERT_TRUE(reader.ok());
  std::vector<std::shared_ptr<const FileStatistics>> seen(8);
  std::vector<std::thread> threads;
  for (auto& slot : seen) threads.emplace_back([&] { slot = *reader->Statistics(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& statistics : seen) {
    ASSERT_NE(statistics, nullptr);
    EXPECT_EQ(statistics, seen[0]);
  }
}

// The hash is XXH64 of the value in its PLAIN form. The expected hashes include those in the
// specification of xxHash.
TEST(BloomFilter, Hashes) {
  EXPECT_EQ(internal::BloomHash(std::string_view()), 0xef46db3751d8e999u);
  EXPECT_EQ(internal::BloomHash(std::string_view("a")), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(internal::BloomHash(std::string_view("abc")), 0x44bc2cf5ad770999u);
  const std::string minus_two = "\xfe\xff\xff\xff\xff\xff\xff\xff";
  const auto bytes = [](const std::string& text) {
    return internal::BloomHash(std::string_view(text));
  };
  EXPECT_EQ(internal::BloomHash(int64_t{-2}), bytes(minus_two));
  for (const uint64_t hash :
       {internal::BloomHash(int8_t{-2}), internal::BloomHash(int16_t{-2}),
        internal::BloomHash(int32_t{-2}), internal::BloomHash(uint32_t{0xfffffffe})}) {
    EXPECT_EQ(hash, bytes(minus_two.substr(0, 4))) << "narrow integers are INT32 in Parquet";
  }
  EXPECT_EQ(internal::BloomHash(uint8_t{0xfe}), bytes(std::string("\xfe\0\0\0", 4)));
  EXPECT_EQ(internal::BloomHash(1.0), bytes(std::string("\0\0\0\0\0\0\xf0\x3f", 8)));
  EXPECT_EQ(internal::BloomHash(int128_t{-2}), bytes(std::string(15, '\xff') + '\xfe'));
}

// Returns a filter of `hashes`, each added `times` times, and the builder's description of the
// filter.
std::pair<std::string, BloomFilterInfo> FilterOf(std::span<const uint64_t> hashes, uint32_t bits,
                                                 size_t max_bytes = 64 << 20, int times = 1) {
  internal::BloomFilterBuilder builder(bits, max_bytes);
  for (int i = 0; i < times; ++i) builder.Add(hashes);
  EXPECT_LE(builder.memory_usage_bytes(),
            std::max(max_bytes, internal::BloomFilterBuilder::kLeastBytes));
  const absl::Status status = builder.Finish();
  EXPECT_TRUE(status.ok()) << status;
  if (!status.ok()) return {};
  return {std::string(encodings::AsString(builder.filter())), builder.info()};
}

std::vector<uint64_t> RandomHashes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> hashes(count);
  for (uint64_t& hash : hashes) hash = random();
  return hashes;
}

// Returns a filter of `num_blocks` blocks, computed by the formula of the format.
std::string PlainFilter(std::span<const uint64_t> hashes, size_t num_blocks) {
  std::string filter(num_blocks * internal::kBloomBlockBytes, '\0');
  for (const uint64_t hash : hashes) {
    const size_t block = static_cast<size_t>((hash >> 32) * num_blocks >> 32);
    for (size_t i = 0; i < internal::kBloomBlockWords; ++i) {
      const uint32_t bit = static_cast<uint32_t>(hash) * internal::kBloomSalts[i] >> 27;
      char& byte = filter[block * internal::kBloomBlockBytes + 4 * i + bit / 8];
      byte = static_cast<char>(byte | 1 << bit % 8);
    }
  }
  return filter;
}

// Returns the expected false positive rate of a filter with this number of bits per distinct value.
double FalsePositives(double bits_per_value) {
  const double load = 256 / bits_per_value;  // mean number of values in a block of the filter
  double chance = std::exp(-load), result = 0;
  for (int values = 0; values < 2000; ++values) {
    result += chance * std::pow(1 - std::pow(31.0 / 32, values), 8);
    chance *= load / (values + 1);
  }
  return result;
}

double PartThatPasses(const std::string& filter, int probes) {
  std::mt19937_64 random(99);
  int passing = 0;
  for (int i = 0; i < probes; ++i) passing += internal::BloomMightContain(filter, random());
  return static_cast<double>(passing) / probes;
}

// A filter of one block has the words that were computed by hand from the formula of the
// specification.
TEST(BloomFilter, Bits) {
  const uint64_t hash = 0x12345678'00000001u;  // the product of 1 and a salt is the salt
  const auto [filter, info] = FilterOf({&hash, 1}, 1);
  const uint32_t salts[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                            0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
  ASSERT_EQ(filter.size(), 32u);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(encodings::LoadLittleEndian<uint32_t>(encodings::AsBytes(filter).data() + 4 * i),
              uint32_t{1} << (salts[i] >> 27));
  }
  EXPECT_TRUE(internal::BloomMightContain(filter, hash));
  EXPECT_FALSE(internal::BloomMightContain(filter, 0x12345678'40000000u));
  EXPECT_EQ(info.distinct_values, 1u);
  EXPECT_EQ(info.num_blocks(), 1u);
}

// Our filters equal the filters that DuckDB 2.0.0 writes into a Parquet file for 50 different
// values: i, "word-i" and i / 8.0. (Each filter of DuckDB has 64 bytes.)
TEST(BloomFilter, AsDuckDbs) {
  std::vector<int32_t> numbers;
  std::vector<double> eighths;
  std::vector<std::string> texts;
  for (int32_t i = 0; i < 50; ++i) {
    numbers.push_back(i);
    eighths.push_back(i / 8.0);
    texts.push_back("word-" + std::to_string(i));
  }
  const std::vector<std::string_view> words(texts.begin(), texts.end());
  const auto hex = [](internal::BloomFilterBuilder& builder) {
    EXPECT_TRUE(builder.Finish().ok());
    return absl::BytesToHexString(std::string(encodings::AsString(builder.filter())));
  };
  encodings::WithEachTarget([&] {
    internal::BloomFilterBuilder integers(10, 64), strings(10, 64), doubles(10, 64);
    integers.AddValues<int32_t>(numbers);
    strings.AddValues<std::string_view>(words);
    doubles.AddValues<double>(eighths);
    EXPECT_EQ(hex(integers),
              "2e65ce3377752adb4a88f4f3e70e9da738218dcfb46b93fa09fd5c57da28eb97"
              "bfc17c325d18aa6fe2f9a3a83e4ee85afe1e25cfbdfae8406836e6a61099a9ed");
    EXPECT_EQ(hex(strings),
              "ba6c6f43f1c0d554da79eb0136afb80485de5d8b2dacd66ed7d6c1d8e339e5ea"
              "c44bc6e91e97b6333b659faac5c188f3f1a2fddb817747987a4246bde95714d7");
    EXPECT_EQ(hex(doubles),
              "3d06544fa3d244cc593c5e8bdf187a43b9d18e34de0596f4504df9b30b5cabad"
              "ea6e377f8edfb126aa9afaedbd1e5a7f581495f3cc3fca13d8af2fdad7b97dd1");
  });
}

// The filter has the requested bits per value, and equals a filter that is built in one step. The
// number of values is smaller or larger than the number of hashes that the builder keeps.
// `max_bytes` is small, so that few values suffice for this.
TEST(BloomFilter, HasTheBitsPerValueThatWereAskedFor) {
  const std::vector<uint64_t> all = RandomHashes(330'000, 8);
  std::mt19937_64 random(9);
  for (const auto& [bits, max_bytes, most] : {std::tuple{10u, size_t{2} << 20, size_t{330'000}},
                                              {1u, size_t{1} << 20, 330'000},
                                              {40u, size_t{3} << 20, 150'000},
                                              {13u, size_t{2} << 20, 200'000}}) {
    for (size_t count = 1; count <= most; count += count / 2 + random() % (count / 4 + 2)) {
      const std::span hashes(all.data(), count);
      const auto [filter, info] = FilterOf(hashes, bits, max_bytes, count < 10'000 ? 3 : 1);
      ASSERT_FALSE(filter.empty()) << count << " values, " << bits << " bits";
      EXPECT_EQ(filter, PlainFilter(hashes, info.num_blocks())) << count;
      const double given = 8.0 * static_cast<double>(filter.size()) / static_cast<double>(count);
      EXPECT_GE(given, 0.9 * bits) << count;
      // Small filters may have more bits, because a filter consists of whole blocks.
      if (count * bits > 256 * 10) {
        EXPECT_LE(given, 1.1 * bits) << count;
      }
      EXPECT_NEAR(static_cast<double>(info.distinct_values), static_cast<double>(count),
                  0.01 * static_cast<double>(count));
      EXPECT_EQ(info.size_bytes, filter.size());
      if (count > 1000 && (bits == 10 || bits == 13)) {
        const BloomFilterInfo described = DescribeBloomFilter(filter);
        EXPECT_NEAR(static_cast<double>(described.distinct_values), static_cast<double>(count),
                    0.05 * static_cast<double>(count));
      }
    }
  }
}

// The filter has the requested 10 bits per value. An earlier version gave 16.8 bits, 5.0 bits and
// no filter for these three numbers of values.
TEST(BloomFilter, OfMillionsOfValues) {
  const std::vector<uint64_t> all = RandomHashes(8'000'000, 10);
  for (const size_t count : {2'000'000u, 6'700'000u, 8'000'000u}) {
    const std::span hashes(all.data(), count);
    const auto [filter, info] = FilterOf(hashes, 10);
    ASSERT_FALSE(filter.empty());
    const double given = 8.0 * static_cast<double>(filter.size()) / static_cast<double>(count);
    EXPECT_NEAR(given, 10, 1) << count;
    EXPECT_NEAR(info.bits_per_value(), given, 0.05);
    EXPECT_NEAR(PartThatPasses(filter, 200'000) / FalsePositives(given), 1, 0.15) << count;
    for (size_t i = 0; i < count; i += 1000)
      ASSERT_TRUE(internal::BloomMightContain(filter, hashes[i]));
  }
}

TEST(BloomFilter, OfManyEqualValues) {
  std::vector<uint64_t> hashes = RandomHashes(5000, 11);
  hashes.push_back(0);
  const auto [filter, info] = FilterOf(hashes, 10, 64 << 20, 300);
  EXPECT_EQ(info.distinct_values, 5001u);
  EXPECT_EQ(info.num_blocks(), 196u);
  EXPECT_EQ(filter, PlainFilter(hashes, 196));
  // Repeated values also do not change a filter that exceeds the number of hashes that the builder
  // keeps.
  const std::vector<uint64_t> many = RandomHashes(60'000, 12);
  EXPECT_EQ(FilterOf(many, 10, 2 << 20, 5), FilterOf(many, 10, 2 << 20, 1));
}

TEST(BloomFilter, AboveTheBudget) {
  const std::vector<uint64_t> hashes = RandomHashes(400'000, 13);
  const auto status = [&](size_t count, uint32_t bits, size_t max_bytes) {
    internal::BloomFilterBuilder builder(bits, max_bytes);
    builder.Add(std::span(hashes).first(count));
    return builder.Finish();
  };
  for (const auto& [count, bits, max_bytes] : {std::tuple{size_t{5000}, 10u, size_t{6000}},
                                               {400'000, 10u, size_t{1} << 20},
                                               {400'000, 300u, 1 << 20},
                                               {400'000, 10u, 1000},
                                               {60'000, 1u, 6000}}) {
    const absl::Status found = status(count, bits, max_bytes);
    EXPECT_TRUE(absl::IsOutOfRange(found)) << found;
    EXPECT_THAT(std::string(found.message()),
                HasSubstr("above the limit of " + std::to_string(max_bytes) +
                          ": raise max_bloom_filter_bytes"));
  }
  // The filter can be written with the limit that the error message suggests.
  const std::string message(status(400'000, 10, 1 << 20).message());
  const size_t up_to = message.find("takes up to ");
  ASSERT_NE(up_to, message.npos) << message;
  EXPECT_TRUE(status(400'000, 10, std::stoull(message.substr(up_to + 12))).ok()) << message;
}

template <typename T>
std::vector<T> DistinctValues(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i * 7919);
  return values;
}

absl::Status WriteDistinct(size_t count, const WriterOptions& options, File& file) {
  auto writer = Writer<int64_t>::Create(NewMemorySink(&file, "test"), ColumnType::Int64(), options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ(writer->Append(DistinctValues<int64_t>(count)), absl::OkStatus());
  return writer->Finish();
}

TEST(BloomFilter, TheFileSaysWhatItIs) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    for (const size_t count : {0u, 1u, 20'000u}) {
      File file;
      ASSERT_EQ(WriteDistinct(
                    count, {.compression = compression, .bloom_filter_bits_per_value = 10}, file),
                absl::OkStatus());
      const auto reader = Reader::Open(NewMemorySource(file, "test"));
      ASSERT_TRUE(reader.ok()) << reader.status();
      const auto& info = reader->info().bloom_filter;
      ASSERT_TRUE(info);
      EXPECT_EQ(info->distinct_values, count);
      EXPECT_EQ(info->size_bytes, count == 20'000 ? 32u * 782 : 32u);
      EXPECT_EQ((*reader->Statistics())->bloom_filter.size(), info->size_bytes);
      ExpectVerified(*reader);
    }
  }
  File without;
  ASSERT_EQ(WriteDistinct(10, {}, without), absl::OkStatus());
  EXPECT_FALSE(Reader::Open(NewMemorySource(without, "test"))->info().bloom_filter);
}

// A filter may be larger than the largest block. With default options, readers read this filter.
TEST(BloomFilter, LargerThanABlock) {
  File file;
  ASSERT_EQ(WriteDistinct(300'000, {.bloom_filter_bits_per_value = 500}, file), absl::OkStatus());
  const auto reader = Reader::Open(NewMemorySource(file, "test"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_GT(reader->info().statistics->size, ReaderOptions().max_block_size_bytes);
  EXPECT_FALSE(reader->info().statistics_above_limit);
  const auto statistics = reader->Statistics();
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  ASSERT_NE(*statistics, nullptr);
  EXPECT_NEAR(reader->info().bloom_filter->bits_per_value(), 500, 50);
  EXPECT_TRUE((*statistics)->MightContain(int64_t{7919}));
  EXPECT_FALSE((*statistics)->MightContain(int64_t{1}));
}

TEST(BloomFilter, IsNotLeftOut) {
  File file;
  absl::Status status = WriteDistinct(
      10'000, {.bloom_filter_bits_per_value = 10, .max_bloom_filter_bytes = 12'000}, file);
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("test: a Bloom filter of 12512 bytes, 10 bits for each of about 10000"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("raise max_bloom_filter_bytes"));
  // The statistics that contain the filter do not fit into a block, because they have two bounds of
  // 64 bytes.
  auto writer = Writer<std::string_view>::Create(NewMemorySink(&file, "test"), ColumnType::String(),
                                                 {.encoding = Encoding::kPlain,
                                                  .block_size_bytes = 64,
                                                  .max_block_size_bytes = 128,
                                                  .bloom_filter_bits_per_value = 10});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::string value(64, 'x');
  ASSERT_EQ(writer->Append(std::vector<std::string_view>{value}), absl::OkStatus());
  status = writer->Finish();
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("raise max_block_size_bytes"));
}

// A file of cfile 0.1.0. Its filter has a power of two as the number of blocks. The file holds the
// 40 values i * i + 7.
constexpr std::string_view kOlderFile =
    "6b75647563666c321a0000001a180a0c6366696c652e636f6c756d6e12080807100118012000c228223a000000"
    "00000000000000000000002800000000000000070000000000000008000000000000000b000000000000001000"
    "000000000000170000000000000020000000000000002b00000000000000380000000000000047000000000000"
    "0058000000000000006b0000000000000080000000000000009700000000000000b000000000000000cb000000"
    "00000000e800000000000000070100000000000028010000000000004b01000000000000700100000000000097"
    "01000000000000c001000000000000eb0100000000000018020000000000004702000000000000780200000000"
    "0000ab02000000000000e002000000000000170300000000000050030000000000008b03000000000000c80300"
    "0000000000070400000000000048040000000000008b04000000000000d0040000000000001705000000000000"
    "6005000000000000ab05000000000000f805000000000000f85c29ca040000000038cc02000000000801100004"
    "0000004a5873270a160828220880000000000000072a0880000000000005f81216082822088000000000000007"
    "2a0880000000000005f81a40b330e2478d78742d5d72c0786e8626b8bac428ce9042fb55cb57f2027434f12f52"
    "d6996b94e9e654bb16813454d2c8a9f0ec9872f5c83a1c5305176f7b0e5cb8fdf94e80ceb2e173080710011828"
    "22070a0508840310183001400050015801c23e146a05089c0310767a0b6366696c6520302e312e306b75647563"
    "666c322e000000";

TEST(BloomFilter, OfAnOlderFile) {
  const std::string bytes = absl::HexStringToBytes({kOlderFile.data(), kOlderFile.size()});
  const auto reader = Reader::Open(NewMemorySource(File(bytes.begin(), bytes.end()), "test"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_FALSE(reader->info().bloom_filter);
  const auto statistics = reader->Statistics();
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  ASSERT_EQ((*statistics)->bloom_filter.size(), 64u);
  int passing = 0;
  for (int64_t i = 0; i < 40; ++i) {
    EXPECT_TRUE((*statistics)->MightContain(i * i + 7));
    passing += (*statistics)->MightContain(-i) ? 1 : 0;
  }
  EXPECT_LT(passing, 5);
  EXPECT_NEAR(static_cast<double>(DescribeBloomFilter((*statistics)->bloom_filter).distinct_values),
              40, 6);
  ExpectVerified(*reader);
}

// Returns `file` after `change` was applied to its statistics. `change` must not change their size.
// The checksum is corrected.
File WithStatistics(const File& file, const std::function<void(StatisticsPB&)>& change) {
  const auto reader = Reader::Open(NewMemorySource(file, "test"));
  EXPECT_TRUE(reader.ok());
  const BlockPointer pointer = *reader->info().statistics;
  StatisticsPB message;
  EXPECT_TRUE(
      message.ParseFromArray(file.data() + pointer.offset, static_cast<int>(pointer.size - 4)));
  change(message);
  File changed = file;
  EXPECT_EQ(message.ByteSizeLong(), pointer.size - 4);
  message.SerializeToArray(changed.data() + pointer.offset, static_cast<int>(pointer.size - 4));
  const uint32_t crc = internal::Crc32c({changed.data() + pointer.offset, pointer.size - 4});
  encodings::StoreLittleEndian(crc, changed.data() + pointer.end() - 4);
  return changed;
}

TEST(DamagedStatistics, VerifyComparesThemWithTheValues) {
  std::mt19937_64 random(10);
  auto column = testing_support::RandomColumn<double>(ColumnType::Double(), 1000, 20,
                                                      /*sorted=*/false, random);
  column.rows[500] = std::numeric_limits<double>::quiet_NaN();
  column.rows[501] = std::nullopt;
  column.rows[502] = 1.0;
  const File file = WriteColumn<double>(ColumnType::Double(),
                                        {.encoding = Encoding::kPlain,
                                         .nullable = true,
                                         .block_size_bytes = 1000,
                                         .bloom_filter_bits_per_value = 10},
                                        column);
  const auto damages = [&](const std::function<void(StatisticsPB&)>& change) {
    const File changed = WithStatistics(file, change);
    const auto reader = Reader::Open(NewMemorySource(changed, "test"));
    EXPECT_TRUE(reader.ok());
    std::string found;
    for (const Damage& damage : Verify(*reader).damages) {
      EXPECT_EQ(damage.status.code(), absl::StatusCode::kDataLoss);
      EXPECT_EQ(damage.block, reader->info().statistics);
      found += std::string(damage.status.message()) + "\n";
    }
    return found;
  };
  EXPECT_EQ(damages([](StatisticsPB&) {}), "");
  const auto add = [](std::string* key, int difference) {
    key->back() = static_cast<char>(key->back() + difference);
  };
  EXPECT_THAT(damages([&](StatisticsPB& s) {
                auto* key = s.mutable_blocks(1)->mutable_min_key();
                key->back() = static_cast<char>(key->back() ^ 1);
                s.mutable_file()->set_min_key(std::min(*key, s.file().min_key()));
              }),
              HasSubstr("minimum"));
  EXPECT_THAT(damages([&](StatisticsPB& s) { add(s.mutable_file()->mutable_max_key(), 1); }),
              HasSubstr("statistics of the file: their maximum"));
  EXPECT_THAT(damages([](StatisticsPB& s) {
                for (auto* part : {s.mutable_blocks(2), s.mutable_file()}) {
                  part->set_present_count(part->present_count() + 1);
                  part->set_null_count(part->null_count() - 1);
                }
              }),
              HasSubstr("statistics of block 2: they say"));
  EXPECT_THAT(damages([](StatisticsPB& s) {
                std::fill(s.mutable_bloom_filter()->begin(), s.mutable_bloom_filter()->end(), '\0');
              }),
              HasSubstr("not in the Bloom filter"));
}

TEST(DamagedStatistics, AreRefused) {
  FileInfo info;
  info.type = ColumnType::Double();
  info.num_rows = 10;
  info.nullable = true;
  info.file_size_bytes = 1000;
  const auto valid = [] {
    StatisticsPB message;
    for (auto* part : {message.mutable_file(), message.add_blocks()}) {
      part->set_present_count(8);
      part->set_null_count(2);
      part->set_nan_count(1);
      part->set_min_key(Key(-1.0));
      part->set_max_key(Key(2.0));
    }
    message.set_bloom_filter(std::string(64, '\xff'));
    return message;
  };
  const auto parse = [&](const StatisticsPB& message) {
    const std::string bytes = message.SerializeAsString();
    return internal::ParseStatistics(encodings::AsBytes(bytes), info).status();
  };
  EXPECT_TRUE(parse(valid()).ok()) << parse(valid());
  const std::vector<std::function<void(StatisticsPB&)>> changes = {
      [](StatisticsPB& s) { s.clear_file(); },
      [](StatisticsPB& s) { s.mutable_file()->set_present_count(9); },
      [](StatisticsPB& s) { s.mutable_file()->set_present_count(~uint64_t{0} - 1); },
      [](StatisticsPB& s) { s.mutable_file()->set_nan_count(0); },
      [](StatisticsPB& s) { s.mutable_blocks(0)->set_present_count(7); },
      [](StatisticsPB& s) { s.mutable_blocks(0)->set_null_count(~uint64_t{0}); },
      [](StatisticsPB& s) { s.mutable_blocks(0)->set_nan_count(9); },
      [](StatisticsPB& s) { s.mutable_blocks(0)->set_min_key(Key(-1.5)); },
      [](StatisticsPB& s) { s.mutable_blocks(0)->set_max_key(Key(2.5)); },
      [](StatisticsPB& s) { s.mutable_blocks(0)->set_min_key(Key(2.5)); },
      [](StatisticsPB& s) { s.mutable_file()->set_min_key("abc"); },
      [](StatisticsPB& s) { s.mutable_file()->set_max_key(std::string(8, '\xff')); },
      [](StatisticsPB& s) { s.mutable_file()->set_nan_count(8); },
      [](StatisticsPB& s) { s.add_blocks(); },
      [](StatisticsPB& s) { *s.add_blocks() = s.blocks(0); },
      [](StatisticsPB& s) { s.set_bloom_filter(std::string(63, '\xff')); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    StatisticsPB message = valid();
    changes[i](message);
    EXPECT_EQ(parse(message).code(), absl::StatusCode::kDataLoss) << "change " << i;
  }
  // The footer's fields must agree with the filter.
  info.bloom_filter = {.size_bytes = 96, .distinct_values = 1};
  EXPECT_TRUE(absl::IsDataLoss(parse(valid()))) << parse(valid());
  info.bloom_filter->size_bytes = 64;
  EXPECT_TRUE(parse(valid()).ok()) << parse(valid());
  info.bloom_filter.reset();
  info.statistics = {.offset = 100, .size = 100};
  for (const auto& [size, ok] : {std::pair{0u, false}, {63u, false}, {64u, true}}) {
    const internal::wire::Extensions extensions{.bloom_filter_size_bytes = uint64_t{size}};
    EXPECT_EQ(internal::InterpretStatistics(extensions, {}, info).ok(), ok) << size;
  }
  EXPECT_EQ(info.bloom_filter->num_blocks(), 2u);
  info.bloom_filter.reset();
  // If the statistics have more blocks than the file has room for, they are refused before they
  // take memory. Each entry claims one row.
  FileInfo many = info;
  many.num_rows = 100'000;
  StatisticsPB message;
  message.mutable_file()->set_present_count(many.num_rows);
  for (uint64_t i = 0; i < many.num_rows; ++i) message.add_blocks()->set_present_count(1);
  const std::string bytes = message.SerializeAsString();
  EXPECT_THAT(
      std::string(internal::ParseStatistics(encodings::AsBytes(bytes), many).status().message()),
      HasSubstr("the file has 1000 bytes"));
  for (size_t size = 0; size < valid().ByteSizeLong(); ++size) {
    const std::string shorter = valid().SerializeAsString().substr(0, size);
    (void)internal::ParseStatistics(encodings::AsBytes(shorter), info);
  }
}

// Cursors can read a file with damaged statistics. A call that asks for the statistics returns the
// error.
TEST(DamagedStatistics, DoNotHinderCursors) {
  const testing_support::Column<int32_t> column{{{1}, {2}, {3}}};
  File file = WriteColumn<int32_t>(ColumnType::Int32(), {}, column);
  const BlockPointer pointer = *Reader::Open(NewMemorySource(file, "test"))->info().statistics;
  file[pointer.offset] ^= 1;
  const auto reader = Reader::Open(NewMemorySource(file, "test"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->Statistics().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(**reader->Get<int32_t>(1), 2);
  EXPECT_EQ(Verify(*reader).damages.size(), 1u);
}

}  // namespace cfile::statistics_test
