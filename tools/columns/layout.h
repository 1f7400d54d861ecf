// How a file or a column of a table is stored, as a list of named texts. cfile-dump diff compares
// the lists of two columns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/columns/stored_column.h"

namespace cfile::tools {

using Properties = std::vector<std::pair<std::string, std::string>>;  // name, text

// The type, whether there may be nulls, and the levels.
Properties SchemaOf(const StoredColumn& column);

// The number of files and their size, versions, codecs, encodings, blocks and their sizes; which
// indexes, statistics and other optional parts the files have; the metadata, and the writers. Reads
// all blocks. Errors as VisitBlocks and TableReader::OpenColumn.
absl::StatusOr<Properties> LayoutOf(const StoredColumn& column);

}  // namespace cfile::tools
