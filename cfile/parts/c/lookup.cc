#include "cfile/parts/c/lookup.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/parts/c/call.h"
#include "cfile/parts/c/cursor.h"
#include "cfile/parts/c/table.h"
#include "cfile/parts/c/value.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Finds the row of a key that holds values of `type`.
absl::Status Get(cfile_lookup& lookup, const ColumnType& type, const cfile_value& key) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const T value, ValueOf<T>(type, key));
    CFILE_ASSIGN_OR_RETURN(lookup.row, lookup.lookup.Get(value));
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_table_lookup(const cfile_table* table, const size_t* columns, size_t num_columns,
                              cfile_lookup** lookup) {
  return Call({table, ArrayOf(columns, num_columns), lookup}, [&]() -> absl::Status {
    const cfile::Schema& schema = table->reader.schema();
    std::vector<size_t> chosen(columns, columns + num_columns);
    for (const size_t column : chosen) {
      if (column >= schema.columns.size()) return NoSuch("column", column, schema.columns.size());
    }
    CFILE_ASSIGN_OR_RETURN(auto made, table->reader.NewLookup(chosen));
    *lookup = new cfile_lookup{std::move(made), schema, std::move(chosen)};
    (*lookup)->copies.resize(num_columns);
    return absl::OkStatus();
  });
}

void cfile_lookup_free(cfile_lookup* lookup) { delete lookup; }

cfile_code cfile_lookup_get(cfile_lookup* lookup, const cfile_value* key, size_t num_values,
                            int32_t* found, uint64_t* ordinal) {
  return CallOn(lookup, {ArrayOf(key, num_values), found}, [&]() -> absl::Status {
    lookup->row = {};
    const cfile::Schema& schema = lookup->schema;
    const size_t expected = schema.key_index() ? schema.key_columns.size() : 1;
    if (num_values != expected) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected a key of ", expected, " values, found ", num_values));
    }
    if (schema.key_index()) {
      CFILE_ASSIGN_OR_RETURN(const std::string bytes,
                             CompoundBytes(schema.key_types(), {key, num_values}));
      CFILE_RETURN_IF_ERROR(
          Get(*lookup, cfile::ColumnType::Binary(), cfile_value_bytes(bytes.data(), bytes.size())));
    } else {
      CFILE_RETURN_IF_ERROR(Get(*lookup, schema.columns[lookup->lookup.key_column()].type, *key));
    }
    *found = lookup->row.found();
    if (*found != 0 && ordinal != nullptr) *ordinal = lookup->row.ordinal();
    return absl::OkStatus();
  });
}

cfile_code cfile_lookup_column(cfile_lookup* lookup, size_t column, cfile_batch* batch) {
  return CallOn(lookup, {batch}, [&]() -> absl::Status {
    const size_t count = lookup->row.found() ? lookup->columns.size() : 0;
    if (column >= count) return NoSuch("column", column, count);
    const cfile::ColumnType& type = lookup->schema.columns[lookup->columns[column]].type;
    *batch = BatchOf(type.physical(), lookup->row.untyped(column), lookup->copies[column]);
    return absl::OkStatus();
  });
}
