// What the summaries of a file and of a table share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/dump/dump.h"

namespace cfile::tools {

// What the data blocks of one or more files add up to. After an error: as far as they could be
// read.
struct BlockTotals {
  uint64_t blocks = 0;
  uint64_t nulls = 0;
  uint64_t entries = 0;  // of a file with levels
  uint64_t stored_bytes = 0;
  uint64_t encoded_bytes = 0;
  std::vector<EncodingTotals> encodings;  // of the blocks, by encoding
  absl::Status status;                    // the first error

  void Add(const Reader& reader);
  std::vector<std::string> EncodingNames() const;
  uint64_t compressed_blocks() const;

 private:
  void AddBlock(Encoding encoding, uint64_t stored, uint64_t encoded, bool compressed);
};

struct TreeTotals {
  uint64_t levels = 0;
  uint64_t nodes = 0;
  uint64_t bytes = 0;
  absl::Status status;
};

TreeTotals MeasureTree(const Reader& reader, IndexKind kind);

// Adds `name` if it is not there.
void AddName(const std::string& name, std::vector<std::string>& names);

// Of `bytes` that hold `values`; 0 if there are none.
double BitsPerValue(uint64_t bytes, uint64_t values);
// Two digits behind the point are enough for JSON.
double Rounded(double value);

ExitCode SummarizeFile(const CommonOptions& common, const Reader& reader, Output& output);
ExitCode SummarizeTable(const CommonOptions& common, const TableReader& table, Output& output);

}  // namespace cfile::tools
