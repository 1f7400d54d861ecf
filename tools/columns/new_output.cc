#include "tools/columns/copy.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const std::string& what, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", error.message()));
}

// kInvalidArgument: the directory `path` has a file or folder whose name is not one that tables
// give. It would be removed together with the table. `name`: the directory, for the message.
absl::Status CheckOnlyTableFiles(const std::string& path, const std::string& name) {
  CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, NewLocalStorage(path)->List(""));
  for (const StorageEntry& file : files) {
    if (IsTablePath(file.path)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has files of its table, and also ", file.path,
                     ", which --force would remove: move it to another place first"));
  }
  return absl::OkStatus();
}

}  // namespace

void SetWriterLimits(const CommonOptions& common, WriterOptions& options) {
  // What can be read can be written again.
  options.max_block_size_bytes =
      common.max_block_size_bytes > 0 ? common.max_block_size_bytes : kMaxBytes;
  options.max_metadata_size_bytes = common.limits.max_metadata_size_bytes;
  options.max_index_size_bytes = common.limits.max_index_size_bytes;
  options.max_dictionary_values = common.limits.max_dictionary_values;
  options.max_bloom_filter_bytes = common.limits.max_bloom_filter_bytes;
}

absl::StatusOr<NewTable> NewTable::Create(const std::string& path, bool force) {
  CFILE_ASSIGN_OR_RETURN(TableLocation location, TableAt(path));
  if (IsUrl(path)) {
    CFILE_ASSIGN_OR_RETURN(const std::vector<StorageEntry> files, location.storage()->List(""));
    if (files.empty()) return NewTable(path, "", std::move(location));
    return absl::InvalidArgumentError(
        absl::StrCat(path, " exists already; --force does not replace tables at URLs"));
  }
  CFILE_RETURN_IF_ERROR(CheckOutIsFree(path, force));
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    if (!fs::exists(fs::path(path) / "table.cft")) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is not a table: --force replaces only tables by tables"));
    }
    CFILE_RETURN_IF_ERROR(CheckOnlyTableFiles(path, path));
  }
  // (path / ".").parent_path() removes a slash at the end.
  const fs::path place = (fs::path(path) / ".").parent_path();
  std::string temporary =
      (place.parent_path() / absl::StrCat(".", place.filename().string(), ".", getpid(), "-table"))
          .string();
  if (!fs::create_directory(temporary, error)) {
    return error ? Failed(absl::StrCat("cannot make ", temporary), error)
                 : absl::InvalidArgumentError(absl::StrCat(
                       temporary,
                       " exists already; another program may be writing it; otherwise remove it"));
  }
  return NewTable(place.string(), temporary, TableLocation(temporary));
}

NewTable::NewTable(std::string path, std::string temporary, TableLocation location)
    : path_(std::move(path)), temporary_(std::move(temporary)), location_(std::move(location)) {}

NewTable::NewTable(NewTable&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      location_(std::move(other.location_)) {}

NewTable::~NewTable() { Discard(); }

void NewTable::Discard() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

absl::Status NewTable::WithFinalPath(const absl::Status& status) const {
  if (temporary_.empty()) return status;
  return {status.code(), absl::StrReplaceAll(status.message(), {{temporary_, path_}})};
}

absl::Status NewTable::Finish() {
  if (temporary_.empty()) return absl::OkStatus();
  std::error_code error;
  const std::string old = temporary_ + "-old";
  const bool replaces = fs::exists(fs::symlink_status(path_, error));
  if (replaces) {
    fs::rename(path_, old, error);
    if (error) return Failed(absl::StrCat("cannot move ", path_, " to ", old), error);
    // Another program may have added files meanwhile.
    if (const absl::Status status = CheckOnlyTableFiles(old, path_); !status.ok()) {
      fs::rename(old, path_, error);
      return status;
    }
  }
  fs::rename(temporary_, path_, error);
  if (error) {
    const absl::Status status =
        Failed(absl::StrCat("cannot move ", temporary_, " to ", path_), error);
    if (replaces) fs::rename(old, path_, error);
    return status;
  }
  temporary_.clear();
  if (!replaces) return absl::OkStatus();
  fs::remove_all(old, error);
  return error ? Failed(absl::StrCat("cannot remove ", old), error) : absl::OkStatus();
}

}  // namespace cfile::tools
