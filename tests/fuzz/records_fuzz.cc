// The targets use tables in a directory in memory. They import CSV and JSON Lines, write protobuf
// messages and read them back, and read records whose leaves contradict each other.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <filesystem>
#include <numeric>

#include "cfile/protobuf_records.h"
#include "cfile/records.h"
#include "cfile/status.h"
#include "tests/cfile/protobuf_records_test.pb.h"
#include "tests/fuzz/record_tables.h"
#include "tools/import/importer.h"
#include "tools/import/records_importer.h"
#include "tools/input/input_file.h"
#include "tools/records/json_printer.h"

namespace cfile::fuzz {
namespace {

namespace fs = std::filesystem;

// Expects that the table has `rows` records, and that all of them can be read in order.
void ExpectReadable(const std::string& directory, uint64_t rows) {
  const auto table = TableReader::Open(directory).value();
  Expect(table.num_rows() == rows);
  for (size_t column = 0; column < table.schema().columns.size(); ++column)
    Expect(table.VerifyColumn(0, column).ok());
  Expect(VerifyRecords(table).ok());
  auto reader = RecordReader::Open(table).value();
  std::vector<size_t> leaves(reader.schema().leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  std::string out;
  tools::JsonPrinter printer(reader.schema(), leaves, out);
  uint64_t records = 0;
  while (reader.Next(printer).value()) ++records;
  Expect(records == rows);
}

template <typename Import>
void ImportInput(std::span<const uint8_t> bytes, const Import& import) {
  const Place place;
  place.WriteInput(bytes);
  tools::ImportOptions options;
  options.input = place.input.string();
  options.output = options.temporary_directory = place.directory.string();
  options.table = TableLocation(options.output);
  tools::Progress progress(false);
  const auto result = [&]() -> absl::StatusOr<tools::ImportResult> {
    CFILE_ASSIGN_OR_RETURN(
        const tools::InputFile file,
        tools::OpenInputFile({.path = options.input,
                              .max_bytes = 1 << 20,
                              .spool_directory = place.input.parent_path().string(),
                              .map = true,
                              .progress = [](uint64_t) { return absl::OkStatus(); }}));
    return import(options, file, progress);
  }();
  if (!result.ok()) {
    Expect(absl::IsInvalidArgument(result.status()) || IsLimit(result.status()));
    return Expect(!fs::exists(place.directory));
  }
  ExpectReadable(options.output, result->rows);
}

void ImportCsv(std::span<const uint8_t> bytes) {
  ImportInput(bytes, [](const tools::ImportOptions& options, const tools::InputFile& file,
                        tools::Progress& progress) {
    return tools::Import(options, file, /*parts=*/nullptr, progress);
  });
}
void ImportJson(std::span<const uint8_t> bytes) { ImportInput(bytes, tools::ImportRecords); }

using test_messages::Everything;

// A message that can be written must be read back without its unknown fields.
void Messages(std::span<const uint8_t> bytes) {
  const google::protobuf::LogSilencer silent;
  Everything message;
  if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  message.DiscardUnknownFields();
  const Place place;
  auto writer = MessageWriter::Create(place.directory.string(), *Everything::descriptor()).value();
  const absl::Status written = writer.Write(message);
  Expect(written.ok() == message.IsInitialized());
  if (!written.ok()) return Expect(absl::IsInvalidArgument(written));
  Expect(writer.Finish().ok());
  auto reader = MessageReader::Open(place.directory.string(), *Everything::descriptor()).value();
  Everything again;
  Expect(reader.Next(again).value());
  // The entries of maps have no order, so that only the sizes are compared.
  const auto size = again.ByteSizeLong();
  Expect(size == message.ByteSizeLong());
  Expect(!reader.Next(again).value());
}

std::vector<Bytes> MessageSeeds() {
  Everything message;
  message.set_id(1);
  Bytes least = ToBytes(message.SerializeAsString());
  message.set_f(1.5f);
  message.set_b("bytes");
  message.add_colors(Everything::BLUE);
  message.add_texts("a");
  Everything::Inner& inner = *message.add_inners();
  inner.set_flag(true);
  inner.add_ids(7);
  inner.add_leaves()->set_u(1);
  *message.mutable_inner() = inner;
  (*message.mutable_by_name())["x"] = inner;
  (*message.mutable_color_of())[3] = Everything::RED;
  message.mutable_leaf();
  return {least, ToBytes(message.SerializeAsString())};
}

// Input: a file of message types. Each type must be refused or have a schema that can be printed
// and parsed again.
void Descriptors(std::span<const uint8_t> bytes) {
  class Unheard final : public google::protobuf::DescriptorPool::ErrorCollector {
    void AddError(const std::string&, const std::string&, const google::protobuf::Message*,
                  ErrorLocation, const std::string&) override {}
  };
  const google::protobuf::LogSilencer silent;
  google::protobuf::FileDescriptorProto file;
  if (!file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  google::protobuf::DescriptorPool pool;
  Unheard errors;
  const auto* const built = pool.BuildFileCollectingErrors(file, &errors);
  if (built == nullptr) return;
  for (int i = 0; i < built->message_type_count(); ++i) {
    const auto schema = RecordSchemaOf(*built->message_type(i));
    if (!schema.ok()) {
      Expect(absl::IsInvalidArgument(schema.status()) || IsLimit(schema.status()));
      continue;
    }
    const auto again = RecordSchema::Parse(schema->ToString());
    Expect(again.ok() && *again == *schema);
  }
}

std::vector<Bytes> DescriptorSeeds() {
  google::protobuf::FileDescriptorProto file;
  Everything::descriptor()->file()->CopyTo(&file);
  return {ToBytes(file.SerializeAsString())};
}

// Counts its calls and stops after 100,000, because a few bytes of levels may describe a list of
// millions of elements.
class Patience final : public RecordVisitor {
 public:
  absl::Status BeginGroup(size_t) override { return Count(); }
  absl::Status EndGroup(size_t) override { return Count(); }
  absl::Status Value(size_t, const RecordValue& value) override {
    if (const auto* text = std::get_if<std::string_view>(&value)) Touch(*text);
    return Count();
  }

 private:
  absl::Status Count() {
    return ++calls_ < 100'000 ? absl::OkStatus() : absl::DataLossError("enough");
  }
  int calls_ = 0;
};

void RecordTable(std::span<const uint8_t> bytes) {
  const Place place;
  if (!WriteTable(SplitLeaves(bytes), place.directory)) return;
  const auto table = TableReader::Open(place.directory.string()).value();
  (void)VerifyRecords(table);
  auto reader = RecordReader::Open(table);
  if (absl::IsFailedPrecondition(reader.status())) return;  // a file lacks its index
  if (!reader.ok()) return ExpectBadData(reader.status());
  Patience patience;
  for (uint64_t record = 0; record < kTableRows; ++record) {
    const absl::Status sought = reader->Seek(record);
    if (!sought.ok()) return ExpectBadData(sought);
    const auto more = reader->Next(patience);
    if (!more.ok()) ExpectBadData(more.status());
  }
}

}  // namespace

std::vector<Target> Targets() {
  return {{"import-csv", ImportCsv,
           [] {
             return std::vector<Bytes>{
                 ToBytes("id,price,day,text\n1,1.5,2013-01-31,\"x \"\"y\"\"\"\n2,,2013-02-01,\n"),
                 ToBytes("t\n2013-01-31T10:00:00Z\n\"\"\n")};
           }},
          {"import-json-lines", ImportJson,
           [] {
             return std::vector<Bytes>{
                 ToBytes("{\"a\":1,\"b\":[{\"c\":\"x\"},null]}\n{\"a\":2.5,\"b\":[]}\n"),
                 ToBytes("{\"g\":{\"h\":{\"i\":true}}}\n{\"g\":null}\n{}")};
           }},
          {"record-table", RecordTable, RecordTableSeeds, MutateLeaf},
          {"protobuf-messages", Messages, MessageSeeds},
          {"protobuf-descriptors", Descriptors, DescriptorSeeds}};
}

}  // namespace cfile::fuzz
