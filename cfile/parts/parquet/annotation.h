// Annotations of Parquet that a column type does not say. A table keeps the annotation of a leaf
// as a text, in a metadata pair of the column's file (kAnnotationKey), and export writes it back.
//
//   JSON, ENUM, BSON, FLOAT16, INTERVAL, TIME(UTC), UNKNOWN
//   GEOMETRY, GEOGRAPHY         with " algorithm=NUMBER" and " crs=TEXT" if the file has them
//   VARIANT                     of the group around the leaf, with " version=NUMBER"
#pragma once

#include <string>
#include <string_view>

#include "cfile/parts/parquet/metadata/messages.h"

namespace cfile::internal {

// Returns the annotation of `leaf`, or "" if its column type says it. Precondition:
// TypeFromParquet(leaf).ok().
std::string AnnotationToKeep(const parquet::SchemaElement& leaf);

// Returns the annotation of `group` that the first leaf in it keeps: VARIANT. Otherwise "".
std::string AnnotationOfGroup(const parquet::SchemaElement& group);

// Gives `leaf`, which TypeToParquet has made, or `group`, in which it is the first field, this
// annotation. Changes nothing if they cannot have it, or if the text is no annotation. `group` may
// be null. The elements may point into `text`.
void Annotate(std::string_view text, parquet::SchemaElement& leaf, parquet::SchemaElement* group);

// True if the values of `leaf` are ordered as its physical type says. False for FLOAT16, INTERVAL,
// GEOMETRY and GEOGRAPHY.
bool HasOrderOfItsBytes(const parquet::SchemaElement& leaf);

}  // namespace cfile::internal
