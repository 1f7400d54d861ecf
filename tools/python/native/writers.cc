#include "tools/python/native/module.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "cfile/arrow_import.h"
#include "cfile/levels.h"
#include "cfile/prepared_parts.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "cfile/table_maintenance.h"
#include "cfile/writer.h"
#include "tools/python/native/location.h"
#include "tools/python/native/settings.h"
#include "tools/python/native/stream.h"

namespace cfile_python {
namespace {

using cfile::Schema;

// The schema of a table with rows of the type `type` and these key columns. `merge`: MergeSettings
// or None.
Schema SchemaWithKey(const nb::object& type, const Names& keys, const nb::object& merge) {
  Schema schema = ValueOf(cfile::ImportArrowSchema(SchemaOf(type)->value));
  const auto position = [&](const std::string& name) {
    const std::optional<size_t> found = schema.Find(name);
    if (!found) throw nb::key_error(name.c_str());
    return *found;
  };
  for (const std::string& name : keys) schema.key_columns.push_back(position(name));
  if (merge.is_none()) return schema;
  std::optional<std::string> deleted, time;
  const auto settings = nb::cast<nb::dict>(merge);
  Given(settings).To("deleted_column", deleted).To("time_column", time).Done();
  cfile::MergeRule& rule = schema.merge_rule.emplace();
  if (deleted) rule.deleted_column = position(*deleted);
  if (time) rule.time_column = position(*time);
  return schema;
}

Names AppendTable(const Location& path, const Location& from, const nb::dict& settings) {
  const auto rows =
      AtTable(from, [](const auto& storage) { return cfile::TableReader::Open(storage, kLimits); });
  const Schema schema = SchemaOfTable(path);
  std::map<std::string, cfile::WriterOptions> options;
  for (const auto [column, of_column] : settings) {
    const auto name = nb::cast<std::string>(column);
    if (!name.empty() && !schema.Find(name) && !rows.schema().Find(name))
      throw nb::key_error(name.c_str());
    options[name] = OptionsOf(nb::cast<nb::dict>(of_column));
  }
  return AtTable(path, [&](const auto& table) {
    return cfile::AppendTable(table, rows, [&](const cfile::ColumnSchema& column) {
      const auto found = options.find(column.name);
      return found == options.end() ? options[""] : found->second;
    });
  });
}

bool CommitParts(const Location& path, const std::vector<nb::bytes>& parts, const std::string& id,
                 const Names& replaced, const nb::object& type, const Names& keys,
                 bool stored_rows) {
  const Schema schema = type.is_none() ? Schema() : SchemaWithKey(type, keys, nb::none());
  Names descriptions;
  for (const nb::bytes& part : parts) descriptions.emplace_back(part.c_str(), part.size());
  cfile::ReaderOptions reader = kLimits;
  reader.stored_rows = stored_rows;
  return AtTable(path, [&](const auto& storage) {
    return cfile::CommitParts(storage, descriptions,
                              {.id = id,
                               .replaced = replaced,
                               .schema = type.is_none() ? nullptr : &schema,
                               .reader = reader});
  });
}

// Writer of cfile/_native.pyi: a TableWriter, or a Writer<T> or LevelWriter<T> of a file.
class PythonWriter {
 public:
  template <typename Writer>
  PythonWriter(Writer writer, std::string name) : name_(std::move(name)) {
    const auto held = std::make_shared<Writer>(std::move(writer));
    if constexpr (std::is_same_v<Writer, cfile::TableWriter>) table_ = held;
    append_ = [held](ArrowArrayStream* stream) { return cfile::AppendArrow(*held, stream); };
    finish_ = [held] { return held->Finish(); };
  }

  void Write(const nb::object& data) {
    CheckOpen();
    const auto stream = StreamOf(data, name_);
    WithoutLock([append = append_, &stream] { return append(&stream->value); });
  }
  void Merge(const Location& from) {
    AtTable(from, [table = Table()](const auto& storage) -> absl::Status {
      const auto rows = cfile::TableReader::Open(storage, kLimits);
      if (!rows.ok()) return rows.status();
      uint64_t merged = 0;
      const absl::Status status = cfile::AppendMerged(*rows, *table, [&](uint64_t count) {
        merged = count;
        return absl::OkStatus();
      });
      if (!status.ok() || merged == rows->num_rows()) return status;
      return absl::InvalidArgumentError(
          "several rows have the same key; because of the table's merge rule, the rows of a part "
          "must have different keys");
    });
  }
  void Finish() {
    CheckOpen();
    const absl::Cleanup close = [this] { Close(); };
    WithoutLock([finish = finish_] { return finish(); });
  }
  nb::bytes FinishPrepared() {
    const auto table = Table();
    const absl::Cleanup close = [this] { Close(); };
    const std::string part = WithoutLock([&] { return table->FinishPrepared(); });
    return nb::bytes(part.data(), part.size());
  }
  void Close() {
    nb::gil_scoped_release release;  // removes files
    append_ = nullptr;
    finish_ = nullptr;
    table_ = nullptr;
  }

 private:
  void CheckOpen() const {
    if (!append_) throw nb::value_error("the writer is closed");
  }
  std::shared_ptr<cfile::TableWriter> Table() const {
    CheckOpen();
    if (!table_) throw nb::type_error("the writer writes a file, not a table");
    return table_;
  }

  const std::string name_;
  // Calls use copies of these, because Close may run in another thread during a call.
  std::function<absl::Status(ArrowArrayStream*)> append_;
  std::function<absl::Status()> finish_;
  std::shared_ptr<cfile::TableWriter> table_;  // null if this writes a file
};

using NewWriter = std::unique_ptr<PythonWriter>;

template <typename Make>
NewWriter TableWriterAt(const Location& path, Make&& make) {
  return std::make_unique<PythonWriter>(AtTable(path, make), path.text());
}

// `begin`: TableWriter::Create or TableWriter::Prepare.
template <auto begin>
NewWriter Create(const Location& path, const nb::object& type, const nb::dict& settings,
                 const Names& keys, const nb::object& merge) {
  Schema schema = SchemaWithKey(type, keys, merge);
  const std::vector<cfile::WriterOptions> options = OptionsOf(settings, schema);
  // Fields of Arrow are nullable unless somebody says otherwise. A value index has no nulls.
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i].value_index) schema.columns[i].nullable = false;
  }
  return TableWriterAt(path, [&](const auto& table) { return begin(table, schema, options); });
}

NewWriter CreateLike(const Location& path, const Location& like, const nb::dict& settings) {
  const Schema schema = SchemaOfTable(like);
  const std::vector<cfile::WriterOptions> options = OptionsOf(settings, schema);
  return TableWriterAt(
      path, [&](const auto& table) { return cfile::TableWriter::Create(table, schema, options); });
}

NewWriter Append(const Location& path, const nb::dict& settings, const Names& replaced,
                 bool stored_rows) {
  const std::vector<cfile::WriterOptions> options = OptionsOfTable(path, settings);
  return TableWriterAt(path, [&](const auto& table) -> absl::StatusOr<cfile::TableWriter> {
    if (replaced.empty()) return cfile::TableWriter::Open(table, options);
    if (!stored_rows) return cfile::TableWriter::Replace(table, replaced, options);
    cfile::ReaderOptions reader = kLimits;
    reader.stored_rows = true;
    CFILE_ASSIGN_OR_RETURN(const auto snapshot, cfile::TableReader::Open(table, reader));
    return cfile::TableWriter::Replace(table, snapshot, replaced, options);
  });
}

// Returns the type of a column: the type of a struct with one field, or of the values.
cfile::ColumnSchema ColumnOf(ArrowSchema& type) {
  // The library reads the types of structs only.
  const bool is_struct = std::string_view(type.format) == "+s" && type.n_children == 1;
  ArrowSchema named = type;
  if (named.name == nullptr || *named.name == '\0') named.name = "value";
  ArrowSchema* children[] = {&named};
  const ArrowSchema rows{.format = "+s",
                         .name = "",
                         .flags = 0,
                         .n_children = 1,
                         .children = children,
                         .release = [](ArrowSchema*) {}};
  const Schema schema = ValueOf(cfile::ImportArrowSchema(is_struct ? type : rows));
  const cfile::ColumnSchema& column = schema.columns.at(0);
  // The levels of a list are its own and its element's. More levels belong to structs.
  const bool has_structs = column.levels.max_definition > 2 * column.levels.max_repetition + 1;
  if (schema.columns.size() == 1 && !has_structs) return column;
  Raise(absl::UnimplementedError(
      "a file has values or lists, not structs or maps. A table has them"));
}

NewWriter CreateFile(const Location& path, const nb::object& type, const nb::dict& settings,
                     bool overwrite) {
  const cfile::ColumnSchema column = ColumnOf(SchemaOf(type)->value);
  cfile::WriterOptions options = OptionsOf(settings);
  if (!settings.contains("nullable")) options.nullable = column.nullable && !options.value_index;
  return WithoutLock([&]() -> absl::StatusOr<NewWriter> {
    auto file =
        path.CreateFile(overwrite ? cfile::ExistingFile::kReplaced : cfile::ExistingFile::kKept);
    if (!file.ok()) return file.status();
    const auto made = [&](auto writer) -> absl::StatusOr<NewWriter> {
      if (!writer.ok()) return writer.status();
      return std::make_unique<PythonWriter>(*std::move(writer), path.text());
    };
    return cfile::VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
      return column.has_levels()
                 ? made(cfile::LevelWriter<T>::Create(*std::move(file), column.type, column.levels,
                                                      options))
                 : made(cfile::Writer<T>::Create(*std::move(file), column.type, options));
    });
  });
}

}  // namespace

void AddWriters(nb::module_& module) {
  using nb::arg;
  module.def("fields_of", [](const nb::object& type) -> std::optional<Names> {
    const auto schema = SchemaOf(type);
    if (std::string_view(schema->value.format) != "+s") return std::nullopt;
    return FieldsOf(schema->value);
  });
  module.def("commit_parts", &CommitParts, arg("path"), arg("parts"), arg("id"), arg("replaced"),
             arg("schema").none(), arg("keys"), arg("stored_rows"));
  module.def("append_table", &AppendTable, arg("path"), arg("rows"), arg("settings"));
  module.def("leaves_of", [](const nb::object& type) {
    Names names;
    for (const auto& column : ValueOf(cfile::ImportArrowSchema(SchemaOf(type)->value)).columns)
      names.push_back(column.name);
    return names;
  });
  nb::class_<PythonWriter>(module, "Writer")
      .def_static("create", &Create<&cfile::TableWriter::Create>, arg("path"), arg("schema"),
                  arg("settings"), arg("keys") = Names(), arg("merge") = nb::none())
      .def_static("prepare", &Create<&cfile::TableWriter::Prepare>, arg("path"), arg("schema"),
                  arg("settings"), arg("keys") = Names(), arg("merge") = nb::none())
      .def_static("create_like", &CreateLike, arg("path"), arg("table"), arg("settings"))
      .def_static("append", &Append, arg("path"), arg("settings"), arg("replaced") = Names(),
                  arg("stored_rows") = false)
      .def_static("create_file", &CreateFile, arg("path"), arg("schema"), arg("settings"),
                  arg("overwrite"))
      .def("write", &PythonWriter::Write)
      .def("merge", &PythonWriter::Merge)
      .def("finish", &PythonWriter::Finish)
      .def("finish_prepared", &PythonWriter::FinishPrepared)
      .def("close", &PythonWriter::Close);
}

}  // namespace cfile_python
