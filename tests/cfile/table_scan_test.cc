#include "cfile/table_scan.h"

#include <cmath>
#include <compare>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::table_scan_test {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing_support::RandomValue;
using Value = Literal::Variant;
using Row = std::vector<std::optional<Value>>;

enum class Truth { kFalse, kUnknown, kTrue };

template <typename T>
Value ToValue(const T& value) {
  if constexpr (kIsBytes<T>) {
    return std::string(value);
  } else if constexpr (kIsFloat<T>) {
    return static_cast<double>(value);
  } else if constexpr (kIsInteger<T>) {
    return static_cast<int128_t>(value);
  } else {
    return value;
  }
}

bool Same(const Value& a, const Value& b) {
  if (std::holds_alternative<double>(a) && std::isnan(std::get<double>(a)))
    return std::isnan(std::get<double>(b));
  return a == b;
}

// A plain, slow evaluation of filters.
class Model {
 public:
  Model(const Schema& schema, const std::vector<Row>& rows) : schema_(schema), rows_(rows) {}

  // The ordinals of the rows that match.
  std::vector<uint64_t> Scan(const TableScanOptions& options) const {
    std::vector<uint64_t> found;
    const uint64_t end = std::min<uint64_t>(options.range.end, rows_.size());
    for (uint64_t i = std::min(options.range.begin, end); i < end; ++i) {
      if (Evaluate(options.where, rows_[i]) == Truth::kTrue) found.push_back(i);
    }
    if (found.size() > options.limit) {
      if (options.reverse) {
        found.erase(found.begin(), found.end() - static_cast<ptrdiff_t>(options.limit));
      } else {
        found.resize(options.limit);
      }
    }
    return found;
  }

 private:
  Truth Evaluate(const Filter& filter, const Row& row) const {
    switch (filter.kind()) {
      case Filter::Kind::kColumn:
        return Test(filter, row);
      case Filter::Kind::kNot:
        return static_cast<Truth>(2 - static_cast<int>(Evaluate(filter.operands()[0], row)));
      case Filter::Kind::kAnd: {
        Truth all = Truth::kTrue;
        for (const Filter& one : filter.operands()) all = std::min(all, Evaluate(one, row));
        return all;
      }
      case Filter::Kind::kOr: {
        Truth any = Truth::kFalse;
        for (const Filter& one : filter.operands()) any = std::max(any, Evaluate(one, row));
        return any;
      }
    }
    return Truth::kUnknown;
  }

  Truth Test(const Filter& filter, const Row& row) const {
    const size_t column = *schema_.Find(filter.column());
    const auto& cell = row[column];
    const auto truth = [](bool value) { return value ? Truth::kTrue : Truth::kFalse; };
    if (filter.test() == PredicateKind::kIsNull) return truth(!cell);
    if (filter.test() == PredicateKind::kIsNotNull) return truth(cell.has_value());
    if (!cell) return Truth::kUnknown;
    std::vector<std::partial_ordering> order;
    for (const Literal& literal : filter.literals())
      order.push_back(Compare(*cell, literal, schema_.columns[column].type));
    switch (filter.test()) {
      case PredicateKind::kEqual:
        return truth(order[0] == 0);
      case PredicateKind::kNotEqual:
        return truth(order[0] != 0);
      case PredicateKind::kLess:
        return truth(order[0] < 0);
      case PredicateKind::kLessOrEqual:
        return truth(order[0] <= 0);
      case PredicateKind::kGreater:
        return truth(order[0] > 0);
      case PredicateKind::kGreaterOrEqual:
        return truth(order[0] >= 0);
      case PredicateKind::kBetween:
        return truth(order[0] >= 0 && order[1] <= 0);
      case PredicateKind::kIn: {
        bool any = false;
        for (const auto& one : order) any |= one == 0;
        return truth(any);
      }
      case PredicateKind::kHasPrefix:
        return truth(std::get<std::string>(*cell).starts_with(
            std::get<std::string>(filter.literals()[0].value())));
      default:
        return Truth::kUnknown;
    }
  }

  static std::partial_ordering Compare(const Value& value, const Literal& literal,
                                       const ColumnType& type) {
    const Value& other = literal.value();
    if (const auto* number = std::get_if<double>(&value)) {
      double right = std::holds_alternative<double>(other)
                         ? std::get<double>(other)
                         : static_cast<double>(std::get<int128_t>(other));
      if (type.physical() == PhysicalType::kFloat) right = static_cast<float>(right);
      return *number <=> right;
    }
    if (const auto* integer = std::get_if<int128_t>(&value)) {
      if (const auto* right = std::get_if<double>(&other)) {
        // The doubles of these tests are small, or larger than all integers.
        if (std::isnan(*right)) return std::partial_ordering::unordered;
        if (*right > 1e38) return std::partial_ordering::less;
        if (*right < -1e38) return std::partial_ordering::greater;
        const auto whole = static_cast<int128_t>(std::floor(*right));
        if (*integer == whole && std::floor(*right) != *right) return std::partial_ordering::less;
        return *integer <=> whole;
      }
      return *integer <=> std::get<int128_t>(other);
    }
    if (const auto* text = std::get_if<std::string>(&value))
      return text->compare(std::get<std::string>(other)) <=> 0;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag <=> std::get<bool>(other);
    return std::get<Int96>(value) == std::get<Int96>(other) ? std::partial_ordering::equivalent
                                                            : std::partial_ordering::unordered;
  }

  const Schema& schema_;
  const std::vector<Row>& rows_;
};

class TableScanTest : public testing::Test {
 protected:
  // Writes a part of random rows, and appends them to rows_. Column 0 is sorted and has a value
  // index.
  void WriteRandomPart(size_t num_rows, const std::vector<WriterOptions>& options,
                       std::mt19937_64& random) {
    auto writer = CreateOrAppend(path_, schema_, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const size_t begin = rows_.size();
    rows_.resize(begin + num_rows, Row(schema_.columns.size()));
    for (size_t column = 0; column < schema_.columns.size(); ++column) {
      const ColumnSchema& schema = schema_.columns[column];
      VisitType(schema.type, [&]<typename T>(std::type_identity<T>) {
        const bool sorted = options[column].value_index;
        // Runs of few values, of many values, and of nulls.
        testing_support::Column<T> values;
        std::vector<Owned<T>> few;
        for (int i = 0; i < 4; ++i) few.push_back(RandomValue<T>(schema.type, 0, random));
        while (values.rows.size() < num_rows) {
          const size_t run = std::min<size_t>(num_rows - values.rows.size(), 1 + random() % 700);
          const int kind = static_cast<int>(random() % 4);
          for (size_t i = 0; i < run; ++i) {
            if (schema.nullable && (kind == 0 || random() % 10 == 0)) {
              values.rows.emplace_back();
            } else if (kind == 1) {
              values.rows.emplace_back(RandomValue<T>(schema.type, 1, random));
              if constexpr (kIsFloat<T>) {
                if (!sorted && random() % 9 == 0) values.rows.back() = std::nan("");
              }
            } else {
              values.rows.emplace_back(few[random() % 4]);
            }
          }
        }
        if constexpr (!std::is_same_v<T, Int96>) {
          if (sorted) {
            std::sort(values.rows.begin(), values.rows.end(), [](const auto& a, const auto& b) {
              return encodings::KeyLess<T>(T(*a), T(*b));
            });
          }
        }
        for (size_t i = 0; i < num_rows; ++i) {
          if (values.rows[i]) rows_[begin + i][column] = ToValue<T>(T(*values.rows[i]));
        }
        const std::vector<T> present = values.Values();
        const std::vector<uint8_t> validity = values.Validity();
        const auto array = std::make_unique<T[]>(num_rows);
        for (size_t i = 0; i < num_rows; ++i) array[i] = present[i];
        const std::span<const T> span(array.get(), num_rows);
        const absl::Status status = schema.nullable ? writer->Append<T>(column, span, validity)
                                                    : writer->Append<T>(column, span);
        ASSERT_TRUE(status.ok()) << status;
      });
    }
    const absl::Status status = writer->Finish();
    ASSERT_TRUE(status.ok()) << status;
  }

  // A random constant for a column: a value of the column, or one that fits its type.
  Literal RandomLiteral(size_t column, std::mt19937_64& random) const {
    const ColumnType& type = schema_.columns[column].type;
    const bool decimal = type.ToString().starts_with("decimal");
    const bool integer =
        VisitType(type, []<typename T>(std::type_identity<T>) { return kIsInteger<T>; });
    const bool number =
        integer || VisitType(type, []<typename T>(std::type_identity<T>) { return kIsFloat<T>; });
    if (number && random() % 6 == 0) {
      const double doubles[] = {-1e39, 1e39, 0.5, -0.5, 1.5, 2, 1e9, std::nan("")};
      if (!decimal && random() % 2 == 0) return doubles[random() % std::size(doubles)];
      const int128_t integers[] = {
          -1, 0, 1, 3, 300, -70'000, int128_t{1} << 40, int128_t{1} << 100};
      return integers[random() % std::size(integers)];
    }
    for (int i = 0; i < 20; ++i) {
      const auto& cell = rows_.empty() ? std::nullopt : rows_[random() % rows_.size()][column];
      if (!cell) continue;
      return std::visit([](const auto& value) { return Literal(value); }, *cell);
    }
    return VisitType(type, [&]<typename T>(std::type_identity<T>) {
      return std::visit([](const auto& value) { return Literal(value); },
                        ToValue<T>(T(RandomValue<T>(type, 1, random))));
    });
  }

  Filter RandomFilter(int depth, std::mt19937_64& random) const {
    if (depth > 0 && random() % 3 != 0) {
      std::vector<Filter> operands;
      const size_t count = random() % 4;
      for (size_t i = 0; i < count; ++i) operands.push_back(RandomFilter(depth - 1, random));
      switch (random() % 3) {
        case 0:
          return {Filter::Kind::kAnd, std::move(operands)};
        case 1:
          return {Filter::Kind::kOr, std::move(operands)};
        default:
          return Not(RandomFilter(depth - 1, random));
      }
    }
    const size_t column = random() % schema_.columns.size();
    const ColumnSchema& schema = schema_.columns[column];
    const auto kind = static_cast<PredicateKind>(random() % 11);
    const auto literal = [&] { return RandomLiteral(column, random); };
    const bool int96 = schema.type.physical() == PhysicalType::kInt96;
    if (int96 && kind != PredicateKind::kIsNull) return Eq(schema.name, literal());
    switch (kind) {
      case PredicateKind::kIsNull:
        return IsNull(schema.name);
      case PredicateKind::kIsNotNull:
        return IsNotNull(schema.name);
      case PredicateKind::kBetween:
        return Between(schema.name, literal(), literal());
      case PredicateKind::kIn: {
        std::vector<Literal> literals;
        for (size_t i = random() % 12; i > 0; --i) literals.push_back(literal());
        return In(schema.name, std::move(literals));
      }
      case PredicateKind::kHasPrefix: {
        if (schema.type.physical() != PhysicalType::kBytes) return Ne(schema.name, literal());
        const Literal whole = literal();
        return HasPrefix(schema.name, std::get<std::string>(whole.value()).substr(0, random() % 3));
      }
      default:
        return Filter(schema.name, kind, {literal()});
    }
  }

  // Compares a scan with the model.
  void ExpectScan(const TableReader& table, const TableScanOptions& options,
                  std::vector<size_t> columns) {
    std::vector<uint64_t> expected = Model(schema_, rows_).Scan(options);
    auto scan = table.NewScan(options);
    ASSERT_TRUE(scan.ok()) << scan.status();
    EXPECT_EQ(scan->columns(), columns);
    size_t found = 0;
    for (const auto& batch : scan->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_LE(found + batch->num_rows(), expected.size());
      const size_t begin = options.reverse ? expected.size() - found - batch->num_rows() : found;
      for (size_t row = 0; row < batch->num_rows(); ++row)
        ASSERT_EQ(batch->ordinal(row), expected[begin + row]);
      for (size_t i = 0; i < columns.size(); ++i)
        ExpectColumn(*batch, i, columns[i], expected.data() + begin);
      found += batch->num_rows();
    }
    ASSERT_EQ(found, expected.size());
    EXPECT_EQ(scan->counters().rows_returned, expected.size());
  }

  // Compares the scans of the ranges of SplitScan with the model.
  void ExpectSplit(const TableReader& table, TableScanOptions options, size_t max_ranges) {
    options.limit = UINT64_MAX;
    options.reverse = false;
    const auto ranges = table.SplitScan(options, max_ranges);
    ASSERT_TRUE(ranges.ok()) << ranges.status();
    EXPECT_LE(ranges->size(), max_ranges);
    const std::vector<uint64_t> expected = Model(schema_, rows_).Scan(options);
    std::vector<uint64_t> found;
    uint64_t end = 0;
    for (const OrdinalRange& range : *ranges) {
      EXPECT_GE(range.begin, end);
      EXPECT_LT(range.begin, range.end);
      end = range.end;
      options.range = range;
      auto scan = table.NewScan(options);
      ASSERT_TRUE(scan.ok()) << scan.status();
      for (const auto& batch : scan->Batches()) {
        ASSERT_TRUE(batch.ok()) << batch.status();
        for (size_t row = 0; row < batch->num_rows(); ++row) found.push_back(batch->ordinal(row));
      }
    }
    EXPECT_EQ(found, expected);
  }

  void ExpectColumn(const TableBatch& batch, size_t i, size_t column, const uint64_t* ordinals) {
    VisitType(schema_.columns[column].type, [&]<typename T>(std::type_identity<T>) {
      const Batch<T>& values = batch.column<T>(i);
      ASSERT_EQ(values.size(), batch.num_rows());
      uint64_t nulls = 0;
      for (size_t row = 0; row < batch.num_rows(); ++row) {
        const auto& cell = rows_[ordinals[row]][column];
        ASSERT_EQ(values.IsValid(row), cell.has_value()) << "row " << ordinals[row];
        nulls += !cell;
        if (!cell) continue;
        ASSERT_TRUE(Same(ToValue<T>(values.values[row]), *cell)) << ordinals[row];
      }
      EXPECT_EQ(values.null_count, nulls);
    });
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
  Schema schema_;
  std::vector<Row> rows_;
};

TEST_F(TableScanTest, RandomTablesAndFilters) {
  std::mt19937_64 random(20261122);
  for (uint64_t round = 0; round < campaign::Amount(6, 12); ++round) {
    std::filesystem::remove_all(path_);
    rows_.clear();
    schema_ = {};
    std::vector<WriterOptions> options;
    for (const ColumnType& type : testing_support::AllColumnTypes()) {
      if (random() % 3 == 0) continue;
      const bool sorted = random() % 4 == 0 && type.physical() != PhysicalType::kInt96;
      schema_.columns.push_back({.name = absl::StrCat("c", schema_.columns.size()),
                                 .type = type,
                                 .nullable = !sorted && random() % 2 == 0});
      const bool statistics = random() % 3 != 0;
      options.push_back(
          {.compression = Compression::kNone,
           .value_index = sorted,
           .block_size_bytes = size_t{256} << random() % 6,
           .statistics = statistics,
           .bloom_filter_bits_per_value = statistics && random() % 4 == 0 ? 10u : 0u});
      // FOR compares packed numbers, also those of blocks with nulls.
      const bool packed = VisitType(type, []<typename T>(std::type_identity<T>) {
        return kIsInteger<T> && sizeof(T) <= sizeof(int64_t);
      });
      if (packed && random() % 2 == 0) options.back().encoding = Encoding::kFor;
      // FSST compares compressed strings.
      if (type.physical() == PhysicalType::kBytes && random() % 2 == 0)
        options.back().encoding = Encoding::kFsst;
    }
    for (int part = 0; part < 3; ++part) WriteRandomPart(random() % 9000, options, random);
    const auto table = TableReader::Open(path_);
    ASSERT_TRUE(table.ok()) << table.status();
    for (int i = 0; i < 60; ++i) {
      TableScanOptions scan;
      std::vector<size_t> columns;
      if (random() % 8 == 0) {
        for (size_t column = 0; column < schema_.columns.size(); ++column)
          columns.push_back(column);
      } else {
        scan.columns.emplace();
        for (size_t k = random() % 4; k > 0; --k) {
          columns.push_back(random() % schema_.columns.size());
          scan.columns->push_back(schema_.columns[columns.back()].name);
        }
      }
      if (random() % 10 != 0) scan.where = RandomFilter(3, random);
      if (random() % 3 == 0) {
        scan.range.begin = random() % (rows_.size() + 10);
        scan.range.end = scan.range.begin + random() % (rows_.size() + 10);
      }
      if (random() % 4 == 0) scan.limit = random() % 2000;
      scan.reverse = random() % 3 == 0;
      SCOPED_TRACE(absl::StrCat("round ", round, " scan ", i));
      ExpectScan(*table, scan, columns);
      if (random() % 4 == 0) ExpectSplit(*table, scan, 1 + random() % 9);
      if (HasFatalFailure()) return;
    }
  }
}

// A record of the nested table: id, an optional group with two optional leaf columns, and a list.
struct Record {
  std::optional<std::pair<std::optional<int32_t>, std::optional<std::string>>> group;
  std::vector<int32_t> list;
};

class NestedScanTest : public testing::Test {
 protected:
  void Write(size_t num_records, std::mt19937_64& random) {
    const auto tree = RecordSchema::Parse(
        "message r { required int64 id; optional group g { optional int32 x; optional string s } "
        "repeated int32 list }");
    ASSERT_TRUE(tree.ok()) << tree.status();
    const Schema schema = Schema::OfRecords(*tree);
    const std::vector<WriterOptions> options(4, {.block_size_bytes = 700});
    auto writer = CreateOrAppend(path_, schema, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    std::vector<int64_t> ids;
    std::vector<uint16_t> x_levels, s_levels, repetition, definition;
    std::vector<int32_t> xs, elements;
    std::vector<std::string> texts;
    for (size_t i = 0; i < num_records; ++i) {
      Record& record = records_.emplace_back();
      ids.push_back(static_cast<int64_t>(records_.size() - 1));
      if (random() % 4 != 0) {
        record.group.emplace();
        if (random() % 4 != 0) record.group->first = static_cast<int32_t>(random() % 50);
        if (random() % 4 != 0) record.group->second = absl::StrCat("text", random() % 20);
      }
      for (size_t n = random() % 4; n > 0; --n)
        record.list.push_back(static_cast<int32_t>(random() % 100));
      x_levels.push_back(!record.group ? 0 : record.group->first ? 2 : 1);
      s_levels.push_back(!record.group ? 0 : record.group->second ? 2 : 1);
      if (x_levels.back() == 2) xs.push_back(*record.group->first);
      if (s_levels.back() == 2) texts.push_back(*record.group->second);
      if (record.list.empty()) {
        repetition.push_back(0);
        definition.push_back(0);
      }
      for (size_t k = 0; k < record.list.size(); ++k) {
        repetition.push_back(k > 0);
        definition.push_back(1);
        elements.push_back(record.list[k]);
      }
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    ASSERT_EQ(writer->Append<int64_t>(0, ids), absl::OkStatus());
    ASSERT_EQ(writer->AppendLevels<int32_t>(1, {}, x_levels, xs), absl::OkStatus());
    ASSERT_EQ(writer->AppendLevels<std::string_view>(2, {}, s_levels, views), absl::OkStatus());
    ASSERT_EQ(writer->AppendLevels<int32_t>(3, repetition, definition, elements), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }

  void Expect(const Filter& filter, bool reverse,
              const std::function<bool(const Record&)>& matches) {
    const auto table = TableReader::Open(path_);
    ASSERT_TRUE(table.ok()) << table.status();
    std::vector<uint64_t> expected;
    for (size_t i = 0; i < records_.size(); ++i) {
      if (matches(records_[i])) expected.push_back(i);
    }
    auto scan =
        table->NewScan({.columns = {{"list", "id", "g"}}, .where = filter, .reverse = reverse});
    ASSERT_TRUE(scan.ok()) << scan.status();
    ASSERT_THAT(scan->columns(), ElementsAre(3, 0, 1, 2));
    size_t found = 0;
    for (const auto& batch : scan->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_LE(found + batch->num_rows(), expected.size());
      const size_t begin = reverse ? expected.size() - found - batch->num_rows() : found;
      std::vector<uint16_t> repetition, x_levels, s_levels;
      std::vector<int32_t> elements, xs;
      std::vector<std::string_view> texts;
      for (size_t row = 0; row < batch->num_rows(); ++row) {
        const uint64_t ordinal = expected[begin + row];
        ASSERT_EQ(batch->ordinal(row), ordinal);
        ASSERT_EQ(batch->column<int64_t>(1).values[row], static_cast<int64_t>(ordinal));
        const Record& record = records_[ordinal];
        for (size_t k = 0; k < std::max<size_t>(record.list.size(), 1); ++k)
          repetition.push_back(k > 0);
        elements.insert(elements.end(), record.list.begin(), record.list.end());
        x_levels.push_back(!record.group ? 0 : record.group->first ? 2 : 1);
        s_levels.push_back(!record.group ? 0 : record.group->second ? 2 : 1);
        if (x_levels.back() == 2) xs.push_back(*record.group->first);
        if (s_levels.back() == 2) texts.push_back(*record.group->second);
      }
      const LevelBatch<int32_t>& list = batch->levels<int32_t>(0);
      EXPECT_EQ(list.num_records, batch->num_rows());
      EXPECT_EQ(list.num_entries, repetition.size());
      EXPECT_THAT(list.repetition, ElementsAreArray(repetition));
      EXPECT_THAT(list.values, ElementsAreArray(elements));
      EXPECT_THAT(batch->levels<int32_t>(2).definition, ElementsAreArray(x_levels));
      EXPECT_THAT(batch->levels<int32_t>(2).values, ElementsAreArray(xs));
      EXPECT_THAT(batch->levels<std::string_view>(3).definition, ElementsAreArray(s_levels));
      EXPECT_THAT(batch->levels<std::string_view>(3).values, ElementsAreArray(texts));
      found += batch->num_rows();
    }
    EXPECT_EQ(found, expected.size());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
  std::vector<Record> records_;
};

TEST_F(NestedScanTest, RecordsAndFiltersOfFlatLeaves) {
  std::mt19937_64 random(19);
  for (const size_t num_records : {3000, 1, 0, 9000}) Write(num_records, random);
  for (const bool reverse : {false, true}) {
    Expect({}, reverse, [](const Record&) { return true; });
    Expect(Eq("g.x", 7), reverse, [](const Record& r) { return r.group && r.group->first == 7; });
    Expect(Not(Eq("g.x", 7)), reverse,
           [](const Record& r) { return r.group && r.group->first && *r.group->first != 7; });
    Expect(And(Lt("g.x", 3), HasPrefix("g.s", "text1")), reverse, [](const Record& r) {
      return r.group && r.group->first && *r.group->first < 3 && r.group->second &&
             r.group->second->starts_with("text1");
    });
    Expect(Or(IsNull("g.x"), Eq("g.s", "text3")), reverse, [](const Record& r) {
      return !r.group || !r.group->first || r.group->second == "text3";
    });
    Expect(And(Ge("id", 100), Lt("id", 7000)), reverse, [&](const Record& r) {
      const auto id = &r - records_.data();
      return id >= 100 && id < 7000;
    });
  }
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(std::string(table->NewScan({.where = Eq("list", 3)}).status().message()),
              HasSubstr("column list has any number of values in a row"));
}

TEST_F(TableScanTest, FiltersThatDoNotFit) {
  schema_ = {.columns = {{.name = "i", .type = ColumnType::Int32()},
                         {.name = "s", .type = ColumnType::String()},
                         {.name = "b", .type = ColumnType::Bool()},
                         {.name = "d", .type = ColumnType::Decimal(9, 2)},
                         {.name = "t", .type = ColumnType::Int96()},
                         {.name = "u", .type = ColumnType::Uuid()}}};
  std::mt19937_64 random(1);
  WriteRandomPart(10, std::vector<WriterOptions>(6), random);
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto error = [&](Filter filter) {
    const absl::Status status = table->NewScan({.where = std::move(filter)}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(error(Eq("x", 1)), HasSubstr("there is no column x"));
  EXPECT_THAT(error(Or(Eq("i", 1), Not(Eq("i", "1")))),
              HasSubstr("column i has type int32, which cannot be compared with a string"));
  EXPECT_THAT(error(Eq("i", true)), HasSubstr("cannot be compared with a bool"));
  EXPECT_THAT(error(Eq("s", 1)), HasSubstr("cannot be compared with an integer"));
  EXPECT_THAT(error(Eq("b", 1)), HasSubstr("cannot be compared with an integer"));
  EXPECT_THAT(error(Eq("d", 1.5)), HasSubstr("cannot be compared with a floating-point number"));
  EXPECT_THAT(error(Lt("t", Int96())), HasSubstr("values of type int96 have no order"));
  EXPECT_THAT(error(HasPrefix("u", "a")), HasSubstr("have no prefix"));
  EXPECT_THAT(error(Filter("i", PredicateKind::kBetween, {1})),
              HasSubstr("has 2 constants, found 1"));
  Filter deep = Eq("i", 1);
  for (int i = 0; i < 300; ++i) deep = Not(std::move(deep));
  EXPECT_THAT(error(deep), HasSubstr("nested more than 200 deep"));
  EXPECT_THAT(std::string(table->NewScan({.columns = {{"i", "y"}}}).status().message()),
              HasSubstr("there is no column y"));
}

TEST_F(TableScanTest, CountersSayWhatWasSkipped) {
  // Part p holds the rows 1000 p to 1000 p + 999. id has a value index, v only statistics.
  const Schema schema{.columns = {{.name = "id", .type = ColumnType::Int64()},
                                  {.name = "v", .type = ColumnType::Int64()},
                                  {.name = "w", .type = ColumnType::Int64()}}};
  const std::vector<WriterOptions> options = {
      {.encoding = Encoding::kPlain, .value_index = true, .block_size_bytes = 800},
      {.encoding = Encoding::kPlain, .block_size_bytes = 800},
      {.encoding = Encoding::kPlain, .block_size_bytes = 800, .bloom_filter_bits_per_value = 16}};
  for (int64_t part = 0; part < 3; ++part) {
    auto writer =
        part == 0 ? TableWriter::Create(path_, schema, options) : TableWriter::Open(path_, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    std::vector<int64_t> ids, mixed;
    for (int64_t i = 0; i < 1000; ++i) {
      ids.push_back(part * 1000 + i);
      mixed.push_back((i * 37) % 1000 * 10);
    }
    ASSERT_EQ(writer->Append<int64_t>(0, ids), absl::OkStatus());
    ASSERT_EQ(writer->Append<int64_t>(1, ids), absl::OkStatus());
    ASSERT_EQ(writer->Append<int64_t>(2, mixed), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto run = [&](const Filter& filter, std::vector<std::string> columns) {
    auto scan = table->NewScan({.columns = std::move(columns), .where = filter});
    EXPECT_TRUE(scan.ok()) << scan.status();
    for (const auto& batch : scan->Batches()) EXPECT_TRUE(batch.ok()) << batch.status();
    return scan->counters();
  };
  // The bounds exclude parts 0 and 2. The value index finds the rows, so no block of id is read.
  TableScanCounters counters = run(Between("id", 1500, 1509), {"v"});
  EXPECT_EQ(counters.parts_skipped, 2u);
  EXPECT_EQ(counters.rows_returned, 10u);
  ASSERT_EQ(counters.conditions.size(), 1u);
  EXPECT_EQ(counters.conditions[0].column, "id");
  EXPECT_EQ(counters.conditions[0].rows_excluded_by_bounds, 2000u);
  EXPECT_EQ(counters.conditions[0].rows_excluded_by_value_index, 990u);
  EXPECT_EQ(counters.conditions[0].blocks_read, 0u);
  EXPECT_THAT(counters.blocks_read, ElementsAre(1));
  // Column v has no value index. The bounds of its statistics exclude parts 0 and 2.
  // In part 1, the statistics exclude all blocks except one.
  counters = run(Between("v", 1500, 1509), {});
  EXPECT_EQ(counters.parts_skipped, 2u);
  EXPECT_EQ(counters.conditions[0].rows_excluded_by_bounds, 2000u);
  const uint64_t in_block = counters.conditions[0].rows_compared;
  EXPECT_GE(in_block, 10u);
  EXPECT_LE(in_block, 100u);
  EXPECT_EQ(counters.conditions[0].rows_excluded_by_statistics, 1000 - in_block);
  EXPECT_EQ(counters.conditions[0].blocks_read, 1u);
  EXPECT_EQ(counters.rows_returned, 10u);
  // The Bloom filter knows that there is no odd value.
  counters = run(Eq("w", 4321), {"v"});
  EXPECT_EQ(counters.conditions[0].rows_excluded_by_bloom_filter, 3000u);
  EXPECT_EQ(counters.rows_returned, 0u);
  // The second condition reads only the block in which the first condition found rows.
  counters = run(And(Gt("w", 5000), Between("v", 1500, 1509)), {"w"});
  ASSERT_EQ(counters.conditions.size(), 2u);
  EXPECT_EQ(counters.conditions[0].blocks_read, 1u);
  EXPECT_EQ(counters.conditions[1].rows_excluded_by_bounds, 2000u);
  EXPECT_EQ(counters.conditions[1].rows_excluded_by_statistics, 1000 - in_block);
}

// Few keys in a large part are searched in the value index, so that no key is compared.
TEST_F(TableScanTest, ListsOfKeysAreSearched) {
  constexpr int64_t kRows = 10'000;
  const Schema schema{.columns = {{.name = "id", .type = ColumnType::Int64()},
                                  {.name = "v", .type = ColumnType::Int64()}}};
  const std::vector<WriterOptions> options = {
      {.value_index = true, .block_size_bytes = 800},
      {.encoding = Encoding::kPlain, .block_size_bytes = 800}};
  auto writer = TableWriter::Create(path_, schema, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<int64_t> ids, numbers;
  for (int64_t i = 0; i < kRows; ++i) {
    ids.push_back(i / 3 * 2);  // even numbers, each three times
    numbers.push_back(i);
  }
  ASSERT_EQ(writer->Append<int64_t>(0, ids), absl::OkStatus());
  ASSERT_EQ(writer->Append<int64_t>(1, numbers), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const bool reverse : {false, true}) {
    const Filter where = In("id", {4, 7, 6000, INT64_MAX});
    auto scan = table->NewScan({.columns = {{"v"}}, .where = where, .reverse = reverse});
    ASSERT_TRUE(scan.ok()) << scan.status();
    std::vector<uint64_t> found;
    for (const auto& batch : scan->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      for (size_t i = 0; i < batch->num_rows(); ++i) found.push_back(batch->ordinal(i));
    }
    std::sort(found.begin(), found.end());
    EXPECT_THAT(found, ElementsAre(6, 7, 8, 9000, 9001, 9002));
    EXPECT_EQ(scan->counters().conditions[0].rows_excluded_by_value_index, kRows - 6);
    EXPECT_EQ(scan->counters().conditions[0].rows_compared, 0);
    EXPECT_EQ(scan->counters().conditions[0].blocks_read, 0);
    EXPECT_THAT(scan->counters().blocks_read, ElementsAre(2));
  }
}

// A search for a key that the scan does not need may fail.
TEST_F(TableScanTest, DamagedBlocksOfOtherKeys) {
  constexpr int64_t kRows = 200'000;
  const std::vector<WriterOptions> options = {{.encoding = Encoding::kPlain,
                                               .compression = Compression::kNone,
                                               .value_index = true,
                                               .block_size_bytes = 800,
                                               .max_packed_part_bytes = 0}};
  auto writer = TableWriter::Create(
      path_, {.columns = {{.name = "id", .type = ColumnType::Int64()}}}, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<int64_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  ASSERT_EQ(writer->Append<int64_t>(0, ids), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const std::string path = absl::StrCat(path_, "/", FileOf(*TableReader::Open(path_), 0, 0));
  std::string bytes = ReadFile(path);
  for (size_t i = bytes.size() / 2; i < bytes.size() * 11 / 20; ++i) bytes[i] ^= 1;
  WriteFile(path, bytes);
  std::vector<Literal> few;
  for (int64_t id = 17; id < kRows; id += kRows / 30) few.push_back(id);
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  const auto count = [&](uint64_t end) -> absl::StatusOr<size_t> {
    auto scan = table->NewScan({.where = In("id", few), .range = {0, end}});
    if (!scan.ok()) return scan.status();
    size_t rows = 0;
    for (const auto& batch : scan->Batches()) {
      if (!batch.ok()) return batch.status();
      rows += batch->num_rows();
    }
    return rows;
  };
  const auto some = count(kRows * 2 / 5);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(*some, 12);
  EXPECT_EQ(count(kRows).status().code(), absl::StatusCode::kDataLoss);
}

// A chunk is a file that describes many parts. If the bounds of a chunk exclude a condition,
// the scan reads none of the parts of this chunk.
TEST_F(TableScanTest, CountersOfManyParts) {
  constexpr uint64_t kParts = 300;
  const std::shared_ptr<Storage> storage = NewMemoryStorage();
  const Schema schema{.columns = {{.name = "id", .type = ColumnType::Int64()}}};
  for (uint64_t part = 0; part < kParts; ++part) {
    auto writer = part == 0 ? TableWriter::Create(storage, schema) : TableWriter::Open(storage, {});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const auto first = static_cast<int64_t>(2 * part);
    ASSERT_EQ(writer->Append<int64_t>(0, {{first, first + 1}}), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }
  const auto table = TableReader::Open(storage);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const bool reverse : {false, true}) {
    for (const OrdinalRange range :
         {kAllRows, OrdinalRange{3, 597}, OrdinalRange{131, 132}, OrdinalRange{300, 450}}) {
      SCOPED_TRACE(absl::StrCat(reverse, " ", range.begin));
      const uint64_t end = std::min(range.end, 2 * kParts);
      for (const int64_t id : {-1, 3, 131, 300, 449, 596, 600}) {
        auto scan = table->NewScan({.where = Eq("id", id), .range = range, .reverse = reverse});
        ASSERT_TRUE(scan.ok()) << scan.status();
        for (const auto& batch : scan->Batches()) EXPECT_TRUE(batch.ok()) << batch.status();
        const TableScanCounters& counters = scan->counters();
        // Only the part with this id is read.
        const uint64_t row = static_cast<uint64_t>(id);
        const auto in_part = [&](uint64_t r) { return r >= range.begin && r < end && id >= 0; };
        const uint64_t read = in_part(row / 2 * 2) + in_part(row / 2 * 2 + 1);
        EXPECT_EQ(counters.conditions[0].rows_excluded_by_bounds, end - range.begin - read) << id;
        EXPECT_EQ(counters.parts_skipped, (end + 1) / 2 - range.begin / 2 - (read > 0)) << id;
        EXPECT_EQ(counters.rows_returned, in_part(row)) << id;
      }
    }
  }
}

TEST_F(TableScanTest, Cancelled) {
  schema_ = {.columns = {{.name = "i", .type = ColumnType::Int32()}}};
  std::mt19937_64 random(1);
  for (int part = 0; part < 2; ++part)
    WriteRandomPart(20'000, std::vector<WriterOptions>(1), random);
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  std::atomic<bool> cancelled = false;
  auto scan = table->NewScan({.where = Ne("i", 1), .cancelled = &cancelled});
  ASSERT_TRUE(scan.ok()) << scan.status();
  ASSERT_TRUE(scan->Next().ok());
  cancelled = true;
  EXPECT_EQ(scan->Next().status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(scan->Next().status().message()), HasSubstr("the scan was cancelled"));
  cancelled = false;
  EXPECT_FALSE(scan->Next()->empty());
}

// A text in the last key column is the rest of the key, and keys of longer texts begin with it.
TEST_F(TableScanTest, TextsThatBeginLikeOthers) {
  const std::vector<std::string_view> names{"", "a", "ab", "abc", "b"};
  for (const bool nullable : {false, true}) {
    for (const bool one_column : {false, true}) {
      Schema schema{
          .columns = {{.name = "name", .type = ColumnType::String(), .nullable = nullable}},
          .key_columns = {0}};
      if (!one_column) {
        schema.columns.insert(schema.columns.begin(), {.name = "service"});
        schema.columns[0].type = ColumnType::Int32();
        schema.key_columns = {0, 1};
      }
      const std::string path = absl::StrCat(path_, nullable, one_column);
      auto writer = TableWriter::Create(path, schema);
      ASSERT_TRUE(writer.ok()) << writer.status();
      const std::vector<int32_t> services(names.size(), 1);
      if (!one_column) {
        ASSERT_EQ(writer->Append<int32_t>(0, services), absl::OkStatus());
      }
      ASSERT_EQ(writer->Append<std::string_view>(one_column ? 0 : 1, names), absl::OkStatus());
      ASSERT_EQ(writer->Finish(), absl::OkStatus());
      for (const std::string_view name : names) {
        const Filter equal =
            one_column ? Eq("name", name) : And(Eq("service", 1), Eq("name", name));
        auto scan = TableReader::Open(path)->NewScan({.where = equal});
        ASSERT_TRUE(scan.ok()) << scan.status();
        const auto batch = scan->Next();
        ASSERT_TRUE(batch.ok()) << batch.status();
        EXPECT_EQ(batch->num_rows(), 1) << name << " " << nullable << one_column;
      }
    }
  }
}

// The columns of the key are service, host and time.
// The key index finds a range of rows in each part. The scan filters these rows.
TEST_F(TableScanTest, CompoundKeysFindRows) {
  const Schema schema{.columns = {{.name = "service", .type = ColumnType::String()},
                                  {.name = "host", .type = ColumnType::Int32()},
                                  {.name = "time", .type = ColumnType::Double()}},
                      .key_columns = {0, 1, 2}};
  schema_ = schema;
  std::mt19937_64 random(5);
  for (int part = 0; part < 3; ++part) {
    struct Key {
      std::string service;
      int32_t host;
      double time;
    };
    std::vector<Key> keys(2000);
    for (Key& key : keys) {
      key.service = std::string("ab\xff").substr(0, random() % 4) + (random() % 2 == 0 ? "" : "x");
      key.host = static_cast<int32_t>(random() % 5) - 2;
      key.time = static_cast<double>(random() % 7) - 3;
      if (key.time == 0 && random() % 2 == 0) key.time = -0.0;
    }
    std::vector<std::pair<std::string, Key>> sorted;
    for (const Key& key : keys) {
      CompoundKey bytes(schema.key_types());
      bytes.Add<std::string_view>(key.service).Add<int32_t>(key.host).Add<double>(key.time);
      sorted.emplace_back(bytes.bytes(), key);
    }
    std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::vector<std::string_view> services, bytes;
    std::vector<int32_t> hosts;
    std::vector<double> times;
    for (const auto& [key_bytes, key] : sorted) {
      services.push_back(key.service);
      hosts.push_back(key.host);
      times.push_back(key.time);
      bytes.push_back(key_bytes);
      rows_.push_back({std::string(key.service), int128_t{key.host}, key.time});
    }
    auto writer = part == 0 ? TableWriter::Create(path_, schema) : TableWriter::Open(path_);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ(writer->Append<std::string_view>(0, services), absl::OkStatus());
    ASSERT_EQ(writer->Append<int32_t>(1, hosts), absl::OkStatus());
    ASSERT_EQ(writer->Append<double>(2, times), absl::OkStatus());
    // Finish makes the keys of part 1.
    if (part != 1) {
      ASSERT_EQ(writer->Append<std::string_view>(3, bytes), absl::OkStatus());
    }
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  for (int i = 0; i < 400; ++i) {
    std::vector<Filter> conditions;
    for (size_t column = 0; column < 3; ++column) {
      const Literal literal = RandomLiteral(column, random);
      const auto kind = static_cast<PredicateKind>(random() % 6);
      const std::string& name = schema.columns[column].name;
      if (random() % 4 == 0) continue;
      if (random() % 6 == 0) {
        conditions.push_back(Not(Filter(name, kind, {literal})));
      } else if (random() % 2 == 0) {
        conditions.push_back(Eq(name, literal));
      } else if (random() % 2 == 0) {
        conditions.push_back(Between(name, literal, RandomLiteral(column, random)));
      } else {
        conditions.push_back(Filter(name, kind, {literal}));
      }
    }
    if (random() % 4 == 0) conditions.push_back(HasPrefix("service", "ab"));
    std::shuffle(conditions.begin(), conditions.end(), random);
    SCOPED_TRACE(i);
    ExpectScan(*table,
               {.columns = {{"time", "host"}}, .where = Filter(Filter::Kind::kAnd, conditions)},
               {2, 1});
    if (HasFatalFailure()) return;
  }
  auto scan = table->NewScan({.where = And(Eq("service", "ab"), Eq("host", 1))});
  ASSERT_TRUE(scan.ok()) << scan.status();
  for (const auto& batch : scan->Batches()) ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(scan->counters().conditions[0].rows_excluded_by_value_index,
            rows_.size() - scan->counters().rows_returned);
}

// The same test with nullable key columns. Only IsNull matches a null.
TEST_F(TableScanTest, CompoundKeysWithNullsFindRows) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 4; ++round) {
    const std::string path = absl::StrCat(path_, round);
    schema_ = {.columns = {{.name = "service", .type = ColumnType::String(), .nullable = true},
                           {.name = "host", .type = ColumnType::Int32(), .nullable = true},
                           {.name = "id", .type = ColumnType::FixedBytes(1), .nullable = true},
                           {.name = "time", .type = ColumnType::Double(), .nullable = true}},
               .key_columns = {0, 1, 2, 3}};
    for (const size_t column : schema_.key_columns) {
      if ((round + column) % 2 == 0) schema_.nulls_last.push_back(column);
    }
    if (round == 3) schema_.key_columns = {3, 2, 1, 0};  // the last key column is a string
    rows_.clear();
    for (int part = 0; part < 2; ++part) {
      std::vector<std::pair<std::string, Row>> sorted(1000);
      for (auto& [first, second] : sorted) {
        std::string& key = first;
        Row& row = second;
        row.resize(4);
        const auto present = [&] { return random() % 4 != 0; };
        if (present()) row[0] = std::string("ab\xff").substr(0, random() % 4);
        if (present()) row[1] = static_cast<int128_t>(random() % 5) - 2;
        if (present()) row[2] = std::string(1, "ab"[random() % 2]);
        if (present()) row[3] = static_cast<double>(random() % 7) - 3;
        if (row[3] == Value(0.0) && random() % 2 == 0) row[3] = -0.0;
        CompoundKey bytes(schema_.key_types());
        for (const size_t column : schema_.key_columns) {
          VisitType(schema_.columns[column].type, [&]<typename T>(std::type_identity<T>) {
            if constexpr (std::is_same_v<T, std::string_view>) {
              row[column] ? bytes.Add<T>(std::get<std::string>(*row[column])) : bytes.AddNull();
            } else if constexpr (std::is_same_v<T, int32_t>) {
              row[column] ? bytes.Add(static_cast<T>(std::get<int128_t>(*row[column])))
                          : bytes.AddNull();
            } else if constexpr (std::is_same_v<T, double>) {
              row[column] ? bytes.Add(std::get<double>(*row[column])) : bytes.AddNull();
            }
          });
        }
        key = bytes.bytes();
      }
      std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.first < b.first; });
      auto writer = CreateOrAppend(path, schema_);
      ASSERT_TRUE(writer.ok()) << writer.status();
      for (const auto& [key, row] : sorted) {
        rows_.push_back(row);
        for (size_t column = 0; column < 4; ++column) {
          const uint8_t valid = row[column].has_value();
          const auto append = [&]<typename T>(T value) {
            ASSERT_EQ(writer->Append<T>(column, {&value, 1}, {&valid, 1}), absl::OkStatus());
          };
          if (column % 2 == 0) {
            append(valid ? std::string_view(std::get<std::string>(*row[column])) : "");
          } else if (column == 1) {
            append(valid ? static_cast<int32_t>(std::get<int128_t>(*row[column])) : 0);
          } else {
            append(valid ? std::get<double>(*row[column]) : 0);
          }
        }
      }
      ASSERT_EQ(writer->Finish(), absl::OkStatus());
    }
    const auto table = TableReader::Open(path);
    ASSERT_TRUE(table.ok()) << table.status();
    const std::vector<size_t>& keys = schema_.key_columns;
    for (int i = 0; i < 150; ++i) {
      std::vector<Filter> conditions;
      for (const size_t key : keys) {
        const std::string& name = schema_.columns[key].name;
        if (random() % 3 == 0) conditions.push_back(IsNull(name));
        if (random() % 5 == 0) conditions.push_back(IsNotNull(name));
        if (random() % 2 == 0) conditions.push_back(Eq(name, RandomLiteral(key, random)));
        if (random() % 2 == 0) break;
      }
      while (random() % 2 == 0) conditions.push_back(RandomFilter(0, random));
      if (random() % 4 == 0) conditions.push_back(Not(RandomFilter(0, random)));
      std::shuffle(conditions.begin(), conditions.end(), random);
      SCOPED_TRACE(absl::StrCat(round, " ", i));
      ExpectScan(*table, {.where = Filter(Filter::Kind::kAnd, conditions)}, {0, 1, 2, 3});
      if (HasFatalFailure()) return;
    }
    // The key index finds the rows of these conditions, which ask for nulls or for values.
    const auto& first = schema_.columns[keys[0]].name;
    const auto& second = schema_.columns[keys[1]].name;
    for (const Filter& where :
         {IsNull(first), IsNotNull(first), And(IsNull(first), IsNull(second)),
          And(IsNull(first), IsNotNull(second)), And(Ge(first, RandomLiteral(keys[0], random)))}) {
      auto scan = table->NewScan({.where = where});
      ASSERT_TRUE(scan.ok()) << scan.status();
      for (const auto& batch : scan->Batches()) ASSERT_TRUE(batch.ok()) << batch.status();
      EXPECT_GT(scan->counters().rows_returned, 0u);
      EXPECT_EQ(scan->counters().conditions[0].rows_excluded_by_value_index,
                rows_.size() - scan->counters().rows_returned);
    }
  }
}

// A batch ends early if its strings need more bytes than a decoder's buffer has.
TEST_F(TableScanTest, LongStringsEndABatch) {
  const Schema schema{.columns = {{.name = "id", .type = ColumnType::Int64()},
                                  {.name = "text", .type = ColumnType::String(), .nullable = true},
                                  {.name = "n", .type = ColumnType::Int32(), .nullable = true}}};
  schema_ = schema;
  const std::vector<WriterOptions> options = {
      {}, {.encoding = Encoding::kPrefix, .block_size_bytes = size_t{8} << 20}, {}};
  auto writer = TableWriter::Create(path_, schema, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<std::string> texts;
  std::vector<int64_t> ids;
  std::vector<int32_t> numbers;
  std::vector<uint8_t> validity(500, 0xee);
  for (int64_t i = 0; i < 4000; ++i) {
    texts.push_back(std::string(1000, static_cast<char>('a' + i % 26)) + absl::StrCat(i));
    ids.push_back(i);
    numbers.push_back(static_cast<int32_t>(i));
    const bool valid = i % 4 != 0;
    rows_.push_back({int128_t{i}, std::nullopt, std::nullopt});
    if (valid) rows_.back()[1] = texts.back();
    if (valid) rows_.back()[2] = int128_t{i};
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ASSERT_EQ(writer->Append<int64_t>(0, ids), absl::OkStatus());
  ASSERT_EQ(writer->Append<std::string_view>(1, views, validity), absl::OkStatus());
  ASSERT_EQ(writer->Append<int32_t>(2, numbers, validity), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const bool reverse : {false, true}) {
    ExpectScan(*table, {.columns = {{"n", "id", "text"}}, .reverse = reverse}, {2, 0, 1});
    ExpectScan(*table, {.columns = {{"n", "id", "text"}}, .where = Ne("n", 17), .reverse = reverse},
               {2, 0, 1});
    ExpectScan(*table,
               {.columns = {{"n", "id", "text"}}, .where = Ge("text", "k"), .reverse = reverse},
               {2, 0, 1});
  }
}

}  // namespace cfile::table_scan_test
