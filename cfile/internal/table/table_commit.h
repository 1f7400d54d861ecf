// Changes of table.cft (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/internal/table/table_file.h"
#include "cfile/options.h"
#include "cfile/storage.h"

namespace cfile::internal {

// The limits for reading the table.cft of a table that is about to be changed. There are none for
// the schema, because the table may have been created with higher limits.
ReaderOptions CommitLimits(size_t max_table_file_bytes);

// Reads table.cft. kNotFound: there is none. Other errors: those of Storage::Read and ParseTable.
absl::StatusOr<TableContents> ReadTable(const Storage& storage, const ReaderOptions& limits);

// Changes the contents of table.cft; nullopt: there is no table.cft. Returns false if nothing is to
// be committed.
using TableChange = absl::FunctionRef<absl::StatusOr<bool>(std::optional<TableContents>& contents)>;

// Reads table.cft, calls `change`, and commits the result. If another commit comes between, does
// all of this again, with the contents that are there now; so `change` may be called several times.
// Returns the error of `change`. kOutOfRange: readers with `limits` would refuse table.cft. After
// any other error table.cft may be the old one or the new one.
absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change);

// kNotFound if one of `names` is not the name of a part in `contents`.
absl::Status FindParts(const Storage& storage, std::span<const std::string> names,
                       const TableContents& contents);

// Removes the parts with these names from `contents`. Returns the position where the first of them
// was; without names, the position after the last part. Puts a file named "dropped" into each part's
// folder, because CollectGarbage counts the age of a dropped part from that time. Precondition:
// FindParts succeeds.
absl::StatusOr<size_t> RemoveParts(Storage& storage, std::span<const std::string> names,
                                   TableContents& contents);

}  // namespace cfile::internal
