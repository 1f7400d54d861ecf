// Reads Arrow IPC files and streams (https://arrow.apache.org/docs/format/Columnar.html,
// Serialization and Interprocess Communication). Feather files of version 2 are Arrow IPC files.
// Needs no Arrow library. Link cfile::arrow_ipc.
//
//   CFILE_ASSIGN_OR_RETURN(auto source, cfile::OpenMappedSource("data.arrow"));
//   CFILE_ASSIGN_OR_RETURN(ArrowArrayStream stream, cfile::OpenArrowIpc(source));
//   ...                                             // cfile/arrow_import.h: the schema of a table
//   CFILE_RETURN_IF_ERROR(cfile::AppendArrow(writer, &stream));
//
// What is read: little-endian data of the metadata versions 4 and 5, in the file format and in the
// stream format (also without continuation markers, as before Arrow 0.15); dictionaries, with
// deltas and replacements; bodies that are compressed with LZ4 frames or zstd; the types that
// AppendArrow takes.
//
// Trust. The bytes may be anything. The functions check all numbers that they use: each buffer lies
// in its message and has the size that the length of its array needs, and strings end in their
// data. AppendArrow checks the rest. Arrow has no checksums, so damaged values are not noticed.
//
// Errors of these functions, and of the functions of a stream, besides those of the source:
// - kDataLoss: the bytes are damaged or cut off. The error names the offset of the message.
// - kUnimplemented: a type that no column can hold (the error names the field), big-endian data, an
//   older metadata version, or a codec that was not built in.
// - kOutOfRange: a limit of ArrowIpcOptions is exceeded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/arrow_ipc_options.h"
#include "cfile/io.h"
#include "encodings/core/export.h"

namespace cfile {

enum class ArrowIpcFormat : uint8_t { kNone, kFile, kStream };

// Says which format the source seems to have, by its first bytes and, for a stream, by its first
// message. Errors: only those of the source.
CFILE_EXPORT absl::StatusOr<ArrowIpcFormat> RecognizeArrowIpc(const Source& source);

// Returns a stream of structs with the record batches of `source`; the caller releases it. Reads
// the schema at once, and the other messages when get_next needs them. An error of get_next is
// final: each later call returns it again.
//
// The stream and its arrays share the source. Buffers that are not compressed point into a source
// in memory. Otherwise a batch needs the memory of its body, and of its body after decompression.
// Dictionaries stay in memory. Only one thread at a time may use the stream; its arrays may be used
// and released in any thread.
CFILE_EXPORT absl::StatusOr<ArrowArrayStream> OpenArrowIpc(std::shared_ptr<const Source> source,
                                                           const ArrowIpcOptions& options = {});

// Returns the schema in `message`, an encapsulated IPC message: the form in which Parquet files
// have it as ARROW:schema, after Base64. The caller releases the schema.
CFILE_EXPORT absl::StatusOr<ArrowSchema> ArrowIpcSchema(std::span<const uint8_t> message,
                                                        const ArrowIpcOptions& options = {});

}  // namespace cfile
