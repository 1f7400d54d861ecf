// Scans a Parquet column with Arrow C++ without creating Arrow arrays, which is Arrow's fastest
// way. Prints the speed of the scan in the format of file_comparison.
//
//   arrow_scan DATA WHO FILE.parquet
//
// FILE.parquet has one required column of int64 or double. DATA and WHO are printed with the speed.
#include <arrow/io/file.h>
#include <parquet/api/reader.h>

#include <memory>
#include <utility>
#include <vector>

#include "measure.h"

namespace cfile::benchmarks {
namespace {

template <typename ColumnReader, typename T>
void ScanColumn(parquet::ParquetFileReader& file) {
  constexpr int64_t kBatchRows = 65536;
  static std::vector<T> values(kBatchRows);
  int64_t count = 0;
  for (int group = 0; group < file.metadata()->num_row_groups(); ++group) {
    const auto column = file.RowGroup(group)->Column(0);
    auto& reader = static_cast<ColumnReader&>(*column);
    while (reader.HasNext()) {
      int64_t read = 0;
      reader.ReadBatch(kBatchRows, nullptr, nullptr, values.data(), &read);
      Keep(values.data());
      count += read;
    }
  }
  Check(count == file.metadata()->num_rows(), "Arrow has all values");
}

void Scan(const std::string& path) {
  auto mapped = arrow::io::MemoryMappedFile::Open(path, arrow::io::FileMode::READ);
  Check(mapped.ok(), "cannot map " + path);
  const auto file = parquet::ParquetFileReader::Open(*std::move(mapped));
  if (file->metadata()->schema()->Column(0)->physical_type() == parquet::Type::INT64) {
    ScanColumn<parquet::Int64Reader, int64_t>(*file);
  } else {
    ScanColumn<parquet::DoubleReader, double>(*file);
  }
}

}  // namespace
}  // namespace cfile::benchmarks

int main(int argc, char** argv) {
  using namespace cfile::benchmarks;
  Check(argc == 4, "usage: arrow_scan DATA WHO FILE.parquet");
  const std::string path = argv[3];
  const auto rows = parquet::ParquetFileReader::OpenFile(path)->metadata()->num_rows();
  PrintRate(argv[1], "scan", argv[2], static_cast<size_t>(rows),
            MedianSeconds([&] { Scan(path); }));
  return 0;
}
