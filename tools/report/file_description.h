// Describes one file for the page of `cfile-dump report`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/reader.h"
#include "tools/dump/totals.h"

namespace cfile::tools {

// How much one file may add to the page.
struct PageShare {
  // The most regions that are described one by one, and the most entries of each index.
  size_t regions = 0;
  size_t values_per_block = 0;  // how many of the first values of each data block are shown
  size_t value_bytes = 0;       // the most bytes that the texts of all these values have
};

struct FileDescription {
  // {"size", "rows", "facts": [[name, text], ...], "regions": [...], "positional_index",
  // "value_index"}. An index that the file does not have is null.
  //
  // A region: {"kind", "offset", "size"}. A data block also has "index", "rows", "entries",
  // "nulls", "encoding", "compressed", "encoded", "minimum", "maximum", "low", "high" and
  // "values", as far as they are known. If a block cannot be read, "rows" comes from the
  // positional index. "low" and "high" say where the bounds of the block lie between the bounds of
  // the file, from 0 to 1. A node has "depth". Blocks and nodes have "first_row". The regions
  // beyond the share are one region of the kind "more". Its "count" is the number of these regions.
  //
  // An index: {"nodes": [{"depth", "leaf", "offset", "size", "entries": [[key, offset], ...]}],
  // "complete"}. A parent comes before its children.
  Json json;

  BlockTotals totals;
};

// Reads all data blocks. Leaves out what cannot be read; Verify (cfile/inspect.h) says what is
// wrong with the file. `progress` is called with the size of each data block; its error is
// returned.
absl::StatusOr<FileDescription> DescribeFile(
    const Reader& reader, const PageShare& share,
    const std::function<absl::Status(uint64_t bytes)>& progress);

}  // namespace cfile::tools
