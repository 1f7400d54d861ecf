// Compares MergeCursor with a model: the rows of a table, sorted by key.
#include "cfile/merge_cursor.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"
#include "tests/sanitizers.h"

namespace cfile::merge_cursor_test {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

// KeyOf returns keys that ascend with `rank`, an integer from -1 to kRanks.
constexpr int kRanks = 60;
// Keys of a table with key columns: a text, a number that may be null, and a float.
struct Compound {};
template <typename K>
struct KeyTypeOf {
  using type = K;
};
template <>
struct KeyTypeOf<Compound> {
  using type = std::string_view;
};
template <typename K>
using KeyType = typename KeyTypeOf<K>::type;

const Schema kCompound{
    .columns = {{.name = "number", .type = ColumnType::Int64(), .nullable = true},
                {.name = "text", .type = ColumnType::String(), .nullable = true},
                {.name = "a", .type = ColumnType::String()},
                {.name = "b", .type = ColumnType::Int32(), .nullable = true},
                {.name = "c", .type = ColumnType::Double()}},
    .key_columns = {2, 3, 4}};

std::string TextOf(int rank) {
  return absl::StrCat("group ", 1000 + rank / 10, std::string(static_cast<size_t>(rank % 7), 'x'));
}
std::optional<int32_t> NumberOf(int rank) {
  return rank % 10 / 3 == 0 ? std::nullopt : std::optional<int32_t>(rank % 10 / 3);
}
double FloatOf(int rank) { return rank % 3 == 0 ? -0.0 : rank % 3 - 1; }

template <typename K>
Owned<KeyType<K>> KeyOf(int rank) {
  if constexpr (std::is_same_v<K, Compound>) {
    CompoundKey key(kCompound.key_types());
    const std::string text = TextOf(rank + 10);
    key.Add(std::string_view(text));
    NumberOf(rank + 10) ? key.Add(*NumberOf(rank + 10)) : key.AddNull();
    return std::string(key.Add(FloatOf(rank + 10)).bytes());
  } else if constexpr (std::is_same_v<K, std::string_view>) {
    std::string text = std::to_string(rank / 2 + 100);
    // Some values are prefixes of the next value. Some end with 0xff, which has no successor.
    if (rank % 2 != 0) text += rank % 4 == 1 ? "\xff\xff" : "x";
    return text;
  } else if constexpr (std::is_same_v<K, double>) {
    // The ranks 19 to 22 are -0.5, -0, 0 and 0.5.
    return rank == 20 ? -0.0 : (rank - 20 - (rank > 20 ? 1 : 0)) * 0.5;
  } else {
    return K{3} * rank - 50;
  }
}

// Returns bytes whose order (memcmp) is the order of the keys. `of_seek`: `key` is the argument of
// a seek, so 0 gets the bytes of -0, because a seek for 0 also finds -0.
template <typename T>
std::string FormOf(const T& key, bool of_seek = false) {
  std::string form;
  if constexpr (std::is_same_v<T, double>) {
    internal::AppendKey(of_seek && key == 0 ? -0.0 : key, form);
  } else {
    internal::AppendKey(key, form);
  }
  return form;
}

struct Row {
  std::string key;  // in memcmp form
  uint64_t ordinal;
  std::optional<int64_t> number;
  std::optional<std::string> text;
};

template <typename K>
class MergeCursorTest : public TableTestBase {
 protected:
  using T = KeyType<K>;
  static constexpr bool kCompoundKeys = std::is_same_v<K, Compound>;

  Schema MakeSchema() const {
    if (kCompoundKeys) return kCompound;
    Schema schema{.columns = {kCompound.columns[0], kCompound.columns[1]}};
    const ColumnType type = std::is_same_v<K, double>    ? ColumnType::Double()
                            : std::is_same_v<K, int64_t> ? ColumnType::Int64()
                                                         : ColumnType::String();
    schema.columns.push_back({.name = "key", .type = type});
    return schema;
  }
  size_t key_column() const { return kCompoundKeys ? 5 : 2; }

  // Writes a part with these keys. Adds its rows to rows_ if `chosen`.
  void AddPart(std::vector<int> ranks, bool chosen, Random& random) {
    std::sort(ranks.begin(), ranks.end(),
              [](int a, int b) { return FormOf<T>(KeyOf<K>(a)) < FormOf<T>(KeyOf<K>(b)); });
    const Schema schema = MakeSchema();
    std::vector<WriterOptions> options(schema.columns.size());
    for (size_t i = 0; i < options.size(); ++i) {
      options[i] = {
          .value_index = !kCompoundKeys && i == 2,
          .max_values_per_block = 1 + static_cast<uint32_t>(random() % (kCompoundKeys ? 300 : 12))};
    }
    auto writer = CreateOrAppend(path_, schema, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (const int rank : ranks) {
      const Owned<T> key = KeyOf<K>(rank);
      Row row{.key = FormOf<T>(key), .ordinal = num_rows_++, .number = {}, .text = {}};
      if (random() % 4 != 0) row.number = static_cast<int64_t>(random() % 1000);
      if (random() % 4 != 0) row.text = absl::StrCat("text ", random() % 50);
      const int64_t number = row.number.value_or(0);
      const std::string_view text = row.text ? std::string_view(*row.text) : "";
      const uint8_t valid[] = {row.number.has_value(), row.text.has_value()};
      ASSERT_TRUE(writer->template Append<int64_t>(0, {&number, 1}, {valid, 1}).ok());
      ASSERT_TRUE(writer->template Append<std::string_view>(1, {&text, 1}, {valid + 1, 1}).ok());
      if constexpr (kCompoundKeys) {
        const std::string a = TextOf(rank + 10);
        const std::string_view view = a;
        const int32_t b = NumberOf(rank + 10).value_or(0);
        const double c = FloatOf(rank + 10);
        const uint8_t has_b = NumberOf(rank + 10).has_value();
        ASSERT_TRUE(writer->template Append<std::string_view>(2, {&view, 1}).ok());
        ASSERT_TRUE(writer->template Append<int32_t>(3, {&b, 1}, {&has_b, 1}).ok());
        ASSERT_TRUE(writer->template Append<double>(4, {&c, 1}).ok());
      } else {
        const T view = key;
        ASSERT_TRUE(writer->template Append<T>(2, {&view, 1}).ok());
      }
      if (chosen) rows_.push_back(std::move(row));
    }
    const absl::Status finished = writer->Finish();
    ASSERT_TRUE(finished.ok()) << finished;
  }

  // Writes parts that overlap, and some that do not. Sets rows_ to the rows of the chosen parts.
  void WriteTable(Random& random) {
    fs::remove_all(path_);
    rows_.clear();
    num_rows_ = 0;
    chosen_.reset();
    if (random() % 3 == 0) chosen_.emplace();
    const size_t num_parts = 1 + random() % 6;
    for (size_t part = 0; part < num_parts; ++part) {
      // Key indexes have blocks of 4 KiB, so that only long parts have several ones.
      const size_t count = random() % 5 == 0 ? 0 : random() % (kCompoundKeys ? 3000 : 40);
      const int low = static_cast<int>(random() % 50);
      std::vector<int> ranks(count);
      for (int& rank : ranks)
        rank = low + static_cast<int>(random() % static_cast<uint64_t>(kRanks - low));
      const bool chosen = !chosen_ || random() % 2 == 0;
      if (chosen_ && chosen) chosen_->push_back(part);
      ASSERT_NO_FATAL_FAILURE(AddPart(ranks, chosen, random));
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.key < b.key; });
    SetRange("", std::nullopt);
    at_ = 0;
  }

  size_t LowerBound(const std::string& form) const {
    return static_cast<size_t>(
        std::partition_point(rows_.begin(), rows_.end(),
                             [&](const Row& row) { return row.key < form; }) -
        rows_.begin());
  }
  void SetRange(const std::string& low, const std::optional<std::string>& high) {
    begin_ = LowerBound(low);
    end_ = std::max(begin_, high ? LowerBound(*high) : rows_.size());
    at_ = begin_;
  }

  absl::StatusOr<MergeCursor> NewCursor() {
    return OpenTable().NewMergeCursor({.columns = {1, key_column(), 0}, .parts = chosen_});
  }

  void ExpectRow(const MergeBatch& batch, size_t i, const Row& row) {
    ASSERT_EQ(batch.ordinal(i), row.ordinal);
    const auto texts = batch.column<std::string_view>(0);
    const auto keys = batch.column<T>(1);
    const auto numbers = batch.column<int64_t>(2);
    ASSERT_EQ(FormOf<T>(keys.values[i]), row.key);
    ASSERT_EQ(texts.IsValid(i), row.text.has_value());
    ASSERT_EQ(numbers.IsValid(i), row.number.has_value());
    if (row.text) {
      ASSERT_EQ(texts.values[i], *row.text);
    }
    if (row.number) {
      ASSERT_EQ(numbers.values[i], *row.number);
    }
  }

  // Calls Next or Previous, and compares the rows with the model.
  absl::Status Read(MergeCursor& cursor, bool forward, size_t max_rows) {
    const auto batch = forward ? cursor.Next(max_rows) : cursor.Previous(max_rows);
    if (!batch.ok()) return batch.status();
    const size_t count = batch->num_rows();
    EXPECT_LE(count, max_rows);
    EXPECT_LE(count, forward ? end_ - at_ : at_ - begin_);
    EXPECT_EQ(count == 0, at_ == (forward ? end_ : begin_));
    if (testing::Test::HasFailure()) return absl::OkStatus();
    if (!forward) at_ -= count;
    for (size_t i = 0; i < count; ++i) ExpectRow(*batch, i, rows_[at_ + i]);
    if (count > 0) {
      uint64_t nulls = 0;
      for (size_t i = 0; i < count; ++i) nulls += !rows_[at_ + i].number.has_value();
      EXPECT_EQ(batch->template column<int64_t>(2).null_count, nulls);
    }
    if (forward) at_ += count;
    return absl::OkStatus();
  }

  int RandomRank(Random& random) { return static_cast<int>(random() % (kRanks + 2)) - 1; }

  // Does one random step. An error leaves the model's position unchanged, too.
  absl::Status Step(MergeCursor& cursor, Random& random) {
    switch (random() % 12) {
      case 0: {
        const Owned<T> key = KeyOf<K>(RandomRank(random));
        const auto found = cursor.SeekToKey<T>(key);
        if (!found.ok()) return found.status();
        const std::string form = FormOf<T>(key, true);
        at_ = std::clamp(LowerBound(form), begin_, end_);
        const std::string last = key == Owned<T>{} ? FormOf<T>(Owned<T>{}) : form;
        EXPECT_EQ(*found, at_ < end_ && rows_[at_].key >= form && rows_[at_].key <= last);
        return absl::OkStatus();
      }
      case 1: {
        std::optional<Owned<T>> low, high;
        if (random() % 3 != 0) low = KeyOf<K>(RandomRank(random));
        if (random() % 3 != 0) high = KeyOf<K>(RandomRank(random));
        const auto view = [](const auto& key) {
          return key ? std::optional<T>(*key) : std::nullopt;
        };
        CFILE_RETURN_IF_ERROR(cursor.SeekToKeyRange<T>(view(low), view(high)));
        SetRange(low ? FormOf<T>(*low, true) : "",
                 high ? std::optional(FormOf<T>(*high, true)) : std::nullopt);
        return absl::OkStatus();
      }
      case 2: {
        if constexpr (std::is_same_v<T, std::string_view>) {
          const std::string key = KeyOf<K>(RandomRank(random));
          const std::string prefix = key.substr(0, random() % (key.size() + 1));
          CFILE_RETURN_IF_ERROR(cursor.SeekToPrefix(prefix));
          begin_ = LowerBound(prefix);
          end_ = begin_;
          while (end_ < rows_.size() && rows_[end_].key.starts_with(prefix)) ++end_;
          at_ = begin_;
        }
        return absl::OkStatus();
      }
      case 3:
        CFILE_RETURN_IF_ERROR(cursor.SeekToEnd());
        at_ = end_;
        return absl::OkStatus();
      case 4: {
        auto clone = cursor.Clone();
        if (!clone.ok()) return clone.status();
        cursor = *std::move(clone);
        return absl::OkStatus();
      }
      default: {
        forward_ = random() % 8 == 0 ? !forward_ : forward_;
        const size_t sizes[] = {1 + random() % 5, 20, 500, kMaxBatchRows};
        return Read(cursor, forward_, sizes[random() % 4]);
      }
    }
  }

  std::vector<Row> rows_;  // of the chosen parts, sorted
  uint64_t num_rows_ = 0;  // of the table
  std::optional<std::vector<size_t>> chosen_;
  size_t begin_ = 0;  // the range and the position, in rows_
  size_t end_ = 0;
  size_t at_ = 0;
  bool forward_ = true;
};

// The number of random tables. A library with sanitizers is ten times slower.
uint64_t Seeds(uint64_t all) { return kSanitized ? all / 3 : all; }

using KeyTypes = testing::Types<int64_t, double, std::string_view, Compound>;
TYPED_TEST_SUITE(MergeCursorTest, KeyTypes);

TYPED_TEST(MergeCursorTest, EqualsAModel) {
  for (uint64_t seed = 0; seed < Seeds(this->kCompoundKeys ? 10 : 25); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ASSERT_NO_FATAL_FAILURE(this->WriteTable(random));
    auto cursor = this->NewCursor();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    EXPECT_EQ(cursor->key_column(), this->key_column());
    for (int i = 0; i < 400; ++i) {
      const absl::Status status = this->Step(*cursor, random);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_FALSE(this->HasFailure()) << "step " << i;
    }
  }
}

// If a file cannot be opened, the position does not change, and the call can be repeated.
TYPED_TEST(MergeCursorTest, KeepsItsPositionAfterErrors) {
  int errors = 0;
  for (uint64_t seed = 0; seed < Seeds(this->kCompoundKeys ? 12 : 30); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ASSERT_NO_FATAL_FAILURE(this->WriteTable(random));
    auto cursor = this->NewCursor();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    const TableReader table = this->OpenTable();
    for (int i = 0; i < 60; ++i) {
      if (i % 10 == 0) {  // no file is open
        cursor = this->NewCursor();
        ASSERT_TRUE(cursor.ok()) << cursor.status();
        this->SetRange("", std::nullopt);
      }
      const size_t part = random() % table.num_parts();
      const size_t columns[] = {0, 1, this->key_column()};
      const std::string file = this->path_ + "/" + FileOf(table, part, columns[random() % 3]);
      fs::rename(file, file + ".away");
      const absl::Status status = this->Step(*cursor, random);
      fs::rename(file + ".away", file);
      ASSERT_FALSE(this->HasFailure()) << "step " << i;
      if (status.ok()) continue;
      ++errors;
      ASSERT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
      const absl::Status next = this->Read(*cursor, random() % 2 == 0, 30);
      ASSERT_TRUE(next.ok()) << next;
      ASSERT_FALSE(this->HasFailure()) << "step " << i;
    }
  }
  EXPECT_GT(errors, 10);
}

// Compact keeps the order of the cursor.
TYPED_TEST(MergeCursorTest, CompactMergesInTheSameOrder) {
  for (uint64_t seed = 0; seed < Seeds(6); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ASSERT_NO_FATAL_FAILURE(this->WriteTable(random));
    if (this->chosen_) continue;
    const auto report = Compact(this->path_);
    ASSERT_TRUE(report.ok()) << report.status();
    for (size_t i = 0; i < this->rows_.size(); ++i) this->rows_[i].ordinal = i;
    auto cursor = this->NewCursor();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    while (this->at_ < this->end_) {
      const absl::Status status = this->Read(*cursor, true, 1000);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_FALSE(this->HasFailure());
    }
  }
}

using MergeCursors = TableTestBase;

// Bad blocks are found when their rows are read. Other rows stay readable.
TEST_F(MergeCursors, DamageIsFound) {
  const Schema schema{.columns = {{.name = "key", .type = ColumnType::Int64()},
                                  {.name = "value", .type = ColumnType::Int64()}}};
  const std::vector<WriterOptions> options = {{.value_index = true},
                                              {.encoding = Encoding::kPlain,
                                               .compression = Compression::kNone,
                                               .max_values_per_block = 10}};
  for (int64_t part = 0; part < 2; ++part) {
    auto writer = CreateOrAppend(path_, schema, options);
    std::vector<int64_t> keys, values;
    for (int64_t i = part; i < 200; i += 2) keys.push_back(i);
    for (const int64_t key : keys) values.push_back(key * 0x0101010101010101);
    ASSERT_TRUE(writer->Append<int64_t>(0, keys).ok());
    ASSERT_TRUE(writer->Append<int64_t>(1, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  const std::string file = path_ + "/" + FileOf(OpenTable(), 1, 1);
  std::string bytes = ReadFile(file);
  const size_t place = bytes.find(std::string(8, 101));  // of key 101
  ASSERT_NE(place, bytes.npos);
  bytes[place] = 0;
  WriteFile(file, bytes);
  auto cursor = OpenTable().NewMergeCursor({.columns = {0, 1}});
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  int64_t next = 0;
  absl::Status status;
  while (status.ok()) {
    const auto batch = cursor->Next(7);
    status = batch.status();
    if (!status.ok()) break;
    ASSERT_FALSE(batch->empty());
    for (size_t i = 0; i < batch->num_rows(); ++i)
      ASSERT_EQ(batch->column<int64_t>(1).values[i], next++ * 0x0101010101010101);
  }
  EXPECT_LE(next, 101);
  EXPECT_GE(next, 101 - 27);  // the block of row 50 of the part, and the batch before
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cursor->Next(7).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(cursor->Previous(1)->column<int64_t>(0).values[0], next - 1);
  EXPECT_TRUE(*cursor->SeekToKey<int64_t>(150));
  EXPECT_EQ(cursor->Next(7)->column<int64_t>(0).values[0], 150);
}

TEST_F(MergeCursors, RefusesWrongArguments) {
  WriteKeys({{"a", "c"}, {"b"}});
  auto cursor = OpenTable().NewMergeCursor({});
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  EXPECT_EQ(cursor->SeekToKey<int64_t>(1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cursor->Next(1)->ordinal(0), 0);
  fs::remove_all(path_);
  const Schema unsorted{.columns = {{.name = "n", .type = ColumnType::Double()}}};
  ASSERT_TRUE(TableWriter::Create(path_, unsorted)->Finish().ok());
  EXPECT_EQ(OpenTable().NewMergeCursor({}).status().code(), absl::StatusCode::kFailedPrecondition);
  fs::remove_all(path_);
  const WriterOptions sorted{.value_index = true};
  const std::vector<double> values = {1, 2};
  auto writer = CreateOrAppend(path_, unsorted, {&sorted, 1});
  ASSERT_TRUE(writer->Append<double>(0, values).ok());
  ASSERT_TRUE(writer->Finish().ok());
  cursor = OpenTable().NewMergeCursor({.columns = {0}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(cursor->SeekToKey(nan).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cursor->SeekToKeyRange<double>(nan, {}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cursor->SeekToKeyRange<double>({}, nan).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cursor->Next(1)->column<double>(0).values[0], 1);
}

// A seek searches only, and does not read the columns.
TEST_F(MergeCursors, SeeksOpenOnlyFilesOfKeys) {
  WriteKeys({{"a", "m", "z"}, {"b", "n", "y"}, {"s"}});
  const TableReader table = OpenTable();
  auto cursor = table.NewMergeCursor({.columns = {0}});
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  EXPECT_TRUE(*cursor->SeekToKey<std::string_view>("n"));
  EXPECT_EQ(table.counters().files_opened, 2u);
  EXPECT_EQ(cursor->Next(1)->column<std::string_view>(0).values[0], "n");
  EXPECT_EQ(table.counters().files_opened, 2u);
  EXPECT_EQ(cursor->Next(1)->column<std::string_view>(0).values[0], "s");
  EXPECT_EQ(table.counters().files_opened, 3u);
}

// Strings that are too long for one batch.
TEST_F(MergeCursors, LongStrings) {
  const Schema schema{.columns = {{.name = "key", .type = ColumnType::Int32()},
                                  {.name = "text", .type = ColumnType::String()}}};
  const std::vector<WriterOptions> options = {{.value_index = true},
                                              {.block_size_bytes = size_t{8} << 20}};
  for (int32_t part = 0; part < 2; ++part) {
    auto writer = CreateOrAppend(path_, schema, options);
    for (int32_t i = 0; i < 300; ++i) {
      const int32_t key = 2 * i + part;
      const std::string text = absl::StrCat(std::string(20'000, 'x'), key);
      const std::string_view view = text;
      ASSERT_TRUE(writer->Append<int32_t>(0, {&key, 1}).ok());
      ASSERT_TRUE(writer->Append<std::string_view>(1, {&view, 1}).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
  }
  auto cursor = OpenTable().NewMergeCursor({.columns = {0, 1}});
  for (const bool forward : {true, false}) {
    int32_t key = forward ? 0 : 600;
    while (true) {
      const auto batch = forward ? cursor->Next(1000) : cursor->Previous(1000);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      const auto count = static_cast<int32_t>(batch->num_rows());
      if (!forward) key -= count;
      for (size_t i = 0; i < batch->num_rows(); ++i) {
        const auto expected = key + static_cast<int32_t>(i);
        ASSERT_EQ(batch->column<int32_t>(0).values[i], expected);
        ASSERT_TRUE(
            batch->column<std::string_view>(1).values[i].ends_with(absl::StrCat("x", expected)));
      }
      if (forward) key += count;
    }
    EXPECT_EQ(key, forward ? 600 : 0);
  }
}

}  // namespace cfile::merge_cursor_test
