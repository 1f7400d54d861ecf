// Converts a ColumnType to and from fields of messages: Kudu's number of the type and this
// library's extensions (cfile/FORMAT.md, Messages).
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "cfile/core/wire/messages.h"
#include "cfile/types.h"

namespace cfile::internal {

// The value of Kudu's own field if the real number is in the extensions; no enum of Kudu has it.
inline constexpr int32_t kNumberInExtensions = 999;

// True if this number of a type, encoding or codec is an extension: Kudu does not have it.
constexpr bool NeedsExtension(uint32_t number) { return number >= encodings::kFirstExtendedNumber; }

// True if the footer needs wire::Extensions to describe `type`.
bool NeedsExtension(const ColumnType& type);

// Returns the value of Kudu's field for `type` and sets the fields of `extensions` that describe
// the rest of the type. Their texts point into `type`. Precondition: Validate(type).ok().
int32_t DescribeType(const ColumnType& type, wire::Extensions& extensions);

// The reverse of DescribeType. kDataLoss: the fields contradict each other; kUnimplemented: a
// number is unknown.
absl::StatusOr<ColumnType> InterpretType(int32_t data_type, const wire::Extensions& extensions);

// True if a file whose metadata has the type `stored` can belong to a column of type `column`: the
// types are equal, or they differ only because the file does not store the precision and the scale
// of decimals. Files of version 1 and files for Kudu cannot store precision and scale.
bool FitsColumn(const ColumnType& stored, const ColumnType& column);

}  // namespace cfile::internal
