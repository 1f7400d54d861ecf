#include "cfile/table_maintenance.h"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/io/file_system.h"
#include "cfile/internal/table/table_commit.h"
#include "cfile/internal/table/table_file.h"
#include "cfile/io.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using internal::TableCommit;
using internal::TableContents;
using internal::TablePart;

constexpr std::string_view kRemovedPrefix = "removed-";

absl::StatusOr<TableCommit> BeginCommit(const std::string& directory,
                                        const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(TableCommit commit, TableCommit::Begin(directory, options));
  if (commit.contents().has_value()) return commit;
  return absl::NotFoundError(
      absl::StrCat(internal::TableFilePath(directory), ": there is no table"));
}

struct Usage {
  fs::file_time_type newest;
  uint64_t size_bytes = 0;
};

// The usage of a file, or of a folder with all files in it. nullopt if one of them vanishes
// meanwhile: somebody is at work there.
absl::StatusOr<std::optional<Usage>> UsageOf(const std::string& path) {
  std::error_code error;
  Usage usage{.newest = fs::last_write_time(path, error)};
  const auto add = [&](const fs::directory_entry& entry) {
    usage.newest = std::max(usage.newest, entry.last_write_time(error));
    if (!error && entry.is_regular_file(error)) usage.size_bytes += entry.file_size(error);
  };
  if (!error) add(fs::directory_entry(path, error));
  if (!error && fs::is_directory(path, error)) {
    fs::recursive_directory_iterator entry(path, error);
    while (!error && entry != fs::recursive_directory_iterator()) {
      add(*entry);
      if (!error) entry.increment(error);
    }
  }
  if (error == std::errc::no_such_file_or_directory) return std::nullopt;
  if (error) return internal::SystemError("read directory", path, error.value());
  return usage;
}

// Makes the names of the entries of `directory` a list, because they are renamed later.
absl::StatusOr<std::vector<std::string>> EntriesOf(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return internal::SystemError("read directory", directory, error.value());
  return names;
}

// Garbage, and the name that it has until it is removed.
struct Found {
  RemovedGarbage garbage;
  std::string name_now;
};

// Finds the garbage, and renames the parts in it. After that, no writer can publish these parts, and
// no reader opens one while its files are removed.
absl::StatusOr<std::vector<Found>> TakeGarbage(const std::string& directory,
                                               std::chrono::seconds older_than,
                                               const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(TableCommit commit, BeginCommit(directory, options));
  // If a program dropped a part but could not sync table.cft, an older table.cft, which names the
  // part, could come back after a power cut.
  CFILE_RETURN_IF_ERROR(internal::SyncFolder(directory));
  std::set<std::string_view> named;
  for (const TablePart& part : commit.contents()->parts) named.insert(part.directory);
  CFILE_ASSIGN_OR_RETURN(const std::vector<std::string> names, EntriesOf(directory));
  const auto now = fs::file_time_type::clock::now();
  std::vector<Found> found;
  for (const std::string& name : names) {
    const bool is_folder = (internal::IsPartName(name) && !named.contains(name)) ||
                           name.starts_with(kTemporaryFolderPrefix);
    const bool is_left = name.starts_with(kRemovedPrefix) &&
                         internal::IsRandomName(name.substr(kRemovedPrefix.size()));
    const bool is_temporary = IsTemporaryFileName(name) && name.starts_with(".table.cft.");
    if (!is_folder && !is_left && !is_temporary) continue;
    const std::string path = absl::StrCat(directory, "/", name);
    CFILE_ASSIGN_OR_RETURN(const std::optional<Usage> usage, UsageOf(path));
    if (!usage.has_value()) continue;
    // What an earlier collection left can be removed at any age.
    if (!is_left && std::chrono::floor<std::chrono::seconds>(now - usage->newest) < older_than) {
      continue;
    }
    Found& item = found.emplace_back();
    item.garbage = {.name = name, .size_bytes = usage->size_bytes};
    item.name_now = name;
    if (!is_folder) continue;
    CFILE_ASSIGN_OR_RETURN(const std::string random, internal::RandomName());
    item.name_now = absl::StrCat(std::string(kRemovedPrefix), random);
    const std::string target = absl::StrCat(directory, "/", item.name_now);
    std::error_code error;
    fs::rename(path, target, error);
    if (error) return internal::SystemError("rename to", target, error.value());
  }
  return found;
}

}  // namespace

absl::Status DropParts(const std::string& directory, std::span<const std::string> parts,
                       const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(TableCommit commit, BeginCommit(directory, options));
  TableContents& contents = *commit.contents();
  CFILE_RETURN_IF_ERROR(internal::FindParts(directory, parts, contents));
  if (parts.empty()) return absl::OkStatus();
  CFILE_RETURN_IF_ERROR(internal::RemoveParts(directory, parts, contents).status());
  return commit.Publish(contents);
}

absl::StatusOr<std::vector<RemovedGarbage>> CollectGarbage(const std::string& directory,
                                                           std::chrono::seconds older_than,
                                                           const ReaderOptions& options) {
  assert(older_than.count() >= 0);
  CFILE_ASSIGN_OR_RETURN(std::vector<Found> found, TakeGarbage(directory, older_than, options));
  std::vector<RemovedGarbage> removed;
  for (Found& item : found) {
    const std::string path = absl::StrCat(directory, "/", item.name_now);
    std::error_code error;
    fs::remove_all(path, error);
    if (error) return internal::SystemError("remove", path, error.value());
    removed.push_back(std::move(item.garbage));
  }
  return removed;
}

}  // namespace cfile
