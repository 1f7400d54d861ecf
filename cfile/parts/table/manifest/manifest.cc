#include "cfile/parts/table/manifest/manifest.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/io/named_status.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {

Manifest::Node::Node(ChunkEntries held)
    : entries(std::move(held)), chunks(entries.chunks), parts(entries.parts) {
  CountUp();
}

Manifest::Node::Node(const TableContents& root) : chunks(root.chunks), parts(root.parts) {
  CountUp();
}

void Manifest::Node::CountUp() {
  parts_before = {0};
  rows_before = {0};
  parts_before.reserve(size() + 1);
  rows_before.reserve(size() + 1);
  for (const ChunkInfo& chunk : chunks) {
    parts_before.push_back(parts_before.back() + chunk.num_parts);
    rows_before.push_back(rows_before.back() + chunk.num_rows);
  }
  for (const TablePart& part : parts) {
    parts_before.push_back(parts_before.back() + 1);
    rows_before.push_back(rows_before.back() + part.num_rows);
  }
}

Manifest::Manifest(TableContents root, std::string directory, size_t max_metadata_size_bytes,
                   ReadFile read_file)
    : root_(std::make_shared<const TableContents>(std::move(root))),
      directory_(std::move(directory)),
      max_metadata_size_bytes_(max_metadata_size_bytes),
      read_file_(std::move(read_file)),
      layout_(*root_),
      root_node_(std::make_shared<const Node>(*root_)) {}

bool Manifest::Kept::Is(const ChunkInfo& chunk) const {
  return size_bytes == chunk.size_bytes && crc32c == chunk.crc32c && height == chunk.height &&
         node->parts_before.back() == chunk.num_parts && node->rows_before.back() == chunk.num_rows;
}

absl::StatusOr<ManifestPart> Manifest::Part(uint64_t number) const {
  CFILE_ASSERT(number < num_parts());
  return Find(&Node::parts_before, number);
}

absl::StatusOr<ManifestPart> Manifest::PartOfRow(uint64_t ordinal) const {
  CFILE_ASSERT(ordinal < num_rows());
  return Find(&Node::rows_before, ordinal);
}

absl::StatusOr<ManifestPart> Manifest::Find(std::vector<uint64_t> Node::*before,
                                            uint64_t wanted) const {
  NodePtr node = root_node_;
  ManifestPart place;
  while (true) {
    // If several entries begin at the same row, only the last of them has rows.
    const std::vector<uint64_t>& starts = (*node).*before;
    const auto after = std::upper_bound(starts.begin(), starts.end(), wanted);
    const auto entry = static_cast<size_t>(after - starts.begin()) - 1;
    CFILE_ASSERT(entry < node->size());
    wanted -= starts[entry];
    place.number += node->parts_before[entry];
    place.first_ordinal += node->rows_before[entry];
    if (entry >= node->chunks.size()) {
      const TablePart* const part = &node->parts[entry - node->chunks.size()];
      if (node == root_node_) {
        place.part = {root_, part};
      } else {
        place.part = {std::move(node), part};
      }
      return place;
    }
    CFILE_ASSIGN_OR_RETURN(node, NodeOf(node->chunks[entry]));
  }
}

absl::StatusOr<uint64_t> Manifest::PassOver(uint64_t number, bool reverse,
                                            ExcludesChunk excluded) const {
  const uint64_t part = reverse ? number - 1 : number;
  NodePtr node = root_node_;
  uint64_t first_row = 0;
  for (uint64_t begin = 0;;) {
    const std::vector<uint64_t>& starts = node->parts_before;
    const auto after = std::upper_bound(starts.begin(), starts.end(), part - begin);
    const auto entry = static_cast<size_t>(after - starts.begin()) - 1;
    if (entry >= node->chunks.size()) return number;
    const ChunkInfo& chunk = node->chunks[entry];
    first_row += node->rows_before[entry];
    if (excluded(chunk, {first_row, first_row + chunk.num_rows}))
      return begin + starts[reverse ? entry : entry + 1];
    begin += starts[entry];
    CFILE_ASSIGN_OR_RETURN(node, NodeOf(chunk));
  }
}

absl::StatusOr<bool> Manifest::Visit(const NodePtr& node, const WantsChunk& wants,
                                     const VisitPart& visit, ManifestPart& place) const {
  for (const ChunkInfo& chunk : node->chunks) {
    if (!wants(chunk)) {
      place.number += chunk.num_parts;
      place.first_ordinal += chunk.num_rows;
      continue;
    }
    CFILE_ASSIGN_OR_RETURN(const NodePtr child, NodeOf(chunk));
    CFILE_ASSIGN_OR_RETURN(const bool more, Visit(child, wants, visit, place));
    if (!more) return false;
  }
  const std::shared_ptr<const void> owner =
      node == root_node_ ? std::shared_ptr<const void>(root_) : std::shared_ptr<const void>(node);
  for (const TablePart& part : node->parts) {
    place.part = {owner, &part};
    CFILE_ASSIGN_OR_RETURN(const bool more, visit(place));
    if (!more) return false;
    ++place.number;
    place.first_ordinal += part.num_rows;
  }
  return true;
}

absl::Status Manifest::ForEachPart(const WantsChunk& wants, const VisitPart& visit) const {
  ManifestPart place;
  return Visit(root_node_, wants, visit, place).status();
}

absl::Status Manifest::ForEachPart(const VisitPart& visit) const {
  return ForEachPart([](const ChunkInfo&) { return true; }, visit);
}

absl::Status Manifest::AddChunkFiles(std::span<const ChunkInfo> chunks,
                                     std::set<std::string>& names) const {
  for (const ChunkInfo& chunk : chunks) {
    // A damaged manifest may name a chunk any number of times.
    if (!names.insert(chunk.file_name).second || chunk.height == 0) continue;
    CFILE_ASSIGN_OR_RETURN(const NodePtr node, NodeOf(chunk));
    CFILE_RETURN_IF_ERROR(AddChunkFiles(node->chunks, names));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::set<std::string>> Manifest::ChunkFiles() const {
  std::set<std::string> names;
  CFILE_RETURN_IF_ERROR(AddChunkFiles(root_->chunks, names));
  return names;
}

absl::StatusOr<std::shared_ptr<const ChunkEntries>> Manifest::Read(const ChunkInfo& chunk) const {
  CFILE_ASSIGN_OR_RETURN(NodePtr node, NodeOf(chunk));
  const ChunkEntries* const entries = &node->entries;
  return std::shared_ptr<const ChunkEntries>(std::move(node), entries);
}

absl::StatusOr<Manifest::NodePtr> Manifest::NodeOf(const ChunkInfo& chunk) const {
  {
    const std::lock_guard lock(mutex_);
    const auto kept = kept_.find(chunk.file_name);
    if (kept != kept_.end() && kept->second.Is(chunk)) {
      kept->second.last_use = ++uses_;
      return kept->second.node;
    }
  }
  const std::string path = absl::StrCat(directory_, "/", chunk.file_name);
  if (chunk.size_bytes > max_metadata_size_bytes_) {
    return encodings::OutOfRange(
        path, ": ", chunk.size_bytes, " bytes are ",
        encodings::AboveLimit(max_metadata_size_bytes_, "max_metadata_size_bytes"));
  }
  // Not locked: two threads may read the same chunk at the same time. Keep keeps one.
  const absl::StatusOr<std::string> bytes =
      Named(read_file_(chunk.file_name, chunk.size_bytes), path);
  CFILE_RETURN_IF_ERROR(bytes.status());
  CFILE_ASSIGN_OR_RETURN(ChunkEntries entries,
                         ParseChunk(*bytes, chunk, layout_, max_metadata_size_bytes_, path));
  CFILE_RETURN_IF_ERROR(CheckNamedOnce(root_->chunks, "table.cft"));
  CFILE_RETURN_IF_ERROR(Named(CheckNamedOnce(entries.chunks, chunk.file_name), path));
  return Keep(chunk, std::make_shared<const Node>(std::move(entries)));
}

absl::Status Manifest::CheckNamedOnce(std::span<const ChunkInfo> chunks,
                                      const std::string& namer) const {
  const std::lock_guard lock(mutex_);
  std::unordered_set<std::string_view> here;
  for (const ChunkInfo& chunk : chunks) {
    const std::string& other = namers_.emplace(chunk.file_name, namer).first->second;
    if (other == namer && here.insert(chunk.file_name).second) continue;
    return encodings::DataLoss("chunk ", chunk.file_name, " is named twice, by ", other, " and by ",
                               namer);
  }
  return absl::OkStatus();
}

Manifest::NodePtr Manifest::Keep(const ChunkInfo& chunk, NodePtr node) const {
  std::vector<NodePtr> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  Kept& kept = kept_[chunk.file_name];
  if (kept.node != nullptr) return node;
  kept = {.node = node,
          .size_bytes = chunk.size_bytes,
          .crc32c = chunk.crc32c,
          .height = chunk.height,
          .last_use = ++uses_};
  kept_bytes_ += chunk.size_bytes;
  while (kept_bytes_ > max_metadata_size_bytes_ && kept_.size() > 1) {
    const auto oldest = std::min_element(
        kept_.begin(), kept_.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
    kept_bytes_ -= oldest->second.size_bytes;
    dropped.push_back(std::move(oldest->second.node));
    kept_.erase(oldest);
  }
  return node;
}

}  // namespace cfile::internal
