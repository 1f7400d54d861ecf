// An open file as readers and tools see it: its description, its index nodes, its blocks. Shared by
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "cfile/inspect.h"
#include "cfile/internal/block_table.h"
#include "cfile/internal/index_node.h"
#include "cfile/internal/stored_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/statistics.h"
#include "encodings/block_codec.h"

namespace cfile::internal {

// How a cursor came to a block.
enum class BlockAccess : uint8_t {
  kScan,  // it follows the last one
  kSeek
};

// A data block, uncompressed. Valid as long as the source, the buffer it was loaded with, and
// `resident`.
struct LoadedBlock {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const ResidentBlock> resident;  // may be null
  // Of a seek: where the block's seek index is kept; nullptr: nowhere.
  SeekIndexSlot* seek_index = nullptr;
  // The block was here before and there is room, so an index may pay.
  bool seen_before = false;
};

// Immutable but for what is read once and kept: index nodes, which blocks were verified, seek
// indexes. Thread-safe.
class FileReader {
 public:
  static absl::StatusOr<std::shared_ptr<FileReader>> Open(std::shared_ptr<const Source> source,
                                                          const ReaderOptions& options);
  ~FileReader();

  const FileInfo& info() const { return info_; }
  const Source& source() const { return *source_; }
  const ReaderOptions& options() const { return options_; }
  // The source's bytes lie in memory.
  bool in_memory() const { return !source_->InMemory().empty(); }

  // The root of an index, and the child that entry `entry` of an inner node points to. Read and
  // parsed once, then kept for as long as this object lives. kFailedPrecondition: the file has no
  // such index. kDataLoss names the node.
  absl::StatusOr<const IndexNode*> IndexRoot(IndexKind kind);
  absl::StatusOr<const IndexNode*> IndexChild(IndexKind kind, const IndexNode& parent,
                                              uint32_t entry);

  // That a file whose footer says 0 values has no data blocks. Reads the indexes' roots of such a
  // file. kDataLoss.
  absl::Status CheckNumValues();

  // The file's dictionary, read and decoded once; null if the file has none. Thread-safe.
  absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> Dictionary();

  // The file's statistics, read and checked once; null if the file has none, or if they are above
  // the limit (StatisticsLimit). Thread-safe.
  absl::StatusOr<std::shared_ptr<const FileStatistics>> Statistics();
  // The same without what is kept; kOutOfRange if they are above the limit. Precondition: the file
  // has statistics.
  absl::StatusOr<FileStatistics> ReadStatistics() const;

  // The data block of a leaf's entry, its checksum verified if no one has done so yet; not from the
  // cache. Errors name file and block.
  absl::StatusOr<FetchedBlock> FetchDataBlock(const IndexNode& leaf, uint32_t entry,
                                              BlockBuffer& buffer) const {
    return FetchDataBlock(leaf, entry, leaf.entry_pointer(entry).end(), buffer);
  }

  // The same for a cursor: from the cache if it is there. A seek puts it there where it is not in
  // the source's memory as it stands; a scan reads ahead.
  absl::StatusOr<LoadedBlock> LoadDataBlock(const IndexNode& leaf, uint32_t entry,
                                            BlockAccess access, BlockBuffer& buffer);

  // Keeps what was built for the block at `pointer`, that LoadDataBlock gave, and returns it;
  // nullptr if there is no room.
  const encodings::SeekIndex* KeepSeekIndex(const LoadedBlock& block, const BlockPointer& pointer,
                                            std::unique_ptr<const encodings::SeekIndex> index);

 private:
  FileReader(std::shared_ptr<const Source> source, const ReaderOptions& options, FileInfo info);
  // A block that is read once: an index node, the dictionary, the statistics.
  absl::StatusOr<FetchedBlock> FetchOnce(const BlockPointer& pointer, size_t max_size_bytes,
                                         BlockBuffer& buffer) const;
  // Tells the source what a scan that is at `pointer` comes to next.
  void AnnounceScan(const BlockPointer& pointer, BlockBuffer& buffer) const;
  absl::StatusOr<FetchedBlock> FetchDataBlock(const IndexNode& leaf, uint32_t entry,
                                              uint64_t read_end, BlockBuffer& buffer) const;
  absl::StatusOr<std::unique_ptr<IndexNode>> LoadNode(IndexKind kind, const BlockPointer& pointer,
                                                      std::optional<IndexKeyForm> form,
                                                      uint64_t first_block_offset) const;

  std::shared_ptr<const Source> source_;
  ReaderOptions options_;
  FileInfo info_;
  BlockFormat format_;
  std::atomic<const IndexNode*> roots_[2] = {nullptr, nullptr};  // by IndexKind
  const uint64_t cache_number_;                                  // of this file, in its cache
  // Room for seek indexes of blocks that are not in the cache; below 0 once one did not fit.
  std::atomic<int64_t> seek_index_bytes_left_;
  // Of the nodes that are kept, and only of those: a thread that comes second with a node must not
  // take the room of others. (So threads that load different nodes at once may go above the limit
  // by one each.)
  std::atomic<size_t> index_bytes_ = 0;
  std::mutex dictionary_mutex_;
  std::shared_ptr<const encodings::Dictionary> dictionary_;  // guarded by dictionary_mutex_
  std::mutex statistics_mutex_;
  // Empty until they were read. Guarded by statistics_mutex_.
  std::optional<std::shared_ptr<const FileStatistics>> statistics_;
};

}  // namespace cfile::internal
