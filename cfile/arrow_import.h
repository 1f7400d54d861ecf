// Imports Arrow data through the Arrow C Data Interface and the Arrow C Stream Interface
// (https://arrow.apache.org/docs/format/CDataInterface.html). Needs no Arrow library.
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
//   string, varchar         utf8, large utf8, utf8 view (it is not checked that they are UTF-8)
//   binary                  the same, and binary, large binary, binary view, fixed-size binary
//   fixed(n), uuid          fixed-size binary of n or 16 bytes; the extension type arrow.uuid
//   any nullable column     null
//
// Lists of any kind (with 32-bit or 64-bit offsets, of a fixed length, list views), structs and
// maps fill the columns of nested records, and columns with levels outside of a tree. Each field
// may be dictionary-encoded or run-end-encoded, also inside lists and structs. Other extension
// types count as their storage type.
//
// Not mapped: float16, durations, intervals, unions, structs of no fields, fixed-size binary of 0
// bytes, decimals of more than 38 digits or with a negative scale. The error is kUnimplemented and
// names the field.
//
// Nulls: the field of a required column may be nullable, but must not hold a null. A value is null
// if the validity bitmap says so, if its index points to a null, or if the value of its run is
// null.
//
// Trust: these functions check the numbers in the structs: lengths, offsets, counts of buffers and
// children, indexes, run ends, offsets of lists and strings, and positions of views. An error is
// kInvalidArgument and names the field. The functions cannot check the rest, and rely on it:
// pointers point to memory, and texts end with a null character. Each buffer has the size that the
// array's length and offset say. The data of strings has the size that the last offset says. An
// array of views has as many buffers as n_buffers says.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/levels.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "cfile/writer.h"
#include "encodings/core/export.h"

namespace cfile {

// Returns the schema of a table for the records of a stream. `schema`: a struct; it is not
// released. If all fields are leaf columns, the result has no tree. Otherwise it has a tree: lists
// get the names "list" and "element", and maps the names "key_value", "key" and "value".
//
// A type that Arrow does not have comes back from the field's metadata, if ExportArrowStream wrote
// it: cfile.type is the ColumnType as text. It is ignored if the column could not hold the field's
// values. In a schema without a tree, cfile.key and cfile.nulls_last make key columns: the columns
// at the positions 0, 1, 2 and so on, up to the first position that no field has.
//
// kUnimplemented: a type is not mapped, or is null. kInvalidArgument: the struct is malformed; a
// name is empty or occurs twice; a cfile.key is not a number or occurs twice. kOutOfRange: the
// schema exceeds one of `limits`.
CFILE_EXPORT absl::StatusOr<Schema> ImportArrowSchema(const ArrowSchema& schema,
                                                      const RecordLimits& limits = {});

// The functions below append all arrays of a stream, which is not null. They own *stream: they
// release it in each case, also after an error; stream->release is then null. Values are copied
// before the function returns. Fixed-width values are copied only once, by the writer, if the
// column has the same type and no levels.
//
// Errors: of the types and the structs, as above; those of the writer; and the error of the stream:
// its text and the code that stands for its errno code. After an error the rows of earlier arrays
// are appended, and columns may differ in length: destroy the writer, do not call Finish.
// kOutOfRange: a record has more than 2^27 entries in one leaf column.

// Appends a stream of structs to a table. Columns are found by name, in any order.
// kInvalidArgument: a column has no field, or a field has no column; the error names it.
CFILE_EXPORT absl::Status AppendArrow(TableWriter& writer, ArrowArrayStream* stream);

// Appends a stream of arrays, or of structs with one field of any name, to a column.
template <ValueType T>
CFILE_EXPORT absl::Status AppendArrow(Writer<T>& writer, ArrowArrayStream* stream);

// Does the same for a column with levels. The arrays are lists in lists, one for each repetition
// level. The definition levels say how many of the lists and elements are optional: first the
// outermost list, then the lists in it, last the elements. (In Kudu's arrays, elements are always
// optional.) kUnimplemented: the column has more definition levels than that.
template <ValueType T>
CFILE_EXPORT absl::Status AppendArrow(LevelWriter<T>& writer, ArrowArrayStream* stream);

}  // namespace cfile
