// What cfile/parquet.h takes and returns: options and a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cfile/file_info.h"
#include "cfile/options.h"
#include "cfile/schema.h"

namespace cfile {

// What has become of the pages (ImportParquet) or of the blocks (ExportParquet). Dictionary pages
// are not counted.
struct ParquetReport {
  uint64_t rows = 0;
  uint64_t row_groups = 0;
  uint64_t copied_pages = 0;  // the stored bytes of the values were copied
  // The encoded values were copied, and compressed again; or codes got the numbers of another
  // dictionary.
  uint64_t recompressed_pages = 0;
  uint64_t recoded_pages = 0;  // the values were decoded and encoded again
  uint64_t bytes_in = 0;       // stored bytes of the pages or blocks that were read
  uint64_t bytes_out = 0;      // bytes of the new files
  // ImportParquet: for each column of the table the totals of its new files, without keys and
  // statistics.
  std::vector<ColumnTotals> columns = {};
};

struct ParquetImportOptions {
  // The paths of the files to import, as if they were in one directory without folders. Functions
  // with a path then use it only in the messages of errors. If empty, they import the path.
  std::vector<std::string> files = {};
  // The names of the top-level columns to import; empty: all columns. Each of them must be in at
  // least one of the files. It is null in the rows of files that do not have it.
  std::vector<std::string> columns = {};
  // Columns by which the rows are sorted and searched, the most significant first. The rows must
  // have this order; kInvalidArgument names the first row that has not. A single column that is not
  // nullable gets a value index. Otherwise the columns become Schema::key_columns.
  std::vector<std::string> sorted_by = {};
  // The schema of a new table, instead of that of ParquetSchema. It has the same names, types,
  // lists and groups; `sorted_by` adds its keys. A string column of the file may be a binary column
  // here: then its values need not be UTF-8. A column of INT96 may have the type int96 or
  // timestamp(us). A column that is nullable in the file need not be nullable here; a null is then
  // an error.
  std::optional<Schema> schema = {};
  // True: the rows become a new part of an existing table with the same columns.
  bool append = false;
  // True: each row group becomes a part of the table, and keeps its dictionaries. False: all row
  // groups become one part, and their dictionaries are merged if the result keeps the limits.
  bool part_per_row_group = false;
  // False: decodes all values and encodes them again, also with the default options, which then
  // choose the encoding of each block as for any new table.
  bool copy_pages = true;
  // The options of the new files: none, one for all columns, or one for each leaf column. With
  // the default options, a page keeps its encoding and its codec and is copied if possible. Any
  // other encoding, goal or codec encodes or compresses the values again.
  std::vector<WriterOptions> writer = {};
  // The largest page or dictionary in bytes, as stored and before compression. kOutOfRange if a
  // page exceeds it. Other writers make pages that are much larger than blocks. A page or
  // dictionary that exceeds max_block_size_bytes of the writer's options becomes several smaller
  // blocks.
  size_t max_page_size_bytes = size_t{1} << 30;
  ReaderOptions reader = {};  // limits for metadata and dictionaries (max_dictionary_values)
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
  // True: the values of a block are checked, as a reader does, before its bytes are copied. False:
  // only the checksums are verified, and the numbers of rows and values. This is faster if blocks
  // are compressed, but a block whose writer was wrong becomes a page that is wrong.
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

}  // namespace cfile
