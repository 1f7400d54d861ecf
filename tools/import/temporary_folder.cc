#include "tools/import/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "cfile/table_maintenance.h"

namespace cfile::tools {

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create(const std::string& directory) {
  // mkdtemp replaces the six letters X by a unique text.
  std::string path =
      absl::StrCat(directory, "/", std::string(kTemporaryFolderPrefix), std::string(6, 'X'));
  if (mkdtemp(path.data()) == nullptr) {
    const int error = errno;
    return absl::ErrnoToStatus(error, absl::StrCat("mkdtemp ", path));
  }
  return TemporaryFolder(path);
}

void TemporaryFolder::Remove::operator()(const std::filesystem::path* path) const {
  std::error_code ignored;
  std::filesystem::remove_all(*path, ignored);
  delete path;
}

}  // namespace cfile::tools
