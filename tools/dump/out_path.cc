#include "tools/dump/out_path.h"

#include <csignal>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/location.h"

namespace cfile::tools {

absl::Status CheckOutIsNotInput(const std::string& path, const std::string& out) {
  namespace fs = std::filesystem;
  bool same = false, inside = false;
  if (IsUrl(path) || IsUrl(out)) {
    same = out == path;
    inside = out.starts_with(path + "/");
  } else {
    std::error_code ignored;
    same = fs::equivalent(path, out, ignored);
    if (fs::is_directory(path, ignored)) {
      fs::path folder = fs::weakly_canonical(fs::absolute(out, ignored), ignored);
      while (!inside && folder.has_relative_path()) {
        folder = folder.parent_path();
        inside = fs::equivalent(path, folder, ignored);
      }
    }
  }
  if (!same && !inside) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      out, same ? " is the input, which would be lost" : " is inside the table that is read",
      ": choose another place for the output"));
}

void EndByClosedPipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace cfile::tools
