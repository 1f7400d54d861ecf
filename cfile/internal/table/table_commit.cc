#include "cfile/internal/table/table_commit.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "encodings/core/status.h"

namespace cfile::internal {

ReaderOptions CommitLimits(size_t max_table_file_bytes) {
  return {.max_metadata_size_bytes = max_table_file_bytes,
          .record_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};
}

absl::StatusOr<TableContents> ReadTable(const Storage& storage, const ReaderOptions& limits) {
  CFILE_ASSIGN_OR_RETURN(const VersionedObject object,
                         storage.Read(kTableFileName, limits.max_metadata_size_bytes));
  return ParseTable(object.bytes, TableFilePath(storage.name()), limits);
}

absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change) {
  const std::string path = TableFilePath(storage.name());
  absl::Status conflict;
  std::optional<std::string> last_version;
  while (true) {
    const auto object = storage.Read(kTableFileName, limits.max_metadata_size_bytes);
    if (!object.ok() && !absl::IsNotFound(object.status())) return object.status();
    std::optional<std::string> version;
    std::optional<TableContents> contents;
    if (object.ok()) {
      version = object->version;
      CFILE_ASSIGN_OR_RETURN(contents, ParseTable(object->bytes, path, limits));
    }
    // A storage that refuses a version that it still has would be asked for ever.
    if (!conflict.ok() && version == last_version) return conflict;
    CFILE_ASSIGN_OR_RETURN(const bool changed, change(contents));
    if (!changed) return absl::OkStatus();
    const std::string bytes = SerializeTable(*contents);
    if (const absl::Status status = CheckTableFileSize(bytes, path, limits.max_metadata_size_bytes);
        !status.ok()) {
      return absl::Status(
          status.code(), absl::StrCat(status.message(), ", or write fewer parts and shorter keys"));
    }
    conflict = storage.Commit(kTableFileName, version, bytes);
    if (!absl::IsAborted(conflict)) return conflict;
    last_version = version;
  }
}

absl::Status FindParts(const Storage& storage, std::span<const std::string> names,
                       const TableContents& contents) {
  std::set<std::string_view> present;
  for (const TablePart& part : contents.parts) present.insert(part.directory);
  for (const std::string& name : names) {
    if (present.contains(name)) continue;
    return absl::NotFoundError(
        absl::StrCat(TableFilePath(storage.name()), ": the table has no part ", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> RemoveParts(Storage& storage, std::span<const std::string> names,
                                   TableContents& contents) {
  const std::set<std::string_view> removed(names.begin(), names.end());
  const auto is_removed = [&](const TablePart& part) { return removed.contains(part.directory); };
  for (const TablePart& part : contents.parts) {
    if (!is_removed(part)) continue;
    CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> mark,
                           storage.Create(absl::StrCat(part.directory, "/", kDroppedFileName)));
    CFILE_RETURN_IF_ERROR(mark->Finish());
  }
  const auto first = std::find_if(contents.parts.begin(), contents.parts.end(), is_removed);
  const auto position = static_cast<size_t>(first - contents.parts.begin());
  std::erase_if(contents.parts, is_removed);
  return position;
}

}  // namespace cfile::internal
