// After each failed call, the test repeats the call on the same object. A reader must then return
// each row exactly once, or the error again. A writer must return the error again and publish
// nothing.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "cfile/block_cache.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/file_info.h"
#include "cfile/levels.h"
#include "cfile/protobuf_records.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "google/protobuf/timestamp.pb.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/campaign/failing_io.h"
#include "tests/campaign/record_table.h"
#include "tests/campaign/system_calls.h"
#include "tests/campaign/transcript.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using campaign::HashOf;
using testing::HasSubstr;
using testing_support::Column;
using testing_support::FailEachCall;
using testing_support::Fault;
using testing_support::FaultMode;
using testing_support::ScriptedSource;
using testing_support::SystemCalls;

// The results of an object: hashes of rows, in their order.
using Rows = std::vector<uint64_t>;

// Repeats failed calls. Ends a lasting failure after three failed calls.
class Retry {
 public:
  // `injected` returns whether a status comes from the injected failure. `disarm` ends the failure.
  Retry(std::function<bool(const absl::Status&)> injected, std::function<void()> disarm)
      : injected_(std::move(injected)), disarm_(std::move(disarm)) {}

  // Repeats `call`, which returns a Status or a StatusOr, until it succeeds. Returns the result.
  // Calls `between`() after each failed call.
  template <typename Call, typename Between>
  auto Until(const Call& call, const Between& between) {
    while (true) {
      auto result = call();
      if (Good(result)) return result;
      between();
      if (testing::Test::HasFailure()) return result;
    }
  }
  template <typename Call>
  auto Until(const Call& call) {
    return Until(call, [] {});
  }
  int errors() const { return errors_; }

 private:
  static const absl::Status& StatusOf(const absl::Status& status) { return status; }
  template <typename T>
  static const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
    return result.status();
  }
  template <typename Result>
  bool Good(const Result& result) {
    const absl::Status& status = StatusOf(result);
    if (status.ok()) return true;
    EXPECT_TRUE(injected_(status)) << status;
    if (++errors_ == 3) disarm_();
    return testing::Test::HasFailure();
  }

  const std::function<bool(const absl::Status&)> injected_;
  const std::function<void()> disarm_;
  int errors_ = 0;
};

// Calls `read`(reader, retry), which returns Rows, while each read of `bytes` fails in turn.
// EXPECTs that `read` returns the same rows as without failures.
// EXPECTs more than `least` failed reads.
// `max_requests` is an option of the reader. If it is 1, each lasting failure gives an error.
// A single failure may give no error: after a failed read of several blocks,
// the reader reads the needed block alone.
// If max_requests is larger, a read in advance may fail for a block that nobody needs.
template <typename Read>
void ExpectRetriesReadAll(const std::vector<uint8_t>& bytes, uint64_t least, size_t max_requests,
                          const Read& read) {
  Fault fault;
  const auto source =
      std::make_shared<ScriptedSource>(NewMemoryViewSource(bytes, "test"), fault.script());
  std::optional<Rows> expected;
  FailEachCall(fault, "retried_calls", least, [&](int64_t number, FaultMode mode) {
    fault.Disarm();  // a read in advance, which nobody needed, may have failed last
    const auto open = [&] {
      return Reader::Open(source, {.block_cache = std::make_shared<BlockCache>(1 << 14),
                                   .read_ahead_bytes = 9'000,
                                   .max_requests_in_flight = max_requests});
    };
    const auto reader = open();
    ASSERT_TRUE(reader.ok()) << reader.status();
    Retry retry(
        [](const absl::Status& status) {
          return absl::IsUnavailable(status) &&
                 status.message().find("ReadAt test: made to fail") != std::string::npos;
        },
        [&] { fault.Disarm(); });
    if (!expected) {
      expected = read(*open(), retry);  // so that the cache of `reader` has no block yet
      ASSERT_FALSE(expected->empty());
    }
    Arm(fault, number, mode);
    const Rows found = read(*reader, retry);
    EXPECT_TRUE(found == *expected) << found.size() << " rows, expected " << expected->size();
    EXPECT_LE(retry.errors() > 0, fault.fired());
    if (max_requests == 1 && mode != FaultMode::kOnce) {
      EXPECT_EQ(retry.errors() > 0, fault.fired());
    }
    if (mode == FaultMode::kOnce) {
      EXPECT_LE(retry.errors(), 1);
    }
  });
}
template <typename Read>
void ExpectRetriesReadAll(const std::vector<uint8_t>& bytes, uint64_t least, const Read& read) {
  ExpectRetriesReadAll(bytes, least, 1, read);
  ExpectRetriesReadAll(bytes, least, 8, read);
}

template <typename T>
void AddBatch(const Batch<T>& batch, Rows& rows) {
  for (size_t i = 0; i < batch.size(); ++i)
    rows.push_back(batch.IsValid(i) ? HashOf(batch.values[i]) : 0);
}

// Reads all rows from the cursor's position on. EXPECTs that a failed call does not change the
// position.
template <typename Cursor>
void ReadByNext(Cursor& cursor, Retry& retry, Rows& rows) {
  while (!testing::Test::HasFailure()) {
    const uint64_t before = cursor.ordinal();
    const auto batch =
        retry.Until([&] { return cursor.Next(300); }, [&] { EXPECT_EQ(cursor.ordinal(), before); });
    if (!batch.ok() || batch->empty()) return;
    EXPECT_EQ(batch->first_ordinal, before);
    EXPECT_EQ(cursor.ordinal(), before + batch->size());
    AddBatch(*batch, rows);
  }
}

// The number of rows makes the file larger than the head and the tail that a reader keeps in
// memory.
constexpr size_t kRows = 16'000;

struct Case {
  std::string name;
  WriterOptions options;
  bool positional_index = true;
};
std::vector<Case> Cases() {
  // Blocks and nodes are small and many, so that the trees are deep and each block needs a read.
  const WriterOptions options{.encoding = Encoding::kPlain,
                              .compression = Compression::kNone,
                              .block_size_bytes = 4000,
                              .max_values_per_block = 1000,
                              .index_block_size_bytes = 100};
  std::vector<Case> cases;
  cases.push_back({"plain", options});
  cases.push_back({"plain_without_statistics", options});
  cases.back().options.statistics = false;
  cases.push_back({"nulls_and_bloom_filter", options});
  cases.back().options.nullable = true;
  cases.back().options.bloom_filter_bits_per_value = 10;
  cases.push_back({"keys_lz4", options});
  cases.back().options.value_index = true;
  cases.back().options.compression = Compression::kLz4;
  cases.push_back({"keys_alone", options});
  cases.back().options.value_index = true;
  cases.back().options.statistics = false;
  cases.back().positional_index = false;
  return cases;
}

// Returns `file` without its positional index, like the files that Kudu writes as indexes of
// compound keys.
std::vector<uint8_t> WithoutPositionalIndex(std::vector<uint8_t> file) {
  FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  file.resize(file.size() - info.footer_size_bytes);
  info.positional_index_root.reset();
  encodings::ByteWriter footer;
  internal::AppendFooter(info, /*extensions=*/true, footer);
  file.insert(file.end(), footer.data(), footer.data() + footer.size());
  return file;
}

class RetryTest : public testing::TestWithParam<Case> {
 protected:
  Column<int64_t> MakeColumn() const {
    std::mt19937_64 random(7);
    Column<int64_t> column;
    for (size_t i = 0; i < kRows; ++i) {
      auto& row = column.rows.emplace_back();
      if (GetParam().options.nullable && random() % 5 == 0) continue;
      row = static_cast<int64_t>(i << 32 | random() % 1'000'000);
    }
    return column;
  }
  std::vector<uint8_t> MakeFile() const {
    auto file = testing_support::WriteColumn(ColumnType::Int64(), GetParam().options, MakeColumn());
    return GetParam().positional_index ? file : WithoutPositionalIndex(std::move(file));
  }
  bool keyed() const { return GetParam().options.value_index; }
};
INSTANTIATE_TEST_SUITE_P(Columns, RetryTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(RetryTest, NextOfACursor) {
  ExpectRetriesReadAll(MakeFile(), 10, [&](const Reader& reader, Retry& retry) {
    auto cursor = *retry.Until([&] { return reader.NewCursor<int64_t>(); });
    Rows rows;
    ReadByNext(cursor, retry, rows);
    EXPECT_EQ(rows.size(), kRows);
    return rows;
  });
}

// A failed seek has no effect: Next then returns the same rows as without the seek.
TEST_P(RetryTest, SeeksOfACursor) {
  const Column<int64_t> column = MakeColumn();
  const auto key = [&](size_t row) {
    while (!column.rows[row]) ++row;
    return *column.rows[row];
  };
  ExpectRetriesReadAll(MakeFile(), 10, [&](const Reader& reader, Retry& retry) {
    auto cursor = *retry.Until([&] { return reader.NewCursor<int64_t>(); });
    Rows rows;
    const auto next = [&](Rows& to) {
      const auto batch = retry.Until([&] { return cursor.Next(5); });
      if (batch.ok()) AddBatch(*batch, to);
    };
    const auto seek = [&](const auto& call) {
      const uint64_t before = cursor.ordinal();
      auto result = retry.Until(call, [&] {
        EXPECT_EQ(cursor.ordinal(), before);
        if (!GetParam().positional_index) return;
        Rows kept;
        next(kept);
        Rows expected;
        for (uint64_t row = before; row < before + kept.size(); ++row)
          expected.push_back(column.rows[row] ? HashOf(*column.rows[row]) : 0);
        EXPECT_EQ(kept, expected);
        EXPECT_EQ(kept.empty(), before == kRows);
        EXPECT_TRUE(retry.Until([&] { return cursor.SeekToOrdinal(before); }).ok());
      });
      return result;
    };
    std::mt19937_64 random(11);
    for (int i = 0; i < 12 && !HasFailure(); ++i) {
      const uint64_t row = random() % (kRows - 100);
      if (GetParam().positional_index) {
        EXPECT_TRUE(seek([&] { return cursor.SeekToOrdinal(row); }).ok());
        next(rows);
        const uint64_t end = row + random() % 10;
        EXPECT_TRUE(seek([&] { return cursor.SeekToRange({row, end}); }).ok());
        EXPECT_TRUE(retry.Until([&] { return cursor.SeekToOrdinal(row); }).ok());
        next(rows);
        const auto value = seek([&] { return cursor.Get(row + 7000 < kRows ? row + 7000 : 3); });
        if (value.ok()) rows.push_back(*value ? HashOf(**value) : 0);
        OwnedBatch<int64_t> taken;
        const uint64_t ordinals[] = {random() % kRows, 5, random() % kRows};
        EXPECT_TRUE(seek([&] { return cursor.Take(ordinals, taken); }).ok());
        AddBatch(taken.batch(), rows);
      }
      if (keyed()) {
        const auto found = seek([&] { return cursor.SeekToKey(key(row)); });
        if (found.ok()) rows.push_back(absl::HashOf(found->ordinal, found->exact));
        next(rows);
        const int64_t keys[] = {key(random() % kRows), key(3) + 1, key(random() % kRows)};
        KeyPosition positions[3];
        EXPECT_TRUE(seek([&] { return cursor.SeekMany(keys, positions); }).ok());
        for (const KeyPosition& position : positions)
          rows.push_back(absl::HashOf(position.ordinal, position.exact));
        const auto range = seek(
            [&] { return cursor.SeekToKeyRange(key(row), std::optional<int64_t>(key(row + 50))); });
        if (range.ok()) rows.push_back(absl::HashOf(range->begin, range->end));
        next(rows);
      }
    }
    return rows;
  });
}

TEST_P(RetryTest, ACopyOfACursorThatFailed) {
  if (!GetParam().positional_index && !keyed()) return;
  ExpectRetriesReadAll(MakeFile(), 10, [&](const Reader& reader, Retry& retry) {
    auto cursor = *retry.Until([&] { return reader.NewCursor<int64_t>(); });
    Rows rows;
    while (!HasFailure()) {
      const auto batch = retry.Until([&] { return cursor.Next(300); },
                                     [&] {
                                       auto clone = retry.Until([&] { return cursor.Clone(); });
                                       if (clone.ok()) cursor = *std::move(clone);
                                     });
      if (!batch.ok() || batch->empty()) break;
      AddBatch(*batch, rows);
    }
    EXPECT_EQ(rows.size(), kRows);
    return rows;
  });
}

// Scan::Next is repeated after failed reads. The scans find rows in all ways: by value index, by
// statistics and by values.
TEST_P(RetryTest, NextOfAScan) {
  const Column<int64_t> column = MakeColumn();
  const int64_t low = column.rows[4000].value_or(int64_t{4000} << 32);
  const int64_t high = column.rows[13'000].value_or(int64_t{13'000} << 32);
  const std::pair<Predicate<int64_t>, OrdinalRange> scans[] = {
      {Predicate<int64_t>::GreaterOrEqual(low), kAllRows},
      {Predicate<int64_t>::Between(low, high), kAllRows},
      {Predicate<int64_t>::NotEqual(low), {.begin = 500, .end = 15'500}},
      {Predicate<int64_t>::In({low, high, 77}), kAllRows},
      {Predicate<int64_t>::IsNull(), kAllRows},
      {Predicate<int64_t>::IsNotNull(), kAllRows}};
  for (const auto& scanned : scans) {
    SCOPED_TRACE(&scanned - scans);
    const auto& predicate = scanned.first;
    const OrdinalRange& range = scanned.second;
    const bool is_null = predicate.kind() == Predicate<int64_t>::Kind::kIsNull;
    if (is_null && !GetParam().options.nullable) continue;
    ExpectRetriesReadAll(MakeFile(), 1, [&](const Reader& reader, Retry& retry) {
      auto scan = *retry.Until([&] { return reader.NewScan<int64_t>(predicate, range); });
      Rows rows;
      while (!HasFailure()) {
        const auto batch = retry.Until([&] { return scan.Next(); });
        if (!batch.ok() || batch->empty()) break;
        for (size_t i = 0; i < batch->size(); ++i)
          rows.push_back(absl::HashOf(batch->ordinals[i], HashOf(batch->values[i])));
      }
      const ScanCounters& counters = scan.counters();
      EXPECT_EQ(counters.matches, rows.size());
      rows.push_back(absl::HashOf(counters.blocks_read, counters.blocks_skipped_by_statistics,
                                  counters.blocks_all_match));
      return rows;
    });
  }
}

// TableScan::Next is repeated after failed reads, forward and backward. The conditions and the
// values are read by different cursors.
TEST_P(RetryTest, NextOfATableScan) {
  const Column<int64_t> column = MakeColumn();
  const int64_t low = column.rows[4000].value_or(int64_t{4000} << 32);
  const int64_t high = column.rows[13'000].value_or(int64_t{13'000} << 32);
  const Filter filters[] = {Ge("value", low), Or(Lt("value", low), Gt("value", high)),
                            And(Ne("value", low), Not(Eq("value", high))), Filter()};
  for (const Filter& filter : filters) {
    for (const bool reverse : {false, true}) {
      if (reverse && !GetParam().positional_index) continue;
      SCOPED_TRACE(testing::Message() << &filter - filters << " " << reverse);
      ExpectRetriesReadAll(MakeFile(), 1, [&](const Reader& reader, Retry& retry) {
        auto scan = *NewTableScan(reader, {.where = filter, .reverse = reverse});
        Rows rows;
        while (!HasFailure()) {
          const auto batch = retry.Until([&] { return scan.Next(); });
          if (!batch.ok() || batch->empty()) break;
          Rows in_batch;
          for (size_t row = 0; row < batch->num_rows(); ++row) {
            in_batch.push_back(
                absl::HashOf(batch->ordinal(row), HashOf(batch->column<int64_t>(0).values[row])));
          }
          if (reverse) std::reverse(in_batch.begin(), in_batch.end());
          rows.insert(rows.end(), in_batch.begin(), in_batch.end());
        }
        EXPECT_EQ(scan.counters().rows_returned, rows.size());
        return rows;
      });
    }
  }
}

// Scan::Next is repeated after failed reads. The scan compares the codes of a dictionary, and also
// reads the dictionary.
TEST(RetryScanTest, OfADictionary) {
  Column<std::string_view> column;
  std::mt19937_64 random(5);
  for (size_t i = 0; i < 200'000; ++i)
    column.rows.push_back("value " + std::to_string(random() % 200));
  const auto file =
      testing_support::WriteColumn<std::string_view>(ColumnType::String(),
                                                     {.encoding = Encoding::kParquetDictionary,
                                                      .block_size_bytes = 4000,
                                                      .index_block_size_bytes = 100},
                                                     column);
  ExpectRetriesReadAll(file, 2, [&](const Reader& reader, Retry& retry) {
    auto scan = *retry.Until([&] {
      return reader.NewScan<std::string_view>(Predicate<std::string_view>::LessOrEqual("value 3"));
    });
    Rows rows;
    while (!testing::Test::HasFailure()) {
      const auto batch = retry.Until([&] { return scan.Next(); });
      if (!batch.ok() || batch->empty()) break;
      for (size_t i = 0; i < batch->size(); ++i)
        rows.push_back(absl::HashOf(batch->ordinals[i], HashOf(batch->values[i])));
    }
    EXPECT_GT(scan.counters().blocks_by_codes, 0u);
    return rows;
  });
}

// Appends hashes of the entries and the record numbers of a batch.
template <typename T>
void AddLevels(const LevelBatch<T>& batch, Rows& rows) {
  rows.push_back(absl::HashOf(batch.first_record, batch.num_records, batch.num_entries));
  for (const uint16_t level : batch.repetition) rows.push_back(level);
  for (const uint16_t level : batch.definition) rows.push_back(level);
  for (const T& value : batch.values) rows.push_back(HashOf(value));
}

// LevelCursor::Next is repeated after failed reads. One record is so long that it takes several
// batches.
TEST(RetryLevelTest, NextOfALevelCursor) {
  std::mt19937_64 random(3);
  const auto leaf = testing_support::RandomLeaf<int64_t>(
      ColumnType::Int64(), {.max_repetition = 2, .max_definition = 3}, 3000, 150'000, random);
  const auto file = testing_support::WriteLeaf(
      ColumnType::Int64(),
      {.encoding = Encoding::kPlain, .block_size_bytes = 4000, .index_block_size_bytes = 100}, leaf,
      random);
  ExpectRetriesReadAll(file, 3, [&](const Reader& reader, Retry& retry) {
    auto cursor = *retry.Until([&] { return reader.NewLevelCursor<int64_t>(); });
    Rows rows;
    while (!testing::Test::HasFailure()) {
      const uint64_t before = cursor.record();
      const auto batch = retry.Until([&] { return cursor.Next(100); },
                                     [&] { EXPECT_EQ(cursor.record(), before); });
      if (!batch.ok() || batch->empty()) break;
      AddLevels(*batch, rows);
    }
    for (const uint64_t record : {2000u, 10u, 1500u}) {
      const uint64_t before = cursor.record();
      EXPECT_TRUE(retry
                      .Until([&] { return cursor.SeekToRecord(record); },
                             [&] { EXPECT_EQ(cursor.record(), before); })
                      .ok());
      const auto batch = retry.Until([&] { return cursor.Next(3); });
      if (batch.ok()) AddLevels(*batch, rows);
    }
    return rows;
  });
}

// If a record takes several batches and a later batch is damaged, each call of Next returns the
// error. Next does not return the first batches again.
TEST(RetryLevelTest, DamageInsideARecord) {
  std::vector<uint16_t> repetition(200'000, 1), definition(200'000, 1);
  repetition[0] = 0;
  std::vector<int64_t> values(200'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i % 7);
  values[150'000] = 70'000;
  std::vector<uint8_t> file;
  auto writer = *LevelWriter<int32_t>::Create(NewMemorySink(&file, "test"), ColumnType::Int32(),
                                              {.max_repetition = 1, .max_definition = 1},
                                              {.encoding = Encoding::kParquetPlain,
                                               .compression = Compression::kNone,
                                               .statistics = false});
  const std::vector<int32_t> narrow(values.begin(), values.end());
  ASSERT_TRUE(writer.Append(repetition, definition, narrow).ok());
  ASSERT_TRUE(writer.Finish().ok());
  // Changes the type to uint16. One value is outside the range of this type, and therefore damaged.
  FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  file.resize(file.size() - info.footer_size_bytes);
  info.type = ColumnType::Uint16();
  encodings::ByteWriter footer;
  internal::AppendFooter(info, /*extensions=*/true, footer);
  file.insert(file.end(), footer.data(), footer.data() + footer.size());

  const auto reader = Reader::Open(NewMemoryViewSource(file, "test"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  auto cursor = *reader->NewLevelCursor<uint16_t>();
  size_t entries = 0;
  absl::Status status;
  while (status.ok()) {
    const auto batch = cursor.Next(10);
    status = batch.status();
    if (!batch.ok()) break;
    ASSERT_FALSE(batch->empty());
    ASSERT_EQ(batch->num_records, 0u);
    entries += batch->num_entries;
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("value 150000 is 70000"));
  EXPECT_GT(entries, 100'000u);
  EXPECT_LE(entries, 150'000u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cursor.Next(10).status(), status);
  ASSERT_TRUE(cursor.SeekToRecord(0).ok());
  EXPECT_GT(cursor.Next(10)->num_entries, 0u);
}

// Like ExpectRetriesReadAll, for a table at `path` in `directory`: each system call fails in turn.
// In a test of a build with lasting failures, only every `few`-th call fails.
template <typename Read>
void ExpectRetriesReadTable(const std::string& directory, const std::string& path, const Read& read,
                            int64_t few) {
  std::optional<Rows> expected;
  for (const FaultMode mode : testing_support::kFaultModes) {
    const int64_t step = campaign::Full() ? 1 : few;
    uint64_t done = 0;
    for (int64_t number = 1;; number += step, ++done) {
      ASSERT_LT(number, 100'000);
      const ReaderOptions options{.access = ReaderOptions::Access::kPread,
                                  .block_cache = std::make_shared<BlockCache>(1 << 14),
                                  .read_ahead_bytes = 20'000};
      Retry retry(
          [&](const absl::Status& status) {
            return status.message().find(directory) != std::string::npos &&
                   status.message().find("Input/output error") != std::string::npos;
          },
          [] { SystemCalls::Get().Disarm(); });
      const auto attempt = [&]() -> Rows {
        const auto table = retry.Until([&] { return TableReader::Open(path, options); });
        return table.ok() ? read(*table, options, retry) : Rows();
      };
      if (!expected) {
        expected = attempt();
        ASSERT_FALSE(expected->empty());
      }
      SystemCalls::Get().Arm(directory, number, EIO, mode);
      const Rows found = attempt();
      const bool fired = !SystemCalls::Get().failed().empty();
      SystemCalls::Get().Disarm();
      EXPECT_TRUE(found == *expected) << found.size() << " rows, expected " << expected->size();
      if (testing::Test::HasFailure()) FAIL() << "call " << number;
      if (!fired) break;
    }
    EXPECT_GT(done * static_cast<uint64_t>(step), 10u);
    campaign::Done("retried_calls", done);
  }
}

class RetryTableTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
};

TEST_F(RetryTableTest, CursorsOfRecords) {
  const absl::Status written = campaign::WriteRecordTable(path_, 2, 9000);
  ASSERT_TRUE(written.ok()) << written;
  ExpectRetriesReadTable(
      directory_.path(), path_,
      [](const TableReader& table, const ReaderOptions&, Retry& retry) {
        auto cursor = *retry.Until([&] { return table.NewCursor<int64_t>(campaign::kId); });
        Rows rows;
        ReadByNext(cursor, retry, rows);
        EXPECT_EQ(rows.size(), 18'000u);
        for (const uint64_t row : {8000u, 100u, 17'000u}) {
          const uint64_t before = cursor.ordinal();
          const auto value = retry.Until([&] { return cursor.Get(row); },
                                         [&] { EXPECT_EQ(cursor.ordinal(), before); });
          if (value.ok()) rows.push_back(HashOf(**value));
          EXPECT_TRUE(retry.Until([&] { return cursor.SeekToRange({row, row + 2}); }).ok());
          ReadByNext(cursor, retry, rows);
        }
        return rows;
      },
      3);
  ExpectRetriesReadTable(
      directory_.path(), path_,
      [](const TableReader& table, const ReaderOptions&, Retry& retry) {
        auto cursor =
            *retry.Until([&] { return table.NewLevelCursor<int64_t>(campaign::kNumber); });
        Rows rows;
        while (!testing::Test::HasFailure()) {
          const uint64_t before = cursor.record();
          const auto batch = retry.Until([&] { return cursor.Next(200); },
                                         [&] { EXPECT_EQ(cursor.record(), before); });
          if (!batch.ok() || batch->empty()) break;
          AddLevels(*batch, rows);
        }
        EXPECT_TRUE(retry.Until([&] { return cursor.SeekToRecord(100); }).ok());
        const auto batch = retry.Until([&] { return cursor.Next(20); });
        if (batch.ok()) AddLevels(*batch, rows);
        return rows;
      },
      3);
}

// If a call fails in the middle of a record, the next call passes the whole record to the visitor
// again.
TEST_F(RetryTableTest, Records) {
  const absl::Status written = campaign::WriteRecordTable(path_, 2, 4500);
  ASSERT_TRUE(written.ok()) << written;
  ExpectRetriesReadTable(
      directory_.path(), path_,
      [](const TableReader& table, const ReaderOptions&, Retry& retry) {
        auto reader = *retry.Until([&] { return RecordReader::Open(table); });
        std::optional<JsonVisitor> visitor(reader.schema());
        Rows rows;
        while (!testing::Test::HasFailure()) {
          const uint64_t before = reader.record();
          const auto more = retry.Until([&] { return reader.Next(*visitor); },
                                        [&] {
                                          EXPECT_EQ(reader.record(), before);
                                          visitor.emplace(reader.schema());
                                        });
          if (!more.value_or(false)) break;
          EXPECT_EQ(visitor->records.size(), 1u);
          EXPECT_EQ(visitor->records.at(0), campaign::MakeRecord(rows.size()));
          visitor->records.clear();
          rows.push_back(before);
        }
        EXPECT_EQ(rows.size(), 9000u);
        return rows;
      },
      7);
}

// After an error of the visitor, the next call passes the same record again.
TEST_F(RetryTableTest, RecordsOfAVisitorThatFails) {
  ASSERT_TRUE(campaign::WriteRecordTable(path_, 1, 50).ok());
  class FailingVisitor final : public RecordVisitor {
   public:
    FailingVisitor(RecordVisitor& visitor, int calls) : visitor_(visitor), calls_(calls) {}
    absl::Status BeginGroup(size_t node) override {
      return Failed() ? absl::CancelledError("no") : visitor_.BeginGroup(node);
    }
    absl::Status EndGroup(size_t node) override {
      return Failed() ? absl::CancelledError("no") : visitor_.EndGroup(node);
    }
    absl::Status Value(size_t node, const RecordValue& value) override {
      return Failed() ? absl::CancelledError("no") : visitor_.Value(node, value);
    }

   private:
    bool Failed() { return --calls_ == 0; }
    RecordVisitor& visitor_;
    int calls_;
  };
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  auto reader = *RecordReader::Open(*table);
  for (uint64_t record = 0; record < 50; ++record) {
    for (int calls = 1;; ++calls) {
      JsonVisitor inner(reader.schema());
      FailingVisitor visitor(inner, calls);
      const auto more = reader.Next(visitor);
      if (!more.ok()) {
        ASSERT_TRUE(absl::IsCancelled(more.status())) << more.status();
        ASSERT_EQ(reader.record(), record);
        continue;
      }
      ASSERT_TRUE(*more);
      ASSERT_EQ(inner.records.at(0), campaign::MakeRecord(record));
      ASSERT_GT(calls, 3);
      break;
    }
  }
}

TEST_F(RetryTableTest, Messages) {
  google::protobuf::Timestamp message;
  const WriterOptions options{
      .encoding = Encoding::kPlain, .block_size_bytes = 4000, .index_block_size_bytes = 100};
  auto writer = MessageWriter::Create(path_, *message.GetDescriptor(), {&options, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  constexpr int kMessages = 20'000;
  for (int i = 0; i < kMessages; ++i) {
    message.set_seconds(i);
    message.set_nanos(i * 3);
    ASSERT_TRUE(writer->Write(message).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  ExpectRetriesReadTable(
      directory_.path(), path_,
      [&](const TableReader&, const ReaderOptions& reader_options, Retry& retry) {
        google::protobuf::Timestamp read;
        auto reader = *retry.Until(
            [&] { return MessageReader::Open(path_, *read.GetDescriptor(), {}, reader_options); });
        Rows rows;
        while (!testing::Test::HasFailure()) {
          const auto more = retry.Until([&] { return reader.Next(read); });
          if (!more.value_or(false)) break;
          EXPECT_EQ(read.seconds(), static_cast<int64_t>(rows.size()));
          EXPECT_EQ(read.nanos(), static_cast<int32_t>(3 * rows.size()));
          rows.push_back(HashOf(read.seconds()));
        }
        EXPECT_EQ(rows.size(), static_cast<size_t>(kMessages));
        return rows;
      },
      3);
}

// Makes each system call fail once. `make`() returns a StatusOr of a writer of a new table at
// `path` in `directory`. The test calls all `calls` on the writer; the last of them publishes the
// table. EXPECTs that each call after the first failed call returns the same error. EXPECTs that
// nothing is published, unless only the last step of publishing failed. `has_columns`: after
// a failed call, calls for other columns may succeed.
template <typename Writer, typename Make>
void ExpectWritersStayFailed(
    const std::string& directory, const std::string& path, const Make& make,
    const std::vector<std::type_identity_t<std::function<absl::Status(Writer&)>>>& calls,
    bool has_columns = false) {
  uint64_t done = 0;
  for (int64_t number = 1;; ++number, ++done) {
    ASSERT_LT(number, 10'000);
    fs::remove_all(path);
    SystemCalls::Get().Arm(directory, number, EIO, FaultMode::kOnce);
    const auto is_published = [&] { return fs::exists(path + "/table.cft"); };
    absl::Status first;
    bool published = false;
    {
      auto writer = make();
      first = writer.status();
      if (writer.ok()) {
        for (const auto& call : calls) {
          const absl::Status status = call(*writer);
          if (first.ok()) {
            first = status;
            // is_published makes a system call itself, so that it must not be called before the
            // injected failure.
            if (!first.ok()) published = is_published();
          } else if (&call == &calls.back() || !has_columns || !status.ok()) {
            EXPECT_EQ(status, first);
          }
        }
        if (!first.ok()) {
          EXPECT_EQ(calls.back()(*writer), first);
        }
      }
    }
    const std::vector<std::string> failed = SystemCalls::Get().failed();
    SystemCalls::Get().Disarm();
    if (first.ok()) published = true;
    EXPECT_EQ(is_published(), published) << first;
    if (published) {
      const auto table = TableReader::Open(path);
      ASSERT_TRUE(table.ok()) << table.status();
      for (size_t column = 0; column < table->schema().columns.size(); ++column)
        EXPECT_TRUE(table->VerifyColumn(0, column).ok());
    }
    EXPECT_TRUE(first.ok() || !published || failed[0] == "fsync" || failed[0] == "open") << first;
    if (testing::Test::HasFailure()) {
      FAIL() << "call " << number << ", " << testing::PrintToString(failed) << ": " << first;
    }
    if (failed.empty()) {
      EXPECT_TRUE(first.ok() && published) << first;
      break;
    }
  }
  EXPECT_GT(done, 10u);
  campaign::Done("failed_writes", done);
}

TEST_F(RetryTableTest, WritersOfTables) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int64()},
                                  {.name = "b", .type = ColumnType::String()}}};
  const std::vector<int64_t> numbers(30'000, 5);
  const std::vector<std::string_view> texts(30'000, "ten bytes.");
  const WriterOptions options{.encoding = Encoding::kPlain, .compression = Compression::kNone};
  const auto append_numbers = [&](TableWriter& writer) {
    return writer.Append<int64_t>(0, numbers);
  };
  const auto append_texts = [&](TableWriter& writer) {
    return writer.Append<std::string_view>(1, texts);
  };
  ExpectWritersStayFailed<TableWriter>(
      directory_.path(), path_,
      [&] {
        return TableWriter::Create(path_, schema, {&options, 1});
      },
      {append_numbers, append_texts, append_texts, append_numbers,
       [](TableWriter& writer) { return writer.Finish(); }},
      /*has_columns=*/true);
}

TEST_F(RetryTableTest, WritersOfRecords) {
  const auto schema =
      RecordSchema::Parse("message Two { required int64 a;  repeated binary b (STRING); }");
  ASSERT_TRUE(schema.ok()) << schema.status();
  const std::string text(600'000, 'x');
  const auto write = [&](RecordWriter& writer) {
    return TellJson(*schema, 0, {{"a", 5}, {"b", Json::array({text})}}, writer);
  };
  ExpectWritersStayFailed<RecordWriter>(
      directory_.path(), path_, [&] { return RecordWriter::Create(path_, *schema); },
      {write, write, write, [](RecordWriter& writer) { return writer.Finish(); }});
}

TEST_F(RetryTableTest, WritersOfMessages) {
  google::protobuf::Timestamp message;
  message.set_seconds(5);
  const auto write = [&](MessageWriter& writer) { return writer.Write(message); };
  ExpectWritersStayFailed<MessageWriter>(
      directory_.path(), path_,
      [&] { return MessageWriter::Create(path_, *message.GetDescriptor()); },
      {write, write, [](MessageWriter& writer) { return writer.Finish(); }});
}

}  // namespace
}  // namespace cfile
