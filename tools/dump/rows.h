// What cfile-dump rows needs for the formats that are not text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/parquet_options.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_ranges.h"
#include "tools/dump/row_selection.h"
#include "tools/dump/row_text.h"
#include "tools/progress.h"

namespace cfile::tools {

// The rows for a file of Parquet.
struct ParquetRows {
  RowChoice choice;
  RangeChoice range;
  bool all = false;          // `choice` and `range` choose all rows
  LostRows* lost = nullptr;  // not null: damaged rows are left out
};

// Writes the rows as Parquet, and calls Finish of the sink. Some of the rows are first copied to a
// temporary table, in the directory that TMPDIR names or in /tmp. Returns what --report prints.
// Only in builds with CFILE_WITH_PARQUET.
absl::StatusOr<std::string> WriteParquet(const Input& input, const ParquetRows& rows,
                                         const CommonOptions& common, ParquetExportOptions parquet,
                                         std::unique_ptr<Sink> sink, Progress& progress);

// If `place` ends in .gz or .zst, returns a sink that compresses what it gets, and writes it to
// `sink`; otherwise `sink` itself. kUnimplemented: this build lacks the codec.
absl::StatusOr<std::unique_ptr<Sink>> CompressedSink(const std::string& place,
                                                     std::unique_ptr<Sink> sink);

}  // namespace cfile::tools
