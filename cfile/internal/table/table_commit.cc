#include "cfile/internal/table/table_commit.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/table/table_file.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

ReaderOptions CommitLimits(size_t max_table_file_bytes) {
  return {.max_metadata_size_bytes = max_table_file_bytes,
          .record_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};
}

namespace {

std::unique_ptr<const Manifest> NewManifest(TableContents root, const Storage& storage,
                                            const ReaderOptions& limits) {
  const size_t max_size_bytes = limits.max_metadata_size_bytes;
  return std::make_unique<const Manifest>(std::move(root), storage.name(), max_size_bytes,
                                          [&storage](const std::string& name, uint64_t size_bytes) {
                                            return ReadChunk(storage, name, size_bytes);
                                          });
}

absl::Status WriteFile(Storage& storage, const std::string& path, std::string_view bytes) {
  CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, storage.Create(path));
  CFILE_RETURN_IF_ERROR(sink->Append(encodings::AsBytes(bytes)));
  return sink->Finish();
}

// Writes the files that must be durable before table.cft is replaced.
absl::Status Prepare(Storage& storage, const ManifestEdit& edit) {
  for (const NewChunk& chunk : edit.new_chunks) {
    CFILE_RETURN_IF_ERROR(WriteFile(storage, chunk.info.file_name, chunk.bytes));
  }
  for (const std::string& chunk : edit.removed_chunks) {
    CFILE_RETURN_IF_ERROR(WriteFile(storage, DroppedMarkOfChunk(chunk), ""));
  }
  for (const TablePart& part : edit.removed) {
    CFILE_RETURN_IF_ERROR(
        WriteFile(storage, absl::StrCat(part.directory, "/", kDroppedFileName), ""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadChunk(const Storage& storage, const std::string& name,
                                      uint64_t size_bytes) {
  absl::StatusOr<VersionedObject> chunk = storage.Read(name, size_bytes);
  if (chunk.ok()) return std::move(chunk->bytes);
  if (!absl::IsOutOfRange(chunk.status())) return chunk.status();
  return encodings::DataLoss(storage.name(), "/", name, ": ", size_bytes,
                             " bytes expected by the file that names the chunk, found more");
}

absl::StatusOr<std::unique_ptr<const Manifest>> ReadTable(const Storage& storage,
                                                          const ReaderOptions& limits) {
  CFILE_ASSIGN_OR_RETURN(const VersionedObject object,
                         storage.Read(kTableFileName, limits.max_metadata_size_bytes));
  CFILE_ASSIGN_OR_RETURN(TableContents root,
                         ParseTable(object.bytes, TableFilePath(storage.name()), limits));
  return NewManifest(std::move(root), storage, limits);
}

absl::Status CommitTable(Storage& storage, const ReaderOptions& limits, TableChange change) {
  const std::string path = TableFilePath(storage.name());
  absl::Status conflict;
  std::optional<std::string> last_version;
  while (true) {
    const auto object = storage.Read(kTableFileName, limits.max_metadata_size_bytes);
    if (!object.ok() && !absl::IsNotFound(object.status())) return object.status();
    std::optional<std::string> version;
    std::unique_ptr<const Manifest> now;
    if (object.ok()) {
      version = object->version;
      CFILE_ASSIGN_OR_RETURN(TableContents root, ParseTable(object->bytes, path, limits));
      now = NewManifest(std::move(root), storage, limits);
    }
    // A storage that refuses a version that it still has would be asked for ever.
    if (!conflict.ok() && version == last_version) return conflict;
    const absl::StatusOr<std::optional<ManifestEdit>> changed = change(now.get());
    if (!changed.ok()) {
      // A chunk may be missing because another commit and CollectGarbage have removed it.
      if (!absl::IsNotFound(changed.status()) || !now) return changed.status();
      const auto again = storage.Read(kTableFileName, limits.max_metadata_size_bytes);
      if (!again.ok() || again->version == version) return changed.status();
      continue;
    }
    const std::optional<ManifestEdit>& edit = *changed;
    if (!edit) return absl::OkStatus();
    const std::string bytes = SerializeTable(edit->root);
    if (const absl::Status status = CheckTableFileSize(bytes, path, limits.max_metadata_size_bytes);
        !status.ok()) {
      return absl::Status(
          status.code(), absl::StrCat(status.message(), ", or write fewer parts and shorter keys"));
    }
    CFILE_RETURN_IF_ERROR(Prepare(storage, *edit));
    conflict = storage.Commit(kTableFileName, version, bytes);
    if (!absl::IsAborted(conflict)) return conflict;
    last_version = version;
  }
}

absl::StatusOr<std::optional<std::string>> FindMissing(std::span<const std::string> names,
                                                       const Manifest& manifest) {
  std::set<std::string_view> missing(names.begin(), names.end());
  if (missing.empty()) return std::nullopt;
  CFILE_RETURN_IF_ERROR(manifest.ForEachPart([&](const ManifestPart& part) -> absl::StatusOr<bool> {
    missing.erase(part.part->directory);
    return !missing.empty();
  }));
  if (missing.empty()) return std::nullopt;
  return std::string(*missing.begin());
}

absl::Status NoSuchPart(const Manifest& manifest, const std::string& name) {
  return absl::NotFoundError(
      absl::StrCat(TableFilePath(manifest.directory()), ": the table has no part ", name));
}

}  // namespace cfile::internal
