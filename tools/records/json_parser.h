// JSON records, told to whoever takes them.
//
// An object is a record or a plain group, its names are the fields', in any order, none of them
// twice. Where the schema says something else than plain groups and values, JSON has its own forms:
//
//   repeated field           [...]
//   group (LIST)             [...] of its elements
//   group (MAP)              {"KEY": VALUE, ...}, in the order and as often as they stand there
//   numbers, bool            a number, true, false; a number also as a string, "nan" and "inf" only
//   string                   a string
//   anything else            a string of the form that tools/value_text.h says; decimals also as a
//                            number
//
// null is what is missing: JSON has two ways to say it, the schema has one. As an element of a list
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

// Where a schema comes from: from the user, or from JsonInference when it has seen some of the
// records and is settled. In the latter case all that might have made it another one is an error,
// even if it goes with it: a schema that all records go with is the one found from all of them.
enum class JsonSchema : uint8_t { kGiven, kFound };

// Thread-compatible.
class JsonParser {
 public:
  explicit JsonParser(const RecordSchema& schema, JsonSchema origin = JsonSchema::kGiven);
  ~JsonParser();

  // Tells the one record that `json` is. Precondition: kJsonPadding bytes behind it may be read.
  // kInvalidArgument, with the field's path and type: it is no JSON or does not go with the schema.
  // Other errors are the visitor's.
  absl::Status Tell(std::string_view json, RecordVisitor& visitor);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile::tools
