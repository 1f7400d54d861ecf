#include "cfile/parts/table/manifest/chunk_file.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "cfile/parts/table/manifest/part_bounds.h"
#include "cfile/parts/table/manifest/sealed_message.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;

constexpr std::string_view kChunkMagic = "cfilech1";

void Serialize(std::span<const TablePart> parts, const PartLayout& layout,
               wire::ChunkContents& message) {
  message.parts.reserve(parts.size());
  for (const TablePart& part : parts) SerializePart(part, layout, message.parts.emplace_back());
}

void Serialize(std::span<const ChunkInfo> chunks, const PartLayout& layout,
               wire::ChunkContents& message) {
  for (const ChunkInfo& chunk : chunks)
    SerializeChunkInfo(chunk, layout, message.chunks.emplace_back());
}

uint32_t HeightAbove(std::span<const TablePart>) { return 0; }
uint32_t HeightAbove(std::span<const ChunkInfo> chunks) { return chunks[0].height + 1; }

template <typename T>
absl::StatusOr<NewChunk> MakeChunkOf(std::span<const T> entries, const PartLayout& layout,
                                     size_t max_size_bytes) {
  CFILE_ASSERT(!entries.empty());
  wire::ChunkContents message;
  Serialize(entries, layout, message);
  NewChunk chunk;
  chunk.bytes = SealMessage(kChunkMagic, wire::Serialize(message));
  if (chunk.bytes.size() > max_size_bytes) {
    return encodings::OutOfRange("a chunk of ", chunk.bytes.size(), " bytes is ",
                                 encodings::AboveLimit(max_size_bytes, "max_metadata_size_bytes"));
  }
  CFILE_RETURN_IF_ERROR(
      wire::CheckParsedSize(MessageIn(chunk.bytes), max_size_bytes, wire::ChunkContents::kType));
  CFILE_ASSIGN_OR_RETURN(chunk.info.file_name, NewChunkName());
  chunk.info.size_bytes = chunk.bytes.size();
  chunk.info.crc32c = Crc32cIn(chunk.bytes);
  chunk.info.height = HeightAbove(entries);
  if (!Summarize(entries, layout.columns(), chunk.info)) {
    return absl::OutOfRangeError("a table has at most 2^62 rows and 2^32 parts");
  }
  return chunk;
}

absl::StatusOr<ChunkEntries> ParseEntries(std::string_view bytes, const ChunkInfo& expected,
                                          const PartLayout& layout, size_t max_size_bytes) {
  wire::ChunkContents message;
  CFILE_RETURN_IF_ERROR(wire::ParseMessage(bytes, max_size_bytes, message));
  const bool has_parts = expected.height == 0;
  if (has_parts ? !message.chunks.empty() : !message.parts.empty()) {
    return DataLoss("at height ", expected.height, ", only ", has_parts ? "parts" : "chunks",
                    " expected, found ", has_parts ? "chunks" : "parts");
  }
  ChunkEntries entries;
  for (const wire::Part& part : message.parts) {
    CFILE_ASSIGN_OR_RETURN(entries.parts.emplace_back(), ParsePart(part, layout));
  }
  for (const wire::Chunk& chunk : message.chunks) {
    CFILE_ASSIGN_OR_RETURN(ChunkInfo info, ParseChunkInfo(chunk, layout));
    if (info.height + 1 != expected.height) {
      return DataLoss("chunk ", info.file_name, ": height ", expected.height - 1,
                      " expected, found ", info.height);
    }
    entries.chunks.push_back(std::move(info));
  }
  ChunkInfo totals;
  const bool fits = AddTotals(entries.parts, totals) && AddTotals(entries.chunks, totals);
  if (!fits || totals.num_parts != expected.num_parts || totals.num_rows != expected.num_rows) {
    return DataLoss(expected.num_parts, " parts with ", expected.num_rows,
                    " rows expected by the file that names the chunk, found ", totals.num_parts,
                    " parts with ", totals.num_rows, " rows");
  }
  return entries;
}

}  // namespace

absl::StatusOr<NewChunk> MakeChunk(std::span<const TablePart> parts, const PartLayout& layout,
                                   size_t max_size_bytes) {
  return MakeChunkOf(parts, layout, max_size_bytes);
}

absl::StatusOr<NewChunk> MakeChunk(std::span<const ChunkInfo> chunks, const PartLayout& layout,
                                   size_t max_size_bytes) {
  return MakeChunkOf(chunks, layout, max_size_bytes);
}

absl::StatusOr<ChunkEntries> ParseChunk(std::string_view bytes, const ChunkInfo& expected,
                                        const PartLayout& layout, size_t max_size_bytes,
                                        const std::string& path) {
  if (bytes.size() != expected.size_bytes) {
    return DataLoss(path, ": ", expected.size_bytes,
                    " bytes expected by the file that names the chunk, found ", bytes.size());
  }
  CFILE_ASSIGN_OR_RETURN(const SealedMessage sealed,
                         UnsealMessage(bytes, {&kChunkMagic, 1}, "the file of a chunk", path));
  if (sealed.crc32c != expected.crc32c) {
    return DataLoss(path, ": at offset ", bytes.size() - sizeof(uint32_t),
                    ": checksum mismatch: the file that names the chunk expects 0x",
                    absl::Hex(expected.crc32c, absl::kZeroPad8), ", found 0x",
                    absl::Hex(sealed.crc32c, absl::kZeroPad8));
  }
  return Named(ParseEntries(sealed.message, expected, layout, max_size_bytes), path);
}

}  // namespace cfile::internal
