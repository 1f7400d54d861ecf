// Finds the schema of JSON records from all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/record_schema.h"

namespace cfile::tools {

// Add each record, then ask for the schema: one that keeps all of them exactly, but that a null and
// a field that is missing become the same.
//
//   object     a group; always empty: a map
//   array      a list in Parquet's standard form; never with an element: of strings
//   number     int64, or the first of these that holds all of the field's integers: uint64,
//              decimal(38,0), string (the digits). double where one has a fraction or an exponent,
//              or is -0, if a double holds all of the integers exactly
//   string, true and false
//   nothing but null             string
//
// Fields are in the order in which they first came, and required where they are never missing or
// null. Maps, dates and narrower numbers are the user's choice: edit the schema that was found.
//
// Thread-compatible. Memory grows with the schema, not with the records.
class JsonInference {
 public:
  // `limits`: those of the schema.
  explicit JsonInference(const RecordLimits& limits = {});
  ~JsonInference();

  // `line` is for messages. Precondition: kJsonPadding bytes after `json` may be read.
  // kInvalidArgument, with the field's path: `json` is not a JSON object, an object has a key
  // twice, the field has values of kinds that no type holds (the message names the line of the
  // first of the other kind), or a limit is exceeded.
  absl::Status Add(std::string_view json, uint64_t line);

  // False if an array or an object has always been empty: what the schema says of them is then a
  // guess, and may be otherwise when more records are added. Of all else further records only add
  // fields, make fields optional, or need another type for numbers.
  bool settled() const;

  // kInvalidArgument: there are no fields, or names that no schema can have.
  absl::StatusOr<RecordSchema> Schema(const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile::tools
