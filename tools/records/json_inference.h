// Finds the schema of JSON records.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/record_schema.h"
#include "tools/records/type_inference.h"
#include "tools/time_format.h"

namespace cfile::tools {

// What is known about a leaf besides its type.
struct JsonLeaf {
  bool has_values = false;
  TypeReason reason;  // why it has its type
};

// Infers the schema of records: call Add for each record, then Schema. Tables with this schema
// store the records without loss, except that a null field and a missing field become the same.
//
//   object           a group; a map if the object is always empty
//   array            a list in Parquet's standard form; of strings if it never has an element
//   number           int64, or the first of these that holds all integers of the field: uint64,
//                    decimal(38,0), string (the digits). double if a number has a fraction or an
//                    exponent or is -0, and a double holds all integers exactly
//   string           date or timestamp if TypeInference finds it for all strings of the field,
//                    otherwise string
//   true and false   bool
//   only nulls       string
//
// Fields are in the order in which they first came. A field is required if it is never missing or
// null. For other maps or narrower numbers, users edit the schema.
//
// Thread-compatible. Memory grows with the schema, not with the records.
class JsonInference {
 public:
  // `limits`: the limits of the schema. `given`: the types of leaves that users give, by path. Such
  // a leaf may have values of several kinds, also objects and arrays if TextType::json is set, and
  // its type in the schema has no meaning. `columns`: the fields of a record; others are left out.
  // Empty: all. `oldest_reader`: see TypeInference::Type.
  explicit JsonInference(const RecordLimits& limits = {},
                         std::map<std::string, TextType> given = {},
                         OldestReader oldest_reader = OldestReader::kDefault,
                         std::set<std::string, std::less<>> columns = {});
  ~JsonInference();

  // Adds a record. `line` is its line, for messages. Precondition: kJsonPadding bytes after `json`
  // must be readable. kInvalidArgument, with the field's path: `json` is not a JSON object, an
  // object has a key twice, or no type holds the kinds of values of a field (the message has the
  // line of the first value of the other kind). kOutOfRange: a limit is exceeded.
  absl::Status Add(std::string_view json, uint64_t line);

  // False if an array or an object has always been empty, or if a field is a timestamp in
  // nanoseconds: its type is then a guess that more records may change. If true, more records can
  // only add fields, make fields optional, or change the type of fields that JsonParser checks.
  bool settled() const;

  // The schema of the records so far; `name` is the name of its root. kInvalidArgument: there are
  // no fields, or there are names that no schema can have.
  absl::StatusOr<RecordSchema> Schema(const std::string& name) const;
  // The leaves of the schema, in its order.
  std::vector<JsonLeaf> Leaves() const;
  // The names of the fields of the records, also of those that are left out.
  std::vector<std::string> FieldNames() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile::tools
