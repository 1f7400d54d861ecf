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
#include "tools/progress.h"

namespace cfile::tools {

// Writes all rows of `input` as Parquet, and calls Finish of the sink. `columns`: empty for all.
// Returns what --report prints. Only in builds with CFILE_WITH_PARQUET.
absl::StatusOr<std::string> WriteParquet(const Input& input,
                                         const std::vector<std::string>& columns,
                                         ParquetExportOptions parquet, std::unique_ptr<Sink> sink,
                                         Progress& progress);

// If `place` ends in .gz or .zst, returns a sink that compresses what it gets, and writes it to
// `sink`; otherwise `sink` itself. kUnimplemented: this build lacks the codec.
absl::StatusOr<std::unique_ptr<Sink>> CompressedSink(const std::string& place,
                                                     std::unique_ptr<Sink> sink);

}  // namespace cfile::tools
