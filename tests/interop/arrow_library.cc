// The library of arrow_test.py and of the benchmark of Arrow streams: opens files and tables, and
// exports them. Python calls these functions through ctypes.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/arrow.h"
#include "cfile/reader.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"

namespace {

// Returns 0, or 1 and writes the text of the error to `error`, which has 1000 bytes.
int Result(const absl::Status& status, char* error) {
  if (status.ok()) return 0;
  std::snprintf(error, 1000, "%s", status.ToString().c_str());
  return 1;
}

cfile::ArrowExportOptions Options(int string_views, int dictionaries, size_t max_batch_rows,
                                  int column_only) {
  cfile::ArrowExportOptions options{.string_views = string_views != 0,
                                    .dictionaries = dictionaries != 0,
                                    .column_only = column_only != 0};
  if (max_batch_rows > 0) options.max_batch_rows = max_batch_rows;
  return options;
}

}  // namespace

extern "C" {

// An open file, which cfile_test_close closes; null after an error.
__attribute__((visibility("default"))) void* cfile_test_open_file(const char* path, char* error) {
  const auto reader = cfile::Reader::Open(path);
  if (Result(reader.status(), error) != 0) return nullptr;
  return new cfile::Reader(*reader);
}
__attribute__((visibility("default"))) void cfile_test_close_file(void* file) {
  delete static_cast<cfile::Reader*>(file);
}
// The same for tables.
__attribute__((visibility("default"))) void* cfile_test_open_table(const char* path, char* error) {
  const auto table = cfile::TableReader::Open(std::string(path));
  if (Result(table.status(), error) != 0) return nullptr;
  return new cfile::TableReader(*table);
}
__attribute__((visibility("default"))) void cfile_test_close_table(void* table) {
  delete static_cast<cfile::TableReader*>(table);
}

// max_batch_rows 0: the default.
__attribute__((visibility("default"))) int cfile_test_export_file(
    const void* file, int string_views, int dictionaries, size_t max_batch_rows, int column_only,
    ArrowArrayStream* out, char* error) {
  return Result(cfile::ExportArrowStream(
                    *static_cast<const cfile::Reader*>(file), cfile::kAllRows,
                    Options(string_views, dictionaries, max_batch_rows, column_only), out),
                error);
}

// `columns`: names that end with a newline, or null for all columns.
__attribute__((visibility("default"))) int cfile_test_export_table(
    const void* table, const char* columns, int string_views, int dictionaries,
    size_t max_batch_rows, ArrowArrayStream* out, char* error) {
  cfile::TableScanOptions scan;
  if (columns != nullptr) {
    std::string rest = columns;
    scan.columns.emplace();
    for (size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
      scan.columns->push_back(rest.substr(0, end));
  }
  return Result(
      cfile::ExportArrowStream(*static_cast<const cfile::TableReader*>(table), scan,
                               Options(string_views, dictionaries, max_batch_rows, 0), out),
      error);
}

}  // extern "C"
