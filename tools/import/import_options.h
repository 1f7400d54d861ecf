// The options of cfile-import, and its command line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cfile/options.h"
#include "cfile/storage.h"
#include "tools/command_line.h"
#include "tools/import/csv_input.h"
#include "tools/layout_options.h"
#include "tools/merge_rule.h"
#include "tools/output.h"
#include "tools/time_format.h"

namespace cfile::tools {

// Without --for, pages of Parquet keep their encodings.
struct ImportOptions : LayoutOptions {
  std::vector<std::string> inputs;     // paths, URLs, patterns and directories
  std::string input;                   // the file to import, or the first one
  std::vector<std::string> files;      // several of Parquet or of Arrow IPC, in place of `input`
  std::string output;                  // directory or URL of the table
  TableLocation table{std::string()};  // the table at `output`
  // Where temporary folders are made: the directory of the table, or another one if it is at a URL.
  std::string temporary_directory;
  std::string charset = "auto";           // of the input (InputFileOptions)
  uint64_t max_input_bytes = UINT64_MAX;  // InputFileOptions::max_bytes
  CsvDialect dialect;                     // without the delimiter
  std::optional<char> delimiter;          // nullopt: it is found (csv_reader.h)
  Header header = Header::kAuto;
  std::vector<std::string> names;         // of the columns; empty: the header has them
  uint64_t skip_bad_rows = 0;             // the most bad rows (type_pass.h) that are skipped
  std::vector<std::string> null_texts;    // unquoted fields that mean null, besides empty ones
  std::map<std::string, TextType> types;  // types of other columns are found from their values
  std::set<std::string> not_null;
  size_t max_block_size_bytes = WriterOptions().max_block_size_bytes;
  size_t max_metadata_size_bytes = WriterOptions().max_metadata_size_bytes;
  std::optional<size_t> max_page_size_bytes = {};  // of a Parquet file
  RecordLimits record_limits = {};
  std::vector<std::string> sorted_by;     // columns, the most significant first
  MergeOptions merge;                     // of a new table, whose key are the columns `sorted_by`
  size_t memory_bytes = size_t{1} << 30;  // for sorting
  // Where the nulls of the columns in `sorted_by` sort: after all values, or before all values.
  // With `append`, the table says this.
  bool nulls_last = true;
  std::vector<std::string> at;  // of JSON: JsonLines
  std::string schema_path;      // of JSON Lines: a file with the schema; empty: find the schema
  size_t num_threads = 1;  // threads that read CSV, at least 1; the output does not depend on it
  std::vector<std::string> columns;  // the columns to import; empty: all
  bool part_per_row_group = false;   // of Parquet
  bool append = false;               // to the table at `output`; `not_null` is then empty
  bool evolve = false;               // the columns of a table that exists may change
  // Only return the names of the columns (for completions of shells), and import nothing. For CSV
  // and JSON, these are the names in the first bytes.
  bool names_only = false;

  // The types that are inferred: with kKudu, only types that Kudu and version 1 have.
  OldestReader inferred_types() const {
    return version == FormatVersion::kV1 ? OldestReader::kKudu : oldest_reader;
  }
};

inline constexpr std::string_view kImportTool = "cfile-import";

struct Arguments {
  ImportOptions import;
  bool progress = false;
  bool summary = true;
  bool json = false;
  bool report = false;  // the summary counts the pages of Parquet
  bool why = false;     // the summary says why columns have their encodings
  bool quiet = false;   // no warnings
};

// Parses the command line. nullopt: there is nothing to import, because of --help, --version or an
// error. The text or the error has then been printed, and `exit_code` is set.
std::optional<Arguments> ParseArguments(int argc, char** argv, Output& output, ExitCode& exit_code);

}  // namespace cfile::tools
