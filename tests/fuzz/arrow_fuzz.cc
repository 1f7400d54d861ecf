// Fuzz targets for Arrow: imports an IPC stream into a table in memory, and gives the rows of a
// table the types that a schema of IPC describes.
#include <random>

#include "absl/strings/escaping.h"
#include "cfile/arrow.h"
#include "cfile/arrow_import.h"
#include "cfile/arrow_ipc.h"
#include "cfile/parts/arrow/schema/ipc_fields.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "tests/cfile/arrow_building.h"
#include "tests/cfile/golden_files.h"
#include "tests/fuzz/target.h"

namespace cfile::fuzz {
namespace {

absl::Status Import(ArrowArrayStream& stream) {
  ArrowSchema type;
  Expect(stream.get_schema(&stream, &type) == 0);
  const absl::StatusOr<Schema> schema = ImportArrowSchema(type);
  type.release(&type);
  if (!schema.ok()) return schema.status();
  absl::StatusOr<TableWriter> writer = TableWriter::Create(NewMemoryStorage(), *schema);
  if (!writer.ok()) return writer.status();
  absl::Status status = AppendArrow(*writer, &stream);
  return status.ok() ? writer->Finish() : status;
}

void ArrowIpc(std::span<const uint8_t> bytes) {
  // Small limits, so that a few bytes cannot stand for many rows.
  auto stream = OpenArrowIpc(NewMemoryViewSource(bytes),
                             {.max_batch_size_bytes = 1 << 20, .max_array_length = 10'000});
  if (!stream.ok()) return ExpectBadData(stream.status());
  // The schema and the values may be wrong in ways that only the import knows.
  const absl::Status status = Import(*stream);
  Expect(!absl::IsInternal(status) && !absl::IsResourceExhausted(status));
  if (stream->release != nullptr) stream->release(&*stream);
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const char* extension : {".arrow", ".arrows"}) {
    for (NamedFile& file : GoldenFiles(extension, 1 << 20)) seeds.push_back(std::move(file.bytes));
  }
  return seeds;
}

TableReader RecordTable() {
  const Shape entries{.format = "+s",
                      .name = "entries",
                      .nullable = false,
                      .children = {{.format = "u", .name = "key", .nullable = false},
                                   {.format = "l", .name = "value"}}};
  const Shape shape{
      .format = "+s",
      .nullable = false,
      .children = {{.format = "l", .name = "n"},
                   {.format = "f", .name = "x"},
                   {.format = "u", .name = "s"},
                   {.format = "w:2", .name = "b"},
                   {.format = "+l", .name = "l", .children = {{.format = "i", .name = "element"}}},
                   {.format = "+s",
                    .name = "g",
                    .children = {{.format = "l", .name = "d"}, {.format = "f", .name = "h"}}},
                   {.format = "+m", .name = "m", .children = {entries}}}};
  const std::vector<Json> rows = Json::parse(R"([
    {"n": 1, "x": 0.5, "s": null, "b": null, "l": [1, 2], "g": {"d": 1, "h": 1.5},
     "m": [{"key": "a", "value": 1}]},
    {"n": null, "x": null, "s": null, "b": null, "l": [null, 2], "g": {"d": null, "h": null},
     "m": null},
    {"n": -1, "x": 1e30, "s": null, "b": null, "l": null, "g": null, "m": []}])");
  std::mt19937_64 random(1);
  BuiltStream built;
  built.schema = BuildSchema(shape);
  built.arrays.push_back(BuildArray(shape, rows, random, {.slices = false}));
  const auto storage = NewMemoryStorage();
  auto writer = TableWriter::Create(storage, ImportArrowSchema(built.schema->c).value()).value();
  Expect(AppendArrow(writer, built.Open()).ok());
  Expect(writer.Finish().ok());
  return TableReader::Open(storage).value();
}

void ArrowTypes(std::span<const uint8_t> bytes) {
  static const TableReader table = RecordTable();
  const std::string text =
      absl::Base64Escape({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  ArrowArrayStream stream;
  Expect(ExportArrowStream(table, {}, {.dictionaries = false}, &stream).ok());
  const auto is_null = [](const std::string& column) { return column == "s"; };
  absl::Status status = RestoreArrowTypes(text, is_null, &stream);
  // The import reads all values, and knows whether the arrays have the types of the schema.
  if (status.ok()) status = StoreArrowTypes(std::nullopt, {"l"}, &stream).status();
  if (status.ok()) status = Import(stream);
  Expect(!absl::IsInternal(status) && !absl::IsResourceExhausted(status));
  if (stream.release != nullptr) stream.release(&stream);
  (void)ChangeArrowSchema(text, {{"n", "m"}, {"x", ""}}, text, {"n", "l"});
}

std::vector<Bytes> TypeSeeds() {
  using internal::ArrowField;
  const auto field = [](std::string format, std::string name, std::vector<ArrowField> children = {},
                        bool extension = false) {
    ArrowField made{.format = std::move(format), .name = std::move(name), .flags = 2};
    made.children = std::move(children);
    if (extension)
      made.metadata = {{"ARROW:extension:name", "of.users"}, {"ARROW:extension:metadata", ""}};
    return made;
  };
  std::vector<Bytes> seeds;
  for (const char* lists : {"+l", "+w:2", "+w:0", "+w:2147483647"}) {
    for (const bool extension : {false, true}) {
      const ArrowField root{
          .format = "+s",
          .children = {
              field("tDs", "n", {}, extension), field("e", "x"), field("n", "s"), field("e", "b"),
              field(lists, "l", {field("i", "item")}, extension),
              field("+s", "g", {field("tDn", "d"), field("e", "h")}, extension),
              field("+m", "m",
                    {field("+s", "entries", {field("u", "key"), field("tDu", "value")})})}};
      seeds.push_back(ToBytes(internal::WriteIpcSchemaMessage(root)));
    }
  }
  return seeds;
}

}  // namespace

std::vector<Target> Targets() {
  return {{"arrow-ipc", ArrowIpc, Seeds}, {"arrow-types", ArrowTypes, TypeSeeds}};
}

}  // namespace cfile::fuzz
