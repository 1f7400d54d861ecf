// cfile-dump export: what the formats share.
//
// A new format is a row of the table in export.cc with a function of type ExportFunction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "cfile/parquet_options.h"
#include "tools/dump/row_selection.h"
#include "tools/progress.h"

namespace cfile::tools {

// The command line of `export`. A format refuses options that it cannot obey.
struct ExportOptions {
  RowChoice choice;
  bool header = true;     // the first line of CSV has the names of the columns
  char delimiter = '\0';  // '\0': that of the format
  size_t num_threads = 1;
  ParquetExportOptions parquet;   // without columns, progress and reader options
  std::string* report = nullptr;  // if not null: gets what --report prints
};

// Writes all chosen rows of `input`, the table or file at common.path, to `sink`. Calls Finish of
// the sink at the end, and Update of `progress` often. The output does not depend on num_threads.
using ExportFunction = absl::Status(const Input& input, const CommonOptions& common,
                                    const ExportOptions& options, std::unique_ptr<Sink> sink,
                                    Progress& progress);

ExportFunction ExportCsv;        // tools/dump/line_text.h describes the text
ExportFunction ExportTsv;        // CSV with tabs between the fields
ExportFunction ExportJsonLines;  // an object per row, nested as the schema says
ExportFunction ExportToParquet;  // only in builds with CFILE_WITH_PARQUET

// The text of a range of rows, a part at a time. Only one thread at a time may use it.
class RowText {
 public:
  virtual ~RowText() = default;
  // Appends the text of some further rows to `out`. False at the end of the range, where nothing is
  // appended.
  virtual absl::StatusOr<bool> Append(std::string& out) = 0;
  // The ordinal of the next row.
  virtual uint64_t ordinal() const = 0;
};

// Writes the text of the rows 0 to num_rows - 1 to `sink`, in order. `open` makes the text of a
// range; it is called by several threads at once. Each thread needs memory for the text of two
// ranges, up to 8 MiB each. The text of the rows before an error is written before the error is
// returned.
absl::Status WriteRows(
    uint64_t num_rows, size_t num_threads,
    const std::function<absl::StatusOr<std::unique_ptr<RowText>>(const OrdinalRange& range)>& open,
    Sink& sink, Progress& progress);

absl::Status AppendText(std::string_view text, Sink& sink);

}  // namespace cfile::tools
