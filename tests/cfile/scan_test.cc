// A scan finds the same rows as a filter over all rows, and reads no more blocks than necessary.
#include "cfile/scan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cfile/core/format/crc32c.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/writer.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "proto/cfile.pb.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/scan_testing.h"
#include "tests/encodings/columns.h"

namespace cfile::scan_test {

using encodings::Pair;
using encodings::Shape;
using testing::HasSubstr;
using testing_support::ExpectScan;
using testing_support::RandomPredicate;
using testing_support::Rows;
using testing_support::TypeOf;
using File = std::vector<uint8_t>;

// EXPECTs that the counters count each block with rows in the range exactly once.
template <typename T>
void ExpectCounted(const Reader& reader, const OrdinalRange& range, const ScanCounters& counters) {
  uint64_t blocks = 0;
  ASSERT_TRUE(VisitBlocks(reader, [&](const BlockInfo& block) {
                const uint64_t end = std::min(range.end, block.first_ordinal + block.num_rows);
                blocks += std::max(range.begin, block.first_ordinal) < end;
                return true;
              }).ok());
  EXPECT_EQ(counters.blocks_read + counters.blocks_skipped_by_statistics +
                counters.blocks_skipped_by_value_index + counters.blocks_skipped_by_bloom_filter,
            blocks);
}

class ScansOfTheRegistry : public testing::TestWithParam<Pair> {};
INSTANTIATE_TEST_SUITE_P(Scan, ScansOfTheRegistry, testing::ValuesIn(encodings::AllPairs()),
                         encodings::PairName);

TEST_P(ScansOfTheRegistry, AsTheFilter) {
  const Pair pair = GetParam();
  const ColumnType type = TypeOf(pair.type);
  std::mt19937_64 random(11);
  encodings::VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
    for (const Shape shape : encodings::kShapes) {
      for (int form = 0; form < 4; ++form) {
        const bool nullable = form % 2 == 1;
        const bool sorted = form == 2 && !std::is_same_v<T, Int96>;
        const size_t size = random() % 4 == 0 ? random() % 3 : random() % 1200;
        SCOPED_TRACE(testing::Message()
                     << "shape " << static_cast<int>(shape) << ", form " << form << ", " << size);
        auto values = encodings::MakeColumn<T>(shape, size, type.type_length, size);
        if (sorted) encodings::SortKeys(values);
        testing_support::Column<T> column;
        for (const T& value : values.span()) {
          const bool null = nullable && (column.rows.size() / 150 == 2 || random() % 5 == 0);
          column.rows.push_back(null ? std::nullopt : std::optional<Owned<T>>(value));
        }
        const WriterOptions options{
            .encoding = pair.encoding,
            .nullable = nullable,
            .positional_index = !sorted || random() % 4 != 0,
            .value_index = sorted,
            .block_size_bytes = 2000,
            .max_values_per_block =
                static_cast<uint32_t>(random() % 8 == 0 ? 1 : 1 + random() % 200),
            .index_block_size_bytes = 300,
            .max_block_size_bytes = 256 * 1024,
            .statistics = form < 3,
            .bloom_filter_bits_per_value = form < 3 && random() % 2 == 0 ? 10u : 0u};
        const File file = WriteColumn<T>(type, options, column);
        const auto reader = Reader::Open(NewMemorySource(file, "test"));
        ASSERT_TRUE(reader.ok()) << reader.status();
        for (int i = 0; i < 25; ++i) {
          const auto predicate = RandomPredicate<T>(type, column.rows, random);
          SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(predicate.kind()));
          OrdinalRange range = kAllRows;
          if (random() % 3 == 0) {
            range.begin = random() % (size + 2);
            range.end = range.begin + random() % (size + 2);
          }
          ScanCounters counters;
          ExpectScan(*reader, predicate, column.rows, range, &counters);
          if (options.positional_index && options.statistics)
            ExpectCounted<T>(*reader, range, counters);
          if (HasFailure()) return;
        }
      }
    }
  });
}

template <typename T>
Reader Written(const ColumnType& type, const WriterOptions& options, const Rows<T>& rows) {
  return Reader::Open(
             NewMemorySource(testing_support::WriteColumn<T>(type, options, {rows}), "test"))
      .value();
}

TEST(Scan, SkipsByStatistics) {
  Rows<int64_t> rows;
  for (int64_t i = 0; i < 10000; ++i) rows.push_back(i / 10);
  const Reader reader = Written<int64_t>(
      ColumnType::Int64(), {.encoding = Encoding::kPlain, .max_values_per_block = 100}, rows);
  using P = Predicate<int64_t>;
  ScanCounters counters;
  ExpectScan(reader, P::Between(305, 324), rows, kAllRows, &counters);
  EXPECT_EQ(counters.blocks_read, 3u);
  EXPECT_EQ(counters.blocks_all_match, 1u);
  EXPECT_EQ(counters.blocks_skipped_by_statistics, 97u);
  ExpectScan(reader, P::NotEqual(2000), rows, kAllRows, &counters);
  EXPECT_EQ(counters.blocks_all_match, 100u);
  ExpectScan(reader, P::Equal(2000), rows, kAllRows, &counters);
  EXPECT_EQ(counters.blocks_read, 0u);
  ExpectScan(reader, P::IsNull(), rows, {.begin = 150, .end = 350}, &counters);
  EXPECT_EQ(counters.blocks_skipped_by_statistics, 3u);
  ExpectScan(reader, P::In({5, 505, 995}), rows, kAllRows, &counters);
  EXPECT_EQ(counters.blocks_read, 3u);
}

TEST(Scan, EntersASortedColumnByItsIndex) {
  Rows<std::string_view> rows;
  for (int i = 0; i < 5000; ++i) rows.push_back("key-" + std::to_string(100000 + i));
  for (const bool statistics : {true, false}) {
    const Reader reader = Written<std::string_view>(
        ColumnType::String(),
        {.value_index = true, .max_values_per_block = 100, .statistics = statistics}, rows);
    using P = Predicate<std::string_view>;
    ScanCounters counters;
    ExpectScan(reader, P::HasPrefix("key-1023"), rows, kAllRows, &counters);
    EXPECT_EQ(counters.matches, 100u);
    EXPECT_EQ(counters.blocks_read, 1u);
    EXPECT_EQ(counters.blocks_all_match, 1u);
    EXPECT_EQ(counters.blocks_skipped_by_value_index, statistics ? 49u : 0u);
    ExpectScan(reader, P::GreaterOrEqual("key-104950"), rows, kAllRows, &counters);
    EXPECT_EQ(counters.blocks_read, 1u);
  }
}

TEST(Scan, LooksIntoTheBloomFilterForEqualAndIn) {
  Rows<double> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back(i % 2 == 0 ? i : -i);
  rows[4] = -0.0;
  rows[0] = 0.5;
  const Reader reader = Written<double>(
      ColumnType::Double(), {.max_values_per_block = 100, .bloom_filter_bits_per_value = 16}, rows);
  using P = Predicate<double>;
  ScanCounters counters;
  uint64_t skipped = 0;
  for (int i = 0; i < 100; ++i) {
    ExpectScan(reader, P::In({i + 0.25, i + 0.75}), rows, kAllRows, &counters);
    skipped += counters.blocks_skipped_by_bloom_filter / 10;
  }
  EXPECT_GT(skipped, 90u);
  ExpectScan(reader, P::Equal(0.0), rows, kAllRows, &counters);
  EXPECT_EQ(counters.matches, 1u) << "-0 is there, and equal";
}

TEST(Scan, FindsWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Rows<double> rows = {1.0, nan, 1.0, nan, nan, 1.0};
  const Reader reader = Written<double>(ColumnType::Double(), {.max_values_per_block = 3}, rows);
  using P = Predicate<double>;
  for (const auto& [predicate, matches] :
       {std::pair(P::NotEqual(1.0), 3u), std::pair(P::NotEqual(2.0), 6u),
        std::pair(P::NotEqual(nan), 6u), std::pair(P::Equal(nan), 0u), std::pair(P::Less(nan), 0u),
        std::pair(P::GreaterOrEqual(1.0), 3u), std::pair(P::In({nan, 1.0}), 3u),
        std::pair(P::Between(0, nan), 0u)}) {
    ScanCounters counters;
    ExpectScan(reader, predicate, rows, kAllRows, &counters);
    EXPECT_EQ(counters.matches, matches);
  }
}

TEST(Scan, ComparesTheValuesOfADictionaryOnce) {
  const std::vector<std::string> words = {"apple", "banana", "cherry", "date", "elder"};
  Rows<std::string_view> rows;
  for (size_t i = 0; i < 3000; ++i) {
    if (i % 7 == 3) {
      rows.push_back(std::nullopt);
    } else {
      rows.push_back(words[i % 11 % 5]);
    }
  }
  for (const Encoding encoding : {Encoding::kDict, Encoding::kParquetDictionary}) {
    const Reader reader = Written<std::string_view>(
        ColumnType::String(), {.encoding = encoding, .nullable = true, .max_values_per_block = 300},
        rows);
    using P = Predicate<std::string_view>;
    for (const auto& predicate : {P::Equal("cherry"), P::NotEqual("banana"), P::Less("banana"),
                                  P::In({"apple", "elder", "fig"}), P::HasPrefix("d")}) {
      ScanCounters counters;
      ExpectScan(reader, predicate, rows, kAllRows, &counters);
      EXPECT_EQ(counters.blocks_by_codes, 10u);
      EXPECT_GT(counters.matches, 0u);
    }
    ScanCounters counters;
    ExpectScan(reader, P::Equal("cherr"), rows, kAllRows, &counters);
    EXPECT_EQ(counters.matches, 0u);
  }
}

TEST(Scan, RefusesWhatItCannotAnswer) {
  const Reader int96 = Written<Int96>(ColumnType::Int96(), {}, {Int96(encodings::uint128_t{1})});
  const Int96 one(encodings::uint128_t{1});
  EXPECT_EQ(int96.NewScan<Int96>(Predicate<Int96>::Less(one)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(int96.NewScan<Int96>(Predicate<Int96>::Equal(one)).ok());
  EXPECT_EQ(int96.NewScan<int32_t>(Predicate<int32_t>::Less(1)).status().code(),
            absl::StatusCode::kInvalidArgument);
  std::mt19937_64 random(1);
  const auto leaf =
      testing_support::RandomLeaf<int32_t>(ColumnType::Int32(), {1, 2}, 20, 0, random);
  const File file = WriteLeaf<int32_t>(ColumnType::Int32(), {}, leaf, random);
  const auto levels = Reader::Open(NewMemorySource(file, "test"));
  EXPECT_EQ(levels->NewScan<int32_t>(Predicate<int32_t>::Less(1)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Statistics with right checksums may give wrong ends or wrong null counts of blocks. A scan still
// returns no wrong rows.
TEST(Scan, ComparesTheCountsOfStatisticsWithIndexAndBlocks) {
  Rows<int32_t> rows;
  for (int32_t i = 0; i < 600; ++i) rows.push_back(i % 5 == 0 ? std::nullopt : std::optional(i));
  const File file = testing_support::WriteColumn<int32_t>(
      ColumnType::Int32(),
      {.encoding = Encoding::kPlain, .nullable = true, .max_values_per_block = 200}, {rows});
  const auto scan = [&](const std::function<void(StatisticsPB&)>& change,
                        const Predicate<int32_t>& predicate, const OrdinalRange& range = kAllRows) {
    File changed = file;
    const BlockPointer pointer = *Reader::Open(NewMemorySource(file, "test"))->info().statistics;
    StatisticsPB message;
    EXPECT_TRUE(message.ParseFromArray(changed.data() + pointer.offset,
                                       static_cast<int>(pointer.size - 4)));
    change(message);
    EXPECT_EQ(message.ByteSizeLong(), pointer.size - 4);
    message.SerializeToArray(changed.data() + pointer.offset, static_cast<int>(pointer.size - 4));
    encodings::StoreLittleEndian(
        internal::Crc32c({changed.data() + pointer.offset, pointer.size - 4}),
        changed.data() + pointer.end() - 4);
    const auto reader = Reader::Open(NewMemorySource(changed, "test"));
    auto found = reader->NewScan<int32_t>(predicate, range);
    while (found.ok()) {
      const auto batch = found->Next();
      if (!batch.ok()) return batch.status();
      if (batch->empty()) return absl::OkStatus();
    }
    return found.status();
  };
  const auto all = Predicate<int32_t>::NotEqual(7);
  const auto none = Predicate<int32_t>::Greater(590);
  EXPECT_TRUE(scan([](StatisticsPB&) {}, all).ok());
  const auto move_end = [](StatisticsPB& s) {
    s.mutable_blocks(0)->set_present_count(s.blocks(0).present_count() - 1);
    s.mutable_blocks(1)->set_present_count(s.blocks(1).present_count() + 1);
  };
  for (const auto& predicate : {all, none}) {
    for (const OrdinalRange& range : {kAllRows, OrdinalRange{300, 400}}) {
      const absl::Status status = scan(move_end, predicate, range);
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("block at offset"));
    }
  }
  const auto move_null = [](StatisticsPB& s) {
    s.mutable_blocks(0)->set_present_count(s.blocks(0).present_count() + 1);
    s.mutable_blocks(0)->set_null_count(s.blocks(0).null_count() - 1);
    s.mutable_blocks(1)->set_present_count(s.blocks(1).present_count() - 1);
    s.mutable_blocks(1)->set_null_count(s.blocks(1).null_count() + 1);
  };
  EXPECT_TRUE(absl::IsDataLoss(scan(move_null, all)));
}

}  // namespace cfile::scan_test
