// Writes and opens the columns of parts, which may be packed into one file (cfile/packed_file.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/packed_file.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/storage.h"

namespace cfile::internal {

// Opens the file of a column, or its bytes in a packed file, without reading the directory of the
// packed file: table.cft says where the bytes are. If the packed file is cut, the source has fewer
// bytes than the column. Errors: those of Storage::Open.
absl::StatusOr<std::shared_ptr<const Source>> OpenColumnFile(const Storage& storage,
                                                             const TablePart& part, size_t column);

// Receives the files of a part's columns and keeps them in memory. Writes them as one packed file,
// or, if they have more than `max_size_bytes` bytes together, as one file each. The packed file is
// begun at once. So other programs see that a writer is at work at this place, and if no file can
// be made there, the writer learns it before there are rows. The packed file is given up when all
// columns have files of their own.
class PackedWriter {
 public:
  // `folder`: of the part. `storage` must outlive this object.
  PackedWriter(Storage& storage, std::string folder, size_t max_size_bytes)
      : storage_(storage), folder_(std::move(folder)), max_size_bytes_(max_size_bytes) {}

  // Begins the packed file. Called first. Errors: those of Storage::Create.
  absl::Status Begin();

  // Begins the file of the next column. This object must outlive the sink. Only calls of Append, on
  // different sinks, may run at the same time.
  std::unique_ptr<Sink> NewSink(const std::string& file_name);

  // Opens a column whose sink is finished. The source is valid until Finish.
  absl::StatusOr<std::shared_ptr<const Source>> Open(size_t column);

  // Writes what is still in memory, and sets in `part` where its columns are. All sinks must be
  // finished. Errors: those of Storage::Create and its sinks.
  absl::Status Finish(TablePart& part);

  size_t memory_usage_bytes() const { return kept_bytes_.load(std::memory_order_relaxed); }

 private:
  class ColumnSink;
  struct Column {
    std::string file_name;
    std::vector<uint8_t> bytes;       // empty after `file` was begun
    std::unique_ptr<Sink> file = {};  // null: the column is in memory
    bool finished = false;            // `file` is
  };

  std::string PathOf(const Column& column) const { return folder_ + "/" + column.file_name; }
  // Begins the column's own file, unless it was begun. kAborted: the part's folder is gone.
  absl::Status BeginFile(Column& column);
  // Begins all files, and then gives up the packed file: a killed writer leaves a temporary file
  // until all are complete, and the last file that is finished makes all durable.
  absl::Status BeginFiles();
  // Finishes the column's own file, unless it was finished.
  static absl::Status FinishFile(Column& column);

  Storage& storage_;
  const std::string folder_;
  const size_t max_size_bytes_;
  std::unique_ptr<Sink> packed_;        // the packed file; null after BeginFiles
  std::atomic<size_t> kept_bytes_ = 0;  // in memory
  std::atomic<bool> too_large_ = false;
  std::vector<std::unique_ptr<Column>> columns_;
};

}  // namespace cfile::internal
