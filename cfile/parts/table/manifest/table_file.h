// Writes and reads table.cft, the file that makes a directory a table (cfile/FORMAT.md, Table).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/schema.h"
#include "cfile/storage.h"

namespace cfile::internal {

// Returns a new name for a part: "part-" and 128 random bits, so that no two parts have the same
// name.
absl::StatusOr<std::string> NewPartName();
// True for names that NewPartName makes. Earlier versions numbered the parts (part-000000, ...).
bool IsUniquePartName(std::string_view name);
// True for the names that NewPartName makes, and for those that earlier versions made.
bool IsPartName(std::string_view name);

// Names of files in a table's storage. table.cft names all other files. "dropped", in the folder of
// a part, says that the part was dropped.
inline constexpr char kTableFileName[] = "table.cft";
inline constexpr char kDroppedFileName[] = "dropped";
// Returns a new name for a damaged table.cft that Repair replaces.
absl::StatusOr<std::string> NewDamagedTableName();
bool IsDamagedTableName(std::string_view name);
// The name of the file that says that the chunk is no longer in the table.
std::string DroppedMarkOfChunk(const std::string& chunk);
// Returns a new name for a mark of columns: "columns-", 128 random bits and ".dropped". The time of
// this file says since when some files of columns are no longer needed.
absl::StatusOr<std::string> NewColumnsMark();
bool IsColumnsMark(std::string_view name);

// PathInStorage: the file that has a column of a part, as a path in the table's storage.
// NameInStorage: the same, followed for a packed column by a slash and the column's file name.
// ColumnFileName: the name of a column's file in a new part.
std::string PathInStorage(const TablePart& part, size_t column);
std::string NameInStorage(const TablePart& part, size_t column);
// The path in the storage of the packed file in a part's folder.
std::string PackedFilePath(const std::string& folder);
std::string ColumnFileName(size_t column, std::string_view name);
// Returns a new name for a column's file in a part that exists already: that of ColumnFileName,
// with '-' and 128 random bits before ".cfile".
absl::StatusOr<std::string> NewColumnFileName(size_t column, std::string_view name);
// True for the names that ColumnFileName and NewColumnFileName make, for kPackedFileName, and for
// those of the temporary files that become such files.
bool IsColumnFileName(std::string_view name);
// For messages: the paths of table.cft and of a part's column. `storage`: the name of the storage.
std::string TableFilePath(const std::string& storage);
std::string ColumnFilePath(const std::string& storage, const TablePart& part, size_t column);

// kInvalidArgument:
// - there are no columns; a name is empty or not unique; a type is invalid;
// - the columns are not the leaves of the tree;
// - a key column does not exist, has levels, has no order (int96) or is named twice;
// - nulls_last names a column that is not a nullable key column, or names a column twice;
// - there is a merge rule, but no key column, or a key column holds floats, or a column of the rule
//   does not exist or does not fit (Schema::merge_rule).
//
// Other errors: those of Validate for a column's type.
absl::Status ValidateSchema(const Schema& schema);

// The bytes of table.cft. Precondition: ValidateSchema(contents.schema).ok().
std::string SerializeTable(const TableContents& contents);

// kFailedPrecondition: the table has what its oldest reader does not know.
absl::Status CheckOldestReader(const TableContents& contents, const std::string& path);
// As above, for a table that has no parts yet.
absl::Status CheckOldestReader(const Schema& schema,
                               const std::optional<ColumnIdentities>& identities,
                               OldestReader oldest_reader, const std::string& path);

// Compares the result of SerializeTable with a reader's limit. kOutOfRange: the reader would reject
// the bytes, because of their size or of the memory that they take when parsed.
absl::Status CheckTableFileSize(std::string_view bytes, const std::string& path,
                                size_t max_size_bytes);

// Parses the bytes of table.cft, a result of SerializeTable. `path`: for messages. kDataLoss: the
// bytes are damaged; kOutOfRange: they exceed a limit of `options`; kUnimplemented: a type or a
// feature bit is unknown.
absl::StatusOr<TableContents> ParseTable(std::string_view bytes, const std::string& path,
                                         const ReaderOptions& options = {});

// The error that a file or folder of a new part is gone. `path`: in the storage.
absl::Status NewPartRemoved(const Storage& storage, const std::string& path);

}  // namespace cfile::internal
