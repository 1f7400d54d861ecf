// A table that a command writes. It appears when it is complete.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/storage.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// Gives a writer the limits that the user has chosen for reading.
void SetWriterLimits(const CommonOptions& common, WriterOptions& options);

// A directory beside the place of a new local table. The destructor removes the directory.
// A table at a URL needs no such directory: it appears when table.cft is written.
class NewTable {
 public:
  // kInvalidArgument: something is at `path`, and `force` is false; or `force` is true, and `path`
  // is a URL, or is not a table.
  static absl::StatusOr<NewTable> Create(const std::string& path, bool force);
  NewTable(NewTable&& other) noexcept;
  NewTable& operator=(NewTable&&) = delete;
  ~NewTable();

  // The place to write to.
  const TableLocation& location() const { return location_; }
  // `status`, an error of writing to `location`, with the path of the table instead of that of the
  // directory.
  absl::Status WithFinalPath(const absl::Status& status) const;
  // Gives the complete table its name. With `force`, removes the table that had this name. Called
  // once, last.
  absl::Status Finish();

 private:
  NewTable(std::string path, std::string temporary, TableLocation location);

  std::string path_;
  std::string temporary_;  // empty: there is no temporary directory
  TableLocation location_;
};

}  // namespace cfile::tools
