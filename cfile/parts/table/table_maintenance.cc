#include "cfile/table_maintenance.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/file_system.h"
#include "cfile/io.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/commit/unfinished_table.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/parts/table/sort_column.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "encodings/core/assert.h"
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
  std::vector<std::string> copies = {};  // copies of a part's description (part_copy.h)
};

struct Garbage {
  std::vector<RemovedGarbage> items;
  std::vector<std::string> copies;  // the paths of copies in the folders of `items`
};

// Returns the files and folders, by their paths, that a table no longer needs: those with names of
// this library (IsTablePath) that its manifest does not name. A folder stays if it has a file with
// another name.
absl::StatusOr<std::map<std::string, Usage>> Unneeded(const Storage& storage,
                                                      const Manifest& manifest) {
  std::map<std::string, std::set<std::string>, std::less<>> parts;  // the files of each part
  CFILE_RETURN_IF_ERROR(manifest.ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
    std::set<std::string>& files = parts[part.part->directory];
    for (const internal::TablePartColumn& column : part.part->columns) {
      if (!column.missing) files.insert(column.stored_in());
    }
    return true;
  }));
  CFILE_ASSIGN_OR_RETURN(const std::set<std::string> chunks, manifest.ChunkFiles());
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage.List(""));
  const auto unneeded_file = [&](const std::string& name) -> std::string {
    if (internal::IsColumnsMark(name) || IsTemporaryFileName(name)) return name;
    // Remove the mark of a chunk together with the file of the chunk, or alone if the table has the
    // chunk.
    const std::string chunk = name.substr(0, name.find(internal::DroppedMarkOfChunk("")));
    if (!internal::IsChunkName(chunk)) return "";
    if (!chunks.contains(chunk)) return chunk;
    return name == chunk ? "" : name;
  };
  // The last time when a commit stopped to need files of columns in the table's parts.
  std::chrono::system_clock::time_point columns_removed;
  // The newest copy of each part that belongs to a commit.
  internal::CommitHistory history;
  history.Add(manifest.root(), /*attempt=*/false);
  std::map<std::string, internal::CommitTag> copies;
  for (const StorageEntry& file : files) {
    if (internal::IsColumnsMark(file.path)) {
      columns_removed = std::max(columns_removed, file.changed);
    }
    const size_t slash = file.path.find('/');
    if (slash == file.path.npos) continue;
    const auto tag = internal::ParsePartCopyName(std::string_view(file.path).substr(slash + 1));
    if (!tag || tag->sequence > manifest.root().sequence || history.Disproves(*tag)) continue;
    internal::CommitTag& newest = copies[file.path.substr(0, slash)];
    if (tag->sequence > newest.sequence) newest = *tag;
  }
  std::map<std::string, Usage> unneeded;
  std::vector<std::string> kept;  // folders with files of the user
  for (const StorageEntry& file : files) {
    const size_t slash = file.path.find('/');
    const std::string first = file.path.substr(0, slash);
    if (!IsTablePath(file.path)) {
      kept.push_back(first);
      continue;
    }
    const auto part = parts.find(first);
    std::string path;
    std::chrono::system_clock::time_point changed = file.changed;
    if (slash == file.path.npos) {
      path = unneeded_file(first);
    } else if (part != parts.end()) {
      const std::string name = file.path.substr(slash + 1);
      const auto copy = internal::ParsePartCopyName(name);
      if (internal::ParseDroppedMarkName(name) || (copy && *copy != copies[first]) ||
          IsTemporaryFileName(name)) {
        // Such a file is a mark or a copy of a commit that has failed, an older copy, or an
        // incomplete file of a killed process.
        path = file.path;
      } else if (internal::IsColumnFileName(name) && !part->second.contains(name)) {
        path = file.path;
        changed = std::max(changed, columns_removed);
      }
    } else {
      path = first;
    }
    if (path.empty()) continue;
    Usage& usage = unneeded[path];
    usage.newest = std::max(usage.newest, changed);
    usage.size_bytes += file.size_bytes;
    if (slash != file.path.npos && path == first &&
        internal::ParsePartCopyName(std::string_view(file.path).substr(slash + 1))) {
      usage.copies.push_back(file.path);
    }
  }
  for (const std::string& folder : kept) unneeded.erase(folder);
  return unneeded;
}

// Finds the garbage: the files and folders that can be removed. Unless `dry_run`, condemns the
// parts, the chunks and the files of columns in it: writes their paths into table.cft, so that no
// writer can publish them later. A commit that another program has prepared then fails, because
// table.cft has changed, and that program begins it again.
absl::StatusOr<Garbage> FindGarbage(Storage& storage, std::chrono::seconds older_than,
                                    const ReaderOptions& options, bool dry_run) {
  Garbage garbage;
  const auto condemn = [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
    const bool has_table = now != nullptr;
    const Manifest none(internal::TableContents(), storage.name(), options.max_metadata_size_bytes,
                        {});
    if (!has_table) {
      CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, storage.List(""));
      if (!internal::IsUnfinishedTable(files)) return NoTable(storage);
      now = &none;
    }
    garbage = {};
    CFILE_ASSIGN_OR_RETURN(const auto unneeded, Unneeded(storage, *now));
    const auto time = std::chrono::system_clock::now();
    ManifestEdit edit{.root = now->root()};
    const std::vector<std::string> before = std::exchange(edit.root.condemned, {});
    for (const auto& [path, usage] : unneeded) {
      // If an earlier collection has condemned a path, the path can be removed at any age.
      const bool is_left = std::count(before.begin(), before.end(), path) > 0;
      if (!is_left && std::chrono::floor<std::chrono::seconds>(time - usage.newest) < older_than) {
        continue;
      }
      garbage.items.push_back({.name = path, .size_bytes = usage.size_bytes});
      garbage.copies.insert(garbage.copies.end(), usage.copies.begin(), usage.copies.end());
      const size_t slash = path.find('/');
      const bool is_column =
          slash != path.npos && internal::IsColumnFileName(path.substr(slash + 1));
      if (is_column || internal::IsPartName(path) || internal::IsChunkName(path)) {
        edit.root.condemned.push_back(path);
      }
    }
    // `condemned` needs no path of a removed file, because writers check that their files exist.
    if (!has_table || dry_run || edit.root.condemned == before) return std::nullopt;
    return edit;
  };
  CFILE_RETURN_IF_ERROR(internal::CommitTable(storage, options, condemn));
  return garbage;
}

// Returns a writer for a part without rows that replaces all parts: its value index keeps the order
// of the table. nullopt: `names` are not the names of all parts, or the table has no order or has
// key columns (the schema keeps their order).
absl::StatusOr<std::optional<TableWriter>> NewPartThatKeepsOrder(
    const TableLocation& location, const TableReader& table, const std::set<std::string>& names) {
  if (names.size() != table.num_parts() || !table.schema().key_columns.empty()) return std::nullopt;
  std::vector<PartInfo> parts;
  for (size_t part = 0; part < names.size(); ++part) {
    CFILE_ASSIGN_OR_RETURN(parts.emplace_back(), table.part(part));
    if (!names.contains(parts.back().name)) return std::nullopt;
  }
  CFILE_ASSIGN_OR_RETURN(const std::optional<size_t> column, internal::SortColumn(table, parts));
  if (!column) return std::nullopt;
  CFILE_ASSIGN_OR_RETURN(
      const auto options,
      internal::OptionsOfNewPart(table, std::vector<bool>(parts.size(), true), column, {}));
  return TableWriter::Replace(location, table, std::vector<std::string>(names.begin(), names.end()),
                              options);
}

}  // namespace

absl::Status DropParts(const TableLocation& location, std::span<const std::string> parts,
                       const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(location, options));
  const std::set<std::string> names(parts.begin(), parts.end());
  if (names.empty()) return absl::OkStatus();
  auto writer = NewPartThatKeepsOrder(location, table, names);
  if (writer.ok() && *writer) return (*writer)->Finish();
  // Damaged parts can be dropped, too.
  if (!writer.ok() && !absl::IsNotFound(writer.status()) && !absl::IsDataLoss(writer.status()))
    return writer.status();
  const std::shared_ptr<Storage> storage = location.storage();
  return internal::CommitTable(
      *storage, options, [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
        if (now == nullptr) return NoTable(*storage);
        return internal::EditManifest(
            *now, {.removed = {names.begin(), names.end()}, .may_reveal = options.stored_rows});
      });
}

absl::StatusOr<OldestReader> RaiseOldestReader(const TableLocation& table, OldestReader reader,
                                               const ReaderOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  if (reader < OldestReader::kKudu || reader > internal::kNewestReader) {
    return absl::InvalidArgumentError(absl::StrCat(
        storage->name(), ": expected an oldest reader from ", OldestReaderName(OldestReader::kKudu),
        " to ", OldestReaderName(internal::kNewestReader)));
  }
  OldestReader before{};
  const auto edit = [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
    if (now == nullptr) return NoTable(*storage);
    before = now->root().oldest_reader;
    if (before == reader) return std::nullopt;
    if (before > reader) {
      return absl::FailedPreconditionError(absl::StrCat(
          storage->name(), ": the oldest reader of the table is ", OldestReaderName(before),
          "; for ", OldestReaderName(reader), ", write its rows into a new table"));
    }
    CFILE_ASSIGN_OR_RETURN(ManifestEdit result, internal::EditManifest(*now, {}));
    result.root.oldest_reader = reader;
    return result;
  };
  CFILE_RETURN_IF_ERROR(internal::CommitTable(
      *storage, internal::CommitLimits(options.max_metadata_size_bytes), edit));
  return before;
}

absl::Status RaiseTimeBound(const TableLocation& table, int64_t bound,
                            const ReaderOptions& options) {
  const std::shared_ptr<Storage> storage = table.storage();
  const auto edit = [&](const Manifest* now) -> absl::StatusOr<std::optional<ManifestEdit>> {
    if (now == nullptr) return NoTable(*storage);
    const std::optional<MergeRule>& rule = now->root().schema.merge_rule;
    if (!rule || !rule->time_column) {
      return absl::FailedPreconditionError(
          absl::StrCat(storage->name(), ": the table has no merge rule with a time column"));
    }
    const std::optional<int64_t>& before = now->root().time_bound;
    if (before && *before > bound) {
      return absl::InvalidArgumentError(absl::StrCat(storage->name(), ": expected a bound from ",
                                                     *before, " on, found ", bound,
                                                     ", which would bring rows back"));
    }
    if (before == bound) return std::nullopt;
    CFILE_ASSIGN_OR_RETURN(ManifestEdit result, internal::EditManifest(*now, {}));
    result.root.time_bound = bound;
    return result;
  };
  return internal::CommitTable(*storage, internal::CommitLimits(options.max_metadata_size_bytes),
                               edit);
}

absl::StatusOr<PartOrigin> ReadPartOrigin(const TableLocation& table, const std::string& part,
                                          const ReaderOptions& options) {
  if (!internal::IsPartName(part))
    return absl::NotFoundError(absl::StrCat(part, ": this is no name of a part"));
  CFILE_ASSIGN_OR_RETURN(internal::TableContents copy,
                         internal::ReadCopies(*table.storage(), part, options));
  const std::vector<uint64_t>& order = copy.parts[0].order;
  return PartOrigin{.commit = order.empty() ? 0 : order[0], .replaced = std::move(copy.replaced)};
}

absl::StatusOr<std::string> NewTemporaryFolderName() {
  return internal::RandomName(internal::kTemporaryFolderPrefix);
}

bool IsTablePath(std::string_view path) { return internal::IsTablePath(path); }

absl::StatusOr<std::vector<RemovedGarbage>> CollectGarbage(const TableLocation& table,
                                                           std::chrono::seconds older_than,
                                                           const ReaderOptions& options,
                                                           bool dry_run) {
  CFILE_ASSERT(older_than.count() >= 0);
  const std::shared_ptr<Storage> storage = table.storage();
  CFILE_ASSIGN_OR_RETURN(Garbage garbage, FindGarbage(*storage, older_than, options, dry_run));
  if (dry_run) return std::move(garbage.items);
  // Delete copies before marks. If a part had a copy but no mark, Repair would restore the part.
  for (const std::string& copy : garbage.copies) CFILE_RETURN_IF_ERROR(storage->Delete(copy));
  for (const RemovedGarbage& item : garbage.items) {
    CFILE_RETURN_IF_ERROR(storage->Delete(item.name));
    if (internal::IsChunkName(item.name)) {
      CFILE_RETURN_IF_ERROR(storage->Delete(internal::DroppedMarkOfChunk(item.name)));
    }
  }
  return std::move(garbage.items);
}

}  // namespace cfile
