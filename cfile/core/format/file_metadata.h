// Writes and reads the header and the footer of a file (cfile/FORMAT.md, File and Messages).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// Appends a header with the version and the header_metadata of `info`. If `with_extensions` is true
// (FilePolicy::extensions), the header also describes the column. Returns the bytes of the header's
// message.
std::string AppendHeader(const FileInfo& info, bool with_extensions, encodings::ByteWriter& out);

// Appends a footer with the contents of `info`. If `with_extensions` is false, the footer has only
// the fields that Kudu has. Returns the bytes of the footer's message.
std::string AppendFooter(const FileInfo& info, bool with_extensions, encodings::ByteWriter& out);

// Return kOutOfRange if readers would refuse a header or a footer: because its size, `size_bytes`,
// exceeds the limit of `options` or Kudu's limit, or because its protobuf message, `message`, takes
// too much memory after parsing.
absl::Status CheckHeader(std::string_view message, size_t size_bytes, const WriterOptions& options);
absl::Status CheckFooter(std::string_view message, size_t size_bytes, const WriterOptions& options);

// Reads header and footer and checks them against each other and against the file's size.
// Errors as Reader::Open.
absl::StatusOr<FileInfo> ReadFileInfo(const Source& source, const ReaderOptions& options);

// Describes a file whose end is lost, from its header alone. num_rows is the maximum of the format.
// There are no block pointers (indexes, dictionary, statistics), and footer_size_bytes is 0.
// kDataLoss: the header is damaged, or the file cannot be read without its footer.
//
// The header does not say which form the blocks have (cfile/FORMAT.md, Extended blocks).
// So two functions may give a wrong answer:
// - has_movable_blocks() is false, although the blocks may be movable.
// - has_extended_blocks() may be false, although the blocks are extended or movable.
//   A writer that chooses the encoding of each block writes PLAIN into the header.
absl::StatusOr<FileInfo> ReadTornFileInfo(const Source& source, const ReaderOptions& options);

// Describes a file whose header is damaged, from its footer alone. There is no header_metadata, and
// header_size_bytes is the least size of a header. kDataLoss: the footer is damaged, or has no
// checksum.
absl::StatusOr<FileInfo> ReadFileInfoOfFooter(const Source& source, const ReaderOptions& options);

}  // namespace cfile::internal
