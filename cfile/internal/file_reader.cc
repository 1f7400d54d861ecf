#include "cfile/internal/file_reader.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/file_metadata.h"
#include "cfile/internal/statistics_block.h"
#include "encodings/registry.h"
#include "encodings/status.h"

namespace cfile::internal {

absl::StatusOr<std::shared_ptr<FileReader>> FileReader::Open(std::shared_ptr<const Source> source,
                                                             const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(FileInfo info, ReadFileInfo(*source, options));
  return std::shared_ptr<FileReader>(new FileReader(std::move(source), options, std::move(info)));
}

FileReader::FileReader(std::shared_ptr<const Source> source, const ReaderOptions& options,
                       FileInfo info)
    : source_(std::move(source)), options_(options), info_(std::move(info)) {
  format_ = {.version = info_.version,
             .compression = info_.compression,
             .checksums = info_.has_checksums()};
}

FileReader::~FileReader() {
  for (auto& root : roots_) delete root.load();
}

absl::StatusOr<std::unique_ptr<IndexNode>> FileReader::LoadNode(IndexKind kind,
                                                                const BlockPointer& pointer,
                                                                std::optional<IndexKeyForm> form,
                                                                uint64_t first_block_offset) const {
  BlockBuffer buffer;
  auto node = [&]() -> absl::StatusOr<std::unique_ptr<IndexNode>> {
    CFILE_ASSIGN_OR_RETURN(const FetchedBlock block,
                           FetchBlock(*source_, format_, pointer, options_.verify_checksums,
                                      options_.max_block_size_bytes, buffer));
    return IndexNode::Parse(block.bytes, kind, form, pointer, first_block_offset);
  }();
  if (!node.ok()) return InBlock(node.status(), source_->name(), pointer);
  return node;
}

absl::StatusOr<const IndexNode*> FileReader::IndexRoot(IndexKind kind) {
  auto& slot = roots_[static_cast<size_t>(kind)];
  if (const IndexNode* root = slot.load(std::memory_order_acquire); root != nullptr) return root;
  const auto& pointer =
      kind == IndexKind::kPositional ? info_.positional_index_root : info_.value_index_root;
  if (!pointer) {
    return absl::FailedPreconditionError(
        absl::StrCat(source_->name(), ": the file has no ",
                     kind == IndexKind::kPositional ? "positional" : "value", " index"));
  }
  std::optional<IndexKeyForm> form = IndexKeyForm::kBytes;
  if (kind == IndexKind::kPositional && info_.version == FormatVersion::kV1) form.reset();
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<IndexNode> root,
                         LoadNode(kind, *pointer, form, info_.header_size_bytes));
  const IndexNode* kept = nullptr;
  if (!slot.compare_exchange_strong(kept, root.get(), std::memory_order_acq_rel)) return kept;
  return root.release();
}

absl::StatusOr<const IndexNode*> FileReader::IndexChild(IndexKind kind, const IndexNode& parent,
                                                        uint32_t entry) {
  if (const IndexNode* child = parent.child(entry); child != nullptr) return child;
  const BlockPointer& pointer = parent.entry_pointer(entry);
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<IndexNode> child,
                         LoadNode(kind, pointer, parent.key_form(), parent.subtree_begin(entry)));
  const auto damaged = [&](const auto&... parts) {
    return InBlock(encodings::DataLoss(parts...), source_->name(), pointer);
  };
  if (child->num_entries() == 0) return damaged("an index node of no entries below the root");
  if (kind == IndexKind::kPositional) {
    const uint64_t first = child->ordinal(0);
    const uint64_t last = child->ordinal(child->num_entries() - 1);
    const bool past_next = entry + 1 < parent.num_entries() && last >= parent.ordinal(entry + 1);
    if (first != parent.ordinal(entry) || past_next) {
      return damaged("the index node's ordinals ", first, " to ", last,
                     " do not fit its parent's entry, which says ", parent.ordinal(entry));
    }
  } else if (child->key(0) != parent.key(entry)) {
    return damaged("the index node's first key is not that of its parent's entry");
  }
  return parent.SetChild(entry, std::move(child));
}

absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> FileReader::Dictionary() {
  if (!info_.dictionary) return nullptr;
  const std::lock_guard lock(dictionary_mutex_);
  if (dictionary_ != nullptr) return dictionary_;
  BlockBuffer buffer;
  auto dictionary = [&]() -> absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> {
    CFILE_ASSIGN_OR_RETURN(
        const FetchedBlock block,
        FetchBlock(*source_, format_, *info_.dictionary, options_.verify_checksums,
                   options_.max_block_size_bytes, buffer));
    return encodings::LoadDictionary(info_.encoding, info_.type.physical(), info_.type.type_length,
                                     block.bytes);
  }();
  if (!dictionary.ok()) return InBlock(dictionary.status(), source_->name(), *info_.dictionary);
  dictionary_ = *std::move(dictionary);
  return dictionary_;
}

absl::StatusOr<std::shared_ptr<const FileStatistics>> FileReader::Statistics() {
  if (!info_.statistics) return nullptr;
  const std::lock_guard lock(statistics_mutex_);
  if (statistics_ != nullptr) return statistics_;
  BlockBuffer buffer;
  auto statistics = [&]() -> absl::StatusOr<FileStatistics> {
    CFILE_ASSIGN_OR_RETURN(
        const FetchedBlock block,
        FetchBlock(*source_, format_, *info_.statistics, options_.verify_checksums,
                   options_.max_block_size_bytes, buffer));
    return ParseStatistics(block.bytes, info_);
  }();
  if (!statistics.ok()) return InBlock(statistics.status(), source_->name(), *info_.statistics);
  statistics_ = std::make_shared<const FileStatistics>(*std::move(statistics));
  return statistics_;
}

absl::StatusOr<FetchedBlock> FileReader::FetchDataBlock(const IndexNode& leaf, uint32_t entry,
                                                        BlockBuffer& buffer) const {
  const BlockPointer& pointer = leaf.entry_pointer(entry);
  // Bytes in memory stay what they were found to be; those of other sources are checked each time
  // they are read.
  const bool verify =
      options_.verify_checksums && !(leaf.verified(entry) && !source_->InMemory().empty());
  auto block =
      FetchBlock(*source_, format_, pointer, verify, options_.max_block_size_bytes, buffer);
  if (!block.ok()) return InBlock(block.status(), source_->name(), pointer);
  if (verify) leaf.SetVerified(entry);
  return block;
}

}  // namespace cfile::internal
