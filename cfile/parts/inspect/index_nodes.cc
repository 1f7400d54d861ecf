#include "cfile/parts/inspect/index_nodes.h"

#include "cfile/core/read/index_walk.h"

namespace cfile::internal {
namespace {

// Visits a node and the nodes below it. Returns false if `visit` returned kStop.
bool VisitFrom(FileReader& file, IndexKind kind, const VisitedNode& visited,
               const std::function<IndexVisit(const VisitedNode&)>& visit) {
  const IndexVisit next = visit(visited);
  if (next == IndexVisit::kStop) return false;
  if (next == IndexVisit::kSkip || !visited.node.ok() || (*visited.node)->leaf()) return true;
  const LoadedNode& node = **visited.node;
  const absl::Status depth_status = CheckIndexDepth(file, visited.depth + 1);
  for (uint32_t i = 0; i < node.num_entries(); ++i) {
    VisitedNode child{.pointer = node.entry_pointer(i), .depth = visited.depth + 1};
    if (kind == IndexKind::kPositional) child.first_ordinal = node.ordinal(i);
    child.end_ordinal = kind == IndexKind::kPositional && i + 1 < node.num_entries()
                            ? node.ordinal(i + 1)
                            : visited.end_ordinal;
    child.node = depth_status.ok() ? file.IndexChild(kind, node, i) : depth_status;
    if (!VisitFrom(file, kind, child, visit)) return false;
  }
  return true;
}

}  // namespace

void VisitIndexNodes(FileReader& file, IndexKind kind,
                     const std::function<IndexVisit(const VisitedNode&)>& visit) {
  const FileInfo& info = file.info();
  const auto& root =
      kind == IndexKind::kPositional ? info.positional_index_root : info.value_index_root;
  if (!root) return;
  const absl::Status depth_status = CheckIndexDepth(file, 0);
  VisitFrom(file, kind,
            {.pointer = *root,
             .node = depth_status.ok() ? file.IndexRoot(kind) : depth_status,
             .end_ordinal = info.num_rows},
            visit);
}

}  // namespace cfile::internal
