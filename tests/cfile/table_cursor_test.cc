// Compares TableCursor and MergeCursor with a model that has the columns in memory.
// Also tests what a table says about its parts.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfile/compound_key.h"
#include "cfile/merge_cursor.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "encodings/core/key_order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_cursor_test {

namespace fs = std::filesystem;
using encodings::KeyEqual;
using encodings::KeyLess;
using testing::HasSubstr;

using Random = std::mt19937_64;

const double kNan = std::numeric_limits<double>::quiet_NaN();

// ValueAt returns values of T that ascend with `rank`, an integer from -1 to kRanks.
constexpr int kRanks = 60;
template <typename T>
Owned<T> ValueAt(int rank) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    std::string text = std::to_string(rank / 2 + 100);
    // Some values are prefixes of the next value. Some end with 0xff, which has no successor.
    if (rank % 2 != 0) text += rank % 4 == 1 ? "\xff\xff" : "x";
    return text;
  } else if constexpr (std::is_same_v<T, double>) {
    // The ranks 19 to 22 are -0.5, -0, 0 and 0.5.
    return rank == 20 ? -0.0 : (rank - 20 - (rank > 20 ? 1 : 0)) * 0.5;
  } else {
    return T{3} * rank - 50;
  }
}

// The rows of one column.
template <typename T>
using Rows = std::vector<std::optional<Owned<T>>>;

// EXPECTs the rows `begin` to `begin` + batch.size() - 1 of the model.
template <typename T>
void ExpectBatch(const Batch<T>& batch, const Rows<T>& rows, uint64_t begin) {
  ASSERT_LE(begin + batch.size(), rows.size());
  uint64_t nulls = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const std::optional<Owned<T>>& expected = rows[begin + i];
    ASSERT_EQ(batch.IsValid(i), expected.has_value()) << begin + i;
    if (expected.has_value()) {
      ASSERT_TRUE(KeyEqual<T>(batch.values[i], *expected)) << begin + i;
    } else {
      ++nulls;
    }
  }
  ASSERT_EQ(batch.null_count, nulls);
}

// How the keys of the parts relate.
enum class Order { kAscending, kOverlapping };

class TableCursorTest : public TableTestBase {
 protected:
  // The column `T` of the table: the keys have a value index, the others have nulls and no order.
  template <typename T>
  struct Column {
    Rows<T> keys;
    Rows<T> others;
  };

  // Writes one part. All parts together are the model.
  void AddPart(std::vector<int> ranks, Random& random) {
    std::sort(ranks.begin(), ranks.end());
    const Schema schema{
        .columns = {{.name = "n", .type = ColumnType::Int64()},
                    {.name = "s", .type = ColumnType::String()},
                    {.name = "d", .type = ColumnType::Double()},
                    {.name = "nn", .type = ColumnType::Int64(), .nullable = true},
                    {.name = "ss", .type = ColumnType::String(), .nullable = true},
                    {.name = "dd", .type = ColumnType::Double(), .nullable = true}}};
    std::vector<WriterOptions> options(6);
    for (size_t i = 0; i < 6; ++i) {
      options[i] = {.encoding = random() % 2 == 0 ? Encoding::kPlain : Encoding::kAuto,
                    .value_index = i < 3,
                    .max_values_per_block = 1 + static_cast<uint32_t>(random() % 12)};
    }
    auto writer = fs::exists(path_) ? TableWriter::Open(path_, options)
                                    : TableWriter::Create(path_, schema, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    starts_.push_back(num_rows_);
    num_rows_ += ranks.size();
    AppendColumn(*writer, 0, ranks, numbers_, random);
    AppendColumn(*writer, 1, ranks, strings_, random);
    AppendColumn(*writer, 2, ranks, doubles_, random);
    const absl::Status finished = writer->Finish();
    ASSERT_TRUE(finished.ok()) << finished;
  }

  void WriteTable(Order order, Random& random) {
    fs::remove_all(path_);
    starts_.clear();
    num_rows_ = 0;
    numbers_ = {};
    strings_ = {};
    doubles_ = {};
    const size_t parts = 1 + random() % 6;
    int low = 0;
    for (size_t part = 0; part < parts; ++part) {
      std::vector<int> ranks(random() % 3 == 0 ? 0 : random() % 50);
      if (order == Order::kOverlapping) low = static_cast<int>(random() % (kRanks / 2));
      const int high = low + static_cast<int>(random() % static_cast<uint64_t>(kRanks - low));
      for (int& rank : ranks) {
        rank = low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
      }
      AddPart(ranks, random);
      if (order == Order::kAscending) low = high;
    }
  }

  uint64_t PartEnd(uint64_t row) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), row);
    return next == starts_.end() ? num_rows_ : *next;
  }

  // True if the rows of keys ascend over all parts.
  template <typename T>
  static bool Ascends(const Rows<T>& keys) {
    return std::is_sorted(keys.begin(), keys.end(),
                          [](const auto& a, const auto& b) { return KeyLess<T>(*a, *b); });
  }

  // The row that SeekToKey finds.
  template <typename T>
  static KeyPosition Expected(const Rows<T>& keys, const T& key) {
    KeyPosition found{.ordinal = keys.size()};
    for (size_t i = 0; i < keys.size(); ++i) {
      if (T(*keys[i]) < key) continue;
      if (found.ordinal == keys.size() || *keys[i] < *keys[found.ordinal]) {
        found = {.ordinal = i, .exact = T(*keys[i]) == key};
      }
    }
    return found;
  }

  // Calls test(column, rows, T) for each column; `rows` is the model.
  template <typename Test>
  void ForEachKeyColumn(const Test& test) {
    test(size_t{0}, numbers_.keys, int64_t{});
    test(size_t{1}, strings_.keys, std::string_view{});
    test(size_t{2}, doubles_.keys, double{});
  }
  template <typename Test>
  void ForEachColumn(const Test& test) {
    ForEachKeyColumn(test);
    test(size_t{3}, numbers_.others, int64_t{});
    test(size_t{4}, strings_.others, std::string_view{});
    test(size_t{5}, doubles_.others, double{});
  }

  std::vector<uint64_t> starts_;  // by part: the first row
  uint64_t num_rows_ = 0;
  Column<int64_t> numbers_;
  Column<std::string_view> strings_;
  Column<double> doubles_;

 private:
  template <typename T>
  void AppendColumn(TableWriter& writer, size_t column, const std::vector<int>& ranks,
                    Column<T>& model, Random& random) {
    const size_t count = ranks.size();
    const size_t begin = model.keys.size();
    const auto values = std::make_unique<T[]>(count);
    std::vector<uint8_t> validity(count / 8 + 1, 0xff);
    for (const int rank : ranks) model.keys.push_back(ValueAt<T>(rank));
    for (size_t i = 0; i < count; ++i) values[i] = T(*model.keys[begin + i]);
    ASSERT_EQ(writer.Append<T>(column, {values.get(), count}), absl::OkStatus());
    for (size_t i = 0; i < count; ++i) {
      auto& row = model.others.emplace_back(ValueAt<T>(static_cast<int>(random() % kRanks)));
      if constexpr (std::is_same_v<T, double>) {
        if (random() % 5 == 0) row = kNan;
      }
      if (random() % 4 == 0) row.reset();
    }
    for (size_t i = 0; i < count; ++i) {
      const auto& row = model.others[begin + i];
      values[i] = row.has_value() ? T(*row) : T{};
      if (!row.has_value()) validity[i / 8] &= static_cast<uint8_t>(~(1 << i % 8));
    }
    ASSERT_EQ(writer.Append<T>(column + 3, {values.get(), count}, validity), absl::OkStatus());
  }
};

// A cursor and its position in the model.
template <typename T>
struct Walk {
  TableCursor<T> cursor;
  uint64_t at = 0;
  OrdinalRange range;
};

TEST_F(TableCursorTest, RandomOperationsByOrdinal) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    WriteTable(seed % 2 == 0 ? Order::kAscending : Order::kOverlapping, random);
    const TableReader table = OpenTable();
    ForEachColumn([&](size_t column, const auto& rows, auto type) {
      using T = decltype(type);
      SCOPED_TRACE(column);
      const OrdinalRange all{0, num_rows_};
      auto made = table.NewCursor<T>(column);
      ASSERT_TRUE(made.ok()) << made.status();
      // Two cursors: a clone must not depend on its original.
      std::vector<Walk<T>> walks;
      walks.push_back({*std::move(made), 0, all});
      OwnedBatch<T> taken;
      for (int i = 0; i < 300; ++i) {
        Walk<T>& walk = walks[random() % walks.size()];
        TableCursor<T>& cursor = walk.cursor;
        const size_t most = 1 + random() % 20;
        switch (random() % 8) {
          case 0: {
            const uint64_t ordinal = random() % (num_rows_ + 1);
            ASSERT_EQ(cursor.SeekToOrdinal(ordinal), absl::OkStatus());
            walk = {std::move(cursor), ordinal, all};
            break;
          }
          case 1: {
            OrdinalRange range{random() % (num_rows_ + 1), random() % (num_rows_ + 1)};
            if (range.end < range.begin) std::swap(range.begin, range.end);
            ASSERT_EQ(cursor.SeekToRange(range), absl::OkStatus());
            walk = {std::move(cursor), range.begin, range};
            break;
          }
          case 2: {
            if (num_rows_ == 0) break;
            const uint64_t ordinal = random() % num_rows_;
            const auto value = cursor.Get(ordinal);
            ASSERT_TRUE(value.ok()) << value.status();
            ASSERT_EQ(value->has_value(), rows[ordinal].has_value()) << ordinal;
            if (value->has_value()) {
              ASSERT_TRUE(KeyEqual<T>(**value, *rows[ordinal])) << ordinal;
            }
            walk = {std::move(cursor), ordinal + 1, all};
            break;
          }
          case 3: {
            if (walks.size() == 2)
              walks.erase(walks.begin() + static_cast<ptrdiff_t>(random() % 2));
            auto clone = walks[0].cursor.Clone();
            ASSERT_TRUE(clone.ok()) << clone.status();
            walks.push_back({*std::move(clone), walks[0].at, walks[0].range});
            break;
          }
          case 4: {
            std::vector<uint64_t> ordinals(num_rows_ == 0 ? 0 : random() % 30);
            const uint64_t begin = random() % (num_rows_ + 1);
            // Sometimes the ordinals are all from one part.
            const uint64_t end = random() % 2 == 0 ? num_rows_ : PartEnd(begin);
            if (begin == end) ordinals.clear();
            for (uint64_t& ordinal : ordinals) ordinal = begin + random() % (end - begin);
            if (random() % 3 == 0) std::sort(ordinals.begin(), ordinals.end());
            ASSERT_EQ(cursor.Take(ordinals, taken), absl::OkStatus());
            const Batch<T> batch = taken.batch();
            ASSERT_EQ(batch.size(), ordinals.size());
            Rows<T> expected;
            for (const uint64_t ordinal : ordinals) expected.push_back(rows[ordinal]);
            ExpectBatch<T>(batch, expected, 0);
            ASSERT_LE(cursor.ordinal(), num_rows_);
            const uint64_t at = cursor.ordinal();
            walk = {std::move(cursor), at, all};
            break;
          }
          case 5: {
            const auto batch = cursor.Previous(most);
            ASSERT_TRUE(batch.ok()) << batch.status();
            ASSERT_EQ(batch->empty(), walk.at == walk.range.begin);
            ASSERT_LE(batch->size(), std::min<uint64_t>(most, walk.at - walk.range.begin));
            walk.at -= batch->size();
            ASSERT_EQ(batch->first_ordinal, walk.at);
            ExpectBatch<T>(*batch, rows, walk.at);
            break;
          }
          default: {
            const auto batch = cursor.Next(most);
            ASSERT_TRUE(batch.ok()) << batch.status();
            ASSERT_EQ(batch->empty(), walk.at == walk.range.end);
            ASSERT_LE(batch->size(), std::min<uint64_t>(most, walk.range.end - walk.at));
            ASSERT_EQ(batch->first_ordinal, walk.at);
            ExpectBatch<T>(*batch, rows, walk.at);
            walk.at += batch->size();
          }
        }
        for (const Walk<T>& each : walks) ASSERT_EQ(each.cursor.ordinal(), each.at);
        if (HasFatalFailure()) return;
      }
    });
  }
}

TEST_F(TableCursorTest, RandomSeeksByKey) {
  int consecutive = 0;
  int overlapping = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    WriteTable(seed % 2 == 0 ? Order::kAscending : Order::kOverlapping, random);
    const TableReader table = OpenTable();
    ForEachKeyColumn([&](size_t column, const auto& rows, auto type) {
      using T = decltype(type);
      SCOPED_TRACE(column);
      auto cursor = table.NewCursor<T>(column);
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      const auto random_key = [&] {
        return ValueAt<T>(static_cast<int>(random() % (kRanks + 2)) - 1);
      };
      const auto expect_at = [&](uint64_t at, const OrdinalRange& range) {
        ASSERT_EQ(cursor->ordinal(), at);
        if (random() % 2 == 0) {
          const auto batch = cursor->Next(5);
          ASSERT_TRUE(batch.ok()) << batch.status();
          ASSERT_EQ(batch->empty(), at == range.end);
          ASSERT_LE(at + batch->size(), range.end);
          ExpectBatch<T>(*batch, rows, at);
        } else {
          const auto batch = cursor->Previous(5);
          ASSERT_TRUE(batch.ok()) << batch.status();
          ASSERT_EQ(batch->empty(), at == range.begin);
          ASSERT_GE(batch->first_ordinal, range.begin);
          ASSERT_EQ(batch->first_ordinal + batch->size(), at);
          ExpectBatch<T>(*batch, rows, batch->first_ordinal);
        }
      };
      for (int i = 0; i < 60; ++i) {
        const Owned<T> key = random_key();
        switch (random() % 4) {
          case 0: {
            const KeyPosition expected = Expected<T>(rows, key);
            const auto found = cursor->SeekToKey(key);
            ASSERT_TRUE(found.ok()) << found.status();
            ASSERT_EQ(found->ordinal, expected.ordinal);
            ASSERT_EQ(found->exact, expected.exact);
            expect_at(expected.ordinal, {0, num_rows_});
            break;
          }
          case 1: {
            std::vector<Owned<T>> owned(random() % 30);
            for (Owned<T>& wanted : owned) wanted = random_key();
            const std::vector<T> keys(owned.begin(), owned.end());
            std::vector<KeyPosition> positions(keys.size());
            ASSERT_EQ(cursor->SeekMany(keys, positions), absl::OkStatus());
            for (size_t k = 0; k < keys.size(); ++k) {
              const KeyPosition expected = Expected<T>(rows, keys[k]);
              ASSERT_EQ(positions[k].ordinal, expected.ordinal);
              ASSERT_EQ(positions[k].exact, expected.exact);
            }
            ASSERT_LE(cursor->ordinal(), num_rows_);
            expect_at(cursor->ordinal(), {0, num_rows_});
            break;
          }
          default: {
            std::optional<T> low, high;
            const Owned<T> other = random_key();
            std::string prefix;
            absl::StatusOr<OrdinalRange> found = absl::UnknownError("");
            const auto in_range = [&](const Owned<T>& value) {
              if constexpr (std::is_same_v<T, std::string_view>) {
                if (!low && !high) return value.starts_with(prefix);
              }
              return !(low && value < *low) && !(high && !(value < *high));
            };
            bool by_prefix = false;
            if constexpr (std::is_same_v<T, std::string_view>) {
              by_prefix = random() % 2 == 0;
              if (by_prefix) {
                prefix = key.substr(0, random() % (key.size() + 1));
                if (random() % 20 == 0) prefix = "\xff";
                found = cursor->SeekToPrefix(prefix);
              }
            }
            if (!by_prefix) {
              if (random() % 4 != 0) low = T(key);
              if (random() % 4 != 0) high = T(other);
              found = cursor->SeekToKeyRange(low, high);
            }
            if (!Ascends<T>(rows)) {
              ++overlapping;
              ASSERT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
              ASSERT_THAT(found.status().message(),
                          HasSubstr("parts overlap in key order: use a MergeCursor, or scan with a "
                                    "filter"));
              break;
            }
            consecutive += rows.empty() ? 0 : 1;
            ASSERT_TRUE(found.ok()) << found.status();
            for (size_t row = 0; row < rows.size(); ++row) {
              ASSERT_EQ(row >= found->begin && row < found->end, in_range(*rows[row])) << row;
            }
            ASSERT_LE(found->begin, found->end);
            if (high) {
              ASSERT_EQ(found->end, Expected<T>(rows, *high).ordinal);
            }
            expect_at(found->begin, *found);
            const auto previous = cursor->SeekToRange(*found);
            ASSERT_EQ(previous, absl::OkStatus());
          }
        }
        if (HasFatalFailure()) return;
      }
    });
  }
  EXPECT_GT(consecutive, 200);
  EXPECT_GT(overlapping, 200);
}

TEST_F(TableCursorTest, MergeCursorMergesParts) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    WriteTable(seed % 4 == 0 ? Order::kAscending : Order::kOverlapping, random);
    const TableReader table = OpenTable();
    ForEachKeyColumn([&](size_t column, const auto& rows, auto type) {
      using T = decltype(type);
      SCOPED_TRACE(column);
      std::vector<size_t> sorted(rows.size());
      std::iota(sorted.begin(), sorted.end(), size_t{0});
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](size_t a, size_t b) { return KeyLess<T>(*rows[a], *rows[b]); });
      auto cursor = table.NewMergeCursor({.columns = {column}, .key_column = column});
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      size_t at = 0;  // in `sorted`
      for (int i = 0; i < 200; ++i) {
        // One step in ten begins with a seek.
        if (random() % 10 == 0) {
          const Owned<T> key = ValueAt<T>(static_cast<int>(random() % (kRanks + 2)) - 1);
          const auto found = cursor->SeekToKey<T>(key);
          ASSERT_TRUE(found.ok()) << found.status();
          const auto first = std::partition_point(sorted.begin(), sorted.end(),
                                                  [&](size_t row) { return *rows[row] < key; });
          at = static_cast<size_t>(first - sorted.begin());
          ASSERT_EQ(*found, at < sorted.size() && *rows[sorted[at]] == key);
        }
        const size_t most = random() % 2 == 0 ? 1 + random() % 5 : kMaxBatchRows;
        const auto batch = cursor->Next(most);
        ASSERT_TRUE(batch.ok()) << batch.status();
        ASSERT_EQ(batch->empty(), at == sorted.size());
        ASSERT_LE(batch->num_rows(), most);
        if (batch->empty()) continue;
        const Batch<T> keys = batch->template column<T>(0);
        ASSERT_EQ(keys.null_count, 0);
        for (size_t k = 0; k < batch->num_rows(); ++k, ++at) {
          ASSERT_LT(at, sorted.size());
          ASSERT_EQ(batch->ordinal(k), sorted[at]);
          ASSERT_TRUE(KeyEqual<T>(keys.values[k], *rows[sorted[at]])) << at;
        }
      }
    });
  }
}

// A batch ends only where a part needs another block.
TEST_F(TableCursorTest, MergeCursorReturnsLongBatches) {
  WriteKeys({{"a", "b", "c", "d", "d", "h"}, {"d", "e", "f", "g"}, {"i", "k"}});
  auto cursor = OpenTable().NewMergeCursor({});
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  std::vector<std::vector<uint64_t>> batches;
  for (const auto& batch : cursor->Batches()) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    auto& ordinals = batches.emplace_back();
    for (size_t i = 0; i < batch->num_rows(); ++i) ordinals.push_back(batch->ordinal(i));
  }
  EXPECT_THAT(batches,
              testing::ElementsAre(std::vector<uint64_t>{0, 1, 2, 3, 4, 6, 7, 8, 9, 5, 10, 11}));
}

// The cursor opens a part when the cursor reaches the least value of the part.
// After an error, Next continues at the same row.
TEST_F(TableCursorTest, MergeCursorOpensPartsWhenItReachesThem) {
  WriteKeys({{"a", "c", "p"}, {"k", "m"}, {"b", "x"}, {"t"}});
  const std::string missing = path_ + "/" + *OpenTable().part_file(1, 0);
  fs::rename(missing, missing + ".away");
  auto cursor = OpenTable().NewMergeCursor({.columns = {0}});
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  const auto read = [&](size_t rows) {
    std::vector<std::string> keys;
    while (rows-- > 0) {
      const auto batch = cursor->Next(1);
      if (!batch.ok()) {
        EXPECT_EQ(batch.status().code(), absl::StatusCode::kNotFound) << batch.status();
        keys.push_back("error");
      } else if (!batch->empty()) {
        const auto values = batch->column<std::string_view>(0).values;
        keys.insert(keys.end(), values.begin(), values.end());
      }
    }
    return keys;
  };
  using Keys = std::vector<std::string>;
  EXPECT_EQ(read(5), (Keys{"a", "b", "c", "error", "error"}));
  EXPECT_FALSE(cursor->SeekToKey<std::string_view>("l").ok());
  fs::rename(missing + ".away", missing);
  EXPECT_EQ(read(2), (Keys{"k", "m"}));

  // A seek opens no part that ends before the key, and no part that begins after it.
  for (const size_t part : {0, 3}) {
    fs::remove(path_ + "/" + *OpenTable().part_file(part, 0));
  }
  cursor = OpenTable().NewMergeCursor({.columns = {0}});
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  EXPECT_FALSE(*cursor->SeekToKey<std::string_view>("pp"));
  EXPECT_EQ(read(1), (Keys{"error"}));  // "t" comes before "x"
  EXPECT_FALSE(*cursor->SeekToKey<std::string_view>("tt"));
  EXPECT_EQ(cursor->Next(1)->ordinal(0), 6);
  EXPECT_FALSE(*cursor->SeekToKey<std::string_view>("tt"));
  EXPECT_EQ(read(2), (Keys{"x"}));
}

TEST_F(TableCursorTest, MergeCursorNeedsAValueIndexInEachPart) {
  WriteKeys({{"a", "c"}, {}});
  {
    auto writer = TableWriter::Open(path_);
    const std::string_view value = "b";
    ASSERT_EQ(writer->Append<std::string_view>(0, {&value, 1}), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }
  const TableReader table = OpenTable();
  const absl::Status status = table.NewMergeCursor({.key_column = 0}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr(table.part(2)->name + " has no value index"));

  // Seeks of key ranges need a value index in each part, too. Other seeks do not.
  auto cursor = *table.NewCursor<std::string_view>(0);
  const absl::Status range = cursor.SeekToPrefix("a").status();
  EXPECT_EQ(range.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(range.message(), HasSubstr(table.part(2)->name + " has no value index"));
  const std::vector<std::string_view> keys = {"b", "a", "d", "bb"};
  std::vector<KeyPosition> positions(4);
  ASSERT_EQ(cursor.SeekMany(keys, positions), absl::OkStatus());
  std::vector<uint64_t> ordinals;
  for (const KeyPosition& position : positions) ordinals.push_back(position.ordinal);
  EXPECT_EQ(ordinals, (std::vector<uint64_t>{2, 0, 3, 1}));
}

TEST_F(TableCursorTest, EmptyTable) {
  WriteKeys({{}, {}});
  const TableReader table = OpenTable();
  auto keys = *table.NewMergeCursor({.key_column = 0});
  EXPECT_FALSE(*keys.SeekToKey<std::string_view>("a"));
  EXPECT_TRUE(keys.Next(1)->empty());
  auto cursor = *table.NewCursor<std::string_view>(0);
  EXPECT_EQ(*cursor.SeekToKeyRange("a", "b"), OrdinalRange());
  EXPECT_EQ(*cursor.SeekToPrefix(""), OrdinalRange());
  EXPECT_TRUE(cursor.Previous(1)->empty());
  OwnedBatch<std::string_view> taken;
  EXPECT_EQ(cursor.Take({}, taken), absl::OkStatus());
  const std::string_view key = "a";
  KeyPosition position{.ordinal = 7, .exact = true};
  EXPECT_EQ(cursor.SeekMany({&key, 1}, {&position, 1}), absl::OkStatus());
  EXPECT_EQ(position.ordinal, 0);
  EXPECT_FALSE(position.exact);
  EXPECT_TRUE(cursor.Clone().ok());
}

TEST_F(TableCursorTest, ErrorsNameOrdinalsAndRefuseNaN) {
  Random random(1);
  for (int part = 0; part < 2; ++part) AddPart({1, 2, 3}, random);
  const TableReader table = OpenTable();
  auto numbers = *table.NewCursor<int64_t>(0);
  ASSERT_EQ(numbers.SeekToOrdinal(4), absl::OkStatus());
  OwnedBatch<int64_t> taken;
  const std::vector<uint64_t> ordinals = {1, 5, 6, 2};
  const absl::Status status = numbers.Take(ordinals, taken);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(), HasSubstr(path_ + ": row 6, the table has 6 rows"));
  const absl::Status range = numbers.SeekToRange({2, 9});
  EXPECT_EQ(range.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(range.message(), HasSubstr("row 9"));
  EXPECT_EQ(numbers.ordinal(), 4);

  // In the first table, part 1 repeats the rows of part 0. The second table has no overlap.
  for (const bool overlap : {true, false}) {
    if (!overlap) {
      fs::remove_all(path_);
      for (const int low : {1, 9}) AddPart({low, low + 1, low + 2}, random);
    }
    auto doubles = *OpenTable().NewCursor<double>(2);
    std::vector<KeyPosition> positions(3);
    ASSERT_EQ(doubles.SeekToOrdinal(4), absl::OkStatus());
    EXPECT_EQ(doubles.SeekMany(std::vector<double>{1, kNan, 2}, positions).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(doubles.SeekToKey(kNan).status().code(), absl::StatusCode::kInvalidArgument);
    const auto code =
        overlap ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kInvalidArgument;
    EXPECT_EQ(doubles.SeekToKeyRange(kNan, std::nullopt).status().code(), code);
    EXPECT_EQ(doubles.SeekToKeyRange(-100, kNan).status().code(), code);
    EXPECT_EQ(doubles.ordinal(), 4);
    auto keys = *OpenTable().NewMergeCursor({.key_column = 2});
    ASSERT_TRUE(keys.SeekToKey(*doubles_.keys[1]).ok());
    EXPECT_EQ(keys.SeekToKey(kNan).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(keys.Next(1)->ordinal(0), 1);
  }
}

// table.cft has other bounds than the files.
TEST_F(TableCursorTest, WrongBoundsAreDamage) {
  WriteKeys({{"b", "c", "d"}, {"f", "h"}});
  const auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  const auto expect_damage = [](const absl::Status& status, const char* what) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(status.message(), HasSubstr(what));
  };
  internal::TableContents changed = *contents;
  changed.parts[0].columns[0].max_key = "e";
  WriteFile(table_file_, internal::SerializeTable(changed));
  auto cursor = *OpenTable().NewCursor<std::string_view>(0);
  const std::vector<std::string_view> keys = {"c", "dd"};
  std::vector<KeyPosition> positions(2);
  expect_damage(cursor.SeekMany(keys, positions), "greatest value is not below the searched key");
  expect_damage(cursor.SeekToKeyRange("dd", "g").status(), "greatest value is not below");
  auto merged = *OpenTable().NewMergeCursor({});
  ASSERT_TRUE(merged.SeekToKey<std::string_view>("c").ok());
  const char* const what = "the least and the greatest value are not those in table.cft";
  expect_damage(merged.SeekToKey<std::string_view>("dd").status(), what);
  EXPECT_EQ(merged.Next(1)->ordinal(0), 1);  // the position is unchanged
  for (int i = 0; i < 2; ++i) expect_damage(merged.Next(9).status(), what);

  for (const char* least : {"e", "g"}) {
    changed = *contents;
    changed.parts[1].columns[0].min_key = least;
    WriteFile(table_file_, internal::SerializeTable(changed));
    merged = *OpenTable().NewMergeCursor({});
    EXPECT_EQ(merged.Next(9)->num_rows(), 3);
    for (int i = 0; i < 2; ++i) expect_damage(merged.Next(9).status(), what);
  }

  // With the first bounds, the second part would come before the first one.
  const auto expect_damage_of_part = [&](size_t part, const char* least, const char* greatest) {
    changed = *contents;
    changed.parts[part].columns[0].min_key = least;
    changed.parts[part].columns[0].max_key = greatest;
    WriteFile(table_file_, internal::SerializeTable(changed));
    expect_damage(Compact(path_).status(), what);
    expect_damage(DropRowsBelow<std::string_view>(path_, 0, greatest), what);
  };
  expect_damage_of_part(1, "a", "aa");
  expect_damage_of_part(0, "b", "e");
  expect_damage_of_part(0, "c", "d");
}

// table.cft says that a file with nulls has a value index.
TEST_F(TableCursorTest, NullsAmongKeysAreDamage) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Int64(), .nullable = true}}};
  auto writer = TableWriter::Create(path_, schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<int64_t> values = {1, 0, 3};
  const uint8_t validity = 0b101;
  ASSERT_EQ(writer->Append<int64_t>(0, values, {&validity, 1}), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  contents->parts[0].columns[0].min_key = std::string("\x80\0\0\0\0\0\0\1", 8);
  contents->parts[0].columns[0].max_key = std::string("\x80\0\0\0\0\0\0\3", 8);
  WriteFile(table_file_, internal::SerializeTable(*contents));
  auto cursor = OpenTable().NewMergeCursor({.columns = {0}});
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  EXPECT_EQ(cursor->Next(1)->column<int64_t>(0).values[0], 1);
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = cursor->Next(2).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), HasSubstr("no nulls expected in a column with a value index, "
                                            "found 1 from row 1 on"));
  }
  // The bounds are not numbers.
  contents->parts[0].columns[0].min_key = "a";
  contents->parts[0].columns[0].max_key = "b";
  WriteFile(table_file_, internal::SerializeTable(*contents));
  EXPECT_EQ(OpenTable().NewMergeCursor({}).status().code(), absl::StatusCode::kDataLoss);
}

// A file of compound keys has no positional index.
TEST_F(TableCursorTest, KeyIndex) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Int32()}}, .key_columns = {0}};
  const auto key_of = [&](int32_t n) {
    CompoundKey key(schema.key_types());
    return std::string(key.Add<int32_t>(n).bytes());
  };
  const auto write = [&](const std::vector<int32_t>& numbers) {
    auto writer = fs::exists(path_) ? TableWriter::Open(path_) : TableWriter::Create(path_, schema);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ(writer->Append<int32_t>(0, numbers), absl::OkStatus());
    for (const int32_t n : numbers) {
      const std::string key = key_of(n);
      const std::string_view bytes = key;
      ASSERT_EQ(writer->Append<std::string_view>(1, {&bytes, 1}), absl::OkStatus());
    }
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  };
  write({1, 3, 5});
  write({5, 8});
  auto cursor = *OpenTable().NewCursor<std::string_view>(1);
  const std::string low = key_of(4);
  const std::string high = key_of(8);
  EXPECT_EQ(*cursor.SeekToKeyRange(low, high), (OrdinalRange{2, 4}));
  EXPECT_EQ(cursor.Next(9)->first_ordinal, 2);
  EXPECT_EQ(cursor.Next(9)->first_ordinal, 3);
  EXPECT_TRUE(cursor.Next(9)->empty());
  EXPECT_EQ(*cursor.SeekToKeyRange(std::nullopt, low), (OrdinalRange{0, 2}));
  EXPECT_EQ(cursor.Next(9)->size(), 2);
  EXPECT_EQ(cursor.Previous(9)->size(), 2);
  auto clone = cursor.Clone();
  ASSERT_TRUE(clone.ok()) << clone.status();
  EXPECT_EQ(clone->Next(9)->size(), 2);
  OwnedBatch<std::string_view> taken;
  const std::vector<uint64_t> ordinals = {4, 0};
  EXPECT_EQ(cursor.Take(ordinals, taken).code(), absl::StatusCode::kFailedPrecondition);

  write({2, 4, 9});
  std::vector<uint64_t> rows;
  auto merged = *OpenTable().NewMergeCursor({});
  ASSERT_TRUE(merged.SeekToKey<std::string_view>(key_of(3)).ok());
  for (const auto& batch : merged.Batches()) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    for (size_t i = 0; i < batch->num_rows(); ++i) rows.push_back(batch->ordinal(i));
  }
  EXPECT_EQ(rows, (std::vector<uint64_t>{1, 6, 2, 3, 4, 7}));
  cursor = *OpenTable().NewCursor<std::string_view>(1);
  const std::vector<std::string> owned = {high, key_of(10), low, key_of(0), key_of(9)};
  const std::vector<std::string_view> keys(owned.begin(), owned.end());
  std::vector<KeyPosition> positions(keys.size());
  ASSERT_EQ(cursor.SeekMany(keys, positions), absl::OkStatus());
  std::vector<uint64_t> found;
  for (const KeyPosition& position : positions) found.push_back(position.ordinal);
  EXPECT_EQ(found, (std::vector<uint64_t>{4, 8, 6, 0, 7}));
}

TEST_F(TableCursorTest, DescribesParts) {
  Random random(1);
  AddPart({7, 9, 20}, random);
  AddPart({}, random);
  AddPart({1, 40}, random);
  const TableReader table = OpenTable();
  uint64_t first = 0;
  const std::vector<uint64_t> rows = {3, 0, 2};
  for (size_t part = 0; part < 3; ++part) {
    const PartInfo info = *table.part(part);
    EXPECT_EQ(path_ + "/" + info.name, PartPath(part));
    EXPECT_EQ(info.first_ordinal, first);
    EXPECT_EQ(info.num_rows, rows[part]);
    uint64_t size = 0;
    for (size_t column = 0; column < 6; ++column) {
      size += (*table.OpenBytes(part, column))->size();
    }
    EXPECT_EQ(info.size_bytes, size);
    uint64_t nulls = 0;
    for (uint64_t row = first; row < first + rows[part]; ++row) {
      nulls += numbers_.others[row].has_value() ? 0 : 1;
    }
    EXPECT_EQ(table.part_bounds(part, 3)->null_count, nulls);
    EXPECT_EQ(table.part_bounds(part, 3)->present_count, rows[part] - nulls);
    // If a part has no value index, part_bounds returns the bounds of the statistics.
    EXPECT_EQ(table.part_bounds(part, 3)->min_key.has_value(), nulls < rows[part]);
    EXPECT_NE(table.part_bounds(part, 3)->min_exact, nulls < rows[part]);
    first += rows[part];
  }
  EXPECT_EQ(table.part_bounds(0, 0)->Min<int64_t>(), ValueAt<int64_t>(7));
  EXPECT_EQ(table.part_bounds(0, 0)->Max<int64_t>(), ValueAt<int64_t>(20));
  EXPECT_EQ(table.part_bounds(0, 2)->Max<double>(), ValueAt<double>(20));
  EXPECT_EQ(table.part_bounds(1, 1)->Min<std::string_view>(), std::nullopt);
  EXPECT_EQ(table.part_bounds(2, 1)->Min<std::string_view>(), ValueAt<std::string_view>(1));
  EXPECT_EQ(table.part_bounds(2, 1)->Max<std::string_view>(), ValueAt<std::string_view>(40));
}

}  // namespace cfile::table_cursor_test
