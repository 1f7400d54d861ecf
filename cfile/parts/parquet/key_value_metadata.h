// The key-value metadata of Parquet files: pairs of texts, among them the schema of Arrow.
//
// A table keeps the pairs (TableReader::metadata). Each column keeps the annotation of
// its leaf in a pair of its own (annotation.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/options.h"
#include "cfile/parts/parquet/arrow_description.h"
#include "cfile/parts/parquet/metadata/messages.h"
#include "cfile/parts/parquet/pandas_metadata.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Returns the pairs that a table of all columns of the file keeps: all but those that only the
// writer of the file understands, and those that do not fit the header of a file with `options`.
// Adds a pair with `categories`.
MetadataPairs MetadataToKeep(const parquet::FileMetaData& file, const Categories& categories,
                             const WriterOptions& options);

// The maximum size, in bytes, of the pairs that the header of a file with `options` keeps.
size_t MaxKeptBytes(const WriterOptions& options);

// Removes the pairs that `other`, the pairs of another file with the same columns, does not have.
// Two descriptions for pandas are the same if they differ only in the labels of the rows
// (RangeIndex).
void KeepAgreedPairs(const MetadataPairs& other, MetadataPairs& pairs);

// Removes the pair with the categories, and returns them.
Categories TakeCategories(MetadataPairs& pairs);

// Removes what is true only of rows in the order of the file: pandas' RangeIndex.
void RemoveOrderOfRows(MetadataPairs& pairs);

// See arrow_description.h. Returns none if there is no schema of Arrow.
std::vector<ArrowLeaf> ArrowLeavesOf(const MetadataPairs& pairs, size_t num_leaves);

// Returns the Arrow fields of the columns of a Parquet file that was exported from a table with
// `schema`. Libraries of Arrow find the same fields in a file without ARROW:schema, except that
// timestamps have the time zones of their columns here. kUnimplemented: a column has no Arrow type.
absl::StatusOr<ArrowField> FieldsOf(const Schema& schema, const ParquetOfSchema& parquet);

// True if `field` describes correctly the column for which FieldsOf returns `own`. `field` may say
// more than `own`: for example, that strings are a dictionary, or that integers are a duration.
bool Describes(const ArrowField& field, const ArrowField& own);

// Makes the descriptions of columns true for the columns `parquet` of a table with `schema` and
// `num_rows` rows, which may have lost or got columns and rows after the pairs were written.
// ARROW:schema gets a field for each column: that of the pair, or a new one if the column now has
// another type. It is also written for columns with a time zone other than UTC, which Parquet
// cannot store. "pandas" loses the columns that the table does not have, and those of another type.
// `ordered`: the columns whose dictionary pages have all categories in their order; no others are
// described as ordered. Removes pairs that are not UTF-8, and pairs whose keys are in `others`,
// because `others` go into the same file.
void DescribeColumns(const Schema& schema, const ParquetOfSchema& parquet, uint64_t num_rows,
                     const std::set<std::string, std::less<>>& ordered, const MetadataPairs& others,
                     MetadataPairs& pairs);

}  // namespace cfile::internal
