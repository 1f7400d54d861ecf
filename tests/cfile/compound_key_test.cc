#include "cfile/compound_key.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cfile::compound_key_test {

using namespace std::string_view_literals;

const std::vector<ColumnType> kTypes = {ColumnType::String(),      ColumnType::Int16(),
                                        ColumnType::Double(),      ColumnType::Bool(),
                                        ColumnType::FixedBytes(2), ColumnType::Binary()};
using Row = std::tuple<std::string, int16_t, double, bool, std::string, std::string>;

std::string KeyOf(const Row& row) {
  CompoundKey key(kTypes);
  key.Add<std::string_view>(std::get<0>(row)).Add(std::get<1>(row)).Add(std::get<2>(row));
  key.Add(std::get<3>(row)).Add<std::string_view>(std::get<4>(row));
  return std::string(key.Add<std::string_view>(std::get<5>(row)).bytes());
}

absl::StatusOr<Row> RowOf(std::string_view key) {
  CompoundKeyReader reader(kTypes, key);
  Row row;
  const auto take = [&]<size_t kColumn, typename T>() {
    auto value = reader.Next<T>();
    if (value.ok()) std::get<kColumn>(row) = *std::move(value);
    return value.status();
  };
  absl::Status status = take.operator()<0, std::string_view>();
  if (status.ok()) status = take.operator()<1, int16_t>();
  if (status.ok()) status = take.operator()<2, double>();
  if (status.ok()) status = take.operator()<3, bool>();
  if (status.ok()) status = take.operator()<4, std::string_view>();
  if (status.ok()) status = take.operator()<5, std::string_view>();
  if (!status.ok()) return status;
  return row;
}

// Returns `size` random bytes from a small set. Escaping treats some of these bytes specially.
std::string RandomText(std::mt19937_64& random, size_t size) {
  std::string text(size, '\0');
  for (char& byte : text) byte = "\0\0\1\2a\xff"[random() % 6];
  return text;
}

std::vector<Row> RandomRows(size_t count) {
  std::mt19937_64 random(1);
  std::vector<Row> rows;
  for (size_t i = 0; i < count; ++i) {
    rows.emplace_back(RandomText(random, random() % 4), static_cast<int16_t>(random() % 5 - 2),
                      static_cast<double>(random() % 5) - 2, random() % 2 == 0,
                      RandomText(random, 2), RandomText(random, random() % 4));
  }
  return rows;
}

// A key has the bytes that the example in cfile/FORMAT.md shows.
TEST(CompoundKey, Bytes) {
  CompoundKey key({ColumnType::String(), ColumnType::Int32(), ColumnType::String()});
  key.Add("a\0b"sv).Add<int32_t>(-1).Add("c\0"sv);
  EXPECT_EQ(key.bytes(),
            "a\0\1b\0\0\x7f\xff\xff\xff"
            "c\0"sv);
  EXPECT_EQ(key.Clear().Add("a"sv).bytes(), "a\0\0"sv);
}

TEST(CompoundKey, OrderOfKeysIsOrderOfRows) {
  std::vector<Row> rows = RandomRows(3000);
  for (const Row& row : rows) {
    const auto read = RowOf(KeyOf(row));
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(*read, row);
  }
  std::sort(rows.begin(), rows.end());
  for (size_t i = 1; i < rows.size(); ++i) {
    ASSERT_EQ(KeyOf(rows[i - 1]) < KeyOf(rows[i]), rows[i - 1] < rows[i]);
  }
}

TEST(CompoundKey, DamagedKeysAreErrors) {
  const std::string key = KeyOf({"a", 1, 2.5, true, "xy", ""});
  ASSERT_TRUE(RowOf(key).ok());
  for (size_t size = 0; size < key.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(RowOf(std::string_view(key).substr(0, size)).status())) << size;
  }
  EXPECT_TRUE(absl::IsDataLoss(RowOf("a\0\2"sv).status()));
  CompoundKeyReader bad_bool({ColumnType::Bool()}, "\2");
  EXPECT_TRUE(absl::IsDataLoss(bad_bool.Next<bool>().status()));
  CompoundKeyReader too_long({ColumnType::Int8()}, "ab");
  EXPECT_TRUE(absl::IsDataLoss(too_long.Next<int8_t>().status()));
}

// Keys with nulls have the bytes that the example in cfile/FORMAT.md shows.
TEST(CompoundKey, BytesOfNulls) {
  CompoundKey key({{.type = ColumnType::String(), .nullable = true},
                   {.type = ColumnType::Int8(), .nullable = true, .nulls_last = true}});
  EXPECT_EQ(key.Add("a"sv).AddNull().bytes(), "\1a\0\0\2"sv);
  EXPECT_EQ(key.Clear().AddNull().Add<int8_t>(1).bytes(), "\0\1\x81"sv);
  EXPECT_EQ(key.Clear().AddNull().bytes(), "\0"sv);
}

// A value of a key column; nullopt is a null.
using Cell = std::optional<std::variant<std::string, int16_t, double>>;

bool RowLess(const std::vector<KeyColumn>& columns, const std::vector<Cell>& a,
             const std::vector<Cell>& b) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i] && b[i]) return *a[i] < *b[i];
    return a[i].has_value() == columns[i].nulls_last;
  }
  return false;
}

std::string KeyOf(const std::vector<KeyColumn>& columns, const std::vector<Cell>& row) {
  CompoundKey key(columns);
  for (const Cell& cell : row) {
    if (!cell) {
      key.AddNull();
    } else if (const auto* text = std::get_if<std::string>(&*cell)) {
      key.Add<std::string_view>(*text);
    } else if (const auto* integer = std::get_if<int16_t>(&*cell)) {
      key.Add(*integer);
    } else {
      key.Add(std::get<double>(*cell));
    }
  }
  return std::string(key.bytes());
}

absl::StatusOr<std::vector<Cell>> RowOf(const std::vector<KeyColumn>& columns,
                                        std::string_view key) {
  CompoundKeyReader reader(columns, key);
  std::vector<Cell> row;
  const auto take = [&]<typename T>() {
    const auto value = reader.NextOrNull<T>();
    row.emplace_back();
    if (value.ok() && value->has_value()) row.back() = **value;
    return value.status();
  };
  for (const KeyColumn& column : columns) {
    const PhysicalType type = column.type.physical();
    const absl::Status status = type == PhysicalType::kInt16 ? take.operator()<int16_t>()
                                : type == PhysicalType::kDouble
                                    ? take.operator()<double>()
                                    : take.operator()<std::string_view>();
    if (!status.ok()) return status;
  }
  return row;
}

// Key columns of random types, some of them nullable, and random rows with these columns.
struct RandomKeys {
  explicit RandomKeys(std::mt19937_64& random) {
    const ColumnType types[] = {ColumnType::String(), ColumnType::Int16(), ColumnType::Double(),
                                ColumnType::FixedBytes(2)};
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      columns.push_back({.type = types[random() % std::size(types)],
                         .nullable = random() % 4 != 0,
                         .nulls_last = random() % 2 == 0});
    }
    for (int i = 0; i < 200; ++i) {
      auto& row = rows.emplace_back();
      for (const KeyColumn& column : columns) {
        if (column.nullable && random() % 3 == 0) {
          row.emplace_back();
        } else if (column.type.physical() == PhysicalType::kInt16) {
          row.emplace_back(static_cast<int16_t>(random() % 5 - 2));
        } else if (column.type.physical() == PhysicalType::kDouble) {
          row.emplace_back(static_cast<double>(random() % 5) - 2);
        } else {
          const bool fixed = column.type.physical() == PhysicalType::kFixedBytes;
          row.emplace_back(RandomText(random, fixed ? 2 : random() % 4));
        }
      }
    }
  }

  std::vector<KeyColumn> columns;
  std::vector<std::vector<Cell>> rows;
};

TEST(CompoundKey, NullsSortFirstOrLast) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100; ++i) {
    const RandomKeys keys(random);
    for (const std::vector<Cell>& row : keys.rows) {
      const std::string key = KeyOf(keys.columns, row);
      const auto read = RowOf(keys.columns, key);
      ASSERT_TRUE(read.ok()) << read.status();
      ASSERT_EQ(*read, row);
      const std::vector<Cell>& other = keys.rows[random() % keys.rows.size()];
      ASSERT_EQ(key < KeyOf(keys.columns, other), RowLess(keys.columns, row, other));
    }
  }
}

TEST(CompoundKey, DamagedMarksOfNullsAreErrors) {
  for (const bool nulls_last : {false, true}) {
    const std::vector<KeyColumn> columns = {
        {.type = ColumnType::String(), .nullable = true, .nulls_last = nulls_last},
        {.type = ColumnType::Int16(), .nullable = true, .nulls_last = nulls_last}};
    const std::string key = KeyOf(columns, {"a", int16_t{7}});
    ASSERT_TRUE(RowOf(columns, key).ok());
    for (size_t size = 0; size < key.size(); ++size) {
      EXPECT_TRUE(absl::IsDataLoss(RowOf(columns, std::string_view(key).substr(0, size)).status()))
          << size;
    }
    for (const size_t position : {size_t{0}, size_t{4}}) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string damaged = key;
        ASSERT_EQ(damaged[position], 1);
        damaged[position] = static_cast<char>(byte);
        const absl::Status status = RowOf(columns, damaged).status();
        if (byte != 1) {
          EXPECT_TRUE(absl::IsDataLoss(status)) << byte << " " << status;
        }
        if (byte == (nulls_last ? 0 : 2) || byte > 2) {
          EXPECT_THAT(std::string(status.message()),
                      testing::HasSubstr("before a value, found " + std::to_string(byte)));
        }
      }
    }
  }
}

TEST(CompoundKey, FileOfKeysIsFoundByKeyAndPrefix) {
  std::vector<std::string> keys;
  for (const Row& row : RandomRows(20000)) keys.push_back(KeyOf(row));
  std::sort(keys.begin(), keys.end());
  std::vector<uint8_t> file;
  auto writer = Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::Binary(),
                                                 CompoundKeyOptions());
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append(std::vector<std::string_view>(keys.begin(), keys.end())).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_FALSE(reader->info().positional_index_root.has_value());
  EXPECT_TRUE(Verify(*reader).ok());
  auto cursor = reader->NewCursor<std::string_view>();
  ASSERT_TRUE(cursor.ok());
  // A scan starts at the first row, although there is no positional index.
  EXPECT_EQ(cursor->Next(1)->values[0], keys[0]);
  for (const Row& row : RandomRows(2000)) {
    const std::string key = KeyOf(row);
    for (const std::string_view wanted :
         {std::string_view(key), std::string_view(key).substr(0, 3)}) {
      const auto found = cursor->SeekToKey(wanted);
      ASSERT_TRUE(found.ok()) << found.status();
      const auto expected = std::lower_bound(keys.begin(), keys.end(), wanted);
      ASSERT_EQ(found->ordinal, static_cast<uint64_t>(expected - keys.begin()));
    }
  }
}

TEST(CompoundKey, Int96ReadsBackWhole) {
  const Int96 value(encodings::uint128_t{1} << 70);
  const std::string key(CompoundKey({ColumnType::Int96()}).Add(value).bytes());
  EXPECT_EQ(*CompoundKeyReader({ColumnType::Int96()}, key).Next<Int96>(), value);
}

TEST(CompoundKey, VerifyCountsADamagedBlockOnce) {
  std::vector<std::string_view> keys(20000, "key");
  std::vector<uint8_t> file;
  auto writer = *Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::Binary(),
                                                  {.encoding = Encoding::kPlain,
                                                   .positional_index = false,
                                                   .value_index = true,
                                                   .block_size_bytes = 4096});
  ASSERT_TRUE(writer.Append(keys).ok());
  ASSERT_TRUE(writer.Finish().ok());
  file[200] ^= 1;  // a byte in the first of several blocks
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok());
  const VerifyReport report = Verify(*reader);
  EXPECT_GT(report.data_blocks, 3u);
  EXPECT_EQ(report.damages.size(), 1u);
}

}  // namespace cfile::compound_key_test
