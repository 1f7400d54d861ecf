// Recognizes files that are not text in UTF-8 by their first bytes.
#pragma once

#include "absl/status/status.h"
#include "cfile/io.h"

namespace cfile::tools {

// kInvalidArgument "NAME: WHAT IT IS; WHAT TO DO" for a compressed file, a Parquet file, and text
// in UTF-16 or UTF-32. Does not check that other files are UTF-8. Other errors are those of the
// source.
absl::Status CheckIsUtf8Text(const Source& source);

}  // namespace cfile::tools
