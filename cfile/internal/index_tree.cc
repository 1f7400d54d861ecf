#include "cfile/internal/index_tree.h"

#include <algorithm>
#include <string>

#include "encodings/status.h"

namespace cfile::internal {
namespace {

// The most bytes of an entry in a node besides its key: the key's length, a pointer and an offset.
constexpr size_t kEntryBytes = 5 + 10 + 5 + 4;

}  // namespace

absl::Status IndexTreeWriter::AddAt(size_t level, std::string_view key, const BlockPointer& pointer,
                                    BlockAppender& appender) {
  if (level == levels_.size()) levels_.emplace_back(form_);
  levels_[level].Add(key, pointer);
  if (levels_[level].estimated_size_bytes() <= block_size_bytes_ ||
      levels_[level].num_entries() < 2) {
    return absl::OkStatus();
  }
  return Spill(level, appender);
}

absl::Status IndexTreeWriter::Spill(size_t level, BlockAppender& appender) {
  const std::string first_key = levels_[level].first_key();
  CFILE_ASSIGN_OR_RETURN(const BlockPointer written, WriteNode(level, appender));
  return AddAt(level + 1, first_key, written, appender);
}

absl::Status IndexTreeWriter::MakeRoom(std::string_view key, BlockAppender& appender) {
  // The key becomes the first key of each empty node and so enters the level above too, up to the
  // first level whose pending node has entries.
  for (size_t level = 0; level < levels_.size(); ++level) {
    const IndexNodeBuilder& node = levels_[level];
    if (node.num_entries() == 0) continue;
    const size_t size = node.estimated_size_bytes() + key.size() + kEntryBytes;
    if (node.num_entries() < 2 || size <= max_block_size_bytes_) break;
    CFILE_RETURN_IF_ERROR(Spill(level, appender));
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockPointer> IndexTreeWriter::WriteNode(size_t level, BlockAppender& appender) {
  node_.Clear();
  reader_memory_bytes_ += IndexNode::MostMemoryBytes(kind_, /*leaf=*/level == 0,
                                                     levels_[level].num_entries(),
                                                     levels_[level].key_bytes());
  levels_[level].Finish(/*leaf=*/level == 0, node_);
  return appender.Append({}, node_.span());
}

absl::StatusOr<BlockPointer> IndexTreeWriter::Finish(BlockAppender& appender) {
  if (levels_.empty()) levels_.emplace_back(form_);
  // A spill may add a level, so the number of levels is read again each time.
  for (size_t level = 0; level + 1 < levels_.size(); ++level) {
    if (levels_[level].num_entries() > 0) CFILE_RETURN_IF_ERROR(Spill(level, appender));
  }
  return WriteNode(levels_.size() - 1, appender);
}

size_t IndexTreeWriter::memory_usage_bytes() const {
  size_t bytes = node_.capacity();
  for (const IndexNodeBuilder& level : levels_) bytes += level.memory_usage_bytes();
  return bytes;
}

absl::Status CheckIndexDepth(const FileReader& file, size_t depth) {
  constexpr size_t kDeepest = 1000;  // walks recurse this deep
  const size_t limit = std::min(file.options().max_index_depth, kDeepest);
  if (depth < limit) return absl::OkStatus();
  if (limit == kDeepest) {
    return encodings::DataLoss(file.source().name(), ": an index of ", depth + 1,
                               " levels, expected at most ", kDeepest);
  }
  return encodings::OutOfRange(file.source().name(), ": an index of ", depth + 1, " levels is ",
                               encodings::AboveLimit(limit, "max_index_depth"));
}

template <typename Find>
absl::Status IndexPath::Descend(const Find& find) {
  while (!steps_.back().node->leaf()) {
    CFILE_RETURN_IF_ERROR(CheckIndexDepth(*file_, steps_.size()));
    const Step& parent = steps_.back();
    CFILE_ASSIGN_OR_RETURN(const IndexNode* child,
                           file_->IndexChild(kind_, *parent.node, parent.entry));
    steps_.push_back({child, find(*child)});
  }
  return absl::OkStatus();
}

template <typename Find>
absl::Status IndexPath::Seek(const Find& find) {
  steps_.clear();
  CFILE_ASSIGN_OR_RETURN(const IndexNode* root, file_->IndexRoot(kind_));
  if (root->num_entries() == 0) return absl::OkStatus();
  steps_.push_back({root, find(*root)});
  absl::Status status = Descend(find);
  if (!status.ok()) steps_.clear();
  return status;
}

absl::Status IndexPath::SeekToOrdinal(uint64_t ordinal) {
  return Seek([ordinal](const IndexNode& node) { return node.FindOrdinal(ordinal); });
}

absl::Status IndexPath::SeekToKey(std::string_view key) {
  return Seek([key](const IndexNode& node) { return node.FindKey(key); });
}

absl::Status IndexPath::Next() {
  if (++steps_.back().entry < steps_.back().node->num_entries()) return absl::OkStatus();
  --steps_.back().entry;
  before_ = steps_;
  while (!steps_.empty() && ++steps_.back().entry == steps_.back().node->num_entries())
    steps_.pop_back();
  if (steps_.empty()) return absl::OkStatus();
  absl::Status status = Descend([](const IndexNode&) { return uint32_t{0}; });
  if (!status.ok()) steps_.swap(before_);
  return status;
}

bool IndexPath::at_last() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const Step& step) {
    return step.entry + 1 == step.node->num_entries();
  });
}

}  // namespace cfile::internal
