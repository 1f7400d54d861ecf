#include "cfile/core/write/index_writer.h"

#include <string>

#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// An entry in a node has at most this many bytes besides its key: key length, pointer and offset.
constexpr size_t kEntryBytes = 5 + 10 + 5 + 4;

}  // namespace

absl::Status IndexWriter::AddAt(size_t level, std::string_view key, const BlockPointer& pointer,
                                BlockAppender& appender) {
  if (level == levels_.size()) levels_.emplace_back(form_);
  levels_[level].Add(key, pointer);
  if (levels_[level].estimated_size_bytes() <= block_size_bytes_ ||
      levels_[level].num_entries() < 2) {
    return absl::OkStatus();
  }
  return Spill(level, appender);
}

absl::Status IndexWriter::Spill(size_t level, BlockAppender& appender) {
  const std::string first_key = levels_[level].first_key();
  CFILE_ASSIGN_OR_RETURN(const BlockPointer written, WriteNode(level, appender));
  return AddAt(level + 1, first_key, written, appender);
}

absl::Status IndexWriter::MakeRoom(std::string_view key, BlockAppender& appender) {
  // The key is added to the leaf level. If a level's pending node is empty, the key becomes the
  // first key of this node, and later goes to the level above, too: check each level up to the
  // first one whose pending node has entries.
  for (size_t level = 0; level < levels_.size(); ++level) {
    const IndexNodeBuilder& node = levels_[level];
    if (node.num_entries() == 0) continue;
    const size_t size = node.estimated_size_bytes() + key.size() + kEntryBytes;
    if (node.num_entries() < 2 || size <= max_block_size_bytes_) break;
    CFILE_RETURN_IF_ERROR(Spill(level, appender));
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockPointer> IndexWriter::WriteNode(size_t level, BlockAppender& appender) {
  node_.Clear();
  reader_memory_bytes_ += IndexNode::MostMemoryBytes(
      kind_, /*leaf=*/level == 0, levels_[level].num_entries(), levels_[level].key_bytes());
  levels_[level].Finish(/*leaf=*/level == 0, node_);
  return appender.Append({}, node_.span());
}

absl::StatusOr<BlockPointer> IndexWriter::Finish(BlockAppender& appender) {
  if (levels_.empty()) levels_.emplace_back(form_);
  // A spill may add a level, so the number of levels is read again each time.
  for (size_t level = 0; level + 1 < levels_.size(); ++level) {
    if (levels_[level].num_entries() > 0) CFILE_RETURN_IF_ERROR(Spill(level, appender));
  }
  return WriteNode(levels_.size() - 1, appender);
}

size_t IndexWriter::memory_usage_bytes() const {
  size_t bytes = node_.capacity();
  for (const IndexNodeBuilder& level : levels_) bytes += level.memory_usage_bytes();
  return bytes;
}

}  // namespace cfile::internal
