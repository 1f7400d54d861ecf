// Header and footer of a file, written and read (cfile/FORMAT.md, File and Messages).
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

// Pairs of the header that are the library's begin with this; the one it writes is kColumnKey, a
// serialized ColumnPB.
inline constexpr std::string_view kReservedKeyPrefix = "cfile.";
inline constexpr std::string_view kColumnKey = "cfile.column";

// Appends the header of a file with `info`'s version and header_metadata; unless compatible with
// Kudu byte for byte, with the column's description too. Returns the bytes of its message.
std::string AppendHeader(const FileInfo& info, Compatibility compatibility,
                         encodings::ByteWriter& out);

// Appends the footer of a file with all that `info` says. Returns the bytes of its message.
std::string AppendFooter(const FileInfo& info, Compatibility compatibility,
                         encodings::ByteWriter& out);

// What the number of type, encoding or compression asks of a file.
constexpr bool NeedsExtension(uint32_t number) { return number >= encodings::kFirstExtendedNumber; }

// True if the footer must have ExtensionsPB to say what `type` is.
bool NeedsExtension(const ColumnType& type);

// The footer's incompatible_features of a file of version, type, encoding and codec that `info`
// names; `levels`: it has them, with the limits that `info` names; `blocks_differ`: each says its
// encoding.
uint32_t IncompatibleFeatures(const FileInfo& info, bool levels, bool blocks_differ);

// Reads header and footer and checks all that they say against each other and the file's size.
// Errors as Reader::Open.
absl::StatusOr<FileInfo> ReadFileInfo(const Source& source, const ReaderOptions& options);

// What the header says of a file whose end is lost: num_values is the most that there may be, there
// are no pointers, and footer_size_bytes is 0. Where the encoding is PLAIN and nothing asks for
// extended blocks, they may be extended none the less: automatic choice says PLAIN. kDataLoss: the
// header is damaged, or of a file that cannot be read without its footer.
absl::StatusOr<FileInfo> ReadTornFileInfo(const Source& source, const ReaderOptions& options);

}  // namespace cfile::internal
