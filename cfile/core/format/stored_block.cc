#include "cfile/core/format/stored_block.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "cfile/core/format/compression.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/core/io/named_status.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::ByteReader;

}  // namespace

BlockFormat BlockFormatOf(const FileInfo& info) {
  return {.compression = info.compression,
          .checksums = info.has_checksums(),
          .compresses_all = PolicyOf(info.version).compresses_all};
}

BlockFormat DataBlockFormatOf(const FileInfo& info) {
  BlockFormat format = BlockFormatOf(info);
  format.movable = info.has_movable_blocks();
  return format;
}

namespace {

// Reads the stored bytes of the block at `pointer`. See FetchBlock. `memory`: the bytes of the
// source; empty if the source must be asked.
absl::StatusOr<std::span<const uint8_t>> ReadStored(const Source& source,
                                                    std::span<const uint8_t> memory,
                                                    const BlockPointer& pointer, bool movable,
                                                    size_t max_block_size_bytes,
                                                    BlockBuffer& buffer) {
  // A valid block has less than twice the limit, even if the codec has made it larger. Do not read
  // others.
  if (pointer.size / 2 > max_block_size_bytes) {
    return OutOfRange("the block has ", pointer.size, " bytes, the limit is ", max_block_size_bytes,
                      ": raise max_block_size_bytes");
  }
  if (!memory.empty()) {
    const auto stored = memory.subspan(pointer.offset, pointer.size);
    // Decoders begin at the front, and many also read the end, so fetch both from memory at the
    // same time. The front of a movable block is its head and the bytes after the head.
    __builtin_prefetch(stored.data());
    if (movable)
      __builtin_prefetch(stored.data() + std::min(HeadBytesOf(stored.size()), stored.size()));
    for (size_t back = 64; back <= 256 && back <= stored.size(); back += 64) {
      __builtin_prefetch(stored.data() + stored.size() - back);
    }
    return stored;
  }
  if (!buffer.Holds(pointer)) {
    buffer.stored.Clear();
    uint8_t* bytes = buffer.stored.Extend(pointer.size);
    absl::Status status = source.ReadAt(pointer.offset, {bytes, pointer.size});
    if (!status.ok()) buffer.stored.Clear();
    CFILE_RETURN_IF_ERROR(status);
    buffer.stored_offset = pointer.offset;
  }
  return buffer.stored.span().subspan(pointer.offset - buffer.stored_offset, pointer.size);
}

// Reads the head of the movable block `stored`, and checks that it fits the block and the file.
absl::Status ReadHead(std::span<const uint8_t> stored, Compression of_file, bool verify,
                      size_t max_block_size_bytes, BlockHead& head) {
  if (verify) CFILE_RETURN_IF_ERROR(CheckHead(stored));
  CFILE_RETURN_IF_ERROR(ReadBlockHead(stored, /*verify=*/false, head));
  if (head.stored_bytes() != stored.size()) {
    return DataLoss("the head describes a block of ", head.stored_bytes(), " bytes, found ",
                    stored.size());
  }
  if (head.compressed() && of_file == Compression::kNone) {
    return DataLoss("the block is compressed with ", CompressionName(head.compression),
                    ", but the footer names no codec");
  }
  for (const BlockHead::Section& section : head.sections) {
    if (section.compressed()) {
      CFILE_RETURN_IF_ERROR(
          CheckUncompressedSize(head.compression, section.stored_size, section.size));
    }
  }
  if (head.unpacked_bytes() > max_block_size_bytes) {
    return OutOfRange("the block's ", head.unpacked_bytes(), " uncompressed bytes are ",
                      AboveLimit(max_block_size_bytes, "max_block_size_bytes"));
  }
  return absl::OkStatus();
}

// Does the work of FetchBlock for the movable block `stored`.
// `in_source`: true if the bytes are in the source's memory.
absl::StatusOr<FetchedBlock> UnpackMovable(std::span<const uint8_t> stored, bool in_source,
                                           Compression of_file, bool verify,
                                           size_t max_block_size_bytes, BlockBuffer& buffer) {
  BlockHead& head = buffer.head;
  CFILE_RETURN_IF_ERROR(ReadHead(stored, of_file, verify, max_block_size_bytes, head));
  if (verify) CFILE_RETURN_IF_ERROR(CheckParts(head, stored));
  FetchedBlock block{.bytes = stored,
                     .compressed = head.compressed(),
                     .in_source = in_source && !head.compressed(),
                     .stored_size_bytes = static_cast<uint32_t>(stored.size()),
                     .head = &head};
  if (!block.compressed) return block;
  buffer.uncompressed.Clear();
  buffer.uncompressed.Reserve(head.size_bytes() + head.unpacked_bytes());
  buffer.uncompressed.PutBytes(stored.first(head.size_bytes()));
  auto payload = stored.subspan(head.size_bytes());
  for (const BlockHead::Section& section : head.sections) {
    const auto bytes = payload.first(section.stored_size);
    payload = payload.subspan(section.stored_size);
    if (section.compressed()) {
      uint8_t* out = buffer.uncompressed.Extend(section.size);
      CFILE_RETURN_IF_ERROR(Uncompress(head.compression, bytes, {out, section.size}));
    } else {
      buffer.uncompressed.PutBytes(bytes);
    }
  }
  block.bytes = buffer.uncompressed.span();
  return block;
}

// Returns fetch(source.InMemory()). If the block is damaged and the source may have other bytes,
// returns fetch({}), which asks the source.
template <typename Fetch>
auto FetchAgainIfDamaged(const Source& source, const BlockPointer& pointer, BlockBuffer& buffer,
                         const Fetch& fetch) {
  auto block = fetch(source.InMemory());
  if (!absl::IsDataLoss(block.status()) || !source.Forget(pointer.offset, pointer.size))
    return block;
  buffer.stored.Clear();
  return fetch(std::span<const uint8_t>());
}

absl::StatusOr<FetchedBlock> FetchOnce(const Source& source, std::span<const uint8_t> memory,
                                       const BlockFormat& format, const BlockPointer& pointer,
                                       bool verify, size_t max_block_size_bytes,
                                       BlockBuffer& buffer) {
  CFILE_ASSIGN_OR_RETURN(auto stored, ReadStored(source, memory, pointer, format.movable,
                                                 max_block_size_bytes, buffer));
  const bool in_source = !memory.empty();
  if (format.movable) {
    return UnpackMovable(stored, in_source, format.compression, verify, max_block_size_bytes,
                         buffer);
  }
  if (format.checksums) {
    if (stored.size() < kChecksumBytes) {
      return DataLoss("expected at least the ", kChecksumBytes,
                      " bytes of a checksum, found a block of ", stored.size());
    }
    const auto checksum = stored.last(kChecksumBytes);
    stored = stored.first(stored.size() - kChecksumBytes);
    if (verify) {
      const auto expected = encodings::LoadLittleEndian<uint32_t>(checksum.data());
      const uint32_t found = Crc32c(stored);
      if (expected != found) return WrongChecksum(expected, found);
    }
  }
  FetchedBlock block{.bytes = stored,
                     .in_source = in_source,
                     .stored_size_bytes = static_cast<uint32_t>(stored.size())};
  if (format.compression == Compression::kNone) {
    if (stored.size() > max_block_size_bytes) {
      return OutOfRange("the block's ", stored.size(), " bytes are ",
                        AboveLimit(max_block_size_bytes, "max_block_size_bytes"));
    }
    return block;
  }

  ByteReader reader(stored);
  uint32_t compressed_size = 0;
  uint32_t uncompressed_size = 0;
  if (format.compresses_all && !reader.ReadFixed(compressed_size)) {
    return DataLoss("expected a compressed block's sizes, found ", stored.size(), " bytes");
  }
  if (!reader.ReadFixed(uncompressed_size)) {
    return DataLoss("expected a compressed block's uncompressed size, found ", stored.size(),
                    " bytes");
  }
  const auto rest = reader.rest();
  if (format.compresses_all && compressed_size != rest.size()) {
    return DataLoss("expected ", compressed_size, " compressed bytes, found ", rest.size());
  }
  const bool compressed = format.compresses_all || uncompressed_size != rest.size();
  // Even a size within the limit is damage if these bytes cannot expand to it.
  if (compressed) {
    CFILE_RETURN_IF_ERROR(
        CheckUncompressedSize(format.compression, rest.size(), uncompressed_size));
  }
  if (uncompressed_size > max_block_size_bytes) {
    return OutOfRange("the block's ", uncompressed_size, " uncompressed bytes are ",
                      AboveLimit(max_block_size_bytes, "max_block_size_bytes"));
  }
  if (!compressed) {
    block.bytes = rest;
    return block;
  }
  buffer.uncompressed.Clear();
  uint8_t* out = buffer.uncompressed.Extend(uncompressed_size);
  CFILE_RETURN_IF_ERROR(Uncompress(format.compression, rest, {out, uncompressed_size}));
  block.bytes = buffer.uncompressed.span();
  block.compressed = true;
  block.in_source = false;
  return block;
}

}  // namespace

absl::StatusOr<FetchedBlock> FetchBlock(const Source& source, const BlockFormat& format,
                                        const BlockPointer& pointer, bool verify,
                                        size_t max_block_size_bytes, BlockBuffer& buffer) {
  return FetchAgainIfDamaged(source, pointer, buffer, [&](std::span<const uint8_t> memory) {
    return FetchOnce(source, memory, format, pointer, verify, max_block_size_bytes, buffer);
  });
}

absl::StatusOr<StoredBlock> FetchStoredBlock(const Source& source, const BlockFormat& format,
                                             const BlockPointer& pointer, bool verify_parts,
                                             size_t max_block_size_bytes, BlockBuffer& buffer) {
  CFILE_ASSERT(format.movable);
  return FetchAgainIfDamaged(
      source, pointer, buffer, [&](std::span<const uint8_t> memory) -> absl::StatusOr<StoredBlock> {
        StoredBlock block;
        CFILE_ASSIGN_OR_RETURN(block.bytes, ReadStored(source, memory, pointer, /*movable=*/true,
                                                       max_block_size_bytes, buffer));
        CFILE_RETURN_IF_ERROR(ReadHead(block.bytes, format.compression, /*verify=*/true,
                                       max_block_size_bytes, block.head));
        if (verify_parts) CFILE_RETURN_IF_ERROR(CheckParts(block.head, block.bytes));
        return block;
      });
}

absl::Status InBlock(const absl::Status& status, const std::string& file,
                     const BlockPointer& pointer) {
  if (status.ok()) return status;
  // The source or an inner call may already have put the name of the file or the block into the
  // message.
  const std::string block =
      StrCat("block at offset ", pointer.offset, ", ", pointer.size, " bytes: ");
  if (absl::StartsWith(status.message(), StrCat(file, ": ", block))) return status;
  const bool named = Names(status.message(), file);
  return WithMessage(status, StrCat(named ? "" : file, named ? "" : ": ", block, status.message()));
}

}  // namespace cfile::internal
