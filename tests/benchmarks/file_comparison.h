// The parts of file_comparison: what each measures of a column and prints (measure.h).
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

// A file of a column: "default", or what the file is tuned for.
struct FileOptions {
  std::string name;
  WriterOptions options;
};

template <typename T>
struct Column {
  std::string name;
  ColumnType type;
  std::span<const T> values;
  size_t arrow_bytes = 0;  // of the values as Arrow has them: memcpy of so many is the limit
  std::vector<FileOptions> files;
};

// Keys that are asked for, one after the other in memory, so that what is found is measured and not
// the reading of the question.
struct Queries {
  std::string text;
  std::vector<std::string_view> keys;
};
// Random ones of `keys`.
Queries RandomQueries(std::span<const std::string_view> keys, size_t count);
std::vector<uint64_t> RandomOrdinals(size_t values, size_t count);

// Of every file of the column: the rate of writing it, its size, a scan from Open to its end,
// another scan of the open file, a take of 10,000 ordinals, and single ordinals. The files stay in
// `directory`.
template <typename T>
void MeasureFiles(const Column<T>& column, const std::string& directory);

// SeekToKey one by one, and SeekMany of 1,000 keys, in the files that MeasureFiles left.
void MeasureSeeks(const Column<std::string_view>& column, const Queries& queries,
                  const std::string& directory);

// What memory allows: memcpy of the column, reading an array at random ordinals.
template <typename T>
void MeasureMemory(const Column<T>& column);
// Binary search in a sorted array of views of keys that lie one after the other.
void MeasureSortedArray(const Column<std::string_view>& column, const Queries& queries);

// Writes, sizes, scans and seeks of the sorted stores of keys that this build found.
void MeasureKeyValueStores(const Column<std::string_view>& column, const Queries& queries,
                           const std::string& directory);

// How the costs of a file grow from 10^4 rows to `max_rows`; its lines of JSON are its own.
void MeasureScale(size_t max_rows, const std::string& directory);

// A file at `path` that is not synced: peers do not wait for the disk either.
std::unique_ptr<Sink> OpenUnsyncedFile(const std::string& path);

// Reads all batches.
template <typename T>
void Scan(const Reader& reader);

}  // namespace cfile::benchmarks
