// Writes and reads the files of chunks (cfile/FORMAT.md, Table).
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

// Makes a chunk of the next greater height, with a new name. The chunks have one height.
// kOutOfRange: readers with the limit `max_size_bytes` would refuse the chunk. Precondition: there
// are parts or chunks.
absl::StatusOr<NewChunk> MakeChunk(std::span<const TablePart> parts, const PartLayout& layout,
                                   size_t max_size_bytes);
absl::StatusOr<NewChunk> MakeChunk(std::span<const ChunkInfo> chunks, const PartLayout& layout,
                                   size_t max_size_bytes);

// What a chunk holds: parts if its height is 0, otherwise chunks.
struct ChunkEntries {
  std::vector<ChunkInfo> chunks;
  std::vector<TablePart> parts;
};

// Parses the bytes of a chunk's file. `expected`: what is known of the chunk. `path`: for messages.
// kDataLoss: the bytes are damaged, or are not the chunk; kOutOfRange: they exceed the limit.
absl::StatusOr<ChunkEntries> ParseChunk(std::string_view bytes, const ChunkInfo& expected,
                                        const PartLayout& layout, size_t max_size_bytes,
                                        const std::string& path);

}  // namespace cfile::internal
