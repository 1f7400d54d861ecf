// Parses JSON records and passes their values to a RecordVisitor.
//
// A record or a plain group is an object. Its keys are the names of the fields, in any order. A key
// that is repeated in an object is an error, also in a map. The forms of other nodes and of values:
//
//   repeated field           [...]
//   group (LIST)             [...] of its elements
//   group (MAP)              {"KEY": VALUE, ...}; the order of entries is kept
//   bool                     true, false
//   numbers                  a number, or a string of its text; "nan" and "inf" must be strings. A
//                            number that is too near to 0 for a float or double becomes 0.
//   string                   a string
//   other types              a string in the form of tools/value_text.h; decimals also a number
//
// A field that is null and a field that is missing are the same. A null is kept as an element of a
// list and as a value of a map. A repeated field that is missing, null or [] has no elements. A
// missing LIST or MAP differs from an empty one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"
#include "tools/time_format.h"

namespace cfile::tools {

// Where a schema comes from.
enum class JsonSchema : uint8_t {
  // From the user, or from a table.
  kGiven,
  // From JsonInference, which has seen some of the records and is settled. A record that might have
  // led to another schema is an error, even if it fits this one, because the schema must be the one
  // that JsonInference finds from all records of the file.
  kFoundInSome,
  // From JsonInference, which has seen all of the records. A string field accepts numbers as text:
  // JsonInference finds a string for integers with too many digits.
  kFoundInAll,
};

struct JsonParserOptions {
  JsonSchema origin = JsonSchema::kGiven;
  // The types of leaves, by path, that users give, perhaps with a format. The schema has these
  // types. A string among these leaves accepts numbers and true and false as text.
  std::map<std::string, TextType> given = {};
  // With kFoundInSome: the paths of the leaves that had no values (JsonLeaf::has_values).
  std::set<std::string> without_values = {};
  // Those of JsonInference.
  OldestReader oldest_reader = OldestReader::kDefault;
  std::set<std::string, std::less<>> columns = {};
};

// Parses records of one schema, one after another. Thread-compatible.
class JsonParser {
 public:
  explicit JsonParser(const RecordSchema& schema, const JsonParserOptions& options = {});
  ~JsonParser();

  // Parses the record in `json` and passes it to the visitor. Precondition: kJsonPadding bytes
  // after `json` must be readable. kInvalidArgument, with the field's path: `json` is not valid
  // JSON, has a key twice in an object, or does not fit the schema. Also returns errors of the
  // visitor.
  absl::Status Tell(std::string_view json, RecordVisitor& visitor);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile::tools
