// Visits all nodes of an index, also of a damaged one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/loaded_node.h"

namespace cfile::internal {

// A node that VisitIndexNodes passes to `visit`.
struct VisitedNode {
  BlockPointer pointer;
  size_t depth = 0;  // 0: the root
  // The node, or the error if it cannot be read. kOutOfRange: the depth of the index exceeds
  // max_index_depth; kDataLoss, among other reasons: the depth exceeds 1000.
  absl::StatusOr<const LoadedNode*> node = nullptr;
  // The node and its children index the rows from first_ordinal up to, but not including,
  // end_ordinal. In a value index, whose nodes have no ordinals: all rows of the file.
  uint64_t first_ordinal = 0;
  uint64_t end_ordinal = 0;
};

enum class IndexVisit : uint8_t {
  kDescend,  // continue with the node's children, if the node can be read and has children
  kSkip,     // do not visit the nodes below this node
  kStop
};

// Calls `visit` for each node of an index in key order, a parent before its children. Does nothing
// if the file has no such index.
void VisitIndexNodes(FileReader& file, IndexKind kind,
                     const std::function<IndexVisit(const VisitedNode&)>& visit);

}  // namespace cfile::internal
