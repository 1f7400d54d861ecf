#include "cfile/parts/c/merge_cursor.h"

#include <memory>
#include <optional>
#include <span>
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

// Calls visit(keys), where `keys` are the values as two keys of the cursor's table, nullopt for a
// key without values. `visit` has the type of the keys as its template parameter.
template <typename Visit>
absl::Status VisitKeys(const cfile_merge_cursor& cursor,
                       const std::span<const cfile_value> (&values)[2], Visit&& visit) {
  const Schema& schema = cursor.schema;
  const size_t most = schema.key_index() ? schema.key_columns.size() : 1;
  std::string bytes[2];
  cfile_value single[2] = {};
  for (const size_t i : {0, 1}) {
    if (values[i].size() > most) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected a key of at most ", most, " values, found ", values[i].size()));
    }
    if (values[i].empty()) continue;
    single[i] = values[i][0];
    if (!schema.key_index()) continue;
    CFILE_ASSIGN_OR_RETURN(bytes[i], CompoundBytes(schema.key_types(), values[i]));
    single[i] = cfile_value_bytes(bytes[i].data(), bytes[i].size());
  }
  const ColumnType type =
      schema.key_index() ? ColumnType::Binary() : schema.columns[cursor.cursor.key_column()].type;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    std::optional<T> keys[2];
    for (const size_t i : {0, 1}) {
      if (values[i].empty()) continue;
      CFILE_ASSIGN_OR_RETURN(keys[i], ValueOf<T>(type, single[i]));
    }
    return visit(keys);
  });
}

cfile_code ReadMerged(cfile_merge_cursor* cursor, size_t max_rows, size_t* num_rows,
                      absl::StatusOr<MergeBatch> (MergeCursor::*read)(size_t)) {
  return CallOn(cursor, {num_rows}, [&]() -> absl::Status {
    cursor->batch = {};
    if (max_rows == 0) return absl::InvalidArgumentError("max_rows is 0");
    CFILE_ASSIGN_OR_RETURN(cursor->batch, (cursor->cursor.*read)(max_rows));
    *num_rows = cursor->batch.num_rows();
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_table_merge_cursor(const cfile_table* table, const size_t* columns,
                                    size_t num_columns, cfile_merge_cursor** cursor) {
  return Call({table, ArrayOf(columns, num_columns), cursor}, [&]() -> absl::Status {
    const cfile::Schema& schema = table->reader.schema();
    std::vector<cfile::PhysicalType> types;
    for (const size_t column : std::span(columns, num_columns)) {
      if (column >= schema.columns.size()) return NoSuch("column", column, schema.columns.size());
      types.push_back(schema.columns[column].type.physical());
    }
    CFILE_ASSIGN_OR_RETURN(
        auto made, table->reader.NewMergeCursor({.columns = {columns, columns + num_columns}}));
    std::unique_ptr<cfile_merge_cursor> result(
        new cfile_merge_cursor{std::move(made), schema, std::move(types)});
    result->copies.resize(num_columns);
    *cursor = result.release();
    return absl::OkStatus();
  });
}

void cfile_merge_cursor_free(cfile_merge_cursor* cursor) { delete cursor; }

cfile_code cfile_merge_cursor_seek_key(cfile_merge_cursor* cursor, const cfile_value* key,
                                       size_t num_values, int32_t* exact) {
  return CallOn(cursor, {ArrayOf(key, num_values)}, [&]() -> absl::Status {
    cursor->batch = {};
    if (num_values == 0) return absl::InvalidArgumentError("the key has no values");
    return VisitKeys(*cursor, {{key, num_values}, {}}, [&](const auto& keys) -> absl::Status {
      CFILE_ASSIGN_OR_RETURN(const bool found, cursor->cursor.SeekToKey(*keys[0]));
      // The first values of a key may have the same bytes as a whole key whose last text is empty.
      const cfile::Schema& schema = cursor->schema;
      const size_t all = schema.key_index() ? schema.key_columns.size() : 1;
      if (exact != nullptr) *exact = found && num_values == all;
      return absl::OkStatus();
    });
  });
}

cfile_code cfile_merge_cursor_seek_key_range(cfile_merge_cursor* cursor, const cfile_value* low,
                                             size_t num_low, const cfile_value* high,
                                             size_t num_high) {
  return CallOn(cursor, {ArrayOf(low, num_low), ArrayOf(high, num_high)}, [&] {
    cursor->batch = {};
    return VisitKeys(*cursor, {{low, num_low}, {high, num_high}}, [&]<typename T>(T(&keys)[2]) {
      return cursor->cursor.SeekToKeyRange<typename T::value_type>(keys[0], keys[1]);
    });
  });
}

cfile_code cfile_merge_cursor_seek_end(cfile_merge_cursor* cursor) {
  return CallOn(cursor, {}, [&] {
    cursor->batch = {};
    return cursor->cursor.SeekToEnd();
  });
}

cfile_code cfile_merge_cursor_next(cfile_merge_cursor* cursor, size_t max_rows, size_t* num_rows) {
  return ReadMerged(cursor, max_rows, num_rows, &cfile::MergeCursor::Next);
}

cfile_code cfile_merge_cursor_previous(cfile_merge_cursor* cursor, size_t max_rows,
                                       size_t* num_rows) {
  return ReadMerged(cursor, max_rows, num_rows, &cfile::MergeCursor::Previous);
}

cfile_code cfile_merge_cursor_column(cfile_merge_cursor* cursor, size_t column,
                                     cfile_batch* batch) {
  return CallOn(cursor, {batch}, [&]() -> absl::Status {
    const size_t count = cursor->batch.empty() ? 0 : cursor->types.size();
    if (column >= count) return NoSuch("column", column, count);
    *batch = BatchOf(cursor->types[column], cursor->batch.untyped(column), cursor->copies[column]);
    return absl::OkStatus();
  });
}
