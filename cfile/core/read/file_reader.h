// An open file for readers and tools: its description, its index nodes and its blocks. Threads can
// share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/core/format/piece_table.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/io/buffered_ends.h"
#include "cfile/core/read/block_fetcher.h"
#include "cfile/core/read/cached_blocks.h"
#include "cfile/core/read/file_usage.h"
#include "cfile/core/read/loaded_node.h"
#include "cfile/core/read/shared_requests.h"
#include "cfile/counters.h"
#include "cfile/file_info.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/statistics.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// An uncompressed data block. `bytes` is valid as long as the source, `resident`, and the buffer
// that was passed to LoadDataBlock.
struct LoadedBlock {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const ResidentBlock> resident;  // may be null
  // The head of a movable block, else nullptr. Valid as long as `resident` and the buffer.
  const BlockHead* head = nullptr;
  // The place for the block's seek index; nullptr if the block was loaded with kScan.
  SeekIndexSlot* seek_index = nullptr;
  // True if the block was read before and there is room for a seek index: building one may be worth
  // the time.
  bool seen_before = false;
  // True if only the checksums of the head and of the first part of the sections were verified.
  // Call CheckPart before you use other bytes of the block.
  bool in_part = false;
};

// A piece of a data block (cfile/core/format/piece_table.h), as a block of its own.
struct LoadedPiece {
  std::span<const uint8_t> body;  // in the buffer that was passed to LoadPiece
  Encoding encoding = Encoding::kPlain;
  uint64_t first_ordinal = 0;
  uint32_t num_rows = 0;
};

// The record of a data block in a piece table.
struct FoundPieces {
  std::shared_ptr<const ResidentBlock> table;  // null if there is no record
  BlockPointer place;                          // of the table
  PieceRecord record;                          // a view of the table
};

// The largest block that a reader of a file of `file_bytes` bytes accepts.
size_t MaxBlockSize(const ReaderOptions& options, uint64_t file_bytes, Compression compression);

// An open file. Immutable, except for CompleteType, and for data that is read once and then kept:
// index nodes, the set of verified blocks, seek indexes, dictionary and statistics. Thread-safe.
// Errors of reading a block name the file and the block.
class FileReader {
 public:
  // `usage`: the file adds its memory and its counters to this object, and builds no seek indexes
  // if it has no room. May be null. `whole`: if true, Open reads the whole file with one request,
  // and keeps it in memory.
  static absl::StatusOr<std::shared_ptr<FileReader>> Open(
      std::shared_ptr<const Source> source, const ReaderOptions& options,
      std::shared_ptr<SharedUsage> usage = nullptr, bool whole = false);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  const FileInfo& info() const { return info_; }
  // Replaces info().type by `type`, the type of the table's column. `type` has the precision and
  // the scale of decimals, which some files do not store. Preconditions: FitsColumn(info().type,
  // type); no other thread uses this object yet.
  void CompleteType(const ColumnType& type) { info_.type = type; }
  const Source& source() const { return *source_; }
  const std::shared_ptr<const Source>& shared_source() const { return source_; }
  const ReaderOptions& options() const { return options_; }
  // True if the source's bytes are in memory.
  bool in_memory() const { return !source_->InMemory().empty(); }
  bool reads_in_background() const { return !in_memory() && source_->ReadsInBackground(); }

  // Implement the functions of Reader.
  ReaderCounters counters() const { return usage_.counters(); }
  size_t memory_usage_bytes() const { return usage_.memory_bytes(); }

  // Return the root of an index, and the child at entry `entry` of an inner node. A node is read
  // and parsed once and lives as long as this object. Threads that need the same node of a source
  // that is not in memory share one request. kFailedPrecondition: the file has no such index.
  // kDataLoss names the node.
  absl::StatusOr<const LoadedNode*> IndexRoot(IndexKind kind);
  absl::StatusOr<const LoadedNode*> IndexChild(IndexKind kind, const LoadedNode& parent,
                                               uint32_t entry);

  // kDataLoss if the footer says 0 values but an index has data blocks. Reads the roots of the
  // indexes only in that case.
  absl::Status CheckNumValues();

  // Returns the file's dictionary, or null if the file has none. It is read and decoded once.
  // Threads that need it at the same time share one request, and its error if it fails.
  absl::StatusOr<std::shared_ptr<const encodings::Dictionary>> Dictionary();

  // Returns the file's statistics, or null if the file has none, or if they exceed the limit
  // (StatisticsLimit). They are read and checked once. Threads share requests as for the
  // dictionary.
  absl::StatusOr<std::shared_ptr<const FileStatistics>> Statistics();
  // Reads the statistics without keeping them. kOutOfRange if they exceed the limit. Precondition:
  // the file has statistics.
  absl::StatusOr<FileStatistics> ReadStatistics() const;

  // Reads the data block of a leaf's entry, without the cache. Verifies the block's checksum unless
  // a previous read has verified it.
  absl::StatusOr<FetchedBlock> FetchDataBlock(const LoadedNode& leaf, uint32_t entry,
                                              BlockBuffer& buffer) const;

  // Reads the data block of a leaf's entry for a cursor, or takes it from the cache. With kSeek,
  // puts the block into the cache, unless the block is used directly from the source's memory.
  // `fetcher` belongs to the cursor, and knows which blocks the cursor will read next. With
  // kFewRows, may return a block that is in_part: its encoding has value places
  // (encodings/value_places.h), and it has neither nulls nor levels. A block that was returned in
  // part several times is then read whole. Threads that seek the same block share one request;
  // scans, Take and SeekMany, which read several blocks at once, do not.
  absl::StatusOr<LoadedBlock> LoadDataBlock(const LoadedNode& leaf, uint32_t entry,
                                            BlockAccess access, BlockFetcher& fetcher,
                                            BlockBuffer& buffer);

  // Verifies the bytes `begin` to `end` - 1, counted from the end of the head, of a block that is
  // in_part. Reads only the parts (cfile/FORMAT.md, Movable blocks) that have these bytes.
  // kDataLoss: a checksum is wrong.
  absl::Status CheckPart(const BlockPointer& pointer, const LoadedBlock& block, uint64_t begin,
                         uint64_t end) const;

  // True if a reader should look for a piece of the block of a leaf's entry: the file has pieces,
  // and the block was neither read whole nor often in part.
  bool MayReadPiece(const LoadedNode& leaf, uint32_t entry) const;
  // Read the piece of the block of a leaf's entry in which a search for `key`, in memcmp form,
  // begins (FindPiece), or the piece that has row `row` of the block, and verify it. Read no other
  // bytes of the block. Nullopt: the block has no such piece, or the piece exceeds
  // max_block_size_bytes. kDataLoss: the piece, its table or the directory is damaged.
  // Precondition: MayReadPiece.
  absl::StatusOr<std::optional<LoadedPiece>> LoadPiece(const LoadedNode& leaf, uint32_t entry,
                                                       std::string_view key, BlockBuffer& buffer);
  absl::StatusOr<std::optional<LoadedPiece>> LoadPieceOfRow(const LoadedNode& leaf, uint32_t entry,
                                                            uint64_t row, BlockBuffer& buffer);
  // Returns the directory of the piece tables. It is read once. Precondition: the file has one.
  absl::StatusOr<std::shared_ptr<const PieceDirectory>> Pieces();
  // Finds the record of a data block in the piece tables. Reads a table, or takes it from the
  // cache.
  absl::StatusOr<FoundPieces> FindPieces(const BlockPointer& block, BlockBuffer& buffer);

  // A block that is used in place: its stored bytes without the checksum after them, and its seek
  // index, if there is one.
  struct PlacedBlock {
    std::span<const uint8_t> bytes;
    const encodings::SeekIndex* index = nullptr;
  };
  // Asks the CPU to fetch what a seek in this block reads first. Returns the block. With it, the
  // caller can make the next steps of the preparation (SeekIndex::PrefetchKeys). If the block is
  // not used in place, does nothing and returns a PlacedBlock without bytes.
  PlacedBlock Prefetch(const LoadedNode& leaf, uint32_t entry) const;

  // Begins to read in the background what LoadDataBlock will read with the same arguments. Does
  // nothing if the source cannot do this, or if the block is in memory already.
  void BeginToLoad(const LoadedNode& leaf, uint32_t entry, BlockAccess access,
                   BlockFetcher& fetcher, const BlockBuffer& buffer) const;

  // Reads the movable block of a leaf's entry as it is stored (FetchStoredBlock), for reading
  // blocks in order, and verifies all its checksums. Precondition: the file has movable blocks.
  absl::StatusOr<StoredBlock> FetchStored(const LoadedNode& leaf, uint32_t entry,
                                          BlockFetcher& fetcher, BlockBuffer& buffer) const;

  // Keeps `index`, which was built for `block`, a result of LoadDataBlock for `pointer`. Returns
  // the kept index, or nullptr if there is no room for it.
  const encodings::SeekIndex* KeepSeekIndex(const LoadedBlock& block, const BlockPointer& pointer,
                                            std::unique_ptr<const encodings::SeekIndex> index);

 private:
  // `ends`: `source`, if the file was not in memory before it was opened. Otherwise null.
  FileReader(std::shared_ptr<const Source> source, std::shared_ptr<const BufferedEnds> ends,
             const ReaderOptions& options, FileInfo info, std::shared_ptr<SharedUsage> usage);
  // Returns whether there is room for `bytes` more bytes of seek indexes of blocks that are not in
  // the cache.
  bool HasRoomForSeekIndex(size_t bytes) const;
  // Reads a block that is needed once: an index node, the dictionary, the statistics.
  absl::StatusOr<FetchedBlock> FetchOnce(const BlockPointer& pointer, size_t max_size_bytes,
                                         BlockBuffer& buffer) const;
  // Implements LoadDataBlock with kFewRows. Returns a block that is not in_part if the whole block
  // should be read.
  absl::StatusOr<LoadedBlock> LoadPart(const LoadedNode& leaf, uint32_t entry,
                                       BlockBuffer& buffer) const;
  // Implements LoadPiece. find(record) returns the piece; nullopt if there is none.
  template <typename Find>
  absl::StatusOr<std::optional<LoadedPiece>> LoadPieceBy(const LoadedNode& leaf, uint32_t entry,
                                                         const Find& find, BlockBuffer& buffer);
  absl::StatusOr<const LoadedNode*> LoadRoot(IndexKind kind, const BlockPointer& pointer);
  absl::StatusOr<const LoadedNode*> LoadChild(IndexKind kind, const LoadedNode& parent,
                                              uint32_t entry);
  // Copies into the cache a block that was fetched into `buffer`. Returns the copy.
  std::shared_ptr<const ResidentBlock> KeepBlock(const FetchedBlock& fetched,
                                                 const CachedBlocks::Key& key, BlockBuffer& buffer);
  absl::StatusOr<std::unique_ptr<LoadedNode>> LoadNode(IndexKind kind, const BlockPointer& pointer,
                                                       std::optional<IndexKeyForm> form,
                                                       uint64_t first_block_offset) const;

  const std::shared_ptr<const Source> source_;
  ReaderOptions options_;
  FileInfo info_;
  const BlockFormat format_;
  std::atomic<const LoadedNode*> roots_[2] = {nullptr, nullptr};  // by IndexKind
  CachedBlocks::File cache_file_;                                 // this file's name in the cache
  // The requests of all threads for nodes. A node is checked against its parent's entry, so the key
  // of a request is the parent and this entry. It is not the node's offset, because two entries of
  // a damaged file may point to the same bytes. For a root, the parent is null, and the entry is
  // the kind of the index.
  SharedRequests<std::pair<const LoadedNode*, uint32_t>, absl::StatusOr<const LoadedNode*>>
      node_requests_;
  // The requests for blocks. The key is the offset and the size of the block.
  SharedRequests<std::pair<uint64_t, uint32_t>,
                 absl::StatusOr<std::shared_ptr<const ResidentBlock>>>
      block_requests_;
  // Remaining budget for seek indexes of blocks outside the cache. Below 0 after an index did not
  // fit.
  std::atomic<int64_t> seek_index_bytes_left_;
  // Memory of the kept nodes only. A node that loses the race against another thread's copy does
  // not count. (Threads that load different nodes at once may exceed the limit by one node each.)
  std::atomic<size_t> index_bytes_ = 0;
  ReadOnce<std::shared_ptr<const encodings::Dictionary>> dictionary_;
  ReadOnce<std::shared_ptr<const FileStatistics>> statistics_;
  ReadOnce<std::shared_ptr<const PieceDirectory>> piece_directory_;
  mutable FileUsage usage_;
};

}  // namespace cfile::internal
