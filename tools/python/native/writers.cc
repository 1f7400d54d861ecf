
#include "tools/python/native/writers.h"

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

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
using Names = std::vector<std::string>;

[[noreturn]] void RaiseClosed() { throw nb::value_error("the writer is closed"); }

void SetKey(const Names& keys, Schema& schema) {
  for (const std::string& name : keys) {
    const std::optional<size_t> position = schema.Find(name);
    if (!position) throw nb::key_error(name.c_str());
    schema.key_columns.push_back(*position);
  }
}

void ReplaceNullTypes(ArrowSchema& type) {
  if (std::string_view(type.format) == "n") type.format = "u";
  for (int64_t i = 0; i < type.n_children; ++i) ReplaceNullTypes(*type.children[i]);
}

Names AppendTable(const Location& path, const Location& from, const nb::dict& settings) {
  std::map<std::string, cfile::WriterOptions> options;
  for (const auto [column, of_column] : settings) {
    options[nb::cast<std::string>(column)] = OptionsOf(nb::cast<nb::dict>(of_column));
  }
  const auto rows =
      AtTable(from, [](const auto& storage) { return cfile::TableReader::Open(storage); });
  const Schema schema =
      AtTable(path, [](const auto& storage) { return cfile::TableReader::Open(storage); }).schema();
  for (const auto& [name, of_column] : options) {
    if (!name.empty() && !schema.Find(name) && !rows.schema().Find(name)) {
      throw nb::key_error(name.c_str());
    }
  }
  return AtTable(path, [&](const auto& table) {
    return cfile::AppendTable(table, rows, [&](const cfile::ColumnSchema& column) {
      const auto found = options.find(column.name);
      return found == options.end() ? options[""] : found->second;
    });
  });
}

bool CommitParts(const Location& path, const std::vector<nb::bytes>& parts, const std::string& id,
                 const Names& replaced, const nb::object& type, const Names& keys) {
  Schema schema;
  if (!type.is_none()) {
    schema = ValueOf(cfile::ImportArrowSchema(SchemaOf(type)->value));
    SetKey(keys, schema);
  }
  Names descriptions;
  for (const nb::bytes& part : parts) descriptions.emplace_back(part.c_str(), part.size());
  return AtTable(path, [&](const auto& storage) {
    return cfile::CommitParts(
        storage, descriptions,
        {.id = id, .replaced = replaced, .schema = type.is_none() ? nullptr : &schema});
  });
}

// TableWriter of cfile/_native.pyi.
class PythonTableWriter {
 public:
  PythonTableWriter(cfile::TableWriter writer, std::string name)
      : writer_(std::move(writer)), name_(std::move(name)) {}

  // `begin`: TableWriter::Create or TableWriter::Prepare.
  template <auto begin>
  static std::unique_ptr<PythonTableWriter> Create(const Location& path, const nb::object& type,
                                                   const nb::dict& settings, const Names& keys) {
    Schema schema = ValueOf(cfile::ImportArrowSchema(SchemaOf(type)->value));
    SetKey(keys, schema);
    const std::vector<cfile::WriterOptions> options = OptionsOf(settings, schema);
    // Fields of Arrow are nullable unless somebody says otherwise. A value index has no nulls.
    for (size_t i = 0; i < options.size(); ++i) {
      if (options[i].value_index) schema.columns[i].nullable = false;
    }
    return Made(path,
                [&](const cfile::TableLocation& table) { return begin(table, schema, options); });
  }
  static std::unique_ptr<PythonTableWriter> CreateLike(const Location& path, const Location& like,
                                                       const nb::dict& settings) {
    const Schema schema = AtTable(like, [](const auto& storage) {
                            return cfile::TableReader::Open(storage);
                          }).schema();
    const std::vector<cfile::WriterOptions> options = OptionsOf(settings, schema);
    return Made(path, [&](const cfile::TableLocation& table) {
      return cfile::TableWriter::Create(table, schema, options);
    });
  }
  // Creates a table for rows of the type `type`. Fields of the type null become strings.
  static std::unique_ptr<PythonTableWriter> CreateRows(const Location& path,
                                                       const nb::object& type) {
    const auto arrow = SchemaOf(type);
    ReplaceNullTypes(arrow->value);
    const Schema schema = ValueOf(cfile::ImportArrowSchema(arrow->value));
    return Made(path, [&](const cfile::TableLocation& table) {
      return cfile::TableWriter::Create(table, schema);
    });
  }
  static std::unique_ptr<PythonTableWriter> Append(const Location& path, const nb::dict& settings,
                                                   const Names& replaced) {
    const std::vector<cfile::WriterOptions> options = OptionsOfTable(path, settings);
    return Made(path, [&](const cfile::TableLocation& table) {
      return replaced.empty() ? cfile::TableWriter::Open(table, options)
                              : cfile::TableWriter::Replace(table, replaced, options);
    });
  }

  void Write(const nb::object& data) {
    cfile::TableWriter& writer = this->writer();
    const auto stream = StreamOf(data, name_);
    WithoutLock([&] { return cfile::AppendArrow(writer, &stream->value); });
  }
  void Merge(const Location& from) {
    cfile::TableWriter& writer = this->writer();
    AtTable(from, [&](const auto& storage) -> absl::Status {
      const auto table = cfile::TableReader::Open(storage);
      if (!table.ok()) return table.status();
      return cfile::AppendMerged(*table, writer);
    });
  }
  void Finish() {
    cfile::TableWriter finished = std::move(writer());
    writer_.reset();
    WithoutLock([&] { return finished.Finish(); });
  }
  nb::bytes FinishPrepared() {
    cfile::TableWriter finished = std::move(writer());
    writer_.reset();
    const std::string part = WithoutLock([&] { return finished.FinishPrepared(); });
    return nb::bytes(part.data(), part.size());
  }
  void Close() {
    nb::gil_scoped_release release;  // removes files
    writer_.reset();
  }

 private:
  template <typename Make>
  static std::unique_ptr<PythonTableWriter> Made(const Location& path, Make&& make) {
    cfile::TableWriter writer = AtTable(path, make);
    return std::make_unique<PythonTableWriter>(std::move(writer), path.text());
  }
  cfile::TableWriter& writer() {
    if (!writer_) RaiseClosed();
    return *writer_;
  }

  std::optional<cfile::TableWriter> writer_;
  const std::string name_;
};

// A Writer<T> or a LevelWriter<T>.
class AnyWriter {
 public:
  virtual ~AnyWriter() = default;
  virtual absl::Status Append(ArrowArrayStream* stream) = 0;
  virtual absl::Status Finish() = 0;
};
template <typename Writer>
class Typed final : public AnyWriter {
 public:
  explicit Typed(Writer writer) : writer_(std::move(writer)) {}
  absl::Status Append(ArrowArrayStream* stream) override {
    return cfile::AppendArrow(writer_, stream);
  }
  absl::Status Finish() override { return writer_.Finish(); }

 private:
  Writer writer_;
};
template <typename Writer>
absl::StatusOr<std::unique_ptr<AnyWriter>> MadeTyped(absl::StatusOr<Writer> writer) {
  if (!writer.ok()) return writer.status();
  return std::make_unique<Typed<Writer>>(*std::move(writer));
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

// FileWriter of cfile/_native.pyi.
class FileWriter {
 public:
  FileWriter(const Location& path, const nb::object& type, const nb::dict& settings, bool overwrite)
      : name_(path.text()) {
    const cfile::ColumnSchema column = ColumnOf(SchemaOf(type)->value);
    cfile::WriterOptions options = OptionsOf(settings);
    if (!settings.contains("nullable")) options.nullable = column.nullable && !options.value_index;
    using Made = absl::StatusOr<std::unique_ptr<AnyWriter>>;
    writer_ = WithoutLock([&]() -> Made {
      auto file =
          path.CreateFile(overwrite ? cfile::ExistingFile::kReplaced : cfile::ExistingFile::kKept);
      if (!file.ok()) return file.status();
      return cfile::VisitType(column.type, [&]<typename T>(std::type_identity<T>) -> Made {
        if (column.has_levels()) {
          return MadeTyped(
              cfile::LevelWriter<T>::Create(*std::move(file), column.type, column.levels, options));
        }
        return MadeTyped(cfile::Writer<T>::Create(*std::move(file), column.type, options));
      });
    });
  }

  void Write(const nb::object& data) {
    AnyWriter& writer = this->writer();
    const auto stream = StreamOf(data, name_);
    WithoutLock([&] { return writer.Append(&stream->value); });
  }
  void Finish() {
    AnyWriter& finished = writer();
    WithoutLock([&] { return finished.Finish(); });
    writer_.reset();
  }
  void Close() { writer_.reset(); }

 private:
  AnyWriter& writer() {
    if (!writer_) RaiseClosed();
    return *writer_;
  }

  std::unique_ptr<AnyWriter> writer_;
  const std::string name_;
};

}  // namespace

void AddWriters(nb::module_& module) {
  using nb::arg;
  module.def("fields_of", [](const nb::object& type) -> std::optional<Names> {
    const auto schema = SchemaOf(type);
    if (std::string_view(schema->value.format) != "+s") return std::nullopt;
    return FieldsOf(schema->value);
  });
  module.def("commit_parts", &CommitParts, arg("path"), arg("parts"), arg("id"), arg("replaced"),
             arg("schema").none(), arg("keys"));
  module.def("append_table", &AppendTable, arg("path"), arg("rows"), arg("settings"));
  nb::class_<PythonTableWriter>(module, "TableWriter")
      .def_static("leaves",
                  [](const nb::object& type) {
                    Names names;
                    for (const auto& column :
                         ValueOf(cfile::ImportArrowSchema(SchemaOf(type)->value)).columns) {
                      names.push_back(column.name);
                    }
                    return names;
                  })
      .def_static("create", &PythonTableWriter::Create<&cfile::TableWriter::Create>, arg("path"),
                  arg("schema"), arg("settings"), arg("keys") = Names())
      .def_static("prepare", &PythonTableWriter::Create<&cfile::TableWriter::Prepare>, arg("path"),
                  arg("schema"), arg("settings"), arg("keys") = Names())
      .def_static("create_like", &PythonTableWriter::CreateLike, arg("path"), arg("table"),
                  arg("settings"))
      .def_static("create_rows", &PythonTableWriter::CreateRows, arg("path"), arg("schema"))
      .def_static("append", &PythonTableWriter::Append, arg("path"), arg("settings"),
                  arg("replaced") = Names())
      .def("write", &PythonTableWriter::Write)
      .def("merge", &PythonTableWriter::Merge)
      .def("finish", &PythonTableWriter::Finish)
      .def("finish_prepared", &PythonTableWriter::FinishPrepared)
      .def("close", &PythonTableWriter::Close);
  nb::class_<FileWriter>(module, "FileWriter")
      .def_static(
          "create",
          [](const Location& path, const nb::object& schema, const nb::dict& settings,
             bool overwrite) {
            return std::make_unique<FileWriter>(path, schema, settings, overwrite);
          },
          arg("path"), arg("schema"), arg("settings"), arg("overwrite"))
      .def("write", &FileWriter::Write)
      .def("finish", &FileWriter::Finish)
      .def("close", &FileWriter::Close);
}

}  // namespace cfile_python
