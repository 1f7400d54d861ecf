#include "cfile/record_schema.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cfile/column_testing.h"

namespace cfile::record_schema_test {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSeed = R"(message Record {
	required string sid, 
	repeated long appid,
	optional group tcp {
		optional long mss,
		optional long flag
	},
	repeated group trans {
		optional string uri,
		optional int monitor_flag
	}
}
)";

TEST(RecordSchema, SeedText) {
  const auto schema = RecordSchema::Parse(kSeed);
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->node(0).name, "Record");
  std::vector<std::string> leaves;
  for (const size_t leaf : schema->leaves()) {
    const RecordNode& node = schema->node(leaf);
    leaves.push_back(absl::StrCat(schema->Path(leaf), " ", node.type.ToString(), " ",
                                  node.max_repetition, " ", node.max_definition));
  }
  EXPECT_THAT(leaves, testing::ElementsAre("sid string 0 0", "appid int64 1 1", "tcp.mss int64 0 2",
                                           "tcp.flag int64 0 2", "trans.uri string 1 2",
                                           "trans.monitor_flag int32 1 2"));
  EXPECT_EQ(schema->ToString(), R"(message Record {
  required binary sid (STRING);
  repeated int64 appid;
  optional group tcp {
    optional int64 mss;
    optional int64 flag;
  }
  repeated group trans {
    optional binary uri (STRING);
    optional int32 monitor_flag;
  }
}
)");
  EXPECT_EQ(schema->SelectLeaves(std::vector<std::string>{"trans", "tcp.flag"}).value(),
            (std::vector<size_t>{3, 4, 5}));
  EXPECT_EQ(schema->node(6).parent, 0u);
  EXPECT_EQ(schema->node(3).end, 6u);
  EXPECT_THAT(schema->SelectLeaves(std::vector<std::string>{"tcp.x"}).status().message(),
              HasSubstr("no field tcp.x"));
}

// Every type can be printed and parsed again.
TEST(RecordSchema, TypesMakeARoundTrip) {
  std::vector<ColumnType> types = testing_support::AllColumnTypes();
  types.push_back({.data_type = DataType::kDecimal32});
  types.push_back({.data_type = DataType::kDecimal64, .decimal_precision = 5, .decimal_scale = 1});
  types.push_back(ColumnType::Time(TimeUnit::kSeconds));
  types.push_back(ColumnType::Timestamp(TimeUnit::kSeconds));
  std::vector<RecordNode> nodes = {{.name = "m", .num_children = types.size()}};
  for (const ColumnType& type : types) {
    nodes.push_back({.name = absl::StrCat("f", nodes.size()),
                     .repetition = static_cast<Repetition>(nodes.size() % 3),
                     .type = type});
  }
  const auto schema = RecordSchema::Create(nodes);
  ASSERT_TRUE(schema.ok()) << schema.status();
  const auto again = RecordSchema::Parse(schema->ToString());
  ASSERT_TRUE(again.ok()) << again.status() << schema->ToString();
  EXPECT_EQ(*again, *schema) << schema->ToString();
}

TEST(RecordSchema, AnnotationsNumbersAndQuotedNames) {
  const auto schema = RecordSchema::Parse(R"(message "my record" {
    optional group "a \"b\"" (LIST) = 1 { repeated group list { optional binary e (UTF8) = 2; } }
    optional group m (MAP) { repeated group kv (MAP_KEY_VALUE) { required int32 k (DATE); required int96 v } }
    required group old (LIST) { repeated int64 array (TIMESTAMP(MILLIS, false)) }
    required int64 t (TIMESTAMP_MICROS);
    required timestamp(s,UTC) u,
    required int32 i (INT(8, true));
  })");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->Path(schema->leaves()[0]), "a \"b\".list.e");
  EXPECT_EQ(schema->node(1).kind, GroupKind::kList);
  EXPECT_EQ(schema->ListElement(1), 3u);
  EXPECT_EQ(schema->node(4).kind, GroupKind::kMap);
  EXPECT_EQ(schema->ListElement(8), 9u);
  // In older forms of lists of maps, of lists and of groups, the repeated group is the element.
  const auto old = RecordSchema::Parse(R"(message m {
    required group a (LIST) { repeated group b (MAP) { repeated group kv { required int32 k; required int32 v } } }
    required group c (LIST) { repeated group d (LIST) { repeated int32 e } }
    required group f (LIST) { repeated group f_tuple { required int32 e } }
  })");
  ASSERT_TRUE(old.ok()) << old.status();
  for (const size_t list : {1, 6, 9}) EXPECT_EQ(old->ListElement(list), list + 1);
  EXPECT_EQ(schema->leaf(3).type, ColumnType::Timestamp(TimeUnit::kMillis, ""));
  EXPECT_EQ(schema->leaf(4).type, ColumnType::Timestamp(TimeUnit::kMicros));
  EXPECT_EQ(schema->leaf(6).type, ColumnType::Int8());
  EXPECT_EQ(RecordSchema::Parse(schema->ToString()).value(), *schema);
}

TEST(RecordSchema, ControlCharactersInNamesAreEscaped) {
  const auto schema = RecordSchema::Parse(
      R"(message m { optional int32 "e\x1b[0m\x0A"; optional int32 "\\x41\x\xg0"; })");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->Path(1), "e\x1b[0m\n");
  EXPECT_EQ(schema->Path(2), "\\x41xxg0");
  EXPECT_EQ(schema->ToString(),
            "message m {\n  optional int32 \"e\\x1b[0m\\x0a\";\n  optional int32 \\x41xxg0;\n}\n");
  // Names may contain every byte, including the characters of quotes and escapes.
  for (int byte = 1; byte < 256; ++byte) {
    const std::string c(1, static_cast<char>(byte));
    const auto odd = RecordSchema::Create(
        {{.name = c, .num_children = 2}, {.name = "\\x" + c + "41"}, {.name = c + "\\x41\x1f"}});
    ASSERT_TRUE(odd.ok()) << odd.status();
    const auto again = RecordSchema::Parse(odd->ToString());
    ASSERT_TRUE(again.ok()) << again.status() << odd->ToString();
    EXPECT_EQ(*again, *odd) << odd->ToString();
  }
}

TEST(RecordSchema, ErrorsSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "1:1: 'message' expected, found the end of the text"},
      {"message m {}", "1:12: required, optional or repeated expected, found '}'"},
      {"message m {\n  required int32 a\n  required int32 b }", "3:3: ';' expected"},
      {"message m { required int33 a; }", "1:22: \"int33\" is not a column type"},
      {"message m { required int32 a (STRING); }", "1:31: STRING is not an annotation of int32"},
      {"message m { required int32 a (TIMESTAMP(MILLIS,true)); }", "1:31: TIMESTAMP(MILLIS,true)"},
      {"message m { required int32 a (DECIMAL(10,2)); }", "1:31: DECIMAL(10,2) is no"},
      {"message m {\n required int32 a;\n optional int64 a; }",
       "3:2: a: the group has a second field"},
      {"message m { required group g { required int32 a;", "1:49: required, optional"},
      {"message m { required group g (LIST) { optional int32 a; } }", "1:13: g: the field of a"},
      {"message m { required group g (MAP) { repeated int32 a; } }", "1:13: g: the field of a map"},
      {"message m { required group g (SET) { repeated int32 a; } }", "1:31: LIST or MAP expected"},
      {"message m { required int32 \"a; }", "1:28: a quoted name has no closing quote"},
      {"message m { required int32 a; } x", "1:33: the end of the text expected, found 'x'"},
      {"message m { required int32 a; } \"\"", "1:33: the end of the text expected"},
      {"message m { required binary a (STRING(1)); }", "1:32: STRING(1) is not an annotation"},
      {"message m { required int32 a (DATE(1)); }", "1:31: DATE(1) is not an annotation"},
      {"message m { required int32 a (INT_8(8)); }", "1:31: INT_8(8) is not an annotation"},
      {"message m { required fixed_len_byte_array(16) a (UUID(1)); }", "1:50: UUID(1) is no"},
      {"message m { required int64 a (TIMESTAMP(MICROS,yes)); }", "1:31: TIMESTAMP(MICROS,yes)"},
      {"message m { required int64 a (TIMESTAMP_MICROS(true)); }", "1:31: TIMESTAMP_MICROS(true)"},
      {"message m { required fixed_len_byte_array(16,2) a; }", "1:22: "},
      {"message m { required int32 ; }", "1:28: a name expected, found ';'"},
      {"message m { required int32 a.b; required group a { required int32 b; } }",
       "1:52: a.b: the schema has a second leaf column of this path"},
      {"message m { required int32 a = x; }", "1:32: a number expected"},
      {"message m { required int32 a (INT(8)); }", "1:31: INT(8) is not an annotation"},
      {"message m { required decimal(1,2,3) a; }", "1:34: at most 2 arguments"},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = RecordSchema::Parse(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), StartsWith(message)) << text;
  }
}

TEST(RecordSchema, HostileTexts) {
  std::string deep = "message m {";
  for (int i = 0; i < 1'000'000; ++i) deep += "required group g {";
  EXPECT_TRUE(absl::IsOutOfRange(RecordSchema::Parse(deep).status()));
  EXPECT_THAT(RecordSchema::Parse(deep).status().message(),
              HasSubstr("above the limit of 64: raise max_depth"));
  std::string wide = "message m {";
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&wide, "required int32 f", i, ";");
  EXPECT_TRUE(absl::IsOutOfRange(RecordSchema::Parse(wide + "}").status()));
  EXPECT_THAT(RecordSchema::Parse(wide + "}").status().message(),
              HasSubstr("above the limit of 10000: raise max_leaves"));
  const std::string name(5000, 'x');
  EXPECT_THAT(
      std::string(
          RecordSchema::Parse("message m { required int32 " + name + "; }").status().message()),
      testing::AllOf(StartsWith("1:13: "),
                     HasSubstr("above the limit of 4096: raise max_path_size_bytes")));
  // Every prefix of a schema's text is an error and does not crash the parser.
  for (size_t size = 0; size + 2 < kSeed.size(); ++size) {
    EXPECT_FALSE(RecordSchema::Parse(kSeed.substr(0, size)).ok()) << size;
  }
}

TEST(RecordSchema, NodesThatMakeNoTree) {
  const RecordNode leaf{.name = "a"};
  EXPECT_FALSE(RecordSchema::Create({}).ok());
  EXPECT_FALSE(RecordSchema::Create({leaf}).ok());
  EXPECT_FALSE(RecordSchema::Create({{.name = "m", .num_children = 2}, leaf}).ok());
  EXPECT_FALSE(RecordSchema::Create({{.name = "m", .num_children = 1}, leaf, leaf}).ok());
  EXPECT_FALSE(RecordSchema::Create({{.name = "m", .num_children = 1}, {.name = ""}}).ok());
  EXPECT_TRUE(RecordSchema::Create({{.name = "m", .num_children = 1}, leaf}).ok());
}

}  // namespace cfile::record_schema_test
