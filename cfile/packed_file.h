// Packed files: all columns of a table's part in one file (cfile/FORMAT.md, Packed parts). Tables
// read and write such files themselves. These functions are for programs that look into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/export.h"

namespace cfile {

// The name of a packed file in the folder of its part.
inline constexpr std::string_view kPackedFileName = "columns.packed";

// The last bytes of a packed file.
inline constexpr std::string_view kPackedMagic = "cfilepk1";

struct PackedColumn {
  std::string file_name;    // the name that the column would have as a file of its own
  uint64_t offset = 0;      // of the column's CFile in the packed file
  uint64_t size_bytes = 0;  // of the column's CFile
};

// True if the last bytes of `source` can be read and are kPackedMagic.
CFILE_EXPORT bool IsPackedFile(const Source& source);

// Returns the columns of a packed file, in the order of their bytes. Reads only the end of the
// file. kDataLoss: the directory at the end is damaged, or this is no packed file.
CFILE_EXPORT absl::StatusOr<std::vector<PackedColumn>> ReadPackedDirectory(
    const Source& source, size_t max_metadata_size_bytes = kMaxMetadataSizeBytes);

// Returns a source with the `size_bytes` bytes of `source` from `offset` on, for example the CFile
// of a column. `name`: for errors. Precondition: offset + size_bytes <= source->size().
CFILE_EXPORT std::shared_ptr<const Source> NewSliceSource(std::shared_ptr<const Source> source,
                                                          uint64_t offset, uint64_t size_bytes,
                                                          std::string name);

}  // namespace cfile
