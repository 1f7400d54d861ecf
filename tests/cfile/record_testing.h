// Helpers for tests of records. A record is a JSON object that has the shape of the schema, as in
// tests/golden/parquet/nested: a list is an object for the list group, which holds an array of the
// elements.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"
#include "nlohmann/json.hpp"

namespace cfile {

using Json = nlohmann::json;

// For each type of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
Json ValueToJson(const T& value);

// Calls `visitor` with one occurrence of `node` whose contents are `json`.
absl::Status TellJson(const RecordSchema& schema, size_t node, const Json& json,
                      RecordVisitor& visitor);

// Collects records as JSON. A repeated field without elements is absent from the object.
class JsonVisitor final : public RecordVisitor {
 public:
  explicit JsonVisitor(const RecordSchema& schema) : schema_(schema) {}

  std::vector<Json> records;

  absl::Status BeginGroup(size_t node) override;
  absl::Status EndGroup(size_t) override;
  absl::Status Value(size_t node, const RecordValue& value) override;

 private:
  Json& Add(size_t node, Json value);

  const RecordSchema schema_;
  std::vector<Json*> open_;
};

// Returns `record` in the form in which it is read back: without repeated fields that have no
// elements. If `leaves` is not empty, only these leaves and their groups remain.
Json Stored(const RecordSchema& schema, const Json& record, const std::vector<size_t>& leaves = {},
            size_t node = 0);

}  // namespace cfile
