// Searches the B-trees over data blocks (cfile/FORMAT.md, Index trees).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/internal/format/index_node.h"
#include "cfile/internal/read/file_reader.h"

namespace cfile::internal {

// kOutOfRange if an index of `file` may not have a node at `depth` (0: the root); kDataLoss if no
// index may.
absl::Status CheckIndexDepth(const FileReader& file, size_t depth);

// A position in a tree: the path from the root to one entry of a leaf. Keeps pointers to nodes of
// `file`, which must outlive it.
class IndexWalk {
 public:
  IndexWalk() = default;
  IndexWalk(FileReader* file, IndexKind kind) : file_(file), kind_(kind) {}

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
