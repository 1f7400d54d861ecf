// Fuzz targets for texts that people write: CSV, JSON Lines, schemas, names of types, values of all
// types. The targets parse a text, print the result and parse it again.
#include <numeric>

#include "absl/strings/str_split.h"
#include "cfile/filter.h"
#include "cfile/record_schema.h"
#include "tests/fuzz/target.h"
#include "tools/import/csv_reader.h"
#include "tools/records/json_inference.h"
#include "tools/records/json_lines.h"
#include "tools/records/json_parser.h"
#include "tools/records/json_printer.h"
#include "tools/value_text.h"

namespace cfile::fuzz {
namespace {

using encodings::AsString;

void Csv(std::span<const uint8_t> bytes) {
  // The reader keeps views of the input. The input's buffer has exactly the size of the input, so
  // that AddressSanitizer detects reads past its end.
  tools::CsvReader reader("fuzz.csv", AsString(bytes), ',');
  uint64_t records = 0;
  while (true) {
    const uint64_t begin = reader.offset();
    const auto more = reader.Next();
    if (!more.ok()) return Expect(absl::IsInvalidArgument(more.status()));
    if (!*more) break;
    ++records;
    for (const tools::CsvField& field : reader.fields()) Touch(field.text);
    // A piece of the file that ends one byte after the begin of a record is extended to the end of
    // this record.
    Expect(reader.RecordEnd(begin, 0) <= reader.size());
    Expect(reader.RecordEnd(reader.record_offset(), 0) == reader.offset());
  }
  Expect(records <= reader.MaxRecords(0, reader.size()));
}

void ReadValue(const ColumnType& type, std::string_view text) {
  encodings::VisitPhysicalType(type.physical(), [&](auto t) {
    using T = typename decltype(t)::type;
    std::string scratch, again, scratch_again, third;
    const auto value = tools::ParseText<T>(type, text, scratch);
    if (!value.ok()) return;
    tools::AppendText<T>(type, *value, again);
    const auto parsed = tools::ParseText<T>(type, again, scratch_again);
    Expect(parsed.ok());
    tools::AppendText<T>(type, *parsed, third);
    Expect(again == third);
  });
}

// Input: a type, the end of the line, and a value.
void TypeAndValue(std::span<const uint8_t> bytes) {
  const std::string_view text = AsString(bytes);
  const size_t line = text.find('\n');
  const auto type = ColumnType::Parse(text.substr(0, line));
  if (!type.ok()) return;
  const auto again = ColumnType::Parse(type->ToString());
  Expect(again.ok() && *again == *type);
  if (line != text.npos) ReadValue(*type, text.substr(line + 1));
}

void SchemaText(std::span<const uint8_t> bytes) {
  const auto schema = RecordSchema::Parse(AsString(bytes));
  if (!schema.ok())
    return Expect(absl::IsInvalidArgument(schema.status()) || IsLimit(schema.status()));
  const auto again = RecordSchema::Parse(schema->ToString());
  Expect(again.ok() && *again == *schema);
}

void CheckConditions(const ParsedFilter& filter, size_t num_bytes) {
  for (const ParsedFilter& operand : filter.operands) CheckConditions(operand, num_bytes);
  const TextCondition& condition = filter.condition;
  if (condition.column.empty()) return;
  const auto names = ParseNames(NameAsWritten(condition.column));
  Expect(names.ok() && names->size() == 1 && names->front() == condition.column);
  for (const TextCondition::Value& value : condition.values) Expect(value.offset < num_bytes);
}

// If a filter parses, the names of its columns can be printed and parsed again.
void Where(std::span<const uint8_t> bytes) {
  const auto filter = ParseFilter(AsString(bytes));
  if (!filter.ok()) return Expect(absl::IsInvalidArgument(filter.status()));
  CheckConditions(*filter, bytes.size());
}

// A line of JSON, followed by the padding that the parsers need.
struct PaddedLine {
  explicit PaddedLine(std::string_view line)
      : bytes(std::string(line) + std::string(tools::kJsonPadding, '\0')), size(line.size()) {}
  std::string_view text() const { return std::string_view(bytes).substr(0, size); }
  std::string bytes;
  size_t size;
};

// Prints `lines` as records and returns the output. Stops at the first error.
std::string Printed(const RecordSchema& schema, tools::JsonSchema origin,
                    const std::vector<PaddedLine>& lines, absl::Status& status) {
  std::vector<size_t> leaves(schema.leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  std::string out;
  tools::JsonPrinter printer(schema, leaves, out);
  tools::JsonParser parser(schema, {.origin = origin});
  for (const PaddedLine& line : lines) {
    status = parser.Tell(line.text(), printer);
    if (!status.ok()) break;
  }
  return out;
}

std::vector<PaddedLine> Lines(std::string_view text) {
  std::vector<PaddedLine> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Input: records without a schema. All records must match the schema that is inferred from them.
// Their printed form must not change if it is parsed and printed again.
void JsonLines(std::span<const uint8_t> bytes) {
  const std::vector<PaddedLine> lines = Lines(AsString(bytes));
  tools::JsonInference inference;
  uint64_t number = 0;
  for (const PaddedLine& line : lines) {
    if (const absl::Status status = inference.Add(line.text(), ++number); !status.ok())
      return Expect(absl::IsInvalidArgument(status));
  }
  const auto schema = inference.Schema("record");
  if (!schema.ok())
    return Expect(absl::IsInvalidArgument(schema.status()) || IsLimit(schema.status()));
  const auto again = RecordSchema::Parse(schema->ToString());
  Expect(again.ok() && *again == *schema);
  absl::Status status;
  const std::string printed = Printed(*schema, tools::JsonSchema::kFoundInAll, lines, status);
  // With an inferred schema, the only possible error is a number out of range.
  if (!status.ok()) return Expect(absl::IsInvalidArgument(status));
  Expect(Printed(*schema, tools::JsonSchema::kGiven, Lines(printed), status) == printed);
  Expect(status.ok());
}

// Input: a schema, a blank line, and records.
void JsonWithSchema(std::span<const uint8_t> bytes) {
  const std::string_view text = AsString(bytes);
  const size_t end = text.find("\n\n");
  if (end == text.npos) return;
  const auto schema = RecordSchema::Parse(text.substr(0, end));
  if (!schema.ok()) return;
  for (const auto origin : {tools::JsonSchema::kGiven, tools::JsonSchema::kFoundInSome,
                            tools::JsonSchema::kFoundInAll}) {
    absl::Status status;
    (void)Printed(*schema, origin, Lines(text.substr(end + 2)), status);
    Expect(status.ok() || absl::IsInvalidArgument(status));
  }
}

std::vector<Bytes> Texts(std::initializer_list<const char*> texts) {
  std::vector<Bytes> seeds;
  for (const std::string_view text : texts) seeds.push_back(ToBytes(text));
  return seeds;
}

constexpr char kSchema[] =
    R"(message m { optional int64 i; optional int32 small (INT(8,true)) = 3; optional double d;
  optional binary s (STRING); optional int32 date (DATE); optional int64 t (TIMESTAMP(MICROS,true));
  optional fixed_len_byte_array(16) price (DECIMAL(20,2)); optional int128 big; repeated int32 r;
  optional group g { required int32 x, optional float "y z"; }
  optional group l (LIST) { repeated group list { optional group element { optional boolean b; } } }
  optional group m (MAP) { repeated group kv { required binary k (STRING); optional uuid v; } } })";
constexpr char kRecords[] =
    R"({"i":-9223372036854775808,"small":-128,"d":0.1,"s":"a\"b\\\n\u0001é","date":"2013-01-31"}
{"t":"2013-01-31T10:00:00.500000Z","price":"-0.01","big":"170141183460469231731687303715884105727"}
{"r":[1,2],"g":{"x":1,"y z":1e30},"l":[null,{},{"b":true}]}
{"l":[],"m":{"":"00112233-4455-6677-8899-aabbccddeeff","b":null},"d":"nan"})";

}  // namespace

std::vector<Target> Targets() {
  return {{"csv", Csv,
           [] {
             return Texts({"a,b\n1,\"x \"\"y\"\"\"\n",
                           "\xef\xbb\xbf"
                           "a\r\n\r\n1\r\n\"2\n\"\r\n"});
           }},
          {"type-and-value", TypeAndValue,
           [] {
             return Texts({"decimal(10,2)\n1.50", "timestamp(us,UTC)\n2013-01-31T10:00:00Z",
                           "timestamp(ns)\n1677-09-21T00:12:43.145224192", "time(ms)\n10:00:00.5",
                           "double\n-1.5e300", "float\nnan",
                           "uuid\n00112233-4455-6677-8899-aabbccddeeff",
                           "int128\n-170141183460469231731687303715884105728", "fixed(2)\n00ff",
                           "date\n-0001-12-31", "bool\ntrue", "string\nx",
                           "int96\n000000000000000000000000"});
           }},
          {"schema-text", SchemaText,
           [] {
             return Texts({kSchema, "message \"a b\" { required int96 \"\\\"\\\\\"; }"});
           }},
          {"where", Where,
           [] {
             return Texts({"\"First Name\" = 'O''Hare' and id in (1, x y,'') and b is not null",
                           "a between 1 and 2 AND b<>-1 and c like 'x%' and d begins y"});
           }},
          {"json-lines", JsonLines,
           [] {
             return Texts({kRecords, "{\"a\":[[1],[]],\"b\":{}}\n{\"a\":[],\"c\":1.5,\"b\":null}\n",
                           "{\"x\":18446744073709551615,\"y\":-0}\n\n{\"x\":0,\"z\":[{\"a\":1}]}"});
           }},
          {"json-with-schema", JsonWithSchema,
           [] { return std::vector<Bytes>{ToBytes(std::string(kSchema) + "\n\n" + kRecords)}; }}};
}

}  // namespace cfile::fuzz
