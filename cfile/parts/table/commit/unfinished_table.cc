#include "cfile/parts/table/commit/unfinished_table.h"

#include <map>
#include <string>

#include "cfile/core/io/file_system.h"
#include "cfile/parts/table/commit/part_copy.h"
#include "cfile/parts/table/manifest/table_file.h"

namespace cfile::internal {

bool IsUnfinishedTable(std::span<const StorageEntry> files) {
  struct Part {
    bool has_complete_files = false;
    bool has_temporary_files = false;  // of columns
  };
  std::map<std::string, Part> parts;
  bool any = false;
  for (const StorageEntry& file : files) {
    if (!IsTablePath(file.path)) continue;
    const size_t slash = file.path.find('/');
    if (slash == file.path.npos) return false;
    any = true;
    const std::string folder = file.path.substr(0, slash);
    const std::string name = file.path.substr(slash + 1);
    if (!IsPartName(folder)) continue;
    // Earlier versions, which numbered the parts, wrote no copies of the parts' descriptions.
    if (!IsUniquePartName(folder) || ParsePartCopyName(name) || ParseDroppedMarkName(name)) {
      return false;
    }
    Part& part = parts[folder];
    if (const std::string_view final_name = FinalNameOf(name); !final_name.empty()) {
      part.has_temporary_files = part.has_temporary_files || IsColumnFileName(final_name);
    } else {
      part.has_complete_files = part.has_complete_files || !name.empty();
    }
  }
  for (const auto& [folder, part] : parts) {
    if (part.has_complete_files && !part.has_temporary_files) return false;
  }
  return any;
}

}  // namespace cfile::internal
