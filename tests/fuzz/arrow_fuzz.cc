// A fuzz target for Arrow IPC: imports the input into a table in memory.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cfile/arrow_import.h"
#include "cfile/arrow_ipc.h"
#include "cfile/storage.h"
#include "cfile/table.h"
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
  for (const auto& entry :
       std::filesystem::directory_iterator(CFILE_SOURCE_DIR "/tests/golden/arrow")) {
    std::ifstream in(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

}  // namespace

std::vector<Target> Targets() { return {{"arrow-ipc", ArrowIpc, Seeds}}; }

}  // namespace cfile::fuzz
