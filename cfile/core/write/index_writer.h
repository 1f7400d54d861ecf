// Builds the B-trees over data blocks while the blocks are written (cfile/FORMAT.md, Index trees).
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/core/format/block_appender.h"
#include "cfile/core/format/index_node.h"

namespace cfile::internal {

// Builds one tree, and holds one node per level. Nodes are never split: a full node is written, and
// its first key goes to the level above. Thread-compatible.
class IndexWriter {
 public:
  IndexWriter(IndexKind kind, IndexKeyForm form, size_t block_size_bytes,
              size_t max_block_size_bytes)
      : kind_(kind),
        form_(form),
        block_size_bytes_(std::min(block_size_bytes, max_block_size_bytes / 2)),
        max_block_size_bytes_(max_block_size_bytes) {}

  // Call before the next data block is written, with the block's key. Writes those pending nodes
  // that this key would make too large. (They have to be written first, because a subtree is one
  // range of the file.)
  absl::Status MakeRoom(std::string_view key, BlockAppender& appender);
  // Adds the entry of the next data block.
  absl::Status Add(std::string_view key, const BlockPointer& pointer, BlockAppender& appender) {
    return AddAt(0, key, pointer, appender);
  }

  // Writes the pending nodes and returns a pointer to the root. A tree without entries has a root
  // without entries.
  absl::StatusOr<BlockPointer> Finish(BlockAppender& appender);

  size_t memory_usage_bytes() const;
  // An upper bound of the memory that a reader needs for the nodes written so far.
  size_t reader_memory_bytes() const { return reader_memory_bytes_; }

 private:
  absl::Status AddAt(size_t level, std::string_view key, const BlockPointer& pointer,
                     BlockAppender& appender);
  // Writes the pending node of a level and adds its entry to the level above.
  absl::Status Spill(size_t level, BlockAppender& appender);
  absl::StatusOr<BlockPointer> WriteNode(size_t level, BlockAppender& appender);

  IndexKind kind_;
  IndexKeyForm form_;
  size_t block_size_bytes_;
  size_t max_block_size_bytes_;
  size_t reader_memory_bytes_ = 0;
  std::vector<IndexNodeBuilder> levels_;  // leaf first
  ByteWriter node_;
};

}  // namespace cfile::internal
