// Changes of table.cft (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

// The same for the contents of a table.cft.
std::unique_ptr<const Manifest> NewManifest(TableContents root, const Storage& storage,
                                            const ReaderOptions& limits);

// Returns what is to be committed; nullopt: nothing. `now`: the table as it is; null: there is none.
using TableChange =
    absl::FunctionRef<absl::StatusOr<std::optional<ManifestEdit>>(const Manifest* now)>;

// Reads table.cft, calls `change`, and commits the result (CommitEdit). If another commit comes
// between, does all of this again, with the table as it is then; so `change` may be called several
// times. Returns the error of `change`. Other errors: those of CommitEdit.
absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change);

// Commits `edit` once, over the version `version` of table.cft (see Storage::Commit). Writes the new
// chunks, a copy of the description of each part that is added or updated, or of one part if parts
// were only removed or the schema has changed, and a mark for each part that is removed. Then
// replaces table.cft. Sets the sequence and the commit_ids of edit.root. `before`: the table to which
// the edit applies; null: there is none.
//
// kAborted: table.cft has another version. kOutOfRange: readers with `limits` would refuse table.cft
// or a copy. After these errors the files of this commit are gone. After other errors of
// Storage::Commit table.cft may be the old one or the new one.
absl::Status CommitEdit(Storage& storage, const ReaderOptions& limits,
                        const std::optional<std::string>& version, const TableContents* before,
                        ManifestEdit& edit);

// kNotFound if one of `names` is not the name of a part.
absl::Status FindParts(std::span<const std::string> names, const Manifest& manifest);

}  // namespace cfile::internal
