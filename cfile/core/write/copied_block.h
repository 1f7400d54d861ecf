// Copies movable blocks of other files (cfile/FORMAT.md, Movable blocks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cfile/core/format/movable_block.h"
#include "cfile/file_info.h"
#include "cfile/options.h"
#include "cfile/statistics.h"
#include "cfile/types.h"

namespace cfile::internal {

// A block of another file that has the same type, nullability and levels.
struct CopiedBlock {
  BlockHead head;
  std::span<const uint8_t> bytes;               // as stored, checksums verified
  uint64_t offset = 0;                          // the place of the block in the other file
  Compression codec = Compression::kNone;       // the codec in the footer of the other file
  const BlockStatistics* statistics = nullptr;  // the block's statistics; null: not known
  // The pieces of the block in the other file (PieceRecord::pieces). Empty: the block has none.
  std::span<const uint8_t> pieces;
  // True: the dictionary of the new file begins with the dictionary of the other file.
  bool same_dictionary = false;
  // True: a page of a Parquet file. It keeps its size, unless it is very small or exceeds
  // max_block_size_bytes.
  bool is_page = false;
  // Only for a column with a value index: the first and the last value in memcmp form.
  std::string first_key;
  std::string last_key;
};

// True if a file that `options` and `info` describe may have a copy of `block`: `options` allow its
// encoding and its codec, it is within the limits of `options`, and the file has the dictionary
// that it needs. With the default options, a block keeps its encoding and its codec. Precondition:
// ResolveChoices was called for `options`.
bool MayCopy(const CopiedBlock& block, const FileInfo& info, const WriterOptions& options);

// True if the rows of `block` should be joined with the rows of its neighbours, because `block` is
// small, or the block before it, with `entries` entries and about `bytes` bytes so far. This way,
// repeated merges do not make many small blocks.
bool JoinsBlocks(const CopiedBlock& block, uint64_t entries, size_t bytes,
                 const WriterOptions& options);

}  // namespace cfile::internal
