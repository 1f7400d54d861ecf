// Imports Arrow data through the Arrow C Data Interface and the Arrow C Stream Interface
// (https://arrow.apache.org/docs/format/CDataInterface.html). Needs no Arrow library. Errors of all
// calls: cfile/CONCEPTS.md.
//
//   ArrowArrayStream stream = ...;  // for example from pyarrow: reader._export_to_c(address)
//   CFILE_ASSIGN_OR_RETURN(const cfile::Schema schema, cfile::ImportArrowSchema(arrow_schema));
//   CFILE_ASSIGN_OR_RETURN(cfile::TableWriter writer, cfile::TableWriter::Create("t", schema));
//   CFILE_RETURN_IF_ERROR(cfile::AppendArrow(writer, &stream));
//   return writer.Finish();
//
// Types. A column of each type takes:
//
//   bool, is_deleted        bool
//   int8 to uint64          the same integers, and narrower ones
//                           (a signed column also takes narrower unsigned integers)
//   int128                  all integers; decimals of scale 0
//   float, double           the same; double also takes float32
//   decimals                decimal32 to decimal256 of the same scale and at most as many digits
//   date                    date32; date64 whose milliseconds are whole days
//   time, timestamp         the same unit and the same time zone
//   int96                   timestamps in nanoseconds without a time zone
//   string, varchar         utf8, large utf8, utf8 view (not checked to be UTF-8)
//   binary                  the same, and binary, large binary, binary view, fixed-size binary
//   fixed(n), uuid          fixed-size binary of n or 16 bytes; the extension type arrow.uuid
//   any nullable column     null, and each type of which all values are null
//
// Lists, structs and maps fill the columns of nested records, and columns with levels
// (cfile/levels.h) in a schema without a tree of records. Lists of all kinds are allowed: with
// 32-bit or 64-bit offsets, of a fixed length, and list views. Each field may be dictionary-encoded
// or run-end-encoded, also inside lists and structs. Other extension types count as their storage
// type.
//
// kUnimplemented, with the name of the field: float16, durations, intervals, unions, structs
// without fields, fixed-size binary of 0 bytes, and decimals of more than 38 digits or with a
// negative scale have no column type.
//
// Nulls. The field of a required column may be nullable, but must not hold a null. A value is null
// if the validity bitmap says so, if its index points to a null of the dictionary, or if the value
// of its run is null.
//
// Trust. The functions below check the numbers in the structs: lengths, offsets, counts of buffers
// and children, indexes, run ends, offsets of lists and strings, and positions of views. If a
// number is wrong, the error is kInvalidArgument and names the field. They cannot check these
// facts, which must be true:
// - Pointers point to memory, and texts end with a null character.
// - Each buffer has the size that the array's length and offset say.
// - The data of strings has the size that the last offset says.
// - An array of views has as many buffers as n_buffers says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/levels.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/types.h"
#include "cfile/writer.h"
#include "encodings/core/export.h"

namespace cfile {

// Returns the schema of a table that can hold the records of a stream. `schema`: the type of the
// records, a struct type, which the function does not release. If a field is a list, a struct or a
// map, the result has a tree of records (cfile/schema.h), in which lists get the names "list" and
// "element", and maps "key_value", "key" and "value".
//
// The function uses the metadata that ExportArrowStream writes (cfile/arrow.h):
// - cfile.type is the ColumnType as text, for types that Arrow does not have. It is ignored if a
//   column of this type could not hold the field's values.
// - cfile.key and cfile.nulls_last make key columns, only in a schema without a tree: the fields
//   with the positions 0, 1, 2 and so on, up to the first position that no field has.
//
// kUnimplemented: a field has no column type (see above), or its type is null. kInvalidArgument:
// the struct is malformed; a name is empty or occurs twice; a cfile.key is not a number or occurs
// twice.
CFILE_EXPORT absl::StatusOr<Schema> ImportArrowSchema(const ArrowSchema& schema,
                                                      const RecordLimits& limits = {});

// Each function below appends all arrays of a stream. `stream` is not null. The function owns
// *stream and releases it in each case, even after an error. Values are copied before the function
// returns: a fixed-width value only once, by the writer, if its column has the same type and no
// levels.
//
// Errors, besides those of the types, the structs and the writer:
// - The error of the stream: its text, and the code that stands for its errno code.
// - kOutOfRange: a record has more than 2^27 entries in one leaf column; or the stream has more
//   than 100,000 fields, and more than four for each node of the writer's schema.
//
// After an error the rows of earlier arrays are appended, and columns may differ in length: destroy
// the writer without calling Finish.

// Appends a stream of structs to a table. Columns are found by name, in any order.
// kInvalidArgument: a column has no field, or a field has no column.
CFILE_EXPORT absl::Status AppendArrow(TableWriter& writer, ArrowArrayStream* stream);

// Appends to the columns that a ColumnsWriter writes. In a table of records, the arrays of a column
// are lists in lists, as for LevelWriter below.
CFILE_EXPORT absl::Status AppendArrow(ColumnsWriter& writer, ArrowArrayStream* stream);

// Appends a stream of arrays, or of structs with one field of any name, to a column.
template <typename T, typename = IfValueType<T>>
CFILE_EXPORT absl::Status AppendArrow(Writer<T>& writer, ArrowArrayStream* stream);

// Appends to a column with levels. The arrays are lists in lists, as ExportArrowStream makes them
// (cfile/arrow.h). In Kudu's arrays, elements are always optional. kUnimplemented: the column has
// more definition levels than the lists and elements can have.
template <typename T, typename = IfValueType<T>>
CFILE_EXPORT absl::Status AppendArrow(LevelWriter<T>& writer, ArrowArrayStream* stream);

// Keeping types. StoreArrowTypes and RestoreArrowTypes keep what Arrow says and no column can say.
//
//   what Arrow has       a column stores          what comes back
//   duration             int64                    the duration
//   float16              float                    float16
//   null                 string, all null         null, as long as all values are null
//   lists of n numbers   fixed(bytes), or lists   lists of a fixed length
//   an extension type    the type of its storage  the extension type
//   metadata of fields and of the schema          the same, without the key "pandas"
//
// A text says what the columns were: the value of the key ARROW:schema in the metadata of the
// table, as in Parquet files. The pairs of the schema are also metadata of the table. Metadata with
// keys that begin with "cfile." are not kept.
//
//   CFILE_ASSIGN_OR_RETURN(options.metadata, cfile::StoreArrowTypes(std::nullopt, {}, &stream));
//   ...       // ImportArrowSchema and AppendArrow with these options for the first column
//   CFILE_ASSIGN_OR_RETURN(const std::string text, table.arrow_schema());
//   CFILE_RETURN_IF_ERROR(cfile::RestoreArrowTypes(text, is_null, &exported_stream));

// A table that exists.
struct DescribedTable {
  std::string arrow_schema;          // TableReader::arrow_schema
  std::vector<std::string> columns;  // the names of its columns
};

// Replaces *stream by a stream whose types columns have. The new stream owns the earlier one.
// Returns the metadata for the table: the pairs of the schema that are text, and ARROW:schema.
// Returns none if all types and metadata come back without them.
//
// `table`: the table to which the rows go, if it exists. Durations, float16 and the elements of
// lists that are stored as bytes must have the type that they have there.
//
// `byte_lists`: the columns whose lists of numbers have a fixed length and no null elements, and
// are stored as bytes: fixed(n), which is read much faster than lists. "" stands for the column of
// one array. Rows of such a column may also be lists with offsets of 32 or 64 bits, of this length
// and with elements of the same type.
//
// Dictionaries of float16 stay as they are, and so do durations, float16 and nulls inside nested
// values of dictionaries. ImportArrowSchema refuses them.
//
// kUnimplemented: the storage of an extension type would come back as another type, or ARROW:schema
// cannot describe a column that has metadata or changes. kInvalidArgument: the schema is malformed,
// or a type is not the table's. Errors of *stream. All leave it unchanged.
CFILE_EXPORT absl::StatusOr<std::vector<std::pair<std::string, std::string>>> StoreArrowTypes(
    const std::optional<DescribedTable>& table, const std::vector<std::string>& byte_lists,
    ArrowArrayStream* stream);

// Replaces *stream, an exported stream, by a stream with the types that `arrow_schema` describes.
// Fields are found by name; a struct that has a name itself is one column. A field stays as it is
// if its column has another type than the described one is stored in. `is_null` says whether all
// values of a column are null. It is called before the function returns, and only for columns that
// had the type null. In a table of nested records, it gets the name of a leaf column.
// If `arrow_schema` is no schema of Arrow, the function changes nothing.
//
// Errors: as above. The new stream returns EINVAL if a list does not have the length of its type.
CFILE_EXPORT absl::Status RestoreArrowTypes(
    std::string_view arrow_schema, absl::FunctionRef<bool(const std::string& column)> is_null,
    ArrowArrayStream* stream);

// Returns the ARROW:schema of a table whose columns change (ChangeMetadata of
// cfile/table_columns.h). `renamed`: the new names of fields of `arrow_schema`; a field with the
// new name "" is removed. Then fields of `other` with the names `added` replace those of
// `arrow_schema`. A text that is no schema of Arrow stays as it is.
CFILE_EXPORT std::string ChangeArrowSchema(std::string_view arrow_schema,
                                           const std::map<std::string, std::string>& renamed,
                                           std::string_view other = "",
                                           const std::vector<std::string>& added = {});

}  // namespace cfile
