// The key-value metadata of Parquet files: pairs of texts, among them the schema of Arrow.
//
// A table keeps the pairs in the header of its first column. Each column keeps the annotation of
// its leaf in a pair of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfile/internal/parquet/metadata/messages.h"
#include "cfile/options.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

using MetadataPairs = std::vector<std::pair<std::string, std::string>>;

// The value of this pair is the name of an annotation (AnnotationToKeep).
inline constexpr std::string_view kAnnotationKey = "PARQUET:logical_type";

// Returns the pairs that a table of all columns of the file keeps: all but those that only the
// writer of the file understands, and those that do not fit the header of a file with `options`.
MetadataPairs MetadataToKeep(const parquet::FileMetaData& file, const WriterOptions& options);

// What the schema of Arrow says about a leaf of the Parquet schema.
struct ArrowLeaf {
  std::string time_zone;       // "": none
  bool is_dictionary = false;  // libraries of Arrow read the values as a dictionary
};

// Returns one for each leaf. Returns none if there is no schema of Arrow, or if it is damaged or
// has other leaves: Parquet files need no schema of Arrow.
std::vector<ArrowLeaf> ArrowLeavesOf(const MetadataPairs& pairs, size_t num_leaves);
std::vector<ArrowLeaf> ArrowLeavesOf(const parquet::FileMetaData& file);

// Removes the pairs that describe columns if their names are not those of `schema`: someone has
// changed the columns of the table after its import. Also removes what is not UTF-8.
void RemoveStalePairs(const RecordSchema& schema, MetadataPairs& pairs);

// Adds a schema of Arrow if a column has another time zone than UTC, which Parquet cannot say, and
// there is no such schema. `columns`: the exported columns, in order.
void AddTimeZones(const Schema& schema, const std::vector<size_t>& columns, MetadataPairs& pairs);

}  // namespace cfile::internal
