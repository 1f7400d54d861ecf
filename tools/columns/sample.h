// A sample of a column in memory, with which encodings and codecs are tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "cfile/options.h"
#include "tools/columns/stored_column.h"

namespace cfile::tools {

// What one choice of WriterOptions does to a sample.
struct Trial {
  // The size of a file that has only the rows of the sample: blocks, indexes, statistics, header
  // and footer.
  uint64_t file_bytes = 0;
  ColumnTotals totals;
  double encode_seconds = 0;  // to write this file into memory
  double decode_seconds = 0;  // to read all its values from memory
};

class Sample {
 public:
  virtual ~Sample() = default;

  // Writes the sample into memory and reads it again. Short work is repeated, at most twice, and
  // the shortest time counts. Uses one thread. Memory: the size of the new file. Errors: those of
  // Writer::Create and Append; kInternal if the file has other values than the sample.
  virtual absl::StatusOr<Trial> Try(const WriterOptions& options) const = 0;

  // The rows of the column that the sample has, in ascending order, without overlap.
  std::vector<OrdinalRange> ranges;
  uint64_t num_rows = 0;
  uint64_t num_entries = 0;  // rows, or entries of a column with levels
  uint64_t num_present = 0;  // entries that hold a value
  // The bytes of the values as a reader returns them: a string counts as its bytes plus 16 bytes
  // for its view. Nulls count as values, except in a column with levels.
  uint64_t decoded_bytes = 0;
};

// Reads a sample of about `max_bytes` decoded bytes, or all rows if the column is smaller. The
// sample has up to 16 ranges of rows, spread evenly over the column. Each range begins with the
// first row of a block. If a file has no positional index, the sample has only the first rows.
// Memory: about twice the size of the sample. Errors: those of Reader::Split and Cursor::Next.
absl::StatusOr<std::unique_ptr<Sample>> TakeSample(const StoredColumn& column, size_t max_bytes);

}  // namespace cfile::tools
