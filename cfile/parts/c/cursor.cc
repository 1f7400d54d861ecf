#include "cfile/parts/c/cursor.h"

#include <type_traits>
#include <utility>

#include "cfile/compound_key.h"
#include "cfile/parts/c/call.h"
#include "cfile/parts/c/value.h"
#include "cfile/types.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

absl::Status ReportPosition(const absl::StatusOr<KeyPosition>& position, uint64_t* ordinal,
                            int32_t* exact) {
  if (!position.ok()) return position.status();
  if (ordinal != nullptr) *ordinal = position->ordinal;
  if (exact != nullptr) *exact = position->exact;
  return absl::OkStatus();
}

absl::Status AddToKey(const KeyColumn& column, const cfile_value& value, CompoundKey& key) {
  if (value.kind == CFILE_VALUE_NULL && column.nullable) {
    key.AddNull();
    return absl::OkStatus();
  }
  return VisitType(column.type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const T part, ValueOf<T>(column.type, value));
    if (!IsKey(part)) return absl::InvalidArgumentError("a key is NaN, which has no order");
    key.Add<T>(part);
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_cursor_clone(const cfile_cursor* cursor, cfile_cursor** clone) {
  return Call({cursor, clone}, [&]() -> absl::Status {
    if (cursor->broken) return absl::FailedPreconditionError("the cursor can only be freed");
    auto result = std::make_unique<cfile_cursor>();
    CFILE_ASSIGN_OR_RETURN(result->cursor, cursor->cursor->Clone());
    result->key_columns = cursor->key_columns;
    *clone = result.release();
    return absl::OkStatus();
  });
}

void cfile_cursor_free(cfile_cursor* cursor) { delete cursor; }

cfile_code cfile_cursor_next(cfile_cursor* cursor, size_t max_rows, cfile_batch* batch) {
  return CallOn(cursor, {batch}, [&]() -> absl::Status {
    if (max_rows == 0) return absl::InvalidArgumentError("max_rows is 0");
    return cursor->cursor->Next(max_rows, *batch);
  });
}

cfile_code cfile_cursor_previous(cfile_cursor* cursor, size_t max_rows, cfile_batch* batch) {
  return CallOn(cursor, {batch}, [&]() -> absl::Status {
    if (max_rows == 0) return absl::InvalidArgumentError("max_rows is 0");
    return cursor->cursor->Previous(max_rows, *batch);
  });
}

uint64_t cfile_cursor_ordinal(const cfile_cursor* cursor) { return cursor->cursor->ordinal(); }

cfile_code cfile_cursor_seek(cfile_cursor* cursor, uint64_t ordinal) {
  return CallOn(cursor, {}, [&] { return cursor->cursor->SeekToOrdinal(ordinal); });
}

cfile_code cfile_cursor_seek_range(cfile_cursor* cursor, uint64_t begin, uint64_t end) {
  return CallOn(cursor, {}, [&]() -> absl::Status {
    if (begin > end) {
      return absl::InvalidArgumentError(
          absl::StrCat("the range begins at ", begin, " and ends at ", end));
    }
    return cursor->cursor->SeekToRange({.begin = begin, .end = end});
  });
}

cfile_code cfile_cursor_seek_key(cfile_cursor* cursor, const cfile_value* key, uint64_t* ordinal,
                                 int32_t* exact) {
  return CallOn(cursor, {key},
                [&] { return ReportPosition(cursor->cursor->SeekToKey(*key), ordinal, exact); });
}

cfile_code cfile_cursor_seek_key_range(cfile_cursor* cursor, const cfile_value* low,
                                       const cfile_value* high, uint64_t* begin, uint64_t* end) {
  return CallOn(cursor, {}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const cfile::OrdinalRange range,
                           cursor->cursor->SeekToKeyRange(low, high));
    if (begin != nullptr) *begin = range.begin;
    if (end != nullptr) *end = range.end;
    return absl::OkStatus();
  });
}

cfile_code cfile_cursor_seek_compound_key(cfile_cursor* cursor, const cfile_value* values,
                                          size_t num_values, uint64_t* ordinal, int32_t* exact) {
  return CallOn(cursor, {ArrayOf(values, num_values)}, [&]() -> absl::Status {
    const auto& columns = cursor->key_columns;
    if (num_values == 0 || num_values > columns.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a key of ", num_values, " values, but the column's keys have ",
                       columns.size(), " columns; only key indexes have such keys"));
    }
    cfile::CompoundKey key(columns);
    for (size_t i = 0; i < num_values; ++i)
      CFILE_RETURN_IF_ERROR(AddToKey(columns[i], values[i], key));
    const cfile_value bytes = cfile_value_bytes(key.bytes().data(), key.bytes().size());
    return ReportPosition(cursor->cursor->SeekToKey(bytes), ordinal, exact);
  });
}

cfile_code cfile_cursor_take(cfile_cursor* cursor, const uint64_t* ordinals, size_t num_ordinals,
                             cfile_batch* batch) {
  return CallOn(cursor, {ArrayOf(ordinals, num_ordinals), batch}, [&] {
    return cursor->cursor->Take({ordinals, num_ordinals}, *batch);
  });
}
