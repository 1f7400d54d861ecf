// Converts the options of the C interface (cfile/c.h) to the options of the library.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/c.h"
#include "cfile/options.h"

namespace cfile::internal {

// If `options` is null, returns the defaults.
// kInvalidArgument, kUnimplemented: a field has a value that the library does not know.
absl::StatusOr<ReaderOptions> OptionsOf(const cfile_reader_options* options);
absl::StatusOr<WriterOptions> OptionsOf(const cfile_writer_options* options);

}  // namespace cfile::internal
