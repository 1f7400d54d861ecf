// Parquet files: makes tables of them, and makes them of tables.
//
//   auto report = cfile::ImportParquet("flights.parquet", "flights");
//   auto back = cfile::ExportParquet("flights", "copy.parquet");
//
// The metadata and the pages of Parquet are read and written here, without a Parquet library.
// Blocks in Parquet's encodings become pages, and pages become blocks, without encoding their
// values again. A copied page with deltas gets a skip table if the size of its delta blocks divides
// 1,024; pages of DuckDB have delta blocks of 2,048 values. Without a skip table, a seek decodes
// the block from its first value.
//
// Types. Parquet's types become column types, and back:
//
//   BOOLEAN                          bool
//   INT32, INT64                     int32, int64; with INTEGER(bits, signed) int8 to uint64
//   DATE, TIME, TIMESTAMP            date, time, timestamp with the same unit
//   DECIMAL                          decimal; of INT32, INT64, FIXED_LEN_BYTE_ARRAY and BYTE_ARRAY
//   INT96                            timestamp(ns) without a time zone, see below
//   FLOAT, DOUBLE                    float, double
//   FLOAT16                          fixed(2)
//   BYTE_ARRAY                       binary; with STRING, ENUM and JSON string
//   FIXED_LEN_BYTE_ARRAY(n)          fixed(n); with UUID uuid
//   groups, LIST, MAP                records (cfile/record_schema.h)
//
// Key-value metadata. A table keeps the pairs of its Parquet file (TableReader::metadata), or those
// that all files of a directory have. Rows that are appended change nothing. Export writes the
// pairs again. ARROW:schema and pandas describe columns: they are written for the columns that are
// exported and are still of the same type, and pandas' RangeIndex only for the same number of rows.
// So libraries of Arrow and pandas get back their schema. Time zones in ARROW:schema become those
// of the columns; without it, all have UTC. An export of other time zones than UTC always has
// ARROW:schema. Pairs with which Spark and Avro describe their own schema are not kept.
//
// Categories. If ARROW:schema says that a column of strings is a dictionary, and all row groups
// have the same dictionary page of at most 64 KiB, then the values of this page are the categories
// of the column, in this order. A table keeps them in the pair ARROW:categories. Export writes them
// as dictionary pages. If the column now has other values, too, then the exported file does not say
// that the categories are ordered.
//
// INT96. Older programs, and Spark, store timestamps as INT96: a day and the nanoseconds of this
// day. Only times between the years 1677 and 2262 are a timestamp(ns). If there are others,
// ImportParquet returns kInvalidArgument. It keeps INT96 as it is if the column has the type int96
// in ParquetImportOptions::schema, or in the table to which rows are appended, and makes
// microseconds of it if the type is timestamp(us); other times are an error. ExportParquet makes
// INT96 of int96, and INT64 with TIMESTAMP of timestamp(ns).
//
// The annotations JSON, ENUM, BSON, FLOAT16, INTERVAL, TIME in UTC, UNKNOWN, GEOMETRY and
// GEOGRAPHY are kept with the column, as the pair PARQUET:logical_type of its file, and come back.
// FLOAT16, INTERVAL, GEOMETRY and GEOGRAPHY have no statistics of their bytes. A column of
// UNKNOWN, whose values are all null, loses this annotation when the table gets other values.
// VARIANT is a group of binary columns here. The first field of the group keeps its annotation; it
// is lost if the first field is a group. The values of a VARIANT are not interpreted. The
// statistics of GEOMETRY and GEOGRAPHY (bounding boxes) are lost.
//
// Trust. A Parquet file is untrusted: each page is checked before its bytes are copied, and the
// file's statistics are not used unless they were compared with the values. Damage gives kDataLoss
// with the file, the offset, and the expected and found value. Also damage: a string or a name that
// is not UTF-8, a decimal with too many digits, and columns of one group whose levels form
// different records.
//
// All functions are thread-safe. Errors of all calls: cfile/CONCEPTS.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/parquet_options.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "encodings/core/export.h"

namespace cfile {

// The schema of the table that ImportParquet would make of the file. Uses options.columns and
// options.reader. kUnimplemented: also if the file is encrypted. kInvalidArgument: the file is no
// Parquet file, or a table cannot have the names of its columns.
CFILE_EXPORT absl::StatusOr<Schema> ParquetSchema(const Source& source,
                                                  const ParquetImportOptions& options = {});
// The same for a file or a directory.
CFILE_EXPORT absl::StatusOr<Schema> ParquetSchema(const std::string& path,
                                                  const ParquetImportOptions& options);

// Returns options.writer with the metadata that ImportParquet would add: none, or one for each
// column of a new table. For programs that write the rows themselves, in another order: what is
// true only of rows in the order of the file (pandas' RangeIndex) is left out. Errors: those of
// ParquetSchema. Uses options.columns, options.schema, options.writer and options.reader.
CFILE_EXPORT absl::StatusOr<std::vector<WriterOptions>> ParquetWriterOptions(
    const Source& source, const ParquetImportOptions& options);
// The same for a file or a directory.
CFILE_EXPORT absl::StatusOr<std::vector<WriterOptions>> ParquetWriterOptions(
    const std::string& path, const ParquetImportOptions& options);

// Makes a table of a Parquet file. Memory: the largest page of each column, its dictionary, and a
// TableWriter. An error leaves no table, and no new part. The first column's file of a new table
// gets the key-value metadata, for example "geo" or "pandas". Files for Kudu do not get it. Errors:
// also those of ParquetSchema.
CFILE_EXPORT absl::StatusOr<ParquetReport> ImportParquet(std::shared_ptr<const Source> source,
                                                         const TableLocation& table,
                                                         const ParquetImportOptions& options = {});
// The same for the file at `path`, or for all files in the directory at `path` and in its folders,
// or for options.files. The files of a directory become one table in one commit. A column gets the
// type that holds the values of all files, by the rules of AppendTable (cfile/table_columns.h); the
// footers of all files are read before anything is written. kInvalidArgument names the column and
// both files if there is no such type. A column that a file lacks is null in its rows, if no file
// has groups or lists. Folders named COLUMN=VALUE become columns of type int64 or date if all their
// values have this form, otherwise string. %XX in these names is decoded once, and the value
// __HIVE_DEFAULT_PARTITION__ is null. Files and folders whose names begin with . or _ are skipped.
// kInvalidArgument: there is a symbolic link, or ".." in a name after decoding.
CFILE_EXPORT absl::StatusOr<ParquetReport> ImportParquet(const std::string& path,
                                                         const TableLocation& table,
                                                         const ParquetImportOptions& options = {});

// Makes a Parquet file of a table, or of a single file, whose column gets the name "value". The
// Parquet file appears when it is complete. The compound keys of a table are not exported; the key
// columns, or else the columns with a value index, become the sorting columns of the row groups.
// The metadata of the first column's file is kept, except keys that options.metadata has.
// Statistics and Bloom filters are those of the table, which are not compared with the values.
//
// Memory: one block, page and dictionary of each column, the pages of one column chunk if a
// dictionary is made for it, and the metadata. Errors of values name the column. kInvalidArgument:
// the options are wrong, or Parquet cannot have a value: an int128 of more than 38 digits, or a
// time in seconds that is too large in milliseconds. kUnimplemented: a column has levels that no
// list has. kOutOfRange: a page would have more than 2^31 - 1 bytes. kCancelled: options.progress
// returned false.
CFILE_EXPORT absl::StatusOr<ParquetReport> ExportParquet(const TableLocation& table,
                                                         std::unique_ptr<Sink> sink,
                                                         const ParquetExportOptions& options = {});
CFILE_EXPORT absl::StatusOr<ParquetReport> ExportParquet(const TableLocation& table,
                                                         const std::string& path,
                                                         const ParquetExportOptions& options = {});
// For an open table, and for an open file. Do not use options.reader.
CFILE_EXPORT absl::StatusOr<ParquetReport> ExportParquet(const TableReader& table,
                                                         std::unique_ptr<Sink> sink,
                                                         const ParquetExportOptions& options = {});
CFILE_EXPORT absl::StatusOr<ParquetReport> ExportParquet(const Reader& file,
                                                         std::unique_ptr<Sink> sink,
                                                         const ParquetExportOptions& options = {});

}  // namespace cfile
