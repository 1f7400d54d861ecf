// What ARROW:schema and pandas say about columns stays true when the columns or rows are others.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/parts/parquet/arrow_description.h"
#include "cfile/parts/parquet/key_value_metadata.h"
#include "cfile/parts/parquet/pandas_metadata.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "gtest/gtest.h"

namespace cfile::internal::parquet_description_test {

constexpr std::string_view kFrame =
    R"({"index_columns": [{"kind": "range", "name": null, "start": 5, "stop": 11, "step": 2},
  "k\u00e9y"],
 "column_indexes": [{"name": null, "field_name": null, "metadata": {"encoding": "UTF-8"}}],
 "columns": [{"name": "a", "field_name": "a", "numpy_type": "int64"},
  {"name": "b, \"]", "field_name": "b, \"]"}, {"name": "key", "field_name": "k\u00e9y"}],
 "pandas_version": "2"})";

constexpr std::string_view kFirstColumn =
    "{\"name\": \"a\", \"field_name\": \"a\", \"numpy_type\": \"int64\"},\n  ";

std::string Describe(std::string_view text, std::optional<uint64_t> num_rows,
                     const std::set<std::string>& columns) {
  const auto any = [](std::string_view) { return true; };
  const auto has = [&](std::string_view name) { return columns.contains(std::string(name)); };
  return DescribeForPandas(text, num_rows, has, any);
}

std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(PandasDescription, HasTheColumnsThatAreThere) {
  const std::string all(kFrame);
  const std::string kept = Describe(kFrame, 3, {"a", "b, \"]", "kéy"});
  EXPECT_EQ(kept, all);
  EXPECT_EQ(Describe(kFrame, 3, {"b, \"]", "kéy"}), Replaced(kept, kFirstColumn, ""));
  const std::string without_index = Describe(kFrame, 3, {"a"});
  EXPECT_EQ(without_index.find("key"), std::string::npos);
  EXPECT_EQ(without_index.find("u00e9"), std::string::npos);
  EXPECT_NE(without_index.find(R"("step": 2}])"), std::string::npos);
  EXPECT_NE(without_index.find(R"("pandas_version": "2"})"), std::string::npos);
  EXPECT_NE(Describe(kFrame, 3, {}).find(R"("columns": [])"), std::string::npos);
}

// JSON has escapes that C does not have.
TEST(PandasDescription, NamesMayHaveAllCharacters) {
  constexpr std::string_view kEscaped =
      R"({"index_columns": ["a\/\ud83d\ude00\\"], "columns": []})";
  EXPECT_EQ(Describe(kEscaped, 3, {"a/\xf0\x9f\x98\x80\\"}), kEscaped);
  for (const std::string_view name : {"\\ud83d", "\\ud83d\\u0041", "\\ude00", "\\u12"}) {
    const std::string broken =
        absl::StrCat(R"({"index_columns": [")", std::string(name), R"("], "columns": []})");
    EXPECT_EQ(Describe(broken, 3, {"a"}).find("ud83d"), std::string::npos);
  }
}

TEST(PandasDescription, ARangeIndexHasTheNumberOfRows) {
  const auto has_range = [](std::string_view start, std::string_view stop, std::string_view step,
                            std::optional<uint64_t> num_rows) {
    std::string text = Replaced(std::string(kFrame), "5", start);
    text = Replaced(Replaced(text, "11", stop), R"("step": 2)", R"("step": )" + std::string(step));
    const std::string described = Describe(text, num_rows, {"a", "kéy"});
    EXPECT_NE(described.find(R"("k\u00e9y"])"), std::string::npos) << described;
    return described.find("range") != std::string::npos;
  };
  EXPECT_TRUE(has_range("5", "11", "2", 3));
  EXPECT_TRUE(has_range("5", "10", "2", 3));
  EXPECT_TRUE(has_range("9", "3", "-2", 3));
  EXPECT_TRUE(has_range("9", "9", "1", 0));
  EXPECT_TRUE(has_range("9", "3", "1", 0));
  EXPECT_TRUE(has_range("-9223372036854775808", "9223372036854775807", "1", UINT64_MAX));
  EXPECT_FALSE(has_range("5", "11", "2", 4));
  EXPECT_FALSE(has_range("5", "11", "2", 2));
  EXPECT_FALSE(has_range("5", "11", "2", std::nullopt));
  EXPECT_FALSE(has_range("5", "11", "0", 3));
  EXPECT_FALSE(has_range("5", "x", "2", 3));
}

TEST(PandasDescription, OtherTextsAreNone) {
  for (const std::string_view text :
       {"", "null", "[]", "{", "}", "{]", R"({"columns": 5})", R"({"columns": {}})", R"({"a"})",
        R"({"a": })", R"({"columns": [)", R"({"columns": [[}, "index_columns": []})",
        R"({"columns": [,]})", R"({"columns": ["})", R"({"columns": ["\"})", R"({,})", "{]}"}) {
    EXPECT_EQ(Describe(text, 3, {"a"}), "") << text;
  }
  EXPECT_EQ(Describe("{}", 3, {}), "{}");
  EXPECT_EQ(Describe(R"( {"columns" : [ ] } )", 3, {}), R"({"columns" : [ ] })");
  for (size_t size = 0; size < kFrame.size(); ++size)
    EXPECT_EQ(Describe(kFrame.substr(0, size), 3, {"a"}), "") << size;
}

TEST(PandasDescription, OnlyKnownCategoriesAreOrdered) {
  const std::string text =
      R"({"index_columns": ["c"], "columns": [)"
      R"({"field_name": "a", "metadata": {"num_categories": 2, "ordered": true}}, )"
      R"({"metadata": {"ordered" : true }, "field_name": "b", "ordered": true}, )"
      R"({"field_name": "c", "metadata": {"ordered": true}}, )"
      R"({"field_name": "d", "metadata": {"ordered": 1}}, {"field_name": "e", "metadata": null}]})";
  const auto any = [](std::string_view) { return true; };
  EXPECT_EQ(DescribeForPandas(text, 3, any, any), text);
  const std::string b = Replaced(text, "\"ordered\" : true", "\"ordered\" : false");
  EXPECT_EQ(DescribeForPandas(text, 3, any, [](auto name) { return name != "b"; }), b);
  std::string none = Replaced(b, "\"ordered\": true", "\"ordered\": false");
  none.replace(none.rfind("true"), 4, "false");
  EXPECT_EQ(DescribeForPandas(text, 3, any, [](auto) { return false; }), none);
}

TEST(CategoriesOfColumns, AreTheSameAfterWriting) {
  const Categories categories{
      {"a", {"small", "", "\"\\/\n\x01\x7f", "\xf0\x9f\x98\x80, [{"}}, {"b\"", {}}, {"c", {"x"}}};
  EXPECT_EQ(ParseCategories(WriteCategories(categories)), categories);
  EXPECT_EQ(WriteCategories({{"a", {"b", "\t"}}}), R"({"a": ["b", "\u0009"]})");
  EXPECT_EQ(ParseCategories(WriteCategories({})), Categories());
}

TEST(CategoriesOfColumns, WhatIsWrongIsSkipped) {
  const Categories x{{"x", {"1"}}};
  for (const std::string_view other :
       {R"("stream")", R"(["a", "a"])", R"(["a", 1])", R"({"a": "b"})", "[\"\xff\"]", "[,]", "1"}) {
    EXPECT_EQ(ParseCategories(absl::StrCat("{\"w\": ", std::string(other), ", \"x\": [\"1\"]}")), x)
        << other;
  }
  for (const std::string_view text : {"", "[]", "x", "{", "{\"x\": [\"1\"]", "[[\"1\"]]"})
    EXPECT_EQ(ParseCategories(text), Categories()) << text;
}

// A table of all kinds of columns.
RecordSchema Tree(std::string_view text) {
  auto tree = RecordSchema::Parse(std::string(text));
  EXPECT_TRUE(tree.ok()) << tree.status();
  return *std::move(tree);
}

ArrowField Field(const std::string& name, const std::string& format,
                 std::vector<ArrowField> children = {}) {
  return {.format = format, .name = name, .children = std::move(children)};
}
ArrowField Codes(const std::string& name, const ArrowField& values) {
  return {.format = "c", .name = name, .dictionary = {values}};
}

class ArrowDescriptionTest : public testing::Test {
 protected:
  // Returns the fields of ARROW:schema for the columns that `tree` describes. `fields`: of the
  // pair.
  static std::optional<ArrowField> Described(
      std::string_view tree, const std::vector<ArrowField>& fields,
      const std::function<void(ParquetOfSchema&)>& change = nullptr) {
    const Schema schema = Schema::OfRecords(Tree(tree));
    auto parquet = SchemaToParquet(schema, {});
    EXPECT_TRUE(parquet.ok()) << parquet.status();
    if (change) change(*parquet);
    MetadataPairs pairs{
        {"geo", "map"},
        {std::string(kArrowSchema), WriteArrowSchema({.format = "+s", .children = fields})},
        {"bytes", "\xff"}};
    const std::string before = pairs[1].second;
    EXPECT_FALSE(before.empty());
    DescribeColumns(schema, *parquet, 0, ordered_, {}, pairs);
    EXPECT_EQ(pairs[0].first, "geo");
    if (pairs.size() == 1) return std::nullopt;
    EXPECT_EQ(pairs.size(), 2u);
    is_same_ = pairs[1].second == before;
    return ParseArrowSchema(pairs[1].second);
  }
  // The formats of the fields; of a dictionary, "dictionary of" and that of the values.
  static std::vector<std::string> Formats(const std::optional<ArrowField>& root) {
    std::vector<std::string> formats;
    if (!root) return {"none"};
    for (const ArrowField& field : root->children) {
      formats.push_back(field.name + ": " +
                        (field.dictionary.empty() ? field.format
                                                  : "dictionary of " + field.dictionary[0].format));
    }
    return formats;
  }
  using Texts = std::vector<std::string>;

  static inline std::set<std::string, std::less<>> ordered_;  // has the columns with categories
  static inline bool is_same_ = false;                        // the text of the pair is as before
};

TEST_F(ArrowDescriptionTest, WhatIsTrueStaysAsItIs) {
  const auto tree = R"(message m {
    required binary text (STRING);
    optional int64 took;
    required timestamp(ms,Europe/Berlin) at;
    optional group list (LIST) { repeated group list { optional timestamp(ns) element; } }
    required group names (MAP) {
      repeated group key_value { required binary key (STRING); optional binary value; }
    }
    optional group point { required double x; optional group deep { required date day; } }
    repeated int32 numbers;
  })";
  const ArrowField point =
      Field("point", "+s", {Field("x", "g"), Field("deep", "+s", {Field("day", "tdm")})});
  const std::vector<ArrowField> fields = {
      Codes("text", Field("", "U")),
      Field("took", "tDu"),
      Field("at", "tss:Europe/Berlin"),
      Field("list", "+L", {Field("item", "tsu:")}),
      Field("names", "+m", {Field("any", "+s", {Field("k", "vu"), Field("v", "Z")})}),
      point,
      Field("numbers", "+w:3", {Field("", "i")})};
  EXPECT_EQ(Formats(Described(tree, fields)),
            (Texts{"text: dictionary of U", "took: tDu", "at: tss:Europe/Berlin", "list: +L",
                   "names: +m", "point: +s", "numbers: +w:3"}));
  EXPECT_TRUE(is_same_);
  // Each of these is wrong. The others stay.
  const std::pair<size_t, ArrowField> wrong[] = {
      {0, Codes("text", Field("", "i"))},
      {0, Field("text", "z")},
      {1, Field("took", "i")},
      {1, Field("took", "n")},
      {2, Field("at", "tsm:Europe/Paris")},
      {2, Field("at", "tsm:")},
      {3, Field("list", "+l", {Field("item", "tsu:UTC")})},
      {3, Field("list", "+m", {Field("", "+s", {Field("", "u"), Field("", "u")})})},
      {4, Field("names", "+m", {Field("any", "+s", {Field("k", "u"), Field("v", "u")})})},
      {4, Field("names", "+l", {Field("any", "+s", {Field("k", "u"), Field("v", "z")})})},
      {5, Field("point", "+s", {Field("y", "g"), point.children[1]})},
      {5, Field("point", "+s", {Field("x", "g")})},
      {5, Field("point", "+s", {Field("x", "g"), Field("deep", "+s", {Field("other", "tdD")})})},
      {6, Field("numbers", "i")}};
  const Texts own = {"text: u",   "took: l",    "at: tsm:Europe/Berlin", "list: +l", "names: +m",
                     "point: +s", "numbers: +l"};
  for (const auto& [i, field] : wrong) {
    std::vector<ArrowField> changed = fields;
    changed[i] = field;
    Texts expected = Formats(Described(tree, fields));
    expected[i] = own[i];
    const auto found = Described(tree, changed);
    EXPECT_EQ(Formats(found), expected);
    EXPECT_FALSE(is_same_);
    EXPECT_FALSE(found && found->children == changed) << i;
  }
}

// Libraries of Arrow take the order from the dictionary pages.
TEST_F(ArrowDescriptionTest, OnlyKnownCategoriesAreOrdered) {
  const auto tree = R"(message m {
    required binary a (STRING);
    optional group list (LIST) { repeated group list { optional binary element (STRING); } }
    required binary b (STRING);
  })";
  ArrowField a = Codes("a", Field("", "u"));
  ArrowField b = Codes("b", Field("", "u"));
  ArrowField element = Codes("element", Field("", "u"));
  a.flags = b.flags = element.flags = ARROW_FLAG_DICTIONARY_ORDERED | ARROW_FLAG_NULLABLE;
  const std::vector<ArrowField> fields = {a, Field("list", "+l", {element}), b};
  ordered_ = {"a", "list", "b"};
  ASSERT_TRUE(Described(tree, fields).has_value());
  EXPECT_TRUE(is_same_);
  ordered_ = {"b"};
  const auto described = Described(tree, fields);
  ordered_.clear();
  ASSERT_TRUE(described.has_value());
  EXPECT_EQ(described->children[0].flags, ARROW_FLAG_NULLABLE);
  EXPECT_EQ(described->children[1].children[0].flags, ARROW_FLAG_NULLABLE);
  EXPECT_EQ(described->children[2].flags, b.flags);
}

TEST_F(ArrowDescriptionTest, ColumnsAreDroppedAddedAndReordered) {
  const std::vector<ArrowField> fields = {Field("a", "tDs"), Codes("b", Field("", "u")),
                                          Field("c", "g")};
  EXPECT_EQ(Formats(Described("message m { required binary b (STRING); }", fields)),
            (Texts{"b: dictionary of u"}));
  EXPECT_EQ(Formats(Described("message m { required binary b (STRING); required int64 a; "
                              "optional int32 d; required float c; }",
                              fields)),
            (Texts{"b: dictionary of u", "a: tDs", "d: i", "c: f"}));
  EXPECT_EQ(Formats(Described("message m { required binary a; required int32 d; }", fields)),
            (Texts{"none"}));
}

TEST_F(ArrowDescriptionTest, AnnotationsDecideWhatAFieldIs) {
  const auto tree = "message m { optional int32 a; required fixed(2) b; }";
  const std::vector<ArrowField> fields = {Field("a", "n"), Field("b", "e")};
  EXPECT_EQ(Formats(Described(tree, fields)), (Texts{"none"}));
  EXPECT_EQ(Formats(Described(tree, fields,
                              [](ParquetOfSchema& parquet) {
                                parquet.elements[1].logical_type.emplace().unknown.emplace();
                                parquet.elements[2].logical_type.emplace().float16.emplace();
                              })),
            (Texts{"a: n", "b: e"}));
  EXPECT_TRUE(is_same_);
}

TEST(ParquetDescriptions, APairOfADirectoryIsThatOfAllFiles) {
  const auto arrow = [](const std::string& format) {
    return std::pair<std::string, std::string>(
        kArrowSchema,
        WriteArrowSchema({.format = "+s", .children = {Codes("a", Field("", format))}}));
  };
  const std::string frame(kFrame);
  const MetadataPairs all{{"x", "1"}, {"y", "2"}, {"pandas", frame}, arrow("u"), {"z", ""}};
  MetadataPairs pairs = all;
  KeepAgreedPairs(all, pairs);
  EXPECT_EQ(pairs, all);
  KeepAgreedPairs(
      {{"y", "3"}, {"z", ""}, {"x", "1"}, {"pandas", Replaced(frame, "11", "99")}, arrow("u")},
      pairs);
  EXPECT_EQ(pairs, (MetadataPairs{all[0], all[2], all[3], all[4]}));
  RemoveOrderOfRows(pairs);
  EXPECT_EQ(pairs[1].second.find("range"), std::string::npos);
  EXPECT_NE(pairs[1].second.find("index_columns"), std::string::npos);
  KeepAgreedPairs({{"pandas", Replaced(frame, "int64", "int32")}, arrow("i"), {"x", "1"}}, pairs);
  EXPECT_EQ(pairs, MetadataPairs{all[0]});
}

// Arrow C++ reads the pairs of a file from ARROW:schema.
TEST(ParquetDescriptions, ArrowSchemaHasThePairsOfTheFile) {
  const Schema schema = Schema::OfRecords(Tree("message m { required int32 a; }"));
  const auto parquet = SchemaToParquet(schema, {});
  const std::string frame(kFrame);
  const std::pair<std::string, std::string> geo{"geo", "map"};
  const MetadataPairs embedded{geo, {"pandas", frame}};
  const std::string text =
      WriteArrowSchema({.format = "+s", .metadata = embedded, .children = {Field("a", "i")}});
  const MetadataPairs all{geo, {"pandas", frame}, {std::string(kArrowSchema), text}};
  const auto describe = [&](const MetadataPairs& others, MetadataPairs pairs) {
    DescribeColumns(schema, *parquet, 3, {}, others, pairs);
    EXPECT_EQ(pairs.back().first, kArrowSchema);
    const auto arrow = ParseArrowSchema(pairs.back().second);
    EXPECT_TRUE(arrow.has_value());
    pairs.pop_back();
    pairs.insert(pairs.begin(), others.begin(), others.end());
    std::erase_if(pairs, [](const auto& pair) { return pair.second == "\xff"; });
    EXPECT_TRUE(arrow && arrow->metadata == pairs);
    return pairs;
  };
  // The index "kéy" and the column b are not there.
  EXPECT_EQ(describe({}, all).size(), 2u);
  EXPECT_EQ(describe({}, {all[2]}), MetadataPairs());
  EXPECT_EQ(describe({{"x", "y"}, {"geo", "new"}, {"bytes", "\xff"}}, all).size(), 3u);
}

TEST(ParquetDescriptions, PandasLosesColumnsOfOtherTypes) {
  const Schema schema = Schema::OfRecords(
      Tree("message m { required int64 a; required int32 b; required int32 c; }"));
  const auto parquet = SchemaToParquet(schema, {});
  MetadataPairs pairs{
      {"pandas",
       R"({"index_columns": ["c"], "columns": [{"field_name": "a"}, {"field_name": "b"}]})"},
      {std::string(kArrowSchema),
       WriteArrowSchema(
           {.format = "+s", .children = {Field("a", "u"), Field("b", "i"), Field("c", "i")}})}};
  DescribeColumns(schema, *parquet, 0, {}, {}, pairs);
  EXPECT_EQ(pairs[0].second, R"({"index_columns": ["c"], "columns": [{"field_name": "b"}]})");
}

}  // namespace cfile::internal::parquet_description_test
