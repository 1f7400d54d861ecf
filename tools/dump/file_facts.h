// The facts about a file that its summary and the page of `cfile-dump report` show.
#pragma once

#include "absl/status/status.h"
#include "cfile/reader.h"
#include "tools/document.h"
#include "tools/dump/totals.h"

namespace cfile::tools {

// Adds what is known about a file as a whole. Returns the first error of the blocks, the indexes
// and the statistics; what could not be read for it is left out or marked.
absl::Status AddFileFacts(const Reader& reader, const BlockTotals& blocks, Record& facts);

}  // namespace cfile::tools
