#include "cfile/table_maintenance.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/table/table_commit.h"
#include "cfile/internal/table/table_file.h"
#include "cfile/io.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::TableContents;
using internal::TablePart;

absl::Status NoTable(const Storage& storage) {
  return absl::NotFoundError(
      absl::StrCat(internal::TableFilePath(storage.name()), ": there is no table"));
}

// A file, or a folder with its files.
struct Usage {
  std::chrono::system_clock::time_point newest;
  uint64_t size_bytes = 0;
};

// The files and folders that a table no longer needs, by path. The table needs those that
// `contents` names. Others belong to the table only if their names are those that writers give.
absl::StatusOr<std::map<std::string, Usage>> Unneeded(const Storage& storage,
                                                      const TableContents& contents) {
  std::set<std::string_view> named;
  for (const TablePart& part : contents.parts) named.insert(part.directory);
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage.List(""));
  std::map<std::string, Usage> unneeded;
  for (const StorageEntry& file : files) {
    const size_t slash = file.path.find('/');
    const std::string first = file.path.substr(0, slash);
    std::string path;
    if (slash == file.path.npos) {
      if (IsTemporaryFileName(first) && first.starts_with(".table.cft.")) path = first;
    } else if (named.contains(first)) {
      // A drop that failed has left its mark.
      if (file.path.substr(slash + 1) == internal::kDroppedFileName) path = file.path;
    } else if (internal::IsPartName(first) || first.starts_with(kTemporaryFolderPrefix)) {
      path = first;
    }
    if (path.empty()) continue;
    Usage& usage = unneeded[path];
    usage.newest = std::max(usage.newest, file.changed);
    usage.size_bytes += file.size_bytes;
  }
  return unneeded;
}

// Finds the garbage, and condemns the parts in it. After that, no writer can publish these parts.
absl::StatusOr<std::vector<RemovedGarbage>> FindGarbage(Storage& storage,
                                                        std::chrono::seconds older_than,
                                                        const ReaderOptions& options) {
  std::vector<RemovedGarbage> garbage;
  const auto condemn = [&](std::optional<TableContents>& contents) -> absl::StatusOr<bool> {
    if (!contents) return NoTable(storage);
    garbage.clear();
    CFILE_ASSIGN_OR_RETURN(const auto unneeded, Unneeded(storage, *contents));
    const auto now = std::chrono::system_clock::now();
    std::vector<std::string> condemned;
    for (const auto& [path, usage] : unneeded) {
      // What an earlier collection left can be removed at any age.
      const bool is_left = std::count(contents->condemned.begin(), contents->condemned.end(), path);
      if (!is_left && std::chrono::floor<std::chrono::seconds>(now - usage.newest) < older_than) {
        continue;
      }
      garbage.push_back({.name = path, .size_bytes = usage.size_bytes});
      if (internal::IsPartName(path)) condemned.push_back(path);
    }
    // Names of parts whose files are gone need not be kept: a writer looks for its files.
    return std::exchange(contents->condemned, condemned) != condemned;
  };
  CFILE_RETURN_IF_ERROR(internal::CommitTable(storage, options, condemn));
  return garbage;
}

}  // namespace

absl::Status DropParts(const TableLocation& table, std::span<const std::string> parts,
                       const ReaderOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  return internal::CommitTable(
      *storage, options, [&](std::optional<TableContents>& contents) -> absl::StatusOr<bool> {
        if (!contents) return NoTable(*storage);
        CFILE_RETURN_IF_ERROR(internal::FindParts(*storage, parts, *contents));
        CFILE_RETURN_IF_ERROR(internal::RemoveParts(*storage, parts, *contents).status());
        return !parts.empty();
      });
}

absl::StatusOr<std::vector<RemovedGarbage>> CollectGarbage(const TableLocation& table,
                                                           std::chrono::seconds older_than,
                                                           const ReaderOptions& options) {
  assert(older_than.count() >= 0);
  const std::shared_ptr<Storage> storage = table.storage();
  CFILE_ASSIGN_OR_RETURN(std::vector<RemovedGarbage> garbage,
                         FindGarbage(*storage, older_than, options));
  for (const RemovedGarbage& item : garbage) CFILE_RETURN_IF_ERROR(storage->Delete(item.name));
  return garbage;
}

}  // namespace cfile
