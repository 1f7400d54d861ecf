// Searches the B-trees over data blocks (cfile/FORMAT.md, Index trees).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/loaded_node.h"

namespace cfile::internal {

// Checks the depth of a node (0: the root). kOutOfRange: the options of `file` do not allow this
// depth. kDataLoss: no index may have this depth.
absl::Status CheckIndexDepth(const FileReader& file, size_t depth);

// A position in a tree: the path from the root to one entry of a leaf. Keeps pointers to nodes of
// `file`, which must outlive it.
class IndexWalk {
 public:
  IndexWalk() = default;
  IndexWalk(FileReader* file, IndexKind kind) : file_(file), kind_(kind) {}

  // SeekToOrdinal goes to the last data block whose first ordinal is <= `ordinal`, SeekToKey to the
  // last data block whose key is < `key`. If there is no such block, both go to the first block.
  // Afterwards valid() is false only if the tree has no entries.
  absl::Status SeekToOrdinal(uint64_t ordinal);
  absl::Status SeekToKey(std::string_view key);

  // Goes to the next data block; after the last one, valid() is false. An error leaves the path
  // unchanged. Precondition: valid().
  absl::Status Next();
  // As Next, in the other direction: before the first block, valid() is false.
  absl::Status Previous();
  // Goes to the last data block. valid() is false if the tree has no entries.
  absl::Status SeekToLast();

  IndexKind kind() const { return kind_; }
  bool valid() const { return !steps_.empty(); }
  // True if no data block follows. Precondition: valid().
  bool at_last() const;

  // The leaf and its entry. Precondition: valid().
  const LoadedNode& leaf() const { return *steps_.back().node; }
  uint32_t entry() const { return steps_.back().entry; }
  const BlockPointer& pointer() const { return leaf().entry_pointer(entry()); }

  // Identifies a place in the tree. Valid as long as the file: a node is kept until then.
  struct LeafEntry {
    const LoadedNode* leaf = nullptr;
    uint32_t entry = 0;
    bool operator==(const LeafEntry&) const = default;
  };
  LeafEntry leaf_entry() const { return {&leaf(), entry()}; }
  // Goes to a place in the same leaf. Returns false, and does nothing, if `place` is in another
  // leaf.
  bool GoInLeaf(const LeafEntry& place) {
    if (!valid() || &leaf() != place.leaf) return false;
    steps_.back().entry = place.entry;
    return true;
  }

 private:
  struct Step {
    const LoadedNode* node;
    uint32_t entry;
  };
  template <typename Find>
  absl::Status Seek(const Find& find);
  template <typename Find>
  absl::Status Descend(const Find& find);

  FileReader* file_ = nullptr;
  IndexKind kind_ = IndexKind::kPositional;
  std::vector<Step> steps_;   // root first
  std::vector<Step> before_;  // used by Next and Previous: the steps before the call
};

}  // namespace cfile::internal
