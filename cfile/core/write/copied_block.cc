#include "cfile/core/write/copied_block.h"

#include "encodings/registry.h"

namespace cfile::internal {
namespace {

// A block is small if it has less than 1 / kSmall of the bytes and of the entries that the options
// ask for, and large if it has more than kLarge times the bytes.
constexpr uint64_t kSmall = 4;
constexpr uint64_t kLarge = 4;
// A page of a Parquet file is small if it has less than 1 / kSmallPage of both numbers.
constexpr uint64_t kSmallPage = 64;

bool IsSmall(uint64_t entries, uint64_t bytes, uint64_t small, const WriterOptions& options) {
  return bytes < options.block_size_bytes / small && entries < options.max_values_per_block / small;
}

bool KeepsEncoding(const CopiedBlock& block, const FileInfo& info, const WriterOptions& options) {
  const BlockHead& head = block.head;
  const encodings::EncodingRow* row = encodings::FindEncoding(head.encoding);
  // A block with codes needs the dictionary of its file.
  if (row == nullptr || (row->has_dictionary && !block.same_dictionary) ||
      !row->Supports(info.type.physical()))
    return false;
  return options.encoding == Encoding::kAuto ? options.goal == Goal::kBalanced
                                             : options.encoding == head.encoding;
}

bool KeepsCodec(const CopiedBlock& block, const FileInfo& info, const WriterOptions& options) {
  const Compression codec = block.head.compression;
  // A block does not record its compression level, which is usually zstd's default. It is not
  // copied if the options ask for a higher level.
  constexpr int kDefaultLevel = 3;
  if (codec != Compression::kNone && options.compression_level > kDefaultLevel) return false;
  // A block may have another codec than the footer's. But if the footer names none, no block may be
  // compressed.
  if (options.compression == Compression::kDefault)
    return codec == Compression::kNone || info.compression != Compression::kNone;
  // An uncompressed block may be copied, too, if its writer has tried this codec without gain.
  return codec == options.compression ||
         (codec == Compression::kNone && block.codec == options.compression);
}

bool IsWithinLimits(const CopiedBlock& block, const FileInfo& info, const WriterOptions& options) {
  const BlockHead& head = block.head;
  // The sizes of single values are not known, so a value may exceed the limit.
  if (info.type.physical() == PhysicalType::kBytes && options.max_value_size_bytes < SIZE_MAX)
    return false;
  if (head.unpacked_bytes() > options.max_block_size_bytes) return false;
  // A block with one row may be larger, because a row cannot be divided.
  return head.num_rows == 1 ||
         (head.num_entries <= options.max_values_per_block &&
          (block.is_page || head.unpacked_bytes() <= kLarge * options.block_size_bytes));
}

}  // namespace

bool MayCopy(const CopiedBlock& block, const FileInfo& info, const WriterOptions& options) {
  return info.has_movable_blocks() && KeepsEncoding(block, info, options) &&
         KeepsCodec(block, info, options) && IsWithinLimits(block, info, options);
}

bool JoinsBlocks(const CopiedBlock& block, uint64_t entries, size_t bytes,
                 const WriterOptions& options) {
  const uint64_t block_bytes = block.head.unpacked_bytes();
  const uint64_t small = block.is_page ? kSmallPage : kSmall;
  if (IsSmall(block.head.num_entries, block_bytes, small, options)) return true;
  return entries > 0 && IsSmall(entries, bytes, small, options) &&
         bytes + block_bytes <= options.block_size_bytes &&
         entries + block.head.num_entries <= options.max_values_per_block;
}

}  // namespace cfile::internal
