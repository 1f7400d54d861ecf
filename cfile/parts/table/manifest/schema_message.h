// Converts the schema of a table to its message in table.cft and back (cfile/FORMAT.md, Table).
#pragma once

#include "absl/status/status.h"
#include "cfile/core/wire/messages.h"
#include "cfile/options.h"
#include "cfile/parts/table/manifest/table_contents.h"

namespace cfile::internal {

// Sets the schema, the key columns and the identities of `contents` from `message`. kDataLoss or
// kInvalidArgument: the message contradicts itself. kOutOfRange: it exceeds a limit.
// kUnimplemented: a type is unknown. The caller must then check the schema (ValidateSchema) and the
// identities (CheckIdentities).
absl::Status ParseSchema(const wire::Table& message, const RecordLimits& limits,
                         TableContents& contents);

// kDataLoss if the ids of columns are not unique or not below the next id, or a default is not a
// value of its column.
absl::Status CheckIdentities(const TableContents& contents);

// Sets the fields of `message` that ParseSchema reads; its texts point into `contents`.
void SerializeSchema(const TableContents& contents, wire::Table& message);

}  // namespace cfile::internal
