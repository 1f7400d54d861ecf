// A folder for temporary files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cfile::tools {

// The destructor removes the folder. If the process is killed, the folder stays.
// CollectGarbage (cfile/table_maintenance.h) recognises it in the directory of a table by its name,
// and removes it.
class TemporaryFolder {
 public:
  // Makes the folder in `directory`, which exists.
  static absl::StatusOr<TemporaryFolder> Create(const std::string& directory);

  // Returns the path of `name` in the folder.
  std::string Path(const std::string& name) const { return (*path_ / name).string(); }

 private:
  struct Remove {
    void operator()(const std::filesystem::path* path) const;
  };
  explicit TemporaryFolder(std::filesystem::path path)
      : path_(new std::filesystem::path(std::move(path))) {}

  std::unique_ptr<const std::filesystem::path, Remove> path_;
};

}  // namespace cfile::tools
