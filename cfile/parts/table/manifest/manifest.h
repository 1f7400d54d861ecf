// The parts of a table (cfile/FORMAT.md, Table). table.cft describes the newer parts itself. For
// the older parts it names chunks: files that describe parts, or name other chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/parts/table/manifest/chunk_file.h"
#include "cfile/parts/table/manifest/part_message.h"
#include "cfile/parts/table/manifest/table_contents.h"

namespace cfile::internal {

// A part and its place in the table.
struct ManifestPart {
  uint64_t number = 0;  // among all parts, from 0
  uint64_t first_ordinal = 0;
  std::shared_ptr<const TablePart> part;  // keeps the part's chunk in memory
};

// What table.cft and its chunks say. Reads a chunk only when it is needed, and keeps at most
// max_metadata_size_bytes of chunks in memory, and the chunks that callers hold. Immutable,
// thread-safe.
//
// Functions that may read a chunk return kDataLoss if it is damaged, kOutOfRange if it exceeds
// max_metadata_size_bytes, and the errors of ReadFile.
class Manifest {
 public:
  // Reads the whole file with this name in the table's directory, which should have `size_bytes`
  // bytes, but never more than max_metadata_size_bytes. Thread-safe.
  using ReadFile =
      std::function<absl::StatusOr<std::string>(const std::string& file_name, uint64_t size_bytes)>;

  // `root`: a result of ParseTable. `directory`: the path of the table, for messages.
  Manifest(TableContents root, std::string directory, size_t max_metadata_size_bytes,
           ReadFile read_file);

  const TableContents& root() const { return *root_; }
  const PartLayout& layout() const { return layout_; }
  const std::string& directory() const { return directory_; }
  size_t max_metadata_size_bytes() const { return max_metadata_size_bytes_; }
  uint64_t num_parts() const { return root_node_->parts_before.back(); }
  uint64_t num_rows() const { return root_node_->rows_before.back(); }

  // Precondition: number < num_parts().
  absl::StatusOr<ManifestPart> Part(uint64_t number) const;
  // The part that contains row `ordinal`. Precondition: ordinal < num_rows().
  absl::StatusOr<ManifestPart> PartOfRow(uint64_t ordinal) const;

  // Calls `visit` for the parts in order, until it returns false or an error, which is returned.
  // Skips, without reading it, each chunk for which `wants` returns false.
  using WantsChunk = std::function<bool(const ChunkInfo&)>;
  using VisitPart = std::function<absl::StatusOr<bool>(const ManifestPart&)>;
  absl::Status ForEachPart(const WantsChunk& wants, const VisitPart& visit) const;
  absl::Status ForEachPart(const VisitPart& visit) const;

  // Skips the chunk that holds part `number`, if `excluded` returns true for this chunk and the
  // ordinals of its rows. Returns the number of the first part after the skipped chunk, or
  // `number`. If `reverse`, goes back: `number` and the result are then the number of a part plus
  // 1. Reads those chunks above the part for which `excluded` returns false. Precondition: number <
  // num_parts(), or, if `reverse`, 0 < number <= num_parts().
  using ExcludesChunk = absl::FunctionRef<bool(const ChunkInfo& chunk, const OrdinalRange& rows)>;
  absl::StatusOr<uint64_t> PassOver(uint64_t number, bool reverse, ExcludesChunk excluded) const;

  absl::StatusOr<std::set<std::string>> ChunkFiles() const;

  // What a chunk holds. Precondition: the chunk is one of this manifest.
  absl::StatusOr<std::shared_ptr<const ChunkEntries>> Read(const ChunkInfo& chunk) const;

 private:
  // The entries of table.cft or of a chunk: first the chunks, then the parts.
  struct Node {
    explicit Node(ChunkEntries held);
    explicit Node(const TableContents& root);
    size_t size() const { return chunks.size() + parts.size(); }

    ChunkEntries entries;  // only in the node of a chunk
    std::span<const ChunkInfo> chunks;
    std::span<const TablePart> parts;
    // For each entry, the number of parts and of rows before it. The last element is the total.
    std::vector<uint64_t> parts_before;
    std::vector<uint64_t> rows_before;

   private:
    void CountUp();
  };
  using NodePtr = std::shared_ptr<const Node>;

  absl::StatusOr<NodePtr> NodeOf(const ChunkInfo& chunk) const;
  // Finds the part with number `wanted`, or the part that contains row `wanted`.
  // `before`: the member of Node that counts parts or rows.
  absl::StatusOr<ManifestPart> Find(std::vector<uint64_t> Node::*before, uint64_t wanted) const;
  // Visits the parts of `node`. Returns false if `visit` returned false. `place`: the place of the
  // node's first part, which becomes the place after its last part.
  absl::StatusOr<bool> Visit(const NodePtr& node, const WantsChunk& wants, const VisitPart& visit,
                             ManifestPart& place) const;
  absl::Status AddChunkFiles(std::span<const ChunkInfo> chunks, std::set<std::string>& names) const;
  NodePtr Keep(const ChunkInfo& chunk, NodePtr node) const;
  // kDataLoss if another file, or the same file twice, names one of `chunks`. `namer`: the file
  // that names `chunks`. Without this check, a small damaged table could claim to have a huge
  // number of parts.
  absl::Status CheckNamedOnce(std::span<const ChunkInfo> chunks, const std::string& namer) const;

  struct Kept {
    NodePtr node;
    uint64_t size_bytes = 0;
    uint32_t crc32c = 0;
    uint32_t height = 0;
    uint64_t last_use = 0;

    // True if this is `chunk`. False if a damaged manifest gives two chunks the same file name.
    bool Is(const ChunkInfo& chunk) const;
  };

  const std::shared_ptr<const TableContents> root_;
  const std::string directory_;
  const size_t max_metadata_size_bytes_;
  const ReadFile read_file_;
  const PartLayout layout_;
  const NodePtr root_node_;

  // Guards the members below.
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Kept> kept_;  // by file name
  mutable uint64_t kept_bytes_ = 0;
  mutable uint64_t uses_ = 0;
  mutable std::unordered_map<std::string, std::string> namers_;  // by chunk: the file that names it
};

}  // namespace cfile::internal
