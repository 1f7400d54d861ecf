#include "tools/python/native/module.h"

#include <nanobind/stl/map.h>

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>

#include "cfile/arrow_import.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "tools/python/native/location.h"
#include "tools/python/native/settings.h"
#include "tools/python/native/stream.h"
#include "tools/python/native/values.h"

namespace cfile_python {
namespace {

cfile::ColumnType TypeOf(const std::string& text) {
  return ValueOf(cfile::ColumnType::Parse(text));
}

// Sets the limit for metadata with which this package reads (kLimits).
std::vector<cfile::WriterOptions> WithLimit(std::vector<cfile::WriterOptions> options) {
  for (cfile::WriterOptions& each : options)
    each.max_metadata_size_bytes = kLimits.max_metadata_size_bytes;
  return options;
}

nb::dict Compact(const Location& path, const Names& parts, const nb::dict& settings, bool newest) {
  const std::vector<cfile::WriterOptions> options = WithLimit(OptionsOfTable(path, settings));
  const auto kept = newest ? cfile::KeptRows::kNewestOfKey : cfile::KeptRows::kAll;
  const cfile::CompactReport report =
      AtTable(path, [&](const auto& table) { return cfile::Compact(table, parts, options, kept); });
  nb::dict dict;
  dict["rows"] = report.rows;
  dict["copied_blocks"] = report.copied_blocks;
  dict["recoded_blocks"] = report.recoded_blocks;
  dict["copied_bytes"] = report.copied_bytes;
  return dict;
}

void DropRowsBelow(const Location& path, const std::string& column, const nb::object& key,
                   const nb::dict& settings) {
  const cfile::Schema schema = SchemaOfTable(path);
  const std::vector<cfile::WriterOptions> options = WithLimit({OptionsOf(settings)});
  if (column.empty()) {
    const std::string bytes = CompoundBytes(schema, key);
    AtTable(path, [&](const auto& table) {
      return cfile::DropRowsBelow<std::string_view>(table, *schema.key_index(), bytes, options);
    });
    return;
  }
  const std::optional<size_t> position = schema.Find(column);
  if (!position) throw nb::key_error(column.c_str());
  const cfile::ColumnType& type = schema.columns[*position].type;
  cfile::VisitType(type, [&]<typename T>(std::type_identity<T>) {
    const Key<T> least = KeyOf<T>(key);
    if (least.beyond < 0) return;
    if (least.beyond > 0) throw std::overflow_error("outside of the range of " + type.ToString());
    AtTable(path, [&](const auto& table) {
      return cfile::DropRowsBelow<T>(table, *position, least.value, options);
    });
  });
}

nb::list CollectGarbage(const Location& path, double older_than_seconds) {
  constexpr double kMostSeconds = 1e15;
  if (!(older_than_seconds >= 0 && older_than_seconds < kMostSeconds)) {
    throw nb::value_error("older_than: expected a number of seconds, not less than 0");
  }
  const std::chrono::seconds age(static_cast<int64_t>(older_than_seconds));
  const auto removed =
      AtTable(path, [&](const auto& table) { return cfile::CollectGarbage(table, age, kLimits); });
  nb::list list;
  for (const cfile::RemovedGarbage& garbage : removed) {
    list.append(nb::make_tuple(garbage.name, garbage.size_bytes));
  }
  return list;
}

void AddColumn(const Location& path, const std::string& name, const std::string& type,
               bool nullable, const nb::object& value) {
  const cfile::ColumnSchema column{.name = name, .type = TypeOf(type), .nullable = nullable};
  std::optional<cfile::Literal> literal;
  if (!value.is_none()) literal = LiteralOf(value, column.type);
  AtTable(path,
          [&](const auto& table) { return cfile::AddColumn(table, column, literal, kLimits); });
}

// Writes the columns of the stream `data`: new columns, or new values of columns.
void WriteColumns(const Location& path, const nb::object& data, const nb::dict& settings,
                  bool replace) {
  const auto type = SchemaOf(data);
  cfile::Schema schema;
  if (replace) {
    for (std::string& name : FieldsOf(type->value)) schema.columns.push_back({.name = name});
  } else {
    schema = ValueOf(cfile::ImportArrowSchema(type->value));
  }
  const std::vector<cfile::WriterOptions> options = WithLimit(OptionsOf(settings, schema));
  const auto stream = StreamOf(data, path.text());
  AtTable(path, [&](const auto& storage) -> absl::Status {
    Names names;
    for (const cfile::ColumnSchema& column : schema.columns) names.push_back(column.name);
    auto writer = replace ? cfile::ColumnsWriter::Replace(storage, names, options)
                          : cfile::ColumnsWriter::Add(storage, schema.columns, options);
    if (!writer.ok()) return writer.status();
    const absl::Status status = cfile::AppendArrow(*writer, &stream->value);
    return status.ok() ? writer->Finish() : status;
  });
}

using Pairs = std::map<std::string, std::string>;

// Replaces the pairs `before` by `after`. kAborted: there are other pairs with these keys.
void ReplaceMetadata(const Location& path, const Pairs& before, const Pairs& after) {
  AtTable(path, [&](const auto& table) {
    return cfile::ChangeMetadata(
        table,
        [&](auto& pairs) -> absl::Status {
          Pairs found;
          std::erase_if(pairs, [&](const auto& pair) {
            const bool is_named = before.contains(pair.first) || after.contains(pair.first);
            return is_named && found.insert(pair).second;
          });
          if (found != before) return absl::AbortedError("the metadata have changed");
          pairs.insert(pairs.end(), after.begin(), after.end());
          return absl::OkStatus();
        },
        kLimits);
  });
}

nb::list Repair(const Location& path, const nb::dict& given) {
  cfile::RepairOptions options{.reader = kLimits};
  Given(given)
      .To("salvage", options.salvage)
      .To("null_lost", options.null_lost)
      .To("drop_damaged", options.drop_damaged)
      .To("force", options.force)
      .To("dry_run", options.dry_run)
      .To("stored_rows", options.reader.stored_rows)
      .Done();
  const cfile::RepairReport report =
      AtTable(path, [&](const auto& table) { return cfile::Repair(table, options); });
  nb::list list;
  for (const cfile::RepairedPart& part : report.parts) {
    nb::dict dict;
    dict["name"] = part.name;
    dict["state"] = std::string(cfile::NameOf(part.state));
    dict["num_rows"] = part.num_rows;
    dict["lost_rows"] = part.lost_rows;
    nb::dict lost_values;
    for (const auto& [column, count] : part.lost_values) lost_values[column.c_str()] = count;
    dict["lost_values"] = lost_values;
    dict["reason"] = part.reason;
    list.append(dict);
  }
  return list;
}

}  // namespace

void AddMaintenance(nb::module_& module) {
  using nb::arg;
  module.def("compact", &Compact, arg("path"), arg("parts"), arg("settings"),
             arg("newest") = false);
  module.def("part_origin", [](const Location& path, const std::string& part) -> nb::object {
    std::optional<cfile::PartOrigin> origin;
    AtTable(path, [&](const auto& table) -> absl::Status {
      auto read = cfile::ReadPartOrigin(table, part, kLimits);
      if (absl::IsNotFound(read.status())) return absl::OkStatus();
      if (read.ok()) origin = *std::move(read);
      return read.status();
    });
    if (!origin) return nb::none();
    return nb::make_tuple(origin->commit, nb::cast(origin->replaced));
  });
  module.def("is_table_path", [](const std::string& path) { return cfile::IsTablePath(path); });
  module.def("raise_oldest_reader", [](const Location& path, const std::string& reader) {
    const cfile::OldestReader to = ValueOf(cfile::ParseOldestReader(reader));
    return cfile::OldestReaderName(AtTable(
        path, [&](const auto& table) { return cfile::RaiseOldestReader(table, to, kLimits); }));
  });
  module.def("drop_parts", [](const Location& path, const Names& parts, bool stored_rows) {
    cfile::ReaderOptions options = kLimits;
    options.stored_rows = stored_rows;
    AtTable(path, [&](const auto& table) { return cfile::DropParts(table, parts, options); });
  });
  module.def("raise_time_bound", [](const Location& path, int64_t bound) {
    AtTable(path, [&](const auto& table) { return cfile::RaiseTimeBound(table, bound, kLimits); });
  });
  module.def("drop_rows_below", &DropRowsBelow, arg("path"), arg("column"), arg("key"),
             arg("settings"));
  module.def("collect_garbage", &CollectGarbage, arg("path"), arg("older_than_seconds"));
  module.def("add_column", &AddColumn, arg("path"), arg("name"), arg("type"), arg("nullable"),
             arg("default").none());
  module.def("write_columns", &WriteColumns, arg("path"), arg("data"), arg("settings"),
             arg("replace"));
  module.def("drop_columns", [](const Location& path, const Names& names) {
    AtTable(path, [&](const auto& table) { return cfile::DropColumns(table, names, kLimits); });
  });
  module.def("rename_column", [](const Location& path, const std::string& from,
                                 const std::string& to) {
    AtTable(path, [&](const auto& table) { return cfile::RenameColumn(table, from, to, kLimits); });
  });
  module.def("replace_metadata", &ReplaceMetadata);
  module.def("change_arrow_schema", &cfile::ChangeArrowSchema, arg("arrow_schema"), arg("renamed"),
             arg("other") = "", arg("added") = Names());
  module.def("reorder_columns", [](const Location& path, const Names& names) {
    AtTable(path, [&](const auto& table) { return cfile::ReorderColumns(table, names, kLimits); });
  });
  module.def(
      "widen_column", [](const Location& path, const std::string& name, const std::string& type) {
        const cfile::ColumnType wider = TypeOf(type);
        const cfile::WriterOptions options = WithLimit({{}})[0];
        AtTable(path,
                [&](const auto& table) { return cfile::WidenColumn(table, name, wider, options); });
      });
  module.def("repair", &Repair, arg("path"), arg("options"));
}

}  // namespace cfile_python
