// Writes the rows of one file as column chunks of a Parquet file.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/parquet_options.h"
#include "cfile/parts/parquet/chunk_writer.h"
#include "cfile/parts/parquet/shared_levels.h"
#include "cfile/reader.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// How the values of a file become values of Parquet.
struct ColumnToExport {
  ChunkColumn chunk;
  const RecordSchema* tree = nullptr;  // the schema of the Parquet file
  size_t leaf = 0;                     // the number of the column in `tree`
  bool same_pages = false;             // HasSamePages (parquet_type.h)
  int64_t units_per_value = 1;         // ParquetUnitsPerValue
  // True: strings have no encoding but PLAIN and codes. pyarrow reads dictionaries only from these.
  bool plain_or_codes = false;
  // The categories of a column of strings; null: none. The exporter begins each dictionary page
  // with these values, in this order. If the column has other values, too, keeps_categories()
  // returns false.
  std::shared_ptr<const encodings::Dictionary> categories;
};

// Thread-compatible. Memory: one block, one page, the dictionary, and the pages of a column chunk
// if a dictionary is made for it.
class FileExporter {
 public:
  // `column` and `options` must outlive the exporter. Errors: those of Reader.
  static absl::StatusOr<std::unique_ptr<FileExporter>> Create(const Reader& reader,
                                                              const ColumnToExport& column,
                                                              const ParquetExportOptions& options);
  virtual ~FileExporter() = default;

  // Writes the next rows, up to row `end` of the file, as a column chunk. Errors name the file and
  // the block. kDataLoss: a block is damaged. kInvalidArgument: a value does not fit Parquet's
  // type. kOutOfRange: a page would become too large. Precondition: the rows up to `end` were not
  // all written.
  virtual absl::StatusOr<WrittenChunk> WriteChunk(uint64_t end, CountingSink& out,
                                                  ParquetReport& report) = 0;

  // Returns false if one of the dictionary pages written so far does not have exactly the values of
  // ColumnToExport::categories in their order, or if a data page has values instead of codes.
  // Has no meaning if ColumnToExport::categories is null.
  virtual bool keeps_categories() const = 0;

  // The levels of the chunk that was written last, for CompareLevels.
  virtual const LevelCheck& levels() const = 0;

  // Parquet's split-block Bloom filter of all values of the file, as they are written; empty if
  // there is none. Valid as long as the exporter.
  virtual std::string_view bloom_filter() const = 0;
};

}  // namespace cfile::internal
