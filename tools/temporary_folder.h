// A folder for temporary files.
#pragma once

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"

namespace cfile::tools {

// The destructor removes the folder. If the process is killed, CollectGarbage
// (cfile/table_maintenance.h) recognises the folder in the directory of a table by its name, and
// removes it.
class TemporaryFolder {
 public:
  // Makes the folder in `directory`, which exists.
  static absl::StatusOr<TemporaryFolder> Create(const std::string& directory) {
    CFILE_ASSIGN_OR_RETURN(const std::string name, NewTemporaryFolderName());
    const std::string path = absl::StrCat(directory, "/", name);
    if (mkdir(path.c_str(), 0700) != 0) {
      const int error = errno;
      return absl::ErrnoToStatus(error, absl::StrCat("mkdir ", path));
    }
    return TemporaryFolder(path);
  }

  std::string Path(const std::string& name) const { return (*path_ / name).string(); }

 private:
  struct Remove {
    void operator()(const std::filesystem::path* path) const {
      std::error_code ignored;
      std::filesystem::remove_all(*path, ignored);
      delete path;
    }
  };
  explicit TemporaryFolder(std::filesystem::path path)
      : path_(new std::filesystem::path(std::move(path))) {}

  std::unique_ptr<const std::filesystem::path, Remove> path_;
};

}  // namespace cfile::tools
