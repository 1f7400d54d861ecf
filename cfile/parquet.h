// Parquet files: makes tables of them, and makes them of tables.
//
//   auto report = cfile::ImportParquet("flights.parquet", "flights");
//   auto back = cfile::ExportParquet("flights", "copy.parquet");
//
// The metadata and the pages of Parquet are read and written here, without a Parquet library.
// Blocks in Parquet's encodings become pages, and pages become blocks, without encoding their
// values again.
//
// Types. Parquet's types become column types, and back:
//
//   BOOLEAN                          bool
//   INT32, INT64                     int32, int64; with INTEGER(bits, signed) int8 to uint64
//   DATE, TIME, TIMESTAMP            date, time, timestamp with the same unit
//   DECIMAL                          decimal; of INT32, INT64, FIXED_LEN_BYTE_ARRAY and BYTE_ARRAY
//   INT96                            int96
//   FLOAT, DOUBLE                    float, double
//   FLOAT16                          fixed(2)
//   BYTE_ARRAY                       binary; with STRING, ENUM and JSON string
//   FIXED_LEN_BYTE_ARRAY(n)          fixed(n); with UUID uuid
//   groups, LIST, MAP                records (cfile/record_schema.h)
//
// Trust. A Parquet file is untrusted: each page is checked before its bytes are copied, and the
// file's statistics are not used unless they were compared with the values. Damage gives kDataLoss
// with the file, the offset, and the expected and found value.
//
// All functions may run in several threads at the same time.
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
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "encodings/core/export.h"

namespace cfile {

// What has become of the pages (ImportParquet) or of the blocks (ExportParquet). Dictionary pages
// are not counted.
struct ParquetReport {
  uint64_t rows = 0;
  uint64_t row_groups = 0;
  uint64_t copied_pages = 0;        // the stored bytes of the values were copied
  uint64_t recompressed_pages = 0;  // the encoded values were copied, and compressed again
  uint64_t recoded_pages = 0;       // the values were decoded and encoded again
  uint64_t bytes_in = 0;            // stored bytes of the pages or blocks that were read
  uint64_t bytes_out = 0;           // bytes of the new files
  // ImportParquet: for each column of the table the totals of its new files, without keys and
  // statistics.
  std::vector<ColumnTotals> columns = {};
};

struct ParquetImportOptions {
  // The names of the top-level columns to import; empty: all columns.
  std::vector<std::string> columns = {};
  // Columns by which the rows are sorted and searched, the most significant first. The rows must
  // have this order; kInvalidArgument names the first row that has not. A single column that is not
  // nullable gets a value index. Otherwise the columns become Schema::key_columns.
  std::vector<std::string> sorted_by = {};
  // The schema of a new table, instead of that of ParquetSchema with `sorted_by`. It has the same
  // names, types, lists and groups. A column that is nullable in the file need not be nullable
  // here; a null is then an error.
  std::optional<Schema> schema = {};
  // True: the rows become a new part of an existing table with the same columns.
  bool append = false;
  // True: each row group becomes a part of the table. Its dictionary pages then become dictionaries
  // without being encoded again. False: all row groups become one part.
  bool part_per_row_group = false;
  // False: decodes all values and encodes them again, also with the default options, which then
  // choose the encoding of each block as for any new table.
  bool copy_pages = true;
  // The options of the new files: none, one for all columns, or one for each leaf column. With
  // the default options, a page keeps its encoding and its codec and is copied if possible. Any
  // other encoding, goal or codec encodes or compresses the values again.
  std::vector<WriterOptions> writer = {};
  ReaderOptions reader = {};  // limits for pages (max_block_size_bytes), metadata and dictionaries
  // Called now and then with the rows done and the rows of the file. False: ends with kCancelled.
  std::function<bool(uint64_t rows_done, uint64_t rows)> progress = nullptr;
};

struct ParquetExportOptions {
  std::vector<std::string> columns = {};  // names of the columns to export; empty: all columns
  // A row group ends at the end of a part, or earlier: after this many rows, or after the last
  // whole block before.
  uint64_t max_row_group_rows = uint64_t{1} << 20;
  bool data_page_v2 = true;    // false: page headers of version 1
  bool page_index = true;      // column index and offset index
  bool page_checksums = true;  // CRC32 of each page
  // True: the values of a block are checked, as a reader does, before its bytes are copied.
  // False: only the checksums are verified, and the numbers of rows and values. This is faster if
  // blocks are compressed. Then a block whose writer was wrong becomes a page that is wrong.
  bool check_values = true;
  // kDefault: a page keeps the codec of its block if Parquet has this codec. Values that are
  // encoded again are compressed with the codec of their column, or with zstd if it has none; they
  // stay uncompressed in pages of version 1 of such a column. Any other value: all pages have this
  // codec, except blocks that do not become smaller with it.
  Compression compression = Compression::kDefault;
  // Pairs for the file's key-value metadata.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::function<bool(uint64_t rows_done, uint64_t rows)> progress = nullptr;
  ReaderOptions reader = {};
};

// The schema of the table that ImportParquet would make of the file.
// kDataLoss: the file is damaged. kUnimplemented: it is encrypted, or needs something that is not
// known; the error names it. kInvalidArgument: the file is no Parquet file, or a table cannot have
// the names of its columns.
CFILE_EXPORT absl::StatusOr<Schema> ParquetSchema(const Source& source,
                                                  const ReaderOptions& options = {});
// The same for a file or a directory, and for chosen columns. Uses options.columns and
// options.reader.
CFILE_EXPORT absl::StatusOr<Schema> ParquetSchema(const std::string& path,
                                                  const ParquetImportOptions& options);

// Makes a table of a Parquet file. Memory: the largest page of each column, its dictionary, and a
// TableWriter. An error leaves no table, and no new part. Errors: those of ParquetSchema and
// TableWriter.
CFILE_EXPORT absl::StatusOr<ParquetReport> ImportParquet(std::shared_ptr<const Source> source,
                                                         const TableLocation& table,
                                                         const ParquetImportOptions& options = {});
// The same for the file at `path`, or for all files in the directory at `path` and in its folders.
// The files of a directory become one table in one commit. They have the same columns;
// kInvalidArgument names a file and a column that differ. Folders named COLUMN=VALUE become columns
// of type int64 or date if all their values have this form, otherwise string. %XX in these names is
// decoded once, and the value __HIVE_DEFAULT_PARTITION__ is null. Files and folders whose names
// begin with . or _ are skipped. kInvalidArgument: there is a symbolic link.
CFILE_EXPORT absl::StatusOr<ParquetReport> ImportParquet(const std::string& path,
                                                         const TableLocation& table,
                                                         const ParquetImportOptions& options = {});

// Makes a Parquet file of a table, or of a single file, whose column gets the name "value".
// The Parquet file appears when it is complete. The compound keys of a table are not exported; the
// key columns become the sorting columns of the row groups. Metadata "ARROW:schema" and "pandas" of
// the first column is kept if all columns are exported, unless options.metadata has such a key.
// Statistics and Bloom filters are those of the table, which are not compared with the values.
//
// Memory: one block, page and dictionary of each column, the pages of one column chunk if a
// dictionary is made for it, and the metadata. Errors: those of TableReader, and of the Sink.
// Errors of values name the column. kInvalidArgument: the options are wrong, or Parquet cannot have
// a value: an int128 of more than 38 digits, or a time in seconds that is too large in
// milliseconds. kUnimplemented: a column has levels that no list has. kOutOfRange: a page would
// have more than 2^31 - 1 bytes. kCancelled: options.progress returned false.
CFILE_EXPORT absl::StatusOr<ParquetReport> ExportParquet(const TableLocation& table,
                                                         std::unique_ptr<Sink> sink,
                                                         const ParquetExportOptions& options = {});
CFILE_EXPORT absl::StatusOr<ParquetReport> ExportParquet(const TableLocation& table,
                                                         const std::string& path,
                                                         const ParquetExportOptions& options = {});
CFILE_EXPORT absl::StatusOr<ParquetReport> ExportParquet(const Reader& file,
                                                         std::unique_ptr<Sink> sink,
                                                         const ParquetExportOptions& options = {});

}  // namespace cfile
