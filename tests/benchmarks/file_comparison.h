// The parts of file_comparison. Each part measures some work and prints figures (measure.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/types.h"
#include "or_die.h"

namespace cfile::benchmarks {

// The options of one file of a column. `name` is "default", or the purpose of the options.
struct FileOptions {
  std::string name;
  WriterOptions options;
};

template <typename T>
struct Column {
  std::string name;
  ColumnType type;
  std::span<const T> values;
  size_t arrow_bytes = 0;  // size in Arrow's layout; memcpy of this size is the limit
  std::vector<FileOptions> files;
};

// Keys to search for. They are in memory in the order of their use, so that loading them takes no
// measurable time.
struct Queries {
  std::string text;
  std::vector<std::string_view> keys;
};
// Returns random elements of `keys`, or random ordinals of a column.
Queries RandomQueries(std::span<const std::string_view> keys, size_t count);
std::vector<uint64_t> RandomOrdinals(size_t values, size_t count);

// Measures each file of the column: the speed of writing, the size, a scan that includes Open, a
// second scan of the open file, a Take of 10,000 ordinals, and single ordinals. The files stay in
// `directory`.
template <typename T>
void MeasureFiles(const Column<T>& column, const std::string& directory);

// Measures SeekToKey of single keys, and SeekMany of 1,000 keys. Uses the files that MeasureFiles
// wrote.
void MeasureSeeks(const Column<std::string_view>& column, const Queries& queries,
                  const std::string& directory);

// Measures work in memory whose figures are limits for the figures of files: memcpy of the column,
// and reads of an array at random ordinals.
template <typename T>
void MeasureMemory(const Column<T>& column);
// Measures binary search in a sorted array of views. The bytes of the keys are adjacent in memory.
void MeasureSortedArray(const Column<std::string_view>& column, const Queries& queries);

// Measures `count` numbers of 11 bits in blocks of FOR: the decoder in the cache of the processor,
// takes and filters of a table in memory, also with a tenth of nulls.
void MeasureCodes(size_t count);

// Measures SeekToKey in the default file of `count` URLs, with a cache of 16 MiB.
void MeasureManyUrls(size_t count, size_t searches, const std::string& directory);

// Measures writes, sizes, scans and seeks of the available sorted key stores.
void MeasureKeyValueStores(const Column<std::string_view>& column, const Queries& queries,
                           const std::string& directory);

// Measures how the costs of a file grow from 10^4 to `max_rows` rows. Prints lines of JSON whose
// fields differ from those of PrintFigure.
void MeasureScale(size_t max_rows, const std::string& directory);

// Returns a sink for a file at `path`. Finish does not sync the file, because the alternatives do
// not wait for the disk either.
std::unique_ptr<Sink> OpenUnsyncedFile(const std::string& path);

// Reads all batches of a file.
template <typename T>
void Scan(const Reader& reader);

}  // namespace cfile::benchmarks
