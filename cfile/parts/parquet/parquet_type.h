// The types of leaf columns: Parquet's types become column types, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/parts/parquet/metadata/messages.h"
#include "cfile/types.h"

namespace cfile::internal {

// The number that stands for the converted type of a leaf without a converted type.
inline constexpr int32_t kNoType = -1;

// Returns the logical type. If there is none, returns the logical type that the converted type
// stands for, without members if there is neither.
parquet::LogicalType AnnotationOf(const parquet::SchemaElement& leaf);

// Returns the column type of a leaf: of its logical type, or of its converted type (the older
// form), or of its physical type. A decimal keeps the width that it has in the file: INT32 becomes
// decimal32 and INT64 decimal64, unless the precision needs more. Bytes become the narrowest
// decimal, but FIXED_LEN_BYTE_ARRAY(16) stays decimal128, whose pages are the same. The errors do
// not name the leaf. kDataLoss: the fields contradict each other. kUnimplemented: the type or its
// parameters are not known here; the error names them. Precondition: leaf.type is set.
absl::StatusOr<ColumnType> TypeFromParquet(const parquet::SchemaElement& leaf);

// Sets the fields of `leaf` that describe a type: type, type_length, converted_type, scale,
// precision and logical_type. Other fields stay as they are. int128 becomes DECIMAL(38, 0).
// Precondition: Validate(type).ok().
void TypeToParquet(const ColumnType& type, parquet::SchemaElement& leaf);

// Returns a timestamp that has a time zone with another one, and any other type as it is. "" is no
// time zone.
ColumnType WithTimeZone(const ColumnType& type, const std::string& time_zone);

// True if the types are equal, or differ only in the name of the time zone.
bool HasSameValues(const ColumnType& a, const ColumnType& b);

// By how much a value is multiplied before it is written to Parquet, which has no seconds: 1000 for
// times and timestamps in seconds, otherwise 1.
int64_t ParquetUnitsPerValue(const ColumnType& type);

// True if a block of one of Parquet's encodings has the same bytes in a column of `type` as in a
// data page of `leaf`.
bool HasSamePages(const parquet::SchemaElement& leaf, const ColumnType& type);

}  // namespace cfile::internal
