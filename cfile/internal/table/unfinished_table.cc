#include "cfile/internal/table/unfinished_table.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "cfile/internal/commit/part_copy.h"
#include "cfile/internal/io/file_system.h"
#include "cfile/internal/io/local_storage.h"
#include "cfile/internal/manifest/table_file.h"

namespace cfile::internal {

std::optional<UnfinishedTable> FindUnfinishedTable(std::span<const StorageEntry> files) {
  UnfinishedTable folders;
  std::set<std::string> with_complete_files;
  for (const StorageEntry& file : files) {
    if (!IsTablePath(file.path)) continue;
    const size_t slash = file.path.find('/');
    if (slash == file.path.npos) return std::nullopt;
    const std::string folder = file.path.substr(0, slash);
    const std::string name = file.path.substr(slash + 1);
    std::vector<std::string>& temporary = folders[folder];
    if (!IsPartName(folder)) continue;
    // Earlier versions, which numbered the parts, wrote no copies of the parts' descriptions.
    if (!IsUniquePartName(folder) || ParsePartCopyName(name) || ParseDroppedMarkName(name)) {
      return std::nullopt;
    }
    if (!FinalNameOf(name).empty()) {
      temporary.push_back(file.path);
    } else if (!name.empty()) {
      with_complete_files.insert(folder);
    }
  }
  for (const std::string& folder : with_complete_files) {
    if (folders[folder].empty()) return std::nullopt;
  }
  if (folders.empty()) return std::nullopt;
  return folders;
}

bool RemoveUnfinishedTable(Storage& storage, std::span<const StorageEntry> files) {
  const auto folders = FindUnfinishedTable(files);
  const bool only_own = std::all_of(
      files.begin(), files.end(), [](const StorageEntry& file) { return IsTablePath(file.path); });
  if (!folders || !only_own || !IsLocal(storage)) return false;
  const auto path_of = [&](const std::string& path) {
    return absl::StrCat(storage.name(), "/", path);
  };
  for (const auto& [folder, temporary] : *folders) {
    // A writer has just made a part without files.
    if (temporary.empty() && IsPartName(folder)) return false;
    for (const std::string& path : temporary) {
      if (IsInUse(path_of(path))) return false;
    }
  }
  for (const auto& [folder, temporary] : *folders) {
    // A part that has lost a temporary file cannot be published. If all temporary files are gone,
    // a writer has just completed them.
    const bool lost =
        temporary.empty() ||
        std::count_if(temporary.begin(), temporary.end(), [&](const std::string& path) {
          return unlink(path_of(path).c_str()) == 0;
        }) > 0;
    if (!lost || !storage.Delete(folder).ok()) return false;
  }
  return true;
}

}  // namespace cfile::internal
