// An open file as readers and tools see it: its description, its index nodes, its blocks. Shared by
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/internal/index_node.h"
#include "cfile/internal/stored_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/statistics.h"
#include "encodings/block_codec.h"

namespace cfile::internal {

// Immutable but for what is read once and kept: index nodes, and which blocks were verified.
// Thread-safe.
class FileReader {
 public:
  static absl::StatusOr<std::shared_ptr<FileReader>> Open(std::shared_ptr<const Source> source,
                                                          const ReaderOptions& options);
  ~FileReader();

  const FileInfo& info() const { return info_; }
  const Source& source() const { return *source_; }
  const ReaderOptions& options() const { return options_; }

  // The root of an index, and the child that entry `entry` of an inner node points to. Read and
  // parsed once, then kept for as long as this object lives. kFailedPrecondition: the file has no
  // such index. kDataLoss names the node.
  absl::StatusOr<const IndexNode*> IndexRoot(IndexKind kind);
  absl::StatusOr<const IndexNode*> IndexChild(IndexKind kind, const IndexNode& parent,
                                              uint32_t entry);

  // The file's dictionary, read and decoded once; null if the file has none. Thread-safe.
  absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> Dictionary();

  // The file's statistics, read and checked once; null if the file has none. Thread-safe.
  absl::StatusOr<std::shared_ptr<const FileStatistics>> Statistics();

  // The data block of a leaf's entry, its checksum verified if no one has done so yet. Errors name
  // file and block.
  absl::StatusOr<FetchedBlock> FetchDataBlock(const IndexNode& leaf, uint32_t entry,
                                              BlockBuffer& buffer) const;

 private:
  FileReader(std::shared_ptr<const Source> source, const ReaderOptions& options, FileInfo info);
  absl::StatusOr<std::unique_ptr<IndexNode>> LoadNode(IndexKind kind, const BlockPointer& pointer,
                                                      std::optional<IndexKeyForm> form,
                                                      uint64_t first_block_offset) const;

  std::shared_ptr<const Source> source_;
  ReaderOptions options_;
  FileInfo info_;
  BlockFormat format_;
  std::atomic<const IndexNode*> roots_[2] = {nullptr, nullptr};  // by IndexKind
  std::mutex dictionary_mutex_;
  std::shared_ptr<const encodings::Dictionary> dictionary_;  // guarded by dictionary_mutex_
  std::mutex statistics_mutex_;
  std::shared_ptr<const FileStatistics> statistics_;  // guarded by statistics_mutex_
};

}  // namespace cfile::internal
