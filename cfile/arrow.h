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
// of records becomes one list for each repetition level: from the outermost list on, the lists and
// then the elements are optional, as many as the definition levels allow. The library does not
// check that strings are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"

// The structs of the two interfaces. Their layout is the same in all libraries; the macros let
// several headers declare them.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1  // the order of the dictionary's values has a meaning
#define ARROW_FLAG_NULLABLE 2            // values may be null
#define ARROW_FLAG_MAP_KEYS_SORTED 4     // the keys of each map are sorted

extern "C" {

// The type of a field.
struct ArrowSchema {
  const char* format;    // the type, as text
  const char* name;      // of the field; may be null
  const char* metadata;  // keys and values in Arrow's binary form; may be null
  int64_t flags;         // ARROW_FLAG_...
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;        // the type of the values if the array holds indexes
  void (*release)(struct ArrowSchema*);  // frees what the struct owns; null: released already
  void* private_data;                    // of the library that made the struct
};

// The values of a field.
struct ArrowArray {
  int64_t length;      // values, nulls included
  int64_t null_count;  // -1: unknown
  int64_t offset;      // values at the begin of the buffers that are not part of the array
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // as many and in the order that the type says; the first is the validity
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);  // frees what the struct owns; null: released already
  void* private_data;                   // of the library that made the struct
};

}  // extern "C"
#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

// A sequence of arrays of one type. Each function returns 0 or an errno code.
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  // Sets out->release to null at the end.
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  // The text of the last error; valid until the next call on the stream.
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);  // null: released already
  void* private_data;                         // of the library that made the struct
};

}  // extern "C"
#endif  // ARROW_C_STREAM_INTERFACE

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
  // The most rows of a batch; 0 counts as 1. A batch may have fewer: it ends before its strings
  // have more than 2^31 - 1 bytes, and, where values are not copied, with a block of the file.
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
// the Arrow type has another width.
//
// *out is an uninitialised or released struct; the caller releases it. Only one thread at a time
// may use a stream. Arrays may be used and released in any thread.
//
// Errors of the functions: those of the function that begins the scan, and kUnimplemented: a column
// has no Arrow type; the error names the column. *out is then released. Errors of get_next are
// those of TableScan::Next. The rows before an error come before the error. get_next returns the
// errno code that stands for the status, for example EIO for kDataLoss; get_last_error returns the
// text of the status. No exception leaves a function of the stream; get_next returns ENOMEM if there
// is no memory, and then again in each later call.
//
// The schema's metadata says what Arrow's types do not: cfile.type is the ColumnType as text,
// cfile.key the position of a column in the table's key (cfile.nulls_last: its nulls sort last),
// cfile.encoding the encoding of a file, cfile.sorted = "ascending" that a file has a value index;
// then follow the (key, value) pairs of the file's header and footer.

// The rows of `range` of a file, which may end after the last row. The field's name is "value".
absl::Status ExportArrowStream(const Reader& reader, const OrdinalRange& range,
                               const ArrowExportOptions& options, ArrowArrayStream* out);

// The rows from a cursor's position to the end of its range. The cursor stays where it is, and is
// not needed any more by the stream.
template <ValueType T>
absl::Status ExportArrowStream(const Cursor<T>& cursor, const ArrowExportOptions& options,
                               ArrowArrayStream* out);

// The values of the remaining rows of a scan. The field's name is "value".
template <ValueType T>
absl::Status ExportArrowStream(Scan<T> scan, const ArrowExportOptions& options,
                               ArrowArrayStream* out);

// The rows of a table that `scan` selects. In a table of records, fields are in the order of the
// schema. scan.cancelled, if it is set, must outlive the stream.
absl::Status ExportArrowStream(const TableReader& table, const TableScanOptions& scan,
                               const ArrowExportOptions& options, ArrowArrayStream* out);

// The remaining rows of an open scan.
absl::Status ExportArrowStream(TableScan scan, const ArrowExportOptions& options,
                               ArrowArrayStream* out);

// Exports the Arrow type of the rows of a table as a struct. Strings are not dictionaries, because
// the schema does not know the files. kUnimplemented: as above. *out is an uninitialised or released
// struct; the caller releases it, in any thread.
absl::Status ExportArrowSchema(const Schema& schema, const ArrowExportOptions& options,
                               ArrowSchema* out);

}  // namespace cfile
