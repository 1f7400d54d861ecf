// Lists the regions of a file: what each of its bytes is for.
#pragma once

#include "cfile/core/read/file_reader.h"
#include "cfile/file_layout.h"

namespace cfile::internal {

// Does what cfile::ListRegions does (cfile/inspect.h).
FileLayout ListRegions(FileReader& file);

}  // namespace cfile::internal
