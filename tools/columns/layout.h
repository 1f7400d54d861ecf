// Describes as a list of named texts how a file or a column of a table is stored. cfile-dump diff
// compares the lists of two columns.
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

// The number of files, their size, versions, codecs and encodings; the number and the sizes of
// blocks; which indexes, statistics and other optional parts the files have; the metadata; and the
// programs that wrote the files. Reads all blocks. Errors: those of VisitBlocks and
// TableReader::OpenColumn.
absl::StatusOr<Properties> LayoutOf(const StoredColumn& column);

}  // namespace cfile::tools
