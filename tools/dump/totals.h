// Totals of data blocks, indexes and bounds, for summaries, reports and comparisons.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/file_info.h"
#include "cfile/statistics.h"
#include "tools/document.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// Totals of the data blocks of one or more files. After an error, only the blocks that could be
// read are counted.
struct BlockTotals {
  uint64_t blocks = 0;
  uint64_t nulls = 0;
  uint64_t entries = 0;  // counted only for files with levels
  uint64_t stored_bytes = 0;
  uint64_t encoded_bytes = 0;
  // The size of the values in memory, without nulls: the bytes of strings, and for other types the
  // width of the type.
  uint64_t decoded_bytes = 0;
  std::vector<EncodingTotals> encodings;  // one entry per encoding
  absl::Status status;                    // the first error

  // Adds the data blocks of a file. Reads all values if these are strings without a fixed length.
  // `visit`: see VisitBlocks; nothing more is added after it has returned false.
  void Add(const Reader& reader, const std::function<bool(const BlockInfo&)>& visit = nullptr);
  void Add(const BlockTotals& other);
  std::vector<std::string> EncodingNames() const;
  uint64_t compressed_blocks() const;
  // True if Add reads the data blocks of the file twice: the second time for the sizes of strings.
  static bool ReadsTwice(const Reader& reader);

 private:
  bool AddBlocks(const Reader& reader, const std::function<bool(const BlockInfo&)>& visit);
  void AddBlock(Encoding encoding, uint64_t stored, uint64_t encoded, bool compressed);
};

// Totals of an index. After an error, only the nodes that could be read are counted.
struct TreeTotals {
  uint64_t levels = 0;
  uint64_t nodes = 0;
  uint64_t entries = 0;
  uint64_t bytes = 0;
  absl::Status status;  // the first error
};

TreeTotals MeasureTree(const Reader& reader, IndexKind kind);

// The bounds of all values of a column, from the statistics of its files.
struct ColumnBounds {
  BlockStatistics merged;  // the counts and bounds of all files that were added
  bool complete = true;    // false if a file has no statistics

  void Add(const Reader& reader);

 private:
  bool empty_ = true;  // no file with a value other than null and NaN was added
};

// The totals of `encoding` in `list`, which gets some that are 0 if it has none.
EncodingTotals& TotalsOf(Encoding encoding, std::vector<EncodingTotals>& list);

void AddTo(std::vector<EncodingTotals>& sums, const std::vector<EncodingTotals>& added);

// The total size of all files of a table; 0 if the size is not known.
uint64_t BytesOf(const TableReader& table);

// Appends `name` to `names` unless it is there already.
void AddName(const std::string& name, std::vector<std::string>& names);

// Bits per value if `values` values take `bytes` bytes; 0 if there are no values.
double BitsPerValue(uint64_t bytes, uint64_t values);
// `value`, which is not negative, rounded to two digits after the point, for JSON.
double Rounded(double value);

// Adds what is known about a file as a whole. Returns the first error of the blocks, the indexes
// and the statistics; what could not be read for it is left out or marked.
absl::Status AddFileFacts(const Reader& reader, const BlockTotals& blocks, Record& facts);

// The names of feature bits that readers may ignore. The name of any other bit is `unknown` and its
// number.
std::vector<std::string> CompatibleFeatureNames(uint32_t features, std::string_view unknown);

}  // namespace cfile::tools
