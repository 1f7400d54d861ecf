// Tests JSON Lines: parsing and printing of records, and inference of their schema.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/records/json_inference.h"
#include "tools/records/json_lines.h"
#include "tools/records/json_parser.h"
#include "tools/records/json_printer.h"

namespace cfile::tools::json_records_test {

using testing::HasSubstr;

std::string Padded(std::string text) { return text + std::string(kJsonPadding, '\0'); }
std::string_view Line(const std::string& padded) {
  return std::string_view(padded).substr(0, padded.size() - kJsonPadding);
}

// Parses `json` and prints all leaves of the record.
absl::StatusOr<std::string> Print(const RecordSchema& schema, const std::string& json,
                                  JsonSchema origin = JsonSchema::kGiven) {
  std::vector<size_t> leaves(schema.leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  std::string out;
  JsonPrinter printer(schema, leaves, out);
  JsonParser parser(schema, {.origin = origin});
  const std::string padded = Padded(json);
  absl::Status status = parser.Tell(Line(padded), printer);
  if (!status.ok()) return status;
  return out;
}

RecordSchema TestSchema() {
  return RecordSchema::Parse(R"(message m {
    optional int64 i; optional uint64 u; optional int32 small (INT(8,true)); optional double d;
    optional float f; optional boolean b; optional binary s (STRING); optional binary bytes;
    optional int32 date (DATE); optional int64 t (TIMESTAMP(MICROS,true));
    optional fixed_len_byte_array(16) price (DECIMAL(20,2)); optional int128 big;
    repeated int32 r;
    optional group g { required int32 x; optional int32 y; }
    optional group l (LIST) { repeated group list { optional group element { optional int32 x; } } }
    optional group old (LIST) { repeated int32 array; }
    optional group ll (LIST) { repeated group list { required group element (LIST) {
      repeated group list { optional int32 element; } } } }
    optional group m (MAP) { repeated group kv { required binary k (STRING); optional int32 v; } }
    optional group days (MAP) { repeated group kv { required int32 k (DATE); repeated int32 v; } }
  })")
      .value();
}

TEST(JsonRecords, RoundTrips) {
  const RecordSchema schema = TestSchema();
  for (
      const char* json : {
          R"({})",
          R"({"i":-9223372036854775808,"u":18446744073709551615,"small":-128,"d":0.1,"f":1.5})",
          R"({"i":9007199254740993,"d":"nan","f":"-inf","b":false})",
          R"({"s":"a\"b\\\n\u0001é","bytes":"00ff","date":"2013-01-31"})",
          R"({"t":"2013-01-31T10:00:00.500000Z","price":"-0.01","big":"170141183460469231731687303715884105727"})",
          R"({"r":[1,2],"g":{"x":1}})",
          R"({"l":[]})",
          R"({"l":[null,{},{"x":1}],"old":[],"ll":[[],[null,1]]})",
          R"({"old":[1,2],"m":{}})",
          R"({"m":{"":1,"b":null,"a":2,"A":3},"days":{"2024-02-29":[1,2],"0001-01-01":[]}})",
      }) {
    const auto printed = Print(schema, json);
    ASSERT_TRUE(printed.ok()) << json << printed.status();
    EXPECT_EQ(*printed, std::string(json) + "\n");
  }
  // The same record may have other spellings, or JSON with differences that records do not keep.
  const std::pair<const char*, const char*> same[] = {
      {R"( { "i" : 1 , "r" : null, "g":null, "l":null } )", R"({"i":1})"},
      {R"({"r":[]})", R"({})"},
      // A field that occurs in several objects is not a repeated key.
      {R"({"l":[{"x":1},{"x":1}],"g":{"x":1}})", R"({"l":[{"x":1},{"x":1}],"g":{"x":1}})"},
      {R"({"i":"12","d":"1e3","u":"7","f":3})", R"({"i":12,"d":1000.0,"u":7,"f":3.0})"},
      {R"({"price":12.5,"big":5,"f":0.1})", R"({"price":"12.50","big":"5","f":0.1})"},
      // Numbers that are too close to 0 become 0.
      {R"({"d":-1e-400,"f":1e-99})", R"({"d":-0.0,"f":0.0})"},
      {R"({"d":1e-99999999999999999999})", R"({"d":0.0})"},
      {R"({"s":"\u00e9\ud83d\ude00"})", "{\"s\":\"é😀\"}"},
  };
  for (const auto& [json, expected] : same) {
    const auto printed = Print(schema, json);
    ASSERT_TRUE(printed.ok()) << json << printed.status();
    EXPECT_EQ(*printed, absl::StrCat(expected, "\n"));
  }
}

TEST(JsonRecords, ErrorsNameFieldAndType) {
  const RecordSchema schema = TestSchema();
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", "a record must be an object; found an array"},
      {R"(1)", "a record must be an object; found a number"},
      {R"({"i":1} {})", "something follows"},
      {R"({"i":1} x)", "invalid JSON"},
      {R"({"i":1)", "invalid JSON"},
      {R"({"i" 1})", "invalid JSON"},
      {R"({"i":1 "u":2})", "invalid JSON"},
      {R"({"i":nul})", "invalid JSON"},
      {R"({"i":01})", "i: invalid JSON"},
      {R"({"d":1e999})", "d: \"1e999\" is not of type double: it is too large"},
      {R"({"f":1e39})", "f: \"1e39\" is not of type float: it is too large"},
      {R"({"zzz":1})", "the schema has no field \"zzz\""},
      {R"({"g":{"x":1,"z":1}})", "g: the schema has no field \"z\""},
      {R"({"g":{"x":null}})", "g.x: int32 expected, found null"},
      {R"({"g":[]})", "g: an object expected, found an array"},
      {R"({"l":{}})", "l: an array expected, found an object"},
      {R"({"r":3})", "r: an array expected, found a number"},
      {R"({"r":[1,null]})", "r: int32 expected, found null"},
      {R"({"i":1,"s":"x","i":2})", "the key \"i\" is repeated"},
      {R"({"i":null,"i":null})", "the key \"i\" is repeated"},
      {R"({"r":[1],"r":[2]})", "the key \"r\" is repeated"},
      {R"({"g":{"x":1,"y":null,"y":1}})", "g: the key \"y\" is repeated"},
      {R"({"m":{"a":2,"b":1,"a":3}})", "m: the key \"a\" is repeated"},
      {R"({"m":{"a":2,"\u0061":3}})", "m: the key \"a\" is repeated"},
      {R"({"days":{"1970-01-02":[],"@1":[]}})", "days: the key \"@1\" is repeated"},
      {R"({"i":1,"\u0069":2})", "the key \"i\" is repeated"},
      {R"({"m":[]})", "m: an object expected, found an array"},
      {R"({"ll":[null]})", "ll.list.element: an array expected, found null"},
      {R"({"i":true})", "i: int64 expected, found true or false"},
      {R"({"i":1.5})", "i: \"1.5\" is not of type int64: expected an integer"},
      {R"({"i":9223372036854775808})", "i: \"9223372036854775808\" is not of type int64"},
      {R"({"small":128})", "small: \"128\" is not of type int8: it is outside -128 to 127"},
      {R"({"u":-1})", "u: \"-1\" is not of type uint64"},
      {R"({"s":1})", "s: string expected, found a number"},
      {R"({"b":1})", "b: bool expected, found a number"},
      {R"({"b":"true"})", "b: bool expected, found a string"},
      {R"({"date":20130131})", "date: date expected, found a number"},
      {R"({"date":"2013-02-31"})", "date: \"2013-02-31\" is not of type date"},
      {R"({"days":{"x":[]}})", "days.kv.k: \"x\" is not of type date"},
      {"{\"s\":\"\xff\"}", "invalid JSON"},
  };
  for (const auto& [json, message] : cases) {
    const absl::Status status = Print(schema, json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << json;
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"g\":";
  EXPECT_FALSE(Print(schema, deep).ok());
}

// If the keys of a map are not read, the map is printed as an array.
TEST(JsonRecords, MapsWithoutKeys) {
  const RecordSchema schema = TestSchema();
  const std::vector<size_t> leaves =
      schema.SelectLeaves(std::vector<std::string>{"m.kv.v"}).value();
  std::string out;
  JsonPrinter printer(schema, leaves, out);
  const size_t map = schema.node(schema.node(schema.leaves()[leaves[0]]).parent).parent;
  for (const size_t node : {size_t{0}, map, map + 1}) ASSERT_TRUE(printer.BeginGroup(node).ok());
  ASSERT_TRUE(printer.Value(map + 3, int32_t{5}).ok());
  for (const size_t node : {map + 1, map, size_t{0}}) ASSERT_TRUE(printer.EndGroup(node).ok());
  EXPECT_EQ(out, "{\"m\":[{\"v\":5}]}\n");
}

// If the values of a map are not read, the map is printed as an array of keys without nulls.
TEST(JsonRecords, MapsWithoutValues) {
  const RecordSchema schema = TestSchema();
  const std::vector<size_t> leaves =
      schema.SelectLeaves(std::vector<std::string>{"m.kv.k"}).value();
  std::string out;
  JsonPrinter printer(schema, leaves, out);
  const size_t map = schema.node(schema.node(schema.leaves()[leaves[0]]).parent).parent;
  for (const size_t node : {size_t{0}, map}) ASSERT_TRUE(printer.BeginGroup(node).ok());
  for (const std::string_view key : {"a", "b"}) {
    ASSERT_TRUE(printer.BeginGroup(map + 1).ok());
    ASSERT_TRUE(printer.Value(map + 2, key).ok());
    ASSERT_TRUE(printer.EndGroup(map + 1).ok());
  }
  for (const size_t node : {map, size_t{0}}) ASSERT_TRUE(printer.EndGroup(node).ok());
  EXPECT_EQ(out, "{\"m\":[{\"k\":\"a\"},{\"k\":\"b\"}]}\n");
}

// The printer passes on a long record in pieces, so that it never holds the whole record in memory.
TEST(JsonRecords, LongRecordsAreDrained) {
  const RecordSchema schema =
      RecordSchema::Parse("message m { repeated group g { optional int32 x; } repeated int32 r; }")
          .value();
  std::string out, all;
  const std::vector<size_t> leaves = {0, 1};
  size_t longest = 0;
  JsonPrinter printer(schema, leaves, out, [&] {
    longest = std::max(longest, out.size());
    all += std::exchange(out, "");
    return absl::OkStatus();
  });
  std::string expected = "{\"g\":[";
  ASSERT_TRUE(printer.BeginGroup(0).ok());
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_TRUE(printer.BeginGroup(1).ok());
    ASSERT_TRUE(printer.EndGroup(1).ok());
    expected += i == 0 ? "{}" : ",{}";
  }
  expected += "],\"r\":[";
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_TRUE(printer.Value(3, int32_t{7}).ok());
    expected += i == 0 ? "7" : ",7";
  }
  ASSERT_TRUE(printer.EndGroup(0).ok());
  EXPECT_GT(longest, JsonPrinter::kDrainBytes);
  EXPECT_LT(longest, JsonPrinter::kDrainBytes + 100);
  EXPECT_LT(out.size(), JsonPrinter::kDrainBytes + 100);
  EXPECT_TRUE(all + out == expected + "]}\n");
}

absl::StatusOr<RecordSchema> Infer(const std::vector<std::string>& records) {
  JsonInference inference;
  uint64_t line = 0;
  for (const std::string& record : records) {
    const std::string padded = Padded(record);
    absl::Status status = inference.Add(Line(padded), ++line);
    if (!status.ok()) return status;
  }
  return inference.Schema("m");
}

TEST(JsonInference, KeepsWhatThereIs) {
  const std::vector<std::string> records = {
      R"({"id":1,"name":"a","tags":["x",null],"pos":{"x":1,"y":2.5},"big":1,"none":null,"e":{}})",
      R"({"id":2,"tags":[],"pos":{"x":1.5},"big":18446744073709551615,"rows":[[1],[]],"b":true})",
      R"({"id":3,"pos":{"x":2.0},"rows":[],"empty":[],"points":[{"x":1},{"x":2,"y":"z"}]})",
  };
  const auto schema = Infer(records);
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->ToString(), R"(message m {
  required int64 id;
  optional binary name (STRING);
  optional group tags (LIST) {
    repeated group list {
      optional binary element (STRING);
    }
  }
  required group pos {
    required double x;
    optional double y;
  }
  optional int64 big (INT(64,false));
  optional binary none (STRING);
  optional group e (MAP) {
    repeated group key_value {
      required binary key (STRING);
      optional binary value (STRING);
    }
  }
  optional group rows (LIST) {
    repeated group list {
      required group element (LIST) {
        repeated group list {
          required int64 element;
        }
      }
    }
  }
  optional boolean b;
  optional group empty (LIST) {
    repeated group list {
      optional binary element (STRING);
    }
  }
  optional group points (LIST) {
    repeated group list {
      required group element {
        required int64 x;
        optional binary y (STRING);
      }
    }
  }
}
)");
  EXPECT_EQ(Print(*schema, records[1]).value(), records[1] + "\n");
  EXPECT_EQ(Print(*schema, records[2]).value(), records[2] + "\n");
}

// Inference chooses a type that holds all integers without rounding.
TEST(JsonInference, LargeIntegers) {
  const std::string nines(38, '9');
  const struct {
    std::vector<std::string> numbers;
    std::string type;
  } cases[] = {
      {{"-9223372036854775808", "9223372036854775807"}, "int64"},
      {{"0", "9223372036854775808"}, "uint64"},
      {{"18446744073709551615"}, "uint64"},
      {{"-1", "9223372036854775808"}, "decimal(38,0)"},
      {{"9223372036854775808", "-1"}, "decimal(38,0)"},
      {{"-9223372036854775809"}, "decimal(38,0)"},
      {{"1", "18446744073709551616"}, "decimal(38,0)"},
      {{nines, "-" + nines, "5"}, "decimal(38,0)"},
      {{"5", "1" + nines, "-7"}, "string"},
  };
  for (const auto& [numbers, type] : cases) {
    std::vector<std::string> records;
    for (const std::string& number : numbers) {
      records.push_back(absl::StrCat("{\"a\":", number, " }"));
    }
    const auto schema = Infer(records);
    ASSERT_TRUE(schema.ok()) << schema.status();
    EXPECT_EQ(schema->node(1).type.ToString(), type) << numbers[0];
    for (size_t i = 0; i < records.size(); ++i) {
      const auto printed = Print(*schema, records[i], JsonSchema::kFoundInAll);
      ASSERT_TRUE(printed.ok()) << printed.status();
      EXPECT_THAT(*printed, HasSubstr(numbers[i]));
      if (type == "string") {
        EXPECT_FALSE(Print(*schema, records[i], JsonSchema::kGiven).ok());
        EXPECT_FALSE(Print(*schema, records[i], JsonSchema::kFoundInSome).ok());
      }
    }
  }
  // If the schema was inferred from only some records, a record that would change the schema is an
  // error.
  const RecordSchema decimal = Infer({"{\"a\":18446744073709551616}"}).value();
  EXPECT_TRUE(Print(decimal, R"({"a":1})", JsonSchema::kFoundInSome).ok());
  EXPECT_TRUE(Print(decimal, R"({"a":1.0})", JsonSchema::kGiven).ok());
  EXPECT_FALSE(Print(decimal, R"({"a":1.0})", JsonSchema::kFoundInSome).ok());
}

TEST(JsonInference, NegativeZeroKeepsItsSign) {
  const auto schema = Infer({R"({"a":1,"b":-0 ,"c":-1})"});
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(Print(*schema, R"({"a":1,"b":-0 ,"c":-1})").value(), "{\"a\":1,\"b\":-0.0,\"c\":-1}\n");
}

TEST(JsonInference, Errors) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "no record has a field"},
      {{"{}"}, "no record has a field"},
      {{"[]"}, "a record must be an object"},
      {{R"({"a":1})", R"({"a":"x"})"}, "a: strings here and integers in line 1"},
      {{R"({"a":{"b":[1]}})", R"({"a":{"b":[{}]}})"}, "a.b: objects here and integers in line 1"},
      {{R"({"a":9007199254740993})", R"({"a":0.5})"},
       "a: fractions here and an integer above 2^53"},
      {{R"({"a":18446744073709551616})", R"({"a":0.5})"},
       "a: fractions here and an integer above 2^53 in line 1"},
      {{R"({"a":1,"a":2})"}, "the key \"a\" is repeated"},
      {{R"({"b":{"a":1,"a":2}})"}, "b: the key \"a\" is repeated"},
      {{R"({"":1})"}, "a field without a name"},
      {{R"({"a":1,"b":{"c":1},"b.c":1})"}, "b.c: the schema has a second leaf column of this path"},
      {{R"({"a":1} {"a":2})"}, "something follows"},
  };
  for (const auto& [records, message] : cases) {
    const absl::Status status = Infer(records).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
  std::string deep = "{\"a\":";
  for (int i = 0; i < 900; ++i) deep += "[";
  deep += std::string(900, ']') + "}";
  EXPECT_THAT(Infer({deep}).status().message(),
              HasSubstr("above the limit of 64: raise max_depth"));
  std::string wide = "{";
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&wide, i == 0 ? "" : ",", "\"", i, "\":1");
  EXPECT_THAT(Infer({wide + "}"}).status().message(),
              HasSubstr("field 10001 is above the limit of 10000: raise max_leaves"));
}

constexpr int kRounds = 200'000;

// The result of nlohmann-json, which is a strict parser, for the same text.
struct Reference {
  bool valid = false;
  bool comparable = true;  // false: nlohmann-json may round an integer beyond int64
  nlohmann::json value;
};

// Parses with nlohmann-json. A repeated key is an error, unlike in nlohmann-json.
struct StrictSax : nlohmann::detail::json_sax_dom_parser<nlohmann::json> {
  using Base = nlohmann::detail::json_sax_dom_parser<nlohmann::json>;
  StrictSax(Reference& reference) : Base(reference.value, false), reference_(reference) {}
  bool start_object(size_t size) {
    keys_.emplace_back();
    return Base::start_object(size);
  }
  bool end_object() {
    keys_.pop_back();
    return Base::end_object();
  }
  bool key(std::string& name) { return keys_.back().insert(name).second && Base::key(name); }
  bool number_unsigned(uint64_t number) {
    if (number > INT64_MAX) reference_.comparable = false;
    return Base::number_unsigned(number);
  }
  bool number_float(double number, const std::string& text) {
    if (text.find_first_of(".eE") == std::string::npos) reference_.comparable = false;
    return Base::number_float(number, text);
  }

 private:
  Reference& reference_;
  std::vector<std::set<std::string>> keys_;
};

Reference Judge(const std::string& json) {
  Reference reference;
  StrictSax sax(reference);
  // nlohmann-json treats a NUL as the end of the text.
  reference.valid = json.find('\0') == std::string::npos && nlohmann::json::sax_parse(json, &sax) &&
                    reference.value.is_object();
  return reference;
}

// Returns `value` without null fields, because records do not keep null fields.
nlohmann::json WithoutNulls(const nlohmann::json& value) {
  if (!value.is_structured()) return value;
  nlohmann::json result = value.is_array() ? nlohmann::json::array() : nlohmann::json::object();
  for (const auto& [name, item] : value.items()) {
    if (value.is_array()) {
      result.push_back(WithoutNulls(item));
    } else if (!item.is_null()) {
      result[name] = WithoutNulls(item);
    }
  }
  return result;
}

// Changes `json` at random, like an editor or a faulty program.
void Mutate(std::string& json, std::mt19937& random) {
  static constexpr std::string_view kBytes = "{}[]:,\"\\ \t01-.eEtfnua+\x0c\x1a\x7f\xc3\xa9\xff";
  static constexpr std::string_view kParts[] = {
      "\"x\"", "\"y\":2",    "],",      ":1]",     ":1}",     "{},", "[1,",       "null",
      "true",  "nul",        "\\u00e9", "\\ud83d", "\\udc00", "1e5", "-0",        "01",
      "1.",    "garbage !!", "//",      "\"b\":",  ",,",      "1 2", "\"id\":1,", "1e-400"};
  const auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
  const size_t at = below(json.size());
  switch (random() % 6) {
    case 0:
      json[at] = kBytes[below(kBytes.size())];
      break;
    case 1:
      json.insert(at, 1, kBytes[below(kBytes.size())]);
      break;
    case 2:
      json.erase(at, 1 + below(3));
      break;
    case 3:
      json.insert(at, kParts[below(std::size(kParts))]);
      break;
    case 4:
      json.insert(at, json.substr(below(json.size()), 1 + below(12)));
      break;
    default:
      std::swap(json[at], json[below(json.size())]);
  }
  if (json.empty()) json = " ";
}

// The parser accepts the same lines as nlohmann-json and reads the same values.
TEST(JsonRecords, MutationsAreJudgedAsByAStrictParser) {
  const std::string lines[] = {
      R"({"id":7,"tags":["x","y"],"amount":5})",
      R"({"a":"b","c":3.5e-1,"d":[],"e":{},"f":null})",
      R"({"g":{"x":[1,2,[3]],"y":{"z":true}},"s":"q\"\\\n\u00e9\ud83d\ude00é","n":-12})",
      R"( { "l" : [ { "k" : "v" } , { } , null ] , "b" : [ true , false ] , "m" : [ [ ] , [ null ] ] } )",
      R"({"key":"abc","longer key that is not short":"value","a\"b":0,"d":1.25,"e":[1e3,-0]})",
  };
  // Valid JSON may be refused only for these documented reasons.
  const std::string documented[] = {"a field without a name", "which no type holds",
                                    "a second leaf column of this path", "no record has a field"};
  std::mt19937 random(17);
  uint64_t valid = 0, invalid = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string json = lines[random() % std::size(lines)];
    for (auto changes = 1 + random() % 3; changes > 0; --changes) Mutate(json, random);
    const Reference reference = Judge(json);
    ++(reference.valid ? valid : invalid);
    const auto schema = Infer({json});
    const auto printed =
        schema.ok() ? Print(*schema, json, JsonSchema::kFoundInAll) : schema.status();
    if (!reference.valid) {
      ASSERT_EQ(printed.status().code(), absl::StatusCode::kInvalidArgument) << json;
      continue;
    }
    if (!schema.ok()) {
      const std::string message(schema.status().message());
      const auto is_reason = [&](const std::string& reason) {
        return message.find(reason) != message.npos;
      };
      ASSERT_TRUE(std::any_of(std::begin(documented), std::end(documented), is_reason))
          << json << message;
      continue;
    }
    ASSERT_TRUE(printed.ok()) << json << printed.status();
    if (reference.comparable) {
      ASSERT_EQ(WithoutNulls(nlohmann::json::parse(*printed)), WithoutNulls(reference.value))
          << json;
    }
  }
  EXPECT_GT(valid, 10'000u);
  EXPECT_GT(invalid, 10'000u);
}

// The parser refuses invalid lines also with a given schema. In the test above, errors of the
// inference could hide invalid lines that the parser accepts.
TEST(JsonRecords, InvalidMutationsAreRefusedWithAGivenSchema) {
  const RecordSchema schema = TestSchema();
  const std::string lines[] = {
      R"({"i":7,"l":[{"x":1},null],"old":[1,2],"s":"x","d":0.5,"b":true})",
      R"({"m":{"a":1,"b":null},"ll":[[1],[]],"g":{"x":1,"y":2},"price":"0.01","big":5,"r":[1,2]})",
      R"({"s":"a\u00e9b","m":{},"bytes":"00ff","date":"2013-01-31","f":1.5e3,"u":7})",
  };
  std::mt19937 random(18);
  for (int round = 0; round < kRounds; ++round) {
    std::string json = lines[random() % std::size(lines)];
    for (auto changes = 1 + random() % 3; changes > 0; --changes) Mutate(json, random);
    if (Judge(json).valid) continue;
    ASSERT_EQ(Print(schema, json).status().code(), absl::StatusCode::kInvalidArgument) << json;
  }
}

// Invalid JSON is an error. Once, these lines were accepted and lost values.
TEST(JsonRecords, InvalidJsonIsAnError) {
  for (const char* json :
       {R"({"id":7,"tags":["x":1,"y":2}],"amount":5})", R"({"a":"b":garbage !! 1 2 3 ],"c":3})",
        R"({"a":nul,"b":1})", R"({"a":truex})", R"({"a":"b" "c":1})", R"({"a":["b" "c"]})",
        R"({"a":1.2.3})", R"({"a":+1})", R"({"a":.5})", R"({"a":"\ud83d"})", R"({"a":"\udc00"})",
        R"({"a":"\x"})", "{\"a\":\"\t\"}", R"({"a":1,})", R"({"a":[1,]})", R"({a:1})", R"({'a':1})",
        R"({"a":NaN})"}) {
    EXPECT_THAT(std::string(Infer({json}).status().message()), HasSubstr("invalid JSON")) << json;
  }
}

}  // namespace cfile::tools::json_records_test
