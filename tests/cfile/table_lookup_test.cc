#include "cfile/table_lookup.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_lookup_test {

using testing::HasSubstr;

class TableLookupTest : public TableTestBase {
 protected:
  // A table of a key and a nullable value.
  Schema KeyAndValue(const ColumnType& key) const {
    return {.columns = {{.name = "key", .type = key},
                        {.name = "value", .type = ColumnType::Int64(), .nullable = true}}};
  }

  // Appends a part. A value of 0 is null.
  template <typename T>
  void Append(const std::vector<T>& keys, const std::vector<int64_t>& values,
              const WriterOptions& options = {}) {
    WriterOptions of_key = options;
    of_key.value_index = true;
    auto writer = CreateOrAppend(path_, KeyAndValue(TypeOfKey<T>()),
                                 std::vector<WriterOptions>{of_key, WriterOptions{}});
    ASSERT_TRUE(writer.ok()) << writer.status();
    std::vector<uint8_t> validity((values.size() + 7) / 8);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) validity[i / 8] = static_cast<uint8_t>(validity[i / 8] | 1 << (i % 8));
    }
    ASSERT_TRUE(writer->Append(0, std::span<const T>(keys)).ok());
    ASSERT_TRUE(writer->Append(1, std::span<const int64_t>(values), validity).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }

  // Appends a part of `count` rows in small blocks, with sorted keys from `num_keys` ones. Sets the
  // value of each key in `newest`.
  void AppendRandom(int64_t part, size_t count, size_t num_keys, std::mt19937& random,
                    std::map<std::string, int64_t>& newest, uint32_t bloom_filter_bits) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) texts.push_back(absl::StrCat("key ", random() % num_keys));
    std::sort(texts.begin(), texts.end());
    std::vector<int64_t> values;
    for (size_t i = 0; i < texts.size(); ++i) {
      values.push_back(part * 1000 + static_cast<int64_t>(i) + 1);
      newest[texts[i]] = values.back();
    }
    Append(std::vector<std::string_view>(texts.begin(), texts.end()), values,
           {.block_size_bytes = 512, .bloom_filter_bits_per_value = bloom_filter_bits});
  }

  template <typename T>
  static ColumnType TypeOfKey() {
    if constexpr (std::is_same_v<T, double>) return ColumnType::Double();
    if constexpr (std::is_same_v<T, std::string_view>) return ColumnType::String();
    return ColumnType::Int32();
  }

  TableLookup Lookup(std::vector<size_t> columns = {0, 1}) {
    auto lookup = OpenTable().NewLookup(columns);
    EXPECT_TRUE(lookup.ok()) << lookup.status();
    return *std::move(lookup);
  }
};

TEST_F(TableLookupTest, FindsTheNewestRow) {
  Append<int32_t>({1, 3, 5}, {10, 30, 50});
  Append<int32_t>({3, 3, 4, 4}, {31, 32, 0, 0});
  Append<int32_t>({2, 5}, {20, 0});
  TableLookup lookup = Lookup();
  const auto expect = [&](int32_t key, std::optional<uint64_t> ordinal,
                          std::optional<int64_t> value) {
    const auto row = lookup.Get(key);
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_EQ(row->found(), ordinal.has_value()) << key;
    const auto contains = lookup.Contains(key);
    ASSERT_TRUE(contains.ok()) << contains.status();
    EXPECT_EQ(*contains, ordinal.has_value()) << key;
    if (!ordinal) return;
    const auto again = lookup.Get(key);
    EXPECT_EQ(again->ordinal(), *ordinal) << key;
    EXPECT_EQ(again->value<int32_t>(0), key);
    EXPECT_EQ(again->value<int64_t>(1), value) << key;
  };
  for (int turn = 0; turn < 2; ++turn) {
    expect(0, std::nullopt, {});
    expect(1, 0, 10);
    expect(2, 7, 20);
    expect(3, 4, 32);
    expect(4, 6, std::nullopt);
    expect(5, 8, std::nullopt);
    expect(6, std::nullopt, {});
  }
}

// A model, with enough rows for several blocks, before and after a merge.
TEST_F(TableLookupTest, EqualsAModel) {
  std::mt19937 random(7);
  std::map<std::string, int64_t> newest;
  for (int64_t part = 0; part < 80; ++part) {
    AppendRandom(part, 400, 4000, random, newest, part % 2 == 0 ? 0 : 10);
  }
  for (int turn = 0; turn < 2; ++turn) {
    TableLookup lookup = Lookup({1});
    std::vector<std::string> texts;
    for (int i = 0; i < 4000; ++i) texts.push_back(absl::StrCat("key ", random() % 5000));
    const std::vector<std::string_view> keys(texts.begin(), texts.end());
    std::vector<int> seen(keys.size());
    const absl::Status status =
        lookup.GetMany<std::string_view>(keys, [&](size_t i, const FoundRow& row) {
          ++seen[i];
          const auto expected = newest.find(texts[i]);
          ASSERT_EQ(row.found(), expected != newest.end()) << texts[i];
          if (row.found()) {
            EXPECT_EQ(row.value<int64_t>(0), expected->second) << texts[i];
          }
        });
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(seen, std::vector<int>(keys.size(), 1));
    for (size_t i = 0; i < 200; ++i) {
      EXPECT_EQ(*lookup.Contains(keys[i]), newest.contains(texts[i])) << texts[i];
    }
    ASSERT_TRUE(Compact(path_).ok());
  }
}

TEST_F(TableLookupTest, ZerosAreEqual) {
  Append<double>({-1, -0.0, 0.0, 2}, {1, 2, 3, 4});
  Append<double>({-0.0}, {5});
  EXPECT_EQ(Lookup().Get(0.0)->value<int64_t>(1), 5);
  Append<double>({0.0, 1}, {6, 7}, {.bloom_filter_bits_per_value = 10});
  TableLookup lookup = Lookup();
  for (const double zero : {0.0, -0.0}) {
    EXPECT_EQ(lookup.Get(zero)->value<int64_t>(1), 6) << std::signbit(zero);
  }
  const auto nan = lookup.Get(std::numeric_limits<double>::quiet_NaN()).status();
  EXPECT_EQ(nan.code(), absl::StatusCode::kInvalidArgument);
  const std::vector<double> keys = {1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(lookup.GetMany<double>(keys, [](size_t, const FoundRow&) { ADD_FAILURE(); }).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TableLookupTest, FindsCompoundKeys) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Double(), .nullable = true},
                                  {.name = "b", .type = ColumnType::String()},
                                  {.name = "c", .type = ColumnType::Double()},
                                  {.name = "n", .type = ColumnType::Int32()}},
                      .key_columns = {0, 1, 2}};
  std::vector<WriterOptions> options(5);
  options[4].bloom_filter_bits_per_value = 10;  // of the key index
  const auto append = [&](std::vector<double> a, std::vector<uint8_t> validity,
                          std::vector<std::string_view> b, std::vector<double> c, int32_t n) {
    auto writer = CreateOrAppend(path_, schema, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    std::vector<int32_t> numbers;
    for (size_t i = 0; i < a.size(); ++i) numbers.push_back(n + static_cast<int32_t>(i));
    ASSERT_TRUE(writer->Append<double>(0, a, validity).ok());
    ASSERT_TRUE(writer->Append<std::string_view>(1, b).ok());
    ASSERT_TRUE(writer->Append<double>(2, c).ok());
    ASSERT_TRUE(writer->Append<int32_t>(3, numbers).ok());
    ASSERT_TRUE(writer->Finish().ok());
  };
  append({0, -0.0, 0.0, 0.0}, {0b1110}, {"x", "x", "x", "x"}, {1, 0.0, -0.0, 0.0}, 10);
  append({-0.0, 1}, {0b11}, {"x", "y"}, {-0.0, -0.0}, 20);
  TableLookup lookup = Lookup({3});
  const auto key = [&](std::optional<double> a, std::string_view b, double c) {
    CompoundKey result(schema.key_types());
    a ? result.Add(*a) : result.AddNull();
    return std::string(result.Add(b).Add(c).bytes());
  };
  const auto get = [&](const std::string& bytes) -> std::optional<int32_t> {
    const auto row = lookup.Get(std::string_view(bytes));
    EXPECT_TRUE(row.ok()) << row.status();
    return row.ok() && row->found() ? row->value<int32_t>(0) : std::nullopt;
  };
  EXPECT_EQ(get(key(std::nullopt, "x", 1)), 10);
  EXPECT_EQ(get(key(std::nullopt, "x", 0)), std::nullopt);
  for (const double a : {0.0, -0.0}) {
    for (const double c : {0.0, -0.0}) EXPECT_EQ(get(key(a, "x", c)), 20) << a << " " << c;
  }
  EXPECT_EQ(get(key(1, "y", 0.0)), 21);
  EXPECT_EQ(get(key(1, "y", 1.0)), std::nullopt);
  const auto has_filter = [&] {
    return OpenTable().OpenColumn(0, 4)->info().bloom_filter.has_value();
  };
  EXPECT_TRUE(has_filter());
  ASSERT_TRUE(DropParts(path_, std::vector<std::string>{OpenTable().part(1)->name}).ok());
  lookup = Lookup({3});
  EXPECT_EQ(get(key(0.0, "x", 0.0)), 13);  // the last of three equal keys
  for (const std::string& bytes : {std::string("x"), key(0.0, "x", 0.0) + "y"})
    EXPECT_EQ(get(bytes), std::nullopt);
  ASSERT_TRUE(Compact(path_).ok());
  EXPECT_TRUE(has_filter());
  options.pop_back();
  append({2}, {0b1}, {"z"}, {1}, 30);
  EXPECT_FALSE(OpenTable().OpenColumn(1, 4)->info().bloom_filter.has_value());
}

// A Bloom filter of the keys says that rows will be looked up, so no column gets an encoding whose
// single values are slow to read.
TEST_F(TableLookupTest, AFilterOfTheKeysMeansSingleValues) {
  std::vector<int64_t> keys;
  std::vector<double> prices;
  int64_t cents = 10'000;
  std::mt19937_64 random(5);
  for (int64_t i = 0; i < 50'000; ++i) {
    keys.push_back(i);
    cents += static_cast<int64_t>(random() % 3) - 1;
    prices.push_back(static_cast<double>(cents) / 100);
  }
  const auto encoding = [&](const std::string& name, std::vector<size_t> key_columns,
                            std::vector<WriterOptions> options) {
    const Schema schema{.columns = {{.name = "key", .type = ColumnType::Int64()},
                                    {.name = "price", .type = ColumnType::Double()}},
                        .key_columns = std::move(key_columns)};
    auto writer = TableWriter::Create(path_ + name, schema, options);
    EXPECT_TRUE(writer.ok() && writer->Append<int64_t>(0, keys).ok() &&
                writer->Append<double>(1, prices).ok() && writer->Finish().ok());
    return TableReader::Open(path_ + name)->OpenColumn(0, 1)->info().encoding;
  };
  const WriterOptions filter{.bloom_filter_bits_per_value = 10};
  const WriterOptions sorted{.value_index = true};
  const WriterOptions both{.value_index = true, .bloom_filter_bits_per_value = 10};
  EXPECT_EQ(encoding("1", {0, 1}, {{}, {}, {}}), Encoding::kCompact);
  EXPECT_NE(encoding("2", {0, 1}, {{}, {}, filter}), Encoding::kCompact);
  EXPECT_EQ(encoding("3", {}, {sorted, {}}), Encoding::kCompact);
  EXPECT_NE(encoding("4", {}, {both, {}}), Encoding::kCompact);
}

// Merges the parts, keeping the newest rows. Then each key has one row: the one that was found
// before.
TEST_F(TableLookupTest, CompactKeepsTheNewestRows) {
  std::mt19937 random(3);
  std::map<std::string, int64_t> newest;
  for (int64_t part = 0; part < 6; ++part) AppendRandom(part, 300, 400, random, newest, 0);
  const TableReader before = OpenTable();
  const std::vector<std::string> middle = {before.part(2)->name, before.part(3)->name};
  for (const auto& parts : {middle, std::vector<std::string>{}, std::vector<std::string>{}}) {
    const auto report = Compact(path_, parts, {}, KeptRows::kNewestOfKey);
    ASSERT_TRUE(report.ok()) << report.status();
    const TableReader table = OpenTable();
    EXPECT_LT(table.num_rows(), before.num_rows());
    if (parts.empty()) {
      EXPECT_EQ(table.num_rows(), newest.size());
      EXPECT_EQ(report->rows, newest.size());
    }
    TableLookup lookup = Lookup({1});
    for (const auto& [key, value] : newest) {
      const auto row = lookup.Get(std::string_view(key));
      ASSERT_TRUE(row.ok() && row->found()) << key << row.status();
      EXPECT_EQ(row->value<int64_t>(0), value) << key;
    }
  }
}

TEST_F(TableLookupTest, CompactKeepsTheNewestZero) {
  Append<double>({-1, 0.0, 0.0, 3}, {1, 2, 3, 4});
  Append<double>({-0.0, 2}, {5, 6});
  ASSERT_TRUE(Compact(path_, {}, {}, KeptRows::kNewestOfKey).ok());
  EXPECT_EQ(OpenTable().num_rows(), 4);
  EXPECT_EQ(Lookup().Get(0.0)->value<int64_t>(1), 5);
  EXPECT_EQ(Lookup().Get(3.0)->value<int64_t>(1), 4);
}

// -0 and 0 are one key, whose rows the program gets in the order of their ordinals. The new part
// has them in the order of its keys.
TEST_F(TableLookupTest, TheProgramChoosesAmongZeros) {
  Append<double>({-1, 0.0, 0.0, 3}, {1, 2, 3, 4});
  Append<double>({-0.0, 2}, {5, 6});
  Append<double>({-0.0, 0.0}, {7, 8});
  const std::map<int64_t, double> keys = {{1, -1},   {2, 0.0}, {3, 0.0},  {4, 3},
                                          {5, -0.0}, {6, 2},   {7, -0.0}, {8, 0.0}};
  for (unsigned choice = 0; choice < 32; ++choice) {
    const std::string copy = directory_.path(absl::StrCat(choice));
    std::filesystem::copy(path_, copy, std::filesystem::copy_options::recursive);
    std::vector<std::vector<uint64_t>> groups;
    const auto report = Compact(
        copy, {}, {},
        [&](const TableReader&, std::span<const uint64_t> ordinals, std::vector<bool>& kept) {
          groups.emplace_back(ordinals.begin(), ordinals.end());
          for (size_t i = 0; ordinals.size() == 5 && i < 5; ++i) kept[i] = (choice >> i & 1) != 0;
          return absl::OkStatus();
        });
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(groups, (std::vector<std::vector<uint64_t>>{{0}, {1, 2, 4, 6, 7}, {5}, {3}}));
    std::vector<int64_t> expected = {1};
    for (const auto& [value, bit] : {std::pair{5, 2}, {7, 3}, {2, 0}, {3, 1}, {8, 4}}) {
      if ((choice >> bit & 1) != 0) expected.push_back(value);
    }
    expected.insert(expected.end(), {6, 4});
    const TableReader table = TableReader::Open(copy).value();
    EXPECT_TRUE(table.VerifyColumn(0, 0).ok());
    auto key_cursor = table.NewCursor<double>(0).value();
    auto values = table.NewCursor<int64_t>(1).value();
    ASSERT_EQ(table.num_rows(), expected.size()) << choice;
    for (uint64_t row = 0; row < expected.size(); ++row) {
      EXPECT_EQ(**values.Get(row), expected[row]) << choice;
      const double key = **key_cursor.Get(row);
      EXPECT_EQ(key, keys.at(expected[row]));
      EXPECT_EQ(std::signbit(key), std::signbit(keys.at(expected[row]))) << choice;
    }
  }
}

// The keys of a batch of the merge are gone when the next batch has the last row of a key.
TEST_F(TableLookupTest, TheProgramChoosesAmongManyRowsOfAString) {
  const std::string prefix = "a key that is too long for the buffer inside a string: ";
  for (int64_t part = 0; part < 2; ++part) {
    std::vector<std::string> texts;
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 90'000; ++i) {
      texts.push_back(absl::StrCat(prefix, i / 30'000));
      values.push_back(part * 90'000 + i + 1);
    }
    Append(std::vector<std::string_view>(texts.begin(), texts.end()), values);
  }
  const auto report =
      Compact(path_, {}, {},
              [](const TableReader&, std::span<const uint64_t> ordinals, std::vector<bool>& kept) {
                EXPECT_EQ(ordinals.size(), 60'000u);
                for (size_t i = 0; i < ordinals.size(); ++i) kept[i] = ordinals[i] % 7 == 0;
                return absl::OkStatus();
              });
  ASSERT_TRUE(report.ok()) << report.status();
  const TableReader table = OpenTable();
  auto keys = table.NewCursor<std::string_view>(0).value();
  auto values = table.NewCursor<int64_t>(1).value();
  uint64_t row = 0;
  for (int key = 0; key < 3; ++key) {
    for (uint64_t ordinal = 0; ordinal < 180'000; ordinal += 7) {
      if (static_cast<int>(ordinal % 90'000 / 30'000) != key) continue;
      ASSERT_EQ(**keys.Get(row), absl::StrCat(prefix, key));
      ASSERT_EQ(**values.Get(row++), static_cast<int64_t>(ordinal) + 1);
    }
  }
  EXPECT_EQ(table.num_rows(), row);
}

// Compact copies at most about 2^19 ranges of rows at a time. Here each range has one row, and the
// merge may find the first row of a key before a copy, and the second row after it.
TEST_F(TableLookupTest, TheProgramChoosesMoreRunsThanAreCopiedAtOnce) {
  constexpr int32_t kKeys = 1'100'000;
  for (int32_t part = 0; part < 2; ++part) {
    std::vector<int32_t> keys;
    std::vector<int64_t> values;
    for (int32_t key = -1 + part; key < kKeys; ++key) {
      keys.push_back(key);
      values.push_back(2 * key + part + 9);
    }
    Append(keys, values);
  }
  uint64_t calls = 0;
  const auto report =
      Compact(path_, {}, {},
              [&](const TableReader&, std::span<const uint64_t> ordinals, std::vector<bool>& kept) {
                EXPECT_EQ(ordinals.size(), calls == 0 ? 1u : 2u);
                if (ordinals.size() == 2) kept[calls % 2] = false;
                ++calls;
                return absl::OkStatus();
              });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(calls, uint64_t{kKeys} + 1);
  const TableReader table = OpenTable();
  ASSERT_EQ(table.num_rows(), uint64_t{kKeys} + 1);
  auto scan = table.NewScan({}).value();
  int32_t row = 0;
  for (const auto& batch : scan.Batches()) {
    ASSERT_TRUE(batch.ok()) << batch.status();
    for (size_t i = 0; i < batch->num_rows(); ++i, ++row) {
      const int32_t part = row == 0 ? 0 : 1 - row % 2;  // the one whose row stays
      ASSERT_EQ(batch->column<int32_t>(0).values[i], row - 1);
      ASSERT_EQ(batch->column<int64_t>(1).values[i], 2 * (row - 1) + part + 9);
    }
  }
  EXPECT_EQ(row, kKeys + 1);
}

// More parts than the lookup keeps open, and keys with two forms.
TEST_F(TableLookupTest, ManyPartsWithZeros) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Double()},
                                  {.name = "n", .type = ColumnType::Int32()},
                                  {.name = "part", .type = ColumnType::Int32()}},
                      .key_columns = {0, 1}};
  constexpr int32_t kParts = 70;
  for (int32_t part = 0; part < kParts; ++part) {
    auto writer = CreateOrAppend(path_, schema);
    ASSERT_TRUE(writer.ok()) << writer.status();
    // All parts overlap. Only part 0 has the key with n = 5; parts take turns with -0 and 0.
    const double zero = part % 2 == 0 ? -0.0 : 0.0;
    ASSERT_TRUE(writer->Append<double>(0, std::vector<double>{-1, zero, 1}).ok());
    ASSERT_TRUE(writer->Append<int32_t>(1, std::vector<int32_t>{0, part == 0 ? 5 : 4, 0}).ok());
    ASSERT_TRUE(writer->Append<int32_t>(2, std::vector<int32_t>{part, part, part}).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  TableLookup lookup = Lookup({2});
  for (const double zero : {0.0, -0.0, 0.0}) {
    for (const int32_t n : {5, 4, 3}) {
      CompoundKey key(schema.key_types());
      const auto row = lookup.Get(key.Add(zero).Add(n).bytes());
      ASSERT_TRUE(row.ok()) << row.status();
      ASSERT_EQ(row->found(), n != 3);
      if (row->found()) {
        EXPECT_EQ(row->value<int32_t>(0), n == 5 ? 0 : kParts - 1);
      }
    }
  }
  const ChooseRows all = [](const auto&, auto, auto&) { return absl::OkStatus(); };
  for (const auto& report :
       {Compact(path_, {}, {}, KeptRows::kNewestOfKey), Compact(path_, {}, {}, all)}) {
    EXPECT_EQ(report.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(report.status().message(), HasSubstr("the key column a holds floats"));
  }
  EXPECT_EQ(OpenTable().num_parts(), kParts);
}

TEST_F(TableLookupTest, ReadsAddedColumns) {
  Append<int32_t>({1, 2}, {10, 20});
  ASSERT_TRUE(AddColumn(path_, {.name = "new", .type = ColumnType::Int32()}, int64_t{7}).ok());
  TableLookup lookup = Lookup({2, 1, 2});
  const auto row = lookup.Get(int32_t{2});
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->value<int32_t>(0), 7);
  EXPECT_EQ(row->value<int64_t>(1), 20);
  EXPECT_EQ(row->value<int32_t>(2), 7);
  EXPECT_TRUE(Lookup({}).Get(int32_t{2})->found());
}

TEST_F(TableLookupTest, RefusesWhatItCannotSearch) {
  Append<int32_t>({1, 2}, {10, 20});
  TableLookup lookup = Lookup();
  EXPECT_EQ(lookup.Get(int64_t{1}).status().code(), absl::StatusCode::kInvalidArgument);
  auto writer = TableWriter::Open(path_);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append<int32_t>(0, std::vector<int32_t>{2, 1}).ok());
  ASSERT_TRUE(writer->Append<int64_t>(1, std::vector<int64_t>{1, 2}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto status = OpenTable().NewLookup(std::vector<size_t>{}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("value index"));
}

TEST_F(TableLookupTest, ReportsDamage) {
  Append<int32_t>({1, 2}, {10, 20});
  const std::string path = absl::StrCat(path_, "/", FileOf(OpenTable(), 0, 1));
  const std::string good = ReadFile(path);
  WriteFile(path, good.substr(0, good.size() - 1));
  TableLookup lookup = Lookup();
  EXPECT_EQ(lookup.Get(int32_t{1}).status().code(), absl::StatusCode::kDataLoss);
  WriteFile(path, good);
  EXPECT_EQ(lookup.Get(int32_t{1})->value<int64_t>(1), 10);  // the call may be repeated
}

}  // namespace cfile::table_lookup_test
