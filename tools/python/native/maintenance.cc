
#include "tools/python/native/maintenance.h"

#include <chrono>
#include <optional>

#include "cfile/arrow_import.h"
#include "cfile/compound_key.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "tools/python/native/object_source.h"
#include "tools/python/native/settings.h"
#include "tools/python/native/stream.h"
#include "tools/python/native/values.h"

namespace cfile_python {
namespace {

using Names = std::vector<std::string>;

cfile::ColumnType TypeOf(const std::string& text) {
  return ValueOf(cfile::ColumnType::Parse(text));
}

nb::dict Compact(const std::string& path, const Names& parts, const nb::dict& settings) {
  const std::vector<cfile::WriterOptions> options = OptionsOfTable(path, settings);
  const cfile::CompactReport report =
      WithoutLock([&] { return cfile::Compact(NewInterruptibleStorage(path), parts, options); });
  nb::dict dict;
  dict["rows"] = report.rows;
  dict["copied_blocks"] = report.copied_blocks;
  dict["recoded_blocks"] = report.recoded_blocks;
  dict["copied_bytes"] = report.copied_bytes;
  return dict;
}

void DropRowsBelow(const std::string& path, const std::optional<std::string>& column,
                   const nb::object& key) {
  const auto storage = NewInterruptibleStorage(path);
  const cfile::Schema schema =
      WithoutLock([&] { return cfile::TableReader::Open(storage); }).schema();
  if (!column) {
    if (!schema.key_index()) throw nb::value_error("the table has no key columns");
    const std::vector<cfile::KeyColumn> columns = schema.key_types();
    cfile::CompoundKey built(columns);
    size_t count = 0;
    for (const nb::handle value : key) {
      if (count == columns.size()) throw nb::value_error("the key has too many values");
      AddToKey(built, columns[count++], value);
    }
    WithoutLock([&] {
      return cfile::DropRowsBelow<std::string_view>(storage, *schema.key_index(), built.bytes());
    });
    return;
  }
  const std::optional<size_t> position = schema.Find(*column);
  if (!position) throw nb::key_error(column->c_str());
  const cfile::ColumnType& type = schema.columns[*position].type;
  cfile::VisitType(type, [&]<typename T>(std::type_identity<T>) {
    const Key<T> least = KeyOf<T>(key);
    if (least.beyond < 0) return;
    if (least.beyond > 0) {
      PyErr_SetString(PyExc_OverflowError,
                      cfile::StrCat("outside of the range of ", type.ToString()).c_str());
      throw nb::python_error();
    }
    WithoutLock([&] { return cfile::DropRowsBelow<T>(storage, *position, least.value); });
  });
}

nb::list CollectGarbage(const std::string& path, double older_than_seconds) {
  constexpr double kMostSeconds = 1e15;
  if (!(older_than_seconds >= 0 && older_than_seconds < kMostSeconds)) {
    throw nb::value_error("older_than: expected a number of seconds, not less than 0");
  }
  const std::chrono::seconds age(static_cast<int64_t>(older_than_seconds));
  const auto removed =
      WithoutLock([&] { return cfile::CollectGarbage(NewInterruptibleStorage(path), age); });
  nb::list list;
  for (const cfile::RemovedGarbage& garbage : removed) {
    list.append(nb::make_tuple(garbage.name, garbage.size_bytes));
  }
  return list;
}

void AddColumn(const std::string& path, const std::string& name, const std::string& type,
               bool nullable, const nb::object& value) {
  const cfile::ColumnSchema column{.name = name, .type = TypeOf(type), .nullable = nullable};
  std::optional<cfile::Literal> literal;
  if (!value.is_none()) literal = LiteralOf(value, column.type);
  WithoutLock([&] { return cfile::AddColumn(NewInterruptibleStorage(path), column, literal); });
}

// Writes the columns of the stream `data`: new columns, or new values of columns.
void WriteColumns(const std::string& path, const nb::object& data, const nb::dict& settings,
                  bool replace) {
  const auto type = SchemaOf(data);
  cfile::Schema schema;
  if (replace) {
    for (std::string& name : FieldsOf(type->value)) schema.columns.push_back({.name = name});
  } else {
    schema = ValueOf(cfile::ImportArrowSchema(type->value));
  }
  const std::vector<cfile::WriterOptions> options = OptionsOf(settings, schema);
  const auto stream = StreamOf(data, path);
  WithoutLock([&]() -> absl::Status {
    const auto storage = NewInterruptibleStorage(path);
    Names names;
    for (const cfile::ColumnSchema& column : schema.columns) names.push_back(column.name);
    auto writer = replace ? cfile::ColumnsWriter::Replace(storage, names, options)
                          : cfile::ColumnsWriter::Add(storage, schema.columns, options);
    if (!writer.ok()) return writer.status();
    const absl::Status status = cfile::AppendArrow(*writer, &stream->value);
    return status.ok() ? writer->Finish() : status;
  });
}

nb::list Repair(const std::string& path, bool salvage, bool force, bool dry_run) {
  const cfile::RepairReport report = WithoutLock([&] {
    return cfile::Repair(NewInterruptibleStorage(path),
                         {.salvage = salvage, .force = force, .dry_run = dry_run});
  });
  nb::list list;
  for (const cfile::RepairedPart& part : report.parts) {
    nb::dict dict;
    dict["name"] = part.name;
    dict["state"] = std::string(cfile::NameOf(part.state));
    dict["num_rows"] = part.num_rows;
    dict["lost_rows"] = part.lost_rows;
    dict["reason"] = part.reason;
    list.append(dict);
  }
  return list;
}

}  // namespace

void AddMaintenance(nb::module_& module) {
  using nb::arg;
  module.def("compact", &Compact, arg("path"), arg("parts"), arg("settings"));
  module.def("drop_parts", [](const std::string& path, const Names& parts) {
    WithoutLock([&] { return cfile::DropParts(NewInterruptibleStorage(path), parts); });
  });
  module.def("drop_rows_below", &DropRowsBelow, arg("path"), arg("column").none(), arg("key"));
  module.def("collect_garbage", &CollectGarbage, arg("path"), arg("older_than_seconds"));
  module.def("add_column", &AddColumn, arg("path"), arg("name"), arg("type"), arg("nullable"),
             arg("default").none());
  module.def("write_columns", &WriteColumns, arg("path"), arg("data"), arg("settings"),
             arg("replace"));
  module.def("drop_columns", [](const std::string& path, const Names& names) {
    WithoutLock([&] { return cfile::DropColumns(NewInterruptibleStorage(path), names); });
  });
  module.def(
      "rename_column", [](const std::string& path, const std::string& from, const std::string& to) {
        WithoutLock([&] { return cfile::RenameColumn(NewInterruptibleStorage(path), from, to); });
      });
  module.def("reorder_columns", [](const std::string& path, const Names& names) {
    WithoutLock([&] { return cfile::ReorderColumns(NewInterruptibleStorage(path), names); });
  });
  module.def("widen_column", [](const std::string& path, const std::string& name,
                                const std::string& type) {
    const cfile::ColumnType wider = TypeOf(type);
    WithoutLock([&] { return cfile::WidenColumn(NewInterruptibleStorage(path), name, wider); });
  });
  module.def("repair", &Repair, arg("path"), nb::kw_only(), arg("salvage") = false,
             arg("force") = false, arg("dry_run") = false);
}

}  // namespace cfile_python
