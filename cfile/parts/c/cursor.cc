#include "cfile/parts/c/cursor.h"

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

absl::Status ReportBatch(cfile_cursor& cursor, const absl::StatusOr<AnyBatch>& rows,
                         cfile_batch& batch) {
  if (rows.ok()) batch = BatchOf(cursor.type.physical(), *rows, cursor.copies);
  return rows.status();
}

// Holds a key of the column's C++ type.
class Key {
 public:
  // Call this function before the others.
  absl::Status Set(const ColumnType& type, const cfile_value& value) {
    return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
      CFILE_ASSIGN_OR_RETURN(const T key, ValueOf<T>(type, value));
      static_assert(sizeof(T) <= sizeof(bytes_));
      ::new (bytes_) T(key);
      return absl::OkStatus();
    });
  }
  const void* get() const { return bytes_; }

 private:
  alignas(int128_t) std::byte bytes_[sizeof(int128_t)];
};

absl::StatusOr<KeyPosition> Seek(cfile_cursor& cursor, const cfile_value& value) {
  Key key;
  CFILE_RETURN_IF_ERROR(key.Set(cursor.type, value));
  return cursor.cursor->SeekToKey(key.get());
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

absl::StatusOr<std::string> CompoundBytes(const std::vector<KeyColumn>& columns,
                                          std::span<const cfile_value> values) {
  CompoundKey key(columns);
  for (size_t i = 0; i < values.size(); ++i)
    CFILE_RETURN_IF_ERROR(AddToKey(columns[i], values[i], key));
  return std::string(key.bytes());
}

}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_cursor_clone(const cfile_cursor* cursor, cfile_cursor** clone) {
  return Call({cursor, clone}, [&]() -> absl::Status {
    if (cursor->broken) return absl::FailedPreconditionError("the cursor can only be freed");
    CFILE_ASSIGN_OR_RETURN(auto copy, cursor->cursor->Clone());
    *clone = new cfile_cursor{std::move(copy), cursor->type, cursor->key_columns};
    return absl::OkStatus();
  });
}

void cfile_cursor_free(cfile_cursor* cursor) { delete cursor; }

cfile_code cfile_cursor_next(cfile_cursor* cursor, size_t max_rows, cfile_batch* batch) {
  return CallOn(cursor, {batch}, [&]() -> absl::Status {
    if (max_rows == 0) return absl::InvalidArgumentError("max_rows is 0");
    return ReportBatch(*cursor, cursor->cursor->Next(max_rows), *batch);
  });
}

cfile_code cfile_cursor_previous(cfile_cursor* cursor, size_t max_rows, cfile_batch* batch) {
  return CallOn(cursor, {batch}, [&]() -> absl::Status {
    if (max_rows == 0) return absl::InvalidArgumentError("max_rows is 0");
    return ReportBatch(*cursor, cursor->cursor->Previous(max_rows), *batch);
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
  return CallOn(cursor, {key}, [&] { return ReportPosition(Seek(*cursor, *key), ordinal, exact); });
}

cfile_code cfile_cursor_seek_key_range(cfile_cursor* cursor, const cfile_value* low,
                                       const cfile_value* high, uint64_t* begin, uint64_t* end) {
  return CallOn(cursor, {}, [&]() -> absl::Status {
    Key bounds[2];
    if (low != nullptr) CFILE_RETURN_IF_ERROR(bounds[0].Set(cursor->type, *low));
    if (high != nullptr) CFILE_RETURN_IF_ERROR(bounds[1].Set(cursor->type, *high));
    CFILE_ASSIGN_OR_RETURN(
        const cfile::OrdinalRange range,
        cursor->cursor->SeekToKeyRange(low == nullptr ? nullptr : bounds[0].get(),
                                       high == nullptr ? nullptr : bounds[1].get()));
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
    CFILE_ASSIGN_OR_RETURN(const std::string key, CompoundBytes(columns, {values, num_values}));
    const cfile_value bytes = cfile_value_bytes(key.data(), key.size());
    return ReportPosition(Seek(*cursor, bytes), ordinal, exact);
  });
}

cfile_code cfile_cursor_take(cfile_cursor* cursor, const uint64_t* ordinals, size_t num_ordinals,
                             cfile_batch* batch) {
  return CallOn(cursor, {ArrayOf(ordinals, num_ordinals), batch}, [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(cursor->cursor->Take({ordinals, num_ordinals}, cursor->taken));
    return ReportBatch(*cursor, cursor->taken.batch(), *batch);
  });
}
