// The library of arrow_import_test.py and of the benchmark arrow_import.py. It writes tables from
// Arrow streams. The Python programs call its functions with ctypes.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/arrow_import.h"
#include "cfile/options.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/types.h"

namespace {

bool syncs_files = true;

absl::StatusOr<cfile::Schema> SchemaOf(ArrowArrayStream* stream) {
  ArrowSchema arrow{};
  if (stream->get_schema(stream, &arrow) != 0) return absl::UnknownError("get_schema failed");
  auto schema = cfile::ImportArrowSchema(arrow);
  arrow.release(&arrow);
  return schema;
}

// AppendArrow releases the stream. After other errors, the caller must.
absl::Status Import(ArrowArrayStream* stream, const char* path, const char* encoding,
                    const char* compression) {
  CFILE_ASSIGN_OR_RETURN(const cfile::Schema schema, SchemaOf(stream));
  cfile::WriterOptions options;
  CFILE_ASSIGN_OR_RETURN(options.encoding, cfile::ParseEncoding(encoding));
  CFILE_ASSIGN_OR_RETURN(options.compression, cfile::ParseCompression(compression));
  CFILE_ASSIGN_OR_RETURN(auto writer,
                         cfile::TableWriter::Create(std::string(path), schema, {&options, 1}));
  CFILE_RETURN_IF_ERROR(cfile::AppendArrow(writer, stream));
  return writer.Finish();
}

}  // namespace

// The library cfile calls this function instead of that of the C library.
extern "C" int fsync(int descriptor) {
  return syncs_files ? static_cast<int>(syscall(SYS_fsync, descriptor)) : 0;
}

// With 0, files are no longer synced to the disk.
extern "C" __attribute__((visibility("default"))) void cfile_test_sync_files(int sync) {
  syncs_files = sync != 0;
}

// Writes a new table. `encoding` and `compression`: names, for example "auto" and "none".
// Returns 0, or 1 and writes the text of the error to `error`, which has 1000 bytes.
extern "C" __attribute__((visibility("default"))) int cfile_test_import_table(
    ArrowArrayStream* stream, const char* path, const char* encoding, const char* compression,
    char* error) {
  const absl::Status status = Import(stream, path, encoding, compression);
  if (stream->release != nullptr) stream->release(stream);
  if (!status.ok()) std::snprintf(error, 1000, "%s", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
