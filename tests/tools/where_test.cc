// Tests --where and --columns of cfile-dump: the grammar, and the rows that match.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cfile/filter.h"
#include "cfile/table_scan.h"
#include "nlohmann/json.hpp"
#include "tests/cfile/temporary_directory.h"
#include "tools/dump/row_text.h"

namespace cfile::tools::where_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string TextOf(const ParsedFilter& filter) {
  if (filter.kind == Filter::Kind::kColumn) {
    constexpr std::array kKinds = {"=",           "!=",      "<",     "<=",       ">",
                                   ">=",          "between", "in",    "begins",   "is null",
                                   "is not null", "like",    "ilike", "contains", "~"};
    const TextCondition& condition = filter.condition;
    std::string text =
        absl::StrCat("{", condition.column, "} ", kKinds[static_cast<size_t>(condition.kind)]);
    for (const TextCondition::Value& value : condition.values)
      absl::StrAppend(&text, value.form == TextCondition::Value::Form::kName ? " col{" : " {",
                      value.text, "}");
    return text;
  }
  if (filter.kind == Filter::Kind::kNot) return "not " + TextOf(filter.operands[0]);
  std::vector<std::string> texts;
  for (const ParsedFilter& operand : filter.operands) texts.push_back(TextOf(operand));
  const bool all = filter.kind == Filter::Kind::kAnd;
  return absl::StrCat("(", absl::StrJoin(texts, all ? " and " : " or "), ")");
}

// Returns the parsed filter as text with columns and values in braces, or the error.
std::string Parsed(std::string_view where) {
  const auto filter = ParseFilter(where);
  return filter.ok() ? TextOf(*filter) : filter.status().ToString();
}

TEST(Where, Parses) {
  const std::pair<const char*, const char*> cases[] = {
      {"carrier = UA", "{carrier} = {UA}"},
      {"carrier = 'UA'", "{carrier} = {UA}"},
      {"carrier='UA'", "{carrier} = {UA}"},
      {"a != 1", "{a} != {1}"},
      {"a<>-1", "{a} != {-1}"},
      {"a < 1 AND b <= 2 and c > 3 And d >= 4",
       "({a} < {1} and {b} <= {2} and {c} > {3} and {d} >= {4})"},
      {"a between 1 and 2 and b = 3", "({a} between {1} {2} and {b} = {3})"},
      {"a in (1,2, 'x,)' ,new york)", "{a} in {1} {2} {x,)} {new york}"},
      {"a IS NULL and b is Not null", "({a} is null and {b} is not null)"},
      {"a like 'UA%'", "{a} like {UA%}"},
      {"a like %", "{a} like {%}"},
      {"a ilike U_ and b = 1", "({a} ilike {U_} and {b} = {1})"},
      {"a like 'x!%' escape '!' or b not like x escape !",
       "({a} like {x!%} {!} or not {b} like {x} {!})"},
      {"a contains x and b not contains 'y'", "({a} contains {x} and not {b} contains {y})"},
      {"a ~ '^x' and b !~ y|z", "({a} ~ {^x} and not {b} ~ {y|z})"},
      {"a ~x", "{a} ~ {x}"},
      {"active and not deleted or (\"is it\")", "(({active} = and not {deleted} =) or {is it} =)"},
      {"a > b and a > \"b c\"", "({a} > {b} and {a} > col{b c})"},
      {"a begins two\nlines", "{a} begins {two\nlines}"},
      {"a begins 'x%'", "{a} begins {x%}"},
      {"\"First Name\" = 'O''Hare'", "{First Name} = {O'Hare}"},
      {"\"a,b\"=1 and \"say \"\"so\"\"\" = ''", "({a,b} = {1} and {say \"so\"} = {})"},
      {"trans.uri = /a/b?c", "{trans.uri} = {/a/b?c}"},
      {"day < 2013-02-04T10:00:00Z", "{day} < {2013-02-04T10:00:00Z}"},
      {"  name   =  New   York  ", "{name} = {New   York}"},
      {"state = OR and state = in", "({state} = {OR} and {state} = {in})"},
      {"a = 'x and y = ''z'''", "{a} = {x and y = 'z'}"},
      {"not = 1 and in in (2) and and = 3", "({not} = {1} and {in} in {2} and {and} = {3})"},
      {"a = 1 or b = 2 and c = 3 or d = 4",
       "({a} = {1} or ({b} = {2} and {c} = {3}) or {d} = {4})"},
      {"(a = 1 or b = 2) and c = 3", "(({a} = {1} or {b} = {2}) and {c} = {3})"},
      {"((a = 1))", "{a} = {1}"},
      {"carrier = New York or b = 2", "({carrier} = {New York} or {b} = {2})"},
      {"not a = 1 and b = 2", "(not {a} = {1} and {b} = {2})"},
      {"NOT(a = 1 OR not not b = 2)", "not ({a} = {1} or not not {b} = {2})"},
      {"a not in (1, 2) or b not between 1 and 2",
       "(not {a} in {1} {2} or not {b} between {1} {2})"},
      {"a not like 'x%' and b not begins y", "(not {a} like {x%} and not {b} begins {y})"},
      {"not \"not\" = 1 and not = 2", "(not {not} = {1} and {not} = {2})"},
      {"'UA' = carrier and not '5' <= \"a b\"", "({carrier} = {UA} and not {a b} >= {5})"},
  };
  for (const auto& [where, expected] : cases) EXPECT_EQ(Parsed(where), expected) << where;
}

TEST(Where, ErrorsSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected a condition such as carrier = 'UA' (at the end)"},
      {" \n", "expected a condition"},
      {"carrier not",
       "expected BETWEEN, IN, LIKE, ILIKE, BEGINS or CONTAINS after NOT (at the end)"},
      {"carrier x", "IS (write a column whose name has blanks in double quotes) (character 9"},
      {"a == 1", "write = instead of == (character 3: \"== 1\")"},
      {"a = 1 && b = 2",
       "write AND instead of &&, or all of the value in single quotes (character 7"},
      {"a=1&&b=2", "write AND instead of &&"},
      {"a = 1 || b = 2", "write OR instead of ||"},
      {"First Name = x", "(character 7: \"Name = x\")"},
      {"carrier !~", "expected a value after !~"},
      {"carrier not ~ x", "after NOT (character 13"},
      {"carrier =",
       "expected a value after = (the empty text is '', a keyword as text is 'and') (at the end)"},
      {"carrier = and b = 1", "expected a value"},
      {"'UA'", "a column after the text (columns are words, or in double quotes) (at the end)"},
      {"'UA' like carrier", "expected = != < <= > or >= and a column after the text"},
      {"'UA' = 'EV'", "expected a column (character 8: \"'EV'\")"},
      {"carrier = UA and", "expected a column (a name in double quotes, or a word) (at the end)"},
      {"carrier = UA, b = 1",
       "expected AND, OR or the end; write text with keywords, quotes or signs in single "
       "quotes (character 13: \", b = 1\")"},
      {"carrier = UA origin = EWR", "(character 21: \"= EWR\")"},
      {"carrier = UA origin is null", "(character 21: \"is null\")"},
      {"carrier = UA origin like 'E%'", "(character 21: \"like 'E%'\")"},
      {"carrier = 'UA' origin = 'EWR'", "(character 16: \"origin = 'EWR'\")"},
      {"carrier = 'UA", "a quote is not closed (character 11: \"'UA\")"},
      {"\"carrier = 1", "a quote is not closed (character 1: "},
      {"carrier in (\"UA\")", "write values in single quotes, columns in double quotes (character"},
      {"carrier like \"UA\"", "write values in single quotes, columns in double quotes (character"},
      {"carrier = O'Hare", "a quote inside a word: write all of the value in single quotes"},
      {"a = 1 or", "expected a column (a name in double quotes, or a word) (at the end)"},
      {"or a = 1", "expected one of = != "},
      {"a not = 1", "BEGINS or CONTAINS after NOT (character 7: \"= 1\")"},
      {"a not is null", "BEGINS or CONTAINS after NOT"},
      {"(a = 1", "expected AND, OR or ) (at the end)"},
      {"a = 1)", "expected AND, OR or the end"},
      {"()", "expected a column (a name in double quotes, or a word) (character 2: \")\")"},
      {"a = 1 not b = 2", "expected AND, OR or the end"},
      {"a = null", "use IS NULL, or 'null' for the text (character 5: \"null\")"},
      {"a is 7", "expected NULL or NOT NULL after IS (character 6: \"7\")"},
      {"a is not 7", "expected NULL or NOT NULL after IS"},
      {"a is null b", "expected AND, OR or the end"},
      {"a between 1", "expected AND and the upper bound of BETWEEN (at the end)"},
      {"a between 1 and", "expected a value"},
      {"a in 1", "expected ( after IN"},
      {"a in ()", "expected a value"},
      {"a in (1", "expected , or ) (at the end)"},
      {"a in (1,)", "expected a value"},
      {"a like x escape", "expected a value after escape"},
      {"a = x escape y", "expected AND, OR or the end"},
      {"Z\xc3\xbcrich !", "(character 8: \"!\")"},
      {"a\x1b[0m b",
       "expected one of = != < <= > >= ~ !~ NOT BETWEEN IN LIKE ILIKE BEGINS CONTAINS IS"},
  };
  for (const auto& [where, expected] : cases) {
    const absl::Status status = ParseFilter(where).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << where;
    const std::string message(status.message().data(), status.message().size());
    EXPECT_THAT(message, HasSubstr(expected)) << where;
  }
}

TEST(Where, AnyTextIsParsedOrRefused) {
  const std::vector<std::string> pieces = {"a",
                                           " ",
                                           "'",
                                           "\"",
                                           "=",
                                           "<",
                                           ">",
                                           "!",
                                           "(",
                                           ")",
                                           ",",
                                           "in ",
                                           "is ",
                                           "or",
                                           "7",
                                           "%",
                                           "_",
                                           "like",
                                           "not ",
                                           "null",
                                           "~",
                                           " escape ",
                                           "\n",
                                           "''",
                                           "\"\"",
                                           "B",
                                           "\\",
                                           "\"",
                                           std::string(1, 0),
                                           "\xff",
                                           "and ",
                                           " between "};
  std::mt19937 random(17);
  size_t accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string where = random() % 2 == 0 ? "a = 7 " : "";
    for (auto n = random() % 12; n > 0; --n) where += pieces[random() % pieces.size()];
    const auto filter = ParseFilter(where);
    if (!filter.ok()) {
      ASSERT_EQ(filter.status().code(), absl::StatusCode::kInvalidArgument) << where;
      continue;
    }
    ++accepted;
    ASSERT_FALSE(TextOf(*filter).empty()) << where;
  }
  EXPECT_GT(accepted, 1000u);
}

TEST(Where, Names) {
  EXPECT_THAT(ParseNames("id,First Name,\"a,b\",\"\"\"x\"\"\"").value(),
              ElementsAre("id", "First Name", "a,b", "\"x\""));
  for (const char* name :
       {"id", "First Name", "a,b", "\"x\"", "it's", " ", "a=b", ",", "a~b", "&&"}) {
    EXPECT_THAT(ParseNames(NameAsWritten(name)).value(), ElementsAre(name));
    EXPECT_EQ(ParseFilter(NameAsWritten(name) + " is null").value().condition.column, name);
  }
  EXPECT_EQ(NameAsWritten("trans.uri-2"), "trans.uri-2");
  const auto error = [](const char* names) { return ParseNames(names).status().ToString(); };
  EXPECT_THAT(error("a,,b"), HasSubstr("INVALID_ARGUMENT: expected a name (character 3: \",b\")"));
  EXPECT_THAT(error(""), HasSubstr("expected a name"));
  EXPECT_THAT(error("a,"), HasSubstr("expected a name (at the end)"));
  EXPECT_THAT(error("a,\"b"), HasSubstr("a quote is not closed (character 3: "));
  EXPECT_THAT(error("\"b\"c"), HasSubstr("expected a comma or the end after the quote"));
}

struct Row {
  int64_t id;
  std::optional<std::string> name;
  double score;
};
using Matcher = std::function<bool(const Row&)>;

// Returns the row with this ordinal. Values repeat, so that conditions match several rows, both
// adjacent and distant ones.
Row RowAt(uint64_t ordinal) {
  const uint64_t mixed = (ordinal * 2654435761u & 0xffffffff) >> 16;
  Row row{.id = static_cast<int64_t>(ordinal / 3),
          .name = std::nullopt,
          .score = static_cast<double>(mixed % 10) / 4};
  if (mixed % 7 != 0) row.name = absl::StrCat(ordinal / 1000 % 2 == 0 ? "AA" : "B'", mixed % 5);
  return row;
}

class FoundRows : public testing::Test {
 protected:
  // Writes a table. Each element of `lengths` is the number of rows of a part.
  void Write(const std::vector<size_t>& lengths) {
    const Schema schema = {
        .columns = {{.name = "id", .type = ColumnType::Int64()},
                    {.name = "First Name", .type = ColumnType::String(), .nullable = true},
                    {.name = "score", .type = ColumnType::Double()}}};
    const WriterOptions options[] = {{.block_size_bytes = 512}};
    for (const size_t length : lengths) {
      auto writer = std::filesystem::exists(path_) ? TableWriter::Open(path_, options)
                                                   : TableWriter::Create(path_, schema, options);
      ASSERT_TRUE(writer.ok()) << writer.status();
      const size_t first = rows_.size();
      for (size_t i = 0; i < length; ++i) rows_.push_back(RowAt(first + i));
      std::vector<int64_t> ids;
      std::vector<std::string_view> names;
      std::vector<uint8_t> validity((length + 7) / 8);
      std::vector<double> scores;
      for (size_t i = 0; i < length; ++i) {
        const Row& row = rows_[first + i];
        ids.push_back(row.id);
        names.push_back(row.name ? std::string_view(*row.name) : std::string_view());
        if (row.name) validity[i / 8] |= static_cast<uint8_t>(1 << i % 8);
        scores.push_back(row.score);
      }
      ASSERT_EQ(writer->Append<int64_t>(0, ids), absl::OkStatus());
      ASSERT_EQ(writer->Append<std::string_view>(1, names, validity), absl::OkStatus());
      ASSERT_EQ(writer->Append<double>(2, scores), absl::OkStatus());
      ASSERT_EQ(writer->Finish(), absl::OkStatus());
    }
  }

  absl::StatusOr<std::vector<uint64_t>> Find(const std::string& where, uint64_t first = 0) const {
    auto table = TableReader::Open(path_);
    if (!table.ok()) return table.status();
    auto filter = FilterOfText(where, table->schema());
    if (!filter.ok()) return filter.status();
    auto scan = table->NewScan(
        {.columns = {{}}, .where = *std::move(filter), .range = {first, UINT64_MAX}});
    if (!scan.ok()) return scan.status();
    std::vector<uint64_t> ordinals;
    for (const auto& batch : scan->Batches()) {
      if (!batch.ok()) return batch.status();
      for (size_t row = 0; row < batch->num_rows(); ++row) ordinals.push_back(batch->ordinal(row));
    }
    return ordinals;
  }

  std::vector<uint64_t> Expected(const Matcher& matches, uint64_t first = 0) const {
    std::vector<uint64_t> ordinals;
    for (uint64_t i = first; i < rows_.size(); ++i) {
      if (matches(rows_[i])) ordinals.push_back(i);
    }
    return ordinals;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path("t");
  std::vector<Row> rows_;
};

TEST_F(FoundRows, EachCondition) {
  Write({3000, 0, 1, 4000});
  const std::pair<const char*, Matcher> cases[] = {
      {"id = 7", [](const Row& row) { return row.id == 7; }},
      {"id != 7", [](const Row& row) { return row.id != 7; }},
      {"id <> '7'", [](const Row& row) { return row.id != 7; }},
      {"id < 7", [](const Row& row) { return row.id < 7; }},
      {"id <= 7", [](const Row& row) { return row.id <= 7; }},
      {"id > 1999", [](const Row& row) { return row.id > 1999; }},
      {"id >= 1999", [](const Row& row) { return row.id >= 1999; }},
      {"id between 990 and 1010", [](const Row& row) { return row.id >= 990 && row.id <= 1010; }},
      {"id between 2 and 1", [](const Row&) { return false; }},
      {"id in (5, 1500, 7, 5)",
       [](const Row& row) { return row.id == 5 || row.id == 7 || row.id == 1500; }},
      {"\"First Name\" = 'B''3'", [](const Row& row) { return row.name == "B'3"; }},
      {"\"First Name\" = AA3", [](const Row& row) { return row.name == "AA3"; }},
      {"\"First Name\" like 'B''%'",
       [](const Row& row) { return row.name && row.name->starts_with("B'"); }},
      {"\"First Name\" begins AA",
       [](const Row& row) { return row.name && row.name->starts_with("AA"); }},
      {"\"First Name\" is null", [](const Row& row) { return !row.name; }},
      {"\"First Name\" is not null", [](const Row& row) { return row.name.has_value(); }},
      {"score = 1.5", [](const Row& row) { return row.score == 1.5; }},
      {"id = 7 or score = 1.5", [](const Row& row) { return row.id == 7 || row.score == 1.5; }},
      {"not (id > 7 or \"First Name\" begins AA)",
       [](const Row& row) { return row.id <= 7 && row.name && !row.name->starts_with("AA"); }},
  };
  for (const auto& [where, matches] : cases) {
    const auto found = Find(where);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, Expected(matches)) << where;
  }
}

TEST_F(FoundRows, ConjunctionsAcrossColumns) {
  Write({3000, 1, 0, 4000, 70'000, 70'000});
  std::mt19937 random(17);
  const auto below = [&](uint64_t limit) { return static_cast<int64_t>(random() % limit); };
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> texts;
    std::vector<Matcher> conditions;
    for (int64_t n = 1 + below(4); n > 0; --n) {
      const int64_t id = below(below(2) == 0 ? 50'000 : 3000);
      const int64_t digit = below(5);
      switch (below(6)) {
        case 0:
          texts.push_back(absl::StrCat("id >= ", id));
          conditions.push_back([=](const Row& row) { return row.id >= id; });
          break;
        case 1:
          texts.push_back(absl::StrCat("id between ", id, " and ", id + 5000));
          conditions.push_back([=](const Row& row) { return row.id >= id && row.id <= id + 5000; });
          break;
        case 2:
          texts.push_back(absl::StrCat("id in (", id, ",", id + 25'000, ")"));
          conditions.push_back(
              [=](const Row& row) { return row.id == id || row.id == id + 25'000; });
          break;
        case 3:
          texts.push_back(absl::StrCat("\"First Name\" != 'AA", digit, "'"));
          conditions.push_back(
              [=](const Row& row) { return row.name && *row.name != absl::StrCat("AA", digit); });
          break;
        case 4:
          texts.push_back("\"First Name\" is null");
          conditions.push_back([=](const Row& row) { return !row.name; });
          break;
        default:
          texts.push_back(absl::StrCat("score < ", digit));
          conditions.push_back(
              [=](const Row& row) { return row.score < static_cast<double>(digit); });
      }
    }
    const std::string where = absl::StrJoin(texts, below(2) == 0 ? " and " : " AND ");
    const uint64_t first = below(3) == 0 ? random() % rows_.size() : 0;
    const auto found = Find(where, first);
    ASSERT_TRUE(found.ok()) << found.status();
    const auto all = [&](const Row& row) {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const Matcher& matches) { return matches(row); });
    };
    ASSERT_EQ(*found, Expected(all, first)) << where << " from " << first;
  }
}

TEST_F(FoundRows, ConditionsThatDoNotFit) {
  Write({10});
  const std::pair<const char*, const char*> cases[] = {
      {"id = x", "\"x\" is not of type int64: expected an integer (character 6: \"x\")"},
      {"id = 1 and id in (2, y z)", "(character 22: \"y z)\")"},
      {"id = ''", "\"\" is not of type int64"},
      {"id",
       "column id has type int64, so a comparison must follow, such as = or LIKE (at the end)"},
      {"id = \"UA\"", "there is no column UA (text is written in single quotes); there are id"},
      {"ID < 5",
       "there is no column ID; there are id, \"First Name\", score; did you mean id? (char"},
      {"5 < nothing", "there is no column 5; there are"},
      {"\"5\" < id", "there is no column 5;"},
      {"x < id", "there is no column x; there are"},
      {"1.5.2 < id", "\"1.5.2\" is not of type int64: expected an integer (character 1: "},
      {"id = score", "only columns of one type can be compared, but id has type int64, score has"},
      {"id < \"First Name\"", "only columns of one type"},
      {"id contains 7", "values of type int64 are no text"},
      {"\"First Name\" like x escape '!!'", "the escape character must be one character of ASCII"},
      {"\"First Name\" like 'x!' escape !", "the pattern ends with the escape character"},
      {"\"First Name\" ~ '(x'", "missing ): (x"},
      {"score > nan", "nan cannot be compared (character 9: \"nan\")"},
      {"id begins 7", "values of type int64 have no prefix (character 4: \"begins 7\")"},
      {"id like '7%'", "values of type int64 are no text"},
      {"id = 1 and nothing = 7",
       "there is no column nothing; there are id, \"First Name\", score (character 12: "},
      {"", "expected a condition"},
  };
  for (const auto& [where, expected] : cases) {
    const absl::Status status = Find(where).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << where;
    EXPECT_THAT(status.ToString(), HasSubstr(expected)) << where;
  }
}

// A table with columns of several types. The first row has only nulls.
class Typed : public testing::Test {
 protected:
  void SetUp() override {
    const Schema schema = {
        .columns = {{.name = "small", .type = ColumnType::Int8(), .nullable = true},
                    {.name = "price", .type = ColumnType::Decimal(12, 2), .nullable = true},
                    {.name = "cost", .type = ColumnType::Decimal(12, 2), .nullable = true},
                    {.name = "flag", .type = ColumnType::Bool(), .nullable = true},
                    {.name = "text", .type = ColumnType::String(), .nullable = true},
                    {.name = "copy", .type = ColumnType::String(), .nullable = true},
                    {.name = "ratio", .type = ColumnType::Float(), .nullable = true}}};
    auto writer = TableWriter::Create(path_, schema);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const uint8_t valid[] = {0x3e};  // rows 1 to 5
    ASSERT_EQ(writer->Append<int8_t>(0, {{0, -128, -1, 0, 7, 127}}, valid), absl::OkStatus());
    ASSERT_EQ(writer->Append<int64_t>(1, {{0, -401, 400, 401, 0, 99}}, valid), absl::OkStatus());
    ASSERT_EQ(writer->Append<int64_t>(2, {{0, -401, 401, 400, 0, 98}}, valid), absl::OkStatus());
    const bool flags[] = {false, true, false, true, false, true};
    ASSERT_EQ(writer->Append<bool>(3, flags, valid), absl::OkStatus());
    ASSERT_EQ(writer->Append<std::string_view>(4,
                                               {{"", "", "Z\xc3\xbcrich", "50%_off", "abcabc",
                                                 "\xe4\xb8\xad"
                                                 "xa"}},
                                               valid),
              absl::OkStatus());
    ASSERT_EQ(writer->Append<std::string_view>(5, {{"", "", "a", "60", "abcabd", "x"}}, valid),
              absl::OkStatus());
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    ASSERT_EQ(writer->Append<float>(6, {{0, -inf, 0.5f, 3e38f, nan, inf}}, valid),
              absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }

  // Returns the rows for which `where` is true, as digits, or the error.
  std::string Rows(const std::string& where) const {
    const auto table = TableReader::Open(path_);
    if (!table.ok()) return table.status().ToString();
    const auto filter = FilterOfText(where, table->schema());
    if (!filter.ok()) return filter.status().ToString();
    auto scan = table->NewScan({.columns = {{}}, .where = *filter});
    if (!scan.ok()) return scan.status().ToString();
    std::string rows;
    for (const auto& batch : scan->Batches()) {
      if (!batch.ok()) return batch.status().ToString();
      for (size_t row = 0; row < batch->num_rows(); ++row)
        absl::StrAppend(&rows, batch->ordinal(row));
    }
    return rows;
  }

  // Expects that `where` is true for `rows`, false for the other rows with values, and unknown for
  // the row of nulls.
  void Expect(const std::string& where, const std::string& rows) const {
    EXPECT_EQ(Rows(where), rows) << where;
    std::string others;
    for (const char row : std::string("12345")) {
      if (rows.find(row) == std::string::npos) others += row;
    }
    EXPECT_EQ(Rows("not (" + where + ")"), others) << where;
    EXPECT_EQ(Rows("not (small is null or " + where + ")"), others) << where;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path("t");
};

TEST_F(Typed, ConstantsThatTheTypeCannotHold) {
  Expect("small < 128", "12345");
  Expect("small <= -129", "");
  Expect("small > -1e30", "12345");
  Expect("small != 99999999999999999999999999999999999999999", "12345");
  Expect("small < 99999999999999999999999999999999999999999", "12345");
  Expect("small > -99999999999999999999999999999999999999999", "12345");
  Expect("small = 6.5", "");
  Expect("small > 6.5", "45");
  Expect("small >= -0.5", "345");
  Expect("small < -0.5", "12");
  Expect("small = 7.0", "4");
  Expect("small = 0.7e1", "4");
  Expect("small in (7, 128, 0.5)", "4");
  Expect("small in (128)", "");
  Expect("small between -1.5 and 6.5", "23");
  Expect("small between -1000 and 1000", "12345");
  Expect("small between 0.2 and 0.8", "");
  Expect("price > 4.009", "3");
  Expect("price >= -4.011", "12345");
  Expect("price < -4.009", "1");
  Expect("price = 4.000", "2");
  Expect("price != 4.001", "12345");
  Expect("price < 123456789012.5", "12345");
  Expect("price between 3.999 and 4.005", "2");
  Expect("small < inf", "12345");
  Expect("small > -1e99999", "12345");
  Expect("small between -inf and 0.5", "123");
  Expect("ratio < 1e400", "123");
  Expect("ratio > -1e400", "235");
  Expect("ratio between -1e400 and 1e400", "23");
  Expect("ratio < 1e39", "123");
  Expect("ratio > 1e39", "5");
}

// The bounds of a column that has only NaN say nothing about a comparison with another column.
TEST(ComparedColumns, OnlyNan) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("t");
  auto writer = TableWriter::Create(
      path, {.columns = {{.name = "a", .type = ColumnType::Double()},
                         {.name = "b", .type = ColumnType::Double(), .nullable = true}}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const uint8_t valid[] = {0x01};
  ASSERT_EQ(writer->Append<double>(0, {{nan, nan}}), absl::OkStatus());
  ASSERT_EQ(writer->Append<double>(1, {{1, 1}}, valid), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto table = TableReader::Open(path);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const char* const where : {"a != b", "b != a", "not (a = b)"}) {
    const auto filter = FilterOfText(where, table->schema());
    ASSERT_TRUE(filter.ok()) << filter.status();
    auto scan = table->NewScan({.columns = {{}}, .where = *filter});
    ASSERT_TRUE(scan.ok()) << scan.status();
    uint64_t rows = 0;
    for (const auto& batch : scan->Batches()) rows += batch.value().num_rows();
    EXPECT_EQ(rows, 1u) << where;
  }
}

TEST_F(Typed, ColumnsAndFlags) {
  Expect("flag", "135");
  Expect("flag and price > 0", "35");
  EXPECT_EQ(Rows("not flag or text is null"), "024");
  Expect("price = cost", "14");
  Expect("price != cost", "235");
  Expect("price > cost", "35");
  Expect("price <= \"cost\"", "124");
  Expect("text < copy", "234");
  Expect("text >= copy and flag", "15");
  Expect("ratio = ratio", "1235");
  Expect("ratio < ratio", "");
  EXPECT_EQ(Rows("text = 'copy'"), "");
  EXPECT_THAT(Rows("price = small"), HasSubstr("only columns of one type can be compared"));
}

TEST_F(Typed, Patterns) {
  Expect("text like '%'", "12345");
  Expect("text like ''", "1");
  Expect("text like 'abc%'", "4");
  Expect("text like 'abcabc'", "4");
  Expect("text like '%c'", "4");
  Expect("text like 'a%c%c'", "4");
  Expect("text like '%ca%'", "4");
  Expect("text like 'Z_rich'", "2");
  Expect("text like '______'", "24");
  Expect("text like '%__xa'", "");
  Expect("text like '%__x%'", "");
  Expect("text like '_xa'", "5");
  Expect("text like '50!%!_o%' escape !", "3");
  Expect("text like '50%f'", "3");
  Expect("text like 'ABC%'", "");
  Expect("text ilike 'ABC%' or text ilike 'z%H'", "24");
  Expect("text contains bca or text contains '%'", "34");
  Expect("text contains ''", "12345");
  if (absl::StrContains(Rows("text ~ x"), "UNIMPLEMENTED: ")) {
    EXPECT_THAT(Rows("text ~ x"), HasSubstr("column text: cfile was built without RE2"));
    return;
  }
  Expect("text ilike 'z\xc3\x9cRICH'", "2");
  Expect("text ilike '%\xc3\x9c%'", "2");
  Expect("text ~ '^(abc)+$' or text ~ '%_'", "34");
  Expect("text ~ '^a.c' or text !~ '^.b|i|x|_'", "14");
  Expect("text ~ '^Z.rich$'", "2");
  Expect("text ~ '^a|x'", "45");
  Expect("text ~ '^abz?ca'", "4");
  Expect("text ~ '^5?a'", "4");
  Expect("text ~ '^*xa'", "5");
  Expect("text ~ '^50'", "3");
}

// Whether `text` is matched by `pattern`, in which % and _ have their meaning.
bool Like(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%')
    return Like(text, pattern.substr(1)) || (!text.empty() && Like(text.substr(1), pattern));
  return !text.empty() && (pattern[0] == '_' || pattern[0] == text[0]) &&
         Like(text.substr(1), pattern.substr(1));
}

TEST_F(FoundRows, RandomPatterns) {
  Write({3000, 4000});
  std::mt19937 random(17);
  for (int i = 0; i < 300; ++i) {
    std::string pattern;
    for (auto n = random() % 6; n > 0; --n) pattern += "AB'234%%%__"[random() % 11];
    const auto found = Find(
        absl::StrCat("\"First Name\" like '", absl::StrReplaceAll(pattern, {{"'", "''"}}), "'"));
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(*found, Expected([&](const Row& row) {
      return row.name && Like(*row.name, pattern);
    })) << pattern;
  }
}

// Returns the first row of the table in the form in which the subcommand `rows` prints it.
std::string FirstRow(const std::string& path, bool json) {
  CommonOptions common;
  common.path = path;
  const auto input = OpenInput(common);
  EXPECT_TRUE(input.ok()) << input.status();
  const RowForm form{.format = json ? RowFormat::kJson : RowFormat::kText};
  const auto plan = PlanRows(*input, common, {}, {.count = 1}, form);
  EXPECT_TRUE(plan.ok()) << plan.status();
  const auto rows = plan->open(plan->ranges, nullptr);
  EXPECT_TRUE(rows.ok()) << rows.status();
  std::string text = plan->header;
  EXPECT_TRUE((*rows)->Append(text).ok());
  return text;
}

TEST(PrintedRows, NamesThatAreNotText) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("t");
  const Schema schema = {.columns = {{.name = "\xff\x1b[0m\n", .type = ColumnType::Double()},
                                     {.name = "\xc2\x9b", .type = ColumnType::Double()}}};
  auto writer = TableWriter::Create(path, schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const double values[] = {-0.0};
  for (const size_t column : {0u, 1u}) {
    ASSERT_EQ(writer->Append<double>(column, values), absl::OkStatus());
  }
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  EXPECT_EQ(FirstRow(path, /*json=*/false), "\\xff\\x1b[0m\\n\t\\xc2\\x9b\n-0\t-0\n");
  const auto row = nlohmann::json::parse(FirstRow(path, /*json=*/true), nullptr, false);
  ASSERT_FALSE(row.is_discarded());
  EXPECT_EQ(row["values"]["\\xff\\x1b[0m\\n"].dump(), "-0.0");
}

}  // namespace cfile::tools::where_test
