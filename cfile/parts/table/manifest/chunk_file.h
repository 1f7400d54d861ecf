// Writes and reads the files of chunks, which describe older parts of a table, or name other chunks
// (cfile/FORMAT.md, Table).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/table/manifest/part_message.h"
#include "cfile/parts/table/manifest/table_contents.h"

namespace cfile::internal {

// A chunk whose file is not written yet.
struct NewChunk {
  ChunkInfo info;  // with the name of the file
  std::string bytes;
};

// Make a chunk with a new name, from `parts` or from `chunks`. A chunk that holds parts has height
// 0; one that names `chunks` is one higher than `chunks`. kOutOfRange: readers with the limit
// `max_size_bytes` would refuse the chunk. Preconditions: `parts` or `chunks` is not empty; all of
// `chunks` have the same height.
absl::StatusOr<NewChunk> MakeChunk(std::span<const TablePart> parts, const PartLayout& layout,
                                   size_t max_size_bytes);
absl::StatusOr<NewChunk> MakeChunk(std::span<const ChunkInfo> chunks, const PartLayout& layout,
                                   size_t max_size_bytes);

// What a chunk holds: parts if its height is 0, otherwise chunks.
struct ChunkEntries {
  std::vector<ChunkInfo> chunks;
  std::vector<TablePart> parts;
};

// Parses the bytes of a chunk's file. `path`: the path of this file, for messages. `expected`: what
// the file that names the chunk says about it. kDataLoss: the bytes are damaged, or belong to
// another chunk. kOutOfRange: the bytes exceed the limit.
absl::StatusOr<ChunkEntries> ParseChunk(std::string_view bytes, const ChunkInfo& expected,
                                        const PartLayout& layout, size_t max_size_bytes,
                                        const std::string& path);

}  // namespace cfile::internal
