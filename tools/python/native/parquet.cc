#include "tools/python/native/module.h"

#include <nanobind/stl/map.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cfile/parquet.h"
#include "cfile/status.h"
#include "cfile/types.h"
#include "tools/python/native/location.h"
#include "tools/python/native/object_source.h"
#include "tools/python/native/opened.h"
#include "tools/python/native/settings.h"

namespace cfile_python {
namespace {

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

// `source`: a Location, or a RangedFile.
nb::dict ImportParquet(const nb::object& source, const Location& target, const nb::dict& settings,
                       const nb::dict& given) {
  cfile::ParquetImportOptions options;
  std::map<std::string, std::string> types;
  Given(given)
      .To("columns", options.columns)
      .To("sorted_by", options.sorted_by)
      .To("types", types)
      .To("append", options.append)
      .To("part_per_row_group", options.part_per_row_group)
      .To("copy_pages", options.copy_pages)
      .To("max_page_size_bytes", options.max_page_size_bytes)
      .Done();
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
  if (options.append) {
    options.writer = OptionsOfTable(target, settings);
  } else {
    cfile::Schema schema = WithoutLock([&] {
      return object ? cfile::ParquetSchema(*object, options) : cfile::ParquetSchema(path, options);
    });
    options.writer = OptionsOf(settings, schema);
    if (!types.empty()) options.schema = WithTypes(std::move(schema), types);
  }
  const auto table = target.Storage();
  return DictOf(WithoutLock([&] {
    return object ? cfile::ImportParquet(object, table, options)
                  : cfile::ImportParquet(path, table, options);
  }));
}

// `target`: a Location, or an object with a method `write`.
nb::dict ExportParquet(const Opened& source, const nb::object& target, const nb::dict& given) {
  cfile::ParquetExportOptions options;
  int page_version = 2;
  Given(given)
      .To("columns", options.columns)
      .To("max_row_group_rows", options.max_row_group_rows)
      .To("compression", cfile::ParseCompression, options.compression)
      .To("page_version", page_version)
      .To("page_index", options.page_index)
      .To("page_checksums", options.page_checksums)
      .To("check_values", options.check_values)
      .To("metadata", options.metadata)
      .Done();
  if (page_version != 1 && page_version != 2) {
    throw nb::value_error(
        cfile::StrCat("page_version: expected 1 or 2, got ", page_version).c_str());
  }
  options.data_page_v2 = page_version == 2;
  std::unique_ptr<cfile::Sink> sink;
  if (const std::optional<Location> location = LocationOf(target)) {
    sink = WithoutLock([&] { return location->CreateFile(); });
  } else {
    sink = NewObjectSink(target);
  }
  return DictOf(WithoutLock([&] {
    return source.is_table() ? cfile::ExportParquet(source.table(), std::move(sink), options)
                             : cfile::ExportParquet(source.file(), std::move(sink), options);
  }));
}

}  // namespace

void AddParquet(nb::module_& module) {
  using nb::arg;
  module.def("import_parquet", &ImportParquet, arg("source"), arg("target"), arg("settings"),
             arg("options"));
  module.def("export_parquet", &ExportParquet, arg("source"), arg("target"), arg("options"));
}

}  // namespace cfile_python
