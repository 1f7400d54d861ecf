// Functions for the parts of a file that have their own checksum: their locations, and the
// correction of checksums after a change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "encodings/core/bytes.h"

namespace cfile::campaign {

// Returns the data blocks, index nodes, dictionary and statistics of an undamaged file.
inline std::vector<BlockPointer> BlocksOf(const Reader& reader) {
  std::vector<BlockPointer> blocks;
  const FileInfo& info = reader.info();
  if (info.statistics) blocks.push_back(*info.statistics);
  if (info.dictionary) blocks.push_back(*info.dictionary);
  // Both indexes point to the data blocks, so that only one index is used to find them.
  const IndexKind with_values =
      info.positional_index_root ? IndexKind::kPositional : IndexKind::kValue;
  for (const IndexKind kind : {IndexKind::kPositional, IndexKind::kValue}) {
    (void)VisitIndex(reader, kind, [&](const IndexNodeInfo& node) {
      blocks.push_back(node.pointer);
      for (const auto& entry : node.entries) {
        if (node.leaf && kind == with_values) blocks.push_back(entry.pointer);
      }
      return true;
    });
  }
  return blocks;
}

// Corrects the checksum of a block. The checksum is the last four bytes of the block and covers the
// bytes before them. Precondition: the block lies inside `file`.
inline void SignBlock(const BlockPointer& block, std::span<uint8_t> file) {
  const size_t size = block.size - internal::kChecksumBytes;
  encodings::StoreLittleEndian(internal::Crc32c(file.subspan(block.offset, size)),
                               file.data() + block.offset + size);
}

// Corrects the checksums of the parts and of the head of a movable block, if the stored sizes in
// its head fit `block`.
inline void SignMovableBlock(std::span<uint8_t> block) {
  constexpr size_t kFieldBytes = 52;
  if (block.size() < kFieldBytes) return;
  uint64_t payload_bytes = 0;
  for (const size_t stored_size : {28, 36, 44})
    payload_bytes += encodings::LoadLittleEndian<uint32_t>(block.data() + stored_size);
  const uint64_t parts = (payload_bytes + internal::kPartBytes - 1) / internal::kPartBytes;
  const uint64_t head = kFieldBytes + (parts + 1) * internal::kChecksumBytes;
  if (head > block.size()) return;
  const auto sign = [&](std::span<const uint8_t> bytes, size_t to) {
    encodings::StoreLittleEndian(internal::Crc32c(bytes), block.data() + to);
  };
  const auto payload = block.subspan(head);
  for (size_t part = 0; part < parts && part * internal::kPartBytes < payload.size(); ++part) {
    const auto bytes = payload.subspan(part * internal::kPartBytes);
    sign(bytes.first(std::min(bytes.size(), internal::kPartBytes)),
         kFieldBytes + part * internal::kChecksumBytes);
  }
  sign(block.first(head - internal::kChecksumBytes), head - internal::kChecksumBytes);
}

// Corrects the checksums of the header (magic, length, message, checksum) and the footer (checksum,
// message, magic, length). `file` may hold any bytes. A header or footer with an impossible length
// is skipped.
inline void SignMetadata(std::span<uint8_t> file) {
  using encodings::LoadLittleEndian;
  constexpr size_t kMagicBytes = 8;
  if (file.size() < 2 * (kMagicBytes + 8)) return;
  const size_t header =
      kMagicBytes + 4 + size_t{LoadLittleEndian<uint32_t>(file.data() + kMagicBytes)};
  if (header > file.size() - 4) return;
  encodings::StoreLittleEndian(internal::Crc32c(file.first(header)), file.data() + header);
  const size_t end = file.size() - kMagicBytes - 4;
  const size_t message = LoadLittleEndian<uint32_t>(file.data() + end + kMagicBytes);
  if (message > end - 4) return;
  const size_t begin = end - message;
  encodings::StoreLittleEndian(internal::Crc32c(file.subspan(begin)), file.data() + begin - 4);
}

}  // namespace cfile::campaign
