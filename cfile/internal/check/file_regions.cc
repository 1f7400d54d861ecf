#include "cfile/internal/check/file_regions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cfile/internal/read/index_walk.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

FileRegion RegionAt(RegionKind kind, const BlockPointer& pointer) {
  return {.kind = kind, .offset = pointer.offset, .size_bytes = pointer.size};
}

// The nodes of one index, and the data blocks that its leaves point to.
struct Tree {
  std::vector<FileRegion> nodes;
  std::vector<FileRegion> blocks;
  std::vector<Damage> damages;  // nodes that cannot be read
};

Tree WalkTree(FileReader& file, IndexKind kind) {
  const bool positional = kind == IndexKind::kPositional;
  Tree tree;
  VisitIndexNodes(file, kind, [&](const VisitedNode& visited) {
    FileRegion& region = tree.nodes.emplace_back(RegionAt(
        positional ? RegionKind::kPositionalNode : RegionKind::kValueNode, visited.pointer));
    region.index = visited.depth;
    if (positional) region.first_ordinal = visited.first_ordinal;
    if (!visited.node.ok()) {
      tree.damages.push_back(
          {.status = visited.node.status(),
           .block = visited.pointer,
           .first_ordinal = visited.first_ordinal,
           .last_ordinal = std::max(visited.end_ordinal, visited.first_ordinal + 1) - 1});
      return IndexVisit::kSkip;
    }
    const IndexNode& node = **visited.node;
    if (const size_t needed = tree.blocks.size() + (node.leaf() ? node.num_entries() : 0);
        needed > tree.blocks.capacity()) {
      constexpr size_t kOtherRegions = 64;  // header, footer, nodes: they join the blocks later
      tree.blocks.reserve(
          std::max(needed + kOtherRegions, tree.blocks.capacity() * 3 / 2));
    }
    for (uint32_t i = 0; node.leaf() && i < node.num_entries(); ++i) {
      FileRegion& block =
          tree.blocks.emplace_back(RegionAt(RegionKind::kDataBlock, node.entry_pointer(i)));
      block.index = tree.blocks.size() - 1;
      if (positional) block.first_ordinal = node.ordinal(i);
    }
    return IndexVisit::kDescend;
  });
  return tree;
}

template <typename T>
void Append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

FileLayout ListRegions(FileReader& file) {
  const FileInfo& info = file.info();
  Tree positional = WalkTree(file, IndexKind::kPositional);
  Tree value = WalkTree(file, IndexKind::kValue);
  const bool by_ordinal = info.positional_index_root &&
                          (positional.damages.empty() || !info.value_index_root ||
                           !value.damages.empty());

  std::vector<FileRegion> found = std::move(by_ordinal ? positional.blocks : value.blocks);
  (by_ordinal ? value.blocks : positional.blocks) = {};
  found.push_back(
      {.kind = RegionKind::kHeader, .offset = 0, .size_bytes = info.header_size_bytes});
  found.push_back({.kind = RegionKind::kFooter,
                   .offset = info.file_size_bytes - info.footer_size_bytes,
                   .size_bytes = info.footer_size_bytes});
  if (info.dictionary) found.push_back(RegionAt(RegionKind::kDictionary, *info.dictionary));
  if (info.statistics) found.push_back(RegionAt(RegionKind::kStatistics, *info.statistics));
  Append(found, positional.nodes);
  Append(found, value.nodes);
  std::sort(found.begin(), found.end(), [](const FileRegion& a, const FileRegion& b) {
    return a.offset < b.offset;
  });

  FileLayout layout;
  Append(layout.damages, positional.damages);
  Append(layout.damages, value.damages);
  layout.regions.reserve(found.size());
  uint64_t end = 0;
  const auto add_gap = [&](uint64_t until) {
    if (end < until) layout.regions.push_back({.offset = end, .size_bytes = until - end});
  };
  for (const FileRegion& region : found) {
    if (region.offset < end) {
      const BlockPointer pointer{region.offset, static_cast<uint32_t>(region.size_bytes)};
      layout.damages.push_back(
          {.status = encodings::DataLoss(file.source().name(), ": the block at offset ",
                                         region.offset, ", ", region.size_bytes,
                                         " bytes, overlaps the one that ends at ", end),
           .block = pointer});
      continue;
    }
    add_gap(region.offset);
    layout.regions.push_back(region);
    end = region.end();
  }
  add_gap(info.file_size_bytes);
  return layout;
}

}  // namespace cfile::internal
