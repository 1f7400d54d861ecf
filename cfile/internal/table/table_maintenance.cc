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

using internal::Manifest;
using internal::ManifestEdit;
using internal::ManifestPart;

absl::Status NoTable(const Storage& storage) {
  return absl::NotFoundError(
      absl::StrCat(internal::TableFilePath(storage.name()), ": there is no table"));
}

// A file, or a folder with its files.
struct Usage {
  std::chrono::system_clock::time_point newest;
  uint64_t size_bytes = 0;
};

// The files and folders that a table no longer needs, by path. The table needs those that its
// manifest names. Others belong to the table only if their names are those that writers give.
absl::StatusOr<std::map<std::string, Usage>> Unneeded(const Storage& storage,
                                                      const Manifest& manifest) {
  std::set<std::string> parts;
  CFILE_RETURN_IF_ERROR(manifest.ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
    parts.insert(part.part->directory);
    return true;
  }));
  CFILE_ASSIGN_OR_RETURN(const std::set<std::string> chunks, manifest.ChunkFiles());
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage.List(""));
  const auto unneeded_file = [&](const std::string& name) -> std::string {
    if (IsTemporaryFileName(name) &&
        (name.starts_with(".table.cft.") || name.starts_with(".chunk-"))) {
      return name;
    }
    // The mark of a chunk belongs to its file.
    const std::string chunk = name.substr(0, name.find(internal::DroppedMarkOfChunk("")));
    if (!internal::IsChunkName(chunk)) return "";
    if (!chunks.contains(chunk)) return chunk;
    return name == chunk ? "" : name;
  };
  std::map<std::string, Usage> unneeded;
  for (const StorageEntry& file : files) {
    const size_t slash = file.path.find('/');
    const std::string first = file.path.substr(0, slash);
    std::string path;
    if (slash == file.path.npos) {
      path = unneeded_file(first);
    } else if (parts.contains(first)) {
      // A drop that failed has left its mark, or a killed process an incomplete file.
      const std::string name = file.path.substr(slash + 1);
      if (name == internal::kDroppedFileName || IsTemporaryFileName(name)) path = file.path;
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

// Finds the garbage, and condemns the parts and the chunks in it. After that, no writer can publish
// them: a commit that was prepared before meets this one and begins anew.
absl::StatusOr<std::vector<RemovedGarbage>> FindGarbage(Storage& storage,
                                                        std::chrono::seconds older_than,
                                                        const ReaderOptions& options) {
  std::vector<RemovedGarbage> garbage;
  const auto condemn = [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
    if (now == nullptr) return NoTable(storage);
    garbage.clear();
    CFILE_ASSIGN_OR_RETURN(const auto unneeded, Unneeded(storage, *now));
    const auto time = std::chrono::system_clock::now();
    const std::vector<std::string>& before = now->root().condemned;
    ManifestEdit edit{.root = now->root()};
    edit.root.condemned.clear();
    for (const auto& [path, usage] : unneeded) {
      // What an earlier collection left can be removed at any age.
      const bool is_left = std::count(before.begin(), before.end(), path) > 0;
      if (!is_left && std::chrono::floor<std::chrono::seconds>(time - usage.newest) < older_than) {
        continue;
      }
      garbage.push_back({.name = path, .size_bytes = usage.size_bytes});
      if (internal::IsPartName(path) || internal::IsChunkName(path)) {
        edit.root.condemned.push_back(path);
      }
    }
    // Names of parts whose files are gone need not be kept: a writer looks for its files.
    if (edit.root.condemned == before) return std::nullopt;
    return edit;
  };
  CFILE_RETURN_IF_ERROR(internal::CommitTable(storage, options, condemn));
  return garbage;
}

}  // namespace

absl::Status DropParts(const TableLocation& table, std::span<const std::string> parts,
                       const ReaderOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  const std::set<std::string> names(parts.begin(), parts.end());
  return internal::CommitTable(
      *storage, options, [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
        if (now == nullptr) return NoTable(*storage);
        if (names.empty()) return std::nullopt;
        return internal::EditManifest(*now, {.removed = {names.begin(), names.end()}});
      });
}

absl::StatusOr<std::vector<RemovedGarbage>> CollectGarbage(const TableLocation& table,
                                                           std::chrono::seconds older_than,
                                                           const ReaderOptions& options) {
  assert(older_than.count() >= 0);
  const std::shared_ptr<Storage> storage = table.storage();
  CFILE_ASSIGN_OR_RETURN(std::vector<RemovedGarbage> garbage,
                         FindGarbage(*storage, older_than, options));
  for (const RemovedGarbage& item : garbage) {
    CFILE_RETURN_IF_ERROR(storage->Delete(item.name));
    if (internal::IsChunkName(item.name)) {
      CFILE_RETURN_IF_ERROR(storage->Delete(internal::DroppedMarkOfChunk(item.name)));
    }
  }
  return garbage;
}

}  // namespace cfile
