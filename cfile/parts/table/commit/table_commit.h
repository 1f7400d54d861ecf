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
#include "cfile/options.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/parts/table/manifest/manifest_edit.h"
#include "cfile/storage.h"

namespace cfile::internal {

// The limits for reading the table.cft of a table that is about to be changed. There are none for
// the schema, because the table may have been created with higher limits.
ReaderOptions CommitLimits(size_t max_table_file_bytes);

// Reads the file of a chunk. kDataLoss: the file has more than `size_bytes` bytes.
absl::StatusOr<std::string> ReadChunk(const Storage& storage, const std::string& name,
                                      uint64_t size_bytes);

// Reads table.cft; chunks are read when they are needed. kNotFound: there is none. Other errors:
// those of Storage::Read and ParseTable. `storage` must outlive the result.
absl::StatusOr<std::unique_ptr<const Manifest>> ReadTable(const Storage& storage,
                                                          const ReaderOptions& limits);

// Returns the manifest of a table. `root`: the contents of its table.cft. `storage` must outlive
// the result.
std::unique_ptr<const Manifest> NewManifest(TableContents root, const Storage& storage,
                                            const ReaderOptions& limits);

// Returns what is to be committed; nullopt: nothing. `now`: the present table; null: there is no
// table.
using TableChange =
    absl::FunctionRef<absl::StatusOr<std::optional<ManifestEdit>>(const Manifest* now)>;

// Reads table.cft, calls `change`, and commits the result (CommitEdit). If another program commits
// first, waits a random time and begins again with the new table: `change` may be called several
// times, but never after one of its results was committed. Errors: those of `change` and
// CommitEdit. `may_be_done`: as in CommitEdit; may be null.
absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change,
                         bool* may_be_done = nullptr);

// Tries once to commit `edit`. `version`: the version of table.cft that the commit replaces (see
// Storage::Commit). `before`: the table to which `edit` applies; null: there is no table. Sets the
// commit_ids of edit.root and its sequence, the number of the commit. Writes these files, and then
// replaces table.cft:
// - the new chunks;
// - a copy of the description of each part that is added or updated. If there is no such part,
//   but parts were removed or the schema has changed: a copy of the description of one part;
// - the marks of parts, chunks and files that are no longer needed.
//
// After an error of Storage::Commit, this function reads table.cft again, and returns OK if the
// commit_ids there name this commit: the answer may be lost, and other writers may have committed
// since.
//
// Sets `may_be_done`: false if table.cft does not get this change; then the files of this commit
// are removed. It is true before table.cft is replaced, so it is also right after an exception.
//
// kAborted: table.cft has another version. kOutOfRange: readers with `limits` would refuse
// table.cft or a copy. kInternal: the commit took place, but may not be durable.
absl::Status CommitEdit(Storage& storage, const ReaderOptions& limits,
                        const std::optional<std::string>& version, const TableContents* before,
                        ManifestEdit& edit, bool& may_be_done);

// The parts with the names that were looked up, in the order of the manifest.
// `missing`: a name that no part has; nullopt: each name is the name of a part.
struct FoundParts {
  std::vector<TablePart> parts = {};
  std::optional<std::string> missing = {};
};
absl::StatusOr<FoundParts> FindParts(std::span<const std::string> names, const Manifest& manifest);
// The error that no part of the table has this name.
absl::Status NoSuchPart(const Manifest& manifest, const std::string& name);

}  // namespace cfile::internal
