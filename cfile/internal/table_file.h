// table.cft, the file that makes a directory a table, written and read (cfile/FORMAT.md, Table).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/table.h"

namespace cfile::internal {

// What it says of one column's file in one part.
struct TablePartColumn {
  std::string file_name;  // inside the part's directory
  uint64_t size_bytes = 0;
  uint64_t num_values = 0;
  uint64_t null_count = 0;
  // Least and greatest value of a column with a value index, in memcmp form. Both or neither.
  std::optional<std::string> min_key = {};
  std::optional<std::string> max_key = {};
};

struct TablePart {
  std::string directory;  // inside the table's
  uint64_t num_rows = 0;
  std::vector<TablePartColumn> columns = {};  // as many as StoredColumns gives
};

struct TableContents {
  Schema schema;
  std::vector<TablePart> parts;
};

// The columns that have a file in each part: those of the schema and, with key columns, the key
// index.
std::vector<ColumnSchema> StoredColumns(const Schema& schema);

// A new name for a part: "part-" and 128 random bits, so that no two parts of any tables share one.
absl::StatusOr<std::string> NewPartName();
// True of what NewPartName makes. Earlier versions counted: part-000000, part-000001, ...
bool IsUniquePartName(std::string_view name);

// The path of table.cft in `directory`, of a part's column in it, and the name of such a file.
std::string TableFilePath(const std::string& directory);
std::string ColumnFilePath(const std::string& directory, const TablePart& part, size_t column);
std::string ColumnFileName(size_t column, std::string_view name);

// kInvalidArgument: there are no columns, a name is empty or not unique, a type is not valid, a key
// column is not there, nullable, with levels or named twice, or the columns are not those of the
// tree.
absl::Status ValidateSchema(const Schema& schema);

// The bytes of table.cft. Precondition: ValidateSchema(contents.schema).ok().
std::string SerializeTable(const TableContents& contents);

// Checks the bytes of SerializeTable as a reader with this limit would. kOutOfRange: it would
// refuse them, by their size or by the memory that they take when they are parsed.
absl::Status CheckTableFileSize(std::string_view bytes, const std::string& path,
                                size_t max_size_bytes);

// The bytes of the file at `path`. kOutOfRange if there are more than `max_size_bytes`.
absl::StatusOr<std::string> ReadTableFile(const std::string& path, size_t max_size_bytes);

// What SerializeTable was given. `path` is for messages. kDataLoss: the bytes are damaged,
// or passes a limit of `options`;
// kUnimplemented: a type that is not known.
absl::StatusOr<TableContents> ParseTable(std::string_view bytes, const std::string& path,
                                         const ReaderOptions& options = {});

}  // namespace cfile::internal
