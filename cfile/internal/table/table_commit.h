// Changes of table.cft (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/internal/manifest/manifest.h"
#include "cfile/internal/manifest/manifest_edit.h"
#include "cfile/options.h"
#include "cfile/storage.h"

namespace cfile::internal {

// The limits for reading the table.cft of a table that is about to be changed. There are none for
// the schema, because the table may have been created with higher limits.
ReaderOptions CommitLimits(size_t max_table_file_bytes);

// Reads table.cft; chunks are read when they are needed. kNotFound: there is none. Other errors:
// those of Storage::Read and ParseTable. `storage` must outlive the result.
absl::StatusOr<std::unique_ptr<const Manifest>> ReadTable(const Storage& storage,
                                                          const ReaderOptions& limits);

// The manifest of a table whose table.cft says `root`. `storage` must outlive the result.
std::unique_ptr<const Manifest> NewManifest(TableContents root, const Storage& storage,
                                            const ReaderOptions& limits);

// Returns what is to be committed; nullopt: nothing. `now`: the table as it is; null: there is none.
using TableChange =
    absl::FunctionRef<absl::StatusOr<std::optional<ManifestEdit>>(const Manifest* now)>;

// Reads table.cft, calls `change`, and commits the result: writes the new chunks and the marks of
// what is no longer needed, and replaces table.cft. If another commit
// comes between, does all of this again, with the table as it is then; so `change` may be called
// several times. Returns the error of `change`. kOutOfRange: readers with `limits` would refuse
// table.cft. After any other error table.cft may be the old one or the new one.
absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change);

// Returns the parts with these names, in the order of the manifest. kNotFound: one of `names` is not
// the name of a part.
absl::StatusOr<std::vector<TablePart>> FindParts(std::span<const std::string> names,
                                                 const Manifest& manifest);

}  // namespace cfile::internal
