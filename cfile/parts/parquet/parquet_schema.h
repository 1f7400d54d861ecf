// The schema of a Parquet file becomes the schema of a table, and back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/parts/parquet/metadata/messages.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"
#include "cfile/types.h"

namespace cfile::internal {

// A leaf of a Parquet schema that is a column of a table.
struct ParquetLeaf {
  size_t element = 0;  // the position of the leaf in FileMetaData::schema
  // Among all leaves of the Parquet schema: the position of the column chunk in its row group.
  size_t chunk = 0;
  size_t column = 0;  // the position of the column in Schema::columns
  uint16_t max_repetition = 0;
  uint16_t max_definition = 0;
  bool same_pages = false;  // HasSamePages (parquet_type.h)
};

// The schema of the table that holds the rows of a Parquet file.
struct SchemaOfParquet {
  Schema schema;                    // has a tree only if there is a group or a repeated leaf
  std::vector<ParquetLeaf> leaves;  // one for each column, in order
  std::vector<std::string> names;   // of all top-level columns of the file
};

// `columns`: the names of the top-level columns to take; empty: all of them. Their order is that of
// the file. All errors name the column. kDataLoss: the elements are not a tree, or a type
// contradicts itself. kUnimplemented: a type is not known here, a group has no fields, or there are
// no columns. kInvalidArgument: a table cannot have these names, because one is empty or occurs
// twice, or the file has no column of a name in `columns` (no error if `may_lack` is true).
// kOutOfRange: the schema exceeds one of `limits`.
//
// A LIST or MAP that does not have the structure of GroupKind becomes a plain group, or a list if
// it has the structure of a list, so that no value is lost.
absl::StatusOr<SchemaOfParquet> SchemaFromParquet(const parquet::FileMetaData& file,
                                                  std::span<const std::string> columns,
                                                  const RecordLimits& limits,
                                                  bool may_lack = false);

// The Parquet schema of a table. The names in `elements` point into `tree`.
struct ParquetOfSchema {
  std::unique_ptr<const RecordSchema> tree;  // of the columns that were taken; node i is element i
  std::vector<parquet::SchemaElement> elements;
  std::vector<ParquetLeaf> leaves;  // one for each leaf of `tree`, in order

  // The names on the way from the root (excluded) to a leaf, for ColumnMetaData::path_in_schema.
  std::vector<std::string_view> Path(const ParquetLeaf& leaf) const;
};

// `columns`: the names of the top-level columns to take; empty: all. kInvalidArgument: there is no
// column of one of these names. kUnimplemented: a column outside of a tree has levels that no list
// has (cfile/arrow.h); the error names the column. Precondition: the schema is that of a table.
absl::StatusOr<ParquetOfSchema> SchemaToParquet(const Schema& schema,
                                                std::span<const std::string> columns);

}  // namespace cfile::internal
