// Writes and reads the header and the footer of a file (cfile/FORMAT.md, File and Messages).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/bytes.h"

namespace cfile::internal {

// The header's pairs whose keys begin with this prefix belong to the library. It writes one,
// kColumnKey: a serialized ColumnPB.
inline constexpr std::string_view kReservedKeyPrefix = "cfile.";
inline constexpr std::string_view kColumnKey = "cfile.column";

// Appends a header with `info`'s version and header_metadata and, unless `compatibility` is kKudu,
// the column's description. Returns the bytes of the header's message.
std::string AppendHeader(const FileInfo& info, Compatibility compatibility,
                         encodings::ByteWriter& out);

// Appends a footer with the contents of `info`. Returns the bytes of the footer's message.
std::string AppendFooter(const FileInfo& info, Compatibility compatibility,
                         encodings::ByteWriter& out);

// True if this number of a type, encoding or compression is one of our extensions of Kudu's
// numbers.
constexpr bool NeedsExtension(uint32_t number) { return number >= encodings::kFirstExtendedNumber; }

// True if the footer needs ExtensionsPB to describe `type`.
bool NeedsExtension(const ColumnType& type);

// The footer's incompatible_features for the version, type, encoding and codec in `info`. `levels`:
// the file has levels, with the limits in `info`; `blocks_differ`: each block names its encoding.
uint32_t IncompatibleFeatures(const FileInfo& info, bool levels, bool blocks_differ);

// Reads header and footer and checks them against each other and against the file's size.
// Errors as Reader::Open.
absl::StatusOr<FileInfo> ReadFileInfo(const Source& source, const ReaderOptions& options);

// Describes a file whose end is lost, from its header alone: num_values is the maximum of the
// format, there are no pointers, and footer_size_bytes is 0. If the encoding is PLAIN, blocks may
// be extended even if the info does not say so, because automatic choice writes PLAIN into the
// header. kDataLoss: the header is damaged, or the file cannot be read without its footer.
absl::StatusOr<FileInfo> ReadTornFileInfo(const Source& source, const ReaderOptions& options);

}  // namespace cfile::internal
