// What a scan of several columns reads: a table, or a file as a table with one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// Thread-safe.
class ScanSource {
 public:
  virtual ~ScanSource() = default;

  virtual const std::string& name() const = 0;  // for messages
  virtual const Schema& schema() const = 0;
  virtual uint64_t num_rows() const = 0;
  virtual size_t num_parts() const = 0;
  // The ordinal of the first row of a part. Precondition: part < num_parts().
  virtual uint64_t first_ordinal(size_t part) const = 0;
  uint64_t num_rows(size_t part) const {
    const uint64_t end = part + 1 < num_parts() ? first_ordinal(part + 1) : num_rows();
    return end - first_ordinal(part);
  }

  // What is known about the values of a part's column without opening its file.
  virtual BlockStatistics Bounds(size_t part, size_t column) const = 0;
  // Errors as TableReader::OpenColumn.
  virtual absl::StatusOr<Reader> OpenColumn(size_t part, size_t column) const = 0;
};

}  // namespace cfile::internal
