// Parquet files of tests/golden/parquet-files, and the contents of the tables that are made of
// them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/parquet.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "gtest/gtest.h"

namespace cfile {

// The goldens have small pages. With these options no page counts as small, so pages are copied.
inline const WriterOptions kSmallBlocks{.block_size_bytes = 32};

// The path of a file, whose name is without its extension, and the names of all files that are not
// encrypted.
std::string GoldenPath(const std::string& name);
std::vector<std::string> GoldenNames();

// A source with the name "x.parquet".
std::shared_ptr<const Source> InMemory(const std::string& bytes);

// A table or a file as a Parquet file, the table of a Parquet file, and its metadata. They EXPECT
// that nothing fails.
template <typename TableOrFile>
std::vector<uint8_t> ParquetOf(const TableOrFile& from, const ParquetExportOptions& options = {}) {
  std::vector<uint8_t> parquet;
  const auto report = ExportParquet(from, NewMemorySink(&parquet), options);
  EXPECT_TRUE(report.ok()) << report.status();
  return parquet;
}
std::shared_ptr<Storage> Imported(const std::vector<uint8_t>& parquet,
                                  const ParquetImportOptions& options = {});
internal::parquet::ParquetMetadata FooterOf(std::span<const uint8_t> parquet);

// The entries of all columns by name: for each entry its levels and the bytes of its value. EXPECTs
// that the table has no damage.
std::map<std::string, std::vector<std::string>> Contents(const TableLocation& location);

}  // namespace cfile
