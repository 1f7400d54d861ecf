#include "cfile/internal/table/table_commit.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

ReaderOptions CommitLimits(size_t max_table_file_bytes) {
  return {.max_metadata_size_bytes = max_table_file_bytes,
          .record_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};
}

absl::StatusOr<TableCommit> TableCommit::Begin(const std::string& directory,
                                               const ReaderOptions& limits) {
  CFILE_ASSIGN_OR_RETURN(FileLock lock, FileLock::Acquire(LockFilePath(directory)));
  TableCommit commit(directory, limits.max_metadata_size_bytes, std::move(lock));
  const std::string path = TableFilePath(directory);
  const auto bytes = ReadTableFile(path, limits.max_metadata_size_bytes);
  if (absl::IsNotFound(bytes.status())) return commit;
  CFILE_RETURN_IF_ERROR(bytes.status());
  CFILE_ASSIGN_OR_RETURN(commit.contents_, ParseTable(*bytes, path, limits));
  return commit;
}

absl::Status TableCommit::Publish(const TableContents& contents) {
  const std::string path = TableFilePath(directory_);
  const std::string bytes = SerializeTable(contents);
  if (const absl::Status status = CheckTableFileSize(bytes, path, max_table_file_bytes_);
      !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(status.message(), ", or write fewer parts and shorter keys"));
  }
  CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, NewFileSink(path));
  CFILE_RETURN_IF_ERROR(sink->Append(encodings::AsBytes(bytes)));
  return sink->Finish();
}

absl::Status FindParts(const std::string& directory, std::span<const std::string> names,
                       const TableContents& contents) {
  std::set<std::string_view> present;
  for (const TablePart& part : contents.parts) present.insert(part.directory);
  for (const std::string& name : names) {
    if (present.contains(name)) continue;
    return absl::NotFoundError(
        absl::StrCat(TableFilePath(directory), ": the table has no part ", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> RemoveParts(const std::string& directory, std::span<const std::string> names,
                                   TableContents& contents) {
  const std::set<std::string_view> removed(names.begin(), names.end());
  const auto is_removed = [&](const TablePart& part) { return removed.contains(part.directory); };
  for (const TablePart& part : contents.parts) {
    if (!is_removed(part)) continue;
    const absl::Status status = SetChangedNow(ColumnFilePath(directory, part, 0));
    // A part can be dropped because its files are gone.
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  const auto first = std::find_if(contents.parts.begin(), contents.parts.end(), is_removed);
  const auto position = static_cast<size_t>(first - contents.parts.begin());
  std::erase_if(contents.parts, is_removed);
  return position;
}

}  // namespace cfile::internal
