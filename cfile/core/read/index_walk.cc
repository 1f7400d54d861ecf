#include "cfile/core/read/index_walk.h"

#include <algorithm>

#include "encodings/core/status.h"

namespace cfile::internal {

absl::Status CheckIndexDepth(const FileReader& file, size_t depth) {
  constexpr size_t kDeepest = 1000;  // walks recurse this deep
  const size_t limit = std::min(file.options().max_index_depth, kDeepest);
  if (depth < limit) return absl::OkStatus();
  if (limit == kDeepest) {
    return DataLoss(file.source().name(), ": an index of ", depth + 1, " levels, expected at most ",
                    kDeepest);
  }
  return OutOfRange(file.source().name(), ": an index of ", depth + 1, " levels is ",
                    AboveLimit(limit, "max_index_depth"));
}

static uint32_t LastEntry(const LoadedNode& node) { return node.num_entries() - 1; }

template <typename Find>
absl::Status IndexWalk::Descend(const Find& find) {
  while (!steps_.back().node->leaf()) {
    CFILE_RETURN_IF_ERROR(CheckIndexDepth(*file_, steps_.size()));
    const Step& parent = steps_.back();
    CFILE_ASSIGN_OR_RETURN(const LoadedNode* child,
                           file_->IndexChild(kind_, *parent.node, parent.entry));
    steps_.push_back({child, find(*child)});
  }
  return absl::OkStatus();
}

template <typename Find>
absl::Status IndexWalk::Seek(const Find& find) {
  steps_.clear();
  CFILE_ASSIGN_OR_RETURN(const LoadedNode* root, file_->IndexRoot(kind_));
  if (root->num_entries() == 0) return absl::OkStatus();
  steps_.push_back({root, find(*root)});
  absl::Status status = Descend(find);
  if (!status.ok()) steps_.clear();
  return status;
}

absl::Status IndexWalk::SeekToOrdinal(uint64_t ordinal) {
  return Seek([ordinal](const LoadedNode& node) { return node.FindOrdinal(ordinal); });
}

absl::Status IndexWalk::SeekToKey(std::string_view key) {
  return Seek([key](const LoadedNode& node) { return node.FindKey(key); });
}

absl::Status IndexWalk::Next() {
  if (++steps_.back().entry < steps_.back().node->num_entries()) return absl::OkStatus();
  --steps_.back().entry;
  before_ = steps_;
  while (!steps_.empty() && ++steps_.back().entry == steps_.back().node->num_entries())
    steps_.pop_back();
  if (steps_.empty()) return absl::OkStatus();
  absl::Status status = Descend([](const LoadedNode&) { return uint32_t{0}; });
  if (!status.ok()) steps_.swap(before_);
  return status;
}

absl::Status IndexWalk::Previous() {
  before_ = steps_;
  while (!steps_.empty() && steps_.back().entry == 0) steps_.pop_back();
  if (steps_.empty()) return absl::OkStatus();
  --steps_.back().entry;
  absl::Status status = Descend(LastEntry);
  if (!status.ok()) steps_.swap(before_);
  return status;
}

absl::Status IndexWalk::SeekToLast() { return Seek(LastEntry); }

bool IndexWalk::at_last() const {
  return std::all_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return step.entry + 1 == step.node->num_entries(); });
}

}  // namespace cfile::internal
