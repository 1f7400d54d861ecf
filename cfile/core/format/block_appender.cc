#include "cfile/core/format/block_appender.h"

#include <algorithm>
#include <limits>

#include "cfile/core/format/compress.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/io/named_status.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

constexpr uint8_t kZeros[kAlignment] = {};
// A section of a movable block is not compressed if it has fewer bytes than this.
constexpr size_t kLeastCompressedBytes = 64;

// False if compression saves less than a tenth. Such a block is not compressed, unless the format
// compresses all blocks.
bool WorthCompressing(size_t compressed, size_t uncompressed) {
  return compressed < uncompressed && uint64_t{compressed} * 10 <= uint64_t{uncompressed} * 9;
}

}  // namespace

absl::Status BlockAppender::Write(std::span<const uint8_t> bytes) {
  CFILE_RETURN_IF_ERROR(NamedSink(sink_->Append(bytes), sink_->name()));
  offset_ += bytes.size();
  return absl::OkStatus();
}

absl::Status BlockAppender::CheckSize(size_t size_bytes, const BlockStorage& storage) const {
  if (size_bytes - std::min(size_bytes, storage.extra_size_bytes) <= max_block_size_bytes_)
    return absl::OkStatus();
  return OutOfRange(sink_->name(), ": a block of ", size_bytes, " bytes is ",
                    AboveLimit(max_block_size_bytes_, "max_block_size_bytes"));
}

absl::StatusOr<BlockPointer> BlockAppender::PointerFrom(uint64_t begin) const {
  const uint64_t size = offset_ - begin;
  if (size > std::numeric_limits<int32_t>::max()) {
    return OutOfRange(sink_->name(), ": a stored block of ", size,
                      " bytes is larger than 2^31 - 1 bytes");
  }
  return BlockPointer{.offset = begin, .size = static_cast<uint32_t>(size)};
}

absl::Status BlockAppender::Align(size_t align_at) {
  const auto misaligned = static_cast<size_t>((offset_ + align_at) % kAlignment);
  return misaligned == 0 ? absl::OkStatus() : Write({kZeros, kAlignment - misaligned});
}

absl::StatusOr<BlockPointer> BlockAppender::Append(std::span<const uint8_t> prefix,
                                                   std::span<const uint8_t> body,
                                                   const BlockStorage& storage) {
  const size_t uncompressed_size = prefix.size() + body.size();
  CFILE_RETURN_IF_ERROR(CheckSize(uncompressed_size, storage));
  // Writes up to three pieces, and then the checksum of these pieces.
  ByteWriter sizes;
  std::span<const uint8_t> pieces[3] = {{}, prefix, body};
  bool compressed = false;
  if (format_.compression != Compression::kNone) {
    if (storage.compress || format_.compresses_all) {
      joined_.Clear();
      joined_.PutBytes(prefix);
      joined_.PutBytes(body);
      compressed_.Clear();
      CFILE_RETURN_IF_ERROR(
          Compress(format_.compression, joined_.span(), compressed_, compression_level_));
      compressed =
          format_.compresses_all || WorthCompressing(compressed_.size(), uncompressed_size);
    }
    if (format_.compresses_all) sizes.PutFixed(static_cast<uint32_t>(compressed_.size()));
    sizes.PutFixed(static_cast<uint32_t>(uncompressed_size));
    pieces[0] = sizes.span();
    if (compressed) {
      pieces[1] = compressed_.span();
      pieces[2] = {};
    }
  }
  if (storage.align_at && !compressed)
    CFILE_RETURN_IF_ERROR(Align(sizes.size() + *storage.align_at));
  const uint64_t begin = offset_;
  uint32_t crc = 0;
  for (const auto piece : pieces) {
    if (piece.empty()) continue;
    CFILE_RETURN_IF_ERROR(Write(piece));
    if (format_.checksums) crc = ExtendCrc32c(crc, piece);
  }
  if (format_.checksums) {
    uint8_t stored_crc[kChecksumBytes];
    encodings::StoreLittleEndian(crc, stored_crc);
    CFILE_RETURN_IF_ERROR(Write(stored_crc));
  }
  last_compressed_ = compressed;
  return PointerFrom(begin);
}

absl::StatusOr<BlockPointer> BlockAppender::AppendMovable(
    BlockHead head, std::array<std::span<const uint8_t>, kBlockSections> sections,
    const BlockStorage& storage) {
  size_t uncompressed_size = 0, stored_size = 0;
  for (const auto section : sections) uncompressed_size += section.size();
  CFILE_RETURN_IF_ERROR(CheckSize(uncompressed_size, storage));
  compressed_.Clear();
  std::array<size_t, kBlockSections> compressed_sizes = {};
  if (format_.compression != Compression::kNone && storage.compress) {
    for (size_t i = 0; i < kBlockSections; ++i) {
      size_t size = sections[i].size();
      if (size >= kLeastCompressedBytes) {
        const size_t begin = compressed_.size();
        CFILE_RETURN_IF_ERROR(
            Compress(format_.compression, sections[i], compressed_, compression_level_));
        const size_t compressed_size = compressed_.size() - begin;
        if (WorthCompressing(compressed_size, size)) {
          compressed_sizes[i] = size = compressed_size;
        } else {
          compressed_.Truncate(begin);
        }
      }
      stored_size += size;
    }
  }
  // If compression makes only a small section smaller, the block is stored uncompressed, so that
  // readers can use its body in place.
  last_compressed_ = !compressed_.empty() && WorthCompressing(stored_size, uncompressed_size);
  head.compression = last_compressed_ ? format_.compression : Compression::kNone;
  auto compressed = compressed_.span();
  for (size_t i = 0; i < kBlockSections; ++i) {
    head.sections[i].size = static_cast<uint32_t>(sections[i].size());
    if (last_compressed_ && compressed_sizes[i] > 0) {
      sections[i] = compressed.first(compressed_sizes[i]);
      compressed = compressed.subspan(compressed_sizes[i]);
    }
    head.sections[i].stored_size = static_cast<uint32_t>(sections[i].size());
  }
  joined_.Clear();
  AppendBlockHead(head, sections, joined_);
  if (storage.align_at && !head.sections[kBody].compressed()) {
    CFILE_RETURN_IF_ERROR(Align(joined_.size() + sections[kLevels].size() +
                                sections[kSkipTable].size() + *storage.align_at));
  }
  const uint64_t begin = offset_;
  CFILE_RETURN_IF_ERROR(Write(joined_.span()));
  for (const auto section : sections) {
    if (!section.empty()) CFILE_RETURN_IF_ERROR(Write(section));
  }
  return PointerFrom(begin);
}

absl::StatusOr<BlockPointer> BlockAppender::AppendMoved(const BlockHead& head,
                                                        std::span<const uint8_t> stored,
                                                        uint64_t from_offset,
                                                        uint32_t first_ordinal) {
  CFILE_RETURN_IF_ERROR(CheckSize(head.unpacked_bytes(), {}));
  joined_.Clear();
  joined_.PutBytes(stored.first(head.size_bytes()));
  SetFirstOrdinal({joined_.data(), joined_.size()}, first_ordinal);
  if (!head.sections[kBody].compressed())
    CFILE_RETURN_IF_ERROR(Align(kAlignment - static_cast<size_t>(from_offset % kAlignment)));
  const uint64_t begin = offset_;
  CFILE_RETURN_IF_ERROR(Write(joined_.span()));
  CFILE_RETURN_IF_ERROR(Write(stored.subspan(head.size_bytes())));
  last_compressed_ = head.compressed();
  return PointerFrom(begin);
}

}  // namespace cfile::internal
