// Writes and reads the files of chunks (cfile/FORMAT.md, Table).
// A chunk describes older parts of a table, or names other chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/internal/manifest/part_message.h"
#include "cfile/internal/manifest/table_contents.h"

namespace cfile::internal {

// A chunk whose file is not written yet.
struct NewChunk {
  ChunkInfo info;  // with the name of the file
  std::string bytes;
};

// Make a chunk with a new name from `parts` or from `chunks`. All of `chunks` must have the same
// height. The new chunk has height 0 if it holds parts, otherwise it is one higher than `chunks`.
// kOutOfRange: readers with the limit `max_size_bytes` would refuse the chunk.
// Precondition: `parts` or `chunks` is not empty.
absl::StatusOr<NewChunk> MakeChunk(std::span<const TablePart> parts, const PartLayout& layout,
                                   size_t max_size_bytes);
absl::StatusOr<NewChunk> MakeChunk(std::span<const ChunkInfo> chunks, const PartLayout& layout,
                                   size_t max_size_bytes);

// What a chunk holds: parts if its height is 0, otherwise chunks.
struct ChunkEntries {
  std::vector<ChunkInfo> chunks;
  std::vector<TablePart> parts;
};

// Parses the bytes of a chunk's file. `expected`: the description of the chunk in the file that
// names it. `path`: for messages. kDataLoss: the bytes are damaged, or belong to another chunk.
// kOutOfRange: the bytes exceed the limit.
absl::StatusOr<ChunkEntries> ParseChunk(std::string_view bytes, const ChunkInfo& expected,
                                        const PartLayout& layout, size_t max_size_bytes,
                                        const std::string& path);

}  // namespace cfile::internal
