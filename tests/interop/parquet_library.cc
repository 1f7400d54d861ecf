// The library of parquet_test.py, together with arrow_library.cc: makes tables of Parquet files and
// Parquet files of tables. Python calls these functions through ctypes.
#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/parquet.h"

namespace {

// Returns 0 and writes the report as JSON to `text`, or 1 and writes the text of the error. `text`
// has 1000 bytes.
int Result(const absl::StatusOr<cfile::ParquetReport>& report, char* text) {
  if (!report.ok()) {
    std::snprintf(text, 1000, "%s", report.status().ToString().c_str());
    return 1;
  }
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::snprintf(text, 1000,
                "{\"rows\": %llu, \"row_groups\": %llu, \"copied\": %llu, \"recompressed\": %llu, "
                "\"recoded\": %llu}",
                number(report->rows), number(report->row_groups), number(report->copied_pages),
                number(report->recompressed_pages), number(report->recoded_pages));
  return 0;
}

}  // namespace

extern "C" {

// `block_size_bytes`: 0, the default, or a size by which most pages are not so small that they are
// joined.
__attribute__((visibility("default"))) int cfile_test_import_parquet(const char* path,
                                                                     const char* table,
                                                                     int part_per_row_group,
                                                                     size_t block_size_bytes,
                                                                     char* text) {
  cfile::ParquetImportOptions options;
  if (block_size_bytes > 0) options.writer = {{.block_size_bytes = block_size_bytes}};
  options.part_per_row_group = part_per_row_group != 0;
  return Result(cfile::ImportParquet(path, table, options), text);
}

// `compression`: a number of cfile::Compression.
__attribute__((visibility("default"))) int cfile_test_export_parquet(
    const char* table, const char* path, int data_page_v2, int page_index, int page_checksums,
    int compression, size_t max_row_group_rows, char* text) {
  cfile::ParquetExportOptions options;
  options.data_page_v2 = data_page_v2 != 0;
  options.page_index = page_index != 0;
  options.page_checksums = page_checksums != 0;
  options.compression = static_cast<cfile::Compression>(compression);
  options.max_row_group_rows = max_row_group_rows;
  return Result(cfile::ExportParquet(table, path, options), text);
}

}  // extern "C"
