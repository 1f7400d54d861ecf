#include "tools/temporary_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"

namespace cfile::tools {

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create(const std::string& directory) {
  CFILE_ASSIGN_OR_RETURN(const std::string name, NewTemporaryFolderName());
  const std::string path = absl::StrCat(directory, "/", name);
  if (mkdir(path.c_str(), 0700) != 0) {
    const int error = errno;
    return absl::ErrnoToStatus(error, absl::StrCat("mkdir ", path));
  }
  return TemporaryFolder(path);
}

void TemporaryFolder::Remove::operator()(const std::filesystem::path* path) const {
  std::error_code ignored;
  std::filesystem::remove_all(*path, ignored);
  delete path;
}

}  // namespace cfile::tools
