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
#include "tools/import/delimiter.h"
#include "tools/import/type_reason.h"
#include "tools/input/input_file.h"
#include "tools/progress.h"
#include "tools/time_format.h"

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
  std::string charset = "auto";             // of the input (InputFileOptions)
  uint64_t max_input_bytes = UINT64_MAX;    // InputFileOptions::max_bytes
  std::optional<char> delimiter;            // nullopt: it is found (delimiter.h)
  Header header = Header::kAuto;
  std::vector<std::string> names;           // of the columns; empty: the header has them
  uint64_t skip_bad_rows = 0;               // the most bad rows (type_pass.h) that are skipped
  std::vector<std::string> null_texts;      // unquoted fields that mean null, besides empty ones
  std::map<std::string, TextType> types;    // types of other columns are found from their values
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
  // Says where the nulls of the columns in `sorted_by` sort: after all values or before all values.
  // nullopt: a null in such a column is an error.
  // Not used with `append`: then the table says where nulls sort.
  std::optional<bool> nulls_last;
  std::set<std::string> bloom;  // columns that get a Bloom filter
  FormatVersion version = FormatVersion::kV2;
  Compatibility compatibility = Compatibility::kNone;
  std::string schema_path;  // of JSON Lines: a file with the schema; empty: find the schema
  size_t num_threads = 1;   // threads that read CSV, at least 1; the output does not depend on it
  bool append = false;      // to the table at `output`; `not_null` is then empty

  // The types that are inferred: with kKudu, only types that Kudu and version 1 have.
  Compatibility inferred_types() const {
    return version == FormatVersion::kV1 ? Compatibility::kKudu : compatibility;
  }
};

struct ImportedColumn {
  ColumnSchema schema;
  ColumnTotals totals;
  TypeReason reason;  // of CSV: why the column has its type
};

// Rows that were skipped because they are bad.
struct SkippedRows {
  uint64_t count = 0;
  // The first lines of the first rows, counted from 1: of all rows, or of kMaxSkippedLines.
  std::vector<uint64_t> lines;
  std::vector<std::string> reasons;  // of the first kShownBadRows rows
};
inline constexpr size_t kMaxSkippedLines = 1000;

struct ImportResult {
  uint64_t rows = 0;
  uint64_t bytes_in = 0;      // of text in UTF-8
  uint64_t stored_bytes = 0;  // of the input, which may be compressed or have another charset
  std::string packing;        // InputFile::packing
  std::string charset;        // InputFile::charset
  double seconds = 0;
  std::vector<std::string> sorted_by;
  bool reordered = false;       // the file had another order, so the rows were sorted
  std::string format = "CSV";   // of the input
  bool records = false;         // the rows are records; then nulls are entries without a value
  std::string inferred_schema;  // empty: the schema was given
  std::vector<ImportedColumn> columns;
  bool header = true;                  // the first record of CSV has the names of the columns
  Delimiter delimiter;                 // of CSV
  SkippedRows skipped;                 // of CSV
  std::vector<RenamedColumn> renamed;  // columns whose name in CSV could not be used
  std::vector<std::string> warnings;

  uint64_t bytes_out() const;
};

// kAlreadyExists, with advice, if `output` exists and is not an empty directory.
absl::Status CheckOutputIsFree(const std::string& output);

// Imports a CSV file into the table options.output. Precondition: `file` was opened with
// InputFileOptions::map.
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
// `skip_bad_rows` is above 0: the first pass also finds the rows that are bad, and later passes skip
// them. Then `append` needs this pass, too.
//
// Header::kAuto: with `append`, or if an option names a column of the first record, this record is
// the header. If `names` is set, options name columns by these names and do not show what the first
// record is. Otherwise the first record is a row, with a warning, if two conditions hold:
// - Each field of the record is a value of the type that the other rows have in this column.
// - At least one of these types is not string.
// If a condition does not hold, the first record is the header.
//
// kInvalidArgument: the file is not valid CSV or a value does not fit its column
// ("FILE:LINE:COLUMN: ..."), or the options do not fit the file. kCancelled: Progress::Cancel was
// called. Other errors are those of reading and writing. An error leaves no files behind.
absl::StatusOr<ImportResult> Import(const ImportOptions& options, const InputFile& file,
                                    Progress& progress);

}  // namespace cfile::tools
