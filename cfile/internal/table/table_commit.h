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

// Reads the file of a chunk. kDataLoss: it has more than `size_bytes` bytes.
absl::StatusOr<std::string> ReadChunk(const Storage& storage, const std::string& name,
                                      uint64_t size_bytes);

// Reads table.cft; chunks are read when they are needed. kNotFound: there is none. Other errors:
// those of Storage::Read and ParseTable. `storage` must outlive the result.
absl::StatusOr<std::unique_ptr<const Manifest>> ReadTable(const Storage& storage,
                                                          const ReaderOptions& limits);

// Returns what is to be committed; nullopt: nothing. `now`: the table as it is; null: there is none.
using TableChange =
    absl::FunctionRef<absl::StatusOr<std::optional<ManifestEdit>>(const Manifest* now)>;

// Reads table.cft, calls `change`, and commits the result: writes the new chunks, puts a file named
// "dropped" into the folder of each part that is removed, and replaces table.cft. If another commit
// comes between, does all of this again, with the table as it is then; so `change` may be called
// several times. Returns the error of `change`. kOutOfRange: readers with `limits` would refuse
// table.cft. After any other error table.cft may be the old one or the new one.
absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change);

// Returns one of `names` that is not the name of a part; nullopt: all of them are.
absl::StatusOr<std::optional<std::string>> FindMissing(std::span<const std::string> names,
                                                       const Manifest& manifest);
// The error that the table has no part of this name.
absl::Status NoSuchPart(const Manifest& manifest, const std::string& name);

}  // namespace cfile::internal
