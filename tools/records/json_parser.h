// Parses JSON records and passes their values to a RecordVisitor.
//
// An object is a record or a plain group. Its keys are the names of the fields, in any order. A key
// that is repeated in an object is an error, also in a map. Where the schema has more than plain
// groups and values, JSON has its own forms:
//
//   repeated field           [...]
//   group (LIST)             [...] of its elements
//   group (MAP)              {"KEY": VALUE, ...}, in the order of the text
//   numbers, bool            a number, true, false; a number also as a string, "nan" and "inf" only
//                            so. A number that is too near to 0 for a float or double becomes 0.
//   string                   a string
//   anything else            a string of the form that tools/value_text.h says; decimals also as a
//                            number
//
// null is a missing value: JSON has two ways to say it, the schema has one. As an element of a list
// and as a value in a map it is kept. A repeated field that is missing, null or [] has no elements;
// only a list can be both missing and empty.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"

namespace cfile::tools {

// Where a schema comes from.
enum class JsonSchema : uint8_t {
  // The user.
  kGiven,
  // JsonInference, which has seen some of the records and is settled. A record is then an error if
  // it might have led to another schema, even if it goes with this one: the schema of a file is the
  // one found from all of its records.
  kFoundInSome,
  // JsonInference, which has seen all of the records. A string then takes a number as its text:
  // only integers of too many digits have led to that.
  kFoundInAll,
};

// Thread-compatible.
class JsonParser {
 public:
  explicit JsonParser(const RecordSchema& schema, JsonSchema origin = JsonSchema::kGiven);
  ~JsonParser();

  // Passes the record in `json` to the visitor. Precondition: kJsonPadding bytes after `json` may
  // be read. kInvalidArgument, with the field's path: `json` is not valid JSON, has a key twice in
  // an object, or does not go with the schema. Other errors are the visitor's.
  absl::Status Tell(std::string_view json, RecordVisitor& visitor);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile::tools
