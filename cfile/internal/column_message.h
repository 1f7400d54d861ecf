// How a ColumnType stands in messages: Kudu's number and our extensions (cfile/FORMAT.md,
// Messages).
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "cfile/types.h"
#include "proto/cfile.pb.h"

namespace cfile::internal {

// What Kudu's own field says where the number stands in the extensions: unknown in all its enums.
inline constexpr int32_t kNumberInExtensions = 999;

// Returns what Kudu's field says of `type` and sets the fields of `extensions` that say the rest.
// Precondition: Validate(type).ok().
int32_t DescribeType(const ColumnType& type, ExtensionsPB& extensions);

// The type that DescribeType made these of. kDataLoss: they do not go together; kUnimplemented: a
// number that is not known.
absl::StatusOr<ColumnType> InterpretType(int32_t data_type, const ExtensionsPB& extensions);

}  // namespace cfile::internal
