// Imports a CSV file into a table, for cfile-import.
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

// A choice for all columns, and choices for named columns that override it.
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
  std::vector<std::string> null_texts;      // unquoted fields that mean null, besides empty ones
  std::map<std::string, ColumnType> types;  // types of other columns are found from their values
  std::set<std::string> not_null;
  Choice<Encoding> encoding{.for_all = Encoding::kAuto, .for_column = {}};
  Choice<Compression> compression{.for_all = Compression::kDefault, .for_column = {}};
  Goal goal = Goal::kBalanced;
  size_t block_size_bytes = WriterOptions().block_size_bytes;
  size_t max_block_size_bytes = WriterOptions().max_block_size_bytes;
  size_t max_metadata_size_bytes = WriterOptions().max_metadata_size_bytes;
  RecordLimits record_limits = {};
  std::vector<std::string> sorted_by;     // columns, the most significant first
  size_t memory_bytes = size_t{1} << 30;  // for sorting
  // Whether the nulls of these columns sort after all values or before them. nullopt: a null is an
  // error. Not used with `append`, because the table says where nulls sort.
  std::optional<bool> nulls_last;
  Compatibility compatibility = Compatibility::kNone;
  std::string schema_path;  // of JSON Lines: a file with the schema; empty: find the schema
  size_t num_threads = 1;   // threads that read CSV, at least 1; the output does not depend on it
  bool append = false;      // to the table at `output`; `types` and `not_null` are then empty
};

struct ImportedColumn {
  ColumnSchema schema;
  ColumnTotals totals;
};

struct ImportResult {
  uint64_t rows = 0;
  uint64_t bytes_in = 0;
  double seconds = 0;
  std::vector<std::string> sorted_by;
  bool reordered = false;       // the file had another order, so the rows were sorted
  bool records = false;         // JSON Lines; then nulls are entries without a value
  std::string inferred_schema;  // empty: the schema was given
  std::vector<ImportedColumn> columns;
  bool header = true;                  // the first record of CSV has the names of the columns
  std::vector<RenamedColumn> renamed;  // columns whose name in CSV could not be used
  std::vector<std::string> warnings;

  uint64_t bytes_out() const;
};

// kAlreadyExists, with advice, if `output` exists and is not an empty directory.
absl::Status CheckOutputIsFree(const std::string& output);

// Imports the CSV file options.input into the table options.output.
//
// Reads the file up to four times: to find types and nulls (not with `append`), to check the order
// (with `sorted_by`), to sort the keys (if the order is wrong), and to write. All threads share the
// first and the last pass.
//
// Memory: one block for each column, and for each thread two pieces of 256 KiB of the file with
// their values. A piece is larger if one record is larger. If rows are reordered, sorting takes
// `memory_bytes`, too. If the rows need more memory, they are sorted in runs. The runs are written
// to a temporary folder in the table's directory and then merged (sorted_runs.h).
//
// Header::kAuto: with `append`, or if an option names a column of the first record, this record is
// the header. Otherwise the first record is a row, with a warning, if two conditions hold. All of
// its fields are values of the types that the other rows have. At least one of these types is not
// string. If not, the first record is the header.
//
// kInvalidArgument: the file is not valid CSV or a value does not fit its column
// ("FILE:LINE:COLUMN: ..."), or the options do not fit the file. kCancelled: Progress::Cancel was
// called. Other errors are those of reading and writing. An error leaves no files behind.
absl::StatusOr<ImportResult> Import(const ImportOptions& options, Progress& progress);

}  // namespace cfile::tools
