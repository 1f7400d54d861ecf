#include "cfile/parquet.h"

#include <nanobind/stl/map.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cfile/status.h"
#include "cfile/types.h"
#include "tools/python/native/location.h"
#include "tools/python/native/object_source.h"
#include "tools/python/native/opened.h"
#include "tools/python/native/parquet.h"
#include "tools/python/native/settings.h"

namespace cfile_python {
namespace {

using Names = std::vector<std::string>;

nb::dict DictOf(const cfile::ParquetReport& report) {
  nb::dict dict;
  dict["rows"] = report.rows;
  dict["row_groups"] = report.row_groups;
  dict["copied_pages"] = report.copied_pages;
  dict["recompressed_pages"] = report.recompressed_pages;
  dict["recoded_pages"] = report.recoded_pages;
  dict["bytes_in"] = report.bytes_in;
  dict["bytes_out"] = report.bytes_out;
  return dict;
}

// Calls `work` with a function for options.progress. This function runs the handlers of signals.
// Raises the exception of a handler, and otherwise the error of `work`.
template <typename Work>
cfile::ParquetReport InterruptibleWork(const std::string& name, Work&& work) {
  return WithoutLock([&]() -> absl::StatusOr<cfile::ParquetReport> {
    absl::Status interrupted;
    auto report = work([&](uint64_t, uint64_t) {
      interrupted = RunSignalHandlers(name);
      return interrupted.ok();
    });
    if (!interrupted.ok()) return interrupted;
    return report;
  });
}

// Gives columns other types. The import checks whether their values can have them.
cfile::Schema WithTypes(cfile::Schema schema, const std::map<std::string, std::string>& types) {
  for (const auto& [name, type] : types) {
    const std::optional<size_t> column = schema.Find(name);
    if (!column) throw nb::key_error(name.c_str());
    schema.columns[*column].type = ValueOf(cfile::ColumnType::Parse(type));
  }
  if (!schema.tree) return schema;
  std::vector<cfile::RecordNode> nodes(schema.tree->nodes().begin(), schema.tree->nodes().end());
  for (size_t i = 0; i < schema.columns.size(); ++i)
    nodes[schema.tree->leaves()[i]].type = schema.columns[i].type;
  schema.tree = ValueOf(cfile::RecordSchema::Create(std::move(nodes)));
  return schema;
}

// `source`: a Location, or a RangedObject.
nb::dict ImportParquet(const nb::object& source, const Location& target, const nb::dict& settings,
                       const Names& columns, const Names& sorted_by,
                       const std::map<std::string, std::string>& types, bool append,
                       bool part_per_row_group, bool copy_pages, size_t max_page_size_bytes) {
  cfile::ParquetImportOptions options{.columns = columns,
                                      .sorted_by = sorted_by,
                                      .append = append,
                                      .part_per_row_group = part_per_row_group,
                                      .copy_pages = copy_pages,
                                      .max_page_size_bytes = max_page_size_bytes};
  std::string path;  // of a file or a directory, if `object` is null
  std::shared_ptr<const cfile::Source> object;
  const std::optional<Location> location = LocationOf(source);
  if (!location) {
    object = NewObjectSource(source);
  } else if (location->is_url()) {
    object = WithoutLock([&] { return location->OpenFile(); });
  } else {
    path = location->text();
  }
  if (append) {
    options.writer = OptionsOfTable(target, settings);
  } else {
    cfile::Schema schema = WithoutLock([&] {
      return object ? cfile::ParquetSchema(*object, options) : cfile::ParquetSchema(path, options);
    });
    options.writer = OptionsOf(settings, schema);
    if (!types.empty()) options.schema = WithTypes(std::move(schema), types);
  }
  const auto table = target.Storage();
  return DictOf(InterruptibleWork(target.text(), [&](auto progress) {
    options.progress = progress;
    return object ? cfile::ImportParquet(object, table, options)
                  : cfile::ImportParquet(path, table, options);
  }));
}

// `target`: a Location, or an object with a method `write`.
nb::dict ExportParquet(const Opened& source, const nb::object& target, const Names& columns,
                       uint64_t max_row_group_rows, const std::optional<std::string>& compression,
                       int page_version, bool page_index, bool page_checksums, bool check_values,
                       const std::vector<std::pair<std::string, std::string>>& metadata) {
  if (page_version != 1 && page_version != 2) {
    throw nb::value_error(
        cfile::StrCat("page_version: expected 1 or 2, got ", page_version).c_str());
  }
  cfile::ParquetExportOptions options{.columns = columns,
                                      .max_row_group_rows = max_row_group_rows,
                                      .data_page_v2 = page_version == 2,
                                      .page_index = page_index,
                                      .page_checksums = page_checksums,
                                      .check_values = check_values,
                                      .metadata = metadata};
  if (compression) options.compression = ValueOf(cfile::ParseCompression(*compression));
  std::unique_ptr<cfile::Sink> sink;
  if (const std::optional<Location> location = LocationOf(target)) {
    sink = WithoutLock([&] { return location->CreateFile(); });
  } else {
    sink = NewObjectSink(target);
  }
  return DictOf(InterruptibleWork(source.name(), [&](auto progress) {
    options.progress = progress;
    return source.is_table() ? cfile::ExportParquet(source.table(), std::move(sink), options)
                             : cfile::ExportParquet(source.file(), std::move(sink), options);
  }));
}

}  // namespace

void AddParquet(nb::module_& module) {
  using nb::arg;
  module.def("import_parquet", &ImportParquet, arg("source"), arg("target"), arg("settings"),
             nb::kw_only(), arg("columns"), arg("sorted_by"), arg("types"), arg("append"),
             arg("part_per_row_group"), arg("copy_pages"), arg("max_page_size_bytes"));
  module.def("export_parquet", &ExportParquet, arg("source"), arg("target"), nb::kw_only(),
             arg("columns"), arg("max_row_group_rows"), arg("compression").none(),
             arg("page_version"), arg("page_index"), arg("page_checksums"), arg("check_values"),
             arg("metadata"));
}

}  // namespace cfile_python
