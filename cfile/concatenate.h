// Joins several files into one, and copies blocks instead of decoding them where this is possible.
// Errors of all calls: cfile/CONCEPTS.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "encodings/core/export.h"

namespace cfile {

struct ConcatenateReport {
  ColumnTotals totals;         // the totals of the new file
  uint64_t copied_blocks = 0;  // data blocks of the new file that are copies
  uint64_t copied_bytes = 0;   // stored bytes of the copied blocks
};

// Writes the rows of `files`, one file after the other, into a new file. The new file is nullable
// if at least one of `files` is nullable; options.nullable is ignored. The footer of the new file
// gets the metadata from the footer of the first file, except keys that begin with "cfile.".
//
// A block is copied without decoding its values if the conditions of Compact
// (cfile/table_maintenance.h) are true, and if its file is nullable exactly if the new file is
// nullable. If options.movable_blocks is false, no block is copied. All other values are encoded
// again.
//
// `progress`: called with the number of rows that were written since the last call. If `progress`
// returns an error, Concatenate stops and returns this error. `progress` may be null.
//
// Memory: as much as a Writer and a Cursor use, and one block. Precondition: `files` is not empty.
// kInvalidArgument: the files have different types or levels, or the new file has a value index and
// the rows are not in ascending order.
CFILE_EXPORT absl::StatusOr<ConcatenateReport> Concatenate(
    std::span<const Reader> files, std::unique_ptr<Sink> sink, const WriterOptions& options = {},
    const std::function<absl::Status(uint64_t rows)>& progress = nullptr);

}  // namespace cfile
