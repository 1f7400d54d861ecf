// Exports rows as Arrow data, through the Arrow C Data Interface and the Arrow C Stream Interface
// (https://arrow.apache.org/docs/format/CDataInterface.html). Needs no Arrow library. Errors,
// lifetime and threads: cfile/CONCEPTS.md.
//
//   ArrowArrayStream stream;
//   absl::Status status = cfile::ExportArrowStream(table, {.columns = {{"carrier"}}}, {}, &stream);
//   // In Python: pyarrow.RecordBatchReader._import_from_c(address of stream)
//
// Types. A column has the Arrow type of its ColumnType, with these special cases:
//
//   decimals of any width   decimal128
//   int128                  decimal128(38, 0); a value with more than 38 digits is an error
//   int96                   a timestamp in nanoseconds without a time zone;
//                           a time outside of the years 1677 to 2262 is an error
//   uuid                    a fixed-size binary with the extension name arrow.uuid
//   is_deleted              bool
//
// Groups of nested records become structs, lists and maps. A column with levels (cfile/levels.h)
// outside of a table of records becomes lists in lists, one list for each repetition level. The
// definition levels say how many of the lists and elements are optional, counted from the outermost
// list to the elements. The library does not check that strings are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  // If true, string columns become utf8_view, and binary columns become binary_view. If the bytes
  // of a string lie in a mapped file or in a source in memory, the view points there. Does not
  // change dictionaries.
  bool string_views = false;
  // If true, string and binary columns whose first file stores a dictionary become dictionary
  // arrays with int32 indexes, which share the file's dictionary. A batch has a dictionary of its
  // own if its rows are from several files, or if the file stores some of its rows without codes
  // (positions in the dictionary). So the dictionary may differ from one batch to the next. Columns
  // with levels, rows of a Scan, and rows of ExportArrowTake become plain strings.
  bool dictionaries = true;
  // If true, and if `dictionaries` is false, these columns become views (as with string_views) into
  // the dictionary instead of plain strings. This suits readers that store strings as views, for
  // example Polars.
  bool dictionary_views = false;
  // The maximum number of rows in a batch; 0 counts as 1. A batch may have fewer rows.
  // It ends when a column has about 64 MiB, so that the column's strings stay below 2^31 bytes.
  // If values are not copied, a batch may also end at the end of a block of the file.
  size_t max_batch_rows = kMaxBatchRows;
  // If true, a stream with one field has arrays of this field instead of structs: the stream of a
  // file, of a Scan, of one selected column of a table, or of one selected field of the records of
  // a table. Other streams still have structs. (pyarrow.RecordBatchReader accepts structs only.)
  bool column_only = false;
};

// The functions below make a stream of struct arrays, with one field for each column, or for each
// field of the records.
//
// Memory. A stream and its arrays own or share all memory that they need, so the reader, the table,
// the stream and each array may be destroyed in any order. There is one exception: the caller must
// keep the bytes of NewMemoryViewSource until the last array is released. The process keeps up to
// 64 MiB of the memory of released arrays, for later arrays.
//
// Values are not copied if all of this is true. Otherwise values are copied.
// - The values are in a PLAIN block that is not compressed and has no nulls.
// - The block lies in a mapped file or in a source in memory.
// - The values have the same width in the Arrow type.
//
// *out is an uninitialised or released struct; the caller releases *out.
// Only one thread at a time may use a stream. Arrays may be used and released in any thread.
//
// Errors: those of the function that begins the scan. kUnimplemented: a column has no Arrow type.
// kInvalidArgument: a column of a table of records is selected twice. After an error *out is
// released.
//
// Errors of get_next are those of TableScan::Next.
// get_next returns the rows before an error first, then the error. But if a value of a nested
// record does not fit its Arrow type, the rows that were read together with it are not returned.
// The result is the errno code that stands for the status, for example EIO for kDataLoss.
// get_last_error returns the text of the status. No exception leaves a function of the stream.
// If there is no memory, get_next returns ENOMEM, in this call and in each later call.
//
// The metadata of a field contains what Arrow's types cannot say:
//
//   cfile.type        the ColumnType as text
//   cfile.key         the position of the column in the table's key, from 0 on
//   cfile.nulls_last  "true": nulls of this key column sort last
//   cfile.encoding    the encoding of the file, if one file is exported
//   cfile.sorted      "ascending": the file has a value index, and rows are in the file's order
//
// If one file is exported, the (key, value) pairs of its header and footer follow.
// A pair is left out if it is not UTF-8, or if its key begins with "cfile.".

// Exports the rows of a file in `range`, which may end after the last row. The field's name is
// "value".
CFILE_EXPORT absl::Status ExportArrowStream(const Reader& reader, const OrdinalRange& range,
                                            const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// Exports the rows from a cursor's position to the end of its range. The cursor does not move, and
// may be destroyed before the stream.
template <typename T, typename = IfValueType<T>>
CFILE_EXPORT absl::Status ExportArrowStream(const Cursor<T>& cursor,
                                            const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// Exports the values of the remaining rows of a scan. The field's name is "value".
template <typename T, typename = IfValueType<T>>
CFILE_EXPORT absl::Status ExportArrowStream(Scan<T> scan, const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// Exports the rows of a table that `scan` selects. In a table of records, fields are in the order
// of the schema. If the scan has the reverse order, the batches come as from TableScan::Next: the
// last rows first. If scan.cancelled is set, the object that it points to must outlive the stream.
CFILE_EXPORT absl::Status ExportArrowStream(const TableReader& table, const TableScanOptions& scan,
                                            const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// Exports the remaining rows of an open scan.
CFILE_EXPORT absl::Status ExportArrowStream(TableScan scan, const ArrowExportOptions& options,
                                            ArrowArrayStream* out);

// Exports the rows at `ordinals` of a table or a file, in this order. `ordinals` may be in any
// order and may repeat rows. `columns`: as TableScanOptions::columns; nullopt: all columns. All
// values are copied, and strings never become dictionaries.
//
// For each column, the stream reads the rows of up to 65,536 ordinals at a time (fewer if their
// values exceed about 64 MiB), and opens each block once for them. These values need memory in
// addition to the memory of the batch. If a row cannot be read, get_next returns the error instead
// of all rows that are read together with it.
//
// Errors: as above, and kOutOfRange before any row is read: an ordinal is >= num_rows().
CFILE_EXPORT absl::Status ExportArrowTake(const TableReader& table, std::vector<uint64_t> ordinals,
                                          const std::optional<std::vector<std::string>>& columns,
                                          const ArrowExportOptions& options, ArrowArrayStream* out);
CFILE_EXPORT absl::Status ExportArrowTake(const Reader& reader, std::vector<uint64_t> ordinals,
                                          const ArrowExportOptions& options, ArrowArrayStream* out);

// Exports the Arrow type of the rows of a table as a struct. Strings are not dictionaries, because
// the schema does not know the files. *out and kUnimplemented: as above.
CFILE_EXPORT absl::Status ExportArrowSchema(const Schema& schema, const ArrowExportOptions& options,
                                            ArrowSchema* out);

}  // namespace cfile
