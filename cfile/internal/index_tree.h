// The B-trees over data blocks: built while blocks are written, searched to find blocks
// (cfile/FORMAT.md, Index trees).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/internal/file_reader.h"
#include "cfile/internal/index_node.h"
#include "cfile/internal/stored_block.h"

namespace cfile::internal {

// kOutOfRange if an index of `file` may not have a node at `depth` (0: the root); kDataLoss if no
// index may.
absl::Status CheckIndexDepth(const FileReader& file, size_t depth);

// Builds one tree. Writes a node as soon as it is full and adds the node's first key to the level
// above. Holds one node per level. Thread-compatible.
class IndexTreeWriter {
 public:
  IndexTreeWriter(IndexKind kind, IndexKeyForm form, size_t block_size_bytes,
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

  // Writes the pending nodes and returns the root's place. A tree without entries has a root
  // without entries.
  absl::StatusOr<BlockPointer> Finish(BlockAppender& appender);

  size_t memory_usage_bytes() const;
  // The most memory that a reader needs for the nodes written so far.
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

// A position in a tree: the path from the root to one entry of a leaf. Keeps pointers to nodes of
// `file`, which must outlive it.
class IndexPath {
 public:
  IndexPath() = default;
  IndexPath(FileReader* file, IndexKind kind) : file_(file), kind_(kind) {}

  // Goes to the last data block whose first ordinal is <= `ordinal`, or whose key is < `key`, or to
  // the first block if there is none. Afterwards valid() is false only if the tree has no entries.
  absl::Status SeekToOrdinal(uint64_t ordinal);
  absl::Status SeekToKey(std::string_view key);

  // Goes to the next data block; after the last one, valid() is false. An error leaves the path
  // unchanged. Precondition: valid().
  absl::Status Next();

  bool valid() const { return !steps_.empty(); }
  // True if no data block follows. Precondition: valid().
  bool at_last() const;

  // The leaf and its entry. Precondition: valid().
  const IndexNode& leaf() const { return *steps_.back().node; }
  uint32_t entry() const { return steps_.back().entry; }
  const BlockPointer& pointer() const { return leaf().entry_pointer(entry()); }

  // Identifies a place in the tree.
  struct LeafEntry {
    const IndexNode* leaf = nullptr;
    uint32_t entry = 0;
    bool operator==(const LeafEntry&) const = default;
  };
  LeafEntry leaf_entry() const { return {&leaf(), entry()}; }

 private:
  struct Step {
    const IndexNode* node;
    uint32_t entry;
  };
  template <typename Find>
  absl::Status Seek(const Find& find);
  template <typename Find>
  absl::Status Descend(const Find& find);

  FileReader* file_ = nullptr;
  IndexKind kind_ = IndexKind::kPositional;
  std::vector<Step> steps_;   // root first
  std::vector<Step> before_;  // in Next: the steps at its begin
};

}  // namespace cfile::internal
