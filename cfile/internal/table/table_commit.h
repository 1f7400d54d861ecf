// Changes of table.cft, one after the other (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/internal/io/file_system.h"
#include "cfile/internal/table/table_file.h"
#include "cfile/options.h"

namespace cfile::internal {

// The limits for reading the table.cft of a table that is about to be changed. There are none for
// the schema, because the table may have been created with higher limits.
ReaderOptions CommitLimits(size_t max_table_file_bytes);

// Reads and replaces a table.cft. Holds the table's lock as long as it exists, so that no other
// commit, in any thread or process, happens between the two. Readers take no lock.
class TableCommit {
 public:
  // Waits for the lock of the table at `directory`, and reads its table.cft. kNotFound: there is no
  // directory. Other errors: those of ReadTableFile and ParseTable.
  static absl::StatusOr<TableCommit> Begin(const std::string& directory,
                                           const ReaderOptions& limits);

  // What table.cft says now; nullopt if there is no table.cft.
  std::optional<TableContents>& contents() { return contents_; }

  // Replaces table.cft. Afterwards it is durable. Call SyncFolder for the directory before, so that
  // everything that `contents` names is durable. kOutOfRange: readers with the limits of Begin
  // would refuse table.cft. After any other error table.cft may be the old one or the new one.
  absl::Status Publish(const TableContents& contents);

 private:
  TableCommit(std::string directory, size_t max_table_file_bytes, FileLock lock)
      : directory_(std::move(directory)),
        max_table_file_bytes_(max_table_file_bytes),
        lock_(std::move(lock)) {}

  std::string directory_;
  size_t max_table_file_bytes_;
  FileLock lock_;
  std::optional<TableContents> contents_;
};

// kNotFound if one of `names` is not the name of a part in `contents`, the table at `directory`.
absl::Status FindParts(const std::string& directory, std::span<const std::string> names,
                       const TableContents& contents);

// Removes the parts with these names from `contents`. Returns the position where the first of them
// was; without names, the position after the last part. Marks their files as changed now, because
// CollectGarbage counts the age of a dropped part from that time. Precondition: FindParts succeeds.
absl::StatusOr<size_t> RemoveParts(const std::string& directory, std::span<const std::string> names,
                                   TableContents& contents);

}  // namespace cfile::internal
