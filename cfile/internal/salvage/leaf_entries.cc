#include "cfile/internal/salvage/leaf_entries.h"

#include <algorithm>
#include <utility>

#include "cfile/internal/read/index_walk.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// Reads one index.
class Walk {
 public:
  Walk(FileReader& file, IndexKind kind,
       const std::function<absl::Status(const BlockPointer&)>& check, const LoseNode& lose)
      : file_(file), kind_(kind), check_(check), lose_(lose) {
    const auto& root = kind == IndexKind::kPositional ? file.info().positional_index_root
                                                      : file.info().value_index_root;
    if (!root) return;
    found_.whole = true;
    Visit(*root, 0, file.IndexRoot(kind));
  }

  LeafEntries& found() { return found_; }

 private:
  // `node`: the node at `pointer`, or the reason why it cannot be read.
  void Visit(const BlockPointer& pointer, size_t depth,
             const absl::StatusOr<const IndexNode*>& node) {
    absl::Status status = check_(pointer);
    if (status.ok()) status = node.status();
    if (!status.ok()) {
      found_.whole = false;
      return lose_(pointer, status);
    }
    for (uint32_t i = 0; i < (*node)->num_entries(); ++i) {
      if ((*node)->leaf()) {
        LeafEntry& entry = found_.entries.emplace_back();
        entry.pointer = (*node)->entry_pointer(i);
        if (kind_ == IndexKind::kPositional) entry.first_ordinal = (*node)->ordinal(i);
        continue;
      }
      const absl::Status depth_status = CheckIndexDepth(file_, depth + 1);
      Visit((*node)->entry_pointer(i), depth + 1,
            depth_status.ok() ? file_.IndexChild(kind_, **node, i) : depth_status);
    }
  }

  FileReader& file_;
  const IndexKind kind_;
  const std::function<absl::Status(const BlockPointer&)>& check_;
  const LoseNode& lose_;
  LeafEntries found_;
};

}  // namespace

LeafEntries ReadLeafEntries(FileReader& file,
                            const std::function<absl::Status(const BlockPointer&)>& check,
                            const LoseNode& lose) {
  LeafEntries positional = std::move(Walk(file, IndexKind::kPositional, check, lose).found());
  LeafEntries value = std::move(Walk(file, IndexKind::kValue, check, lose).found());
  if (positional.whole) return positional;
  if (value.whole) return value;
  // If both indexes have an entry for a block, keep the positional one, which has the ordinal.
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
