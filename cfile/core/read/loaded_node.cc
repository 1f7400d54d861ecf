#include "cfile/core/read/loaded_node.h"

#include <utility>

namespace cfile::internal {

static_assert(sizeof(LoadedNode) == sizeof(IndexNode) + IndexNode::kStateBytes);
static_assert(sizeof(std::atomic<uint8_t>) + sizeof(SeekIndexSlot) ==
              IndexNode::StateBytesOfEntry(true));
static_assert(sizeof(std::atomic<const LoadedNode*>) == IndexNode::StateBytesOfEntry(false));

LoadedNode::LoadedNode(IndexNode node) : IndexNode(std::move(node)) {
  if (leaf()) {
    reads_ = std::make_unique<std::atomic<uint8_t>[]>(num_entries());
    seek_indexes_ = std::make_unique<SeekIndexSlot[]>(num_entries());
  } else {
    children_ = std::make_unique<std::atomic<const LoadedNode*>[]>(num_entries());
  }
}

LoadedNode::~LoadedNode() {
  if (leaf()) return;
  for (uint32_t i = 0; i < num_entries(); ++i) delete children_[i].load();
}

const LoadedNode* LoadedNode::SetChild(uint32_t i, std::unique_ptr<LoadedNode> child) const {
  const LoadedNode* kept = nullptr;
  const LoadedNode* offered = child.get();
  if (children_[i].compare_exchange_strong(kept, offered, std::memory_order_acq_rel)) {
    (void)child.release();
    return offered;
  }
  return kept;
}

}  // namespace cfile::internal
