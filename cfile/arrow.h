// Exports rows as Arrow data, through the Arrow C Data Interface and the Arrow C Stream Interface
// (https://arrow.apache.org/docs/format/CDataInterface.html). Needs no Arrow library.
//
//   ArrowArrayStream stream;
//   absl::Status status = cfile::ExportArrowStream(table, {.columns = {{"carrier"}}}, {}, &stream);
//   // In Python: pyarrow.RecordBatchReader._import_from_c(address of stream)
//
// Types: a column has the Arrow type of its ColumnType. Decimals of any width become decimal128;
// int128 becomes decimal128(38, 0), and a value with more than 38 digits is an error; int96 becomes
// a timestamp in nanoseconds without a zone, and a time outside of the years 1677 to 2262 is an
// error; uuid becomes a fixed-size binary with the extension name arrow.uuid; is_deleted becomes a
// bool. Groups of records become structs, lists and maps. A column with levels outside of a table
// of records becomes lists in lists, one for each repetition level. The definition levels say how
// many of the lists and elements are optional: first the outermost list, then the lists in it, last
// the elements. The library does not check that strings are UTF-8.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "cfile/arrow_c_data.h"
#include "cfile/batch.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "encodings/core/export.h"

namespace cfile {

struct ArrowExportOptions {
  // Strings and binary columns become utf8_view and binary_view. Where the bytes of a string lie in
  // a mapped file or a source in memory, the view points to them. Dictionaries stay as they are.
  bool string_views = false;
  // A string or binary column whose first file stores a dictionary becomes a dictionary array with
  // int32 indexes. The arrays of rows that the file stores as codes share the file's dictionary. A
  // batch with rows of several files, or with rows that a file stores without codes, has a
  // dictionary of its own. So the dictionary may differ from one batch to the next. Columns with
  // levels, and rows of a Scan, become plain strings.
  bool dictionaries = true;
  // The most rows of a batch; 0 counts as 1. A batch may have fewer rows: it ends when a column has
  // about 64 MiB, so that its strings stay below 2^31 bytes. Where values are not copied, a batch
  // may also end with a block of the file.
  size_t max_batch_rows = kMaxBatchRows;
  // A file or a Scan, which has one column: the arrays are those of this column, instead of structs
  // with one field. (pyarrow.RecordBatchReader accepts structs only.)
  bool column_only = false;
};

// The functions below make a stream of struct arrays with one field for each column, or for each
// field of the records. A stream and its arrays own or share all that they need: they may outlive
// the reader, the table and each other. The only memory that the caller must keep is that of
// NewMemoryViewSource, until the last array is released. Values of PLAIN blocks that are not
// compressed, have no nulls, and lie in a mapped file or a source in memory are not copied, unless
// the Arrow type has another width. The process keeps up to 64 MiB of the memory of released arrays
// for later ones.
//
// *out is an uninitialised or released struct; the caller releases it. Only one thread at a time
// may use a stream. Arrays may be used and released in any thread.
//
// Errors of the functions: those of the function that begins the scan, and kUnimplemented: a column
// has no Arrow type; kInvalidArgument: a column of a table of records is selected twice. Both
// errors name the column. *out is then released. Errors of get_next are those of TableScan::Next.
// The rows before an error come before the error. get_next returns the errno code that stands for
// the status, for example EIO for kDataLoss; get_last_error returns the text of the status. No
// exception leaves a function of the stream; get_next returns ENOMEM if there is no memory, and
// then again in each later call.
//
// The metadata of a field says what Arrow's types do not:
//
//   cfile.type        the ColumnType as text
//   cfile.key         the position of the column in the table's key, from 0 on
//   cfile.nulls_last  "true": nulls of this key column sort last
//   cfile.encoding    the encoding of the file, if one file is exported
//   cfile.sorted      "ascending": the file has a value index
//
// If one file is exported, the (key, value) pairs of its header and footer follow. Pairs that are
// not UTF-8, and pairs whose key begins with "cfile.", are left out.

// The rows of `range` of a file, which may end after the last row. The field's name is "value".
CFILE_EXPORT absl::Status ExportArrowStream(const Reader& reader, const OrdinalRange& range,
                                            const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// The rows from a cursor's position to the end of its range. The cursor stays where it is; the
// stream does not need the cursor.
template <ValueType T>
CFILE_EXPORT absl::Status ExportArrowStream(const Cursor<T>& cursor,
                                            const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// The values of the remaining rows of a scan. The field's name is "value".
template <ValueType T>
CFILE_EXPORT absl::Status ExportArrowStream(Scan<T> scan, const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// The rows of a table that `scan` selects. In a table of records, fields are in the order of the
// schema. A scan in reverse order gives the batches of TableScan::Next. scan.cancelled, if it is
// set, must outlive the stream.
CFILE_EXPORT absl::Status ExportArrowStream(const TableReader& table, const TableScanOptions& scan,
                                            const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// The remaining rows of an open scan.
CFILE_EXPORT absl::Status ExportArrowStream(TableScan scan, const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// Exports the Arrow type of the rows of a table as a struct. Strings are not dictionaries, because
// the schema does not know the files. kUnimplemented: as above. *out is an uninitialised or
// released struct; the caller releases it, in any thread.
CFILE_EXPORT absl::Status ExportArrowSchema(const Schema& schema, const ArrowExportOptions& options,
                                            ArrowSchema* out);

}  // namespace cfile
