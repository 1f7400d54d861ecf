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
#include "tools/progress.h"

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
  bool goal_given = false;  // false: pages of Parquet keep their encodings
  size_t block_size_bytes = WriterOptions().block_size_bytes;
  size_t max_block_size_bytes = WriterOptions().max_block_size_bytes;
  size_t max_metadata_size_bytes = WriterOptions().max_metadata_size_bytes;
  RecordLimits record_limits = {};
  std::vector<std::string> sorted_by;     // columns, the most significant first
  size_t memory_bytes = size_t{1} << 30;  // for sorting
  // Says where the nulls of the columns in `sorted_by` sort: after all values or before all values.
  // nullopt: a null in such a column is an error.
  // Not used with `append`: then the table says where nulls sort.
  std::optional<bool> nulls_last;
  std::set<std::string> bloom;  // columns that get a Bloom filter
  FormatVersion version = FormatVersion::kV2;
  Compatibility compatibility = Compatibility::kNone;
  std::string schema_path;  // of JSON Lines: a file with the schema; empty: find the schema
  size_t num_threads = 1;   // threads that read CSV, at least 1; the output does not depend on it
  std::vector<std::string> columns;  // of Parquet: the columns to import; empty: all
  bool part_per_row_group = false;   // of Parquet
  bool append = false;      // to the table at `output`; `types` and `not_null` are then empty

  // The types that are inferred: with kKudu, only types that Kudu and version 1 have.
  Compatibility inferred_types() const {
    return version == FormatVersion::kV1 ? Compatibility::kKudu : compatibility;
  }
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
  std::string format = "CSV";   // of the input
  bool records = false;         // the rows are records; then nulls are entries without a value
  std::string inferred_schema;  // empty: the schema was given
  std::vector<ImportedColumn> columns;
  bool header = true;                  // the first record of CSV has the names of the columns
  std::vector<RenamedColumn> renamed;  // columns whose name in CSV could not be used
  std::vector<std::string> warnings;
  // Of Parquet: what has become of its pages (ParquetReport in cfile/parquet.h).
  uint64_t copied_pages = 0;
  uint64_t recompressed_pages = 0;
  uint64_t recoded_pages = 0;

  uint64_t bytes_out() const;
};

// kAlreadyExists, with advice, if `output` exists and is not an empty directory.
absl::Status CheckOutputIsFree(const std::string& output);

// Imports the CSV file options.input into the table options.output.
//
// Reads the file in up to four passes:
// 1. Finds the types and the nulls. `append` needs no such pass.
// 2. Checks the order of the rows, if `sorted_by` is set.
// 3. Sorts the keys, if the rows have another order.
// 4. Writes the rows.
// The first and the last pass use all threads.
//
// Memory for writing: one block for each column. Each thread also needs memory for two pieces.
// A piece is 256 KiB of the file and the values of this text. A longer record makes a larger piece.
// Memory for sorting: `memory_bytes`. If the rows need more, they are sorted in runs.
// A run is a series of sorted rows in a temporary folder in the table's directory.
// At the end, the runs are merged (sorted_runs.h).
//
// Header::kAuto: with `append`, or if an option names a column of the first record, this record is
// the header. Otherwise the first record is a row, with a warning, if two conditions hold:
// - Each field of the record is a value of the type that the other rows have in this column.
// - At least one of these types is not string.
// If a condition does not hold, the first record is the header.
//
// kInvalidArgument: the file is not valid CSV or a value does not fit its column
// ("FILE:LINE:COLUMN: ..."), or the options do not fit the file. kCancelled: Progress::Cancel was
// called. Other errors are those of reading and writing. An error leaves no files behind.
absl::StatusOr<ImportResult> Import(const ImportOptions& options, Progress& progress);

}  // namespace cfile::tools
