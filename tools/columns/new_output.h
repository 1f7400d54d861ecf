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

// A new table. A local table is written into a temporary directory next to its final place. The
// destructor, or Discard, removes this directory. A table at a URL is written to its final place,
// because it appears only when table.cft is written.
class NewTable {
 public:
  // kInvalidArgument: something is at `path`, and `force` is false; or `force` is true, and `path`
  // is a URL, or is not a table.
  static absl::StatusOr<NewTable> Create(const std::string& path, bool force);
  NewTable(NewTable&& other) noexcept;
  NewTable& operator=(NewTable&&) = delete;
  ~NewTable();

  // The place where the files of the table are written.
  const TableLocation& location() const { return location_; }
  // Returns `status`, the result of writing to `location`. If the message names the temporary
  // directory, the returned message names the final path instead.
  absl::Status WithFinalPath(const absl::Status& status) const;
  // Moves the complete table to its final path. With `force`, removes the table that was there.
  // Call this function once, as the last one.
  absl::Status Finish();
  // Removes the temporary directory with all files in it. Afterwards, only destroy the object.
  void Discard();

 private:
  NewTable(std::string path, std::string temporary, TableLocation location);

  std::string path_;
  std::string temporary_;  // empty: there is no temporary directory
  TableLocation location_;
};

}  // namespace cfile::tools
