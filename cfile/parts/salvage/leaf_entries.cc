#include "cfile/parts/salvage/leaf_entries.h"

#include <algorithm>

#include "cfile/parts/inspect/index_nodes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

LeafEntries ReadIndex(FileReader& file, IndexKind kind,
                      const std::function<absl::Status(const BlockPointer&)>& check,
                      const LoseNode& lose) {
  LeafEntries found;
  VisitIndexNodes(file, kind, [&](const VisitedNode& visited) {
    if (visited.depth == 0) found.whole = true;
    absl::Status status = check(visited.pointer);
    if (status.ok()) status = visited.node.status();
    if (!status.ok()) {
      found.whole = false;
      lose(visited.pointer, status);
      return IndexVisit::kSkip;
    }
    const LoadedNode& node = **visited.node;
    for (uint32_t i = 0; node.leaf() && i < node.num_entries(); ++i) {
      LeafEntry& entry = found.entries.emplace_back();
      entry.pointer = node.entry_pointer(i);
      if (kind == IndexKind::kPositional) entry.first_ordinal = node.ordinal(i);
    }
    return IndexVisit::kDescend;
  });
  return found;
}

}  // namespace

LeafEntries ReadLeafEntries(FileReader& file,
                            const std::function<absl::Status(const BlockPointer&)>& check,
                            const LoseNode& lose) {
  LeafEntries positional = ReadIndex(file, IndexKind::kPositional, check, lose);
  LeafEntries value = ReadIndex(file, IndexKind::kValue, check, lose);
  if (positional.whole) return positional;
  if (value.whole) return value;
  // If both indexes have an entry for a block, keep the entry of the positional index, which has
  // the ordinal.
  std::vector<LeafEntry>& entries = positional.entries;
  entries.insert(entries.end(), value.entries.begin(), value.entries.end());
  std::stable_sort(entries.begin(), entries.end(), [](const LeafEntry& a, const LeafEntry& b) {
    return a.pointer.offset < b.pointer.offset;
  });
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const LeafEntry& a, const LeafEntry& b) {
                              return a.pointer.offset == b.pointer.offset;
                            }),
                entries.end());
  return positional;
}

}  // namespace cfile::internal
