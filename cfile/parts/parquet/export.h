// Writes a Parquet file. Implements ExportParquet (cfile/parquet.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/io.h"
#include "cfile/parquet.h"
#include "cfile/reader.h"
#include "cfile/schema.h"

namespace cfile::internal {

// What is exported: a table, or a file as a table with one part and one column.
struct ParquetRows {
  Schema schema;
  uint64_t num_rows = 0;
  size_t num_parts = 0;
  std::function<absl::StatusOr<Reader>(size_t part, size_t column)> open;
  std::function<absl::StatusOr<MetadataPairs>()> metadata;
};

// Errors: those of ExportParquet.
absl::StatusOr<ParquetReport> ExportToParquet(const ParquetRows& rows, std::unique_ptr<Sink> sink,
                                              const ParquetExportOptions& options);

}  // namespace cfile::internal
