// What cfile-import does with CSV: reads the file, writes a table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "tools/import/csv_input.h"
#include "tools/import/progress.h"

namespace cfile::tools {

// A choice for all columns, and others for some of them by name.
template <typename T>
struct Choice {
  T for_all{};
  std::map<std::string, T> for_column;

  const T& Of(const std::string& column) const {
    const auto found = for_column.find(column);
    return found == for_column.end() ? for_all : found->second;
  }
};

struct ImportOptions {
  std::string input;   // path of the CSV file, or of JSON Lines (tools/import/records_importer.h)
  std::string output;  // directory of the table
  char delimiter = ',';
  Header header = Header::kAuto;
  std::vector<std::string> null_texts;      // null when they stand unquoted; "" always does
  std::map<std::string, ColumnType> types;  // columns that are not here: found from their values
  std::set<std::string> not_null;
  Choice<Encoding> encoding{.for_all = Encoding::kAuto, .for_column = {}};
  Choice<Compression> compression{.for_all = Compression::kDefault, .for_column = {}};
  Goal goal = Goal::kBalanced;
  size_t block_size_bytes = WriterOptions().block_size_bytes;
  size_t max_block_size_bytes = WriterOptions().max_block_size_bytes;
  size_t max_metadata_size_bytes = WriterOptions().max_metadata_size_bytes;
  RecordLimits record_limits = {};
  std::vector<std::string> sorted_by;  // columns, the most significant first
  Compatibility compatibility = Compatibility::kNone;
  std::string schema_path;  // of JSON Lines: a file with the text of the schema; empty = find it
  size_t num_threads =
      1;                // that CSV is read with, at least 1; what is written does not depend on it
  bool append = false;  // to the table at `output`; `types` and `not_null` are then empty
};

struct ImportedColumn {
  ColumnSchema schema;
  uint64_t nulls = 0;
  Encoding encoding = Encoding::kAuto;    // that its file names
  std::vector<EncodingTotals> encodings;  // of its blocks
  Compression compression = Compression::kNone;
  uint64_t bytes = 0;  // of its file
};

struct ImportResult {
  uint64_t rows = 0;
  uint64_t bytes_in = 0;
  double seconds = 0;
  std::vector<std::string> sorted_by;
  bool reordered = false;       // the file was not in that order
  bool records = false;         // they were JSON Lines, and nulls are entries without a value
  std::string inferred_schema;  // if it was
  std::vector<ImportedColumn> columns;
  bool header = true;                  // the first record of CSV has the names of the columns
  std::vector<RenamedColumn> renamed;  // columns whose name in CSV could not be used
  std::vector<std::string> warnings;

  uint64_t bytes_out() const;
};

// kAlreadyExists, saying what to do: there is something at `output` but an empty directory.
absl::Status CheckOutputIsFree(const std::string& output);

// Reads the input once to find types and nulls (not with `append`), once for the keys if there is
// `sorted_by`, and once to write. The first and the last time by all threads, each with a piece of
// the file or a column. Memory: one block per column, and for each thread two pieces of 256 KiB (or
// one record where that is longer) with their values; where rows have to be reordered, also place
// and key of each row.
//
// Header::kAuto: with `append`, or if an option names a column of the first record, this record is
// the header. Else the first record is a row, with a warning, if all of its fields are values of the
// types that the rows after it have, and at least one of these types is not string.
//
// kInvalidArgument: the file is no CSV or a value does not go with its column ("FILE:LINE:COLUMN:
// ..."), or the options do not go with the file. kCancelled: Progress::Cancel. Other errors are
// those of reading and writing. After an error nothing is left behind.
absl::StatusOr<ImportResult> Import(const ImportOptions& options, Progress& progress);

}  // namespace cfile::tools
