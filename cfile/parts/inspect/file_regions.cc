// ListRegions: what each byte of a file is for.
#include "cfile/inspect.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/parts/inspect/index_nodes.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::FileReader;
using internal::IndexVisit;
using internal::LoadedNode;

FileRegion RegionAt(RegionKind kind, const BlockPointer& pointer) {
  return {.kind = kind, .offset = pointer.offset, .size_bytes = pointer.size};
}

// The nodes of one index.
struct Tree {
  std::vector<FileRegion> nodes;
  std::vector<const LoadedNode*> leaves;  // in key order; they belong to the FileReader
  std::vector<Damage> damages;            // nodes that cannot be read
};

Tree WalkTree(FileReader& file, IndexKind kind) {
  const bool positional = kind == IndexKind::kPositional;
  Tree tree;
  internal::VisitIndexNodes(file, kind, [&](const internal::VisitedNode& visited) {
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
    if ((*visited.node)->leaf()) tree.leaves.push_back(*visited.node);
    return IndexVisit::kDescend;
  });
  return tree;
}

// Returns the data blocks to which the leaves of an index point. Reserves memory for `others`
// regions that the caller adds.
std::vector<FileRegion> BlocksOf(const Tree& tree, bool positional, size_t others) {
  size_t num_blocks = 0;
  for (const LoadedNode* leaf : tree.leaves) num_blocks += leaf->num_entries();
  std::vector<FileRegion> blocks;
  blocks.reserve(num_blocks + others);
  for (const LoadedNode* leaf : tree.leaves) {
    for (uint32_t i = 0; i < leaf->num_entries(); ++i) {
      FileRegion block = RegionAt(RegionKind::kDataBlock, leaf->entry_pointer(i));
      block.index = blocks.size();
      if (positional) block.first_ordinal = leaf->ordinal(i);
      blocks.push_back(block);
    }
  }
  return blocks;
}

// Adds the piece tables and their directory to `found`.
void AddPieces(FileReader& file, std::vector<FileRegion>& found, std::vector<Damage>& damages) {
  const auto& pointer = file.info().piece_directory;
  if (!pointer) return;
  found.push_back(RegionAt(RegionKind::kPieceDirectory, *pointer));
  const auto directory = file.Pieces();
  if (!directory.ok()) {
    damages.push_back({.status = directory.status(), .block = *pointer});
    return;
  }
  for (const internal::PieceTablePlace& place : **directory)
    found.push_back(RegionAt(RegionKind::kPieceTable, place.table));
}

}  // namespace

FileLayout ListRegions(const Reader& reader) {
  FileReader& file = *internal::ReaderAccess::File(reader);
  const FileInfo& info = file.info();
  Tree positional = WalkTree(file, IndexKind::kPositional);
  Tree value = WalkTree(file, IndexKind::kValue);
  const bool by_ordinal =
      info.positional_index_root &&
      (positional.damages.empty() || !info.value_index_root || !value.damages.empty());

  constexpr size_t kSingleRegions = 4;  // header, footer, dictionary, statistics
  std::vector<FileRegion> found =
      BlocksOf(by_ordinal ? positional : value, by_ordinal,
               positional.nodes.size() + value.nodes.size() + kSingleRegions);
  found.push_back({.kind = RegionKind::kHeader, .offset = 0, .size_bytes = info.header_size_bytes});
  found.push_back({.kind = RegionKind::kFooter,
                   .offset = info.file_size_bytes - info.footer_size_bytes,
                   .size_bytes = info.footer_size_bytes});
  if (info.dictionary) found.push_back(RegionAt(RegionKind::kDictionary, *info.dictionary));
  if (info.statistics) found.push_back(RegionAt(RegionKind::kStatistics, *info.statistics));
  FileLayout layout;
  AddPieces(file, found, layout.damages);
  found.insert(found.end(), positional.nodes.begin(), positional.nodes.end());
  found.insert(found.end(), value.nodes.begin(), value.nodes.end());
  std::sort(found.begin(), found.end(),
            [](const FileRegion& a, const FileRegion& b) { return a.offset < b.offset; });

  std::move(positional.damages.begin(), positional.damages.end(),
            std::back_inserter(layout.damages));
  std::move(value.damages.begin(), value.damages.end(), std::back_inserter(layout.damages));
  layout.regions.reserve(found.size());
  uint64_t end = 0;
  const auto add_gap = [&](uint64_t until) {
    if (end < until) layout.regions.push_back({.offset = end, .size_bytes = until - end});
  };
  for (const FileRegion& region : found) {
    if (region.offset < end) {
      const BlockPointer pointer{region.offset, static_cast<uint32_t>(region.size_bytes)};
      layout.damages.push_back(
          {.status = DataLoss(file.source().name(), ": the block at offset ", region.offset, ", ",
                              region.size_bytes, " bytes, overlaps the one that ends at ", end),
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

}  // namespace cfile
